#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample.h"

volatile sig_atomic_t sample_interrupted;

static void interrupt(int signal)
{
    sample_interrupted = signal;
}

bool sample_fails(const sample *s, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", s->name, what, why);
    return false;
}

typedef struct options {
    char *out, *film;
    int resume, check, window, no_picture, window_frames;
    double expect;
} options;

/* ---- options ---- */

static bool in_range(const sample *s, const char *option, int value, int low, int high)
{
    char range[32];
    snprintf(range, sizeof range, "%d to %d", low, high);
    return (value >= low && value <= high) || sample_fails(s, option, range);
}

static bool values_allowed(const sample *s, int size, int steps, const options *o)
{
    const int least = s->size_means ? s->least_size : size, most = s->size_means ? MOST_ITERATIONS : size;
    return ((s->rate > 0.0 && s->rate < INFINITY) || sample_fails(s, "--rate", "a positive number")) &&
           in_range(s, "--size", s->size, least, most) && in_range(s, "--threads", s->threads, 0, 1024) &&
           in_range(s, "--steps", s->steps, steps ? 1 : 0, steps ? MOST_ITERATIONS : 0) &&
           in_range(s, "--iterations", s->iterations, 0, MOST_ITERATIONS) &&
           in_range(s, "--window-frames", o->window_frames, 0, MOST_ITERATIONS);
}

static bool parse(sample *s, options *o, int argc, char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT, HIDDEN = POPT_ARGFLAG_DOC_HIDDEN };
    const int size = s->size, steps = s->steps;
    const struct poptOption none[] = {POPT_TABLEEND};
    const struct poptOption table[] = {
        {"size", 'n', POPT_ARG_INT | SHOWN | (s->size_means ? 0 : HIDDEN), &s->size, 0, s->size_means, "N"},
        {"steps", 's', POPT_ARG_INT | SHOWN | (s->steps ? 0 : HIDDEN), &s->steps, 0, "of time", "N"},
        {"iterations", 'i', POPT_ARG_INT | SHOWN, &s->iterations, 0, "of the optimiser", "N"},
        {"rate", 'r', POPT_ARG_DOUBLE | SHOWN, &s->rate, 0, "of the optimiser", "X"},
        {"seed", 0, POPT_ARG_INT | SHOWN, &s->seed, 0, "of random numbers", "N"},
        {"threads", 't', POPT_ARG_INT | SHOWN, &s->threads, 0, "0: all processors", "N"},
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(s->options ? s->options : none), 0,
         s->options ? "Of this simulator:" : NULL, NULL},
        {"out", 'o', POPT_ARG_STRING, &o->out, 0, "folder for pictures and state, instead of this one", "DIR"},
        {"film", 'f', POPT_ARG_STRING, &o->film, 0, "film of the last episode: .gif, or what ffmpeg makes", "FILE"},
        {"no-picture", 0, POPT_ARG_NONE, &o->no_picture, 0, "writes no picture and no state", NULL},
        {"resume", 0, POPT_ARG_NONE, &o->resume, 0, "goes on from the state in --out", NULL},
        {"window", 'w', POPT_ARG_NONE, &o->window, 0, "optimises in a window", NULL},
        {"window-frames", 0, POPT_ARG_INT | HIDDEN, &o->window_frames, 0, NULL, NULL},
        {"check", 0, POPT_ARG_NONE, &o->check, 0, "compares the gradient with differences instead", NULL},
        {"expect", 0, POPT_ARG_DOUBLE, &o->expect, 0, "status 1 if the least loss is above", "LOSS"},
        POPT_AUTOHELP POPT_TABLEEND};
    char usage[256];
    snprintf(usage, sizeof usage, "[OPTION...]: %s", s->about ? s->about : "runs");
    poptContext c = poptGetContext(s->name, argc, (const char **)argv, table, 0);
    poptSetOtherOptionHelp(c, usage);
    const int rc = poptGetNextOpt(c);
    const char *rest = poptPeekArg(c);
    if (rc < -1)
        sample_fails(s, poptBadOption(c, POPT_BADOPTION_NOALIAS), poptStrerror(rc));
    else if (rest)
        sample_fails(s, rest, "no option (--help lists them)");
    poptFreeContext(c);
    return rc == -1 && !rest && values_allowed(s, size, steps, o);
}

/* ---- the run ---- */

static void progress(const sample *s, const sample_state *t)
{
    enum { WIDTH = 30 };
    static const char bar[] = "##############################..............................";
    const int filled = (int)((int64_t)WIDTH * t->done / s->iterations);
    fprintf(stderr, "\r[%.*s] %d of %d, loss %.5g, %.0f s left \033[K", WIDTH, bar + WIDTH - filled, t->done,
            s->iterations, t->losses[t->done], t->seconds / t->episodes * (s->iterations - t->done));
}

/* Episodes and steps of the optimiser; the last episode has the parameters that stand at the end. */
static bool optimise(sample *s, sample_state *t, picture *p)
{
    char label[64];
    const bool shown = isatty(STDERR_FILENO);
    bool ok = state_episode(t, s);
    snprintf(label, sizeof label, t->done ? "iteration %d" : "before", t->done);
    if (p && ok && t->n > 0 && t->done < s->iterations)
        picture_add_row(p, s, label);
    while (ok && t->n > 0 && t->done < s->iterations && !sample_interrupted) {
        ok = state_step(t, s) && state_episode(t, s);
        if (shown && ok)
            progress(s, t);
    }
    if (shown)
        fputc('\n', stderr);
    return ok;
}

/* Makes a folder and those above it; it can be written to. */
static bool make_folder(const sample *s, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/.", name);
    for (char *end = path + 1; (end = strchr(end, '/')); *end++ = '/') {
        *end = '\0';
        mkdir(path, 0777); /* what cannot be made, access tells */
    }
    return access(path, W_OK | X_OK) == 0 || sample_fails(s, name, strerror(errno));
}

static const char *path_of(const sample *s, const options *o, const char *end, char path[static 4096])
{
    snprintf(path, 4096, "%s/%s%s", o->out ? o->out : ".", s->name, end);
    return path;
}

static bool write_losses(const sample *s, const sample_state *t, const char *path)
{
    FILE *f = fopen(path, "w");
    bool ok = f && fprintf(f, "iteration,loss\n") > 0;
    for (int k = 0; ok && k <= t->done; k++)
        ok = fprintf(f, "%d,%.9g\n", k, t->losses[k]) > 0;
    ok = f && fclose(f) == 0 && ok;
    return ok || sample_fails(s, path, strerror(errno));
}

/* What stays of a run. */
static bool write_files(sample *s, const sample_state *t, picture *p, const options *o)
{
    char label[64], path[4096];
    snprintf(label, sizeof label, t->done ? "after %d iterations" : "episode", t->done);
    picture_add_row(p, s, label);
    const bool saved = t->n == 0 || (state_save(t, s, path_of(s, o, ".state", path)) &&
                                     write_losses(s, t, path_of(s, o, ".csv", path)));
    const bool drawn = picture_finish(p, s, t->n ? t->losses : s->curve, t->n ? t->done + 1 : s->curve_length,
                                      path_of(s, o, ".png", path));
    if (drawn)
        printf("%s: picture %s\n", s->name, path);
    return saved && drawn;
}

/* Prints what a run was like; returns its least loss. */
static double report(const sample *s, const sample_state *t)
{
    double least = INFINITY, bytes = (double)tk_tape_bytes(s->session);
    for (int k = 0; k <= t->done; k++)
        least = fmin(least, t->losses[k]);
    for (const tk_field *f = tk_field_next(s->session, NULL); f; f = tk_field_next(s->session, f))
        bytes += (double)tk_field_bytes(f) * (1 + (tk_field_grad(f) != NULL) + (tk_field_dual(f) != NULL));
    if (t->n > 0)
        printf("%s: loss %.6g before, %.6g after %d iterations, the least %.6g\n", s->name, t->losses[0],
               t->losses[t->done], t->done, least);
    printf("%s: %.2f ms an episode, %.2f MB of fields and tape, %d threads\n", s->name,
           1e3 * t->seconds / t->episodes, 1e-6 * bytes, tk_session_threads(s->session));
    return least;
}

static int work(sample *s, sample_state *t, const options *o)
{
    char path[4096];
    const bool files = !o->no_picture && !o->check;
    if ((files && o->out && !make_folder(s, o->out)) || (o->resume && !state_load(t, s, path_of(s, o, ".state", path))))
        return 1;
    if (o->check)
        return !state_check(t, s);
    if (t->done > s->iterations && !o->window)
        return !sample_fails(s, path, "has more iterations behind it than --iterations asks for");
    picture p = files ? picture_create(s) : (picture){0};
    bool ok = o->window ? window_run(s, t, o->window_frames, path_of(s, o, "-window.png", path))
                        : optimise(s, t, files ? &p : NULL);
    const double least = ok ? report(s, t) : INFINITY;
    if (ok && files)
        ok = write_files(s, t, &p, o);
    ok = ok && (!o->film || film_write(s, o->film));
    ok = ok && (!(o->expect < INFINITY) || least <= o->expect ||
                sample_fails(s, "--expect", "the least loss is more than that"));
    return !ok ? 1 : sample_interrupted ? 130 : 0;
}

int sample_main(sample *s, int argc, char **argv)
{
    options o = {.expect = INFINITY};
    int status = 2;
    s->aspect = s->aspect > 0.0 ? s->aspect : 1.0;
    s->moments = s->moments ? s->moments : 4;
    s->film_frames = s->film_frames ? s->film_frames : 100;
    s->least_size = s->least_size ? s->least_size : 1;
    s->size = s->size ? s->size : 1;
    if (parse(s, &o, argc, argv)) {
        tk_session_options so = tk_session_defaults();
        sample_state t = {0};
        so.threads = s->threads;
        so.seed = (uint64_t)s->seed;
        so.flush_denormals = true;
        s->session = tk_session_create(&so);
        sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt, .sa_flags = SA_RESETHAND | SA_RESTART}, NULL);
        status = !s->session || !s->create(s) || !state_create(&t, s) ? 1 : work(s, &t, &o);
        if (tk_session_status(s->session) != TK_OK)
            status = !sample_fails(s, "session", tk_session_error(s->session));
        free(t.p);
        free(t.losses);
        s->destroy(s);
        tk_session_destroy(s->session);
    }
    free(o.out);
    free(o.film);
    return status;
}
