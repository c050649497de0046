# The program of docs/large.md, on 1 and 3 processes.
# slow: 5
# inputs: runtime tests/mpi docs/large.md
. "$ROOT/tests/mpi/common.sh"
write_page "$ROOT/docs/large.md" mpi
"$TKC" heat.tk -o heat.c
# shellcheck disable=SC2086
mpicc -Wall -Wextra -Werror $SANITIZE -I"$INCLUDE" main.c heat.c "$library/mpi/libtkc-mpi.a" "$library/libtkc.a" -pthread -lm -o heat
on 1 ./heat
grep -q "^loss 167.6143, gradient 8.5875$" out
on 3 ./heat
grep -q "^loss 4452.5525, gradient 21.7713$" out
