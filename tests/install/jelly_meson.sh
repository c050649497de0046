# The sample through its meson.build.
# inputs: build-files runtime samples/jelly c:samples/jelly/*.tk
cp -R "$ROOT/samples/jelly" .
CC="$CC" meson setup build jelly >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
