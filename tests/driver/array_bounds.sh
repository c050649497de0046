# gcc -O3 unrolls loops over local arrays further than they run, and warned of subscripts that never are. What stands behind the generated file warns as before.
# slow: 10
# inputs: c:tests/algorithms/sorting.tk c:tests/algorithms/splat.tk c:tests/algorithms/bvh.tk runtime/include
for tk in sorting splat bvh; do
    $TKC "$ROOT/tests/algorithms/$tk.tk" --real=f64 -o $tk.c
    for options in "-O2" "-O3" "-O3 -march=native"; do
        # shellcheck disable=SC2086
        $CC -std=c11 $options -fopenmp-simd -Wall -Wextra -Werror -I"$ROOT/runtime/include" -c $tk.c -o $tk.o
    done
done
grep -q 'pragma GCC diagnostic pop' sorting.c
printf 'kernel none() -> real { return 1.0; }\n' >none.tk
$TKC none.tk -o none.c
! grep 'diagnostic' none.c
