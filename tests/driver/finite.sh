# --finite and the attribute: what is folded, in standalone code as well, and what --debug stops at in an export func.
cat >f.tk <<'END'
func spin(a: real) -> mat2 { return [[cos(a), 0.0], [0.0, 1.0]]; }
export func f(a: real, b: real) -> real derive(grad, jac(a, b)) {
    let v = spin(a) @ vec2(b, 2.0);
    return v.x + sqrt(b) * 0.0;
}
END
sed -e 's/-> mat2 {/-> mat2 finite {/' -e 's/jac(a, b)) {/jac(a, b)) finite {/' f.tk >g.tk
$TKC --real=f64 --no-runtime f.tk -o strict.c --prefix=f
$TKC --real=f64 --no-runtime --finite f.tk -o option.c --prefix=f
$TKC --real=f64 --no-runtime g.tk -o attribute.c --prefix=f
grep -q 'sqrt' strict.c
! grep -q 'sqrt' option.c
# the attribute is the option on each function
sed 's/attribute\.h/option.h/; s/g\.tk/f.tk/' attribute.c | cmp - option.c
cat >main.c <<'END'
#include HEADER
#include <math.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double j[2], y;
    f_f_jac(0.5, argc > 1 ? atof(argv[1]) : 4.0, &y, j, 2);
    return fabs(y - 4 * cos(0.5)) < 1e-15 && fabs(j[0] + 4 * sin(0.5)) < 1e-15 && fabs(j[1] - cos(0.5)) < 1e-15 ? 0 : 1;
}
END
for m in strict option attribute; do
    $CC -std=c11 -O2 -Wall -Wextra -Werror "-DHEADER=\"$m.h\"" main.c $m.c -lm -o main
    ./main
done
for how in "f.tk --finite" "g.tk"; do
    $TKC --real=f64 --no-runtime --debug $how -o debug.c --prefix=f
    $CC -std=c11 -O2 -Wall -Wextra -Werror '-DHEADER="debug.h"' main.c debug.c -lm -o main
    ./main
    (ulimit -c 0; ! ./main -4 2>err) || exit 1
    grep -q "$(echo "$how" | cut -d' ' -f1):4:18: a number is NaN or infinite, but the numbers of 'f' are finite" err || { cat err; exit 1; }
done
