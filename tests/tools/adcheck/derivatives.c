/* Derivatives of first and second order: the JVP against differences, reverse against forward, the same with several threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addata.h"
#include "checker.h"

/* ---- differences ---- */

/* Where f32 is among the numbers: what was added up in f32 may have been that large, whatever is left of it, and what is computed in f64 from it. */
#define SUM_OF_SINGLES 64.0
#define FROM_SINGLES 16.0

struct doubt {
    state unsure;                /* how far the extrapolations of three step sizes are apart */
    state rounded;               /* how much of the result may be rounding, where f32 is among the numbers: sums of many are no longer exact */
    state near;                  /* differences of a step so small that rounding is about to take over */
};

typedef state map_fn(checker *c, const state *d, double h, const state *w);

/* (4 D(h/2) - D(h)) / 3 of central differences D. */
static state richardson(const state *p1, const state *m1, const state *p2, const state *m2, double h)
{
    state r = ad_make(p1->n);
    for (int64_t i = 0; i < r.n; i++)
        r.at[i] = (4.0 * (p2->at[i] - m2->at[i]) / h - (p1->at[i] - m1->at[i]) / (2.0 * h)) / 3.0;
    return r;
}

/* A component of f32 cannot be told by steps so small that rounding is about to take over: there, slopes to both sides tell a kink. */
static void doubt_singles(const checker *c, doubt *doubt, state y, state p, state m, double h)
{
    for (int64_t i = 0; i < y.n; i++) {
        doubt->rounded.at[i] = 0x1p-23 * fmax(fabs(y.at[i]), c->single[i] ? SUM_OF_SINGLES : FROM_SINGLES) / (2.0 * h);
        if (c->single[i])
            doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(p.at[i] - 2.0 * y.at[i] + m.at[i]) / h);
    }
}

/* How far the derivative along d is from the sum of those along parts of it. The median of three equal numbers is as steep on both sides along any d; that it
 * follows the same one of them along all parts is not likely. */
static void doubt_parts(checker *c, map_fn *f, const state *d, const state *w, doubt *doubt, const state *whole, double h)
{
    enum { PARTS = 5 };
    state rest = ad_make(d->n), sum = ad_make(d->n);
    memcpy(rest.at, d->at, (size_t)d->n * sizeof *d->at);
    for (int k = 0; k < PARTS; k++) {
        state part = ad_make(d->n);
        for (int64_t i = 0; i < d->n; i++) {
            part.at[i] = k == PARTS - 1 ? rest.at[i] : d->at[i] == 0.0 ? 0.0 : 2.0 * ad_uniform() - 1.0;
            rest.at[i] -= part.at[i];
        }
        const state p1 = f(c, &part, h, w), m1 = f(c, &part, -h, w), p2 = f(c, &part, h / 2, w), m2 = f(c, &part, -h / 2, w), slope = richardson(&p1, &m1, &p2, &m2, h);
        for (int64_t i = 0; i < d->n; i++)
            sum.at[i] += slope.at[i];
    }
    for (int64_t i = 0; i < d->n; i++)
        doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(whole->at[i] - sum.at[i]));
}

/* How far the slopes to both sides of x are apart: extrapolated to steps of zero, since what is curved has that as well. At a kink a central difference gives
 * the mean of both, for all steps. */
static void doubt_sides(doubt *doubt, state y, const state *p2, const state *m2, const state *p, const state *m, double h)
{
    for (int64_t i = 0; i < y.n; i++) {
        const double coarse = (p2->at[i] - 2.0 * y.at[i] + m2->at[i]) / (2.0 * h), fine = (p->at[i] - 2.0 * y.at[i] + m->at[i]) / h;
        doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(2.0 * fine - coarse));
    }
}

/* Where rounding decides, as between one value computed in two ways, the step sizes may all come out on one side, and x on the other: a jump beside x tells. */
static void doubt_jumps(doubt *doubt, state y, state p, state m)
{
    for (int64_t i = 0; i < y.n; i++)
        if (fabs(p.at[i] - y.at[i]) > 1e-5 * (1.0 + fabs(y.at[i])) || fabs(m.at[i] - y.at[i]) > 1e-5 * (1.0 + fabs(y.at[i])))
            doubt->unsure.at[i] = INFINITY;
}

/* The derivative of a map along d, by differences. */
static state differences(checker *c, map_fn *f, const state *d, const state *w, doubt *doubt)
{
    const double h = 0x1p-10;
    state p1 = f(c, d, h, w), m1 = f(c, d, -h, w), p2 = f(c, d, h / 2, w), m2 = f(c, d, -h / 2, w);
    state r = richardson(&p1, &m1, &p2, &m2, h);
    if (!doubt)
        return r;
    /* two comparisons: near a jump of the second derivative one of them agrees by chance */
    state p4 = f(c, d, h / 4, w), m4 = f(c, d, -h / 4, w), p8 = f(c, d, h / 8, w), m8 = f(c, d, -h / 8, w);
    state finer = richardson(&p2, &m2, &p4, &m4, h / 2), finest = richardson(&p4, &m4, &p8, &m8, h / 4);
    const state p = f(c, d, 0x1p-32, w), m = f(c, d, -0x1p-32, w);
    doubt->unsure = ad_make(r.n);
    doubt->near = ad_make(r.n);
    doubt->rounded = ad_make(r.n);
    for (int64_t i = 0; i < r.n; i++) {
        doubt->unsure.at[i] = fmax(fabs(finer.at[i] - r.at[i]), fabs(finest.at[i] - finer.at[i]));
        doubt->near.at[i] = (p.at[i] - m.at[i]) / 0x1p-31;
    }
    doubt_jumps(doubt, f(c, d, 0.0, w), p, m);
    if (c->single)
        doubt_singles(c, doubt, f(c, d, 0.0, w), p8, m8, h / 8);
    if (c->algorithm) {
        doubt_sides(doubt, f(c, d, 0.0, w), &p4, &m4, &p8, &m8, h / 8);
        doubt_parts(c, f, d, w, doubt, &finest, h / 4);
    }
    return finest;
}

/* ---- comparisons ---- */

double ad_rounding(const checker *c, double of_f64)
{
    return c->single ? 2e-5 : of_f64;
}

void ad_compare(checker *c, const char *what, const state *got, const state *want, const doubt *doubt, double tolerance)
{
    double top = 0.0, scale = 1.0;
    int64_t worst = 0;
    bool nan = false;
    for (int64_t i = 0; i < got->n; i++) {
        nan |= isnan(got->at[i]) || isnan(want->at[i]);
        if (!doubt || doubt->unsure.at[i] < 0.1 * fmax(1.0, fabs(want->at[i])))
            scale = fmax(scale, fabs(want->at[i]));
    }
    for (int64_t i = 0; i < got->n; i++) {
        const double coarse = !doubt || !c->single ? 1.0 : c->single[i] ? 1e4 : 1e2; /* differences of f32, and of what is computed from it */
        const double off = fmax(0.0, fabs(got->at[i] - want->at[i]) - (doubt ? doubt->rounded.at[i] : 0.0));
        const bool rough = doubt && off > tolerance * scale && fabs(doubt->near.at[i] - got->at[i]) < 0.5 * fabs(doubt->near.at[i] - want->at[i]);
        if (rough || (doubt && doubt->unsure.at[i] > 0.25 * coarse * tolerance * scale)) {
            c->skipped++;
            continue;
        }
        c->compared += doubt != NULL;
        c->telling += doubt && got->at[i] != 0.0 && got->at[i] != c->passed->at[i];
        if (off > coarse * top) {
            top = off / coarse;
            worst = i;
        }
    }
    if (!nan && top <= tolerance * scale)
        return;
    c->failures++;
    printf("%s: %s: component %lld of the state: %.12g, expected %.12g%s\n", c->k->name, what, (long long)worst, got->at[worst], want->at[worst],
           nan ? " (NaN somewhere)" : "");
}

void ad_compare_numbers(checker *c, const char *what, double a, double b, double scale)
{
    if (fabs(a - b) <= ad_rounding(c, c->algorithm ? 1e-12 : 1e-10) * scale)
        return;
    c->failures++;
    printf("%s: %s: %.15g and %.15g\n", c->k->name, what, a, b);
}

/* ---- both orders ---- */

static state values(checker *c, const state *d, double h, const state *w)
{
    (void)w;
    return ad_primal_at(c, d, h);
}

/* How many of the fields that the kernel only reads have no gradient at all. */
static void count_zeros(checker *c, const state *g, const state *w, bool *nonzero)
{
    int64_t at = 0;
    c->inputs = c->zero = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        if (!ad_in_state(f))
            continue;
        const unsigned what = ad_touches(c->k, i);
        bool any = false;
        for (int64_t j = 0; j < ad_components(f); j++, at++)
            any |= g->at[at] != w->at[at];
        if ((what & TK_READS) && !(what & (TK_STORES | TK_ACCUMULATES))) {
            c->inputs++;
            nonzero[i] |= any || (c->algorithm && addata_decides(f->desc->name));
            c->zero += !nonzero[i];
            if (getenv("ADCHECK_ZERO") && !nonzero[i])
                printf("zero %s\n", f->desc->name);
        }
    }
}

/* With f32 among the fields, sums in another order may lose digits. */
static void check_threads(checker *c, const state *d, const state *w, const state *y, const state *g, const state *t, int threads)
{
    tk_session_set_threads(c->m->session, threads);
    state again = ad_primal_at(c, d, 0.0);
    ad_compare(c, "value with several threads", &again, y, NULL, c->single ? 2e-3 : 1e-11);
    if (c->k->grad) {
        again = ad_gradient_at(c, d, 0.0, w);
        ad_compare(c, "gradient with several threads", &again, g, NULL, c->single ? 2e-3 : 1e-11);
    }
    if (c->k->jvp) {
        again = ad_jvp(c, d);
        ad_compare(c, "JVP with several threads", &again, t, NULL, c->single ? 2e-3 : 1e-11);
    }
    tk_session_set_threads(c->m->session, 1);
}

/* How much <J d, w> and <d, J^T w> change with x in its last digits: a loop that iterates a chaotic map makes much of them. */
static double sensitivity(checker *c, const state *d, const state *w, double forward, double reverse)
{
    const state x = c->x;
    c->x = ad_make(x.n);
    for (int64_t i = 0; i < x.n; i++)
        c->x.at[i] = x.at[i] * (1.0 + (i % 2 ? 1e-15 : -1e-15));
    const state t = ad_jvp(c, d), g = ad_gradient_at(c, d, 0.0, w);
    c->x = x;
    return fabs(ad_dot(&t, w) - forward) + fabs(ad_dot(d, &g) - reverse);
}

void ad_check_first(checker *c, const state *d, const state *w, int threads)
{
    doubt doubt = {0};
    c->passed = d;
    state y = ad_primal_at(c, d, 0.0);
    const state dg = ad_only_with_gradient(c, d, false);
    state fd = differences(c, values, c->k->jvp ? d : &dg, NULL, c->table ? &doubt : NULL);
    state t = ad_make(c->x.n), g = ad_make(c->x.n);
    if (c->k->jvp) {
        t = ad_jvp(c, d);
        ad_compare(c, "JVP against differences", &t, &fd, c->table ? &doubt : NULL, 1e-6);
        state v = ad_make(c->x.n);
        ad_jvp(c, d);
        ad_copy(c->m, TK_DATA, &v, true);
        ad_take_tail(c, TK_DATA, &v);
        ad_compare(c, "value computed by the JVP", &v, &y, NULL, ad_rounding(c, 1e-12));
    }
    if (c->k->grad) {
        g = ad_gradient_at(c, d, 0.0, w);
        const state forward = !c->k->jvp ? fd : c->nparams || c->k->narrays ? ad_jvp(c, &dg) : t;
        const double scale = ad_norm(&forward) * ad_norm(w) + ad_norm(&dg) * ad_norm(&g) + 1e-300;
        bool known = true; /* without a JVP, differences must do, unless one of them is at a kink */
        for (int64_t i = 0; i < fd.n && !c->k->jvp && c->table; i++)
            known &= doubt.unsure.at[i] < 1e-7 * (1.0 + ad_norm(&fd));
        const double a = ad_dot(&forward, w), b = ad_dot(&dg, &g);
        if (c->table && c->k->jvp && fabs(a - b) > ad_rounding(c, 1e-10) * scale)
            known = fabs(a - b) > 10.0 * sensitivity(c, &dg, w, a, b);
        if (known)
            ad_compare_numbers(c, "reverse against forward", a, b, c->k->jvp ? scale : 1e4 * scale);
        else
            c->skipped += fd.n;
        count_zeros(c, &g, w, c->nonzero);
    }
    if (threads > 1)
        check_threads(c, d, w, &y, &g, &t, threads);
    for (int n = 2; !threads && n <= 7; n += n == 2 ? 2 : 3)
        check_threads(c, d, w, &y, &g, &t, n);
}

/* The adjoint behind a JVP and a second-order product, called directly: it goes by what the JVP has kept. */
static void check_adjoint_behind(checker *c, const state *d, const state *w, const state *want)
{
    const arguments args = ad_fill_arguments(c, &c->x, d);
    arguments out = {{0}};
    state g = ad_make(c->x.n);
    ad_copy(c->m, TK_GRAD, (state *)w, false);
    ad_set_tail(c, TK_GRAD, w);
    ad_need(c, tk_launch_grad(c->m, c->k, args.at, out.at));
    ad_copy(c->m, TK_GRAD, &g, true);
    ad_take_gradients(c, &out, false, &g);
    ad_compare(c, "gradient behind a second-order product", &g, want, NULL, ad_rounding(c, 1e-10));
}

void ad_check_second(checker *c, const state *d, const state *w)
{
    if (!c->k->hvp)
        return;
    doubt doubt = {0};
    state g;
    const state got = ad_second_order(c, d, w, &g);
    check_adjoint_behind(c, d, w, &g);
    state fd = differences(c, ad_gradient_at, d, w, c->table ? &doubt : NULL);
    ad_compare(c, "second-order product against differences", &got, &fd, c->table ? &doubt : NULL, c->single ? 1e-5 : 1e-6);
}
