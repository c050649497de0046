# The sample through its Makefile: the plan keeps its bounds and brings the pole up in a simulation by other means, and failure is a status.
# slow: 6
# inputs: build-files runtime samples/pendulum c:samples/pendulum/*.tk
pkg-config --exists ipopt || { echo "there is no IPOPT (Debian: coinor-libipopt-dev)"; exit 77; }
cp -R "$ROOT/samples/pendulum" .
cd pendulum || exit
make CC="$CC" CFLAGS="-O2 -Werror" >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
grep -q '^derivatives .* right$' out
grep -qx 'plan: found' out
grep -qx 'the pole stands' out
test "$(awk '$1 == "iterations" { print $2 }' out)" -lt 80

# Other equations of the same plant, solved for both accelerations at once, in steps of half a millisecond.
cat >simulate.awk <<'END'
function rates(s, r,    c, n, det, f, g) {
    c = cos(s[2]); n = sin(s[2])
    f = force + bob * len * s[4] * s[4] * n; g = -bob * 9.81 * len * n      # M (x'', angle'') = (f, g)
    det = (cart + bob) * bob * len * len - (bob * len * c) ^ 2
    r[1] = s[3]; r[2] = s[4]
    r[3] = (f * bob * len * len - g * bob * len * c) / det
    r[4] = ((cart + bob) * g - f * bob * len * c) / det
}
function step(h,    i, k1, k2, k3, k4, s) {
    rates(x, k1)
    for (i = 1; i <= 4; i++) s[i] = x[i] + h / 2 * k1[i]
    rates(s, k2)
    for (i = 1; i <= 4; i++) s[i] = x[i] + h / 2 * k2[i]
    rates(s, k3)
    for (i = 1; i <= 4; i++) s[i] = x[i] + h * k3[i]
    rates(s, k4)
    cost += h * (force ^ 2 + 10 * x[1] ^ 2)
    for (i = 1; i <= 4; i++) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])
}
function size(a) { return a < 0 ? -a : a }
BEGIN { FS = ","; cart = 1; bob = 0.3; len = 0.5; substeps = 80 }
NR > 1 {
    for (i = 0; NR > 2 && i < substeps; i++) step(($1 - time) / substeps)
    for (i = 1; i <= 4; i++) if (NR == 2) x[i] = $(i + 1); else if (size(x[i] - $(i + 1)) > 0.02) { print "line " NR ": simulated", x[i]; bad = 1 }
    if (size($6) > limit + 1e-6 || size($2) > track + 1e-6) { print "line " NR ": out of bounds"; bad = 1 }
    time = $1; force = $6
}
END {
    if (size(x[2] - 3.14159265358979) > 0.01 || size(x[1]) > 0.01 || size(x[4]) > 0.02) { print "it ends at", x[1], x[2], x[3], x[4]; bad = 1 }
    if (NR != rows + 2 || size(cost - expected) > 1e-3 * expected) { print NR " rows, cost " cost; bad = 1 }
    exit bad
}
END
awk_cost() { awk '$1 == "cost" { print $2 }' "$1"; }
./pendulum >out
for f in pendulum.png pendulum.gif; do test -s $f; done
awk -v limit=10 -v track=1 -v rows=75 -v expected="$(awk_cost out)" -f simulate.awk trajectory.csv
./pendulum --force=6 --track=0.6 --horizon=4 --intervals=100 --trajectory=bounded.csv --gif= --png= >bounded
awk -v limit=6 -v track=0.6 -v rows=100 -v expected="$(awk_cost bounded)" -f simulate.awk bounded.csv

# Without second derivatives the same plan is found later; from a plan that is known, soon.
./pendulum --given=jacobian --trajectory= --gif= --png= >approximate
./pendulum --guess=trajectory.csv --intervals=75 --trajectory= --gif= --png= >again
awk '
    $1 == "cost" { cost[FILENAME] = $2 }
    $1 == "iterations" { n[FILENAME] = $2 }
    function near(a, b) { return a - b < 1e-5 * b && b - a < 1e-5 * b }
    END { exit !(near(cost["approximate"], cost["out"]) && near(cost["again"], cost["out"]) && n["again"] < n["out"] && n["out"] < n["approximate"]) }
' out approximate again

expect()
{
    status=0
    ./pendulum --trajectory= --gif= --png= "$@" >out 2>message || status=$?
    test $status = "${want:?}"
}
want=1 expect --horizon=1
grep -q '^plan: NOT FOUND' out
want=1 expect --iterations=5
grep -qx 'plan: NOT FOUND: too few iterations' out
want=1 expect --push=30
grep -qx 'the pole DOES NOT STAND' out
want=1 expect --guess=/nonexistent
for line in 0,0 0.04,0,0,0,0,x 0,0,0,0,0,0; do
    { head -3 trajectory.csv; echo $line; } >bad.csv
    want=1 expect --guess=bad.csv
    grep -q '^bad.csv:4: ' message
done
head -2 trajectory.csv >bad.csv
want=1 expect --guess=bad.csv
for output in trajectory gif png; do
    want=1 expect --$output=/nonexistent/file
    test -s message
done
for wrong in --start=1,2 --start=1,2,3,x --intervals=1 --horizon=0 --horizon=nan --force=-1 --goal=2 --given=all --length=0 --nonsense extra; do
    want=2 expect $wrong
    test -s message
done

if command -v arm-none-eabi-gcc >/dev/null && printf '#include <math.h>\n' | arm-none-eabi-gcc -E - >/dev/null 2>&1; then
    make pendulum-cortex-m4.o >log 2>&1 || { cat log; exit 1; }
    if grep -q warning log; then cat log; exit 1; fi
fi
