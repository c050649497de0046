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

bool state_create(sample_state *t, sample *s)
{
    for (const char *const *name = s->parameters; name && *name; name++) {
        const tk_field *f = tk_field_find(s->session, *name);
        if (!f || !tk_field_grad(f))
            return sample_fails(s, *name, f ? "has no gradient" : tk_error());
        t->n += (size_t)tk_field_count(f);
    }
    t->start = calloc(5 * t->n + MOST_ITERATIONS + 1, sizeof *t->start); /* what nobody writes to takes no memory */
    if (!t->start)
        return sample_fails(s, "memory", strerror(errno));
    t->p = t->start + t->n;
    t->g = t->p + t->n;
    t->m = t->g + t->n;
    t->v = t->m + t->n;
    t->losses = t->v + t->n;
    each(s, t->start, TK_DATA, false);
    state_restart(t, s);
    return true;
}

void state_restart(sample_state *t, sample *s)
{
    memcpy(t->p, t->start, t->n * sizeof *t->p);
    memset(t->g, 0, 3 * t->n * sizeof *t->g);
    t->done = 0;
    each(s, t->p, TK_DATA, true);
}

bool state_episode(sample_state *t, sample *s)
{
    char when[64];
    struct timespec from, to;
    s->iteration = t->done;
    tk_session_set_seed(s->session, (uint64_t)s->seed << 32 | (uint64_t)t->done); /* also the same after --resume */
    clock_gettime(CLOCK_MONOTONIC, &from);
    const double loss = t->losses[t->done] = s->run(s);
    clock_gettime(CLOCK_MONOTONIC, &to);
    t->seconds += (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    t->episodes++;
    if (t->n > 0)
        s->curve = t->losses, s->curve_length = t->done + 1;
    snprintf(when, sizeof when, "%g after %d iterations", loss, t->done);
    return tk_session_status(s->session) == TK_OK && (t->n == 0 || isfinite(loss) || sample_fails(s, "loss", when));
}

bool state_step(sample_state *t, sample *s)
{
    double square = 0.0;
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        if (s->clip > 0.0 && !isnan(t->g[i]))
            t->g[i] = fmin(fmax(t->g[i], -s->clip), s->clip);
        square += t->g[i] * t->g[i];
    }
    square = s->sum ? s->sum(square) : square;
    if (isnan(square))
        return sample_fails(s, "gradient", "not a number");
    const double r = s->method == NORMALISED ? s->rate / (sqrt(square) + 1e-30) : s->rate;
    const double m_part = 1.0 - pow(0.9, t->done + 1), v_part = 1.0 - pow(0.999, t->done + 1);
    for (size_t i = 0; i < t->n; i++) {
        double step = t->g[i];
        if (s->method == ADAM) {
            t->m[i] = 0.9 * t->m[i] + 0.1 * t->g[i];
            t->v[i] = 0.999 * t->v[i] + 0.001 * t->g[i] * t->g[i];
            step = t->m[i] / m_part / (sqrt(t->v[i] / v_part) + 1e-8);
        }
        t->p[i] -= r * step;
    }
    each(s, t->p, TK_DATA, true);
    t->done++;
    return true;
}

/* ---- the file: a line of text, then p, g, m, v and the losses, as they are in memory ---- */

#define FIRST_LINE "tkc sample: size %d, steps %d, method %d, numbers %zu, iterations %d"

bool state_save(const sample_state *t, const sample *s, const char *path)
{
    char new[4096 + 8];
    snprintf(new, sizeof new, "%s.new", path);
    FILE *f = fopen(new, "wb");
    const bool ok = f && fprintf(f, FIRST_LINE "\n", s->size, s->steps, (int)s->method, t->n, t->done) > 0 &&
                    fwrite(t->p, (4 * t->n + (size_t)t->done + 1) * sizeof *t->p, 1, f) == 1;
    if (f && fclose(f) == 0 && ok && rename(new, path) == 0) /* the old one stays whole until the new one is */
        return true;
    sample_fails(s, path, strerror(errno));
    unlink(new);
    return false;
}

bool state_load(sample_state *t, sample *s, const char *path)
{
    int size, steps, method, done = 0;
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f)
        return sample_fails(s, path, strerror(errno));
    const int found = fscanf(f, FIRST_LINE, &size, &steps, &method, &n, &done);
    const char *wrong = NULL;
    if (found < 4 || size != s->size || steps != s->steps || method != (int)s->method || n != t->n)
        wrong = found < 1 ? "no state of a sample" : "a state of other sizes";
    else if (found < 5 || fgetc(f) != '\n' || done < 0 || done > MOST_ITERATIONS ||
             fread(t->p, (4 * t->n + (size_t)done + 1) * sizeof *t->p, 1, f) != 1 || fgetc(f) != EOF)
        wrong = "a state that is broken";
    fclose(f);
    t->done = wrong ? 0 : done;
    each(s, t->p, TK_DATA, true);
    return !wrong || sample_fails(s, path, wrong);
}

bool state_check(sample_state *t, sample *s)
{
    uint64_t seed = 1;
    double along = 0.0, best = INFINITY, *at = t->m, *direction = t->v; /* no moments any more */
    bool ok = state_episode(t, s);
    const double loss = t->losses[t->done];
    each(s, t->g, TK_GRAD, false);
    for (size_t i = 0; i < t->n; i++) {
        direction[i] = 2.0 * random_uniform(&seed) - 1.0;
        along += direction[i] * t->g[i];
    }
    along = s->sum ? s->sum(along) : along;
    for (double h = 1e-3; ok && h > 1e-8; h *= 0.1) { /* the best step is nobody's to know */
        double d = 0.0;
        for (int side = -1; ok && side <= 1; side += 2) {
            for (size_t i = 0; i < t->n; i++)
                at[i] = t->p[i] + side * h * direction[i];
            each(s, at, TK_DATA, true);
            ok = state_episode(t, s);
            d += side * t->losses[t->done] / (2.0 * h);
        }
        best = fabs(d - along) < fabs(best - along) ? d : best;
    }
    printf("%s: loss %.12g, along a direction %.12g by the tape, %.12g by differences\n", s->name, loss, along, best);
    return ok;
}
