# The program with PETSc of docs/large.md, on 1 and 3 processes.
# slow: 5
# inputs: runtime tests/mpi tests/petsc docs/large.md
. "$ROOT/tests/petsc/common.sh"
write_page "$ROOT/docs/large.md" petsc
"$TKC" line.tk -o line.c
# shellcheck disable=SC2086
mpicc -Wall -Wextra -Werror $SANITIZE -I"$INCLUDE" main.c line.c "$library/petsc/libtkc-petsc.a" "$library/mpi/libtkc-mpi.a" \
    "$library/libtkc.a" $petsc -pthread -lm -o line
for n in 1 3; do
    on $n ./line -pc_type none
    grep -q '^largest u 0.1405$' out
done
