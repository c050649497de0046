/* Time of a gradient through the steps of samples/diffmpm, with a plain tape and under budgets of bytes. */
#include <string.h>

#include "bench.h"
#include "diffmpm.h"

enum { SIDES = 4, WEIGHTS = 20 };

typedef struct data {
    diffmpm *m;
    diffmpm_Particle *first; /* the state in the beginning */
    int steps;
    size_t budget; /* of the first side under one; the others have a quarter and an eighth */
    float grad[SIDES][WEIGHTS];
    tk_tape_report report[SIDES];
    size_t plain; /* bytes of the plain tape */
} data;

BENCH_MODULE(diffmpm)

/* A box of 4 particles a cell, in five parts: no muscle, and one of each. */
static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    const int cells = (int)n[0], w = 13 * cells / 32, h = cells / 10;
    diffmpm_params p = diffmpm_defaults();
    p.CELLS = cells;
    p.N = 4 * w * h;
    p.DT = 0.128f / (float)cells;
    d->steps = (int)n[1];
    d->budget = (size_t)n[2];
    d->first = bench_zeros(p.N * (int64_t)sizeof *d->first);
    d->m = new_diffmpm(&p);
    if (!d->m)
        return NULL;
    for (int i = 0; i < p.N; i++) {
        d->first[i].x[0] = (5.0f + 0.5f * (float)(i / (2 * h))) / (float)cells;
        d->first[i].x[1] = (5.0f + 0.5f * (float)(i % (2 * h))) / (float)cells;
        d->first[i].F[0][0] = d->first[i].F[1][1] = 1;
        d->m->kind.data[i] = i * 5 / p.N - 1;
    }
    for (int i = 0; i < WEIGHTS; i++)
        d->m->weights.data[i] = 0.01f * (float)(i % 7 - 3);
    return d;
}

static void gradient(data *d, int side, size_t budget)
{
    diffmpm *m = d->m;
    memcpy(m->state.data, d->first, (size_t)m->params.N * sizeof *d->first);
    tk_tape_budget(bench_session(), budget);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < d->steps; t++)
            diffmpm_step(m, t);
        diffmpm_walk(m);
        d->plain = budget == 0 ? tk_tape_bytes(bench_session()) : d->plain;
    }
    memcpy(d->grad[side], m->weights.grad, sizeof d->grad[side]);
    d->report[side] = tk_tape_last_report(bench_session());
}

static void plain(void *p)
{
    gradient(p, 0, 0);
}

static void whole(void *p)
{
    gradient(p, 1, ((data *)p)->budget);
}

static void quarter(void *p)
{
    gradient(p, 2, ((data *)p)->budget / 4);
}

static void eighth(void *p)
{
    gradient(p, 3, ((data *)p)->budget / 8);
}

/* Gradients have the same bits. */
static double difference(void *p)
{
    const data *d = p;
    double most = 0.0;
    for (int k = 1; k < SIDES; k++) {
        const double x = bench_difference(d->grad[k], d->grad[0], WEIGHTS);
        most = x > most ? x : most;
    }
    return most;
}

static void print(const bench_row *r)
{
    const data *d = r->data;
    printf("| %s | none | %d | %.1f | 1.00 | 0.00 | %.2f | |\n", r->size->name, bench_options.threads,
           1e3 * bench_median(&r->times, 0), 1e-6 * (double)d->plain);
    for (int k = 1; k < SIDES; k++)
        printf("| %s | %.2f | %d | %.1f | %.2f | %.2f | %.2f | %.0e |\n", r->size->name,
               1e-6 * (double)d->report[k].budget, bench_options.threads, 1e3 * bench_median(&r->times, k),
               bench_ratio(&r->times, k, 0), (double)d->report[k].again / (double)d->report[k].launches,
               1e-6 * (double)d->report[k].bytes, r->difference);
}

int main(int argc, char **argv)
{
    static const bench_size sizes[] = {
        {"24 cells, 60 steps", {24, 60, 1000000}}, {"128 cells, 1024 steps", {128, 1024, 32 << 20}}, {0}};
    static const bench_case cases[] = {
        {"particles and grid", NULL, NULL, sizes, create, {plain, whole, quarter, eighth}, difference, NULL}, {0}};
    const bench_suite suite = {
        .about = "f32",
        .head = "| size | budget MB | threads | ms | time / plain tape | launches again | MB held | difference |\n"
                "|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_PROCESS_CPUTIME_ID, 3, 0.0},
        .threads = 1,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
