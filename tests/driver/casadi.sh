# --casadi: the entry points agree with each other and with differences, and C++ compiles them; what has none is left out.
# casadi/host.c reads shapes and sparsity as CasADi does; install/casadi.sh runs CasADi itself.
here=$ROOT/tests/driver/casadi
$TKC "$here/model.tk" --real=f64 --casadi --no-runtime -o model.c
warn="-Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror"
$CC -std=c11 -O1 $warn -Wno-unused-function -c model.c -o model.o
printf '#include "model.c"\n' >model.cpp
${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -Wno-unused-function -c model.cpp -o cxx.o
for object in model.o cxx.o; do
    $CC -std=c11 -O1 "$here/host.c" $object -lm -o host
    ./host
done
nm model.o | sed -n 's/.* T \(.*\)_casadi$/\1/p' | sort >found
printf '%s\n' adj1_model_blend adj1_model_cost adj1_model_step jac_adj1_model_cost jac_adj1_model_step jac_model_blend jac_model_cost jac_model_step \
    model_blend model_cost model_part model_step | sort | diff - found
$TKC "$here/model.tk" --real=f64 -o plain.c
if grep -q casadi plain.c; then echo "entry points without --casadi"; exit 1; fi
! $TKC "$here/model.tk" --casadi --emit=ir 2>err
grep -q "^tkc: error: --casadi: this choice of output writes no C" err
