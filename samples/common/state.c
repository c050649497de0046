#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sample.h"

/* Reads the parameters' data or gradients into `all`, one field behind the other, or sets them to what stands there. */
static void each(sample *s, double *all, tk_plane plane, bool set)
{
    for (const char *const *name = s->parameters; name && *name; name++) {
        tk_field *f = tk_field_find(s->session, *name);
        const int64_t n = tk_field_count(f);
        (void)(set ? tk_field_set(f, plane, 0, n, all) : tk_field_get(f, plane, 0, n, all));
        all += n;
    }
}

/* Has room for losses of iterations 0 to `last`. */
static bool make_room(sample_state *t, const sample *s, int last)
{
    const int room = last < t->room ? t->room : 2 * last + 64;
    double *all = room == t->room ? t->losses : realloc(t->losses, (size_t)room * sizeof *all);
    if (!all) {
        fprintf(stderr, "%s: out of memory\n", s->name);
        return false;
    }
    t->losses = all;
    t->room = room;
    return true;
}

bool state_create(sample_state *t, sample *s)
{
    for (const char *const *name = s->parameters; name && *name; name++) {
        const tk_field *f = tk_field_find(s->session, *name);
        if (!f || !tk_field_grad(f)) {
            fprintf(stderr, "%s: %s%s\n", s->name, f ? "no gradient of " : tk_error(), f ? *name : "");
            return false;
        }
        t->n += (size_t)tk_field_count(f);
    }
    t->p = calloc(5 * t->n + 1, sizeof *t->p);
    if (!make_room(t, s, 0) || !t->p)
        return false;
    t->g = t->p + t->n;
    t->m = t->g + t->n;
    t->v = t->m + t->n;
    t->start = t->v + t->n;
    each(s, t->start, TK_DATA, false);
    state_restart(t, s);
    return true;
}

void state_restart(sample_state *t, sample *s)
{
    memset(t->p, 0, 4 * t->n * sizeof *t->p);
    memcpy(t->p, t->start, t->n * sizeof *t->p);
    t->done = 0;
    each(s, t->p, TK_DATA, true);
}

void state_free(sample_state *t)
{
    free(t->p);
    free(t->losses);
}

bool state_episode(sample_state *t, sample *s)
{
    if (!make_room(t, s, t->done))
        return false;
    s->iteration = t->done;
    tk_session_set_seed(s->session, (uint64_t)s->seed << 32 | (uint64_t)t->done); /* also the same after --resume */
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const double loss = t->losses[t->done] = s->run(s);
    clock_gettime(CLOCK_MONOTONIC, &to);
    t->seconds += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    t->episodes++;
    if (tk_session_status(s->session) != TK_OK)
        return false;
    const bool ok = t->n == 0 || isfinite(loss);
    if (!ok)
        fprintf(stderr, "%s: the loss is %g after %d iterations\n", s->name, loss, t->done);
    return ok;
}

bool state_step(sample_state *t, sample *s)
{
    double square = 0.0;
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        if (isnan(t->g[i])) {
            fprintf(stderr, "%s: a gradient is not a number after %d iterations\n", s->name, t->done);
            return false;
        }
        if (s->clip > 0.0)
            t->g[i] = fmin(fmax(t->g[i], -s->clip), s->clip);
        square += t->g[i] * t->g[i];
    }
    const double r = s->method == NORMALISED ? s->rate / (sqrt(square) + 1e-30) : s->rate;
    const int k = ++t->done;
    for (size_t i = 0; i < t->n; i++) {
        double step = t->g[i];
        if (s->method == ADAM) {
            t->m[i] = 0.9 * t->m[i] + 0.1 * t->g[i];
            t->v[i] = 0.999 * t->v[i] + 0.001 * t->g[i] * t->g[i];
            step = t->m[i] / (1.0 - pow(0.9, k)) / (sqrt(t->v[i] / (1.0 - pow(0.999, k))) + 1e-8);
        }
        t->p[i] -= r * step;
    }
    each(s, t->p, TK_DATA, true);
    return true;
}

/* ---- the file: a line of text, then p, g, m, v, then the losses ---- */

static int first_line(const sample_state *t, const sample *s, char line[static 160])
{
    return snprintf(line, 160, "tkc sample: size %d, steps %d, method %d, numbers %zu, iterations ", s->size, s->steps,
                    (int)s->method, t->n);
}

bool state_save(const sample_state *t, const sample *s, const char *path)
{
    char new[4096 + 8], line[160];
    snprintf(new, sizeof new, "%s.new", path);
    FILE *f = fopen(new, "wb");
    const size_t numbers = 4 * t->n, losses = (size_t)t->done + 1;
    first_line(t, s, line);
    bool ok = f && fprintf(f, "%s%d\n", line, t->done) > 0 && fwrite(t->p, sizeof *t->p, numbers, f) == numbers &&
              fwrite(t->losses, sizeof *t->losses, losses, f) == losses;
    ok = f && fclose(f) == 0 && ok && rename(new, path) == 0; /* the old one stays whole until the new one is */
    if (!ok) {
        fprintf(stderr, "%s: %s: %s\n", s->name, path, strerror(errno));
        unlink(new);
    }
    return ok;
}

bool state_load(sample_state *t, sample *s, const char *path)
{
    char line[160], mine[160];
    const size_t numbers = 4 * t->n, same = (size_t)first_line(t, s, mine);
    const char *wrong = NULL;
    int done = -1;
    FILE *f = fopen(path, "rb");
    if (!f)
        wrong = strerror(errno);
    else if (!fgets(line, sizeof line, f) || strncmp(line, mine, 12) != 0)
        wrong = "no state of a sample";
    else if (strncmp(line, mine, same) != 0)
        wrong = "a state of other sizes";
    else if (sscanf(line + same, "%d", &done) != 1 || done < 0 || done > MOST_ITERATIONS || !make_room(t, s, done) ||
             fread(t->p, sizeof *t->p, numbers, f) != numbers ||
             fread(t->losses, sizeof *t->losses, (size_t)done + 1, f) != (size_t)done + 1 || fgetc(f) != EOF)
        wrong = "a state that is broken";
    if (f)
        fclose(f);
    if (wrong)
        fprintf(stderr, "%s: %s: %s\n", s->name, path, wrong);
    t->done = wrong ? 0 : done;
    each(s, t->p, TK_DATA, true);
    return !wrong;
}

/* ---- the check ---- */

static double loss_at(sample_state *t, sample *s, const double *direction, double h)
{
    double *p = t->m; /* no moments yet */
    for (size_t i = 0; i < t->n; i++)
        p[i] = t->p[i] + h * direction[i];
    each(s, p, TK_DATA, true);
    return state_episode(t, s) ? t->losses[t->done] : NAN;
}

bool state_check(sample_state *t, sample *s)
{
    uint64_t seed = 1;
    double along = 0.0, best = INFINITY, difference = NAN, *direction = t->v;
    const double loss = loss_at(t, s, direction, 0.0);
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        direction[i] = 2.0 * random_uniform(&seed) - 1.0;
        along += direction[i] * t->g[i];
    }
    for (double h = 1e-3; h > 1e-8; h *= 0.1) { /* the best step is nobody's to know */
        const double d = (loss_at(t, s, direction, h) - loss_at(t, s, direction, -h)) / (2.0 * h);
        if (fabs(d - along) < best) {
            best = fabs(d - along);
            difference = d;
        }
    }
    each(s, t->p, TK_DATA, true);
    printf("%s: loss %.12g, along a direction %.12g by the tape, %.12g by differences\n", s->name, loss, along,
           difference);
    return tk_session_status(s->session) == TK_OK;
}
