# Exit statuses: 0, 1 for errors in the program, 2 for wrong usage.
expect()
{
    want=$1
    shift
    status=0
    "$TKC" "$@" >out 2>err || status=$?
    [ $status = "$want" ] || { echo "tkc $*: status $status, not $want"; cat err; exit 1; }
    [ "$want" = 0 ] || [ -s err ] || { echo "tkc $*: no message"; exit 1; }
}
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
expect 0 --list-passes
expect 2
expect 2 gravity.tk bad.tk
expect 2 --no-such-option gravity.tk
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
