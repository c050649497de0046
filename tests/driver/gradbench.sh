# GradBench's evaluations at tiny sizes: the gradients are those by hand, and what the tool answers is what the formulas say.
# slow: 18
# inputs: runtime tests/gradbench tests/bench c:tests/gradbench/*/*.tk
build=$(dirname "$(dirname "$TKC")")
export BENCH_OUT="$PWD" BENCH_FLAGS="-O1 -Wall -Wextra -Werror" BENCH_LINK="$SANITIZE"
run()
{
    want=$1
    shift
    status=0
    sh "$ROOT/tests/gradbench/run.sh" "$@" >out 2>message || status=$?
    test $status = "$want" || { echo "$*: status $status"; cat out message; exit 1; }
}
run 0 "$build" --compiler "$CC" --check
for name in gmm ba lstm ht kmeans lse llsq ode det; do
    grep -q "^$name .*: right$" out
done
status=0
./bench --check nonsense >out 2>message || status=$?
test $status = 1
grep -q 'no such case' message
run 2
run 2 "$build" --faster

# What --count reads of callgrind's file: a call has what it does and what its callees do, by names that are written once.
cat >counts <<'END'
events: Ir Dr Dw
fn=(1) primal
3 10 2 1
cfn=(2) helper
calls=1 0
4 90 8 9
fn=(3) run_case
cfn=(1)
calls=2 0
5 200 20
cfn=(4) hand_rows
calls=1 0
6 7 6 5
END
python3 "$ROOT/tests/bench/lib/counts.py" counts ba >said
cat >expected <<'END'
| ba | hand_rows | 1 | 7 | 6 | 5 |
| ba | primal | 2 | 100 | 10 | 0 |
END
cmp said expected

pkg-config --exists jansson || { echo "there is no jansson (Debian: libjansson-dev)"; exit 77; }
run 0 "$build" --compiler "$CC" --tool
python3 "$ROOT/tests/gradbench/tool/evals.py" ./tool >out || { cat out; exit 1; }
status=0
./tool --fast 2>message || status=$?
test $status = 2
echo '{"id": 1, "kind": "evaluate", "module": "hello", "function": "double", "input": 3}' | ./tool --cpu >out
grep -q '"output":6.0' out
