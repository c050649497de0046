/* Stands in for samples/common/sample.c: the same sample, whose episodes run.py times. It makes the sample's data, runs
 * one episode, writes the fields named by --dump into --folder as doubles (NAME.f64, gradients NAME.grad.f64), and
 * prints the loss. Then for each line on stdin it runs that many episodes, and prints their milliseconds; at the end of
 * stdin the most memory that the process had, in kB. */
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
        snprintf(path, sizeof path, "%s/%s.grad.f64", folder, name);
        if (tk_field_grad(f) && !write_plane(s, f, TK_GRAD, path))
            return false;
    }
    return true;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void serve(sample *s)
{
    struct rusage used;
    for (int n; scanf("%d", &n) == 1 && tk_session_status(s->session) == TK_OK;) {
        for (; n > 0; n--) {
            const double from = milliseconds();
            s->run(s);
            printf("%.6f ", milliseconds() - from);
        }
        printf("\n");
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
    bool ok = s->session && s->create(s);
    if (ok) {
        const double from = milliseconds(), loss = s->run(s);
        ok = !names || dump(s, folder, names);
        printf("%.17g %.3f\n", loss, milliseconds() - from);
        fflush(stdout);
        serve(s);
    }
    if (tk_session_status(s->session) != TK_OK)
        ok = sample_fails(s, "session", tk_session_error(s->session));
    s->destroy(s);
    tk_session_destroy(s->session);
    free(folder);
    free(names);
    return !ok;
}
