# The sample through its Makefile: Newton's method with the sparse Hessian converges quadratically, and failure is a status.
# inputs: build-files runtime samples/newton c:samples/newton/*.tk
test -f /usr/include/suitesparse/cholmod.h || { echo "there is no CHOLMOD (Debian: libsuitesparse-dev)"; exit 77; }
cp -R "$ROOT/samples/newton" .
cd newton || exit
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
test "$(grep -c '^gradient and Hessian deviate .* right$' out)" = 2
test "$(grep -cx 'equilibrium: found' out)" = 2

# The last steps are Newton's own: no shift, the whole step, and a gradient becomes less than its power of 1.5; at last rounding is left.
quadratic()
{
    awk '
        $1 ~ /^[0-9]+$/ && $2 ~ /\./ { n++; g[n] = $3; fields[n] = NF; step[n] = $NF }
        END {
            for (k = n - 2; k <= n; k++) quadratic += g[k] < g[k - 1] ^ 1.5 && g[k] < 1e-6
            exit !(n > 4 && g[n] < 1e-11 && quadratic && fields[n - 1] == 4 && step[n - 1] == 1)
        }' "$1"
}
for options in "--cells=8" "--cells=8 --squeeze=0.2 --turn=30" "--cells=5 --squeeze=-0.5" "--tetrahedra --cells=3 --turn=180" "--tetrahedra --cells=2"; do
    # shellcheck disable=SC2086 # words
    ./newton $options --png=x.png >out || { cat out; exit 1; }
    test -s x.png
    quadratic out
    rm x.png
done
# From the straight strip the Hessian is indefinite: blocks of all elements are projected.
./newton --cells=8 --png= >out
awk 'NF == 5 && $1 == 0 && $4 == 512 { projected = 1 } END { exit !projected }' out
# The bits are the same with any number of threads.
./newton --cells=8 --png= --threads=4 >threads
for f in out threads; do grep -v ' ms' $f >$f.numbers; done
cmp out.numbers threads.numbers

# The window changes nothing; without a display it has a message.
if pkg-config --exists sdl2; then
    SDL_VIDEODRIVER=dummy ./newton --cells=8 --png= --window --linger=0 >window
    grep -v ' ms' window | cmp - out.numbers
    status=0
    SDL_VIDEODRIVER=none ./newton --cells=8 --png= --window 2>message || status=$?
    test $status = 1
    grep -q '^newton: --window: ' message
fi

expect()
{
    status=0
    ./newton --png= "$@" >out 2>message || status=$?
    test $status = "${want:?}"
}
want=1 expect --cells=4 --iterations=2
grep -qx 'equilibrium: NOT FOUND' out
want=1 expect --cells=4 --squeeze=0.8 --turn=-500
grep -q 'turned over at the first guess' message
want=1 expect --cells=2 --png=/nonexistent/x.png
grep -q '/nonexistent/x.png' message
for wrong in --cells=0 --cells=5000 "--tetrahedra --cells=50" --squeeze=1 --squeeze=nan --turn=1e9 --gravity=inf --lambda=-1 --iterations=-1 --linger=-5 --bound=0 --threads=-1 \
    --nonsense extra; do
    # shellcheck disable=SC2086 # words
    want=2 expect $wrong
    test -s message
done
