# A budget on every process of MPI: the bits of a plain tape, and one schedule.
# slow: 15
# inputs: runtime tests/mpi tests/run/host.h c:tests/mpi/stencil.tk
. "$ROOT/tests/mpi/common.sh"
build stencil budget --real=f64
for n in 1 2 3 4; do
    on $n ./budget
done
