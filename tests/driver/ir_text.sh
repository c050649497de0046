# Printed IR is read as what was printed: with --check-ir-text each pass of each program gets what was read of the text, which printed again is the same text, and
# the generated C is the same. And what is no IR is refused with line and column.
one='
cd "$(dirname "$1")"
tk=$(basename "$1") out=$(mktemp -d)
flags=$(sed -n "1,8s,^// flags: ,,p" "$tk" | head -n 1)
"$TKC" "$tk" $flags --emit=c >"$out/plain" 2>&1
"$TKC" "$tk" $flags --emit=c --check-ir-text >"$out/text" 2>&1
cmp -s "$out/plain" "$out/text" || { echo "$1: other C, or a message:"; diff "$out/plain" "$out/text" | head -n 6; rm -r "$out"; exit 1; }
[ -s "$out/plain" ] || { echo "$1: no C"; exit 1; }
rm -r "$out"'
for folder in run ad algorithms export parallel; do ls "$ROOT/tests/$folder"/*.tk; done >programs
test "$(wc -l <programs)" -gt 200
export TKC
xargs -P 2 -I {} sh -c "$one" one {} <programs

refused()
{
    printf "$2" >bad.ir
    "$TKC" --run-pass=simplify bad.ir >out 2>err && { echo "accepted: $2"; exit 1; }
    grep -q "$1" err || { echo "expected $1, not"; cat err; exit 1; }
    test ! -s out
}
refused "bad.ir:2:9: error: %7 is not defined before" 'func f() {\n  yield %%7\n}\n'
refused "bad.ir:2:5: error: there is no operation 'add3'" 'func f() {\n    add3\n}\n'
refused "bad.ir:2:1: error: a region ends in yield" 'func f() {\n}\n'
refused "bad.ir:1:6: error: a name expected, not '('" 'func () {\n  yield\n}\n'
refused "bad.ir:2:3: error: %0 is defined twice" 'func f(%%0:f32) {\n  %%0:f32 = neg %%0\n  yield\n}\n'
refused "bad.ir:2:17: error: a field expected, not 'x'" 'kernel k() {\n  %%0:f32 = load x[] comp %%0\n  yield\n}\n'
refused "bad.ir:2:8: error: there is no function 'g'" 'func f() {\n  call g()\n  yield\n}\n'
refused "bad.ir:1:10: error: a type expected, not 'f77'" 'param a: f77 = 1\n'
refused "bad.ir:3:1: error: '}' expected, not the end of the text" 'func f() {\n  yield\n'
refused "bad.ir:1:1: error: one of func, kernel, kernel_grad, kernel_jvp, kernel_hvp expected, not 'fun'" 'fun f() {\n  yield\n}\n'
refused "invalid IR in 'f', operation 'add'" 'func f(%%0:f32, %%1:f64) {\n  %%2:f32 = add %%0, %%1\n  yield\n}\n'
refused "a function calls itself: 'f'" 'func f() {\n  call f()\n  yield\n}\n'
printf 'func f() {\n  yield\n}\n' >good.ir
"$TKC" --run-pass=simplify --run-pass=strip good.ir >out
grep -q '^module good source "good.ir" real f32$' out
"$TKC" --run-pass=nothing good.ir 2>err && exit 1
grep -q '^simplify  *folding' err
