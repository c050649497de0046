# Loops with functions of the C library call their variants for vectors, in launches and adjoints: where sine and cosine are of one number,
# behind a guard, where a sum and a scatter are behind a cutoff, and in loops over structs and components of vectors. Only where glibc has such variants.
printf '#include <features.h>\n#if !defined(__x86_64__) || !__GLIBC_PREREQ(2, 35)\n#error none\n#endif\n' >none.c
$CC -fsyntax-only none.c 2>/dev/null || { echo "the C library has no functions of vectors here"; exit 77; }
cat >v.tk <<'END'
param N: i32 = 1000;
field x: real[N] needs_grad;
field m: real[N] needs_grad;
field y: real[N] needs_grad;

struct Body { mass: real, at: vec2, turn: real, spin: real }
field bodies: Body[N] needs_grad;
field moved: Body[N] needs_grad;
field five: vec(5, real)[N] needs_grad;

kernel structs() {
    for i in moved {
        moved[i].turn = bodies[i].turn + bodies[i].spin * sin(bodies[i].mass);
        moved[i].at = bodies[i].at * bodies[i].spin * five[i][3];
    }
}

kernel turned() {
    for i in y { y[i] = sin(x[i]) * m[i] + cos(x[i]); }
}

kernel guarded() {
    for i in y {
        let r2 = x[i] * x[i];
        var s = 1.0;
        if r2 != 0.0 {
            let r = sqrt(r2);
            s = sin(r) / r + cos(r) * m[i];
        }
        y[i] = s * x[i];
    }
}

kernel near() {
    for i in y {
        for j in x {
            let d = x[j] - x[i];
            if d * d < 0.5 { y[i] += m[j] * exp(-d * d); }
        }
    }
}
END
# vectors KERNEL FUNCTION...: the functions of that name in C
vectors()
{
    kernel=$1
    shift
    for part in task0 grad_task0; do
        awk -v f="v__${kernel}_$part:" '$1 == f { on = 1 } on && /\.cfi_endproc/ { exit } on' v.s >part.s
        for name in "$@"; do
            grep -Eq "_ZGV[a-z][NM][0-9]+v_$name" part.s || { echo "$CC $real: $kernel, $part: no vectors of $name" >&2; return 1; }
        done
    done
}
flags=
case $CC in *clang*) flags=-fveclib=libmvec ;; esac
for real in f32 f64; do
    $TKC --real=$real v.tk -o v.c
    f=
    [ $real = f64 ] || f=f
    $CC -std=gnu11 -O3 -mavx2 -mfma -fno-math-errno -fno-trapping-math -fopenmp-simd $flags -I"$INCLUDE" -S v.c -o v.s
    vectors turned sin$f cos$f
    vectors guarded sin$f cos$f
    vectors near exp$f
    vectors structs sin$f
done
