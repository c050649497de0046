#!/bin/sh
# run.sh [NAME...]: plants the bugs of this folder, one at a time, into a copy of the tree and looks what finds them first: the pairs of files that hold data-access
# errors, those that compare derivatives, the walk over the operations, kernels that rewrite elements at the flags of users, 300 random programs. Ends with `N found, N missed`. Takes a minute or so for each bug: it
# is not part of tests/run.sh. Without names it first looks that nothing is found where there is no bug.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
names=$*
[ -n "$names" ] || names=$(cd tests/planted && ls *.patch | sed 's/\.patch$//')

tar -cf - compiler grammar runtime samples tests docs meson.build meson_options.txt README.md | tar -xf - -C "$copy"
cd "$copy" || exit 1
meson setup build --buildtype=debugoptimized >log 2>&1 || { cat log; exit 1; }

# find: prints what finds the bug first, or nothing
find_bug()
{
    if ! ninja -C build compiler/tkc runtime/libtk.a tests/tools/optable >log 2>&1; then
        echo "does not compile"
        return
    fi
    for words in "rules/ run/kept_values" "ad/ parallel/" ops/ run/; do
        if ! python3 tests/tools/runtests.py --build build -j 2 --stop $words >log 2>&1; then
            sed -n 's/^FAILED \([^:]*\):.*/\1/p' log | head -n 1
            return
        fi
    done
    if ! python3 tests/random/rewrites.py --build build -n 3 --from 1 >log 2>&1; then
        sed -n 's/^FAILED \(module [0-9]*\) .*/\1 of random\/rewrites/p' log | head -n 1
        return
    fi
    python3 tests/random/run.py --build build -n 300 -j 2 --seed planted --stop >log 2>&1 || sed -n 's/^FAILED \([^ ]*\) .*/random program \1/p' log | head -n 1
}

[ $# -gt 0 ] || find_bug >found
if [ -s found ]; then
    echo "the tests fail without a planted bug: $(cat found)"
    cat log
    exit 1
fi
found=0
missed=0
for name in $names; do
    patch=$root/tests/planted/$name.patch
    patch -s -F0 -p1 <"$patch" || { echo "$name: the patch does not apply"; missed=$((missed + 1)); continue; }
    find_bug >found
    patch -s -R -p1 <"$patch"
    if [ -s found ] && [ "$(cat found)" != "does not compile" ]; then
        found=$((found + 1))
        printf '%-20s found by %s\n' "$name" "$(cat found)"
    else
        missed=$((missed + 1))
        printf '%-20s MISSED %s (%s)\n' "$name" "$(cat found)" "$(head -n 1 "$patch")"
    fi
done
echo "$found found, $missed missed"
[ "$missed" -eq 0 ]
