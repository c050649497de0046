#!/bin/sh
# Builds tkc with gcc, with clang and with sanitizers, and runs all tests on each; ends with `N passed, N failed`.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES libclang-rt-dev libcmocka-dev libgif-dev libpng-dev libcairo2-dev liblapacke-dev coinor-libipopt-dev python3 patch gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm || exit 1

passed=0
failed=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT

# count PASSED FAILED
count()
{
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# configure DIR CC CXX OPTIONS...: one more failure if it does not build
build()
{
    dir=$1 cc=$2 cxx=$3
    shift 3
    echo "== $dir: build"
    if [ ! -f "$dir/build.ninja" ]; then
        CC=$cc CXX=$cxx meson setup "$dir" --buildtype=debugoptimized -Dwerror=true "$@" >"$report" 2>&1 || { cat "$report"; rm -rf "$dir"; count 0 1; return 1; }
    fi
    CC=$cc CXX=$cxx ninja -C "$dir" >"$report" 2>&1 || { grep -vE "^\[[0-9]+/[0-9]+\] " "$report" | tail -n 60; count 0 1; return 1; }
}

# unit DIR: the programs that meson knows
unit()
{
    echo "== $1: unit tests"
    meson test -C "$1" --no-rebuild --print-errorlogs >"$report" 2>&1 || tail -n 200 "$report"
    count "$(awk '$1 == "Ok:" || $1 == "Expected" { n += $NF } END { print n + 0 }' "$report")" \
          "$(awk '$1 == "Fail:" || $1 == "Timeout:" || $1 == "Unexpected" { n += $NF } END { print n + 0 }' "$report")"
}

# pairs DIR CC CXX OPTIONS...: the pairs of files and the scripts
pairs()
{
    dir=$1 cc=$2 cxx=$3
    shift 3
    echo "== $dir: pairs of files"
    python3 tests/tools/runtests.py --build "$dir" --cc "$cc" --cxx "$cxx" "$@" >"$report" 2>&1
    cat "$report"
    if tail -n 1 "$report" | grep -Eq '^[0-9]+ passed, [0-9]+ failed$'; then
        # shellcheck disable=SC2046
        count $(tail -n 1 "$report" | awk '{ print $1, $3 }')
    else
        count 0 1
    fi
}

# programs DIR OPTIONS [SCRIPT]: random ones, compiled with gcc and clang
programs()
{
    script=${3:-run.py}
    echo "== $1: random programs $script $2"
    # shellcheck disable=SC2086
    python3 "tests/random/$script" --build "$1" $2 >"$report" 2>&1
    grep -vE '^(  |operations|depth|writes|compiled)' "$report"
    if tail -n 1 "$report" | grep -Eq '^[0-9]+ passed, [0-9]+ failed$'; then
        # shellcheck disable=SC2046
        count $(tail -n 1 "$report" | awk '{ print $1, $3 }')
    else
        count 0 1
    fi
}

if build build-gcc gcc g++; then
    unit build-gcc
    pairs build-gcc gcc g++
    # shellcheck disable=SC2046
    pairs build-gcc gcc g++ --sanitize $(python3 tests/tools/constructs.py . --tests)
    programs build-gcc "-n 200"
    programs build-gcc "-n 25 --broken"
    programs build-gcc "-n 16" rewrites.py
fi
if build build-clang clang clang++; then
    unit build-clang
    pairs build-clang clang clang++ --without parallel/ # the sanitizers' build has those with clang
fi
if build build-asan clang clang++ -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true; then
    unit build-asan
    pairs build-asan clang clang++ --sanitize
    echo "== build-asan: the fuzzer's first inputs"
    if sh tests/fuzz/run.sh 0 build-asan >"$report" 2>&1; then count 1 0; else tail -n 60 "$report"; count 0 1; fi
fi

if [ -x build-gcc/compiler/tkc ] && [ -x build-clang/compiler/tkc ] && [ -x build-asan/compiler/tkc ]; then
    echo "== all builds: the same bytes"
    if sh tests/tools/same_bytes.sh build-gcc build-clang build-asan; then count 1 0; else count 0 1; fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
