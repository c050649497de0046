#!/bin/sh
# run.sh [NAME...]: plants the bugs of this folder, one at a time, into a copy of the tree and looks whether the tests find them: first the pairs of files that
# compare derivatives, then 300 random programs. Ends with `N found, N missed`. Takes minutes: it is not part of tests/run.sh.
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

# find: prints what finds the bug, or nothing
find_bug()
{
    if ! ninja -C build compiler/tkc runtime/libtk.a tests/tools/optable >log 2>&1; then
        echo "does not compile"
        return
    fi
    if ! python3 tests/tools/runtests.py --build build -j 2 ops/ rules/ ad/ >log 2>&1; then
        sed -n 's/^FAILED \([^:]*\):.*/\1/p' log | head -n 3 | tr '\n' ' '
        return
    fi
    if ! python3 tests/random/run.py --build build -n 300 -j 2 --seed planted --stop >log 2>&1; then
        sed -n 's/^FAILED \([^ ]*\) .*/random program \1/p' log | head -n 1
        return
    fi
    python3 tests/tools/runtests.py --build build -j 2 parallel/ >log 2>&1 || sed -n 's/^FAILED \([^:]*\):.*/\1/p' log | head -n 1
}

find_bug >found
if [ -s found ]; then
    echo "the tests fail without a planted bug: $(cat found)"
    cat log
    exit 1
fi
found=0
missed=0
for name in $names; do
    patch=$root/tests/planted/$name.patch
    patch -s -p1 <"$patch" || { echo "$name: the patch does not apply"; missed=$((missed + 1)); continue; }
    find_bug >found
    patch -s -R -p1 <"$patch"
    if [ -s found ]; then
        found=$((found + 1))
        printf '%-20s found by %s\n' "$name" "$(cat found)"
    else
        missed=$((missed + 1))
        printf '%-20s MISSED (%s)\n' "$name" "$(head -n 1 "$patch")"
    fi
done
echo "$found found, $missed missed"
[ "$missed" -eq 0 ]
