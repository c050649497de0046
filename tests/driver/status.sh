# Exit statuses: 0, 1 for errors in the program, 2 for wrong usage.
. "$ROOT/tests/tools/expect.sh"
cp "$ROOT/samples/gravity/gravity.tk" .
echo 'kernel k() { let a = ; }' >bad.tk

expect 0 --version
grep -q '^tkc [0-9]' out
expect 0 --help
grep -q -- --explain-adjoint out
# the manual page has the same options
grep -oE '^ +(-[A-Za-z], )?--?[A-Za-z][-A-Za-z]*' out | tr -d ' ' | tr , '\n' | sort >help
sed 's/\\//g' "$ROOT/docs/tkc.1" | sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' | grep -A1 '^\.TP' | grep -oE '(^| )--?[A-Za-z][-A-Za-z]*' | tr -d ' ' | sort | diff help -
rm help
cp out long
expect 0 -h
cmp out long
rm long
expect 0 --list-passes
expect 2
expect 2 gravity.tk bad.tk
expect 2 --no-such-option gravity.tk
# an option that is nearly one: the nearest; -D of no const: the consts
for meant in --no-runtim:--no-runtime --outptu=x:--output -real=f64:--real --share:-shared --diag=json:--diagnostics --WERORR:-Werror; do
    expect 2 gravity.tk "${meant%%:*}"
    grep -q "unknown option (did you mean '${meant##*:}'?)$" err || { cat err; exit 1; }
done
for far in --no-such-option -x --hopeless --python-wit=torch; do
    expect 2 gravity.tk $far
    grep -qx "tkc: error: $far: unknown option" err || { cat err; exit 1; }
done
printf 'const CELLS = 3;\nconst EPS = 0.1;\nkernel k() { }\n' >consts.tk
expect 1 consts.tk -D CELS=4
printf '%s\n' 'tkc: error: -D CELS=4: expected NAME=VALUE with the name of a const of the module [E0212]' "tkc: note: did you mean 'CELLS'?" 'tkc: note: its consts are CELLS, EPS' | cmp - err
expect 1 consts.tk -D BODIES=4
printf '%s\n' 'tkc: error: -D BODIES=4: expected NAME=VALUE with the name of a const of the module [E0212]' 'tkc: note: its consts are CELLS, EPS' | cmp - err
expect 1 bad.tk -D BODIES=4
for k in $(seq 14); do echo "const C$k = $k;"; done >consts.tk
expect 1 consts.tk -D BODIES=4
grep -qx 'tkc: note: its consts are C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12 and 2 more' err
echo 'kernel k() { }' >consts.tk
expect 1 consts.tk -D BODIES=4
grep -qx 'tkc: note: the module has no const' err
rm consts.tk
expect 2 gravity.tk --emit=nothing
expect 2 gravity.tk --real=f16
expect 2 gravity.tk --lanes=some
expect 2 gravity.tk --diagnostics=xml
expect 2 gravity.tk -Wpretty
expect 2 gravity.tk -D EPS
expect 2 gravity.tk -D =1
expect 2 gravity.tk -MF x.d
expect 2 gravity.tk -MD --emit=c
expect 2 gravity.tk -c -shared
expect 2 gravity.tk -c --emit=c
expect 2 gravity.tk --header=h.h --emit=ir
expect 2 gravity.tk --cc=gcc
expect 2 gravity.tk --dump-after=nothing
expect 2 gravity.tk -o
expect 1 nowhere.tk
grep -q "cannot read 'nowhere.tk'" err
expect 1 bad.tk
expect 1 bad.tk --emit=ast
expect 1 gravity.tk -o nowhere/gravity.c
expect 1 gravity.tk -o .
expect 1 gravity.tk --prefix=2fast
expect 1 gravity.tk --prefix=int
expect 1 gravity.tk --prefix=tk
expect 1 gravity.tk -c --cc=/nonexistent/cc
expect 1 gravity.tk -c --cc=false
cp gravity.tk 2-bodies.tk
expect 1 2-bodies.tk
grep -q -- --prefix err
expect 0 2-bodies.tk --prefix=bodies
for f in out err bodies.c bodies.h; do rm $f; done
test "$(echo *)" = '2-bodies.tk bad.tk gravity.tk'
