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
TKC_CC="$CC -O1" tkc "$ROOT/samples/gravity/gravity.tk" -g -c -o debug.o
test -s debug.h
