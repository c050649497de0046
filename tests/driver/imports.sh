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

# under a name: each file counts once, and has no prefix if the module imports it without a name as well
mkdir as
echo 'const N = 3; field shared: real[N]; func n() { return N; }' >as/common.tk
echo 'import "common.tk"; const K = 2; kernel fill() { for i in shared { shared[i] = real(K * n()); } }' >as/lib.tk
echo 'import "lib.tk" as lib; import "lib.tk" as again; import "common.tk"; const K = 5; kernel fill() { lib.fill(); again.shared.fill(real(K + lib.K + lib.N)); }' >as/app.tk
"$TKC" as/app.tk -o app.c -MD -D K=6 -D lib.K=7
grep -q '^app.c: as/app.tk as/lib.tk as/common.tk$' app.d
"$CC" -std=c11 -I "$INCLUDE" -fsyntax-only app.c
grep -q 'app_lib_fill(' app.h
grep -q 'app_bind_shared(' app.h
if "$TKC" as/app.tk -o none.c -D lib.M=7 2>err; then exit 1; fi
grep -q 'E0212' err

# also in the other order of the two, and where only files under names import it
echo 'import "common.tk"; import "lib.tk" as lib; kernel k() { lib.shared.fill(real(n())); shared.fill(1.0); }' >as/other.tk
"$TKC" as/other.tk -o other.c
grep -q 'other_bind_shared(' other.h
echo 'import "lib.tk" as lib; import "common.tk" as common; kernel k() { lib.shared.fill(real(common.n())); common.shared.fill(1.0); }' >as/third.tk
"$TKC" as/third.tk -o third.c
grep -q 'third_lib_bind_shared\|third_bind_lib_shared(' third.h
"$CC" -std=c11 -I "$INCLUDE" -fsyntax-only third.c

# names within names; circles are found as well
echo 'import "lib.tk" as inner; func twice() { return 2 * inner.n(); } kernel fill() { inner.fill(); }' >as/outer.tk
echo 'import "as/outer.tk" as outer; field x: real; kernel k() { x = real(outer.twice()); outer.fill(); }' >nested.tk
"$TKC" nested.tk -o nested.c
"$CC" -std=c11 -I "$INCLUDE" -fsyntax-only nested.c
grep -q 'nested_outer_inner_fill(' nested.h
echo 'import "circle2.tk" as two;' >circle.tk
echo 'import "circle.tk" as one;' >circle2.tk
if "$TKC" circle.tk 2>err; then exit 1; fi
grep -q 'E0709' err

# two files that one module imports have an item of one name each; a third one shows both
echo 'const A = 1;' >one.tk
echo 'const A = 2;' >two.tk
echo 'import "one.tk" as one; import "two.tk" as two; const A = one.A + two.A; field x: real[A];' >both.tk
"$TKC" both.tk -o both.c
echo 'import "one.tk"; import "two.tk" as two; import "two.tk";' >both.tk
if "$TKC" both.tk -o both.c 2>err; then exit 1; fi
grep -q "'A' is declared twice" err
echo 'import "one.tk";' >shows.tk
echo 'import "one.tk" as first; import "shows.tk" as shows; import "two.tk" as two; field x: real[shows.A + first.A];' >both.tk
"$TKC" both.tk -o both.c
echo 'import "one.tk" as first; import "shows_both.tk" as shows;' >both.tk
echo 'import "one.tk"; import "two.tk";' >shows_both.tk
if "$TKC" both.tk -o both.c 2>err; then exit 1; fi
grep -q "'A' is declared twice" err
