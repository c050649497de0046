#!/bin/sh
# run.sh [--all]: builds tkc with gcc, runs all tests on that and some of them with clang and with sanitizers, says what it left out, and ends with
# `N passed, N failed`. With --all it builds tkc with clang and with sanitizers as well, and runs all tests on each.
set -u
case ${1-} in
--all) all=yes ;;
'') all= ;;
*) echo "usage: run.sh [--all]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES libclang-rt-dev libcmocka-dev libgif-dev libpng-dev libcairo2-dev libsdl2-dev xvfb libxtst6 liblapacke-dev coinor-libipopt-dev python3 patch gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm python3-numpy python3-scipy python3-mpmath python3-gmpy2 || exit 1
for p in $INSTALL_PACKAGES; do need "$p"; done # a test without its package is skipped, and says so
[ -z "$all" ] || for p in $PACKAGING_PACKAGES; do need "$p"; done

passed=0
failed=0
report=$(mktemp)
trap 'rm -f "$report" "$report".*' EXIT

# count PASSED FAILED
count()
{
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# spent: whole seconds of processor time that all commands up to now took, in `cpu`
spent()
{
    times >"$report.times" # of this shell: one for $(...) begins at nothing
    cpu=$(awk 'NR == 2 { gsub("[ms]", " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$report.times")
}

# part NAME: begins one, and says how long the one before took
part()
{
    now=$(date +%s)
    spent
    [ -z "${begun-}" ] || echo "   $((now - begun)) s, $((cpu - before)) s of processor time"
    begun=$now before=$cpu
    echo "== $1"
}

# configure DIR CC CXX OPTIONS...: one more failure if it does not build
build()
{
    dir=$1 cc=$2 cxx=$3
    shift 3
    part "$dir: build"
    if [ ! -f "$dir/build.ninja" ]; then
        CC=$cc CXX=$cxx meson setup "$dir" --buildtype=debugoptimized -Dwerror=true "$@" >"$report" 2>&1 || { cat "$report"; rm -rf "$dir"; count 0 1; return 1; }
    fi
    CC=$cc CXX=$cxx ninja -C "$dir" >"$report" 2>&1 || { grep -vE "^\[[0-9]+/[0-9]+\] " "$report" | tail -n 60; count 0 1; return 1; }
}

# unit DIR: the programs that meson knows
unit()
{
    part "$1: unit tests"
    meson test -C "$1" --no-rebuild --print-errorlogs >"$report" 2>&1 || tail -n 200 "$report"
    count "$(awk '$1 == "Ok:" || $1 == "Expected" { n += $NF } END { print n + 0 }' "$report")" \
          "$(awk '$1 == "Fail:" || $1 == "Timeout:" || $1 == "Unexpected" { n += $NF } END { print n + 0 }' "$report")"
}

# pairs DIR WHAT CC CXX OPTIONS...: the pairs of files and the scripts
pairs()
{
    dir=$1 what=$2 cc=$3 cxx=$4
    shift 4
    part "$dir: $what"
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
    part "$1: random programs $script $2"
    # shellcheck disable=SC2086
    python3 "tests/random/$script" --build "$1" $2 >"$report" 2>&1
    grep -vE '^(  |operations|depth|writes|compiled|decisions)' "$report"
    if tail -n 1 "$report" | grep -Eq '^[0-9]+ passed, [0-9]+ failed$'; then
        # shellcheck disable=SC2046
        count $(tail -n 1 "$report" | awk '{ print $1, $3 }')
    else
        count 0 1
    fi
}

# models DIR OPTIONS SCRIPT...: of tests/model, by Debian's Python, whose packages they need; side by side, as each is one process
models()
{
    dir=$1 options=$2
    shift 2
    part "$dir: tests/model $* $options"
    for script in "$@"; do
        # shellcheck disable=SC2086
        /usr/bin/python3 "tests/model/$script" --build "$dir" $options >"$report.$script" 2>&1 &
    done
    wait
    for script in "$@"; do
        if tail -n 1 "$report.$script" | grep -Eq '^[0-9]+ passed, [0-9]+ failed$'; then
            grep FAILED "$report.$script"
            echo "$script: $(tail -n 1 "$report.$script")"
            # shellcheck disable=SC2046
            count $(tail -n 1 "$report.$script" | awk '{ print $1, $3 }')
        else
            tail -n 20 "$report.$script"
            count 0 1
        fi
    done
}

# constructs DIR CC CXX OPTIONS...: the tests that have each construct of the language
constructs()
{
    # shellcheck disable=SC2046,SC2086
    pairs "$1" "one test of each construct, $4" "$2" "$3" --short $5 $(python3 tests/tools/constructs.py . --tests)
}

# command NAME WORDS...: one test that is a command
command_()
{
    part "$1"
    shift
    if "$@" >"$report" 2>&1; then tail -n 1 "$report"; count 1 0; else tail -n 60 "$report"; count 0 1; fi
}

if build build-gcc gcc g++; then
    unit build-gcc
    # shellcheck disable=SC2046
    pairs build-gcc "pairs of files" gcc g++ $([ -n "$all" ] || echo "--short --without race/,driver/predefined,install/gallery_fields,install/gallery_particles,install/gallery_images,install/sample_window,install/debian,install/docs_site")
    [ -n "$all" ] || constructs build-gcc gcc g++ "gcc with sanitizers" --sanitize # --all: clang's, on everything
    [ -n "$all" ] || constructs build-gcc clang clang++ clang ""
    programs build-gcc "$([ -n "$all" ] && echo "-n 24" || echo "-n 40 --flags 0")"
    programs build-gcc "-n $([ -n "$all" ] && echo 16 || echo 4)" rewrites.py
    programs build-gcc "-n $([ -n "$all" ] && echo 2 || echo "8 --cc=")" schedules.py
    [ -z "$all" ] || programs build-gcc "-n 25 --broken --from 150" # a batch that is not optimised: what is refused or reported does not depend on that
    models build-gcc "$([ -n "$all" ] || echo --short)" functions.py matrices.py operators.py randoms.py
fi
if [ -n "$all" ]; then
    if build build-clang clang clang++; then
        unit build-clang
        # The sanitizers' build has the former with clang, gcc's the rest: what does not depend on the compiler of tkc, which writes the same bytes whatever that is,
        # or looks at files of the tree alone, or builds tkc anew, or has compilers of its own.
        once=ad/,export/,parallel/,race/,run/no_memory
        for kind in abi benchmarks constructs dumps editors embed errors_doc every_code format gallery gather_limits generated gradbench growth huge_inputs ir_ layers lines links lsp malformed planted \
            python reference sentences; do once=$once,driver/$kind; done
        for kind in gallery sample start cross cmake trade debian docs_site meson_subproject meson_wrap python_; do once=$once,install/$kind; done
        pairs build-clang "pairs of files" clang clang++ --without "$once"
    fi
    # Not optimised, which takes a quarter of the time to build: functions that call themselves have greater frames then.
    ulimit -S -s 65536
    if build build-asan clang clang++ -Doptimization=0 -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true; then
        unit build-asan
        # Without scripts that look at what tkc makes of programs that other cases have, or at files of the tree alone. (passes/ and driver/ir_mangled read IR.)
        once=install/
        for kind in ir_text abi array_bounds benchmarks constructs dumps editors embed errors_doc functions gradbench generated growth layers lines links planted python samples sentences shared_loops; do once=$once,driver/$kind; done
        pairs build-asan "pairs of files" clang clang++ --sanitize --short --without "$once"
        command_ "build-asan: the fuzzer's first inputs" sh tests/fuzz/run.sh 0 build-asan
    fi
    if [ -x build-gcc/compiler/tkc ] && [ -x build-clang/compiler/tkc ]; then
        command_ "both compilers' builds: the same bytes" sh tests/tools/same_bytes.sh build-gcc build-clang
    fi
fi
part "done"
echo "   $cpu s of processor time"

[ -n "$all" ] || echo "not run (sh tests/run.sh --all does): tkc built with clang and with sanitizers; pairs of files with clang and with sanitizers, but for one of each construct, and with more than the first of their flags, and at -O2;
those of tests/parallel with the thread sanitizer; most simulators of the gallery, and their window; the packages for Debian, and the site of the docs; the names that C compilers predefine; 20 random programs, some of their flags, those that may break the data-access rule; the fuzzer's first inputs; most points and compilers of the models; whether all builds write the same bytes"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
