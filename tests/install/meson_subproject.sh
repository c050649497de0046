# README's example by the meson.build of docs/c-api/builds.md, with this tree as its subproject: the installed tkc is not used.
# slow: 22
# inputs: build-files runtime README.md docs
block()
{
    awk -v before="$1" -v language="$2" '$0 ~ before { marked = 1; next } marked && $0 == "```" language { inside = 1; next } /^```/ { marked = inside = 0 } inside' "$ROOT/${3:-README.md}"
}
mkdir subprojects
ln -s "$ROOT" subprojects/tkc
{ echo "project('bodies', 'c', default_options: ['c_std=c11', 'buildtype=plain', 'werror=true'])"; block '^## With Meson$' meson docs/c-api/builds.md; } >meson.build
block '^<!-- test: bodies -->$' tk >bodies.tk
block '^<!-- test: bodies -->$' c >host.c
block '^<!-- test: bodies -->$' text >expected
CC="$CC" meson setup build --wrap-mode=forcefallback >log 2>&1 || { cat log; exit 1; }
ninja -j 2 -C build host >log 2>&1 || { tail -n 40 log; exit 1; }
test -x build/subprojects/tkc/compiler/tkc
./build/host | cmp - expected
ldd build/host >needed
! grep -q libtk needed || exit 1
