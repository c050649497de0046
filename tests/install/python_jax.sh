# Functions for JAX (--python=torch,jax): the tests of tests/python/tensors.
# slow: 5
# inputs: build-files runtime tests/python compiler/python c:tests/python/tensors/*.tk
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy jax
for name in functions fields; do
    tkc --python=torch,jax --real=f64 --cc="$CC" "$ROOT/tests/python/tensors/$name.tk" -o "$name.py"
done
PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} "$PY" -B "$ROOT/tests/python/tensors/with_jax.py"
