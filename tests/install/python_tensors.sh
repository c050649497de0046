# Functions for PyTorch (--python=torch,jax): the tests of tests/python/tensors, and what is there without PyTorch and JAX.
# slow: 5
# inputs: build-files runtime tests/python compiler/python c:tests/python/tensors/*.tk
for name in functions fields; do
    tkc --python=torch,jax --real=f64 --cc="$CC" "$ROOT/tests/python/tensors/$name.tk" -o "$name.py"
done
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy

# without the packages the module is what it is with --python alone
mkdir absent
for package in torch jax; do echo 'raise ImportError("not there")' >"absent/$package.py"; done
PYTHONPATH=absent${PYTHONPATH:+:$PYTHONPATH} "$PY" -B -W error - <<'END_'
import functions
assert functions.torch_(3) == 6 and functions.fall_grad(5, [3, 4], 0).height_grad == 1
for framework, name in (functions.torch, "torch"), (functions.jax, "jax"):
    try:
        framework.fall
    except ImportError as e:
        assert f"package {name}" in str(e), e
    else:
        raise SystemExit(f"{name} is not there, and nothing says so")
END_

python_with numpy torch
PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} "$PY" -B "$ROOT/tests/python/tensors/with_torch.py"
