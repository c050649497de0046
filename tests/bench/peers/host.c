/* Stands in for samples/common/sample.c: the same sample, whose episodes run.py times. It makes the sample's data, runs
 * one episode, writes the fields named by --dump into --folder as doubles (NAME.f64, gradients NAME.tkc.f64), and
 * prints the loss. Then it answers "primal N" and "gradient N" on stdin: it runs that many episodes, and prints the
 * milliseconds of one, those of the process, and the loss; at the end of stdin the most memory that the process had, in
 * kB. The linker puts what is called __wrap_F here in the place of F (--wrap=F): a primal is the same episode with no
 * tape open. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sample.h"

volatile sig_atomic_t sample_interrupted;

bool sample_fails(const sample *s, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", s->name, what, why);
    return false;
}

static bool write_plane(const sample *s, const tk_field *f, tk_plane plane, const char *path)
{
    const int64_t n = tk_field_count(f);
    double *all = malloc((size_t)n * sizeof *all);
    FILE *out = all ? fopen(path, "wb") : NULL;
    bool ok = out && tk_field_get(f, plane, 0, n, all) == TK_OK &&
              fwrite(all, sizeof *all, (size_t)n, out) == (size_t)n;
    ok = out && fclose(out) == 0 && ok;
    free(all);
    return ok || sample_fails(s, path, "cannot be written");
}

static bool dump(const sample *s, const char *folder, char *names)
{
    char path[4096];
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const tk_field *f = tk_field_find(s->session, name);
        snprintf(path, sizeof path, "%s/%s.f64", folder, name);
        if (!f || !write_plane(s, f, TK_DATA, path))
            return f ? false : sample_fails(s, name, "no such field");
        snprintf(path, sizeof path, "%s/%s.tkc.f64", folder, name);
        if (tk_field_grad(f) && !write_plane(s, f, TK_GRAD, path))
            return false;
    }
    return true;
}

static bool taped = true;
tk_tape_guard __real_tk_tape_enter(tk_module *m, tk_field *loss, unsigned flags);
bool __real_tk_tape_step(tk_tape_guard *g);
void __real_tk_tape_leave(tk_tape_guard *g);

tk_tape_guard __wrap_tk_tape_enter(tk_module *m, tk_field *loss, unsigned flags)
{
    if (taped)
        return __real_tk_tape_enter(m, loss, flags);
    const double zero = 0.0;
    tk_field_set(loss, TK_DATA, 0, 1, &zero);
    return (tk_tape_guard){loss, 1};
}

bool __wrap_tk_tape_step(tk_tape_guard *g)
{
    return taped ? __real_tk_tape_step(g) : g->state++ == 1;
}

void __wrap_tk_tape_leave(tk_tape_guard *g)
{
    if (taped)
        __real_tk_tape_leave(g);
}

static double milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void serve(sample *s, const tk_field *loss)
{
    struct rusage used;
    char what[16];
    for (int n; scanf("%15s %d", what, &n) == 2 && tk_session_status(s->session) == TK_OK;) {
        double value = 0.0;
        taped = strcmp(what, "primal") != 0;
        const double from = milliseconds(CLOCK_MONOTONIC), cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int k = 0; k < n; k++)
            s->run(s);
        const double took = milliseconds(CLOCK_MONOTONIC) - from, ran = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        tk_field_get(loss, TK_DATA, 0, 1, &value);
        printf("%.6f %.6f %.17g\n", took / n, ran / n, value);
        fflush(stdout);
    }
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_maxrss);
}

int sample_main(sample *s, int argc, char **argv)
{
    char *folder = NULL, *names = NULL;
    struct poptOption none[] = {POPT_TABLEEND};
    const struct poptOption table[] = {
        {"size", 0, POPT_ARG_INT, &s->size, 0, NULL, NULL},
        {"steps", 0, POPT_ARG_INT, &s->steps, 0, NULL, NULL},
        {"threads", 0, POPT_ARG_INT, &s->threads, 0, NULL, NULL},
        {"folder", 0, POPT_ARG_STRING, &folder, 0, NULL, NULL},
        {"dump", 0, POPT_ARG_STRING, &names, 0, NULL, NULL},
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(s->options ? s->options : none), 0, NULL, NULL},
        POPT_TABLEEND};
    poptContext c = poptGetContext(s->name, argc, (const char **)argv, table, 0);
    const int rc = poptGetNextOpt(c);
    poptFreeContext(c);
    if (rc < -1)
        return 2;
    tk_session_options so = tk_session_defaults();
    so.threads = s->threads;
    so.seed = (uint64_t)s->seed;
    so.flush_denormals = true; /* as the samples do */
    s->size = s->size ? s->size : 1;
    s->session = tk_session_create(&so);
    bool ok = s->session && tk_tape_budget(s->session, (size_t)(1e6 * s->budget)) == TK_OK && s->create(s);
    if (ok) {
        const double loss = s->run(s);
        ok = !names || dump(s, folder, names);
        printf("%.17g\n", loss);
        fflush(stdout);
        serve(s, tk_field_find(s->session, "loss"));
    }
    if (tk_session_status(s->session) != TK_OK)
        ok = sample_fails(s, "session", tk_session_error(s->session));
    s->destroy(s);
    tk_session_destroy(s->session);
    free(folder);
    free(names);
    return !ok;
}
