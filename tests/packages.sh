# shellcheck shell=sh
# Sourced: need PACKAGE... installs those Debian packages that are missing.
need()
{
    missing=
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
    done
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of words
    { $as_root apt-get -qq update && $as_root apt-get -qq install -y --no-install-recommends $missing; } >/dev/null || {
        echo "could not install$missing" >&2
        return 1
    }
}

# What building tkc takes, and what its own runs of a C compiler take.
# shellcheck disable=SC2034
BUILD_PACKAGES='meson ninja-build flex bison gcc g++ libc6-dev clang libpopt-dev libjansson-dev pkg-config make'

# What tests/run.sh takes.
# shellcheck disable=SC2034
TEST_PACKAGES='libclang-rt-dev libcmocka-dev libgif-dev libpng-dev cmake patch python3 python3-numpy python3-scipy python3-mpmath python3-gmpy2'

# What single tests of --all take: a test without its package is skipped, and says so. Samples, other ways to build, other machines, packages for Debian, the docs as a site.
# shellcheck disable=SC2034
MORE_PACKAGES='libcairo2-dev libsdl2-dev xvfb libxtst6 liblapacke-dev libsuitesparse-dev coinor-libipopt-dev gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user musl-tools git libsundials-dev libeigen3-dev libcolpack-dev gcc-mingw-w64-x86-64-posix wine wine64 python3-torch
dpkg-dev fakeroot debhelper lintian mmdebstrap python3-venv strace libopenmpi-dev openmpi-bin libpetsc-real-dev'
