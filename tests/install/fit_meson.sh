# The sample through its meson.build.
# inputs: build-files runtime samples/fit c:samples/fit/*.tk
cp -R "$ROOT/samples/fit" .
CC="$CC" meson setup build fit >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
