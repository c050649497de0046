# extern func: the header declares what the host has to define, so a wrong signature is an error of the C compiler; with --no-runtime as well; and a
# shared library takes the function from the program that loads it.
cat >f.tk <<'END'
extern func kr(h: f64) -> f64 grad(-kr(h));
export func f(a: f64) -> f64 { return kr(a) * kr(a); }
END
cat >main.c <<'END'
#include "f.h"
#include <math.h>
double kr(double h)
{
    return exp(-h);
}
int main(void)
{
    double y, one = 1, by_a = 0;
    f_f(1, &y);
    f_f_grad(1, NULL, &one, &by_a);
    return fabs(y - exp(-2)) < 1e-9 && fabs(by_a + 2 * exp(-2)) < 1e-9 ? 0 : 1;
}
END
for flags in '' --no-runtime; do
    # shellcheck disable=SC2086
    $TKC f.tk --real=f64 $flags -o f.c
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$ROOT/runtime/include" main.c f.c -lm -o main
    ./main
done
sed 's/double kr(double h)/double kr(float h)/' main.c >wrong.c
! $CC -std=c11 -I"$ROOT/runtime/include" -c wrong.c 2>wrong.txt
grep -q 'kr' wrong.txt
$TKC f.tk --real=f64 --no-runtime -shared --cc="$CC" -o libf.so
! readelf -d libf.so | grep -q libtkc # what has no use for it does not ask for it
$CC -std=c11 main.c ./libf.so -rdynamic -lm -o shared
./shared
