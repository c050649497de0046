#!/bin/sh
# Builds and runs the benchmark of threads: how long two take of what one takes, on a quiet machine and beside programs that never sleep.
#   sh tests/bench/threads/run.sh [BUILD_DIR] [WORD [BUSY [THREADS]]]      CC=gcc or CC=clang (default); WORD: of the cases, those that have it in their name;
#   BUSY: with at most so many such programs, of 2; THREADS: instead of two
#   LAUNCHES=yes: what a launch of a tiny kernel costs, instead
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
build=$(cd "${1:-$root/build-clang}" && pwd)
cc=${CC:-clang}
out=$build/bench-threads-$cc
mkdir -p "$out"
for k in "$here/../wave" "$here/../elementwise" "$here/../scatter" "$root/samples/smoke/smoke" "$here/tiny"; do
    "$build/compiler/tkc" "$k.tk" -o "$out/$(basename "$k").c"
done
flags="-std=gnu11 -O3 -march=native -fno-math-errno -fno-trapping-math -fopenmp-simd -pthread"
case $cc in *clang*) flags="$flags -fveclib=libmvec" ;; esac
[ -n "${LAUNCHES-}" ] && main=launches.c || main=main.c
# shellcheck disable=SC2086
"$cc" $flags -I"$out" -I"$root/runtime/include" -o "$out/${main%.c}" "$here/$main" "$out"/*.c ${LIBRARY:-"$build/runtime/libtkc.a"} -lm
shift $(($# > 0))
exec "$out/${main%.c}" "$@"
