#!/bin/sh
# Builds GradBench's evaluations with an existing build of tkc and prints the table.
#   sh tests/gradbench/run.sh BUILD [--compiler gcc|clang] [--check | --count | --memory | --tool] [NAME...]
# --check: results alone, tiny sizes; --count: instructions, loads and stores of the first sizes (valgrind, which does not know every instruction of
# -march=native: GRADBENCH_FLAGS);
# --memory: what gradients keep beside arguments and results (glibc)
# --tool: builds the program that speaks GradBench's protocol, and prints where it is
set -eu
here=$(cd "$(dirname "$0")" && pwd)
usage()
{
    sed -n 3,7p "$0" >&2
    exit 2
}
[ $# -gt 0 ] || usage
build=$(cd "$1" && pwd)
shift
cc=${CC:-clang} mode=table
while :; do
    case ${1-} in
    --compiler)
        [ $# -gt 1 ] || usage
        cc=$2
        shift 2
        ;;
    --check | --count | --memory | --tool)
        mode=${1#--}
        shift
        ;;
    -*) usage ;;
    *) break ;;
    esac
done
out=${GRADBENCH_OUT:-$build/gradbench-$(basename "$cc")}
mkdir -p "$out"
tkc=${TKC:-$build/compiler/tkc}
flags="-std=gnu11 ${GRADBENCH_FLAGS:--O3 -march=native} -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread"
case $cc in *clang*) flags="$flags -fveclib=libmvec -mavx2" ;; esac
modules=

# NAME SOURCE [FLAG...]: one module
module()
{
    name=$1 source=$2
    shift 2
    "$tkc" --real=f64 "$@" --prefix="$name" "$source" -o "$out/$name.c"
    modules="$modules $out/$name.c"
}

for d in "$here"/*/; do
    [ ! -e "$d/modules" ] || while read -r name source options; do
        # shellcheck disable=SC2086
        module "$name" "$d/$source" $options
    done <"$d/modules"
    for tk in "$d"*.tk; do
        [ ! -e "$tk" ] || grep -qs " $(basename "$tk")" "$d/modules" || module "$(basename "$tk" .tk)" "$tk"
    done
done

# link NAME FILE... [-lLIBRARY...]: compiles as many at once as there are processors
link()
{
    program=$out/$1 objects='' libraries=''
    shift
    # shellcheck disable=SC2086
    set -- "$@" "$here/data.c" $modules
    rm -f "$out"/*.o "$out/compile"
    for file in "$@"; do
        case $file in
        *.c)
            object=$out/$(echo "${file#"$here/"}" | tr / _).o
            echo "$flags -I$out -I$here/../../runtime/include -I$here -I$here/tool -c $file -o $object" >>"$out/compile"
            objects="$objects $object"
            ;;
        *) libraries="$libraries $file" ;;
        esac
    done
    xargs -P "$(nproc)" -L 1 "$cc" <"$out/compile"
    # shellcheck disable=SC2086
    "$cc" $flags ${GRADBENCH_LINK-} -o "$program" $objects "$build/runtime/libtkc.a" -lm $libraries
}

if [ $mode = tool ]; then
    pkg-config --exists jansson || { echo "there is no jansson (Debian: libjansson-dev)" >&2; exit 77; }
    # shellcheck disable=SC2046
    link tool "$here"/tool/*.c "$here"/*/tool.c "$here/ba/ours.c" $(pkg-config --cflags --libs jansson)
    echo "$program"
    exit
fi
link bench "$here/bench.c" "$here/cases.c" "$here"/*/hand.c "$here"/*/case*.c "$here/ba/ours.c"
if [ $mode = count ]; then
    # static functions keep their names, and each call is one by its pointer
    echo "| evaluation | side | calls | instructions a call | loads | stores |"
    echo "|---|---|---|---|---|---|"
    for name in ${*:-$(ls -d "$here"/*/case.c | sed 's|/case.c||; s|.*/||')}; do
        valgrind --tool=callgrind --cache-sim=yes --callgrind-out-file="$out/counts" "$program" --once "$name" >"$out/said" 2>&1 || { cat "$out/said" >&2; exit 1; }
        python3 "$here/../bench/lib/counts.py" "$out/counts" "$name"
    done
    exit
fi
[ $mode = table ] || set -- "--$mode" "$@"
exec "$program" "$@"
