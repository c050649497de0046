# Functions of which a loop stores what depends on the order of its stores are TK_WHOLE_LOOPS, and no others: kernels m_... here are, f_... are not.
cat >w.tk <<'END'
param N: i32 = 40;
param M: i32 = 2;
const K = 9;
struct pair { p: real, q: real }
field a: real[N];
field b: real[N];
field c: real[N];
field v: vec2[N];
field s: pair[N];
field chosen: i32[N];
field total: real;
field loss: real needs_grad;
field x: real[N] needs_grad;
field y: real[N] needs_grad;

func clear(i: i32) { a[i] = 0.0; }
func read(i: i32) -> real { return a[i]; }

kernel f_one() { for i in a { a[i] = a[i] + b[i]; } }
kernel f_apart() { for i in a { a[i] = 2.0 * a[i]; b[i] = 1.0; c[i] = sin(b[i]) > 0.5 ? 1.0 : 0.0; } }
kernel f_read() { for i in a { a[i] = c[i]; b[i] = 2.0 * c[i]; } }
kernel f_sum() { for i in a { total += b[i]; a[i] = b[i]; } }
kernel f_components() { for i in v { v[i].x = 2.0 * v[i].x; v[i].y = 3.0; } }
kernel f_members() { for i in s { s[i].p = 2.0 * s[i].p; s[i].q = 1.0; } }
kernel f_rows() { for i in a { var t = 0.0; for j in range(N) { t += c[j]; } a[i] = t; b[i] = a[i]; } }
kernel f_longer() { serial for i in range(N) { serial for j in range(2 * K - 1) { b[i] = 0.5 * b[i] + a[i]; } a[i] = 0.0; } }
kernel f_loops() { serial for i in range(N) { a[i] = 0.0; } serial for i in range(N) { b[i] = a[i]; } }

kernel m_handed() { for i in a { b[i] = a[i]; a[i] = 0.0; } }
kernel m_back() { serial for i in range(1, N) { a[i] = c[i]; b[i] = a[i - 1]; } }
kernel m_twice() { serial for i in range(1, N) { a[i] = 0.0; a[i - 1] = 1.0; } }
kernel m_added() { serial for i in range(1, N) { a[i] += b[i]; a[i - 1] += c[i]; } }
kernel m_sum() { for i in a { total += a[i]; a[i] = 0.0; } }
kernel m_carried() { var t = 0.0; serial for i in range(N) { t = 0.5 * t + a[i]; a[i] = 1.0; } total = t; }
kernel m_condition() { for i in a { if (a[i] > 0.5) { b[i] = 1.0; } a[i] = 0.0; } }
kernel m_subscript() { serial for i in range(N) { b[chosen[i]] = 1.0; chosen[i] = 0; } }
kernel m_through() { for i in a { let t = sin(a[i]) * c[i]; b[i] = t; a[i] = 0.0; } }
kernel m_components() { for i in v { let first = v[i].x; v[i].x = v[i].y; v[i].y = first; } }
kernel m_members() { for i in s { let p = s[i].p; s[i].p = s[i].q; s[i].q = p; } }
kernel m_unrolled() { serial for i in range(N) { serial for j in range(K) { b[i] = 0.5 * b[i] + a[i]; } a[i] = 0.0; } }
kernel m_inner() { serial for i in range(1, N) { let t = c[i]; var r = 0.0; serial for j in range(2) { b[i] = r; r = t; } c[i - 1] = 0.0; } }
kernel m_within() { serial for i in range(N) { let t = c[i]; var r = 0.0; serial for j in range(3) { r = 0.5 * r + t; } b[i] = r; c[i] = 0.0; } }
kernel m_while() { serial for i in range(4, N) { let t = b[i]; var j = 0; while j < 4 { a[i - j] = t; j += 1; } b[i - 1] = c[i]; } }
kernel m_bounds() { serial for i in range(4, N) { let p = i64(i); serial for j in range(p, p + 1) { b[i] = b[j - 1]; } a[i] = b[i]; } }
kernel m_several() { serial for i in range(4, N) { a[i] = 1.0; serial for j in range(2) { c[i - j] = b[i - j]; } } }
kernel m_adds() { serial for i in range(4, N) { a[i] = 1.0; serial for j in range(min(N, 3)) { c[i - j] += b[i - j]; } } }
kernel m_short() { serial for i in range(1, N) { a[i] = 1.0; serial for j in range(M) { v[i][j] = b[i]; } } }
kernel m_least() { for i in a { atomic_min(total, a[i]); } }
kernel f_unknown() { serial for i in range(1, N) { a[i] = 1.0; serial for j in range(N) { c[j] = b[i]; } } }
kernel m_calls() { serial for i in range(N) { b[i] = a[i]; clear(i); } }
kernel m_called() { serial for i in range(N) { b[i] = read(i); a[i] = 1.0; } }

// An adjoint that only adds, and one that takes what it clears.
kernel f_squares() { for i in x { loss += x[i] * x[i]; } }
kernel m_stored() { for i in x { y[i] = sin(x[i]); } }
END
$TKC w.tk -o w.c
# the functions that are marked, each behind its mark
awk 'mark { match($0, /w__[a-z_]*/); print substr($0, RSTART + 3, RLENGTH - 3) } { mark = /^TK_WHOLE_LOOPS$/ }' w.c | sed -E 's/(_run|_task|_task_atomic)$//' | sort -u >marked.txt
sed -n 's/^kernel \(m_[a-z]*\).*/\1/p' w.tk | sed 's/^m_stored$/m_stored_grad/' | sort -u >wanted.txt
diff wanted.txt marked.txt
# without the library as well, and only there
cat >g.tk <<'END'
export func squares(x: in real[n]) -> real { var s = 0.0; for i in x { s += x[i] * x[i]; } return s; }
END
$TKC g.tk --no-runtime -o g.c
! grep TK_WHOLE g.c
cat >h.tk <<'END'
export func handed(a: in real[n], b: out real[n], c: out real[n]) { for i in range(1, n) { b[i] = a[i]; c[i] = b[i - 1]; } }
END
$TKC h.tk --no-runtime -o h.c
[ "$(grep -c '^TK_WHOLE_LOOPS$' h.c)" -ge 1 ]
grep -q '^#define TK_WHOLE_LOOPS __attribute__((optimize("no-tree-loop-distribution"' h.c
$CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -c h.c -o h.o

# Loops around others that gcc must not vectorise are TK_NO_LANES, and no others: kernels n_... here have one, o_... do not.
{
    cat <<'END'
param N: i32 = 40;
param M: i32 = 40;
field b: real[200];
field u: real[N, 3];
field first: i32;

func filled(i: i32, by: real) {
    var t = by;
END
    for k in $(seq 60); do echo "    t = sin(t) * t + $k.5 * cos(t * $k.25) - exp(t - $k.0) * by;"; done
    cat <<'END'
    for j in range(8) { b[i + j] = t; }
}

kernel n_window() { serial for i in range(N) { serial for j in range(8) { b[i + j] = real(i); } } }
kernel n_counted() { serial for i in range(N) { serial for j in range(first) { b[i - j + 100] = real(i); } } }
kernel n_steps() { serial for i in range(N) { serial for j in range(4) { b[3 * i + j] = real(i); } } }
kernel n_begin() { serial for i in range(N) { serial for j in range(i, N) { b[j] = real(i); } } }
kernel n_chosen() { serial for i in range(N) { serial for j in range(8) { b[(i * i) % 7 + j] = real(i); } } }
kernel n_called() { serial for i in range(N) { filled(i, 1.0); } serial for i in range(N) { filled(i, 2.0); } }
kernel o_steps() { serial for i in range(N) { serial for j in range(3) { b[3 * i + j] = real(i); } } }
kernel o_rows() { serial for i in range(N) { serial for j in range(3) { u[i, j] = real(i); } } }
kernel o_fixed() { serial for i in range(N) { serial for j in range(first) { b[j] = real(i); } } }
kernel o_added() { serial for i in range(N) { serial for j in range(8) { b[i + j] += real(i); } } }
kernel o_single() { serial for i in range(1, N) { b[i - 1] = 1.0; b[i] = real(i); } }
END
} >n.tk
$TKC n.tk -o n.c
grep -q '^static void n__filled(' n.c
awk '/^static / { match($0, /n__[a-z_]*/); name = substr($0, RSTART + 3, RLENGTH - 3) } /TK_NO_LANES/ { print name }' n.c | sed -E 's/(_jvp)?(_run)?$//' | sort -u >marked.txt
sed -n 's/^kernel \(n_[a-z]*\).*/\1/p' n.tk | sort -u >wanted.txt
diff wanted.txt marked.txt
cat >o.tk <<'END'
export func window(a: in real[n], b: out real[m]) { for i in range(n) { for j in range(8) { b[i + j] = a[i]; } } }
END
$TKC o.tk --no-runtime -o o.c
grep -q 'TK_NO_LANES$' o.c
$CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -c o.c -o o.o
