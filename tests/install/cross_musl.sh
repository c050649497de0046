# libtkc alone with musl, and a static program that checks its gradients.
# slow: 6
# inputs: build-files runtime tests/install/cross
command -v musl-gcc >/dev/null || { echo "no musl-gcc"; exit 77; }
CC=musl-gcc meson setup build "$ROOT" -Doptimization=1 -Dcompiler=false -Ddefault_library=static -Dwerror=true --prefix="$PWD/musl" --libdir=lib >log 2>&1 || { cat log; exit 1; }
ninja -C build -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
meson install -C build --no-rebuild >log 2>&1 || { cat log; exit 1; }
test "$(ls musl/lib/libtkc*)" = musl/lib/libtkc.a
tkc --real=f64 "$ROOT/tests/install/cross/wave.tk" -o wave.c
export PKG_CONFIG_PATH="$PWD/musl/lib/pkgconfig"
# shellcheck disable=SC2046
musl-gcc -static -std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror -I. $(pkg-config --cflags tkc) "$ROOT/tests/install/cross/main.c" wave.c \
    $(pkg-config --libs tkc) -o check
./check | grep -qx '64-bit, 560 derivatives are right'
! ldd ./check 2>/dev/null | grep -q 'libc\.so' || exit 1
