# shellcheck shell=sh
# Sourced. python_with MODULE...: sets PY to a Python that has these modules, the one of the PATH or Debian's; else skips the test, and says what to install.
python_with()
{
    for PY in python3 /usr/bin/python3; do
        ! "$PY" -W ignore -c "import $(echo "$*" | tr ' ' ,)" 2>err || return 0
    done
    for module in "$@"; do
        for PY in python3 /usr/bin/python3; do
            ! "$PY" -W ignore -c "import $module" 2>err || continue 2
        done
        case $module in
        numpy) echo "no NumPy (python3-numpy)" ;;
        scipy.*) echo "no SciPy (python3-scipy)" ;;
        torch) echo "no PyTorch (python3-torch)" ;;
        jax) echo "no JAX (python3 -m pip install jax)" ;;
        *) echo "no module $module ($(echo "python3 -m pip install $module" | tr _ -))" ;;
        esac
        exit 77
    done
    echo "no Python has all of $*"
    exit 77
}
