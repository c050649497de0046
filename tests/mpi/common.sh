# For tests/driver/mpi*.sh: `build MODULE HOST FLAGS...` makes a program; `on N PROGRAM ...` runs N processes of it.
command -v mpirun >/dev/null && command -v mpicc >/dev/null || { echo "no mpirun or mpicc"; exit 77; }
library=${library-$(dirname "$TKC")/../runtime} # empty: what is installed
test -z "$library" || test -e "$library/mpi/libtkc-mpi.a" || { echo "tkc was built without MPI"; exit 77; }
case $(mpirun --version) in
*"Open MPI"* | *OpenRTE*) mpi_flags="--allow-run-as-root --oversubscribe --bind-to none" ;;
*) mpi_flags= ;;
esac
# what MPI itself never frees is no leak
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_CC="$CC" MPICH_CC="$CC" TKC_PROFILE= ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"

build()
{
    module=$1 host=$2
    shift 2
    "$TKC" "$ROOT/tests/mpi/$module.tk" "$@" -o "$module.c"
    # shellcheck disable=SC2086
    mpicc -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror ${SANITIZE-} -I. -I"$ROOT/tests/run" -I"$INCLUDE" \
        "$ROOT/tests/mpi/$host.c" "$module.c" "$library/mpi/libtkc-mpi.a" "$library/libtkc.a" -pthread -lm -o "$host"
}

# write_page PAGE KIND: files of the page's example of a kind, `mpi` or `petsc`, and its commands but for mpirun, in run.sh.
write_page()
{
    python3 - "$1" "$2" <<'END'
import re, sys
page = open(sys.argv[1]).read()
for name, text in re.findall(rf"<!-- {sys.argv[2]} file: (\S+) -->\n```\w+\n(.*?)```", page, re.S):
    open(name, "w").write(text)
commands = re.search(rf"<!-- {sys.argv[2]} run -->\n```sh\n(.*?)```", page, re.S).group(1)
open("run.sh", "w").write("".join(line for line in commands.splitlines(True) if not line.startswith("mpirun")))
END
}

# shellcheck disable=SC2086
on()
{
    timeout 300 mpirun $mpi_flags -n "$@" >out 2>&1 || { status=$?; cat out; echo "mpirun -n $*: status $status"; return 1; }
}
