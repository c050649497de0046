# The package tkc for Python: its functions on what is installed here.
# inputs: build-files runtime tests/python compiler/python README.md
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy
mkdir site
cp -R "$ROOT/runtime/python/tkc" site
mkdir -p site/tkc/installed
ln -s "$PREFIX/bin" "$PREFIX/include" site/tkc/installed
ln -s "$(dirname "$PKG_CONFIG_PATH")" site/tkc/installed/lib
export TKC_CC="$CC" TKC_CACHE="$PWD/cache"
PYTHONPATH=$PWD/site${PYTHONPATH:+:$PYTHONPATH} "$PY" -B -W error "$ROOT/tests/python/package.py"

# README.md: its program, from an empty folder
mkdir empty
python3 - "$ROOT/README.md" <<'END'
import re, sys
program, shown = re.search(r"\n## Python\n.*?```python\n(.*?)```\n\n```text\n(.*?)```", open(sys.argv[1]).read(), re.DOTALL).groups()
open("empty/program.py", "w").write(program)
open("shown", "w").write(shown)
END
cd empty
PYTHONPATH=$PWD/../site${PYTHONPATH:+:$PYTHONPATH} "$PY" -B -W error program.py >../printed
diff ../shown ../printed
