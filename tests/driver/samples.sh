# The samples become no more C than tests/bench/README.md says; a sample that is not in its table is found.
python3 "$ROOT/tests/bench/samples.py" --tkc "$TKC" --check
printf 'field x: real;\nkernel k() { x = 1.0; }\n' >unknown.tk
python3 "$ROOT/tests/bench/samples.py" --tkc "$TKC" --check unknown.tk >said &&
    { echo "a sample that is not in the table is not found"; exit 1; }
grep -q "^unknown.tk: " said
