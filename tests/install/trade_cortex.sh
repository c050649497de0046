# trades/cortex: a control step on a bare Cortex-M4 under QEMU, from an empty folder: its own files, the commands of the page, the numbers of the host in f64; no malloc, its size.
# inputs: build-files runtime tests/install/trades tests/tools/steps.py
for tool in make arm-none-eabi-gcc qemu-system-arm; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <math.h>\n' | arm-none-eabi-gcc -E - >/dev/null 2>&1 || { echo "no C library for arm-none-eabi-gcc"; exit 77; }
unset LD_LIBRARY_PATH PKG_CONFIG_PATH # the program takes no libtkc
python3 "$ROOT/tests/tools/steps.py" "$ROOT/tests/install/trades/README.md" cortex >steps.sh
cp -R "$ROOT/tests/install/trades/cortex" empty
cd empty
export CC
sh ../steps.sh
if arm-none-eabi-nm device.elf | grep -E ' (malloc|calloc|_sbrk|pthread_|printf)'; then exit 1; fi
arm-none-eabi-size device.elf | awk 'NR == 2 { print "code", $1, "bytes, data", $2 + $3, "bytes"; exit !($1 < 16384 && $2 + $3 < 1024) }'

# the numbers are those of a control: gradients, a pole that stands, Riccati's gain
python3 - <<'END'
import struct
n = [struct.unpack(">f", bytes.fromhex(line))[0] for line in open("device.txt").read().split()]
assert len(n) == 102
assert max(map(abs, n[:20])) > 0.01, "gradients"
assert abs(n[99]) < 0.01, "the pole does not stand"
assert n[100] > 9.81 and n[101] > 0, "Riccati's gain"
END

# and a device that computes another one, fewer or more is found out
sed '7s/^....../3f0000/' device.txt >changed.txt
sed '$d' device.txt >fewer.txt
{ cat device.txt; echo 00000000; } >more.txt
for wrong in changed fewer more; do ! ./host.run $wrong.txt >said 2>&1 || exit 1; grep -q 'are wrong' said; done
