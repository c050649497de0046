# Where one process of MPI fails, all have a status within seconds, or MPI ends them.
# slow: 25
# inputs: runtime tests/mpi tests/run/host.h c:tests/mpi/stencil.tk
. "$ROOT/tests/mpi/common.sh"
build stencil fails --real=f64 --debug
for way in kernel nonfinite adjoint skips between clears drops opening ends leaves replay; do
    on 3 ./fails $way
done
# 124: none ended it before its time was over
! on 3 ./fails killed >/dev/null || exit 1
test "$status" -ne 124
