# The sample through its meson.build, which skips it where there is no CHOLMOD.
# inputs: build-files runtime samples/newton c:samples/newton/*.tk
cp -R "$ROOT/samples/newton" .
mkdir bare
sed "s/find_library('cholmod'/find_library('no_such_cholmod'/" newton/meson.build >bare/meson.build
CC="$CC" meson setup build-bare bare >log 2>&1 || { cat log; exit 1; }
grep -q 'there is no CHOLMOD' log
test -f /usr/include/suitesparse/cholmod.h || { echo "there is no CHOLMOD (Debian: libsuitesparse-dev)"; exit 77; }
CC="$CC" meson setup build newton >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
