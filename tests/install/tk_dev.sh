# Beside the development files of Tcl/Tk, as Debian's tk-dev and tcl-dev lay them: no path is both packages', and README's example, built by README's commands,
# takes our headers and our library.
# inputs: build-files runtime README.md
cp -R "$PREFIX" usr
lib=usr/${LD_LIBRARY_PATH#"$PREFIX"/}
include=usr/include
export PKG_CONFIG_PATH=$PWD/$lib/pkgconfig LD_LIBRARY_PATH=$PWD/$lib PATH=$PWD/usr/bin:$PATH
sed -i "s|^prefix=.*|prefix=$PWD/usr|" "$lib/pkgconfig/tkc.pc"

# lay PATH [TARGET]: a file with what comes on standard input, or a link, where nothing may be yet
lay()
{
    if [ -e "$1" ] || [ -h "$1" ]; then echo "$1 is ours and Tcl/Tk's"; exit 1; fi
    if [ $# = 2 ]; then ln -s "$2" "$1"; else cat >"$1"; fi
}
mkdir $include/tcl8.6
lay $include/tcl tcl8.6
lay $include/tk tcl8.6
for name in tcl tk; do
    lay $include/tcl8.6/$name.h <<C
#ifndef _TK
#define _TK
int Tk_Main(void);
#endif
C
    lay "$lib/pkgconfig/${name}8.6.pc" <<PC
prefix=$PWD/usr
libdir=$PWD/$lib
includedir=$PWD/$include/tcl8.6

Name: $name
Description: a stand-in
Version: 8.6.13
Libs: -L\${libdir} -l${name}8.6
Cflags: -I\${includedir}
PC
    lay "$lib/pkgconfig/$name.pc" ${name}8.6.pc
    echo 'int Tk_Main(void); int Tk_Main(void) { return 86; }' >$name.c
    "$CC" -c $name.c -o $name.o
    ar rcs lib$name.a $name.o
    "$CC" -shared -fPIC -Wl,-soname,lib${name}8.6.so $name.c -o lib$name.so
    lay "$lib/lib${name}8.6.a" <lib$name.a
    lay "$lib/lib${name}8.6.so" <lib$name.so
    lay "$lib/lib${name}8.6.so.0" lib${name}8.6.so
    lay "$lib/lib$name.a" lib${name}8.6.a
    lay "$lib/lib$name.so" lib${name}8.6.so
done
lay "$lib/libtkstub8.6.a" <libtk.a
lay "$lib/libtkstub.a" libtkstub8.6.a

# block LANGUAGE: that of README's example
block()
{
    awk -v language="$1" '/^<!-- test: bodies -->$/ { marked = 1; next } marked && $0 == "```" language { inside = 1; next }
        /^```/ { marked = inside = 0 } inside' "$ROOT/README.md"
}
block tk >bodies.tk
block c >host.c
block text >expected
sed -n 's/^    \(tkc bodies\.tk .*\)/\1/p; s/^    \(cc .*host\.c .*\)/\1/p' "$ROOT/README.md" >commands
test "$(wc -l <commands)" = 2
cc() { "$CC" "$@"; }
. ./commands
./host >out
cmp out expected
ldd host >needed
grep -q 'libtkc\.so' needed
! grep -q 'libtk8' needed || exit 1

# Both libraries in one program.
sed 's/^#include "bodies.h"/&\n#include <tk.h>/; s/bodies_destroy(b);/& return Tk_Main() != 86;/' host.c >both.c
# shellcheck disable=SC2046
"$CC" both.c bodies.c $(pkg-config --cflags --libs tk tkc) -o both
./both | cmp - expected
ldd both >needed
test "$(grep -cE 'libtk(c|8\.6)\.so' needed)" = 2

tkc --cc="$CC" bodies.tk -shared -o libbodies.so
ldd ./libbodies.so | grep -q 'libtkc\.so'
# shellcheck disable=SC2046
"$CC" $(pkg-config --cflags tkc) host.c ./libbodies.so $(pkg-config --libs tkc) -o with_library
./with_library | cmp - expected
