# --casadi: CasADi loads the library; its Jacobians, gradients and Hessians of the entry points are its own of the same model.
# slow: 5
# inputs: build-files runtime compiler/host tests/driver/casadi
unset LD_LIBRARY_PATH
. "$ROOT/tests/python/find.sh"
python_with numpy casadi
tkc "$ROOT/tests/driver/casadi/model.tk" --real=f64 --casadi --no-runtime -shared --cc="$CC" -o libmodel.so
"$PY" -B "$ROOT/tests/driver/casadi/with_casadi.py" ./libmodel.so
