# Generated headers and TK_TAPE in every C++ from C++11 on, also where the program has put the header inside of extern "C", and without exceptions.
cat >sum.tk <<'END'
param N: i32 = 4;
field x: real[N] needs_grad;
field s: real needs_grad;
kernel run() { for i in x { s += x[i] * x[i]; } }
END
"$TKC" sum.tk
cat >host.cpp <<'END'
extern "C" {
#include "sum.h"
}
int run(sum *m)
{
    TK_TAPE(m, m->s) { sum_run(m); }
    return sum_status(m) == TK_OK;
}
END
for std in c++11 c++14 c++17 c++20; do
    for more in '' -fno-exceptions; do
        # shellcheck disable=SC2086
        "$CXX" -std=$std -Wall -Wextra -Wpedantic -Werror $more -I. -I"$INCLUDE" -fsyntax-only host.cpp
    done
done
