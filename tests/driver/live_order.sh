# The order of long matrices: operations of an entry follow each other, values are the same. A line of fewer operations,
# and one that reads memory, stay as they are.
# inputs: c:tests/export/long_line.tk

# OPERATIONS [array]: two chains of sines, one operation of each in turns; both end in an entry
chains()
{
    awk -v n="$1" -v array="${2-}" 'BEGIN {
        print "kernel_jac k(%0:f64 x, %1:f64 y, %2:i64 at) -> f64, f64 {"
        a = 0; b = 1; next_value = 3
        if (array) { print "  %3:ptr z = local f64[8]"; print "  %4:f64 = lload %3, %2"; a = 4; next_value = 5 }
        for (i = 0; i < n; i += 2) {
            printf "  %%%d:f64 = sin %%%d\n  %%%d:f64 = sin %%%d\n", next_value, a, next_value + 1, b
            a = next_value; b = a + 1; next_value += 2
        }
        printf "  yield %%%d, %%%d\n}\n", a, b
    }'
}

# the operands of the sines, in order
operands() { sed -n 's/.* = sin //p' "$1"; }

chains 1000 >ordered.ir
chains 998 >brief.ir
chains 1000 array >reading.ir
for name in ordered brief reading; do
    "$TKC" --run-pass=live-order $name.ir >$name.out || { echo "$name: fails"; exit 1; }
    operands $name.ir >$name.before
    operands $name.out >$name.after
    sort $name.before >before; sort $name.after >after
    cmp before after || { echo "$name: other operations"; exit 1; }
done
cmp -s brief.before brief.after || { echo "brief: moved"; exit 1; }
cmp -s reading.before reading.after || { echo "reading: moved"; exit 1; }
[ "$(sed -n 1p ordered.after)" = %0 ] && [ "$(sed -n 501p ordered.after)" = %1 ] || { echo "ordered: not in order"; cat ordered.out; exit 1; }

# each entry stands behind its operations, in front of those of the others
"$TKC" --real=f64 --no-runtime "$ROOT/tests/export/long_line.tk" -o m.c || exit 1
awk '/^void long_line_mixed_jac\(/ { in_it = 1 } in_it && /jac\[/ { seen = 1 } in_it && seen && /const double/ { n++ } in_it && /^}/ { exit } END { exit n < 300 }' m.c ||
    { echo "entries stand at the end"; exit 1; }
