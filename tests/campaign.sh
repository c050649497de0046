#!/bin/sh
# campaign.sh [HOURS]: hunts for faults, without the store. Once: all tests, clang's build, the inputs of scripts, 10,000 random programs, rewrites, schedules, races, models,
# planted bugs. Then, until the hours (8) are over: fuzzers, and more programs with other seeds. Logs are in build-campaign. Ends with `N passed, N failed`.
set -u
hours=${1:-8}
case $hours in '' | *[!0-9]*) echo "usage: campaign.sh [HOURS]" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES $TEST_PACKAGES || exit 1
# shellcheck disable=SC2086
need $MORE_PACKAGES || for p in $MORE_PACKAGES; do need "$p"; done
end=$(($(date +%s) + hours * 3600))
logs=build-campaign
mkdir -p $logs
passed=0 failed=0

# step NAME COMMAND...: one of them passes if it ends with status 0
step()
{
    name=$1
    shift
    if "$@" >"$logs/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "$name: $(tail -n 1 "$logs/$name.log")"
    else
        failed=$((failed + 1))
        echo "FAILED $name: $(tail -n 1 "$logs/$name.log"), see $logs/$name.log"
    fi
}

random()
{
    step "random-$1" sh tests/random/run.sh 10000 "$1"
    step "broken-$1" python3 tests/random/run.py --build build-gcc --broken -n 500 --seed "$1"
    step "rewrites-$1" python3 tests/random/rewrites.py --build build-gcc -n 64 --seed "$1"
    step "schedules-$1" python3 tests/random/schedules.py --build build-gcc -n 64 --seed "$1"
    step "tables-$1" python3 tests/random/tables.py --build build-gcc -n 200 --from "$(($1 * 200))"
    step "elements-$1" python3 tests/random/elements.py --build build-gcc -n 40 --from "$(($1 * 40))"
}

export PYTHONUNBUFFERED=1
step all python3 tests/runtests.py --plan all --afresh
step clang python3 tests/runtests.py --plan clang --afresh
step inputs python3 tests/tools/inputs.py --build build-gcc
for k in 1 2 3 4 5; do step "race-$k" python3 tests/runtests.py --build build-gcc --afresh race/ unit/; done
random 1
step planted python3 tests/planted/run.py
step mangle python3 tests/tools/mangle.py --tkc build-gcc/compiler/tkc --cc clang --count 10000 --seed 7 tests/run/*.tk tests/ad/*.tk tests/parallel/*.tk samples/*/*.tk
round=1
while [ "$(date +%s)" -lt $end ]; do
    step "fuzz-$round" sh tests/fuzz/run.sh 1800
    step "lsp-$round" python3 tests/lsp/rough.py build-asan/compiler/tkc . 2000
    [ "$(date +%s)" -ge $end ] || random "$(git rev-parse --short HEAD)-$round"
    round=$((round + 1))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
