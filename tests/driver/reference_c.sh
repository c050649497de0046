# What docs/language.md says of the code that is made: it stands in the generated C.
body() # FILE FUNCTION: what the function does
{
    sed -n "/^static void [a-z_]*$2(const void/,/^}/p" "$1"
}
has() { grep -q -e "$2" "$1" || { echo "$1 has no $2"; exit 1; }; }
lacks() { if grep -n -e "$2" "$1"; then echo "$1 has $2"; exit 1; fi; }

# A power of a constant integer up to 64 is made of multiplications; one of a float is pow.
cat >integer.tk <<'TK'
field x: f64[8] needs_grad;
field y: f64[8] needs_grad;
kernel squares() derive() { for i in x { y[i] = x[i] ** 2; } }
kernel powers() { for i in x { y[i] = x[i] ** 64 + x[i] ** -63 + x[i] ** 5; } }
TK
"$TKC" integer.tk -o integer.c
lacks integer.c pow[i_\(f]
body integer.c squares_task0 >squares
has squares 'y\[i\] = x_0 \* x_0;'
printf 'field x: f64[8] needs_grad;\nkernel k(a: f64) derive() { for i in x { x[i] = x[i] ** a; } }\n' >by_floats.tk
"$TKC" by_floats.tk -o by_floats.c
has by_floats.c '[ _]pow\(_f64\)*(x\[i\], a)'

# Without --debug there is nothing of an assert.
printf 'field x: f64[8] needs_grad;\nkernel k() { for i in x { assert(x[i] > 0.0, "positive"); x[i] = 2.0 * x[i]; } }\n' >tested.tk
printf 'field x: f64[8] needs_grad;\nkernel k() { for i in x { x[i] = 2.0 * x[i]; } }\n' >untested.tk
"$TKC" tested.tk --prefix=m -o m.c && sed 's/untested.tk\|tested.tk/m.tk/' m.c >one
"$TKC" untested.tk --prefix=m -o m.c && sed 's/untested.tk\|tested.tk/m.tk/' m.c >two
grep -v hash one >one.c && grep -v hash two >two.c && cmp one.c two.c

# A static for is unrolled.
printf 'field x: f64[8];\nkernel k() derive() { static for j in range(3) { x[2 * j + 1] = 7.0; } }\n' >unrolled.tk
"$TKC" unrolled.tk -o unrolled.c
for k in 1 3 5; do has unrolled.c "x\[$k\] = 7.0;"; done

# As a subscript a loop variable is not narrowed, though it is an i32.
printf 'param N: i64 = 8;\nfield x: u8[N];\nkernel k() derive() { for i in x { x[i] = 1; } }\n' >wide.tk
"$TKC" wide.tk -o wide.c
body wide.c k_task0 >wide
has wide 'for (int64_t i = lo; i < hi; i++)'
has wide ' x\[i\] = 1'
lacks wide int32_t

# No atomic instruction with one thread: a body of its own.
printf 'field x: i32[8];\nfield n: i32;\nkernel k() derive() { for i in x { let j = atomic_add(n, 1); x[j] = i; } }\n' >slots.tk
"$TKC" slots.tk -o slots.c
has slots.c 'task0_body((const struct slots__k_task0_args \*)args, lo, hi, false)'
has slots.c 'tk_run_scatter(.*k_task0, .*k_task0_atomic, '

# Without --debug no subscript is looked at.
printf 'field x: f64[8];\nfield A: mat3[8];\nkernel k(n: i32) derive() { var w: f64[4]; w[n] = 1.0; x[n] = w[n + 1] + f64(A[n][n, n]); }\n' >subscripts.tk
"$TKC" subscripts.tk -o subscripts.c
lacks subscripts.c 'in_bounds\|outside'
"$TKC" --debug subscripts.tk -o subscripts.c
has subscripts.c 'in_bounds'

# Of matrices: what goes by cofactors or by a closed form has no branch and stands in loops that vectorise; and what is the cheaper one.
for what in 'determinant(A[i])' 'determinant(B[i])' 'determinant(C[i])' 'inverse(A[i])[1, 0]' 'inverse(B[i])[1, 0]' 'inverse(C[i])[1, 0]' 'turned(A[i])'; do
    cat >matrices.tk <<TK
field A: mat2[8] needs_grad;
field B: mat3[8] needs_grad;
field C: mat4[8] needs_grad;
field y: real[8] needs_grad;
func turned(m: mat2) -> real { let r, p = polar_rotation(m); return r[0, 1] + p[1, 0]; }
kernel k() { for i in y { y[i] = $what; } }
TK
    "$TKC" matrices.tk -o matrices.c
    for task in k_task0 k_grad_task0; do
        body matrices.c $task >task
        has task TK_SIMD
        lacks task ' if (\|while\|goto'
        test "$(grep -c 'for (' task)" = 1 || { cat task; exit 1; }
    done
done
cost() # EXPRESSION: how many operations it is
{
    cat >cost.tk <<TK
field A: mat2[8] needs_grad;
field v: vec3[8] needs_grad;
field y: real[8] needs_grad;
func decomposed(m) -> real { let r, p = polar_decompose(m); return r[0, 1] + p[1, 0]; }
func turned(m) -> real { let r, p = polar_rotation(m); return r[0, 1] + p[1, 0]; }
func by_svd(m) -> real { let u, s, t = svd(m); let r = u @ transpose(t); return r[0, 1] + (transpose(r) @ m)[1, 0]; }
kernel k() derive() { for i in y { y[i] = $1; } }
TK
    "$TKC" --emit=ir cost.tk | grep -c ' = '
}
test "$(cost 'v[i].norm(0.5)')" -lt "$(cost 'v[i].norm()')"
test "$(cost 'v[i].normalized(0.5).x')" -lt "$(cost 'v[i].normalized().x')"
test "$(cost 'turned(A[i])')" -le "$(cost 'decomposed(A[i])')"
test "$(cost 'turned(A[i])')" -lt "$(cost 'by_svd(A[i])')"
