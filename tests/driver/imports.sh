# Search paths, dependency file, circles and missing files; nothing is written after an error.
mkdir -p lib/deep
echo 'import "deep/b.tk"; func one() -> real { return two() - 1.0; }' >lib/a.tk
echo 'func two() -> real { return 2.0; }' >lib/deep/b.tk
echo 'import "a.tk"; field x: real[4]; kernel k() { for i in x { x[i] = one(); } }' >app.tk

if "$TKC" app.tk -o app.c 2>err; then echo "found without -I"; exit 1; fi
grep -q "^app.tk:1:8: error: cannot find 'a.tk' \[E0708\]" err
[ ! -e app.c ]

"$TKC" app.tk -o app.c -MD -I nowhere -I lib
grep -q '^app.c: app.tk lib/a.tk lib/deep/b.tk$' app.d
grep -q '^lib/a.tk: $' app.d
"$CC" -std=c11 -I "$INCLUDE" -fsyntax-only app.c

# beside the importing file comes before -I
echo 'func one() -> real { return 5.0; }' >a.tk
"$TKC" app.tk -o app.c -MD -I lib
grep -q '^app.c: app.tk a.tk$' app.d

# errors name the file they are in
echo 'func one() -> real { return tow(); }' >a.tk
if "$TKC" app.tk -o none.c 2>err; then exit 1; fi
grep -q "^a.tk:1:29: error: unknown function 'tow'" err
printf 'func one() -> real { return 1.0; }\nfield x: real;\n' >a.tk
if "$TKC" app.tk -o none.c 2>err; then exit 1; fi
grep -q "^app.tk:1:22: error: 'x' is declared twice" err
grep -q "^a.tk:2:7: note: it is declared here already" err
[ ! -e none.c ]

# circles, also by another name of the same file
echo 'import "c2.tk";' >c1.tk
echo 'import "./c1.tk";' >c2.tk
if "$TKC" c1.tk 2>err; then exit 1; fi
grep -q "^c2.tk:1:8: error: './c1.tk' is imported in a circle \[E0709\]" err
grep -q "note: c1.tk imports c2.tk imports c1.tk" err
echo 'import "self.tk";' >self.tk
if "$TKC" self.tk 2>err; then exit 1; fi
grep -q "note: self.tk imports self.tk" err
ln -s self.tk other.tk
if "$TKC" other.tk 2>err; then exit 1; fi
grep -q 'E0709' err

# deep chains end
i=0
while [ $i -lt 150 ]; do echo "import \"n$((i + 1)).tk\";" >n$i.tk; i=$((i + 1)); done
echo >n150.tk
if "$TKC" n0.tk 2>err; then exit 1; fi
grep -q 'E0710' err
"$TKC" n100.tk -o n.c

# a directory, an empty file, bytes that are no text
mkdir d.tk
echo 'import "d.tk";' >m.tk
if "$TKC" m.tk 2>err; then exit 1; fi
grep -q "cannot read 'd.tk'" err
: >empty.tk
echo 'import "empty.tk"; field x: real;' >m.tk
"$TKC" m.tk -o m.c
printf '\000\001\377' >bytes.tk
echo 'import "bytes.tk";' >m.tk
if "$TKC" m.tk 2>err; then exit 1; fi
grep -q '^bytes.tk:1' err
