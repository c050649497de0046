# samples/ocean without MPI, and on 1, 2 and 4 processes: the loss, a derivative along a direction and differences; the bottom is found, with and without a budget, with the same losses; counted messages and bytes.
# slow: 20
# inputs: runtime tests/mpi samples/common samples/ocean c:samples/ocean/ocean.tk tests/bench/large.py
. "$ROOT/tests/mpi/common.sh"
pkg-config --exists cairo popt || { echo "no cairo or popt"; exit 77; }
ocean=$ROOT/samples/ocean
"$TKC" --real=f64 "$ocean/ocean.tk" -o ocean.c
compile()
{
    out=$1
    shift
    for f in draw picture sample state; do
        set -- "$@" "$ROOT/samples/common/$f.c"
    done
    # shellcheck disable=SC2046,SC2086
    "$@" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror ${SANITIZE-} -I. -I"$ROOT/samples/common" -I"$INCLUDE" $(pkg-config --cflags cairo popt) \
        "$ocean/main.c" ocean.c $extra "$library/libtkc.a" $(pkg-config --libs cairo popt) -pthread -lm -o "$out"
}
extra=
compile alone "$CC"
extra=$library/mpi/libtkc-mpi.a
compile many mpicc -DHAVE_MPI
# WORD FILE: the number behind a word
number()
{
    sed -n "s/.*$1 \([-+.0-9e]*\).*/\1/p" "$2"
}
near() # WHAT A B BY
{
    awk -v a="$2" -v b="$3" -v by="$4" 'BEGIN { d = a - b; s = b < 0 ? -b : b; exit !(b != "" && a != "" && d <= by * s && -d <= by * s) }' ||
        { echo "$1: $2 and $3"; exit 1; }
}

# alone, the bottom is found
./alone --size=32 --steps=80 --iterations=40 --no-picture >out
awk -v a="$(number "bottom .* before," out)" -v b="$(number bottom out)" 'BEGIN { exit !(a < 0.3 * b && b > 0.1) }' || { cat out; exit 1; }

# few exchanges: processes may have to wait for a core each time
./alone --check --size=16 --steps=10 >check
./alone --size=16 --steps=20 --iterations=2 --budget=0 --out=alone-out >found
cut -d, -f2 alone-out/ocean.csv >losses
for n in 1 2 4; do
    on $n ./many --check --size=16 --steps=10
    near "loss of $n processes" "$(number loss out)" "$(number loss check)" 1e-11
    near "derivative of $n processes" "$(number direction out)" "$(number 'by the tape,' out)" 1e-6
    on $n ./many --size=16 --steps=20 --iterations=2 --budget=0.15 --out="out$n"
    near "error of the bottom, $n processes" "$(number "bottom .* before," out)" "$(number "bottom .* before," found)" 1e-6
    cut -d, -f2 "out$n/ocean.csv" | paste -d' ' - losses >both
    awk 'NR > 1 { d = $1 - $2; n++; if (d > 1e-8 * $2 || -d > 1e-8 * $2) bad = 1 } END { exit bad || n != 3 }' both || { cat both; exit 1; }
    test -s "out$n/ocean.png"
done
grep -q ' ran again' out && ! grep -q ' 0 ran again' out

# 10 steps of 2 x 2 processes, 12 cells a side: two sides of 6 x 2 cells and a corner of 2 x 2; three fields, and the bottom once
# shellcheck disable=SC2086
on 4 ./many --size=12 --steps=10 --iterations=0 --budget=0 --no-picture --traffic
grep -q '^traffic: primal 33 messages, 6944 bytes; adjoint 33 messages, 6944 bytes; ' out || { cat out; exit 1; }
./alone --size=12 --steps=10 --iterations=0 --no-picture --traffic >out
grep -q '^traffic: none' out

# the formula of docs/large.md, also for a part with 8 neighbours
python3 "$ROOT/tests/bench/large.py" ./many --check --real 8 --mpirun "mpirun $mpi_flags"

# what several processes refuse
if on 2 ./many --window >/dev/null; then exit 1; fi
grep -q 'with one process only' out
