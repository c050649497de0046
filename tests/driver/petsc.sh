# libtkc-petsc on 1 to 4 processes: halos against PETSc's exchanges, Newton-Krylov against its differences, L-BFGS against known answers; misuse.
# slow: 40
# inputs: runtime tests/mpi tests/petsc tests/run/host.h c:tests/petsc/bratu.tk c:tests/petsc/grids.tk c:tests/petsc/inverse.tk
. "$ROOT/tests/petsc/common.sh"
build bratu newton --real=f64
build bratu misuse --real=f64
build grids grids --real=f64
build grids forest --real=f64
build inverse inverse --real=f64
for n in 1 2 3 4; do
    on $n ./newton
    on $n ./misuse
    on $n ./grids
    on $n ./forest
    on $n ./inverse
done
