#!/bin/sh
# Builds the benchmarks with an existing build of tkc and prints the table.
#   sh tests/bench/run.sh [BUILD_DIR] [CASE]      CC=gcc or CC=clang (default)
# What is written by hand uses OpenMP: clang wants libomp-dev.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build-clang}
build=$(cd "$build" && pwd)
cc=${CC:-clang}
out=$build/bench-$cc
mkdir -p "$out"
for k in elementwise stencil nbody scatter wave border stored window transfer; do
    "$build/compiler/tkc" "$here/hand/$k.tk" -o "$out/$k.c"
done
flags="-std=gnu11 -O3 -march=native -fno-math-errno -fno-trapping-math -fopenmp"
case $cc in *clang*) flags="$flags -fveclib=libmvec" ;; esac
# shellcheck disable=SC2086
"$cc" $flags -I"$out" -I"$here/../../runtime/include" -I"$here/hand" -o "$out/bench" "$here"/hand/*.c "$out"/*.c "$build/runtime/libtkc.a" -lm
# What is by hand runs on OpenMP's threads, which would wait by spinning for 0.2 s, while it is our turn.
KMP_BLOCKTIME=${KMP_BLOCKTIME:-1} exec "$out/bench" ${2:+"$2"}
