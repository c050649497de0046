# The package tkc for Python: its functions on what is installed here.
# inputs: build-files runtime tests/python compiler/python
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
