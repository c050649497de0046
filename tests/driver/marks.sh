# Which kernels launches on a tape check for what they overwrite themselves: those of which the subscripts do not tell.
cat >marks.tk <<'END'
param N: i32 = 9;
param T: i32 = 5;
field x: real[T + 1, N] needs_grad;
field a: real[N + 1] needs_grad;
field A: real[N, N] needs_grad;
field v: vec2[N] needs_grad;
field e: i32[N];
field loss: real needs_grad;

// The write comes elsewhere, or earlier.
kernel kept_time() { serial for t in range(T) { for i in range(N) { x[t + 1, e[i]] = sin(x[t, e[N - 1 - i]]); } } }
kernel kept_back() { serial for t in range(T) { for i in range(N) { x[T - 1 - t, i] = sin(x[T - t, i]); } } }
kernel kept_lower() { serial for i in range(N) { var s = 1.0; for j in range(i) { s += A[i, j] * a[j]; } a[i] = s; } }
kernel kept_row() { serial for k in range(N) { for i in range(k) { A[k, i] = sin(A[i, N - 1]); } } }
kernel kept_halves() { for i in range(N / 2) { loss += sin(a[2 * i]); } for i in range(N / 2) { a[2 * i + 1] = 0.0; } }
kernel kept_before() { for i in range(N) { a[i] = 0.5; } for i in range(N) { loss += sin(a[e[i]]); } }
kernel kept_parts() { for i in range(N) { loss += sin(v[e[i]].x); } for i in range(N) { v[i].y = 0.0; } }
kernel kept_clamp() { for i in range(N) { loss += sin(a[clamp(e[i], 0, 3)]); } for i in range(4, N) { a[i] = 0.0; } }
kernel kept_branch(n: i32) { if n > 0 { for i in range(N) { loss += sin(a[e[i]]); } } else { a[n] = 0.0; } }
kernel kept_step() { serial for i in range(N) { a[i + 1] = sin(a[i]); } }

// It may come later, and there.
kernel marked_table() { for i in range(N) { loss += sin(a[e[i]]); } for i in range(1, N) { a[i] = 0.0; } }
kernel marked_serial() { serial for i in range(N) { loss += sin(a[e[i]]); a[i] = 0.0; } }
kernel marked_argument(n: i32) { serial for i in range(1, N - 1) { loss += sin(a[i + n]); a[i] = 0.0; } }
kernel marked_times(p: i32, q: i32) { for i in range(N) { loss += sin(x[p, i]); } for i in range(N) { x[q, i] = 0.0; } }
kernel marked_outer() { serial for t in range(T) { for i in range(N) { x[t, i] = sin(a[e[i]]); } a[t] = 0.0; } }
kernel marked_clamp() { for i in range(N) { loss += sin(a[clamp(e[i], 0, 4)]); } for i in range(4, N) { a[i] = 0.0; } }
kernel marked_last() { for i in range(N) { loss += sin(a[clamp(e[i], 4, 7)]); } for i in range(5) { a[i] = 0.0; } }
kernel marked_most() { for i in range(N) { loss += sin(a[clamp(e[i], 4, 7)]); } for i in range(N) { if i <= 4 { a[i] = 0.0; } } }
kernel marked_inner() { serial for t in range(T) { serial for i in range(N) { x[t, i] = 0.5; loss += sin(x[t, e[i]]); } } }
kernel marked_store() { for i in range(1, N) { loss += sin(a[i]); } for i in range(N) { a[e[i]] = 0.0; } }
END
"$TKC" marks.tk -o marks.c
sed -n 's/^kernel \(marked_[a-z]*\).*/\1/p' marks.tk | sort >want
awk '/^static const tk_part/ { name = $4; sub(/^marks__/, "", name); sub(/_parts.*/, "", name) } /TK_MARKED/ { print name }' marks.c | sort -u >got
diff want got
