# The sample through its meson.build.
# inputs: build-files runtime samples/bundle c:samples/bundle/*.tk
cp -R "$ROOT/samples/bundle" .
CC="$CC" meson setup build bundle >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
