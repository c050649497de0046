# A solve of LAPACK on a tape: the sample builds through its Makefile and finds its gradients right.
# inputs: build-files runtime samples/lapack c:samples/lapack/*.tk
cp -R "$ROOT/samples/lapack" .
cd lapack || exit
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
./spring >out
cat out
grep -qx 'gradients deviate from differences by less than 1e-6' out
grep -q '1/100 of it' out
