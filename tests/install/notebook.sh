# The notebook of samples/notebook, and the magic %%tk. IPython comes from PyPI, if no Python has it.
# slow: 20
# inputs: build-files runtime tests/python compiler/python samples/notebook docs/editors/pygments
unset LD_LIBRARY_PATH
venv=$(cd "$(dirname "$TKC")/.." && pwd)/notebook-venv
PY=
for python in python3 /usr/bin/python3 "$venv/bin/python"; do
    [ -n "$PY" ] || ! "$python" -W ignore -c 'import IPython, numpy, scipy.optimize' 2>err || PY=$python
done
if [ -z "$PY" ]; then
    rm -rf "$venv"
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "$ROOT/samples/notebook/requirements.txt"; } >log 2>&1 || {
        rm -rf "$venv"
        echo "no IPython with NumPy and SciPy (PyPI): $(tail -n 1 log)"
        exit 77
    }
    PY=$venv/bin/python
fi
mkdir site
cp -R "$ROOT/runtime/python/tkc" site
cp "$ROOT/docs/editors/pygments/tk_lexer.py" site/tkc
mkdir site/tkc/installed
ln -s "$PREFIX/bin" "$PREFIX/include" site/tkc/installed
ln -s "$(dirname "$PKG_CONFIG_PATH")" site/tkc/installed/lib
export TKC_CC="$CC" TKC_CACHE="$PWD/cache" IPYTHONDIR="$PWD/ipython" MPLCONFIGDIR="$PWD/matplotlib" HOME="$PWD"
PYTHONPATH=$PWD/site "$PY" -B "$ROOT/tests/python/notebook.py" "$ROOT/samples/notebook/heat.ipynb"
