#!/bin/sh
# Builds and runs the benchmark of state that is stepped in place.
#   sh tests/bench/in_place/run.sh [BUILD_DIR]      CC=gcc or CC=clang (default)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../../build-clang}" && pwd)
cc=${CC:-clang}
out=$build/bench-in-place-$cc
mkdir -p "$out"
"$build/compiler/tkc" "$here/in_place.tk" -o "$out/in_place.c"
"$cc" -std=gnu11 -O3 -march=native -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread -I"$out" -I"$here/../../../runtime/include" -o "$out/bench" \
    "$here/main.c" "$out/in_place.c" "$build/runtime/libtkc.a" -lm
exec "$out/bench"
