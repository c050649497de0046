#!/bin/sh
# Times Jacobians and Hessians of tkc beside CasADi's generated C, with the same compiler and flags, by turns. Wants PyPI, once.
#   sh tests/bench/peers/casadi.sh BUILD [--check] [--size] [--compiler gcc|clang]...
# --check: results alone; --size: bytes of code alone, where Debian's gcc-arm-none-eabi is. A ratio below 1 means that tkc is faster than the faster of CasADi's two forms; it is the range of five runs. Ends with status 77 where
# there is no environment and PyPI does not give one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
usage() { sed -n 3,5p "$0" >&2; exit 2; }
[ $# -gt 0 ] && [ -x "$1/compiler/tkc" ] || usage
build=$(cd "$1" && pwd)
shift
compilers='' check='' size=''
while [ $# -gt 0 ]; do
    case $1 in
    --check) check=$1 ;;
    --size) size=$1 ;;
    --compiler) [ $# -gt 1 ] || usage; compilers="$compilers $2"; shift ;;
    *) usage ;;
    esac
    shift
done
packages="casadi==3.8.2"
venv=${CASADI_VENV:-$build/peers/casadi}
if [ -z "${CASADI_VENV-}" ] && { [ ! -e "$venv/ready" ] || [ "$(cat "$venv/ready")" != "$packages" ]; }; then
    rm -rf "$venv"
    mkdir -p "$venv"
    if ! { "${PYTHON:-python3}" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 "$packages"; } >"$venv/log" 2>&1; then
        cat "$venv/log" >&2
        echo "casadi: no environment with $packages; skipped" >&2
        exit 77
    fi
    echo "$packages" >"$venv/ready"
fi
out=$build/peers/casadi-c
mkdir -p "$out"
"$venv/bin/python" "$here/casadi/generate.py" "$out" >"$out/instructions"
"$build/compiler/tkc" --real=f64 --no-runtime "$here/casadi/models.tk" -o "$out/models.c"
[ -n "$check$size" ] || printf '| matrix | compiler | tkc, ns | CasADi, ns | tkc / CasADi |\n| --- | --- | --- | --- | --- |\n'
for cc in ${compilers:-gcc clang}; do
    [ -z "$size" ] || break
    for native in '' -march=native; do
        made="$out/turns-$(basename "$cc")$native"
        # shellcheck disable=SC2086
        "$cc" -std=gnu11 -O2 $native -fno-math-errno -fno-trapping-math -I "$out" -I "$root/runtime/include" -I "$root/tests/bench/lib" "$here/casadi/turns.c" \
            "$root/tests/bench/lib/time.c" "$out"/models.c "$out"/*_casadi.c -lm -o "$made"
        if [ -n "$check" ]; then
            "$made" --check
        else
            "$made" "$(basename "$cc") -O2$([ -z "$native" ] || echo " $native")"
        fi
    done
done

# ---- bytes of code and constants on a Cortex-M4: of what the linker keeps for one function, without the C library ----
arm=${ARM_CC:-arm-none-eabi-gcc}
[ -z "$check" ] || exit 0
if ! command -v "$arm" >/dev/null; then
    echo "casadi: no $arm; sizes skipped" >&2
    exit 0
fi
for file in "$out"/models.c "$out"/*_casadi.c; do
    "$arm" -mcpu=cortex-m4 -mthumb -Os -ffunction-sections -fdata-sections -I "$root/runtime/include" -c "$file" -o "${file%.c}-arm.o"
done
bytes()
{
    "$arm" -mcpu=cortex-m4 -mthumb -nostdlib "-Wl,--gc-sections,--unresolved-symbols=ignore-all,-e,$2" "$out/$1-arm.o" -o "$out/linked"
    "${arm%gcc}size" "$out/linked" | awk 'NR == 2 { print $1 + $2 }'
}
printf '\n| Cortex-M4, -Os | tkc, bytes | CasADi, bytes | tkc / CasADi |\n| --- | --- | --- | --- |\n'
for matrix in cart_jac quad_jac arm_jac cart_hess quad_hess; do
    ours=$(bytes models "models_$matrix")
    for form in sparse dense; do
        echo "$matrix $ours $(bytes "${matrix%_*}_casadi" "${matrix}_$form")"
    done | awk 'NR == 1 || $3 < least { least = $3 } END { printf "| %s | %d | %d | %.2f |\n", $1, $2, least, $2 / least }'
done
