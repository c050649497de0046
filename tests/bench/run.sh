#!/bin/sh
# Builds a benchmark with an existing build of tkc, and runs it.
#   sh tests/bench/run.sh BUILD [BENCHMARK] [--compiler gcc|clang] [OPTION...] [NAME...]
# BENCHMARK: hand (default), threads, launches, tape, in_place, budget, long, sparse, functions or gradbench. NAME: a part
# of cases' names.
#   --check          results alone, at tiny sizes
#   --runs N         instead of the benchmark's own number
#   --threads N      with N threads alone
#   --busy N         with 0, 1 ... N processes beside it that never sleep
#   --count          instructions, loads and stores of the first sizes, by valgrind, which does not have each instruction
#                    of -march=native: set BENCH_FLAGS
#   --memory         gradbench: memory of gradients beside arguments and results (glibc)
#   --tool           gradbench: builds the program that speaks GradBench's protocol, and prints where it is
#   errors [--points N] [NAME...]      functions: how exact they are, instead of times
# Variables: CC, a compiler; BENCH_FLAGS instead of -O3 -march=native; BENCH_LINK, flags of the linker; BENCH_OUT, a
# folder; BENCH_LIBRARY instead of the build's libtkc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
usage()
{
    sed -n 3,16p "$0" >&2
    exit 2
}
[ $# -gt 0 ] && [ -d "$1" ] || usage
build=$(cd "$1" && pwd)
shift
suite=$here/hand
for dir in "$here/${1-}" "$here/../${1-}"; do
    [ -z "${1-}" ] || [ ! -e "$dir/suite.c" ] || { suite=$(cd "$dir" && pwd); shift; break; }
done
cc=${CC:-clang} mode=run
left=$#
while [ $left -gt 0 ]; do
    word=$1 left=$((left - 1))
    shift
    case $word in
    --compiler | --runs | --threads | --busy | --points)
        [ $left -gt 0 ] || usage
        if [ "$word" = --compiler ]; then cc=$1; else set -- "$@" "$word" "$1"; fi
        shift
        left=$((left - 1))
        ;;
    --count | --tool) mode=${word#--} ;;
    --check | --once | --memory | --names) set -- "$@" "$word" ;;
    -*) usage ;;
    *) set -- "$@" "$word" ;;
    esac
done
out=${BENCH_OUT:-$build/bench-$(basename "$suite")-$(basename "$cc")}
tkc=${TKC:-$build/compiler/tkc}
flags="-std=gnu11 ${BENCH_FLAGS:--O3 -march=native} -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread"
if $cc --version | grep -q clang && grep -qs avx2 /proc/cpuinfo; then flags="$flags -fveclib=libmvec -mavx2"; fi
# A benchmark's own suite.sh may change these: a program for each type of real, kernels of other folders, files,
# libraries.
reals=f32 program=bench kernels='' sources=$(echo "$suite"/*.c) libraries=''
[ ! -e "$suite/suite.sh" ] || . "$suite/suite.sh"

# module NAME SOURCE [FLAG...]
module()
{
    name=$1 source=$2
    shift 2
    "$tkc" --real="$real" --prefix="$name" "$@" "$source" -o "$work/$name.c"
    files="$files $work/$name.c"
}

# Files `modules` have lines NAME SOURCE [FLAG...]; each other kernel is a module of its own name.
modules()
{
    for list in "$suite"/modules "$suite"/*/modules; do
        [ ! -e "$list" ] || while read -r name source options; do
            # shellcheck disable=SC2086
            module "$name" "$(dirname "$list")/$source" $options
        done <"$list"
    done
    for tk in "$suite"/*.tk "$suite"/*/*.tk $kernels; do
        if [ ! -e "$tk" ] || grep -qs " $(basename "$tk")" "$(dirname "$tk")/modules"; then continue; fi
        module "$(basename "$tk" .tk)" "$tk"
    done
}

# Compiles as many files at once as there are processors.
link()
{
    rm -f "$work"/*.o "$work/compile"
    for file in $files; do
        object=$work/$(echo "${file#"$root/"}" | tr / _).o
        echo "$flags -I$work -I$root/runtime/include -I$here/lib -I$suite -c $file -o $object" >>"$work/compile"
    done
    xargs -P "$(nproc)" -L 1 "$cc" <"$work/compile"
    # shellcheck disable=SC2086
    "$cc" $flags ${BENCH_LINK-} -o "$work/$program" "$work"/*.o "${BENCH_LIBRARY:-$build/runtime/libtkc.a}" \
        -lm $libraries
}

# Sides are static functions that are called by pointers, so they keep their names.
count()
{
    made=$1
    shift
    echo "| case | side | calls | instructions a call | loads | stores |"
    echo "|---|---|---|---|---|---|"
    "$made" --names "$@" | while read -r name; do
        valgrind --tool=callgrind --cache-sim=yes --callgrind-out-file="$work/counts" "$made" --once "$name" \
            >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
        python3 "$here/lib/counts.py" "$work/counts" "$name"
    done
}

for real in $reals; do
    work=$out
    [ "$real" = "$reals" ] || work=$out/$real
    mkdir -p "$work"
    files="$sources $(echo "$here"/lib/*.c)"
    modules
    link
done
for real in $reals; do
    [ "$real" = "$reals" ] || work=$out/$real
    case $mode in
    tool) echo "$work/$program" ;;
    count) count "$work/$program" "$@" ;;
    run) "$work/$program" "$@" ;;
    esac
done
