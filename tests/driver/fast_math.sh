# Numbers that steer must not be changed by the C compiler: a module that has some refuses to be compiled with -ffast-math or a part of it, or to be created.
cat >steers.tk <<'END'
field x: real[8] needs_grad;
field y: real[8] needs_grad;
kernel run() { for i in x { y[i] = x[i] > 0.5 ? x[i] * x[i] : x[i]; } }
END
cat >plain.tk <<'END'
field x: real[8] needs_grad;
field y: real[8] needs_grad;
kernel run() { for i in x { y[i] = x[i] * x[i]; } }
END
cat >host.c <<'END'
#include "steers.h"
#include <stdio.h>
int main(void)
{
    steers *m = steers_create(NULL, NULL);
    puts(m ? "created" : tk_error());
    steers_destroy(m);
}
END
"$TKC" steers.tk -o steers.c || exit 1
"$TKC" plain.tk -o plain.c || exit 1
include="-I $ROOT/runtime/include"
library=$(dirname "$(dirname "$TKC")")/runtime/libtkc.a
for flag in -ffast-math -Ofast -ffinite-math-only; do
    # shellcheck disable=SC2086
    if "$CC" -O2 $flag $include -c steers.c -o steers.o 2>messages; then echo "compiled with $flag"; exit 1; fi
    grep -q "not with -ffast-math or a part of it" messages || { cat messages; exit 1; }
    # shellcheck disable=SC2086
    "$CC" -O2 $flag $include -c plain.c -o plain.o || exit 1
done
# what no macro tells of is found when the module is created
for flags in "-fassociative-math -fno-signed-zeros -fno-trapping-math" -freciprocal-math -funsafe-math-optimizations; do
    # shellcheck disable=SC2086
    if "$CC" -O2 $flags $include -c steers.c -o steers.o 2>messages; then
        "$CC" $SANITIZE $include host.c steers.o "$library" -pthread -lm -o host || exit 1
        ./host >said
        grep -q "was compiled with a part of -ffast-math" said || { echo "$flags: $(cat said)"; exit 1; }
    else
        grep -q "not with -ffast-math or a part of it" messages || { cat messages; exit 1; }
    fi
done
# shellcheck disable=SC2086
"$CC" -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast $include -c steers.c -o steers.o && "$CC" $SANITIZE $include host.c steers.o "$library" -pthread -lm -o host && ./host | grep -qx created
