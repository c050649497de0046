/* Start-up and output of a bare Cortex-M4 under QEMU (mps2-an386): a vector table, and semihosting for text and the end. Semihosting for AArch32 and
 * AArch64, Arm document DUI0471, operations SYS_WRITE0 (4) and SYS_EXIT (0x18). */
#include <stdint.h>
#include <string.h>

void report(float x);
int run(void);
void reset(void);

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;

static void host_call(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void report(float x)
{
    uint32_t bits;
    char line[10] = "00000000\n";
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; i++)
        line[i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15u];
    host_call(4, line);
}

static void fault(void)
{
    host_call(4, "fault\n");
    host_call(0x18, (const void *)0x20023); /* ADP_Stopped_RunTimeError */
    for (;;) {
    }
}

void reset(void)
{
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: the floating-point unit */
    __asm__ volatile("dsb\n\tisb");
    memcpy(&data_start, &data_load, (size_t)((char *)&data_end - (char *)&data_start));
    memset(&bss_start, 0, (size_t)((char *)&bss_end - (char *)&bss_start));
    const int status = run();
    host_call(0x18, (const void *)(status == 0 ? 0x20026 : 0x20023)); /* ADP_Stopped_ApplicationExit */
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))&stack_top, reset, fault, fault, fault, fault, fault};
