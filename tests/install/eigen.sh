# tkc/eigen.hpp: fields bound to containers of Eigen, mapped, copied; the types that it refuses.
# inputs: build-files runtime tests/install/eigen c:tests/install/eigen/shapes.tk
pkg-config --exists eigen3 || { echo "no Eigen (libeigen3-dev)"; exit 77; }
cp -R "$ROOT/tests/install/eigen" .
cd eigen || exit
meson setup build >log 2>&1 && ninja -C build >>log 2>&1 || { cat log; exit 1; }
./build/shapes

tkc shapes.tk --real=f64 -o shapes.c
# The lines of a block, each with the message that refuses it.
while IFS='|' read -r line message; do
    printf '    %s;\n' "$line" >>refused.h
    echo "$message" >>messages
done <<'LINES'
tkc::bind(shapes_bind_x, m, m->x, floats, x_grad, x_dual)|the field and the container have different types of numbers
tkc::bind(shapes_bind_x, m, m->x, x)|bind takes a container for each plane
tkc::bind(shapes_bind_at, m, m->turn, x)|the function binds another type of field
tkc::bind(shapes_bind_a, m, m->a, columns, columns_grad)|matrices are row-major in tkc
tkc::bind(shapes_bind_image, m, m->image, image)|the elements are not one after the other
tkc::bind(shapes_bind_apart, m, m->apart, x)|a field with the layout soa
tkc::bind(shapes_bind_spread, m, m->spread, x)|a strided field
tkc::copy_in(m, m->mass, image)|a matrix fits a 2-D field of scalars
tkc::copy_in(m, m->a, x)|the items of the list do not have the shape
tkc::copy_in(m, m->x, vector)|a vector fits a field of scalars, or one element
tkc::copy_in(m, m->flags, vector)|the field and the container have different types of numbers
tkc::map(m->spread)|only a dense field has a map
LINES
# shellcheck disable=SC2046
echo 'tkc::bind(shapes_bind_x, m, m->x, floats, floats, floats);' >>refused.h
! "$CXX" -std=c++17 -DREFUSED -I. $(pkg-config --cflags tkc eigen3) -fsyntax-only main.cpp >out 2>&1
while read -r message; do
    grep -q "error: static assertion failed.*$message\|error: static_assert failed.*$message" out || { echo "no error: $message"; exit 1; }
done <messages
! grep -E "error: static.assert(ion)? failed( due to requirement '[^']*')?$" out || { echo "an error without a text"; exit 1; }
