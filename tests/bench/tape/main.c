/* What it costs a tape to hold what launches write against what earlier adjoints need: a tape of a thousand small
 * launches with the parts that the compiler tells, and with descriptors that tell none. The two take turns; the ratio
 * is the median of those of neighbouring runs, in time of the thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tape_checks.h"
#include <tkc/tkc_gen.h>

enum { STEPS = 1000, RUNS = 201, KERNELS = 4, TOTAL = 3 };
static const char *const names[KERNELS] = {"steps", "stencil", "particles", "total"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, compare);
    return v[RUNS / 2];
}

static tk_kernel kernel_named(const tape_checks *m, const char *name)
{
    const tk_kernel *k = m->tk.desc->kernels;
    while (strcmp(k->name, name) != 0)
        k++;
    return *k;
}

static tk_kernel unchecked(tk_kernel k)
{
#ifndef NO_PARTS /* a library from before there were any */
    k.nparts = 0;
#endif
    return k;
}

static tape_checks *create(tk_session *s, int kernel, int n)
{
    tape_checks_params p = tape_checks_defaults();
    *(kernel == 0 ? &p.NX : kernel == 1 ? &p.NU : &p.NP) = n;
    tape_checks *m = tape_checks_create(s, &p);
    for (int i = 0; m && i < n; i++) {
        if (kernel == 0)
            m->w.data[i] = 1.0f + 0.001f * (float)i, m->x.data[i] = 0.1f + 0.01f * (float)(i % 50);
        else if (kernel == 1)
            m->u.data[i] = 0.5f + 0.001f * (float)(i % 70);
        else
            m->p.data[i][0] = (float)i + 0.3f, m->p.data[i][1] = 0.1f;
    }
    return m;
}

static double tape(tape_checks *m, const tk_kernel *k, const tk_kernel *total)
{
    memset(m->grid.data, 0, tk_field_bytes(m->grid.field));
    const double begin = now();
    tk_tape_begin(m->loss.field, 0);
    for (int t = 0; t < STEPS; t++)
        tk_launch(&m->tk, k, &t);
    const int last = STEPS;
    tk_launch(&m->tk, total, &last);
    tk_tape_end(m->loss.field);
    return now() - begin;
}

static int measure(tk_session *s, int kernel, int n)
{
    double t[2][RUNS], ratio[RUNS];
    tape_checks *m = create(s, kernel, n);
    if (!m)
        return 1;
    const tk_kernel k[2] = {kernel_named(m, names[kernel]), unchecked(kernel_named(m, names[kernel]))};
    const tk_kernel total[2] = {kernel_named(m, names[TOTAL]), unchecked(kernel_named(m, names[TOTAL]))};
    for (int r = 0; r < RUNS; r++) {
        for (int side = 0; side < 2; side++)
            t[(r + side) % 2][r] = tape(m, &k[(r + side) % 2], &total[(r + side) % 2]);
        ratio[r] = t[0][r] / t[1][r];
    }
    printf("| %s | %d | %.0f | %.0f | %.2f %% |\n", names[kernel], n, 1e9 * median(t[0]) / STEPS,
           1e9 * median(t[1]) / STEPS, 100 * (median(ratio) - 1));
    const int failed = tape_checks_status(m) != TK_OK;
    if (failed)
        fprintf(stderr, "%s\n", tape_checks_error(m));
    tape_checks_destroy(m);
    return failed;
}

int main(void)
{
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    tk_session *s = tk_session_create(&o);
    int failed = !s;
    printf("| kernel | elements | ns a launch, with its adjoint | without checks | checks cost "
           "|\n|---|---|---|---|---|\n");
    for (int kernel = 0; kernel < TOTAL && s; kernel++)
        for (int n = 64; n <= 4096; n *= 4)
            failed |= measure(s, kernel, n);
    tk_session_destroy(s);
    return failed;
}
