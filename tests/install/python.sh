# Modules for Python: the tests of tests/python, each with the module that tkc --python makes of the .tk of its name.
# slow: 5
# inputs: build-files runtime tests/python compiler/python c:tests/python/*.tk
. "$ROOT/tests/python/find.sh"
python_with numpy
unset LD_LIBRARY_PATH               # the library says itself where libtkc is
for test in "$ROOT"/tests/python/test_*.py; do
    name=$(basename "$test" .py)
    name=${name#test_}
    flags=$(sed -n '1,8s|^// flags: ||p' "$ROOT/tests/python/$name.tk")
    # shellcheck disable=SC2086
    tkc --python --cc="$CC" $flags "$ROOT/tests/python/$name.tk" -o "$name.py"
    test ! -e "$name.h"
    PYTHONPATH=$PWD "$PY" -B -W error "$test" >out 2>&1 || { cat out; exit 1; }
done

# modules of two files share a session, a tape, and the classes of errors; they are found wherever they lie
mkdir -p lib/pack
touch lib/pack/__init__.py
for name in fields kernels; do mv "$name.py" "lib$name.so" lib/pack; done
cat >both.py <<'END'
import sys
sys.path.insert(0, "lib")
from pack import fields, kernels
import numpy as np
a = fields.Module(N=5, threads=1)
b = kernels.Module(session=a.session)
a.x = [1, 2, 3, 4, 5]

def forward():
    b.y = a.x

def backward():
    a.x.grad[...] += b.y.grad
    b.y.grad = 0

with a.tape(b.loss):
    a.scale()
    a.session.call(forward, backward)
    b.measure()
np.testing.assert_allclose(a.x.grad, 0.1 * 3 * a.x ** 2)
assert fields.Error is kernels.Error
assert (a.x + b.y).shape == np.add(b.y, a.x, out=b.y).shape == (5,)
b.y = a.x
END
"$PY" -B -W error both.py
