# CMake with a toolchain file for another machine: an installed libtkc and this tree as FetchContent takes it, with the tkc of this machine. Runs by qemu.
# slow: 21
# inputs: build-files runtime tests/install/cross
for tool in cmake ninja aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <math.h>\n' | aarch64-linux-gnu-gcc -E - >/dev/null 2>&1 || { echo "no C library for aarch64-linux-gnu-gcc"; exit 77; }
. "$ROOT/tests/install/cross/machine.sh"
cp "$ROOT/tests/install/cross/main.c" "$ROOT/tests/install/cross/wave.tk" .
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(wave C)
if(TREE)
  add_subdirectory(${TREE}/runtime tkc)
else()
  find_package(tkc 0.1 REQUIRED)
endif()
add_executable(wave main.c)
tkc_add_module(wave wave.tk REAL f64)
END

# A package of that machine: its library, and a program that does not run here.
meson setup library "$ROOT" --cross-file machine.ini -Doptimization=1 -Dcompiler=false -Ddefault_library=static --prefix="$PWD/arm" --libdir=lib >log 2>&1 || { cat log; exit 1; }
ninja -C library -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
meson install -C library --no-rebuild >log 2>&1 || { cat log; exit 1; }
mkdir arm/bin
echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -x c - -o arm/bin/tkc

# build NAME OPTION...
build()
{
    name=$1
    shift
    cmake -S . -B "$name" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/machine.cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 "$@" >log 2>&1 || { cat log; exit 1; }
    ninja -C "$name" -j 2 >log 2>&1 || { tail -n 40 log; exit 1; }
    $run "$name/wave" | grep -qx '64-bit, 560 derivatives are right'
    grep -q "^TKC_EXECUTABLE:[A-Z]*=$tkc\$" "$name/CMakeCache.txt"
}
tkc=$PREFIX/bin/tkc build package -DCMAKE_PREFIX_PATH="$PWD/arm"
tkc=$PREFIX/bin/tkc build tree -DTREE="$ROOT"
cp "$PREFIX/bin/tkc" mine
tkc=$PWD/mine build named -DCMAKE_PREFIX_PATH="$PWD/arm" -DTKC_EXECUTABLE="$PWD/mine"

# no tkc of this machine: only whoever has a kernel to compile needs one
without=$(printf %s "$PATH" | sed "s|$PREFIX/bin:||")
if PATH="$without" command -v tkc >/dev/null; then exit 0; fi
if PATH="$without" cmake -S . -B none -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/machine.cmake" -DCMAKE_PREFIX_PATH="$PWD/arm" >log 2>&1; then exit 1; fi
tr -s ' \n' ' ' <log | grep -q 'there is no tkc that runs here; -DTKC_EXECUTABLE='
