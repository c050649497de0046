/* Runs every kernel of a module and its derivatives with 1, 2, 4 and 7 threads and compares all planes of all fields: bit for bit; in sessions that are not
 * deterministic only to rounding where --explain-adjoint speaks of a scatter (functions listed in PARCHECK_SCATTERS, each between two spaces). At each size:
 *   - the library's own threads and a pool of the host's,
 *   - plain and deterministic sessions, which agree to rounding,
 *   - reverse against forward, <J v, w> = <v, J^T w>, with 7 threads.
 * Prints how the parallel loops of the last size ran, seen from the pool: in chunks, or in private copies, as many as threads.
 * With --race, which is for the thread sanitizer, each is only launched once, with 4 threads: it sees what two of them do in any order, and takes ten times as long.
 * usage: parcheck [--race] SIZE...
 * Linked with a stub that defines parcheck_create.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkc/tkc_gen.h>

#include "distinct.h"

tk_module *parcheck_create(tk_session *s, long size);
void parcheck_destroy(tk_module *m);

enum { MAX_ARGS = 4096, MAX_THREADS = 7, MAX_LOOPS = 64 };

static int failures;
static bool race;

/* ---- the pool ---- */

typedef struct pool {
    int threads;
    int64_t loops[MAX_LOOPS]; /* what each parallel loop of a launch was made of */
    int nloops;
} pool;

typedef struct loop {
    atomic_llong next;
    int64_t n;
    tk_task_fn fn;
    const void *args;
} loop;

static void *work(void *p)
{
    loop *l = p;
    for (int64_t k; (k = atomic_fetch_add(&l->next, 1)) < l->n;)
        l->fn(l->args, k, k + 1);
    return NULL;
}

static void run_pool(void *user, int64_t n, tk_task_fn fn, const void *args)
{
    pool *p = user;
    loop l = {.n = n, .fn = fn, .args = args};
    pthread_t thread[MAX_THREADS];
    if (p->nloops < MAX_LOOPS)
        p->loops[p->nloops++] = n;
    for (int t = 1; t < p->threads; t++)
        if (pthread_create(&thread[t], NULL, work, &l) != 0)
            exit(2);
    work(&l);
    for (int t = 1; t < p->threads; t++)
        pthread_join(thread[t], NULL);
}

/* ---- state ---- */

static void *new(size_t n)
{
    void *p = calloc(n ? n : 1, 1);
    if (!p)
        exit(2);
    return p;
}

static int64_t components(const tk_field *f)
{
    return f->count * f->desc->ncomp;
}

static bool is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

static double get(const tk_field *f, const void *plane, int64_t i)
{
    return f->desc->elem == TK_F32 ? (double)((const float *)plane)[i] : ((const double *)plane)[i];
}

/* Of both signs on the derivative planes. */
static void fill(tk_module *m)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        for (int p = 0; p < 4; p++) {
            if (!f->plane[p])
                continue;
            if (!is_float(f)) {
                const size_t size = f->count > 0 ? tk_field_bytes(f) / (size_t)f->count : 0;
                memset(f->plane[p], 0, tk_field_bytes(f));
                for (int64_t j = 0; is_distinct(f) && j < f->count; j++)
                    memcpy((unsigned char *)f->plane[p] + (size_t)j * size, &(int64_t){distinct_number(f, j)}, size); /* little-endian */
                continue;
            }
            uint64_t seed = (uint64_t)(i * 4 + p + 1) * 0x9E3779B97F4A7C15u;
            for (int64_t j = 0; j < components(f); j++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                const double u = (double)(seed >> 11) / 9007199254740992.0, v = p == TK_DATA ? 0.3 + 0.9 * u : 2.0 * u - 1.0;
                if (f->desc->elem == TK_F32)
                    ((float *)f->plane[p])[j] = (float)v;
                else
                    ((double *)f->plane[p])[j] = v;
            }
        }
    }
}

typedef struct snapshot {
    void **at; /* [field * 4 + plane] */
} snapshot;

static snapshot take(const tk_module *m)
{
    snapshot s = {new((size_t)m->desc->nfields * 4 * sizeof(void *))};
    for (int k = 0; k < m->desc->nfields * 4; k++) {
        const tk_field *f = &m->fields[k / 4];
        if (!f->plane[k % 4])
            continue;
        s.at[k] = new(tk_field_bytes(f));
        memcpy(s.at[k], f->plane[k % 4], tk_field_bytes(f));
    }
    return s;
}

static void restore(tk_module *m, const snapshot *s)
{
    for (int k = 0; k < m->desc->nfields * 4; k++)
        if (s->at[k])
            memcpy(m->fields[k / 4].plane[k % 4], s->at[k], tk_field_bytes(&m->fields[k / 4]));
}

static void drop(const tk_module *m, snapshot *s)
{
    for (int k = 0; k < m->desc->nfields * 4; k++)
        free(s->at[k]);
    free(s->at);
}

/* ---- runs ---- */

typedef enum mode { RUN, GRAD, JVP, HVP } mode;

static const char *const mode_name[] = {"run", "grad", "jvp", "hvp"};

typedef struct run {
    tk_module *m;
    const tk_kernel *k;
    mode mode;
    long size;
    const snapshot *before; /* what each launch starts from */
} run;

static bool has(const tk_kernel *k, mode mode)
{
    return mode == RUN || (mode == GRAD && k->grad) || (mode == JVP && k->jvp) || (mode == HVP && k->hvp);
}

static void launch(const run *r)
{
    static const unsigned char args[MAX_ARGS];
    static unsigned char out[MAX_ARGS];
    restore(r->m, r->before);
    const tk_status st = r->mode == RUN    ? tk_launch(r->m, r->k, args)
                         : r->mode == GRAD ? tk_launch_grad(r->m, r->k, args, out)
                         : r->mode == JVP  ? tk_launch_jvp(r->m, r->k, args)
                                           : tk_launch_hvp(r->m, r->k, args, out);
    if (st == TK_OK)
        return;
    printf("%s %s, size %ld: %s: %s\n", r->k->name, mode_name[r->mode], r->size, tk_status_name(st), tk_session_error(r->m->session));
    exit(1);
}

static void compare(const run *r, const snapshot *want, bool exact, const char *what, int threads)
{
    for (int k = 0; k < r->m->desc->nfields * 4; k++) {
        const tk_field *f = &r->m->fields[k / 4];
        const void *got = f->plane[k % 4];
        if (!got || memcmp(got, want->at[k], tk_field_bytes(f)) == 0)
            continue;
        double top = 0.0, scale = 1.0;
        for (int64_t i = 0; is_float(f) && i < components(f); i++) {
            top = fmax(top, fabs(get(f, got, i) - get(f, want->at[k], i)));
            scale = fmax(scale, fabs(get(f, want->at[k], i)));
        }
        if (is_float(f) && !exact && top <= (f->desc->elem == TK_F64 ? 1e-13 : 2e-5) * scale)
            continue;
        printf("%s %s, size %ld, %s, %d threads: %s, plane %d differs by %.3g%s\n", r->k->name, mode_name[r->mode], r->size, what, threads, f->desc->name, k % 4, top,
               exact ? ", and not a bit may" : "");
        failures++;
    }
}

static int copies(const pool *p)
{
    int n = 0;
    for (int i = 0; i < p->nloops; i++)
        n += p->loops[i] == p->threads;
    return n;
}

/* Chunks do not depend on the number of threads, copies do: a loop in copies is found with every number; a number of chunks meets one of them by chance. */
static void print_loops(const run *r, const pool *two, const pool *four, const pool *seven)
{
    int n = copies(two) < copies(four) ? copies(two) : copies(four);
    n = copies(seven) < n ? copies(seven) : n;
    printf("%s %s: ", r->k->name, mode_name[r->mode]);
    if (seven->nloops == 0)
        printf("serial");
    if (n > 0)
        printf("%d in copies%s", n, seven->nloops > n ? ", " : "");
    if (seven->nloops > n)
        printf("%d in chunks", seven->nloops - n);
    printf("\n");
}

static bool is_scatter(const run *r)
{
    const char *all = getenv("PARCHECK_SCATTERS");
    char name[512];
    snprintf(name, sizeof name, " %s%s%s ", r->k->name, r->mode == RUN ? "" : "_", r->mode == RUN ? "" : mode_name[r->mode]);
    return all && strstr(all, name);
}

static void launch_with_threads(run *r, pool *p, int threads)
{
    p->threads = threads;
    p->nloops = 0;
    tk_session_set_threads(r->m->session, threads);
    launch(r);
}

static void check(run *r, bool deterministic, bool own_threads, pool *p, bool tell)
{
    static const int numbers[] = {1, 2, 4, 7};
    const bool exact = deterministic || !is_scatter(r);
    const char *what = own_threads ? (deterministic ? "deterministic, own threads" : "own threads") : deterministic ? "deterministic, pool" : "pool";
    snapshot alone = {NULL};
    pool seen[4];
    for (int i = 0; i < 4; i++) {
        launch_with_threads(r, p, numbers[i]);
        seen[i] = *p;
        if (i == 0)
            alone = take(r->m);
        else
            compare(r, &alone, exact, what, numbers[i]);
    }
    drop(r->m, &alone);
    if (tell)
        print_loops(r, &seen[1], &seen[2], &seen[3]);
}

static double dot(const tk_module *m, const snapshot *a, tk_plane pa, const snapshot *b, tk_plane pb, double *scale)
{
    double s = 0.0;
    for (int k = 0; k < m->desc->nfields; k++) {
        const tk_field *f = &m->fields[k];
        for (int64_t i = 0; is_float(f) && i < components(f); i++) {
            const double x = get(f, a->at[4 * k + pa], i) * get(f, b->at[4 * k + pb], i);
            s += x;
            *scale += fabs(x);
        }
    }
    return s;
}

static void check_product(tk_module *m, const tk_kernel *k, long size, const snapshot *before)
{
    if (!k->grad || !k->jvp)
        return;
    run r = {m, k, JVP, size, before};
    launch(&r);
    snapshot forward = take(m);
    r.mode = RUN; /* what an adjoint reads must be the state after the launch */
    launch(&r);
    static unsigned char args[MAX_ARGS], out[MAX_ARGS];
    if (tk_launch_grad(r.m, k, args, out) != TK_OK)
        exit(1);
    snapshot back = take(m);
    double scale = 1.0;
    const double one = dot(m, &forward, TK_DUAL, before, TK_GRAD, &scale), two = dot(m, before, TK_DUAL, &back, TK_GRAD, &scale);
    const bool f64 = m->fields[0].desc->elem == TK_F64;
    if (!(fabs(one - two) <= (f64 ? 1e-12 : 1e-4) * scale)) {
        printf("%s, size %ld: reverse against forward: %.15g and %.15g\n", k->name, size, two, one);
        failures++;
    }
    drop(m, &forward);
    drop(m, &back);
}

static void check_size(long size, bool last)
{
    pool p = {0};
    for (int d = 0; d < 2; d++)
        for (int own = 1; own >= 0; own--) {
            tk_session_options o = tk_session_defaults();
            o.deterministic = d;
            if (!own) {
                o.parallel = run_pool;
                o.parallel_user = &p;
            }
            tk_session *s = tk_session_create(&o);
            tk_module *m = s ? parcheck_create(s, size) : NULL;
            if (!m) {
                printf("size %ld: %s\n", size, tk_error());
                exit(2);
            }
            for (int k = 0; k < m->desc->nkernels; k++)
                if (m->desc->kernels[k].hvp && tk_module_need_grad_dual(m) != TK_OK)
                    exit(2);
            fill(m);
            snapshot before = take(m);
            for (int k = 0; k < m->desc->nkernels; k++) {
                for (int mode = RUN; mode <= HVP; mode++) {
                    run r = {m, &m->desc->kernels[k], mode, size, &before};
                    if (has(r.k, r.mode) && race)
                        launch_with_threads(&r, &p, 4);
                    else if (has(r.k, r.mode))
                        check(&r, d, own, &p, last && !own && !d);
                }
                if (!race)
                    check_product(m, &m->desc->kernels[k], size, &before);
            }
            drop(m, &before);
            parcheck_destroy(m);
            tk_session_destroy(s);
        }
}

int main(int argc, char **argv)
{
    race = argc > 1 && strcmp(argv[1], "--race") == 0;
    for (int i = race ? 2 : 1; i < argc; i++)
        check_size(atol(argv[i]), i == argc - 1);
    return failures != 0;
}
