# The package tkc for Python: its functions on what is installed here; and where scikit-build-core is, the wheel itself in a fresh environment.
unset LD_LIBRARY_PATH
PY=
for p in python3 /usr/bin/python3; do
    [ -n "$PY" ] || ! "$p" -c 'import numpy' 2>err || PY=$p
done
[ -n "$PY" ] || { echo "no NumPy (python3-numpy)"; exit 77; }
mkdir site
cp -R "$ROOT/runtime/python/tkc" site
mkdir -p site/tkc/installed
ln -s "$PREFIX/bin" "$PREFIX/include" site/tkc/installed
ln -s "$(dirname "$PKG_CONFIG_PATH")" site/tkc/installed/lib
export TKC_CC="$CC" TKC_CACHE="$PWD/cache"
PYTHONPATH=$PWD/site${PYTHONPATH:+:$PYTHONPATH} "$PY" -B -W error "$ROOT/tests/python/package.py"

"$PY" -c 'import scikit_build_core, cmake' 2>err || { echo "the wheel itself: no scikit-build-core"; exit 0; }
"$PY" -m pip -q wheel --no-deps --no-build-isolation -w made "$ROOT/runtime/python" >out 2>&1 || { cat out; exit 1; }
"$PY" -m venv --system-site-packages fresh
fresh/bin/pip -q install --no-index --no-deps made/tkc-*.whl >out 2>&1 || { cat out; exit 1; }
fresh/bin/tkc --version
mv fresh/bin/tkc .                               # the package does not take one from the PATH
fresh/bin/python -B -W error "$ROOT/tests/python/package.py"
if fresh/bin/python -m auditwheel --version >out 2>&1; then fresh/bin/python -m auditwheel show made/tkc-*.whl | grep -o '"manylinux[^"]*"'; fi
