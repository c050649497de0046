# --checkpoints=BYTES: the bits of the plain gradient, in a workspace of so many bytes, with as few trips run again as binomial schedules need.
cat > orbit.tk <<'END'
export func orbit(x: vec(4, f64), k: f64, n: i32) -> f64 derive(grad) {
    var s = x;
    for t in range(n) { s = s + 0.05 * [s[2], s[3], -k * sin(s[0]), s[0] * s[3] - s[1]]; }
    return s[0] * s[3];
}

export func heat(u: inout f64[m], w: out f64[m], n: i32) -> f64 derive(grad) {
    for t in range(n) {
        for i in u { w[i] = sin(u[(i + 1) % m]) - 0.5 * u[i]; }
        for i in u { u[i] += 0.1 * w[i]; }
    }
    var sum = 0.0;
    for i in u { sum += u[i] ** 2; }
    return sum;
}
END
cat > main.c <<'END'
#include "plain.h"
#include "few.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int orbit(int n, size_t most)
{
    const double x[4] = {0.5, 0.2, 0.1, 0.3}, one = 1.0;
    double r[2], by_x[2][4] = {{0}}, by_k[2] = {0};
    const size_t bytes = few_orbit_grad_WORKSPACE(n);
    void *a = malloc(plain_orbit_grad_WORKSPACE(n) + 1), *b = malloc(bytes);
    plain_orbit_grad(x, 2.0, n, &r[0], &one, by_x[0], &by_k[0], a);
    few_orbit_grad(x, 2.0, n, &r[1], &one, by_x[1], &by_k[1], b);
    free(a);
    free(b);
    const int right = bytes <= most && !memcmp(by_x[0], by_x[1], sizeof by_x[0]) && by_k[0] == by_k[1] && r[0] == r[1];
    if (!right)
        printf("orbit: %d trips, %zu bytes: %g and %g\n", n, bytes, by_k[0], by_k[1]);
    return !right;
}

static int heat(int n, size_t most)
{
    enum { M = 5 };
    const double one = 1.0;
    double u[2][M], w[M], u_grad[2][M] = {{0}}, r[2];
    /* beside the states: gradients, copies of the arrays, and the state of a trip */
    const size_t bytes = few_heat_grad_WORKSPACE(M, n), rest = 80 * M;
    void *memory[2] = {malloc(plain_heat_grad_WORKSPACE(M, n) + 1), malloc(bytes)};
    for (int i = 0; i < M; i++)
        u[0][i] = u[1][i] = 0.3 * i;
    plain_heat_grad(M, u[0], w, n, &r[0], NULL, &one, u_grad[0], memory[0]);
    few_heat_grad(M, u[1], w, n, &r[1], NULL, &one, u_grad[1], memory[1]);
    free(memory[0]);
    free(memory[1]);
    const int right = bytes <= most + rest && !memcmp(u_grad[0], u_grad[1], sizeof u_grad[0]) && r[0] == r[1];
    if (!right)
        printf("heat: %d trips, %zu bytes: %g and %g\n", n, bytes, u_grad[0][1], u_grad[1][1]);
    return !right;
}

int main(int argc, char **argv)
{
    int wrong = argc != 2;
    for (int n = 0; n < 150 && !wrong; n++)
        wrong = orbit(n, strtoul(argv[1], NULL, 10)) || heat(n, strtoul(argv[1], NULL, 10));
    return wrong;
}
END
$TKC orbit.tk --real=f64 --prefix=plain --checkpoints=none -o plain.c
for bytes in 128 500 3000 1M; do
    $TKC orbit.tk --real=f64 --prefix=few --checkpoints=$bytes -o few.c
    $CC -std=c11 -O1 -I"$ROOT/runtime/include" plain.c few.c main.c -lm -o main
    ./main "$(echo $bytes | sed 's/1M/1048576/')"
done
grep -q 'while (' few.c || { echo "no trip runs again"; exit 1; }

for bytes in 0 12q 64kk 9999999999G -5 64K; do
    if $TKC orbit.tk --real=f64 --checkpoints=$bytes -o no.c 2>err; then echo "--checkpoints=$bytes is taken"; exit 1; fi
    grep -q -e "--checkpoints=$bytes: " err || { cat err; exit 1; }
    [ ! -e no.c ] || { echo "--checkpoints=$bytes leaves a file"; exit 1; }
done
