#!/bin/sh
# run.sh [N [SEED]]: checks the derivatives of N (200) random programs; ends with `N passed, N failed`. The compiler is that of $BUILD (build-gcc).
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/random/run.py --build "${BUILD:-build-gcc}" -n "${1:-200}" --seed "${2:-1}"
