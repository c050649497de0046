# libtkc alone for another machine, by a Meson cross file, and a program there that checks its gradients; then the same in a superproject. Runs by qemu.
# slow: 19
# inputs: build-files runtime tests/install/cross docs
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <math.h>\n' | aarch64-linux-gnu-gcc -E - >/dev/null 2>&1 || { echo "no C library for aarch64-linux-gnu-gcc"; exit 77; }
. "$ROOT/tests/install/cross/machine.sh"

meson setup build "$ROOT" --cross-file machine.ini -Doptimization=1 -Dcompiler=false -Dwerror=true --prefix="$PWD/arm" --libdir=lib >log 2>&1 || { cat log; exit 1; }
! grep -Ei 'flex|bison|popt' log || exit 1
ninja -C build -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
meson install -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
test ! -e arm/bin

cp "$ROOT/tests/install/cross/main.c" .
tkc --real=f64 "$ROOT/tests/install/cross/wave.tk" -o wave.c
export PKG_CONFIG_PATH="$PWD/arm/lib/pkgconfig"
# shellcheck disable=SC2046
aarch64-linux-gnu-gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror $(pkg-config --cflags tkc) main.c wave.c $(pkg-config --libs tkc) -o check
LD_LIBRARY_PATH="$PWD/arm/lib" $run ./check | grep -qx '64-bit, 560 derivatives are right'

# The tree as a subproject: its library is for the other machine, tkc is the one installed on this one.
mkdir -p super/subprojects
ln -s "$ROOT" super/subprojects/tkc
cp main.c "$ROOT/tests/install/cross/wave.tk" super
sed -n "/^## For another machine\$/,\$ { /^libtkc = dependency('tkc')\$/,/^executable(/p }" "$ROOT/docs/c-api/builds.md" >lines
test "$(grep -c 'native: true' lines)" = 1
{ echo "project('super', 'c', default_options: ['c_std=c11', 'werror=true'])"; sed "s/'fit/'wave/g; s/'@INPUT@'/'--real=f64', &/" lines; } >super/meson.build
meson setup superbuild super --cross-file machine.ini --wrap-mode=forcefallback -Dtkc:compiler=false >log 2>&1 || { cat log; exit 1; }
ninja -C superbuild -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
$run superbuild/wave | grep -qx '64-bit, 560 derivatives are right'
