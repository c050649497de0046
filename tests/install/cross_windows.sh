# libtkc alone for Windows, by MinGW; programs that run by Wine: derivatives are right, and where the C library is not asked, the bits are those of this machine.
# slow: 11
# inputs: build-files runtime tests/install/cross
gcc=x86_64-w64-mingw32-gcc-posix # threads of winpthreads
for tool in $gcc wine; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
export WINEPREFIX="$PWD/wine" WINEDEBUG=-all HOME="$PWD"
unset DISPLAY
trap '/usr/lib/wine/wineserver -k 2>/dev/null || true' EXIT
cat >machine.ini <<END
[binaries]
c = '$gcc'
ar = 'x86_64-w64-mingw32-ar'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
meson setup build "$ROOT" --cross-file machine.ini -Doptimization=1 -Dcompiler=false -Ddefault_library=static -Dwerror=true --prefix="$PWD/windows" --libdir=lib >log 2>&1 || { cat log; exit 1; }
ninja -C build -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
meson install -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
cp "$ROOT/tests/install/cross/"*.c "$ROOT/tests/install/cross/"*.tk .
for module in wave bits; do tkc --real=f64 $module.tk -o $module.c.c --header=$module.h; done
here=$(pkg-config --cflags --libs tkc)
PKG_CONFIG_PATH="$PWD/windows/lib/pkgconfig"
there=$(pkg-config --cflags --libs tkc)
warn='-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror'
# shellcheck disable=SC2086
{
    "$CC" $warn bits.c bits.c.c $here -lm -o bits
    $gcc $warn bits.c bits.c.c $there -static -o bits.exe
    $gcc $warn main.c wave.c.c $there -static -o wave.exe
    # libtkc as a source of the program
    mkdir embedded
    cp main.c embedded
    tkc --real=f64 wave.tk --runtime=embed -o embedded/wave.c
    $gcc $warn embedded/*.c -pthread -static -o embedded.exe
}
windows() { (ulimit -S -t 120; exec wine "$@") 2>message | tr -d '\r'; }
test "$(windows ./wave.exe)" = '64-bit, 560 derivatives are right' || { cat message; exit 1; }
test "$(windows ./embedded.exe)" = '64-bit, 560 derivatives are right' || { cat message; exit 1; }
./bits >expected
windows ./bits.exe >out
diff expected out
grep -Eqx '[0-9a-f]{16}' out
test "$(OMP_NUM_THREADS=2 windows ./bits.exe)" = "$(cat expected)"
