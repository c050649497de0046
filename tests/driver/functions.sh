# The functions of the C library in loops: no error is greater than tests/bench/README.md says, with vectors and without,
# and loops around them are vectorised.
# slow: 8
# inputs: runtime tests/bench c:tests/bench/functions/functions.tk
build=$(dirname "$(dirname "$TKC")")
native=
vectors=
case $(uname -m) in x86_64) if grep -q avx2 /proc/cpuinfo; then native=-march=native vectors=-mavx2; fi ;; esac
page=$ROOT/tests/bench/README.md

# COLUMN FILE: rows of the table are | `name` | f32, f64 by tkc_lanes.h | f32, f64 by the vector math library | ...
compare()
{
    awk -v column="$1" '
        NR == FNR && /^\| `[a-z0-9]+` \|/ { split($0, cell, /[ |`]+/); bound[cell[2] " f32"] = cell[column]; bound[cell[2] " f64"] = cell[column + 1]; next }
        NR == FNR { next }
        { seen++; if (!(($1 " " $2) in bound)) { print "no bound for", $1, $2; bad = 1 } else if ($4 !~ /^[0-9]/ || $4 + 0 > bound[$1 " " $2] + 0) { print "beyond", bound[$1 " " $2] ":", $0; bad = 1 } }
        END { if (seen != 84) print seen, "lines"; exit bad || seen != 84 }' "$page" "$2"
}

for cc in $CC; do # of this build: each has its turn
    # by tkc_lanes.h with each compiler, for any x86-64 and for this one, and with the vector math library
    for flags in "-O3 -DTK_OWN_MATH=1" "-O3 $native -DTK_OWN_MATH=1" "-O3 $native"; do
        column=3
        if [ "$flags" = "-O3 $native" ]; then column=5; fi
        BENCH_FLAGS="$flags $SANITIZE" BENCH_OUT=$PWD/out sh "$ROOT/tests/bench/run.sh" "$build" functions --compiler "$cc" errors --points 65536 >errors.txt
        compare $column errors.txt || { echo "$cc $flags"; exit 1; }
    done
done

if [ -z "$vectors" ] || [ -n "$SANITIZE" ]; then exit 0; fi
one="cbrt exp exp2 expm1 log log2 log1p asin acos atan sinh cosh tanh erf" two="atan2 hypot"
for cc in $CC; do
    for t in f32 f64; do
        real=double
        names="$one"
        if [ $t = f32 ]; then real=float; fi
        case $t$cc in f32*clang*) names="$one tan" ;; esac # gcc leaves its table of 2/pi
        {
            echo "#include <tkc/tkc_math.h>"
            for f in $names; do echo "void v_$f($real *restrict x, $real *restrict y, int n); void v_$f($real *restrict x, $real *restrict y, int n) { for (int i = 0; i < n; i++) y[i] = tk_${f}_$t(x[i]); }"; done
            for f in $two; do echo "void v_$f($real *restrict x, $real *restrict y, int n); void v_$f($real *restrict x, $real *restrict y, int n) { for (int i = 0; i < n; i++) y[i] = tk_${f}_$t(x[i], y[i]); }"; done
        } >loops.c
        say=-fopt-info-vec-optimized
        case $cc in *clang*) say=-Rpass=loop-vectorize ;; esac
        $cc -std=c11 -O3 $vectors -fno-math-errno -fno-trapping-math -DTK_OWN_MATH=1 -I"$INCLUDE" $say -S -o loops.s loops.c 2>remarks.txt
        line=1
        for f in $names $two; do
            line=$((line + 1))
            grep -q "^loops.c:$line:.*vectorized" remarks.txt || { echo "$cc: the loop over $f, $t, is not vectorised"; exit 1; }
        done
        if grep -E '(call|jmp)q?[[:space:]]+[a-z]' loops.s; then echo "$cc: $t: a call in a loop"; exit 1; fi
    done
done
