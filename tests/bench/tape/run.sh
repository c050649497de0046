#!/bin/sh
# Builds and runs the benchmark of what a tape's checks cost.
#   sh tests/bench/tape/run.sh [BUILD_DIR]      CC=gcc or CC=clang (default)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../../build-clang}" && pwd)
cc=${CC:-clang}
out=$build/bench-tape-$cc
mkdir -p "$out"
"$build/compiler/tkc" "$here/tape_checks.tk" -o "$out/tape_checks.c"
"$cc" -std=gnu11 -O3 -march=native -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread -I"$out" -I"$here/../../../runtime/include" -o "$out/bench" \
    "$here/main.c" "$out/tape_checks.c" "$build/runtime/libtkc.a" -lm
exec "$out/bench"
