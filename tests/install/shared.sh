# Objects and shared libraries straight from tkc.
sed '/stdio/a #include <stdlib.h>' "$ROOT/tests/install/readme_program.c" >host.c
tkc "$ROOT/samples/gravity/gravity.tk" -c -o gravity.o
test -s gravity.o
test -s gravity.h
# shellcheck disable=SC2046
"$CC" -std=c11 host.c gravity.o $(pkg-config --cflags --libs tkc) -o with_object
./with_object
rm gravity.h
tkc --cc="$CC" "$ROOT/samples/gravity/gravity.tk" -shared -o libgravity.so
test -s gravity.h
# shellcheck disable=SC2046
"$CC" -std=c11 host.c ./libgravity.so $(pkg-config --cflags --libs tkc) -o with_library
./with_library
# Loaded by whoever knows nothing of libtkc: it is found, also in a folder with a name of this kind.
load()
{
    env -u LD_LIBRARY_PATH python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).gravity_compute_U' "$1"
}
load ./libgravity.so
mkdir 'a, b'
cp -R "$PREFIX" 'a, b/usr'
'a, b/usr/bin/tkc' --cc="$CC" "$ROOT/samples/gravity/gravity.tk" -shared -o libmoved.so
load ./libmoved.so
env -u LD_LIBRARY_PATH ldd ./libmoved.so | grep -q 'libtkc.*=> .*/a, b/usr/'
TKC_CC="$CC -O1" tkc "$ROOT/samples/gravity/gravity.tk" -g -c -o debug.o
test -s debug.h
# The flags are those of pkg-config; clang's are asked for, and both are taken or none.
printf '%s\n' '#!/bin/sh' 'echo "$*" >>said' "exec $CC \"\$@\"" >clang-like
chmod +x clang-like
tkc --cc=./clang-like "$ROOT/samples/gravity/gravity.tk" -c -o flags.o
tail -n 1 said >last
for flag in $(head -n 1 "$ROOT/runtime/flags.txt"); do
    grep -qe " $flag " last
    pkg-config --cflags tkc | grep -qwe "$flag"
done
test "$(pkg-config --variable=clang_cflags tkc)" = "$(tail -n 1 "$ROOT/runtime/flags.txt")"
vectors=$(tail -n 1 "$ROOT/runtime/flags.txt")
if [ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo; then grep -qe "-Werror $vectors " said; fi
case $CC$(grep -ce "$vectors" last)$(grep -cEe '-fveclib|-mavx2' last) in *clang00 | *clang11 | *cc00) ;; *) cat last; exit 1 ;; esac
