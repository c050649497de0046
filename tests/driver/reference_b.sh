# Items of which only files and generated text can tell: the order of -I, how much code calls with local arrays make, which functions
# derive(...) makes, and how sums go into structs.
mkdir first second
echo 'func one() -> real { return 1.0; }' >first/a.tk
echo 'func one() -> real { return two(); }' >second/a.tk
echo 'import "a.tk"; field x: real[4]; kernel k() { for i in x { x[i] = one(); } }' >app.tk
"$TKC" app.tk -o app.c -MD -I first -I second
grep -q '^app.c: app.tk first/a.tk$' app.d
if "$TKC" app.tk -o app.c -I second -I first 2>err; then exit 1; fi
grep -q "^second/a.tk:1:29: error: unknown function 'two'" err

# each level calls the one below twice
levels()
{
    cat >calls.tk <<END
field x: real[8];
func f0(w) { w[0] = w[0] * 1.25 + sin(w[1]); w[1] = w[0]; return w[0]; }
func f1(w) { return f0(w) + f0(w); }
func f2(w) { return f1(w) + f1(w); }
func f3(w) { return f2(w) + f2(w); }
kernel k() derive() { for i in x { var w: real[2]; w[1] = x[i]; x[i] = f$1(w); } }
END
    "$TKC" calls.tk --real=f64 -o calls.c
    grep -o ' sin(' calls.c | wc -l
}
[ "$(levels 1)" = 2 ]
[ "$(levels 2)" = 4 ]
[ "$(levels 3)" = 8 ]

# the functions that derive(...) makes, by the header; by default no second-order ones
cat >d.tk <<'END'
field x: real[4] needs_grad;
field u: real needs_grad;
kernel plain() { for i in x { u += x[i] ** 2; } }
kernel one() derive(grad) { for i in x { u += x[i] ** 2; } }
kernel other() derive(jvp) { for i in x { u += x[i] ** 2; } }
kernel all() derive(grad, jvp, hvp) { for i in x { u += x[i] ** 2; } }
kernel second() derive(hvp) { for i in x { u += x[i] ** 2; } }
kernel none() derive() { for i in x { u += x[i] ** 2; } }
export func f(a: real) -> real { return a * a; }
export func g(a: real) -> real derive(grad) { return a * a; }
export func h(a: real) -> real derive(jvp) { return a * a; }
export func k(a: real) -> real derive(grad, jvp, hvp) { return a * a; }
export func j(a: real) -> real derive(hvp) { return a * a; }
export func l(a: real) -> real derive() { return a * a; }
END
"$TKC" d.tk -o d.c
made()
{
    grep -oE "^(tk_status|void) d_$1(_(grad|jvp|hvp))?\(" d.h | sed 's/.* d_//; s/(//' | tr '\n' ' '
}
[ "$(made plain)" = "plain plain_grad plain_jvp " ]
[ "$(made one)" = "one one_grad " ]
[ "$(made other)" = "other other_jvp " ]
[ "$(made all)" = "all all_grad all_jvp all_hvp " ]
[ "$(made second)" = "second second_grad second_hvp " ]
[ "$(made none)" = "none " ]
[ "$(made f)" = "f f_grad f_jvp " ]
[ "$(made g)" = "g g_grad " ]
[ "$(made h)" = "h h_jvp " ]
[ "$(made k)" = "k k_grad k_jvp k_hvp " ]
[ "$(made j)" = "j j_grad j_hvp " ]
[ "$(made l)" = "l " ]

# sums into one element: atomic in an array of structs, where a field of its own, or one that is soa, may use private copies
cat >sums.tk <<'END'
struct Cell { mass: real, speed: vec2 }
field x: real[100];
field together: Cell[16];
field apart: Cell[16] soa;
field own: real[16];
kernel k() derive() {
    for i in x {
        together[(i * 7) % 16].mass += x[i];
        apart[(i * 7) % 16].mass += x[i];
        own[(i * 7) % 16] += x[i];
    }
}
END
"$TKC" sums.tk -o sums.c --explain-adjoint >sums.txt
grep -q ' together.mass +=: scatter (atomics); no gather: subscripts that are no neighbours$' sums.txt
grep -q ' apart.mass +=: scatter (private copies or atomics); no gather: subscripts that are no neighbours$' sums.txt
grep -q ' own +=: scatter (private copies or atomics); no gather: subscripts that are no neighbours$' sums.txt
