# libtkc-mpi in the installed tree: pkg-config, and CMake's component MPI; samples/ocean by make, with MPI and without.
# slow: 20
# inputs: build-files runtime docs/large.md tests/mpi samples/common samples/ocean c:samples/ocean/*.tk
for tool in cmake mpirun mpicc; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
pkg-config --exists tkc-mpi || { echo "tkc was built without MPI"; exit 77; }
TKC=$(command -v tkc)
library= INCLUDE=
. "$ROOT/tests/mpi/common.sh"
write_page "$ROOT/docs/large.md" mpi
sh -e run.sh 2>err || { cat err; exit 1; }
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(heat LANGUAGES C)
find_package(tkc REQUIRED COMPONENTS MPI)
add_executable(host main.c)
tkc_add_module(host heat.tk)
target_link_libraries(host PRIVATE tkc::mpi)
END
rm heat.c heat.h
cmake -B build -DCMAKE_PREFIX_PATH="$PREFIX" >log || { cat log; exit 1; }
cmake --build build >log || { cat log; exit 1; }
on 2 build/host
cp out by_cmake
on 2 ./heat
cmp out by_cmake
grep -q '^loss ' out
sed -i 's/COMPONENTS MPI/COMPONENTS GRAPHICS/' CMakeLists.txt
! cmake -B other -DCMAKE_PREFIX_PATH="$PREFIX" >log 2>&1 || exit 1
grep -q "no component but MPI" log

pkg-config --exists cairo popt || exit 0
cp -R "$ROOT/samples/common" "$ROOT/samples/ocean" .
cd ocean || exit
make clean >log
make CC="$CC" CFLAGS=-Werror >log 2>&1 || { cat log; exit 1; }
on 2 ./ocean --size=16 --steps=10 --iterations=0 --no-picture --traffic
grep -q '^traffic: primal 11 messages, ' out || { cat out; exit 1; }
make clean >log
make CC="$CC" CFLAGS=-Werror MPI= >log 2>&1 || { cat log; exit 1; }
./ocean --size=16 --steps=10 --iterations=0 --no-picture --traffic >out
grep -q '^traffic: none, in one process without MPI$' out
