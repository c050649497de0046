# Generated C grows linearly with the program and with nesting.
python3 "$ROOT/tests/bench/growth.py" --tkc "$TKC" --check
