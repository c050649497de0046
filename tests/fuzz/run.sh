#!/bin/sh
# run.sh SECONDS [BUILD [OPTION...]]: runs the fuzzer over all .tk files of the tests and samples; 0 seconds: over these files only, each once with every set of options.
# What it finds interesting is kept in BUILD/corpus, and is where the next run begins. Inputs that crash, leak or take more than 10 s or 2 GB stay in BUILD/found.
set -eu
cd "$(dirname "$0")/../.."
seconds=$1 build=${2:-build-fuzz}
shift $(($# < 2 ? $# : 2))
if [ ! -f "$build/build.ninja" ]; then
    CC=clang CXX=clang++ meson setup "$build" --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true >/dev/null
fi
ninja -C "$build" -t targets all | grep -q '^tests/fuzz/fuzz_tkc:' || meson configure "$build" -Dfuzz=true
ninja -C "$build" tests/fuzz/fuzz_tkc tests/fuzz/tk.dict >/dev/null
fuzz=$(realpath "$build/tests/fuzz/fuzz_tkc") root=$PWD
mkdir -p "$build/corpus" "$build/found"
rm -rf "$build/seeds"
mkdir "$build/seeds"
cd "$build"
# The digit in front selects options: see fuzz_tkc.c. Most comments would only be in the way.
find "$root/tests" "$root/samples" -name '*.tk' -size -12k | sort | while read -r tk; do
    name=$(echo "${tk#"$root"/}" | tr / _)
    for options in $(if [ "$seconds" = 0 ]; then echo 0 3 5 6; else echo 0 3; fi); do
        { printf %s "$options"; sed 's:^ *//[^/].*::; s: //[^/].*::' "$tk"; } >"seeds/$options$name"
    done
done
set -- -entropic=0 -mutate_depth=2 -max_len=16384 -timeout=10 -rss_limit_mb=2048 -artifact_prefix=found/ -print_final_stats=1 "$@"
if [ "$seconds" = 0 ]; then
    # a process for each processor, each with some of them
    parts=$(nproc) n=0
    for seed in seeds/*; do
        mkdir -p "seeds.$((n % parts))"
        mv "$seed" "seeds.$((n % parts))/"
        n=$((n + 1))
    done
    n=0 running=
    while [ "$n" -lt "$parts" ]; do
        "$fuzz" -runs=0 "$@" "seeds.$n" >"seeds.$n.log" 2>&1 &
        running="$running $!" n=$((n + 1))
    done
    status=0
    for process in $running; do
        wait "$process" || status=1
    done
    cat seeds.*.log
    rm -rf seeds.*
    exit "$status"
fi
exec "$fuzz" -max_total_time="$seconds" -dict=tests/fuzz/tk.dict "$@" corpus seeds
