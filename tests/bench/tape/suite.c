/* The time of a tape's checks, which compare the writes of a launch with the reads of earlier adjoints: a tape of a
 * thousand small launches with the parts from the compiler, and with descriptors without parts. */
#include <string.h>

#include "bench.h"
#include "tape_checks.h"
#include <tkc/tkc_gen.h>

enum { STEPS = 1000 };
static const char steps[] = "steps", stencil[] = "stencil", particles[] = "particles";

typedef struct data {
    tape_checks *m;
    tk_kernel step[2], total[2]; /* with checks, and without */
} data;

BENCH_MODULE(tape_checks)

static void find_kernel(const tape_checks *m, const char *name, tk_kernel found[2])
{
    const tk_kernel *k = m->tk.desc->kernels;
    while (strcmp(k->name, name) != 0)
        k++;
    found[0] = found[1] = *k;
    found[1].ncompared = 0;
}

static void *create(const char *kernel, int n)
{
    data *d = bench_zeros(sizeof *d);
    tape_checks_params p = tape_checks_defaults();
    *(kernel == steps ? &p.NX : kernel == stencil ? &p.NU : &p.NP) = n;
    tape_checks *m = d->m = new_tape_checks(&p);
    for (int i = 0; m && i < n; i++) {
        if (kernel == steps)
            m->w.data[i] = 1.0f + 0.001f * (float)i, m->x.data[i] = 0.1f + 0.01f * (float)(i % 50);
        else if (kernel == stencil)
            m->u.data[i] = 0.5f + 0.001f * (float)(i % 70);
        else
            m->p.data[i][0] = (float)i + 0.3f, m->p.data[i][1] = 0.1f;
    }
    if (!m)
        return NULL;
    find_kernel(m, kernel, d->step);
    find_kernel(m, "total", d->total);
    return d;
}

static void *create_steps(const int64_t *n)
{
    return create(steps, (int)n[0]);
}

static void *create_stencil(const int64_t *n)
{
    return create(stencil, (int)n[0]);
}

static void *create_particles(const int64_t *n)
{
    return create(particles, (int)n[0]);
}

static void clear_grid(void *p)
{
    tape_checks *m = ((data *)p)->m;
    memset(m->grid.data, 0, tk_field_bytes(m->grid.field));
}

static void tape(data *d, int side)
{
    tk_tape_begin(d->m->loss.field, 0);
    for (int t = 0; t < STEPS; t++)
        tk_launch(&d->m->tk, &d->step[side], &t);
    const int last = STEPS;
    tk_launch(&d->m->tk, &d->total[side], &last);
    tk_tape_end(d->m->loss.field);
}

static void checked(void *p)
{
    tape(p, 0);
}

static void unchecked(void *p)
{
    tape(p, 1);
}

static void print(const bench_row *r)
{
    printf("| %s | %s | %.0f | %.0f | %.2f %% |\n", r->of->name, r->size->name,
           1e9 * bench_median(&r->times, 0) / STEPS, 1e9 * bench_median(&r->times, 1) / STEPS,
           100 * (bench_ratio(&r->times, 0, 1) - 1));
}

int main(int argc, char **argv)
{
    static const bench_size sizes[] = {{"16", {16}},     {"64", {64}},     {"256", {256}},
                                       {"1024", {1024}}, {"4096", {4096}}, {0}};
    static const bench_case cases[] = {
        {steps, NULL, NULL, sizes, create_steps, {checked, unchecked}, NULL, clear_grid},
        {stencil, NULL, NULL, sizes, create_stencil, {checked, unchecked}, NULL, clear_grid},
        {particles, NULL, NULL, sizes, create_particles, {checked, unchecked}, NULL, clear_grid},
        {0}};
    const bench_suite suite = {
        .about = "f32",
        .head = "| kernel | elements | ns a launch, with its adjoint | without checks | checks cost |\n"
                "|---|---|---|---|---|",
        .watch = {CLOCK_THREAD_CPUTIME_ID, 201, 0.0},
        .threads = 1,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
