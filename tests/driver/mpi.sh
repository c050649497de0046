# libtkc-mpi on 1 to 4 processes: gradients of one process (a grid, triangles, particles), fields of all types, wrong arguments, checks of gradients.
# slow: 30
# inputs: runtime tests/mpi tests/run/host.h c:tests/mpi/stencil.tk c:tests/mpi/kinds.tk c:tests/mpi/mesh.tk
. "$ROOT/tests/mpi/common.sh"
build stencil stencil --real=f64
build stencil check --real=f64
build kinds kinds
build mesh mesh --real=f64
for n in 1 2 3 4; do
    on $n ./stencil
    on $n ./check
    on $n ./kinds
    on $n ./mesh
done
