# Which files are written, and that an error changes none.
refused()
{
    status=0
    "$TKC" "$@" || status=$?
    [ $status = 1 ] || { echo "tkc $*: status $status, not 1"; exit 1; }
}
cp "$ROOT/samples/gravity/gravity.tk" .
sed 's/x\[i\] += dt/x[i] += nothing/' gravity.tk >broken.tk

"$TKC" gravity.tk
test -s gravity.c
test -s gravity.h
cp gravity.c first.c
"$TKC" gravity.tk
cmp gravity.c first.c

mkdir sub inc
"$TKC" gravity.tk -o sub/g.c --header=inc/forces.h --prefix=forces
grep -q '#include "forces.h"' sub/g.c
grep -q forces_compute_U inc/forces.h
test ! -e sub/g.h

# nothing is left or changed by an error, nor are temporary files left
cp gravity.c before.c
refused broken.tk -o gravity.c 2>err
cmp gravity.c before.c
refused broken.tk -o sub/new.c -MD 2>err
refused gravity.tk -o sub/new.c --header=nowhere/x.h 2>err
refused gravity.tk -c -o sub/new.o --cc=false 2>err
test "$(ls -A sub inc)" = "$(printf 'inc:\nforces.h\n\nsub:\ng.c')"

# links are written through, permissions kept, devices left alone
ln -s ../gravity.c sub/link.c
chmod 640 gravity.c
"$TKC" gravity.tk -o sub/link.c
test -L sub/link.c
test "$(stat -c %a gravity.c)" = 640
rm sub/link.c sub/link.h
"$TKC" gravity.tk -o /dev/null
test -c /dev/null
test ! -e /dev/null.h

# dependency files
"$TKC" gravity.tk -o 'sub/a b.c' -MD -MF deps
test "$(cat deps)" = 'sub/a\ b.c: gravity.tk'
"$TKC" gravity.tk -o sub/g.c -MD
test "$(cat sub/g.d)" = 'sub/g.c: gravity.tk'
(cd sub && "$TKC" ../gravity.tk -MD && test "$(cat gravity.d)" = 'gravity.c: ../gravity.tk')

# text
for what in tokens ast ir c; do
    "$TKC" gravity.tk --emit=$what >stdout
    test -s stdout
    "$TKC" gravity.tk --emit=$what -o file
    cmp stdout file
done
refused broken.tk --emit=c >stdout 2>err
test ! -s stdout
"$TKC" gravity.tk --explain-adjoint >stdout
test -s stdout
"$TKC" gravity.tk --dump-after=all --emit=c >stdout 2>err
test -s err
refused broken.tk --diagnostics=json 2>err
python3 -c 'import json; json.load(open("err"))'
rm -f gravity.h
"$TKC" gravity.tk -D EPS=1e-6 --real=f64 -g -o gravity.c
grep -q '^#line' gravity.c
grep -q 'double (\*data)\[2\]' gravity.h

# a hand-written file is not replaced
mkdir mine
echo 'int main(void) { return 0; }' >mine/gravity.c
(cd mine && refused ../gravity.tk 2>../err)
grep -q "E0707" err
grep -q "int main" mine/gravity.c
test ! -e mine/gravity.h
echo '/* mine */' >mine/other.h
refused gravity.tk -o mine/other.c 2>err
grep -q "E0707" err
test ! -e mine/other.c
: >mine/empty.c
"$TKC" gravity.tk -o mine/empty.c
"$TKC" gravity.tk -o mine/empty.c
