# Each construct of docs/language.md and docs/language/ has its tests, says tests/constructs.txt; a statement without a line there is found.
python3 "$ROOT/tests/tools/constructs.py" "$ROOT"
mkdir copy
ln -s "$ROOT/tests" "$ROOT/compiler" copy
cp -r "$ROOT/docs" copy
sed -i 's/^| `break;`/| `leave;` | |\n&/' copy/docs/language.md
python3 "$ROOT/tests/tools/constructs.py" copy > said && { echo "a statement without tests is not found"; exit 1; }
grep -q "nothing tests 'leave;'" said
