# --explain: to a file, of broken programs, with other options, and into a full disk. tests/explain has what it says.
cat >good.tk <<'END'
field x: real[4] needs_grad;
field s: real needs_grad;
kernel add() { for i in x { s += x[i]; } }
END
"$TKC" good.tk --explain >out
grep -q '^Kernel add (line 3)$' out
test "$(ls)" = "$(printf 'good.tk\nout')"
"$TKC" good.tk --explain -o said
cmp out said
"$TKC" good.tk --explain --explain-adjoint 2>err && exit 1
grep -q 'exclude each other' err

. "$ROOT/tests/tools/expect.sh"
# an error of each stage: no word of explanation
echo 'kernel k() { let a = ; }' >parse.tk
echo 'kernel k() { let a = b; }' >check.tk
printf 'field x: real[4] needs_grad;\nkernel k() { for i in range(3) { x[i] = x[i + 1]; } }\n' >race.tk
printf 'export func f(a: real) -> real { var s = a; while s < 2.0 { s *= s; } return s; }\n' >workspace.tk
refused 1 nowhere.tk --explain
for stage in parse check race workspace; do
    refused 1 $stage.tk --explain
    refused 1 $stage.tk --explain -o said.txt
    test ! -e said.txt
done
for other in -c -shared --emit=ir --format --python -MD --header=x.h --runtime=embed; do
    refused 2 good.tk --explain $other
done
if [ -w /dev/full ]; then
    status=0
    "$TKC" good.tk --explain >/dev/full 2>err || status=$?
    test $status = 1
    grep -q 'standard output' err
fi
