# Generated files: the same bytes on every run, and #line directives that tell the truth.
cp "$ROOT/tests/run/types.tk" "$ROOT/tests/run/matrices.tk" .
for name in types matrices; do
    "$TKC" --real=f64 $name.tk -o one.c
    "$TKC" --real=f64 $name.tk -o two.c
    sed 's/two\.h/one.h/' two.c | cmp - one.c
    cmp one.h two.h
    "$TKC" --real=f64 -g $name.tk -o lines.c
    # a line that claims to be N + 1 of the C file stands on line N
    awk '/^#line .*"lines.c"/ { if ($2 != NR + 1) { print FILENAME ": " NR ": " $0; bad = 1 } n++ } END { exit bad || !n }' lines.c
    awk -v last="$(wc -l <$name.tk)" -v file="\"$name.tk\"" '/^#line/ && $3 == file { if ($2 < 1 || $2 > last) exit 1; n++ } END { exit !n }' lines.c
    grep -v '^#line' lines.c | sed 's/lines\.h/one.h/' | cmp - one.c
done
