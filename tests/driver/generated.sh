# Generated files: the same bytes on every run, and #line directives that tell the truth.
# slow: 6
# inputs: c:tests/run/types.tk c:tests/run/matrices.tk compiler/emit compiler/host compiler/driver runtime/include
cp "$ROOT/tests/run/types.tk" "$ROOT/tests/run/matrices.tk" .
for name in types matrices; do
    "$TKC" --real=f64 $name.tk -o one.c
    "$TKC" --real=f64 $name.tk -o two.c
    sed 's/two\.h/one.h/' two.c | cmp - one.c
    cmp one.h two.h
    "$TKC" --real=f64 -g $name.tk -o lines.c
    # a line that claims to be N + 1 of the C file stands on line N
    awk '/^#line .*"lines.c"/ { if ($2 != NR + 1) { print FILENAME ": " NR ": " $0; bad = 1 } n++ } END { exit bad || !n }' lines.c
    awk -v last="$(wc -l <$name.tk)" -v file="\"$name.tk\"" '/^#line/ && $3 == file { if ($2 < 1 || $2 > last) exit 1; n++ } END { exit !n }' lines.c
    grep -v '^#line' lines.c | sed 's/lines\.h/one.h/' | cmp - one.c
done
# --debug: the bounds of an element are tested once a statement, and a condition has one pair of parentheses.
cat >twice.tk <<'TK'
field x: real[8];
field pick: i32[8];
kernel k(n: i32) derive() {
    var w: real[4];
    serial for i in range(n) {
        x[pick[i]] *= 2.0;
        w[i] += 1.0;
        while x[i] < 3.0 limit 5 { x[i] += w[i % 4]; }
    }
}
TK
"$TKC" --debug twice.tk -o twice.c
test "$(grep -c 'in_bounds(.*twice.tk:6:9' twice.c)" = 1
test "$(grep -c 'twice.tk:7:9: subscript' twice.c)" = 1
test "$(grep -c 'if ((.*)) {$' twice.c)" = 0
# What built-in functions are made of stands on the line of their call, and their locals lend no names.
cat >built_in.tk <<'TK'
export func first(p: vec3, q: vec3) -> real derive() {
    return dot(p, q) * dot(p, p);
}
export func second(p: vec3, q: vec3) -> real derive() {
    let left = dot(p - q, p);
    return left * left;
}
TK
"$TKC" --no-runtime built_in.tk -o built_in.c
grep -q 'const float left = .*; /\* built_in.tk:5 \*/' built_in.c
if grep 'float s[_0-9]* =' built_in.c; then exit 1; fi
# A module may have the name of anything that stands in its own functions.
cat >named.tk <<'TK'
param n: i32 = 4;
field x: f64[n] needs_grad strided;
field s: f64 needs_grad;
kernel total(k: f64) { for i in x { s += x[i] * x[i] * k; } }
export func power(a: f64, b: in f64[q]) -> f64 {
    var r = a;
    for i in range(q) { r = r * sin(b[i]); }
    return r;
}
TK
"$TKC" named.tk -o named.c
bad=
for name in $(grep -o '\<[a-z][a-z_]*\>' named.c | grep -v 'named\|_t$' | sort -u); do
    if ! "$TKC" --prefix="$name" named.tk -o prefix.c 2>err; then
        grep -q 'E0704\|E0208' err
        continue
    fi
    "$CC" -std=c11 -Wall -Wextra -Werror -I"$INCLUDE" -fsyntax-only prefix.c 2>err || bad="$bad $name"
done
[ -z "$bad" ] || { echo "C does not compile as module $bad"; exit 1; }
if "$TKC" --prefix=total_grad_run named.tk -o prefix.c 2>err; then exit 1; fi
grep -q "named.tk:4:8: error: 'total' collides with the generated name 'total_grad_run' \[E0208\]" err
"$TKC" --prefix=total_running named.tk -o prefix.c

# Whose it is stands in what is generated.
grep -q "belongs to the author of that program" named.c
grep -q "belongs to the author of that program" named.h
