#!/bin/sh
# run.sh SECONDS [BUILD [OPTION...]]: runs the fuzzer over all .tk files of the tests and samples. What it finds interesting is kept in BUILD/corpus, and is where the
# next run begins. Inputs that crash, leak or take more than 60 s or 2 GB stay in BUILD/found.
# run.sh 0 BUILD [PART/PARTS]: these files only, or a part of them, each once with every set of options.
set -eu
cd "$(dirname "$0")/../.."
seconds=$1 build=${2:-build-fuzz} root=$PWD
shift $(($# < 2 ? $# : 2))
if [ ! -f "$build/build.ninja" ]; then
    CC=clang CXX=clang++ meson setup "$build" --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true >/dev/null
fi
ninja -C "$build" -t targets all | grep -q '^tests/fuzz/fuzz_tkc:' || meson configure "$build" -Dfuzz=true
ninja -C "$build" tests/fuzz/fuzz_tkc tests/fuzz/tk.dict >/dev/null
fuzz=$(realpath "$build/tests/fuzz/fuzz_tkc")
mkdir -p "$build/corpus" "$build/found"
cd "$build"
seeds=$(mktemp -d seeds.XXXXXX)
trap 'rm -rf "$seeds"' EXIT
limits='-entropic=0 -mutate_depth=2 -max_len=16384 -rss_limit_mb=2048 -artifact_prefix=found/ -print_final_stats=1'
# shellcheck disable=SC2086
if [ "$seconds" = 0 ]; then
    python3 "$root/tests/fuzz/seeds.py" "$seeds" 0356 "${1:-0/1}"
    "$fuzz" -runs=0 -timeout=0 $limits "$seeds"
else
    python3 "$root/tests/fuzz/seeds.py" "$seeds" 03
    "$fuzz" -max_total_time="$seconds" -timeout=60 -dict=tests/fuzz/tk.dict $limits "$@" corpus "$seeds"
fi
