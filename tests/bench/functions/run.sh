#!/bin/sh
# What an element of a loop over each function of the C library takes, beside the scalar function, and how exact it is.
#   sh tests/bench/functions/run.sh [BUILD_DIR] [errors|times] [NAME...]      CC=gcc or CC=clang (default), FLAGS="..."
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../../build-clang}" && pwd)
cc=${CC:-clang}
out=${FUNCTIONS_OUT:-$build/bench-functions-$cc}
flags="-std=gnu11 ${FLAGS:--O3 -march=native} -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread"
if $cc --version | grep -q clang && grep -q avx2 /proc/cpuinfo; then flags="$flags -fveclib=libmvec -mavx2"; fi
shift $(($# > 0))
what=${1:-times}
shift $(($# > 0))
for real in f32 f64; do
    mkdir -p "$out/$real"
    "$build/compiler/tkc" "$here/functions.tk" --real=$real -o "$out/$real/functions.c"
    # shellcheck disable=SC2086
    "$cc" $flags -I"$out/$real" -I"$here/../../../runtime/include" -c -o "$out/$real/functions.o" \
        "$out/$real/functions.c"
    # what errors are measured against is not to be vectorised
    # shellcheck disable=SC2086
    "$cc" -std=gnu11 -O1 -pthread ${SANITIZE-} -I"$out/$real" -I"$here/../../../runtime/include" -o "$out/$real/main" \
        "$here/main.c" "$out/$real/functions.o" "$build/runtime/libtkc.a" -lm
done
for real in f32 f64; do "$out/$real/main" "$what" "$@"; done
