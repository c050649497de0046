# The sample through its Makefile: both methods find the parameters that an independent program found, and failure is a status.
# inputs: build-files runtime samples/fit c:samples/fit/*.tk
cp -R "$ROOT/samples/fit" .
cd fit || exit
python3 measure.py | cmp - measurements.csv
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
grep -q '^the Jacobian deviates .* right$' out
test "$(grep -c 'reached a good fit' out)" = 2
# By Gauss-Newton with differences for derivatives, in another language.
awk '
    function near(a, b, part) { return a - b < part * b && b - a < part * b }
    $1 == "amplitude" { right += near($5, 1.802334, 1e-6) + near($7, 0.040162, 1e-4) + near($2, 1.802334, 1e-3) }
    $1 == "frequency" { right += near($5, 3.074540, 1e-6) + near($7, 0.010342, 1e-4) + near($2, 3.074540, 1e-3) }
    $1 == "chi2" { right += near($3, 159.433866, 1e-7) + near($2, 159.433866, 1e-5) }
    $1 == "iterations" { right += $3 < 20 && $3 < $2 / 50 }
    END { exit right != 9 }' out
./fit --png=x.png >/dev/null
test -s x.png
expect()
{
    status=0
    ./fit --png= "$@" >out 2>message || status=$?
    test $status = "${want:?}"
}
want=1 expect --descent=10
grep -qx 'gradient descent DID NOT REACH .*' out
want=1 expect --newton=2
grep -qx 'Gauss-Newton DID NOT REACH .*' out
sed 's/,\([0-9.]*\)$/,0.01/' measurements.csv >precise.csv
want=1 expect --input=precise.csv
want=1 expect --input=/nonexistent
head -8 measurements.csv >few.csv
want=1 expect --input=few.csv
grep -q 'too few' message
echo 1,2,0 >>few.csv
want=1 expect --input=few.csv
grep -q '^few.csv:9: ' message
want=1 expect --png=/nonexistent/x.png
for wrong in --start=1,2 --start=1,2,3,4,5,x --descent=0 --newton=none --nonsense extra; do
    want=2 expect $wrong
    test -s message
done
