# Hosts read m->params, and cannot write to it: a size that changes behind the fields would lead loops out of them.
cat >sized.tk <<'END'
param N: i32 = 4;
field x: f32[N] needs_grad;
field s: f32 needs_grad;
kernel k() { for i in x { s += x[i] * x[i]; } }
END
"$TKC" sized.tk -o sized.c || exit 1
cat >host.c <<'END'
#include "sized.h"
int32_t host(sized *m);
int32_t host(sized *m)
{
#ifdef WRITES
    m->params.N = 8;
#endif
    return m->params.N;
}
END
cp host.c host.cpp
for compiler in "$CC -std=c11 host.c" "$CXX -std=c++17 host.cpp"; do
    $compiler -Wall -Wextra -Wpedantic -Werror -I"$ROOT/runtime/include" -c -o host.o || exit 1
    if $compiler -DWRITES -I"$ROOT/runtime/include" -c -o host.o 2>messages; then
        echo "$compiler: a param that sizes a field is written"; exit 1
    fi
    grep -Eq 'read-only|const-qualified' messages || { cat messages; exit 1; }
done
# Nor does the generated code cast constness away where anybody is told of it.
"$CC" -std=c11 -Wall -Wextra -Wcast-qual -Wcast-align -Werror -I"$ROOT/runtime/include" -c sized.c -o sized.o
