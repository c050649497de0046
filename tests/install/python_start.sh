# docs/start.md: its five minutes with Python, from an empty folder, by the commands that stand there and nothing else.
# inputs: build-files runtime tests/python compiler/python docs/start.md tests/tools/steps.py
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy scipy.optimize
mkdir -p empty bin
ln -s "$(command -v "$PY")" bin/python3
[ "$PY" = python3 ] || PATH=$PWD/bin:$PATH
python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" python >steps.sh
cd empty
TKC_CC=$CC sh ../steps.sh
