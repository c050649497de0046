# Code of --no-runtime on a bare Cortex-M4 under QEMU: strict flags, bounded stack, libm only, and the numbers of the host.
for tool in arm-none-eabi-gcc qemu-system-arm; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
here=$ROOT/tests/driver/embedded
start=$ROOT/tests/install/trades/cortex # start-up code and linker script
printf '#include <math.h>\n' | arm-none-eabi-gcc -E - >/dev/null 2>&1 || { echo "there is no C library for arm-none-eabi-gcc"; exit 77; }

cp "$ROOT/tests/run/pendulum.tk" "$here/table.tk" .
for module in pendulum table; do
    $TKC $module.tk --no-runtime -o $module.c
    if grep -E '#include "tk|malloc|alloca|printf|_Thread_local' $module.c $module.h; then echo "$module.c needs more than libm"; exit 1; fi
done

warn="-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"
$CC -std=c11 -O2 $warn -I. pendulum.c table.c "$here/main.c" "$here/host.c" -lm -o host
./host >host.txt

arm="-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
arm-none-eabi-gcc -std=c11 -O2 $arm $warn -Wvla -Wstack-usage=512 -ffreestanding -c pendulum.c table.c
arm-none-eabi-gcc -std=c11 -O2 $arm -Wall -Wextra -Werror -I. -nostartfiles -T "$start/device.ld" "$here/main.c" "$start/startup.c" pendulum.o table.o \
    -lm -o device.elf
(
    ulimit -S -t 60
    exec qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native -kernel device.elf 2>device.txt </dev/null
)
python3 - <<'END'
import struct
host, device = ([struct.unpack(">f", bytes.fromhex(line))[0] for line in open(name).read().split()] for name in ("host.txt", "device.txt"))
assert len(host) == len(device) and len(host) > 20, (len(host), len(device))
for i, (a, b) in enumerate(zip(host, device)):
    assert abs(a - b) <= 2e-5 * (1.0 + abs(a)), f"number {i}: {a} on the host, {b} on the device"
END
