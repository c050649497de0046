# No output is written over a source or over another output, whatever the names; links that lead nowhere are written through.
cp "$ROOT/samples/gravity/gravity.tk" prog.tk
echo 'func twice(a: f64) -> f64 { return 2.0 * a; }' >part.tk
printf 'import "part.tk";\nexport func f(a: f64) -> f64 { return twice(a); }\n' >user.tk
mkdir sub
ln prog.tk sub/hard.c
ln -s ../prog.tk sub/soft.c
ln -s part.tk part.d
cp prog.tk want_prog
cp part.tk want_part
cp user.tk want_user

# refused NAME WHAT ARGUMENTS...
refused()
{
    printf "tkc: error: '%s' is %s of this run, and is not written over [E0711]\n" "$1" "$2" >want
    shift 2
    status=0
    "$TKC" "$@" >out 2>err || status=$?
    diff want err || { echo "tkc $*"; exit 1; }
    [ $status = 1 ] && [ ! -s out ] || { echo "tkc $*: status $status"; exit 1; }
    cmp prog.tk want_prog && cmp part.tk want_part && cmp user.tk want_user
    rm want out err
    test "$(echo * sub/*)" = "part.d part.tk prog.tk sub user.tk want_part want_prog want_user sub/hard.c sub/soft.c" || { echo "tkc $*: left" * sub/*; exit 1; }
}

for kind in ir c ast tokens; do
    refused prog.tk "a source" prog.tk --emit=$kind -o prog.tk
done
refused ./sub/../prog.tk "a source" prog.tk --emit=ir -o ./sub/../prog.tk
refused sub/hard.c "a source" prog.tk --emit=ir -o sub/hard.c
refused sub/soft.c "a source" prog.tk --emit=ir -o sub/soft.c
refused part.tk "a source" user.tk --emit=c -o part.tk
refused prog.tk "a source" prog.tk -MD -MF prog.tk
refused part.tk "a source" user.tk -MD -MF part.tk
refused part.d "a source" user.tk -o part.c -MD
refused prog.tk "a source" prog.tk -c -o prog.tk
refused x.c "another output" prog.tk -o x.c --header=x.c
refused ./x.c "another output" prog.tk -o x.c --header=./x.c
refused sub/../x.c "another output" prog.tk -o x.c -MD -MF sub/../x.c
refused x.h "another output" prog.tk -o x.h
refused x.o "another output" prog.tk -c -o x.o --header=x.o
# IR is a source, too
"$TKC" prog.tk --emit=ir -o sub/prog.ir
cp sub/prog.ir want_ir
! "$TKC" sub/prog.ir --run-pass=simplify -o sub/prog.ir 2>err || exit 1
grep -q E0711 err
cmp sub/prog.ir want_ir

# two names of one file
"$TKC" prog.tk -o x.c
ln x.c y.h
! "$TKC" prog.tk -o x.c --header=y.h 2>err || exit 1
grep -q "'y.h' is another output" err

# links
mkdir far
ln -s ../far/new.c sub/new.c
ln -s "$PWD/far/new.h" sub/new.h
ln -s new.c sub/again.c
"$TKC" prog.tk -o sub/again.c --header=sub/new.h
test -L sub/again.c && test -L sub/new.c && test -L sub/new.h
test -f far/new.c && test -f far/new.h
ln -s nowhere/x.c sub/broken.c
! "$TKC" prog.tk -o sub/broken.c 2>err || exit 1
grep -q "cannot write 'sub/broken.c': No such file or directory" err
ln -s loop.c sub/loop.c
! "$TKC" prog.tk -o sub/loop.c 2>err || exit 1
grep -q "E0702" err
test -L sub/loop.c

# each file is on the disk before it has its name
[ -z "$SANITIZE" ] || exit 0
cat >spy.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void note(const char *what)
{
    FILE *f = fopen(getenv("NOTES"), "a");
    fprintf(f, "%s\n", what);
    fclose(f);
}
int fsync(int fd)
{
    note("fsync");
    return (int)syscall(SYS_fsync, fd);
}
int rename(const char *from, const char *to)
{
    note("rename");
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
C
$CC -D_GNU_SOURCE -shared -fPIC spy.c -o spy.so
NOTES=$PWD/notes LD_PRELOAD=$PWD/spy.so "$TKC" prog.tk -o synced.c -MD
test "$(echo $(cat notes))" = "fsync fsync fsync rename rename rename"
