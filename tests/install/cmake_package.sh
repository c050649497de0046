# find_package(tkc) of the installed tree in a C++17 project: several kernels in a target, imports, options, flags, and what is refused; with three generators.
# slow: 16
# inputs: build-files runtime
for tool in cmake ninja; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
unset LD_LIBRARY_PATH
mkdir lib
cat >sum.tk <<'END'
import "scale.tk";
param N: i32 = 4;
field x: real[N] needs_grad;
field s: real needs_grad;
kernel run() {
    for i in x { s += SCALE * x[i] * x[i]; }
}
END
cat >plain.tk <<'END'
export func square(a: real) -> real { return a * a; }
END
cat >main.cpp <<'END'
#include "sum.h"
#include "sum64.h"
#include "plain.h"
#include <cstdio>
#include <type_traits>

int main()
{
    static_assert(std::is_same_v<sum_real, float> && std::is_same_v<sum64_real, double>);
    sum *a = sum_create(nullptr, nullptr);
    sum64 *b = sum64_create(nullptr, nullptr);
    if (!a || !b)
        return 1;
    for (int i = 0; i < 4; i++)
        a->x.data[i] = b->x.data[i] = i;
    TK_TAPE(a, a->s) { sum_run(a); }
    TK_TAPE(b, b->s) { sum64_run(b); }
    float nine;
    plain_square(3.0f, &nine);
    std::printf("%g %g %g\n", double(a->x.grad[3]), b->x.grad[3], double(nine));
    sum_destroy(a);
    sum64_destroy(b);
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(sums LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(tkc 0.1 REQUIRED)
add_library(kernels STATIC)
tkc_add_module(kernels sum.tk OPTIONS -I ${CMAKE_CURRENT_SOURCE_DIR}/lib $<$<CONFIG:Debug>:--debug>)
tkc_add_module(kernels sum.tk PREFIX sum64 REAL f64 DEBUG OPTIONS -I ${CMAKE_CURRENT_SOURCE_DIR}/lib)
tkc_add_module(kernels plain.tk OPTIONS --no-runtime)
add_executable(sums main.cpp)
target_link_libraries(sums kernels)
END

# later FILE...: files with times behind those of all that is there
later()
{
    : >earlier
    for file; do
        until test "$file" -nt earlier; do touch "$file"; done
    done
}
# check COMMAND...: says what it printed if it fails
check()
{
    "$@" >log 2>&1 || { echo "$*"; tail -n 60 log; exit 1; }
}
configure()
{
    check env CC="$CC" CXX="$CXX" cmake -S . -DCMAKE_PREFIX_PATH="$PREFIX" "$@"
}

for generator in Ninja 'Unix Makefiles' 'Ninja Multi-Config'; do
    echo 'const SCALE = 2;' >lib/scale.tk
    build="build $generator"
    configure -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release
    case $generator in
    *Multi*) config='--config Release' program="$build/Release/sums" made="$build/tkc/kernels/Release" ;;
    *) config='' program="$build/sums" made="$build/tkc/kernels" ;;
    esac
    # shellcheck disable=SC2086
    check cmake --build "$build" $config -j 2
    test "$("$program")" = "12 12 9"
    # nothing is made anew that has not changed
    touch mark
    # shellcheck disable=SC2086
    check cmake --build "$build" $config
    test -z "$(find "$build" -name 'sum*.[cho]' -newer mark)"
    # an import changes
    echo 'const SCALE = 4;' >lib/scale.tk
    later lib/scale.tk
    # shellcheck disable=SC2086
    check cmake --build "$build" $config -j 2
    test "$("$program")" = "24 24 9"
    test "$made/plain.c" -ot mark
    # --debug in one configuration of a build that has several, and always
    case $generator in
    *Multi*)
        check cmake --build "$build" --config Debug -j 2
        test "$("$build/Debug/sums")" = "24 24 9"
        if cmp -s "$made/sum.c" "$build/tkc/kernels/Debug/sum.c"; then echo "a Debug build has no --debug"; exit 1; fi
        cmp "$made/sum64.c" "$build/tkc/kernels/Debug/sum64.c"
        ;;
    esac
done

# flags: the recommended ones, for generated files alone, and no level of optimisation; clang's vector library with the AVX2 that it takes
flags_of()
{
    python3 - "$@" <<'END'
import json, sys
print(*(c["command"] for c in json.load(open(f"{sys.argv[1]}/compile_commands.json")) if c["file"].endswith("/" + sys.argv[2])))
END
}
configure -B plain -G Ninja
flags_of plain sum.c >flags
for flag in $(head -n 1 "$ROOT/runtime/flags.txt"); do
    grep -qe " $flag " flags
done
! grep -qe ' -O' flags || exit 1
flags_of plain main.cpp >flags
! grep -qe '-fno-math-errno\|-O\|-mavx2' flags || exit 1
if command -v clang >/dev/null && command -v clang++ >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    for avx2 in ON OFF; do
        check env CC=clang CXX=clang++ cmake -S . -B "clang$avx2" -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX" -DTKC_CLANG_AVX2=$avx2
        flags_of "clang$avx2" sum.c >flags
        case $avx2$(grep -ce " $(tail -n 1 "$ROOT/runtime/flags.txt") " flags) in ON1 | OFF0) ;; *) cat flags; exit 1 ;; esac
    done
fi

# the static library; and another tkc is a reason to generate again
mkdir own
cp "$PREFIX/bin/tkc" own
configure -B static -G Ninja -DTKC_STATIC=ON -DTKC_EXECUTABLE="$PWD/own/tkc"
check cmake --build static -j 2
test "$(./static/sums)" = "24 24 9"
ldd static/sums >needed
! grep -q libtkc needed || exit 1
later own/tkc
ninja -C static -n | grep -q 'tkc plain.tk'

# refused TEXT LINE...: a CMakeLists.txt whose last lines these are is refused, and says so
refused()
{
    said=$1
    shift
    rm -rf wrong
    mkdir wrong
    cp sum.tk wrong
    { echo "cmake_minimum_required(VERSION 3.21)"; echo "project(wrong ${languages-C})"; printf '%s\n' "$@"; } >wrong/CMakeLists.txt
    if CC="$CC" CXX="$CXX" cmake -S wrong -B wrong/build -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX" >log 2>&1; then echo "not refused: $*"; exit 1; fi
    tr -s ' \n' ' ' <log | grep -qF "$said" || { echo "not said: $said"; cat log; exit 1; }
}
find='find_package(tkc REQUIRED)' target='add_library(t STATIC a.c)'
refused 'must be f32 or f64' "$find" "$target" 'tkc_add_module(t sum.tk REAL double)'
refused "'NAME;x' is not understood" "$find" "$target" 'tkc_add_module(t sum.tk NAME x)'
refused "'PREFIX' is not understood" "$find" "$target" 'tkc_add_module(t sum.tk PREFIX)'
refused "no target 't'" "$find" 'tkc_add_module(t sum.tk)'
refused "'t' is no executable and no library" "$find" 'add_library(t INTERFACE)' 'tkc_add_module(t sum.tk)'
refused "has a module 'sum' already" "$find" "$target" 'tkc_add_module(t sum.tk)' 'tkc_add_module(t sum.tk REAL f64)'
# a kernel file that is missing; one that is generated by a command, behind the module as well, is not
wrong=$(pwd -P)/wrong
refused "tkc_add_module(t kernels/sum.tk): there is no file $wrong/kernels/sum.tk" "$find" "$target" 'tkc_add_module(t kernels/sum.tk)'
refused "there is no file $wrong/far away/sum.tk" "$find" "$target" 'tkc_add_module(t "${CMAKE_CURRENT_SOURCE_DIR}/far away/sum.tk")'
refused "$wrong is a folder" "$find" "$target" 'tkc_add_module(t .)'
mkdir -p later
echo 'int none;' >later/a.c
cat >later/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(later C)
find_package(tkc REQUIRED)
add_library(t STATIC a.c)
tkc_add_module(t ${CMAKE_CURRENT_BINARY_DIR}/made.tk OPTIONS --no-runtime)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/made.tk COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/../plain.tk ${CMAKE_CURRENT_BINARY_DIR}/made.tk)
END
check env CC="$CC" cmake -S later -B later/build -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX"
check cmake --build later/build
languages=CXX refused 'this project has no C' "$find" 'add_library(t STATIC a.cpp)' 'tkc_add_module(t sum.tk)'
refused "no component but MPI and PETSC, and no 'gpu'" 'find_package(tkc REQUIRED COMPONENTS gpu)'
refused 'false does not run here' 'set(TKC_EXECUTABLE /bin/false)' "$find"
printf '#!/bin/sh\necho tkc 9.9.9\n' >own/other
chmod +x own/other
refused "is 'tkc 9.9.9', and the library is" "set(TKC_EXECUTABLE $PWD/own/other)" "$find"
for version in 0.2 0.0 1 0.1.0.1 0.2...1 '0.0...<0.1'; do
    refused 'compatible with requested version' "find_package(tkc $version REQUIRED)"
done
for version in 0.1 0.1.0 '0.1.0 EXACT' 0.1...0.1.0 0.1...2; do
    rm -rf right
    mkdir right
    printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(right C)' "find_package(tkc $version REQUIRED)" >right/CMakeLists.txt
    check env CC="$CC" cmake -S right -B right/build -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX"
done

# a target of another folder
mkdir -p apart/below
cp sum.tk apart/below
printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(apart C)' "$find" "$target" 'add_subdirectory(below)' >apart/CMakeLists.txt
echo 'tkc_add_module(t sum.tk)' >apart/below/CMakeLists.txt
if CC="$CC" cmake -S apart -B apart/build -DCMAKE_PREFIX_PATH="$PREFIX" >log 2>&1; then exit 1; fi
grep -q 'made in another folder' log
