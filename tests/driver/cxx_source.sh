# The C of modules, export funcs and --debug is C++17 as well, with the warnings of C, and gives the same results.
# inputs: compiler runtime tests/run tests/ad/externs.tk tests/export
source()
{
    name=$1
    shift
    "$TKC" "$ROOT/tests/$name.tk" "$@" -o module.c
    for cxx in g++ clang++; do
        "$cxx" -std=c++17 -Wall -Wextra -Werror -fopenmp-simd -I"$INCLUDE" -fsyntax-only -x c++ module.c
    done
}
source run/atomics
source run/custom
source run/externs
source run/extrema
source run/kernel_arrays
source run/strided
source run/struct_fields
source run/checks --debug
source ad/externs --real=f64
source export/checkpoints --no-runtime --real=f64
source export/final_elements --no-runtime --real=f64

# A module and export funcs, once as C and once as C++.
"$TKC" "$ROOT/tests/run/export_beside.tk" -o export_beside.c
"$CC" -std=c11 -O1 -I"$INCLUDE" -c export_beside.c -o c.o
"$CXX" -std=c++17 -O1 -Wno-unknown-pragmas -I"$INCLUDE" -x c++ -c export_beside.c -o cxx.o
for module in c cxx; do
    # shellcheck disable=SC2086
    "$CXX" -std=c++17 $SANITIZE -I. -I"$INCLUDE" "$ROOT/tests/run/export_beside.cpp" $module.o "$(dirname "$TKC")/../runtime/libtkc.a" -pthread -lm -o $module
    ./$module
done
