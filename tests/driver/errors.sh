# Errors of files, names and the C compiler, word by word; none leaves a file.
cp "$ROOT/samples/gravity/gravity.tk" .

# refused TEXT ARGUMENTS...
refused()
{
    printf 'tkc: error: %s\n' "$1" >want
    shift
    status=0
    "$TKC" "$@" >out 2>err || status=$?
    grep -v '^tkc: note: ' err | diff want - || { echo "tkc $*"; exit 1; }
    [ $status = 1 ] && [ ! -s out ] || { echo "tkc $*: status $status"; exit 1; }
    rm want out err
    test "$(echo *)" = gravity.tk || { echo "tkc $*: left" *; exit 1; }
}

refused "cannot read 'nowhere.tk': No such file or directory [E0701]" nowhere.tk
refused "cannot read '.': Is a directory [E0701]" .
refused "cannot write 'nowhere/g.c': No such file or directory [E0702]" gravity.tk -o nowhere/g.c
refused "cannot write '.': Is a directory [E0702]" gravity.tk -o .
refused "'g.c' is another output of this run, and is not written over [E0711]" gravity.tk -o g.c --header=g.c
refused "C would be written into 'g.o': tkc -c makes an object [E0713]" gravity.tk -o g.o
refused "C would be written into 'x.d/libg.so': tkc -shared makes a library [E0713]" gravity.tk -o x.d/libg.so
refused "C would be written into 'other.tk': that is the name of a kernel file [E0713]" gravity.tk -o other.tk
refused "C would be written into 'g.py': tkc --python makes a module of Python's [E0713]" gravity.tk -o g.py
refused "cannot write 'nowhere/g.h': No such file or directory [E0702]" gravity.tk --header=nowhere/g.h
refused "cannot write 'nowhere/g.d': No such file or directory [E0702]" gravity.tk -MD -MF nowhere/g.d
refused "'2fast' cannot be the module's name: it is not a C identifier [E0703]" gravity.tk --prefix=2fast
refused "'int' cannot be the module's name: C, C++ or libtkc use it [E0704]" gravity.tk --prefix=int
# The header would stand in the place of C's.
for name in assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio \
    stdlib stdnoreturn string tgmath threads time uchar wchar wctype strings features; do
    refused "'$name' cannot be the module's name: C, C++ or libtkc use it [E0704]" gravity.tk --prefix=$name
done
refused "cannot run the C compiler '/nonexistent/cc': No such file or directory [E0705]" gravity.tk -c --cc=/nonexistent/cc
refused "the C compiler 'false' failed with status 1 [E0706]" gravity.tk -c --cc=false
if [ -c /dev/full ]; then
    refused "cannot write '/dev/full': No space left on device [E0702]" gravity.tk -o /dev/full
    status=0
    "$TKC" gravity.tk --emit=c >/dev/full 2>err || status=$?
    [ $status = 1 ]
    grep -Fqx "tkc: error: cannot write 'standard output': No space left on device [E0702]" err
fi
