/* Checks the derivatives of every kernel of a module, seen through its descriptor alone:
 *   - the JVP along a random direction against Richardson-extrapolated central differences of the primal,
 *   - reverse against forward, <J v, w> = <v, J^T w>, over the whole state (all float fields with gradient and dual),
 *   - the second-order product, where the kernel has one, against differences of the gradient,
 *   - the same with several threads.
 * usage: adcheck [LO HI]   the range that float data are drawn from (default 0.3 1.2); integer fields are filled with 0..4.
 * Linked with a stub that defines adcheck_create.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tk_gen.h"

tk_module *adcheck_create(tk_session *s);
void adcheck_destroy(tk_module *m);

enum { MAX_ARGS = 4096 };

typedef struct state {
    double *at;
    int64_t n;
} state;

static uint64_t seed = 12345;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void *new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        exit(2);
    return p;
}

static bool is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

static bool in_state(const tk_field *f)
{
    return is_float(f) && f->plane[TK_GRAD] && f->plane[TK_DUAL];
}

static int64_t components(const tk_field *f)
{
    return f->count * f->desc->ncomp;
}

static void copy(tk_module *m, tk_plane plane, state *s, bool to_state)
{
    int64_t k = 0;
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        if (!in_state(f))
            continue;
        double *d = f->plane[plane];
        float *r = f->plane[plane];
        for (int64_t j = 0; j < components(f); j++, k++) {
            if (f->desc->elem == TK_F64) {
                if (to_state)
                    s->at[k] = d[j];
                else
                    d[j] = s->at[k];
            } else if (to_state) {
                s->at[k] = (double)r[j];
            } else {
                r[j] = (float)s->at[k];
            }
        }
    }
}

static int64_t state_size(const tk_module *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->desc->nfields; i++)
        if (in_state(&m->fields[i]))
            n += components(&m->fields[i]);
    return n;
}

/* Everything that is not in the state, so that each run starts alike. */
typedef struct backup {
    void **at;
} backup;

static size_t bytes(const tk_field *f)
{
    static const size_t size[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return (size_t)components(f) * size[f->desc->elem];
}

static backup save(const tk_module *m)
{
    backup b = {new((size_t)m->desc->nfields, sizeof *b.at)};
    for (int i = 0; i < m->desc->nfields; i++) {
        b.at[i] = new(bytes(&m->fields[i]), 1);
        memcpy(b.at[i], m->fields[i].plane[TK_DATA], bytes(&m->fields[i]));
    }
    return b;
}

static void restore(tk_module *m, const backup *b)
{
    for (int i = 0; i < m->desc->nfields; i++)
        memcpy(m->fields[i].plane[TK_DATA], b->at[i], bytes(&m->fields[i]));
}

static state make(int64_t n)
{
    return (state){new((size_t)n, sizeof(double)), n};
}

static state random_state(int64_t n, double lo, double hi)
{
    state s = make(n);
    for (int64_t i = 0; i < n; i++)
        s.at[i] = lo + (hi - lo) * uniform();
    return s;
}

static double dot(const state *a, const state *b)
{
    double s = 0.0;
    for (int64_t i = 0; i < a->n; i++)
        s += a->at[i] * b->at[i];
    return s;
}

static double norm(const state *a)
{
    return sqrt(dot(a, a));
}

typedef struct checker {
    tk_module *m;
    const tk_kernel *k;
    backup b;
    state x;
    int failures;
} checker;

static void need(checker *c, tk_status s)
{
    if (s == TK_OK)
        return;
    printf("%s: %s: %s\n", c->k->name, tk_status_name(s), tk_session_error(c->m->session));
    exit(1);
}

static state primal_at(checker *c, const state *d, double h)
{
    unsigned char args[MAX_ARGS] = {0};
    state y = make(c->x.n);
    for (int64_t i = 0; i < y.n; i++)
        y.at[i] = c->x.at[i] + h * d->at[i];
    restore(c->m, &c->b);
    copy(c->m, TK_DATA, &y, false);
    need(c, tk_launch(c->m, c->k, args));
    copy(c->m, TK_DATA, &y, true);
    return y;
}

/* J^T w at x + h d; leaves nothing behind. */
static state gradient_at(checker *c, const state *d, double h, const state *w)
{
    unsigned char args[MAX_ARGS] = {0}, out[MAX_ARGS] = {0};
    state y = primal_at(c, d, h);
    copy(c->m, TK_GRAD, (state *)w, false);
    need(c, tk_launch_grad(c->m, c->k, args, out));
    copy(c->m, TK_GRAD, &y, true);
    return y;
}

static state jvp(checker *c, const state *d)
{
    unsigned char args[MAX_ARGS] = {0};
    state y = make(c->x.n);
    restore(c->m, &c->b);
    copy(c->m, TK_DATA, &c->x, false);
    copy(c->m, TK_DUAL, (state *)d, false);
    need(c, tk_launch_jvp(c->m, c->k, args));
    copy(c->m, TK_DUAL, &y, true);
    return y;
}

/* (4 D(h/2) - D(h)) / 3 of central differences D. */
static state richardson(const state *p1, const state *m1, const state *p2, const state *m2, double h)
{
    state r = make(p1->n);
    for (int64_t i = 0; i < r.n; i++)
        r.at[i] = (4.0 * (p2->at[i] - m2->at[i]) / h - (p1->at[i] - m1->at[i]) / (2.0 * h)) / 3.0;
    return r;
}

static void compare(checker *c, const char *what, const state *got, const state *want, double tolerance)
{
    double top = 0.0, scale = 1.0;
    int64_t worst = 0;
    bool nan = false;
    for (int64_t i = 0; i < got->n; i++) {
        scale = fmax(scale, fabs(want->at[i]));
        nan |= isnan(got->at[i]) || isnan(want->at[i]);
        if (fabs(got->at[i] - want->at[i]) > top) {
            top = fabs(got->at[i] - want->at[i]);
            worst = i;
        }
    }
    if (!nan && top <= tolerance * scale)
        return;
    c->failures++;
    printf("%s: %s: component %lld of the state: %.12g, expected %.12g%s\n", c->k->name, what, (long long)worst, got->at[worst], want->at[worst],
           nan ? " (NaN somewhere)" : "");
}

static void compare_numbers(checker *c, const char *what, double a, double b, double scale)
{
    if (fabs(a - b) <= 1e-10 * scale)
        return;
    c->failures++;
    printf("%s: %s: %.15g and %.15g\n", c->k->name, what, a, b);
}

static void check_first(checker *c, const state *d, const state *w)
{
    const double h = 1e-3;
    state p1 = primal_at(c, d, h), m1 = primal_at(c, d, -h), p2 = primal_at(c, d, h / 2), m2 = primal_at(c, d, -h / 2);
    state fd = richardson(&p1, &m1, &p2, &m2, h);
    state t = make(c->x.n);
    if (c->k->jvp) {
        t = jvp(c, d);
        compare(c, "JVP against differences", &t, &fd, 1e-6);
        state y = primal_at(c, d, 0.0), v = make(c->x.n);
        jvp(c, d);
        copy(c->m, TK_DATA, &v, true);
        compare(c, "value computed by the JVP", &v, &y, 1e-12);
    }
    if (c->k->grad) {
        state g = gradient_at(c, d, 0.0, w);
        const state *forward = c->k->jvp ? &t : &fd;
        const double scale = norm(forward) * norm(w) + norm(d) * norm(&g) + 1e-300;
        compare_numbers(c, "reverse against forward", dot(forward, w), dot(d, &g), c->k->jvp ? scale : 1e4 * scale);
        for (int threads = 2; threads <= 7; threads += threads == 2 ? 2 : 3) {
            tk_session_set_threads(c->m->session, threads);
            state again = gradient_at(c, d, 0.0, w);
            compare(c, "gradient with several threads", &again, &g, 1e-11);
            tk_session_set_threads(c->m->session, 1);
        }
    }
}

static void check_second(checker *c, const state *d, const state *w)
{
    if (!c->k->hvp)
        return;
    unsigned char args[MAX_ARGS] = {0}, out[MAX_ARGS] = {0};
    const double h = 1e-3;
    state zero = make(c->x.n), got = make(c->x.n);
    need(c, tk_module_need_grad_dual(c->m));
    jvp(c, d);
    copy(c->m, TK_GRAD, (state *)w, false);
    copy(c->m, TK_GRAD_DUAL, &zero, false);
    need(c, tk_launch_hvp(c->m, c->k, args, out));
    copy(c->m, TK_GRAD_DUAL, &got, true);
    state p1 = gradient_at(c, d, h, w), m1 = gradient_at(c, d, -h, w), p2 = gradient_at(c, d, h / 2, w), m2 = gradient_at(c, d, -h / 2, w);
    state fd = richardson(&p1, &m1, &p2, &m2, h);
    compare(c, "second-order product against differences", &got, &fd, 1e-6);
}

int main(int argc, char **argv)
{
    const double lo = argc > 2 ? atof(argv[1]) : 0.3, hi = argc > 2 ? atof(argv[2]) : 1.2;
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    tk_session *s = tk_session_create(&o);
    tk_module *m = s ? adcheck_create(s) : NULL;
    if (!m) {
        printf("%s\n", tk_error());
        return 2;
    }
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        int32_t *n = f->plane[TK_DATA];
        double *r = f->plane[TK_DATA];
        for (int64_t j = 0; j < components(f); j++) {
            if (f->desc->elem == TK_I32)
                n[j] = (int32_t)((j * 7 + 3) % 5);
            else if (f->desc->elem == TK_F64 && !in_state(f))
                r[j] = lo + (hi - lo) * uniform();
        }
    }
    int failures = 0, checked = 0;
    for (int k = 0; k < m->desc->nkernels; k++) {
        checker c = {.m = m, .k = &m->desc->kernels[k], .b = save(m)};
        if (c.k->args_size > MAX_ARGS || c.k->jvp_args_size > MAX_ARGS)
            return 2;
        for (int round = 0; round < 3; round++) {
            c.x = random_state(state_size(m), lo, hi);
            state d = random_state(c.x.n, -1.0, 1.0), w = random_state(c.x.n, -1.0, 1.0);
            check_first(&c, &d, &w);
            check_second(&c, &d, &w);
        }
        restore(m, &c.b);
        failures += c.failures;
        checked += (c.k->grad != NULL) + (c.k->jvp != NULL) + (c.k->hvp != NULL);
    }
    if (!checked) {
        printf("no derivative to check\n");
        failures++;
    }
    adcheck_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
