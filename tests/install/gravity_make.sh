# The sample through its Makefile, and what it promises of its outputs.
cp -R "$ROOT/samples/gravity" .
cd gravity || exit
make CC="$CC" >log 2>&1 || { cat log; exit 1; }
make check CC="$CC"
./gravity --steps=200 --threads=2
for f in gravity.png gravity.gif trajectory.csv; do test -s $f; done
test "$(wc -l <trajectory.csv)" -gt 1000
./gravity -n 100 --steps=20 --check --gif= --png= --trajectory=
status=0
./gravity --steps=none 2>message || status=$?
test $status = 2
status=0
./gravity --input=/nonexistent 2>message || status=$?
test $status = 1
touch gravity.tk
make CC="$CC" 2>&1 | grep -q tkc
