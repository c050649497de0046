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

# What only some tests of tests/install take, which are skipped without: other ways to build, and other machines.
# shellcheck disable=SC2034
INSTALL_PACKAGES='cmake ninja-build make gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user musl-tools git libsundials-dev gcc-mingw-w64-x86-64-posix wine wine64 python3-torch'

# What tests/run.sh --all alone takes: packages of Debian, a system to try them in, and the docs as a site.
# shellcheck disable=SC2034
PACKAGING_PACKAGES='dpkg-dev fakeroot debhelper lintian mmdebstrap python3-venv'

# What building tkc takes, and what its own runs of a C compiler take.
# shellcheck disable=SC2034
BUILD_PACKAGES='meson ninja-build flex bison gcc g++ libc6-dev clang libpopt-dev libjansson-dev pkg-config make'
