# tkc/colpack.hpp: computed matrices by colours of ColPack have the values that they have by libtkc's colours.
# inputs: build-files runtime tests/install/colpack c:tests/install/colpack/grid.tk
[ -e /usr/include/ColPack/ColPackHeaders.h ] || { echo "no ColPack (libcolpack-dev)"; exit 77; }
cp -R "$ROOT/tests/install/colpack" .
cd colpack || exit
tkc grid.tk -o grid.c
# shellcheck disable=SC2046
$CC -std=c11 -O1 $SANITIZE -c grid.c $(pkg-config --cflags tkc) -o grid.o
# shellcheck disable=SC2046
"$CXX" -std=c++11 -O1 $SANITIZE -Wall -Wextra main.cpp grid.o $(pkg-config --cflags --libs tkc) -lColPack -fopenmp -o main
./main
