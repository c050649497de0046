#!/bin/sh
# dockerfile.sh: follows runtime/packaging/Dockerfile without Docker, as root: each stage in a system of its own (mmdebstrap), its RUN lines by chroot. Then the
# packages' smoke test in the last one, and what the image is for, as a user who is not root. By hand: it takes minutes, and a gigabyte below TMPDIR.
# FROM, AS, ENV, COPY, RUN, WORKDIR and CMD are what it knows.
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "dockerfile.sh: only root can enter another system (chroot)" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "dockerfile.sh: no mmdebstrap" >&2; exit 2; }
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir "$top/context"
git archive HEAD | tar -x -C "$top/context"
# What the slim images of Debian leave out, of packages that are installed later, too.
slim=
for d in doc man info locale; do slim="$slim --dpkgopt=path-exclude=/usr/share/$d/*"; done
slim="$slim --dpkgopt=path-include=/usr/share/doc/*/copyright"
stage= env=
inside()
{
    # shellcheck disable=SC2086
    chroot "$top/$stage" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $env "$@"
}
grep -v '^#' runtime/packaging/Dockerfile | grep . >"$top/lines"
while read -r word rest; do
    echo "== $word $rest"
    case $word in
    FROM)
        stage=last env=
        case $rest in *" AS "*) stage=${rest##* AS } ;; esac
        case $rest in debian:bookworm-slim*) ;; *) echo "dockerfile.sh: FROM $rest" >&2; exit 2 ;; esac
        # shellcheck disable=SC2086
        [ -f "$top/slim.tar" ] || mmdebstrap --quiet --variant=minbase $slim bookworm "$top/slim.tar"
        mkdir "$top/$stage"
        tar --exclude='./dev/*' -C "$top/$stage" -xf "$top/slim.tar"
        cp /etc/resolv.conf "$top/$stage/etc/resolv.conf"
        for d in 'null 3' 'zero 5' 'random 8' 'urandom 9'; do mknod -m 666 "$top/$stage/dev/${d% *}" c 1 "${d#* }"; done
        ;;
    ENV) env="$env $rest" ;;
    RUN) inside sh -c "$rest" </dev/null ;;
    WORKDIR) mkdir -p "$top/$stage$rest" ;;
    COPY)
        case $rest in
        --from=*)
            from=${rest%% *} rest=${rest#* }
            mkdir -p "$top/$stage${rest#* }"
            # shellcheck disable=SC2086
            cp "$top/${from#--from=}"${rest% *} "$top/$stage${rest#* }"
            ;;
        ". "*) cp -R "$top/context" "$top/$stage${rest#. }" ;;
        *) echo "dockerfile.sh: COPY $rest" >&2; exit 2 ;;
        esac
        ;;
    CMD) inside tkc --help >/dev/null ;;
    *) echo "dockerfile.sh: $word" >&2; exit 2 ;;
    esac
done <"$top/lines"
cp runtime/packaging/debian/tests/smoke "$top/$stage/smoke"
inside sh /smoke

# docker run -u UID -v "$PWD:/work" IMAGE COMMAND
cat >"$top/$stage/work/kernel.tk" <<'END'
field x: real[3] needs_grad;
field U: real needs_grad;
kernel energy() { for i in x { U += x[i] ** 2; } }
END
cat >"$top/$stage/work/use.py" <<'END'
import kernel
m = kernel.Module()
m.x = [1, 2, 3]
with m.tape(m.U):
    m.energy()
assert m.x.grad.tolist() == [2, 4, 6]
END
chown -R 12345 "$top/$stage/work"
run()
{
    echo "== docker run: $*"
    chroot --userspec=12345:12345 "$top/$stage" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/ sh -c 'cd /work && exec "$@"' - "$@"
}
run tkc kernel.tk -o kernel.c
run sh -c 'cc -O3 -c kernel.c $(pkg-config --cflags tkc)'
run tkc -shared kernel.tk -o libk.so
run tkc --python kernel.tk
run python3 -B use.py
printf 'cmake_minimum_required(VERSION 3.21)\nproject(k LANGUAGES C)\nfind_package(tkc 0.1 REQUIRED)\nadd_library(k SHARED)\ntkc_add_module(k kernel.tk)\n' >"$top/$stage/work/CMakeLists.txt"
run cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release
run cmake --build build
echo "dockerfile.sh: the image's tkc works"
