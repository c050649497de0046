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

# What cannot be read is refused, by its line; nothing that stood there before is lost.
cp trajectory.csv before.csv
refused()
{
    printf "$2" >bodies.csv
    status=0
    ./gravity --steps=3 --input=bodies.csv 2>message || status=$?
    test $status = 1
    grep -q "^bodies.csv:$1: not four finite numbers" message || { echo "$2"; cat message; exit 1; }
    cmp trajectory.csv before.csv
}
refused 2 'x,y,vx,vy\nabc,0,0,0\n1,0,0,0\n'
refused 1 'x,y\n1,0,0,0\n'
refused 2 '1,0,0,0\nx,y,vx,vy\n'
refused 2 '# here\nnan,0,0,0\n'
refused 1 'inf,0,0,0\n'
refused 1 '0,1e999,0,0\n'
refused 1 '1,2,3\n'
refused 1 '1,2,3,4,5\n'
refused 1 '1,2,3,4x\n'
refused 1 '1 2 3 4\n'
refused 1 '1,2,3,\n'
refused 1 '1,2,3,4\0005\n'
printf '%0300d1,0,0,0.5\n \t\n#%0300d\n  -1 , 0 , 0 , -0.5\r\n0.25,.5,0,0' 0 0 >bodies.csv
./gravity --steps=3 --input=bodies.csv --gif= --png= | grep -q '^3 bodies'
cp trajectory.csv before.csv
status=0
(ulimit -f 1; trap '' XFSZ; exec ./gravity --steps=500 --gif= --png=) 2>message || status=$?
test $status = 1
cmp trajectory.csv before.csv
test "$(echo *.part)" = '*.part'
./gravity --steps=3 --gif= --png= --trajectory=/dev/stdout | grep -q '^step,body'
touch gravity.tk
make CC="$CC" 2>&1 | grep -q tkc
