/* Two threads, or more, against one, with 0, 1 and 2 other processes that compute all the time. The two sides take
 * turns; the ratios are taken run by run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "elementwise.h"
#include "scatter.h"
#include "smoke.h"
#include "wave.h"

enum { RUNS = 15, MOST_BUSY = 2 };
static const double RUN_SECONDS = 0.03;

typedef struct bench_case {
    const char *name;
    int64_t size;
    tk_session *(*create)(int64_t size); /* the module is kept in `module` */
    void (*primal)(void);
    void (*grad)(void);
    void (*destroy)(void);
} bench_case;

static void *module;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float uniform(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 16777216.0f;
}

/* ---- cases ---- */

static tk_session *create_elementwise(int64_t n)
{
    elementwise_params p = elementwise_defaults();
    p.N = n;
    elementwise *m = module = elementwise_create(NULL, &p);
    for (int64_t i = 0; m && i < n; i++)
        m->x.data[i] = uniform();
    return m ? tk_module_session(&m->tk) : NULL;
}
static void destroy_elementwise(void)
{
    elementwise_destroy(module);
}
static void elementwise_primal(void)
{
    elementwise_run(module);
}
static void elementwise_grad(void)
{
    elementwise_run_grad(module);
}

enum { WAVE_STEPS = 32 };

static tk_session *create_wave(int64_t n)
{
    wave_params p = wave_defaults();
    p.N = n;
    p.T = WAVE_STEPS;
    wave *m = module = wave_create(NULL, &p);
    for (int64_t i = 0; m && i < 2 * n * n; i++)
        m->u.data[i] = uniform();
    return m ? tk_module_session(&m->tk) : NULL;
}
static void destroy_wave(void)
{
    wave_destroy(module);
}
static void wave_primal(void)
{
    wave_run(module);
}
static void wave_grad(void)
{
    wave_run_grad(module);
}

static tk_session *create_scatter(int64_t n)
{
    scatter_params p = scatter_defaults();
    p.N = n;
    p.M = 128;
    scatter *m = module = scatter_create(NULL, &p);
    for (int64_t i = 0; m && i < n; i++)
        for (int c = 0; c < 2; c++) {
            m->x.data[i][c] = 1.5f + (float)(p.M - 4) * uniform();
            m->v.data[i][c] = uniform();
        }
    return m ? tk_module_session(&m->tk) : NULL;
}
static void destroy_scatter(void)
{
    scatter_destroy(module);
}
static void scatter_primal(void)
{
    scatter_run(module);
}
static void scatter_grad(void)
{
    scatter_run_grad(module);
}

enum { SMOKE_STEPS = 4 };

static tk_session *create_smoke(int64_t n)
{
    smoke_params p = smoke_defaults();
    p.N = (int32_t)n;
    p.STEPS = SMOKE_STEPS;
    smoke *m = module = smoke_create(NULL, &p);
    if (!m)
        return NULL;
    smoke_images(m);
    for (int64_t i = 0; i < n * n; i++)
        for (int c = 0; c < 2; c++)
            m->push.data[i][c] = 0.1f * uniform();
    return tk_module_session(&m->tk);
}
static void destroy_smoke(void)
{
    smoke_destroy(module);
}
static void smoke_primal(void)
{
    smoke *m = module;
    smoke_begin(m);
    for (int t = 0; t < SMOKE_STEPS; t++) {
        smoke_diverge(m);
        smoke_jacobi(m);
        smoke_project(m, t);
        smoke_advect(m, t);
    }
    smoke_diverge(m);
    smoke_jacobi(m);
    smoke_project(m, SMOKE_STEPS);
    smoke_measure(m);
}
static void smoke_grad(void)
{
    smoke *m = module;
    TK_TAPE(m, m->loss) smoke_primal();
}

static const bench_case cases[] = {
    {"element-wise, 0.1 ms", 65536, create_elementwise, elementwise_primal, elementwise_grad, destroy_elementwise},
    {"element-wise, 3 ms", 4000000, create_elementwise, elementwise_primal, elementwise_grad, destroy_elementwise},
    {"wave 256, 32 steps", 256, create_wave, wave_primal, wave_grad, destroy_wave},
    {"wave 512, 32 steps", 512, create_wave, wave_primal, wave_grad, destroy_wave},
    {"smoke 128, 4 steps, 60 loops", 128, create_smoke, smoke_primal, smoke_grad, destroy_smoke},
    {"smoke 256, 4 steps, 60 loops", 256, create_smoke, smoke_primal, smoke_grad, destroy_smoke},
    {"particles to grid, 0.2 ms", 16384, create_scatter, scatter_primal, scatter_grad, destroy_scatter},
    {"particles to grid, 3 ms", 262144, create_scatter, scatter_primal, scatter_grad, destroy_scatter},
};

/* ---- measuring ---- */

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

static double time_of(void (*fn)(void), tk_session *s, int threads, long reps)
{
    tk_session_set_threads(s, threads);
    fn(); /* warms the caches as the other number of threads has left them */
    const double start = now();
    for (long i = 0; i < reps; i++)
        fn();
    return (now() - start) / (double)reps;
}

typedef struct result {
    double one, more, ratio; /* medians */
} result;

static result measure(void (*fn)(void), tk_session *s, int threads)
{
    double t[2][RUNS], ratio[RUNS];
    const double once = time_of(fn, s, 1, 1);
    const long reps = once > 0 && once < RUN_SECONDS ? (long)(RUN_SECONDS / once) + 1 : 1;
    for (int r = 0; r < RUNS; r++) {
        for (int k = 0; k < 2; k++)
            t[k][r] = time_of(fn, s, k ? threads : 1, reps);
        ratio[r] = t[1][r] / t[0][r];
    }
    return (result){1e3 * median(t[0]), 1e3 * median(t[1]), median(ratio)};
}

static pid_t start_busy(void)
{
    const pid_t p = fork();
    if (p != 0)
        return p;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned n = 0;; n++)
        ;
}

static void print_load(void)
{
    char line[64] = "unknown";
    FILE *f = fopen("/proc/loadavg", "r");
    if (f) {
        if (!fgets(line, sizeof line, f))
            line[0] = 0;
        fclose(f);
    }
    line[strcspn(line, "\n")] = 0;
    printf("/proc/loadavg: %s\n", line);
}

static int run_case(const bench_case *c, int others, int threads)
{
    tk_session *s = c->create(c->size);
    if (!s)
        return 1;
    const result primal = measure(c->primal, s, threads), grad = measure(c->grad, s, threads);
    printf("| %s | %d | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f |\n", c->name, others, primal.one, primal.more,
           primal.ratio, grad.one, grad.more, grad.ratio);
    fflush(stdout);
    const int failed = tk_session_status(s) != TK_OK;
    if (failed)
        fprintf(stderr, "%s\n", tk_session_error(s));
    c->destroy();
    return failed;
}

int main(int argc, char **argv)
{
    const int asked = argc > 2 ? atoi(argv[2]) : MOST_BUSY, most = asked < 0           ? 0
                                                                   : asked > MOST_BUSY ? MOST_BUSY
                                                                                       : asked;
    const int threads = argc > 3 && atoi(argv[3]) > 2 ? atoi(argv[3]) : 2;
    int failed = 0;
    print_load();
    printf("\n| work | busy processes | primal, 1 thread, ms | %d threads | %d / 1 | gradient, 1 thread, ms | %d "
           "threads | %d / 1 |\n"
           "|---|---|---|---|---|---|---|---|\n",
           threads, threads, threads, threads);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && !strstr(cases[i].name, argv[1])) /* "": all */
            continue;
        pid_t busy[MOST_BUSY];
        for (int others = 0; others <= most; others++) {
            if (others > 0)
                busy[others - 1] = start_busy();
            failed |= run_case(&cases[i], others, threads);
        }
        for (int k = 0; k < most; k++)
            if (busy[k] > 0) {
                kill(busy[k], SIGKILL);
                waitpid(busy[k], NULL, 0);
            }
    }
    print_load();
    return failed;
}
