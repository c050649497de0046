#!/bin/sh
# shellcheck disable=SC2086
# same_bytes.sh BUILD...: whatever compiler built tkc, and on every run, it writes the same bytes for the same program: C, header, IR and explanation.
set -u
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 programs=0
for tk in samples/*/*.tk tests/run/*.tk tests/ad/*.tk tests/algorithms/*.tk tests/parallel/*.tk tests/bench/*.tk; do
    name=$(basename "$tk" .tk)
    flags=$(sed -n '1,8s,^// flags: ,,p' "$tk" | head -n 1)
    programs=$((programs + 1))
    case $flags in *--prefix=*) ;; *) flags="$flags --prefix=$name" ;; esac
    first=
    for build in "$@" "$1"; do
        dir=$tmp/$programs/$(basename "$build")$first
        mkdir -p "$dir"
        "$build/compiler/tkc" "$tk" $flags -o "$dir/$name.c" 2>"$dir/err"
        "$build/compiler/tkc" "$tk" $flags --emit=ir >"$dir/ir" 2>&1
        "$build/compiler/tkc" "$tk" $flags --explain-adjoint >"$dir/explain" 2>&1
        if [ -z "$first" ]; then
            first=again
            reference=$dir
            [ -s "$dir/$name.c" ] || { echo "$tk: no C"; failed=1; }
        elif ! diff -r "$reference" "$dir" >"$tmp/diff"; then
            echo "$tk: $build differs from $1"
            head -n 20 "$tmp/diff"
            failed=1
        fi
    done
done
echo "$programs programs, the same bytes from: $*"
exit $failed
