# docs/language/diagnostics.md lists every diagnostic.
python3 "$ROOT/tests/tools/diagtable.py" "$ROOT"
