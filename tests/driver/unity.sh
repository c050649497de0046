# The C of several modules is one translation unit, where a build system makes it one: the same names of kernels, functions, fields and structs in each.
for name in one two; do
    cat >$name.tk <<END
param N: i32 = 100;
struct Pair { a: real, b: real }
field x: real[N] needs_grad;
field idx: i32[N];
field pairs: Pair[N] needs_grad;
field loss: real needs_grad;
extern func outside(h: real) -> real grad(0.0);
func fields(a) { return a + 1.0; }
func take_arrays(a: real) -> real { return fields(a); }
func twice(a) { return $([ $name = one ] && echo 2.0 || echo 3.0) * a; }
func far(a: real) -> real { var s = a; for i in range(5) { if s > 3.0 { return s; } s = s * s; } for i in range(9) { s = sin(s) * outside(s); } return s; }
kernel measure(w: real needs_grad, host: in real[n] needs_grad) -> real {
    var s = 0.0;
    for i in x { s += twice(x[i]) * w + take_arrays(w) * far(x[i]); }
    for i in host { s += host[i] * pairs[i % N].a; }
    return s;
}
kernel spread() { for i in x { x[idx[i]] += pairs[i].b; } for i in x { loss += max(x[i], 0.1) ** 2; } }
kernel measure_run() { for i in x { x[i] = 2.0; } }
kernel take(kernels: real, module: real) { for i in x { x[i] = kernels * module; } }
export func grown(a: real, k: i32) -> real { var s = a; for i in range(k) { s = far(s) + sin(s); } return s; }
END
    for flags in '' --debug; do
        # shellcheck disable=SC2086
        $TKC $name.tk $flags -o $name$flags.c --header=$name.h
    done
done
cat >main.c <<'END'
#include <stdio.h>
float outside(float h) { return h; }
static int run_one(void)
{
    one *m = one_create(NULL, NULL);
    one_measure_run(m);
    float w = 1, result = 0, host[3] = {1, 2, 3};
    int bad = one_measure(m, w, 3, host, &result) != TK_OK || one_spread(m) != TK_OK || one_measure_grad(m, w, 3, host, &w, NULL, NULL) != TK_OK;
    one_destroy(m);
    return bad;
}
static int run_two(void)
{
    two *m = two_create(NULL, NULL);
    two_measure_run(m);
    float y = 0;
    two_grown(0.5f, 3, &y);
    const int bad = two_spread(m) != TK_OK || m->x.data[5] != 2.0f || !(y > 0.1f);
    two_destroy(m);
    return bad;
}
int main(void)
{
    return run_one() + 2 * run_two();
}
END
for flags in '' --debug; do
    cat one$flags.c two$flags.c main.c >unity.c
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fopenmp-simd $SANITIZE -I. -I"$ROOT/runtime/include" unity.c "$(dirname "$TKC")/../runtime/libtkc.a" -pthread -lm -o unity
    ./unity
done

# Modules made with --no-runtime bring the library's functions along, each its own, beside one that includes them.
for name in poly pose; do
    printf 'func max_f32(a: real) -> real { return a + 1.0; }\nexport func f(a: real, k: i32) -> real { var s = max_f32(a); for i in range(k) { s = max(s, sin(s) * real(i32(s) - %s)); } return mod(s, 2.0); }\n' $([ $name = poly ] && echo 2 || echo 3) >$name.tk
    $TKC $name.tk --no-runtime -o $name.c
done
printf '#include "poly.c"\n#include "one.c"\n#include "pose.c"\nfloat outside(float h) { return h; }\nint main(void) { float a, b; poly_f(0.9f, 4, &a); pose_f(0.9f, 4, &b); return !(a > 0 && b > 0); }\n' >alone.c
# shellcheck disable=SC2086
$CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fopenmp-simd $SANITIZE -I. -I"$ROOT/runtime/include" alone.c "$(dirname "$TKC")/../runtime/libtkc.a" -pthread -lm -o alone
./alone
