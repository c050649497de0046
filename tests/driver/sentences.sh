# Each sentence of docs/language.md and docs/language/ has tests that hold it, says tests/sentences.txt; one that is written anew, and a test that is gone, are found.
python3 "$ROOT/tests/tools/sentences.py" "$ROOT"
mkdir -p copy/tests
for part in "$ROOT"/tests/* "$ROOT/tests/sentences.txt"; do ln -sf "$part" copy/tests; done
ln -s "$ROOT/compiler" copy
cp -r "$ROOT/docs" copy
cp "$ROOT/README.md" copy
sed -i 's/^An assignment is\|^- An assignment is a statement, not an expression\./- An assignment is an expression./' copy/docs/language.md
python3 "$ROOT/tests/tools/sentences.py" copy >said && { echo "a new sentence is not found"; exit 1; }
grep -q "nothing holds '...... An assignment is an expression" said
cp "$ROOT"/docs/language.md copy/docs
rm copy/tests/sentences.txt
sed 's/check\/types_good: /check\/no_such_test: /; s/run\/language: /run\/no_such_test: /' "$ROOT/tests/sentences.txt" >copy/tests/sentences.txt
python3 "$ROOT/tests/tools/sentences.py" copy >said && { echo "a test that is gone is not found"; exit 1; }
grep -q "there is no test run/no_such_test" said
