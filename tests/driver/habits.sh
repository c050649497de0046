# docs/language/habits.md lists the hints of habits.def, and a test gives each.
# inputs: docs/language compiler/syntax tests/syntax tests/check tests/tools/habits.py
python3 "$ROOT/tests/tools/habits.py" "$ROOT"

# a hint without test, and another table, are found
mkdir -p bad/compiler/syntax bad/docs/language bad/tests/syntax bad/tests/check
cp "$ROOT/docs/language/habits.md" bad/docs/language
cp "$ROOT/compiler/syntax/habits.def" bad/compiler/syntax
python3 "$ROOT/tests/tools/habits.py" bad 2>said && { echo "nothing is found"; exit 1; }
grep -q '^float32$' said
sed -i 's/"float32", "f32"/"float32", "f64"/' bad/compiler/syntax/habits.def
python3 "$ROOT/tests/tools/habits.py" bad 2>said && { echo "nothing is found"; exit 1; }
grep -q 'out of date' said
