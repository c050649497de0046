# Where one process fails in a solver of PETSc, all have an error and none waits, or MPI ends them.
# slow: 25
# inputs: runtime tests/mpi tests/petsc tests/run/host.h c:tests/petsc/bratu.tk
. "$ROOT/tests/petsc/common.sh"
build bratu fails --real=f64
for way in kernel product adjoint skips leaves before; do
    on 3 ./fails $way
done
# 124: none ended it before its time was over
! on 3 ./fails killed >/dev/null || exit 1
test "$status" -ne 124
