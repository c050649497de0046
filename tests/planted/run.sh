#!/bin/sh
# run.sh [--update] [NAME...]: plants the bugs of this folder, one at a time, into a copy of the tree and looks what finds them. First what found.txt says (--update
# writes that file); if that does not, the pairs of files, kernels that rewrite elements at the flags of users, 300 random programs. Ends with `N found, N missed`. Takes
# a quarter of a minute for a bug that is found as it was, and up to ten for one that is not: it is not part of tests/run.sh. Without names it first looks that nothing
# is found where there is no bug.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
update=
[ "${1-}" != --update ] || { update=yes; shift; }
names=$*
[ -n "$names" ] || names=$(cd tests/planted && ls *.patch | sed 's/\.patch$//')

tar -cf - compiler grammar runtime samples tests docs meson.build meson_options.txt README.md LICENSE | tar -xf - -C "$copy"
cd "$copy" || exit 1
meson setup build --buildtype=debugoptimized >log 2>&1 || { cat log; exit 1; }

# finds WHAT: whether that finds the bug; WHAT is as find_bug prints it
finds()
{
    case $1 in
    "module "*) number=${1#module }; ! python3 "tests/${1##* of }.py" --build build -n 1 --from "${number%% *}" >log 2>&1 ;;
    "random program "*) batch=${1%.*}; ! python3 tests/random/run.py --build build --from $((${batch##*.} * 25)) -n 25 -j 2 --seed planted --stop >log 2>&1 ;;
    ?*) ! python3 tests/tools/runtests.py --build build -j 2 --stop "$1" >log 2>&1 ;;
    *) false ;;
    esac
}

# find_bug [WHAT]: prints what finds the bug, or nothing; WHAT is tried first
find_bug()
{
    if ! ninja -C build compiler/tkc runtime/libtkc.a tests/tools/optable >log 2>&1; then
        echo "does not compile"
        return
    fi
    if finds "${1-}"; then
        echo "$1"
        return
    fi
    for words in "rules/ run/kept_values" "ir/ run/decisions run/tape run/rewritten run/saved parallel/many" "ad/ parallel/" ops/ run/; do
        if ! python3 tests/tools/runtests.py --build build -j 2 --stop $words >log 2>&1; then
            sed -n 's/^FAILED \([^:]*\):.*/\1/p' log | head -n 1
            return
        fi
    done
    for script in rewrites schedules; do
        if ! python3 tests/random/$script.py --build build -n 4 --from 1 >log 2>&1; then
            sed -n "s/^FAILED \(module [0-9]*\) .*/\1 of random\/$script/p" log | head -n 1
            return
        fi
    done
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
    find_bug "$(sed -n "s/^$name: //p" "$root/tests/planted/found.txt")" >found
    patch -s -R -p1 <"$patch"
    if [ -s found ] && [ "$(cat found)" != "does not compile" ]; then
        found=$((found + 1))
        printf '%-20s found by %s\n' "$name" "$(cat found)"
        if [ -n "$update" ]; then
            { grep -v "^$name: " "$root/tests/planted/found.txt"; echo "$name: $(cat found)"; } | LC_ALL=C sort >sorted
            cat sorted >"$root/tests/planted/found.txt"
        fi
    else
        missed=$((missed + 1))
        printf '%-20s MISSED %s (%s)\n' "$name" "$(cat found)" "$(head -n 1 "$patch")"
    fi
done
echo "$found found, $missed missed"
[ "$missed" -eq 0 ]
