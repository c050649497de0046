# Samples below share/doc/tkc/samples: the files that git has, also from a tree in which samples were built; they build where they are copied.
# slow: 4
# inputs: build-files runtime samples
installed=$PREFIX/share/doc/tkc/samples
list()
{
    python3 "$ROOT/runtime/packaging/samples.py" "$1"
}
list "$ROOT/samples" >listed
grep -qx 'gravity/gravity.tk' listed
(cd "$installed" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >there
LC_ALL=C sort listed | cmp - there
while read -r file; do
    cmp "$ROOT/samples/$file" "$installed/$file"
done <listed
if git -C "$ROOT" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$ROOT" ls-files samples | sed -n 's|^samples/||; /\.gitignore$/d; /\//p' | LC_ALL=C sort | cmp - there
fi
for make in "$ROOT"/samples/*/Makefile; do
    test -s "$installed/$(basename "$(dirname "$make")")/Makefile"
done

cp -R "$installed" copy
make -C copy/gravity CC="$CC" CFLAGS=-Werror check >log 2>&1 || { cat log; exit 1; }
test -x copy/gravity/gravity
# no file of a build or of a run is installed
mkdir copy/wave/build-f32
: >copy/wave/build-f32/wave.c
: >copy/wave/wave.state
list copy >again
cmp listed again
