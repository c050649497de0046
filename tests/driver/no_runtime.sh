# --no-runtime: export funcs alone; what needs a module object is refused.
cat >all.tk <<'END'
param N: i32 = 4;
field x: real[N];
kernel k() { for i in x { x[i] = 1.0; } }
export func f(a: real) -> real { return a; }
END
! $TKC all.tk --no-runtime -o all.c 2>all.txt
[ ! -f all.c ]
[ "$(grep -c 'E0453' all.txt)" = 3 ]
printf 'func f(a: real) -> real { return a; }\n' >none.tk
! $TKC none.tk --no-runtime -o none.c 2>none.txt
grep -q 'E0454' none.txt

cat >f.tk <<'END'
export func f(a: real, n: i32) -> real {
    var s = a;
    for i in range(n) { s = s * sin(s) + 0.5; }
    return s;
}
END
$TKC f.tk --no-runtime -o f.c
! grep -E 'tk\.h|tk_gen|tk_math|TK_SIMD' f.c f.h
cat >main.c <<'END'
#include "f.h"
int main(void)
{
    static _Alignas(8) unsigned char work[f_f_grad_WORKSPACE(3)];
    float y, one = 1.0f, dx = 0.0f;
    f_f_grad(0.5f, 3, &y, &one, &dx, work);
    return dx > 0.0f && y > 0.0f ? 0 : 1;
}
END
$CC -std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wvla -Werror main.c f.c -lm -o main
./main
$TKC f.tk --no-runtime --debug -o f.c
$CC -std=c11 -Wall -Wextra -Werror main.c f.c -lm -o main
./main
$TKC f.tk --no-runtime -c -o f.o
$CC main.c f.o -lm -o main
./main
