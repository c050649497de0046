# m_forward_x takes a seed of the field's precision: any other does not compile, as C or as C++.
cat >seed.tk <<'EOF'
field x: f32[4] needs_dual;
field z: f64 needs_dual;
field y: real needs_dual;
kernel k() { for i in x { y += x[i] * x[i]; } }
EOF
"$TKC" seed.tk -o seed.c || exit 1
cat >host.c <<'EOF'
#include "seed.h"
tk_status host(seed *m, const SEED *values);
tk_status host(seed *m, const SEED *values)
{
    tk_field *const outputs[] = {m->y.field};
    tk_status s = seed_forward_x(m, outputs, 1, values, 4);
    if (s == TK_OK)
        s = seed_forward_z(m, outputs, 1, NULL, 0);
    return s;
}
EOF
cp host.c host.cpp
for seed in float double; do
    for compiler in "$CC -std=c11 host.c" "$CXX -std=c++17 host.cpp"; do
        if $compiler -Wall -Wextra -Wpedantic -Werror -DSEED=$seed -I"$ROOT/runtime/include" -c -o host.o 2>messages; then
            [ $seed = float ] || { echo "$compiler: a seed of doubles passes for a field of f32"; exit 1; }
        else
            [ $seed = double ] || { cat messages; exit 1; }
        fi
    done
done
