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

static bool in_range(const sample *s, const char *option, int value, int low, int high)
{
    char range[32];
    snprintf(range, sizeof range, "%d to %d", low, high);
    return (value >= low && value <= high) || sample_fails(s, option, range);
}

static bool parse(sample *s, options *o, int argc, char **argv)
{
    enum { SHOWN = POPT_ARGFLAG_SHOW_DEFAULT, HIDDEN = POPT_ARGFLAG_DOC_HIDDEN };
    const int most = MOST_ITERATIONS, size = s->size_means ? 0 : s->size, most_steps = s->steps ? most : 0;
    const struct poptOption none[] = {POPT_TABLEEND};
    const struct poptOption table[] = {
        {"size", 'n', POPT_ARG_INT | SHOWN | (s->size_means ? 0 : HIDDEN), &s->size, 0, s->size_means, "N"},
        {"steps", 's', POPT_ARG_INT | SHOWN | (s->steps ? 0 : HIDDEN), &s->steps, 0, "of time", "N"},
        {"iterations", 'i', POPT_ARG_INT | SHOWN, &s->iterations, 0, "of the optimiser", "N"},
        {"rate", 'r', POPT_ARG_DOUBLE | SHOWN, &s->rate, 0, "of the optimiser", "X"},
        {"seed", 0, POPT_ARG_INT | SHOWN, &s->seed, 0, "of random numbers", "N"},
        {"threads", 't', POPT_ARG_INT | SHOWN, &s->threads, 0, "0: all processors", "N"},
        {"budget", 'b', POPT_ARG_DOUBLE, &s->budget, 0, "megabytes of the tape; beyond, steps run again", "MB"},
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
    const char *wrong = rc < -1 ? poptBadOption(c, POPT_BADOPTION_NOALIAS) : poptPeekArg(c);
    const bool known = !wrong || sample_fails(s, wrong, rc < -1 ? poptStrerror(rc) : "no option (--help lists them)");
    poptFreeContext(c);
    return known && ((s->rate > 0.0 && s->rate < INFINITY) || sample_fails(s, "--rate", "a positive number")) &&
           in_range(s, "--size", s->size, size ? size : (int)fmax(s->least_size, 1.0), size ? size : most) &&
           in_range(s, "--threads", s->threads, 0, 1024) &&
           ((s->budget >= 0.0 && s->budget < 1e9) || sample_fails(s, "--budget", "0 to 1e9")) &&
           in_range(s, "--steps", s->steps, most_steps > 0, most_steps) &&
           in_range(s, "--iterations", s->iterations, 0, most) &&
           (!o->window || !s->sum || sample_fails(s, "--window", "with one process only")) &&
           in_range(s, "--window-frames", o->window_frames, 0, most);
}

/* Episodes and steps of the optimiser; the last episode has the parameters that stand at the end. */
static bool optimise(sample *s, sample_state *t, cairo_t **picture)
{
    static const char bar[] = "##############################..............................";
    const bool shown = isatty(STDERR_FILENO);
    const int end = t->n > 0 ? s->iterations : 0;
    bool ok = state_episode(t, s);
    if (picture && ok && t->done < end)
        *picture = picture_row(NULL, 2, s, t->done ? "iteration %d" : "before");
    while (ok && t->done < end && !sample_interrupted) {
        ok = state_step(t, s) && state_episode(t, s);
        if (shown && ok)
            fprintf(stderr, "\r[%.30s] %d of %d, loss %.5g, %.0f s left \033[K", bar + 30 - 30 * t->done / end, t->done,
                    end, t->losses[t->done], t->seconds / t->episodes * (end - t->done));
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
    return (f && fclose(f) == 0 && ok) || sample_fails(s, path, strerror(errno));
}

/* Prints what a run was like; false if its least loss is not what --expect says. */
static bool report(const sample *s, const sample_state *t, double expect)
{
    double least = INFINITY, bytes = (double)tk_tape_bytes(s->session);
    for (int k = 0; k <= t->done; k++)
        least = fmin(least, t->losses[k]);
    for (const tk_field *f = tk_field_next(s->session, NULL); f; f = tk_field_next(s->session, f))
        bytes += (double)tk_field_bytes(f) * (1 + (tk_field_grad(f) != NULL) + (tk_field_dual(f) != NULL));
    if (t->n > 0)
        printf("%s: loss %.6g before, %.6g after %d iterations, the least %.6g\n", s->name, t->losses[0],
               t->losses[t->done], t->done, least);
    printf("%s: %.2f ms an episode, %.2f MB of fields and tape, %d threads\n", s->name, 1e3 * t->seconds / t->episodes,
           1e-6 * bytes, tk_session_threads(s->session));
    const tk_tape_report tape = tk_tape_last_report(s->session);
    if (tape.budget > 0)
        printf("%s: %zu launches on the last tape, %zu ran again\n", s->name, tape.launches, tape.again);
    return !(expect < INFINITY) || least <= expect || sample_fails(s, "--expect", "the least loss is more than that");
}

static int work(sample *s, sample_state *t, const options *o)
{
    char path[4096];
    const bool files = !o->no_picture && !o->check, draws = files && s->draw;
    if ((files && o->out && !make_folder(s, o->out)) || (o->resume && !state_load(t, s, path_of(s, o, ".state", path))))
        return 1;
    if (o->check)
        return !state_check(t, s);
    if (t->done > s->iterations && !o->window)
        return !sample_fails(s, path, "has more iterations behind it than --iterations asks for");
    cairo_t *picture = NULL;
    bool ok = o->window ? window_run(s, t, o->window_frames, path_of(s, o, "-window.png", path))
                        : optimise(s, t, draws ? &picture : NULL);
    const bool expected = ok && report(s, t, o->expect);
    if (ok && draws)
        picture = picture_row(picture, 1, s, t->done ? "after %d iterations" : "episode");
    if (ok && files) {
        ok = t->n == 0 || (state_save(t, s, path_of(s, o, ".state", path)) &&
                           (!draws || write_losses(s, t, path_of(s, o, ".csv", path))));
        ok = (!draws || picture_finish(picture, s, path_of(s, o, ".png", path))) && ok;
    }
    ok = ok && (!o->film || !s->draw || film_write(s, o->film));
    return !ok || !expected ? 1 : sample_interrupted ? 130 : 0;
}

int sample_main(sample *s, int argc, char **argv)
{
    options o = {.expect = INFINITY};
    int status = 2;
    s->aspect = s->aspect > 0.0 ? s->aspect : 1.0;
    s->moments = s->moments ? s->moments : 4;
    s->film_frames = s->film_frames ? s->film_frames : 100;
    s->size = s->size ? s->size : 1;
    if (parse(s, &o, argc, argv)) {
        tk_session_options so = tk_session_defaults();
        sample_state t = {0};
        so.threads = s->threads;
        so.seed = (uint64_t)s->seed;
        so.flush_denormals = true;
        s->session = tk_session_create(&so);
        sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt, .sa_flags = SA_RESETHAND | SA_RESTART}, NULL);
        const bool made = s->session && tk_tape_budget(s->session, (size_t)(1e6 * s->budget)) == TK_OK;
        status = !made || !s->create(s) || !state_create(&t, s) ? 1 : work(s, &t, &o);
        if (tk_session_status(s->session) != TK_OK)
            status = !sample_fails(s, "session", tk_session_error(s->session));
        free(t.start);
        s->destroy(s);
        tk_session_destroy(s->session);
    }
    free(o.out);
    free(o.film);
    return status;
}
