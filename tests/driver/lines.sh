# No line of C in the compiler and in the runtime has more than 120 columns. Tables (.def) have a row in a line.
find "$ROOT/compiler" "$ROOT/runtime" -name '*.[ch]' -exec awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' {} + >long
test ! -s long || { cat long; exit 1; }
