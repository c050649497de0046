/* This machine's side: host.run FILE computes all numbers in f64, and compares them with the device's in FILE. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void report(float x);
int run(void);

static FILE *device;
static int compared, wrong;
static double worst;

void report(float x)
{
    unsigned bits;
    float y;
    if (fscanf(device, "%8x", &bits) != 1) {
        wrong++;
        return;
    }
    memcpy(&y, &bits, sizeof y);
    const double off = fabs((double)x - (double)y) / (1.0 + fabs((double)x));
    compared++;
    wrong += !(off <= 2e-5);
    worst = fmax(worst, off);
}

int main(int argc, char **argv)
{
    char more[2];
    device = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!device) {
        fprintf(stderr, "usage: host.run FILE\n");
        return 2;
    }
    const int status = run();
    wrong += fscanf(device, "%1s", more) == 1; /* the device has more to say */
    fclose(device);
    if (status != 0 || wrong)
        printf("%d numbers of the device are wrong\n", wrong);
    else
        printf("%d numbers of the device are those of the host\n", compared);
    fprintf(stderr, "they deviate by %.1e at most\n", worst);
    return status != 0 || wrong;
}
