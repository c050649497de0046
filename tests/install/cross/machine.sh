# shellcheck shell=sh
# Sourced: writes machine.ini, a cross file of Meson's, and machine.cmake, a toolchain file of CMake's. $run runs a program of that machine.
# shellcheck disable=SC2034
run='qemu-aarch64 -L /usr/aarch64-linux-gnu'
cat >machine.ini <<'END'
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
cat >machine.cmake <<'END'
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
END
