# trades/cvodes: CVODES' adjoint with right-hand side, J v and J^T v of a kernel file, by CMake from an empty folder, by the commands of the page.
# inputs: build-files runtime tests/install/trades tests/tools/steps.py
for tool in cmake make; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <cvodes/cvodes.h>\n' | "$CC" -E - >/dev/null 2>&1 || { echo "no CVODES (libsundials-dev)"; exit 77; }
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
python3 "$ROOT/tests/tools/steps.py" "$ROOT/tests/install/trades/README.md" cvodes >steps.sh
cp -R "$ROOT/tests/install/trades/cvodes" empty
cd empty
export CC CFLAGS='-Wall -Wextra -Wconversion -Werror' CMAKE_PREFIX_PATH="$PREFIX"
sh ../steps.sh
grep -q '^misfit 0\.9' output
test "$(grep -c 'adjoint [+-][0-9]*[1-9]' output)" = 4
