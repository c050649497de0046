# A kernel that is a part of others has its loops, and the structs of what they save, in the C once: as long as they are the same to the letter.
cat >shared.tk <<'TK'
param N: i32 = 100;
field x: real[N] needs_grad needs_dual;
field y: real[N] needs_grad needs_dual;
field w: real[N] needs_grad needs_dual;
field loss: real needs_grad needs_dual;
kernel fill(k: i32) { for i in x { var s = x[i]; for j in range(k) { s = sin(s) * w[i]; } y[i] = s; } }
kernel total() { for i in y { loss += y[i] ** 2; } }
kernel all(k: i32) { fill(k); total(); }
kernel again(k: i32) { fill(k); total(); }
kernel other(k: i32) { for i in x { var s = x[i]; for j in range(k) { s = cos(s) * w[i]; } y[i] = s; } total(); }
kernel spread() -> real { var lo = 9.0; var hi = -9.0; for i in x { lo = min(lo, x[i]); hi = max(hi, x[i]); } return hi - lo; }
kernel spread_again() -> real { return spread(); }
TK
$TKC shared.tk --real=f64 -o shared.c
# the launch of fill, its adjoint and its JVP, those of total, and those of other; each for whole strips of lanes and for what is left
[ "$(grep -c 'sin(' shared.c)" -le 10 ]
[ "$(grep -c 'cos(' shared.c)" -le 10 ]
for loop in again spread_again; do
    ! grep -E "^(static void|TK_BODY void) shared__$loop(_grad|_jvp|_hvp)?_task" shared.c
    ! grep -E "^struct shared__$loop.*_(saved[0-9]*|args|partial) \{" shared.c
done
$TKC shared.tk --real=f64 --debug -o debug.c --header=shared.h    # accesses are numbered: none is another's
grep -q 'shared__again_task0(' debug.c
cat >main.c <<'END'
#include "shared.h"
#include <math.h>
#include <stdio.h>
static double run(shared *m, int which, double *grad)
{
    tk_module_clear_grad(&m->tk);
    m->loss.data[0] = 0;
    tk_status s = which == 0 ? shared_all(m, 3) : which == 1 ? shared_again(m, 3) : shared_other(m, 3);
    m->loss.grad[0] = 1;
    s = s ? s : which == 0 ? shared_all_grad(m, 3) : which == 1 ? shared_again_grad(m, 3) : shared_other_grad(m, 3);
    *grad = m->x.grad[7];
    return s ? NAN : m->loss.data[0];
}
int main(void)
{
    shared *m = shared_create(NULL, NULL);
    for (int i = 0; i < 100; i++) {
        m->x.data[i] = 0.01 * i + (i == 42 ? -1 : 0);
        m->w.data[i] = 0.9;
    }
    double g[3], gh;
    const double a = run(m, 0, &g[0]), b = run(m, 1, &g[1]), c = run(m, 2, &g[2]), h = 1e-6;
    m->x.data[7] += h;
    const double ah = run(m, 0, &gh), ch = run(m, 2, &gh);
    double wide[2];
    m->x.data[7] -= h;
    const int bad = shared_spread(m, &wide[0]) || shared_spread_again(m, &wide[1]);
    shared_destroy(m);
    return bad || a != b || g[0] != g[1] || a == c || fabs((ah - a) / h - g[0]) > 1e-5 || fabs((ch - c) / h - g[2]) > 1e-5 || fabs(wide[0] - 1.57) > 1e-12 || wide[0] != wide[1];
}
END
for c in shared debug; do
    # shellcheck disable=SC2086
    $CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fopenmp-simd $SANITIZE -I. -I"$INCLUDE" main.c $c.c "$(dirname "$TKC")"/../runtime/libtkc.a -pthread -lm -o $c
    ./$c
done
