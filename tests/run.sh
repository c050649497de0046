#!/bin/sh
# run.sh [quick | --all] [--afresh] [OPTION...] [WORD...]: installs missing packages, builds tkc, runs the tests, and ends with `N passed, N failed, N skipped`.
# quick: the tests that a change can touch. Without it, gcc's tests on a fresh machine. --all: all tests, with gcc, clang and sanitizers. docs/inside/testing.md has the rest.
set -u
plan=fresh
case ${1-} in
quick) plan=quick; shift ;;
--all) plan=all; shift ;;
esac
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh
# shellcheck disable=SC2086
need $BUILD_PACKAGES $TEST_PACKAGES || exit 1
# shellcheck disable=SC2086
[ $plan != all ] || need $MORE_PACKAGES || for p in $MORE_PACKAGES; do need "$p"; done
exec python3 tests/runtests.py --plan $plan "$@"
