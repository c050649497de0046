# libtkc.a has names of its own only, and the shared library only those of its headers.
runtime=$(dirname "$TKC")/../runtime
nm -g --defined-only "$runtime/libtkc.a" | awk 'NF == 3 {print $3}' | grep -v '^DW\.ref\.' | sort -u >static
! grep -v '^tk_' static || exit 1
test "$(grep -c '^tk_rt_' static)" -gt 100
nm -D -g --defined-only "$runtime/libtkc.so" | awk '{print $3}' | sort -u >shared
! grep -vE '^tk_|^_(init|fini)$' shared || exit 1
! grep '^tk_rt_' shared || exit 1
# a host with functions of such names, and of those that the library had once
cat >k.tk <<'T'
field x: real[40000] needs_grad;
field s: real needs_grad;
kernel sum() { for i in x { s += x[i] * x[i]; } }
T
"$TKC" k.tk
{
    cat <<'C'
#include "k.h"
int run(void) { return 1; }
int rt_run(void) { return 1; }
int rt_for(void) { return 1; }
int rt_now(void) { return 1; }
int rt_alloc(void) { return 1; }
int main(void)
{
    k *m = k_create(NULL, NULL);
    if (!m) return 1;
    for (int i = 0; i < 40000; i++) m->x.data[i] = 1;
    TK_TAPE(m, m->s) { k_sum(m); }
    const int right = m->s.data[0] == 40000 && m->x.grad[3] == 2;
    k_destroy(m);
    return !right;
}
C
} >host.c
# shellcheck disable=SC2086
$CC -std=c11 -fopenmp-simd $SANITIZE -I. -I"$INCLUDE" host.c k.c "$runtime/libtkc.a" -pthread -lm -o host
./host
