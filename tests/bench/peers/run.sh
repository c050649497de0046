#!/bin/sh
# Times programs of tkc beside the same ones in JAX and Taichi, and checks that losses and gradients are equal. Wants PyPI, once.
#   sh tests/bench/peers/run.sh BUILD [--compiler gcc|clang] [--check] [--rounds N] [--threads 1,2] [NAME...]
# --check: results alone, at tiny sizes. Ends with status 77 where there is no environment and PyPI does not give one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] && [ -x "$1/compiler/tkc" ] || { sed -n 3,4p "$0" >&2; exit 2; }
packages="jax[cpu]==0.10.2 taichi==1.7.4"
venv=$(cd "$1" && pwd)/peers/venv
if [ ! -e "$venv/ready" ] || [ "$(cat "$venv/ready")" != "$packages" ]; then
    rm -rf "$venv"
    mkdir -p "$venv"
    # shellcheck disable=SC2086
    if ! { "${PYTHON:-python3}" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 $packages; } >"$venv/log" 2>&1; then
        cat "$venv/log" >&2
        echo "peers: no environment with $packages, which PyPI has for Python 3.11 to 3.13; skipped" >&2
        exit 77
    fi
    echo "$packages" >"$venv/ready"
fi
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$here/run.py" "$@"
