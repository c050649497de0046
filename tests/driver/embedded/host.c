/* The same numbers on the host. */
#include <stdio.h>
#include <string.h>

#include <stdint.h>

void report(float x);
int run(void);

void report(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    printf("%08x\n", (unsigned)bits);
}

int main(void)
{
    return run();
}
