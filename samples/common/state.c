#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

/* Calls f for each parameter with its numbers of `all`, which has those of one parameter after the other. */
static void each(sample *s, double *all, tk_plane plane, bool set)
{
    for (const char *const *name = s->parameters; name && *name; name++) {
        tk_field *f = tk_field_find(s->session, *name);
        const int64_t n = tk_field_count(f);
        if (set)
            tk_field_set(f, plane, 0, n, all);
        else
            tk_field_get(f, plane, 0, n, all);
        all += n;
    }
}

bool state_create(sample_state *t, sample *s)
{
    *t = (sample_state){0};
    for (const char *const *name = s->parameters; name && *name; name++) {
        const tk_field *f = tk_field_find(s->session, *name);
        if (!f || !tk_field_grad(f)) {
            fprintf(stderr, "%s: %s\n", s->name, f ? "a parameter has no gradient" : tk_error());
            return false;
        }
        t->n += (size_t)tk_field_count(f);
    }
    t->p = calloc(4 * t->n + 1, sizeof *t->p);
    t->losses = calloc((size_t)s->iterations + 2, sizeof *t->losses);
    if (!t->p || !t->losses) {
        fprintf(stderr, "%s: out of memory\n", s->name);
        return false;
    }
    t->g = t->p + t->n;
    t->m = t->g + t->n;
    t->v = t->m + t->n;
    each(s, t->p, TK_DATA, false);
    return true;
}

void state_free(sample_state *t)
{
    free(t->p);
    free(t->losses);
}

void state_step(sample_state *t, sample *s)
{
    double square = 0.0;
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        if (s->clip > 0.0)
            t->g[i] = fmin(fmax(t->g[i], -s->clip), s->clip);
        square += t->g[i] * t->g[i];
    }
    const double r = s->method == NORMALISED ? s->rate / (sqrt(square) + 1e-30) : s->rate;
    const int k = t->done + 1;
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
    t->done++;
}

/* ---- the file ---- */

typedef struct header {
    char magic[8];
    int64_t size, steps, method, done, n;
} header;

static header header_of(const sample_state *t, const sample *s)
{
    return (header){"tkc st1", s->size, s->steps, s->method, t->done, (int64_t)t->n};
}

bool state_save(const sample_state *t, const sample *s, const char *path)
{
    char new[4096];
    snprintf(new, sizeof new, "%s.new", path);
    FILE *f = fopen(new, "wb");
    const header h = header_of(t, s);
    bool ok = f != NULL;
    ok = ok && fwrite(&h, sizeof h, 1, f) == 1 && fwrite(t->p, sizeof *t->p, 4 * t->n, f) == 4 * t->n &&
         fwrite(t->losses, sizeof *t->losses, (size_t)t->done + 1, f) == (size_t)t->done + 1;
    if (f)
        ok = fclose(f) == 0 && ok;
    if (!(ok && rename(new, path) == 0)) { /* the old one stays whole until the new one is */
        fprintf(stderr, "%s: %s: %s\n", s->name, path, strerror(errno));
        return false;
    }
    return true;
}

bool state_load(sample_state *t, sample *s, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: %s: %s\n", s->name, path, strerror(errno));
        return false;
    }
    header h;
    const header mine = header_of(t, s);
    const char *wrong = NULL;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, mine.magic, sizeof h.magic) != 0 || h.done < 0)
        wrong = "no state of a sample";
    else if (h.n != mine.n || h.size != mine.size || h.steps != mine.steps || h.method != mine.method)
        wrong = "a state of other sizes";
    else if (h.done > s->iterations)
        wrong = "has more iterations behind it than --iterations asks for";
    else if (fread(t->p, sizeof *t->p, 4 * t->n, f) != 4 * t->n ||
             fread(t->losses, sizeof *t->losses, (size_t)h.done + 1, f) != (size_t)h.done + 1)
        wrong = "is cut short";
    fclose(f);
    if (wrong) {
        fprintf(stderr, "%s: %s: %s\n", s->name, path, wrong);
        return false;
    }
    t->done = (int)h.done;
    each(s, t->p, TK_DATA, true);
    return true;
}

/* ---- the check ---- */

static double loss_at(sample_state *t, sample *s, const double *direction, double h)
{
    double *p = t->m; /* no moments yet */
    for (size_t i = 0; i < t->n; i++)
        p[i] = t->p[i] + h * direction[i];
    each(s, p, TK_DATA, true);
    return s->run(s);
}

bool state_check(sample_state *t, sample *s)
{
    uint64_t seed = 1;
    double along = 0.0, *direction = t->v;
    each(s, t->p, TK_DATA, false);
    const double loss = s->run(s);
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        direction[i] = 2.0 * random_uniform(&seed) - 1.0;
        along += direction[i] * t->g[i];
    }
    double best = INFINITY, difference = 0.0;
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
