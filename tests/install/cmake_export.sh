# A library with a module, installed with install(EXPORT) by a project that takes this tree as FetchContent does; and EMBED of tkc_add_module.
# slow: 13
# inputs: build-files runtime
for tool in cmake ninja; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
unset LD_LIBRARY_PATH
check()
{
    "$@" >log 2>&1 || { echo "$*"; tail -n 60 log; exit 1; }
}
mkdir library program embedded
cat >library/sum.tk <<'END'
param N: i32 = 4;
field x: real[N] needs_grad;
field s: real needs_grad;
kernel run() {
    for i in x { s += x[i] * x[i]; }
}
END
cat >main.c <<'END'
#include "sum.h"
#include <stdio.h>
int main(void)
{
    sum *m = sum_create(NULL, NULL);
    if (!m)
        return 1;
    m->x.data[3] = 3;
    TK_TAPE(m, m->s) { sum_run(m); }
    printf("%g\n", (double)m->x.grad[3]);
    sum_destroy(m);
}
END
cat >library/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(sum LANGUAGES C)
include(FetchContent)
FetchContent_Declare(tkc GIT_REPOSITORY https://example.org/tkc.git GIT_TAG v0.1.0 SOURCE_SUBDIR runtime)
FetchContent_MakeAvailable(tkc)
add_library(sum STATIC)
tkc_add_module(sum sum.tk)
target_include_directories(sum INTERFACE $<INSTALL_INTERFACE:include>)
install(TARGETS sum EXPORT sum-targets ARCHIVE DESTINATION lib)
install(FILES $<TARGET_PROPERTY:sum,TKC_HEADERS> DESTINATION include)
install(EXPORT sum-targets NAMESPACE sum:: DESTINATION lib/cmake/sum)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/sum-config.cmake" "include(CMakeFindDependencyMacro)
find_dependency(tkc 0.1)
include(\"\${CMAKE_CURRENT_LIST_DIR}/sum-targets.cmake\")
")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sum-config.cmake" DESTINATION lib/cmake/sum)
END
check env CC="$CC" cmake -S library -B build -G Ninja -DFETCHCONTENT_SOURCE_DIR_TKC="$ROOT" -DTKC_EXECUTABLE="$TKC" -DCMAKE_INSTALL_PREFIX="$PWD/first"
check ninja -C build -j 2
check cmake --install build
mv first moved # nothing in it knows where it was
cat >program/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(program LANGUAGES C)
find_package(sum REQUIRED)
add_executable(program ../main.c)
target_link_libraries(program sum::sum)
END
check env CC="$CC" cmake -S program -B use -G Ninja -DCMAKE_PREFIX_PATH="$PWD/moved"
check ninja -C use
test "$(./use/program)" = 6
grep -qr "tkc::tkc" moved/lib/cmake/sum
! grep -rqF "$ROOT" moved/lib/cmake moved/lib*/*/cmake 2>/dev/null || exit 1

# EMBED: two modules of a target have one libtkc among its sources, and link none
cp library/sum.tk main.c embedded
sed 's/x\[i\] \* x\[i\]/2.0 * x[i]/' library/sum.tk >embedded/other.tk
cat >embedded/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(embedded LANGUAGES C)
find_package(tkc 0.1 REQUIRED)
add_executable(embedded main.c)
tkc_add_module(embedded sum.tk EMBED)
tkc_add_module(embedded other.tk EMBED REAL f64)
END
for generator in 'Unix Makefiles' 'Ninja Multi-Config'; do
    check env CC="$CC" CFLAGS='-Wall -Wextra -Werror' cmake -S embedded -B "in $generator" -G "$generator" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1
    check cmake --build "in $generator" --config Release -j 2
    program=$(find "in $generator" -name embedded -type f -perm -u+x)
    test "$("$program")" = 6
    ldd "$program" >needed
    ! grep -q libtkc needed || exit 1
    touch mark
    check cmake --build "in $generator" --config Release
    test -z "$(find "in $generator" -name '*.o' -newer mark)"
done

# refused TEXT LINE...
refused()
{
    said=$1
    shift
    printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(embedded LANGUAGES C)' 'find_package(tkc 0.1 REQUIRED)' 'add_executable(embedded main.c)' "$@" >embedded/CMakeLists.txt
    rm -rf wrong
    if CC="$CC" cmake -S embedded -B wrong -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX" >log 2>&1; then echo "not refused: $*"; exit 1; fi
    tr -s ' \n' ' ' <log | grep -qF "$said" || { echo "not said: $said"; cat log; exit 1; }
}
refused 'all of its modules or with none' 'tkc_add_module(embedded sum.tk EMBED)' 'tkc_add_module(embedded other.tk)'
refused 'all of its modules or with none' 'tkc_add_module(embedded sum.tk)' 'tkc_add_module(embedded other.tk EMBED)'
refused 'EMBED, and --no-runtime' 'tkc_add_module(embedded sum.tk EMBED OPTIONS --no-runtime)'
