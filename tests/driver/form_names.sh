# A kernel called as the derivative of a function that stays a call: each has structs for what it saves.
cat >names.tk <<END
param N: i32 = 5;
field x: real[N] needs_grad;
field y: real[N] needs_grad;
field best: real needs_grad;
func f(a: real) -> real {
    var s = a;
$(for k in $(seq 40); do echo "    for i in range(9) { if s > 3.0 { s = sin(s) * a; } s = cos(s) * s + $k.5; }"; done)
    return s;
}
kernel sum() { for i in x { y[i] += f(x[i]) * f(x[i] * 3.0); } }
kernel f_vjp() { for i in x { atomic_max(best, x[i] * f(x[i])); } }
END
$TKC names.tk -o names.c
$CC -std=c11 -Wall -Wextra -Werror -fopenmp-simd -I"$ROOT/runtime/include" -c names.c -o names.o
