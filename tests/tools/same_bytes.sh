#!/bin/sh
# shellcheck disable=SC2086
# same_bytes.sh BUILD...: whatever compiler built tkc, and on every run, it writes the same bytes for the same program: C, header, IR and explanation.
# same_bytes.sh --of PROGRAM.tk BUILD...: of one program; says nothing if they are the same.
set -u
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# one TK BUILD...
one()
{
    tk=$1
    shift
    name=$(basename "$tk" .tk)
    flags=$(sed -n '1,8s,^// flags: ,,p' "$tk" | head -n 1)
    case $flags in *--prefix=*) ;; *) flags="$flags --prefix=$name" ;; esac
    first= last=$("$1/compiler/tkc" --list-passes | sed -n '$s/ .*//p')
    for build in "$@" "$1"; do
        dir=$tmp/$(basename "$build")$first
        mkdir -p "$dir"
        "$build/compiler/tkc" "$tk" $flags --explain-adjoint --dump-after="$last" -o "$dir/$name.c" >"$dir/explain" 2>"$dir/ir"
        if [ -z "$first" ]; then
            first=again
            reference=$dir
            [ -s "$dir/$name.c" ] || { echo "$tk: no C"; return 1; }
        elif ! diff -r "$reference" "$dir" >"$tmp/diff"; then
            echo "$tk: $build differs from $1"
            head -n 20 "$tmp/diff"
            return 1
        fi
    done
}

if [ "$1" = --of ]; then
    shift
    one "$@"
    exit
fi

# Of samples, those that a program is made of: others are parts.
ls $(for m in samples/*/Makefile; do d=$(dirname "$m"); n=$(sed -n "s/^NAME = //p" "$m"); [ -n "$n" ] && echo "$d/$n.tk" || echo "$d/*.tk"; done) tests/run/*.tk tests/ad/*.tk tests/algorithms/*.tk tests/export/*.tk tests/parallel/*.tk tests/bench/hand/*.tk >"$tmp/programs"
xargs -P "$(nproc)" -I {} sh tests/tools/same_bytes.sh --of {} "$@" <"$tmp/programs" || exit 1
echo "$(wc -l <"$tmp/programs") programs, the same bytes from: $*"
