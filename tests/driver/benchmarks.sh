# The benchmarks at tiny sizes: each builds without a warning, and the results of its sides agree.
# driver/gradbench, functions, growth and samples have the others.
# slow: 8
# inputs: runtime tests/bench c:tests/bench/*/*.tk
build=$(dirname "$(dirname "$TKC")")
if ! echo '#include <omp.h>' | $CC -fopenmp -E - >/dev/null 2>&1; then
    echo "$CC has no OpenMP (Debian: libomp-dev)"
    exit 77
fi
export BENCH_FLAGS="-O1 -Wall -Wextra -Werror" BENCH_LINK="$SANITIZE"
run()
{
    want=$1 benchmark=$2
    shift 2
    status=0
    BENCH_OUT=$PWD/$benchmark sh "$ROOT/tests/bench/run.sh" "$build" "$benchmark" --compiler "$CC" "$@" >out 2>message ||
        status=$?
    test $status = "$want" || { echo "$benchmark $*: status $status"; cat out message; exit 1; }
}
for benchmark in hand threads launches tape in_place budget long sparse; do
    run 0 $benchmark --check
    grep -q ': right$' out
    if grep -v ': right$' out; then exit 1; fi
done
run 0 launches --runs 1 "16 elements, arg"
grep -q '^| 16 elements, arguments | [0-9.]* |$' out
test "$(grep -c '^|' out)" = 3
run 1 launches nonsense
run 2 launches --runs 0
run 2 launches --faster
