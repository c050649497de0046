# What generated code asks of clang: loops over lanes that do little are as many vectors at once as there are lanes, never
# more; sums of f64 over numbers of f32 take whole vectors of these.
case $(uname -m) in x86_64) ;; *) echo "vectors of x86-64"; exit 77 ;; esac
case $CC in *clang*) ;; *) echo "clang's"; exit 77 ;; esac
if [ -n "$SANITIZE" ]; then echo "no vectors beside checks"; exit 77; fi
cat >powers.tk <<'END'
param D: i32 = 12;
field x: real[1000] needs_grad;
field y: real[1000] needs_grad;
field a: real[D] needs_grad;
field loss: real needs_grad;

kernel series() {
    for i in x {
        var s = 0.0;
        for d in range(D) { s += x[i] * a[d]; }
        y[i] = s;
    }
}

kernel distance() { for i in x { loss += sqrt((x[i] - y[i]) ** 2 + 1.0); } }
END

# wide TARGET
wide()
{
    line=$(grep -n 'TK_SIMD_WIDE_SUM(sum)' powers.c | head -n 1 | cut -d: -f1)
    said=$(sed -n "s/^powers.c:${line:-0}:.*vectorization width: \([0-9]*\),.*/\1/p" remarks.txt)
    case $1:$said in
    -msse2:4 | -mavx*:8) ;;
    *)
        echo "$cc $1: a sum of f64 over '$said' numbers of f32 at once"
        exit 1
        ;;
    esac
}

for cc in $CC; do
    case $cc in *clang*) ;; *) continue ;; esac
    for real in f32 f64; do
        "$TKC" --real=$real powers.tk -o powers.c
        grep -q "TK_SIMD_SHORT($real)" powers.c
        for target in -msse2 "-mavx2 -mfma" "-mavx512f -mprefer-vector-width=512"; do
            # shellcheck disable=SC2086
            $cc -std=c11 -O3 $target -fopenmp-simd -fno-math-errno -fno-trapping-math -I"$INCLUDE" -Rpass=loop-vectorize -c powers.c 2>remarks.txt
            [ $real = f64 ] || wide "$target"
            for line in $(grep -n TK_SIMD_SHORT powers.c | cut -d: -f1); do
                said=$(sed -n "s/^powers.c:$line:.*vectorization width: \([0-9]*\), interleaved count: \([0-9]*\)).*/\1 * \2/p" remarks.txt | sort -u)
                case $target:$((${said:-0})) in
                *:32 | -msse2:16) ;;
                *)
                    echo "$cc $target $real, line $line: of 32 lanes at once '$said'"
                    exit 1
                    ;;
                esac
            done
        done
    done
done
