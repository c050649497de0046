# Text that is no IR is refused with line and column. The cases ir_text/ have good IR.
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
refused "bad.ir:1:1: error: one of func, kernel, kernel_grad, kernel_jvp, kernel_hvp, kernel_jac expected, not 'fun'" 'fun f() {\n  yield\n}\n'
refused "invalid IR in 'f', operation 'add'" 'func f(%%0:f32, %%1:f64) {\n  %%2:f32 = add %%0, %%1\n  yield\n}\n'
refused "a derivative has no body: function 'k'" 'kernel k() {\n  .grad g\n  yield\n}\n\ngone kernel_grad g\n'
refused "a function calls itself: 'f'" 'func f() {\n  call f()\n  yield\n}\n'
printf 'func f() {\n  yield\n}\n' >good.ir
"$TKC" --run-pass=simplify --run-pass=strip good.ir >out
grep -q '^module good source "good.ir" real f32$' out
"$TKC" --run-pass=nothing good.ir 2>err && exit 1
grep -q '^simplify  *folding' err
# derivatives are made once
cat >twice.tk <<'T'
field x: real[8] needs_grad needs_dual;
field l: real needs_grad needs_dual;
kernel k() derive(grad, jvp, hvp) { for i in x { var s = 1.0; for j in range(i) { s *= sin(x[j]); } l += s; } }
T
for at in reverse hvp promote simd; do
    "$TKC" twice.tk --dump-after=$at -o twice.c 2>twice.ir
    for pass in reverse forward hvp; do
        case $at-$pass in reverse-forward | reverse-hvp) continue ;; esac
        status=0
        "$TKC" --run-pass=$pass twice.ir >out 2>err || status=$?
        [ $status = 1 ] && grep -q "^tkc: error: --run-pass=$pass: kernel 'k' has what this pass makes already$" err || { echo "$pass after $at: $status"; cat err; exit 1; }
    done
done
