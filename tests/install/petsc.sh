# libtkc-petsc in the installed tree: pkg-config, and CMake's component PETSC.
# slow: 10
# inputs: build-files runtime docs/large.md tests/mpi tests/petsc
for tool in cmake mpirun mpicc; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
pkg-config --exists tkc-petsc || { echo "tkc was built without PETSc"; exit 77; }
TKC=$(command -v tkc)
library= INCLUDE=
. "$ROOT/tests/petsc/common.sh"
write_page "$ROOT/docs/large.md" petsc
sh -e run.sh 2>err || { cat err; exit 1; }
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(line LANGUAGES C)
find_package(tkc REQUIRED COMPONENTS PETSC)
add_executable(host main.c)
tkc_add_module(host line.tk)
target_link_libraries(host PRIVATE tkc::petsc)
END
rm line.c line.h
cmake -B build -DCMAKE_PREFIX_PATH="$PREFIX" >log || { cat log; exit 1; }
cmake --build build >log || { cat log; exit 1; }
on 2 build/host -pc_type none
cp out by_cmake
on 2 ./line -pc_type none
cmp out by_cmake
grep -q '^largest u ' out
# without PETSc's file for pkg-config
! PKG_CONFIG_LIBDIR=/nowhere PKG_CONFIG_PATH= cmake -B other -DCMAKE_PREFIX_PATH="$PREFIX" >log 2>&1 || exit 1
grep -q "no MPI or PETSc for C" log
