# No line of C in the compiler and in the runtime has more than 120 columns. Tables (.def) have a row in a line.
find "$ROOT/compiler" "$ROOT/runtime" -name '*.[ch]' -exec awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }' {} + >long
test ! -s long || { cat long; exit 1; }
# The top level of the repository holds these names alone.
git -C "$ROOT" ls-tree --name-only HEAD 2>tree.err | grep -vxE '\..*|meson\.build|meson_options\.txt|LICENSE|README\.md|compiler|runtime|grammar|tests|samples|docs' >stray || true
test ! -s stray || { cat stray; exit 1; }
