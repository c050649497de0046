/* Data at ties, where another rounding is another decision; and the memory beside fields. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"
#include "ties.h"

/* ---- data at ties ---- */

/* Integers, and floats without derivatives: decisions that a launch has written down. */
static state decisions(const tk_module *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->desc->nfields; i++)
        n += ad_in_state(&m->fields[i]) ? 0 : ad_components(&m->fields[i]);
    state s = ad_make(n);
    n = 0;
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        for (int64_t j = 0; !ad_in_state(f) && j < ad_components(f); j++)
            memcpy(&s.at[n++], ad_component(f, TK_DATA, j), ad_scalar_bytes(f));
    }
    return s;
}

static void compare_decisions(checker *c, const char *what, const state *got, const state *want)
{
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; !ad_in_state(f) && j < ad_components(f); j++, at++) {
            if (!memcmp(&got->at[at], &want->at[at], sizeof(double)))
                continue;
            c->failures++;
            printf("%s: %s: decided otherwise: component %lld of '%s'\n", c->k->name, what, (long long)j, f->desc->name);
            return;
        }
    }
}

state ad_state_at_ties(const checker *c, const state *like, int round, double lo, double hi)
{
    state x = ad_make(like->n);
    const double h = adcheck_step ? adcheck_step() : ties_steps[round % (int)(sizeof ties_steps / sizeof *ties_steps)];
    for (int64_t i = 0; i < x.n; i++) {
        const double u[] = {ad_uniform(), ad_uniform(), ad_uniform(), ad_uniform()};
        x.at[i] = ties_draw(h, u, lo, hi, c->f32[i]);
    }
    return x;
}

state ad_random_direction(const checker *c)
{
    state d = ad_random_state(c->x.n, -1.0, 1.0);
    for (int64_t i = 0; i < d.n; i++)
        if (c->f32[i])
            d.at[i] = round(d.at[i] * 16.0) / 16.0;
    return d;
}

/* A direction that leaves most fields as they are: what they decide stays decided, and differences tell. */
static state some_fields(const checker *c, const state *d)
{
    state r = ad_make(d->n);
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const int64_t n = ad_in_state(&c->m->fields[i]) ? ad_components(&c->m->fields[i]) : 0;
        if (ad_uniform() < 0.3)
            memcpy(r.at + at, d->at + at, (size_t)n * sizeof *d->at);
        at += n;
    }
    for (; at < d->n; at++)
        r.at[at] = ad_uniform() < 0.5 ? d->at[at] : 0.0;
    return r;
}

static const double TIE_STEP = 0x1p-9;

/* The derivative to one side (that of h), extrapolated from three steps; NaN at a jump. */
static state slope(checker *c, const state *d, double h)
{
    const state y = ad_primal_at(c, d, 0.0), y1 = ad_primal_at(c, d, h), y2 = ad_primal_at(c, d, h / 2), y4 = ad_primal_at(c, d, h / 4);
    state r = ad_make(y.n);
    for (int64_t i = 0; i < r.n; i++) {
        const double d1 = (y1.at[i] - y.at[i]) / h, d2 = (y2.at[i] - y.at[i]) / (h / 2), d4 = (y4.at[i] - y.at[i]) / (h / 4);
        r.at[i] = (8.0 * d4 - 6.0 * d2 + d1) / 3.0;
        if (fabs(r.at[i] - (2.0 * d4 - d2)) > 1e-3 * (1.0 + fabs(r.at[i])))
            r.at[i] = NAN;
    }
    return r;
}

typedef enum verdict { RIGHT, UNKNOWN, WRONG } verdict;

/* At a tie a launch goes one of several ways, each of which may be the one on either side. Where both sides agree there is one derivative. */
static verdict side(double got, double right, double left)
{
    const double scale = 1.0 + fabs(got);
    if (fabs(got - right) <= 1e-5 * scale || fabs(got - left) <= 1e-5 * scale)
        return RIGHT;
    return fabs(right - left) <= 1e-7 * scale ? WRONG : UNKNOWN;
}

/* Two decisions at ties may leave to different sides, so that neither side goes the launch's way (e[a] * e[b] at a tie of both, where e of one cell is zero):
 * component `of` is wrong if it is along a single component of the direction. */
static bool wrong_alone(checker *c, const state *d, int64_t of)
{
    for (int64_t j = 0; j < d->n; j++) {
        if (d->at[j] == 0.0)
            continue;
        state one = ad_make(d->n);
        one.at[j] = d->at[j];
        if (side(ad_jvp(c, &one).at[of], slope(c, &one, TIE_STEP).at[of], slope(c, &one, -TIE_STEP).at[of]) == WRONG)
            return true;
    }
    return false;
}

static void compare_sides(checker *c, const state *d)
{
    const state t = ad_jvp(c, d), right = slope(c, d, TIE_STEP), left = slope(c, d, -TIE_STEP);
    for (int64_t i = 0; i < t.n; i++) {
        const verdict v = side(t.at[i], right.at[i], left.at[i]);
        if (v == RIGHT) {
            c->compared++;
        } else if (v == UNKNOWN || !wrong_alone(c, d, i)) {
            c->skipped++;
        } else {
            c->failures++;
            printf("%s: JVP against differences to both sides: component %lld of the state: %.12g, expected %.12g\n", c->k->name, (long long)i, t.at[i], right.at[i]);
            return;
        }
    }
}

/* Forward and reverse at the same decisions: nothing excuses that they differ. */
static state same_ways(checker *c, const state *d, const state *w, const char *what)
{
    const state dg = ad_only_with_gradient(c, d, false), t = ad_jvp(c, &dg), g = ad_gradient_at(c, d, 0.0, w);
    const double scale = ad_norm(&t) * ad_norm(w) + ad_norm(&dg) * ad_norm(&g) + 1e-300;
    ad_compare_numbers(c, what, ad_dot(&t, w), ad_dot(&dg, &g), scale);
    return g;
}

/* Of a second-order product at ties: its gradient is the adjoint's, and the Hessian is symmetric. */
static void check_second_at_ties(checker *c, const state *d, const state *w, const state *g)
{
    if (!c->k->hvp || !c->k->grad)
        return;
    const state u = ad_random_direction(c);
    state gd, gu;
    const state dg = ad_only_with_gradient(c, d, false), ug = ad_only_with_gradient(c, &u, false);
    const state hd = ad_second_order(c, &dg, w, &gd), hu = ad_second_order(c, &ug, w, &gu);
    ad_compare(c, "gradient of the second-order product", &gd, g, NULL, ad_rounding(c, 1e-10));
    ad_compare_numbers(c, "symmetry of the second-order product", ad_dot(&hd, &ug), ad_dot(&hu, &dg), ad_norm(&hd) * ad_norm(&ug) + ad_norm(&hu) * ad_norm(&dg) + 1e-300);
}

/* Of a program that computes values twice: `zero` says where they differ. */
static void check_zero(checker *c)
{
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        if (strcmp(f->desc->name, "zero") || !(ad_touches(c->k, i) & TK_STORES))
            continue;
        for (int64_t j = 0; j < ad_components(f); j++) {
            if (*(const int32_t *)ad_component(f, TK_DATA, j) == 0)
                continue;
            c->failures++;
            printf("%s: a value computed twice is two values, at %lld\n", c->k->name, (long long)j);
            return;
        }
    }
}

void ad_check_at_ties(checker *c, const state *d, const state *w, int threads)
{
    const state y = ad_primal_at(c, d, 0.0), decided = decisions(c->m);
    check_zero(c);
    if (c->k->jvp) {
        state v = ad_make(c->x.n);
        ad_jvp(c, d);
        const state again = decisions(c->m);
        ad_copy(c->m, TK_DATA, &v, true);
        ad_take_tail(c, TK_DATA, &v);
        compare_decisions(c, "JVP at ties", &again, &decided);
        ad_compare(c, "value computed by the JVP at ties", &v, &y, NULL, ad_rounding(c, 1e-12));
    }
    if (c->k->jvp && c->k->grad) {
        const state g = same_ways(c, d, w, "reverse against forward at ties");
        check_second_at_ties(c, d, w, &g);
    }
    if (c->k->jvp && !c->single) {
        const state some = some_fields(c, d);
        compare_sides(c, &some);
    }
    if (threads > 1 && c->k->jvp && c->k->grad) {
        tk_session_set_threads(c->m->session, threads);
        same_ways(c, d, w, "reverse against forward at ties, with several threads");
        tk_session_set_threads(c->m->session, 1);
    }
}

/* ---- the memory beside fields ---- */

void ad_bind_guarded(tk_module *m)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        void *given[] = {NULL, NULL, NULL};
        if (f->member)
            continue;
        for (int p = TK_DATA; p <= TK_DUAL; p++)
            if (f->plane[p])
                given[p] = guard_new(ad_bytes(f));
        adcheck_bind(m, f->desc->name, given);
    }
}

void ad_check_guards(checker *c)
{
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int p = TK_DATA; f->bound && p <= TK_DUAL; p++) {
            if (!f->plane[p] || guard_whole(f->plane[p], ad_bytes(f)))
                continue;
            c->failures++;
            printf("%s: wrote beside '%s', plane %d\n", c->k->name, f->desc->name, p);
        }
    }
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int p = TK_DATA; p <= TK_GRAD_DUAL; p++) {
            if (!a->base[p] || guard_whole(a->base[p], (size_t)(a->n / a->type->ncomp) * a->stride))
                continue;
            c->failures++;
            printf("%s: wrote beside the array '%s', plane %d\n", c->k->name, a->type->name, p);
        }
    }
}
