# The sample through its meson.build: a generator for .tk files.
# inputs: build-files runtime samples/gravity c:samples/gravity/*.tk
cp -R "$ROOT/samples/gravity" .
CC="$CC" meson setup build gravity >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
touch gravity/gravity.tk
ninja -n -C build | grep -q gravity.tk
