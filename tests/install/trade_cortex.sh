# trades/cortex: a control step on a bare Cortex-M4 under QEMU, from an empty folder: the numbers of the host in f64, no malloc, its size.
for tool in make arm-none-eabi-gcc qemu-system-arm; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
printf '#include <math.h>\n' | arm-none-eabi-gcc -E - >/dev/null 2>&1 || { echo "no C library for arm-none-eabi-gcc"; exit 77; }
cp "$ROOT/tests/install/trades/cortex/"* "$ROOT/tests/driver/embedded/device.c" "$ROOT/tests/driver/embedded/device.ld" "$ROOT/tests/driver/embedded/host.c" .
make check CC="$CC" WARNINGS='-Wall -Wextra -Wconversion -Wdouble-promotion -Wvla -Wstack-usage=512 -Werror' >log 2>&1 || { tail -n 40 log; exit 1; }
if arm-none-eabi-nm device.elf | grep -E ' (malloc|calloc|_sbrk|pthread_|printf)'; then exit 1; fi
arm-none-eabi-size device.elf | awk 'NR == 2 { print "code", $1, "bytes, data", $2 + $3, "bytes"; exit !($1 < 16384 && $2 + $3 < 1024) }'
python3 - <<'END'
import struct
host, device = ([struct.unpack(">f", bytes.fromhex(line))[0] for line in open(name).read().split()] for name in ("host.txt", "device.txt"))
assert len(host) == len(device) == 102
for i, (a, b) in enumerate(zip(host, device)):
    assert abs(a - b) <= 2e-5 * (1.0 + abs(a)), f"number {i}: {a} on the host, {b} on the device"
assert max(map(abs, host[:20])) > 0.01, "gradients"
assert abs(device[99]) < 0.01, "the pole does not stand"
assert device[100] > 9.81 and device[101] > 0, "Riccati's gain"
END
