# Modules with names of the library's headers, and files of such names beside them: each include finds the one that it means.
# slow: 4
for name in tkc Tkc Tk tkc_gen tkc_math tkc_loops tkc_lanes Tk_gen; do
    mkdir $name
    cd $name
    cat >$name.tk <<TK
field x: real[4] needs_grad;
field y: real needs_grad;
kernel sum() { for i in x { y += x[i] * x[i]; } }
export func twice(a: real) -> real { return max(2.0 * a, a); }
TK
    "$TKC" $name.tk -o $name.c
    cat >host.c <<C
#include "$name.h"
int main(void)
{
    $name *m = ${name}_create(NULL, NULL);
    if (!m) return 1;
    for (int i = 0; i < 4; i++) m->x.data[i] = 1;
    TK_TAPE(m, m->y) { ${name}_sum(m); }
    float two;
    ${name}_twice(1, &two);
    const int right = m->x.grad[3] == 2 && two == 2;
    ${name}_destroy(m);
    return !right;
}
C
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Werror -fopenmp-simd $SANITIZE -I. -I"$INCLUDE" host.c $name.c "$(dirname "$TKC")/../runtime/libtkc.a" -pthread -lm -o host
    ./host
    $CXX -std=c++17 -Wall -Wextra -Werror -I. -I"$INCLUDE" -fsyntax-only -x c++ host.c
    # A folder tkc beside the files is not where the library is looked for.
    mkdir tkc
    for header in tkc tkc_gen tkc_math tkc_loops tkc_lanes; do echo '#error "not the library"' >tkc/$header.h; done
    $CC -std=c11 -fopenmp-simd -I"$INCLUDE" -c $name.c -o $name.o
    cd ..
done
