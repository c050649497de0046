# The sample through its Makefile: three ways to one gradient, and the picture.
# inputs: build-files runtime samples/jelly c:samples/jelly/*.tk
cp -R "$ROOT/samples/jelly" .
cd jelly || exit
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
make check CC="$CC" >out || { cat out; exit 1; }
grep -qx 'gradients are equal to rounding' out
test "$(grep -cE '^(stored|recomputed|saved) ' out)" = 3
# One grid instead of 200: most of the memory is gone, and the tape holds none of it.
awk '$1 == "stored" { all = $4 } $1 == "recomputed" { one = $4 } END { exit !(one < 0.25 * all) }' out
for way in stored recomputed saved; do
    ./jelly --way=$way --side=6 --steps=200 --cells=32 --iterations=8 --png=$way.png >$way
    test -s $way.png
    grep '^thrown' $way
done >throws
test "$(sort -u throws | wc -l)" = 1
awk '/^loss/ { exit !($4 + 0 < 0.05 * $2) }' FS='[ ,]+' recomputed
for wrong in --way=none --steps=0 --steps=50 --nonsense extra; do
    status=0
    ./jelly $wrong 2>message || status=$?
    test $status = 2
    test -s message
done
status=0
./jelly --side=4 --steps=100 --cells=16 --iterations=1 --png=/nonexistent/x.png >out 2>message || status=$?
test $status = 1
