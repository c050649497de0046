# The sample through its Makefile: the drone holds its path, plans keep their bounds, and failure is a status.
# slow: 6
# inputs: build-files runtime samples/quadrotor c:samples/quadrotor/*.tk
pkg-config --exists ipopt || { echo "there is no IPOPT (Debian: coinor-libipopt-dev)"; exit 77; }
cp -R "$ROOT/samples/quadrotor" .
cd quadrotor || exit
make CC="$CC" CFLAGS="-O2 -Werror" >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
grep -qx 'deviations from central differences: right' out
grep -q '^the drone holds its path: ' out
awk '/^[0-9]+ plans: / { exit !($3 < 15) }' out
./quadrotor --seconds=6 --gust-at=1 --thrust=1.8 --png=x.png >out
test -s x.png
awk '/^largest thrust/ { exit !($3 <= 1.8000001 && $3 > 1.7) }' out

expect()
{
    status=0
    ./quadrotor --png= "$@" >out 2>message || status=$?
    test $status = "${want:?}"
}
want=1 expect --seconds=1 --gust=0
grep -q '^the drone DOES NOT HOLD its path' out
want=1 expect --seconds=2 --interval=0.3 --gust=100 --gust-at=0.3 --tilt=80
grep -qx 'no plan at 0.3 s: IPOPT has too few iterations' out
want=1 expect --seconds=0.2 --png=/nonexistent/x.png
grep -q '/nonexistent/x.png' message
for wrong in --seconds=0 --seconds=nan --interval=0 --intervals=1 --thrust=1 --thrust=inf --tilt=90 --mass=0 --gust=1e9 --steps=0 --nonsense extra; do
    want=2 expect $wrong
    test -s message
done
