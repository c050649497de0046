#include "sample.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

typedef struct options {
    char *out, *film;
    int resume, check, window, no_picture, window_frames;
    double expect;
} options;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- options ---- */

static const char *wrong_value(const sample *s)
{
    if (s->size < s->least_size || s->size > 1000000)
        return "--size is too small or too large";
    if (s->steps < 0 || s->steps > 1000000)
        return "--steps is 0 to 1000000";
    if (s->iterations < 0 || s->iterations > 1000000)
        return "--iterations is 0 to 1000000";
    if (!(s->rate > 0.0 && s->rate < INFINITY))
        return "--rate is a positive number";
    if (s->threads < 0 || s->threads > 1024)
        return "--threads is 0 to 1024";
    return NULL;
}

static int parse(sample *s, options *o, int argc, char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT };
    static const struct poptOption none[] = {POPT_TABLEEND};
    const struct poptOption table[] = {
        {"size", 'n', POPT_ARG_INT | SHOWN | (s->size_means ? 0 : POPT_ARGFLAG_DOC_HIDDEN), &s->size, 0, s->size_means,
         "N"},
        {"steps", 's', POPT_ARG_INT | SHOWN, &s->steps, 0, "steps of time", "N"},
        {"iterations", 'i', POPT_ARG_INT | SHOWN, &s->iterations, 0, "of the optimiser", "N"},
        {"rate", 'r', POPT_ARG_DOUBLE | SHOWN, &s->rate, 0, "of the optimiser", "X"},
        {"seed", 0, POPT_ARG_INT | SHOWN, &s->seed, 0, "of random numbers", "N"},
        {"threads", 't', POPT_ARG_INT | SHOWN, &s->threads, 0, "0: all processors", "N"},
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)(s->options ? s->options : none), 0,
         s->options ? "Of this simulator:" : NULL, NULL},
        {"out", 'o', POPT_ARG_STRING | SHOWN, &o->out, 0, "folder for pictures and state", "DIR"},
        {"film", 'f', POPT_ARG_STRING, &o->film, 0, "film of the last episode: .gif, or what ffmpeg makes", "FILE"},
        {"no-picture", 0, POPT_ARG_NONE, &o->no_picture, 0, "writes no picture and no state", NULL},
        {"resume", 0, POPT_ARG_NONE, &o->resume, 0, "goes on from the state in --out", NULL},
        {"window", 'w', POPT_ARG_NONE, &o->window, 0, "optimises in a window", NULL},
        {"window-frames", 0, POPT_ARG_INT | POPT_ARGFLAG_DOC_HIDDEN, &o->window_frames, 0, NULL, NULL},
        {"check", 0, POPT_ARG_NONE, &o->check, 0, "compares the gradient with differences instead", NULL},
        {"expect", 0, POPT_ARG_DOUBLE, &o->expect, 0, "status 1 if the least loss is above", "LOSS"},
        POPT_AUTOHELP POPT_TABLEEND};
    poptContext c = poptGetContext(s->name, argc, (const char **)argv, table, 0);
    const int rc = poptGetNextOpt(c);
    const char *rest = poptPeekArg(c), *wrong = wrong_value(s);
    if (rc < -1)
        fprintf(stderr, "%s: %s: %s\n", s->name, poptBadOption(c, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (rest)
        fprintf(stderr, "%s: what is '%s'? ('%s --help')\n", s->name, rest, s->name);
    else if (wrong)
        fprintf(stderr, "%s: %s\n", s->name, wrong);
    const bool ok = rc == -1 && !rest && !wrong;
    poptFreeContext(c);
    return ok ? 0 : 2;
}

/* ---- progress ---- */

static void progress(const sample *s, const sample_state *t, double began, int from)
{
    enum { WIDTH = 30 };
    static const char full[] = "##############################", empty[] = "..............................";
    const int filled = s->iterations ? (int)((long)WIDTH * t->done / s->iterations) : WIDTH;
    const double each = (now() - began) / (t->done - from + 1), left = each * (s->iterations - t->done);
    fprintf(stderr, "\r[%.*s%.*s] %d of %d, loss %.5g, %.0f s left \033[K", filled, full, WIDTH - filled, empty,
            t->done, s->iterations, t->losses[t->done], left);
}

/* ---- the run ---- */

static double least(const sample_state *t)
{
    double best = INFINITY;
    for (int k = 0; k <= t->done; k++)
        best = fmin(best, t->losses[k]);
    return best;
}

static double megabytes(const sample *s)
{
    double bytes = (double)tk_tape_bytes(s->session);
    for (const tk_field *f = tk_field_next(s->session, NULL); f; f = tk_field_next(s->session, f))
        bytes += (double)tk_field_bytes(f) * (1 + (tk_field_grad(f) != NULL) + (tk_field_dual(f) != NULL));
    return 1e-6 * bytes;
}

static bool write_losses(const sample *s, const sample_state *t, const char *path)
{
    FILE *f = fopen(path, "w");
    if (f)
        fprintf(f, "iteration,loss\n");
    for (int k = 0; f && k <= t->done; k++)
        fprintf(f, "%d,%.9g\n", k, t->losses[k]);
    if (f && fclose(f) == 0)
        return true;
    fprintf(stderr, "%s: %s: %s\n", s->name, path, strerror(errno));
    return false;
}

/* Episodes and steps of the optimiser; the last episode has the parameters that stand at the end. */
static bool optimise(sample *s, sample_state *t, picture *p, double *seconds)
{
    char label[64];
    const bool shown = isatty(STDERR_FILENO);
    const double began = now();
    const int from = t->done;
    for (;; state_step(t, s)) {
        s->iteration = t->done;
        const double start = now();
        t->losses[t->done] = s->run(s);
        *seconds += now() - start;
        if (tk_session_status(s->session) != TK_OK)
            break;
        if (p && t->done == from && s->iterations > from) {
            snprintf(label, sizeof label, from ? "iteration %d" : "before", from);
            picture_add_row(p, s, label);
        }
        if (shown)
            progress(s, t, began, from);
        if (t->done == s->iterations || interrupted || t->n == 0)
            break;
    }
    *seconds /= t->done - from + 1;
    if (shown)
        fputc('\n', stderr);
    if (p && tk_session_status(s->session) == TK_OK) {
        snprintf(label, sizeof label, t->done ? "after %d iterations" : "episode", t->done);
        picture_add_row(p, s, label);
    }
    return tk_session_status(s->session) == TK_OK;
}

static char *path_of(const sample *s, const options *o, const char *end, char path[static 4096])
{
    snprintf(path, 4096, "%s/%s%s", o->out, s->name, end);
    return path;
}

static int work(sample *s, sample_state *t, const options *o)
{
    char path[4096];
    double seconds = 0.0;
    if (o->resume && !state_load(t, s, path_of(s, o, ".state", path)))
        return 1;
    if (o->check)
        return !state_check(t, s);
    if (o->window)
        return !window_run(s, t, o->window_frames, o->window_frames ? path_of(s, o, "-window.png", path) : NULL);
    const bool files = !o->no_picture;
    picture *p = files ? picture_create(s) : NULL;
    bool ok = optimise(s, t, p, &seconds);
    if (ok && t->n)
        printf("%s: loss %.6g before, %.6g after %d iterations, the least %.6g\n", s->name, t->losses[0],
               t->losses[t->done], t->done, least(t));
    if (ok)
        printf("%s: %.2f ms an episode, %.2f MB of fields and tape, %d threads\n", s->name, 1e3 * seconds, megabytes(s),
               tk_session_threads(s->session));
    if (files) {
        const bool losses = t->n > 0;
        const bool saved = ok && losses && state_save(t, s, path_of(s, o, ".state", path)) &&
                           write_losses(s, t, path_of(s, o, ".csv", path));
        const bool drawn = picture_finish(p, s, losses ? t->losses : s->curve, losses ? t->done + 1 : s->curve_length,
                                          ok ? path_of(s, o, ".png", path) : NULL);
        if (ok && drawn)
            printf("%s: picture %s\n", s->name, path);
        ok = ok && drawn && (saved || !losses);
    }
    ok = ok && (!o->film || film_write(s, o->film));
    if (ok && !(least(t) <= o->expect)) {
        fprintf(stderr, "%s: the least loss is %.6g, expected at most %.6g\n", s->name, least(t), o->expect);
        return 1;
    }
    return !ok ? 1 : interrupted ? 130 : 0;
}

int sample_main(sample *s, int argc, char **argv)
{
    static char here[] = ".";
    char *const defaults = here;
    options o = {.out = defaults, .expect = INFINITY};
    s->aspect = s->aspect > 0.0 ? s->aspect : 1.0;
    s->moments = s->moments ? s->moments : 4;
    s->film_frames = s->film_frames ? s->film_frames : 100;
    s->least_size = s->least_size ? s->least_size : 1;
    s->size = s->size ? s->size : 1;
    int status = parse(s, &o, argc, argv);
    if (status == 0 && mkdir(o.out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s: %s\n", s->name, o.out, strerror(errno));
        status = 2;
    }
    if (status == 0) {
        tk_session_options so = tk_session_defaults();
        sample_state t = {0};
        so.threads = s->threads;
        so.seed = (uint64_t)s->seed;
        so.flush_denormals = true;
        s->session = tk_session_create(&so);
        sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
        status = !s->session || !s->create(s) || !state_create(&t, s) ? 1 : work(s, &t, &o);
        if (tk_session_status(s->session) != TK_OK) {
            fprintf(stderr, "%s: %s\n", s->name, tk_session_error(s->session));
            status = 1;
        }
        state_free(&t);
        s->destroy(s);
        tk_session_destroy(s->session);
    }
    if (o.out != defaults)
        free(o.out);
    free(o.film);
    return status;
}
