# For tests/driver/petsc*.sh: tests/mpi/common.sh with PETSc.
. "$ROOT/tests/mpi/common.sh"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
petsc_built() { test -z "$library" && pkg-config --exists tkc-petsc || test -e "$library/petsc/libtkc-petsc.a"; }
petsc_built || { echo "tkc was built without PETSc"; exit 77; }
petsc=$(pkg-config --cflags --libs PETSc 2>/dev/null || pkg-config --cflags --libs petsc)
petsc=$(printf '%s' "$petsc" | sed 's/-I/-isystem /g; s/-D_FORTIFY_SOURCE=[0-9]*//g')

build()
{
    module=$1 host=$2
    shift 2
    "$TKC" "$ROOT/tests/petsc/$module.tk" "$@" -o "$module.c"
    # shellcheck disable=SC2086
    mpicc -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror ${SANITIZE-} -I. -I"$ROOT/tests/run" -I"$ROOT/tests/petsc" -I"$INCLUDE" \
        "$ROOT/tests/petsc/$host.c" "$module.c" "$library/petsc/libtkc-petsc.a" "$library/mpi/libtkc-mpi.a" "$library/libtkc.a" \
        $petsc -pthread -lm -o "$host"
}
