# The sample through its meson.build.
# slow: 4
# inputs: build-files runtime samples/pendulum c:samples/pendulum/*.tk
pkg-config --exists ipopt || { echo "there is no IPOPT (Debian: coinor-libipopt-dev)"; exit 77; }
cp -R "$ROOT/samples/pendulum" .
CC="$CC" meson setup build pendulum >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
