# The sample through its meson.build, which skips it where there is no IPOPT.
# slow: 4
# inputs: build-files runtime samples/quadrotor c:samples/quadrotor/*.tk
cp -R "$ROOT/samples/quadrotor" .
mkdir bare
sed "s/dependency('ipopt'/dependency('no_such_ipopt'/" quadrotor/meson.build >bare/meson.build
CC="$CC" meson setup build-bare bare >log 2>&1 || { cat log; exit 1; }
grep -q 'there is no IPOPT' log
pkg-config --exists ipopt || { echo "there is no IPOPT (Debian: coinor-libipopt-dev)"; exit 77; }
CC="$CC" meson setup build quadrotor >log 2>&1 || { cat log; exit 1; }
ninja -C build >log 2>&1 || { cat log; exit 1; }
meson test -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
