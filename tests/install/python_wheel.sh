# The wheel of the package tkc for Python, in a fresh environment.
# slow: 5
# inputs: build-files runtime tests/python compiler/python docs/editors/pygments
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy scikit_build_core cmake
export TKC_CC="$CC" TKC_CACHE="$PWD/cache"
# Not optimised: that is most of what building takes.
CFLAGS='-O0 -w' "$PY" -m pip -q wheel --no-deps --no-build-isolation -w made "$ROOT/runtime/python" >out 2>&1 || { cat out; exit 1; }
"$PY" -m venv fresh
"$PY" -c 'import os, numpy; print(os.path.dirname(os.path.dirname(numpy.__file__)))' >"$(fresh/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/numpy.pth"
fresh/bin/pip -q install --no-index --no-deps made/tkc-*.whl >out 2>&1 || { cat out; exit 1; }
fresh/bin/tkc --version
for file in notebook.py tk_lexer.py; do test -s fresh/lib/python3*/site-packages/tkc/$file; done
grep -qx 'tk = tkc.tk_lexer:TkLexer' fresh/lib/python3*/site-packages/tkc-*.dist-info/entry_points.txt
mv fresh/bin/tkc .                               # the package does not take one from the PATH
fresh/bin/python -B -W error "$ROOT/tests/python/package.py"
if fresh/bin/python -m auditwheel --version >out 2>&1; then fresh/bin/python -m auditwheel show made/tkc-*.whl | grep -o '"manylinux[^"]*"'; fi
