# Functions for PyTorch and JAX (--python=torch,jax): the tests of tests/python/tensors, with each of the two packages that is there.
for name in functions fields; do
    tkc --python=torch,jax --real=f64 --cc="$CC" "$ROOT/tests/python/tensors/$name.tk" -o "$name.py"
done
unset LD_LIBRARY_PATH
PY=
for p in python3 /usr/bin/python3; do
    [ -n "$PY" ] || ! "$p" -c 'import numpy' 2>err || PY=$p
done
[ -n "$PY" ] || { echo "no NumPy (python3-numpy)"; exit 77; }

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

ran=
for package in torch jax; do
    for p in python3 /usr/bin/python3; do
        "$p" -W ignore -c "import $package" 2>err || continue
        PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} "$p" -B "$ROOT/tests/python/tensors/with_$package.py" >out 2>&1 || { cat out; exit 1; }
        ran="$ran $package"
        break
    done
done
[ -n "$ran" ] || { echo "no PyTorch (python3-torch) and no JAX"; exit 77; }
