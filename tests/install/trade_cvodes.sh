# trades/cvodes: CVODES' adjoint with right-hand side, J v and J^T v of a kernel file, by CMake from an empty folder.
for tool in cmake make; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <cvodes/cvodes.h>\n' | "$CC" -E - >/dev/null 2>&1 || { echo "no CVODES (libsundials-dev)"; exit 77; }
unset LD_LIBRARY_PATH
cp "$ROOT/tests/install/trades/cvodes/"* .
export CC CFLAGS='-Wall -Wextra -Wconversion -Werror' CMAKE_PREFIX_PATH="$PREFIX"
sh "$ROOT/tests/install/trades/build.sh" >log 2>&1 || { tail -n 40 log; exit 1; }
./build/prey >out || { cat out; exit 1; }
grep -qx 'they deviate by less than 1e-5' out
grep -q '^misfit 0\.9' out
test "$(grep -c 'adjoint [+-][0-9]*[1-9]' out)" = 4
