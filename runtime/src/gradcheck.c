/* Three ways to the same derivative, compared. */
#include "gradcheck.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* So uncertain, relative to the derivative, are differences that tell nothing. */
#define UNDECIDED 0.1

/* The ratio of |a - b| to what is tolerated; NaN counts as wrong unless both are. */
static double ratio_of(double a, double b, double allowed)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    return a == b ? 0 : fabs(a - b) / allowed;
}

/* Against differences: of both modes the worse one. */
static double against(const modes *m, double slope, double tolerance, double size, double error)
{
    const double one = ratio_of(m->reverse, slope, tolerance * size + error);
    return m->has_forward ? fmax(one, ratio_of(m->forward, slope, tolerance * fmax(size, fabs(m->forward)) + error))
                          : one;
}

/* Where slopes to both sides differ, at a kink, each of them is a derivative, and what lies between. At a jump nothing
 * is. */
static double against_sides(gradcheck *g, const rt_line *l, const modes *m, double ratio, double tolerance, double size)
{
    const rt_slope right = tk_rt_slope_aside(l, 1), left = tk_rt_slope_aside(l, -1);
    if (right.jump || left.jump) {
        g->result.jumps++;
        return 0;
    }
    const double error = right.error + left.error;
    if (!(fabs(right.slope - left.slope) > tolerance * fmax(fabs(right.slope), fabs(left.slope)) + error))
        return ratio;
    g->result.kinks++;
    const double lo = fmin(right.slope, left.slope), hi = fmax(right.slope, left.slope);
    return against(m, fmin(fmax(m->reverse, lo), hi), tolerance, fmax(size, hi - lo), error);
}

/* Many small jumps: their slope may be what differences see, and no derivative has it. Differences tell nothing then,
 * unless the modes are further off than by that. */
static bool jumps_explain(const rt_line *l, const modes *m, const rt_slope *d)
{
    const double apart = fmax(fabs(m->reverse - d->slope), m->has_forward ? fabs(m->forward - d->slope) : 0);
    return !isnan(m->reverse) && isfinite(apart) && tk_rt_slope_of_jumps(l, d->step, apart / 4);
}

/* A derivative that is small beside the others of its field has their rounding. */
static double size_of(const gradcheck *g, const modes *m, const rt_slope *d)
{
    return fmax(fmax(fabs(m->reverse), fabs(d->slope)), 1e-2 * g->largest);
}

/* Against central differences that know the noise of the loss. */
static double against_noise(const gradcheck *g, const rt_line *l, const modes *m, rt_slope *d, double tolerance)
{
    rt_line noisy = *l;
    noisy.noise = tk_rt_slope_noise(l, d->step);
    *d = tk_rt_slope_central(&noisy);
    return against(m, d->slope, tolerance, size_of(g, m, d), d->error);
}

void tk_rt_compare(gradcheck *g, const rt_line *l, const modes *m, tk_field *f, int64_t k)
{
    rt_slope d = tk_rt_slope_central(l);
    const double tolerance = g->o.tolerance > 0 ? g->o.tolerance : l->single ? 1e-2 : 1e-5;
    const double size = size_of(g, m, &d);
    const double modes_apart = m->has_forward ? ratio_of(m->reverse, m->forward,
                                                         (l->single ? 1e-4 : 1e-10) * fmax(size, fabs(m->forward)))
                                              : 0;
    double ratio = against(m, d.slope, tolerance, size, d.error);
    bool central = true;
    if (!(ratio <= 1) && modes_apart <= 1) {
        const int64_t kinks = g->result.kinks;
        ratio = against_sides(g, l, m, ratio, tolerance, size);
        central = !(ratio <= 1);
        if (central && jumps_explain(l, m, &d)) {
            ratio = 0;
            central = false;
            g->result.kinks = kinks;
            g->result.jumps++;
        }
        if (central)
            ratio = against_noise(g, l, m, &d, tolerance);
    }
    ratio = fmax(ratio, modes_apart);
    const bool decides = isfinite(d.error) && !(ratio > 0 && d.error > UNDECIDED * size_of(g, m, &d));
    g->result.undecided += central && !(ratio > 1) && !decides;
    g->result.compared++;
    if (g->result.compared > 1 && !(ratio > g->worst))
        return;
    g->worst = ratio;
    g->result.field = f;
    g->result.component = k;
    g->result.reverse = m->reverse;
    g->result.forward = m->forward;
    g->result.difference = isfinite(d.error) ? d.slope : NAN;
    g->result.step = d.step;
}

bool tk_rt_told_nothing(const tk_gradcheck_result *r)
{
    return r->undecided > 0 && r->undecided == r->compared;
}

const char *tk_rt_not_finite(double x)
{
    return isnan(x) ? "NaN" : "infinite";
}

const char *tk_rt_undecided(const tk_gradcheck_result *r)
{
    return isnan(r->difference) ? "are not finite, and do not tell" : "have too few digits to tell";
}

const char *tk_rt_remedy(const tk_gradcheck_result *r, bool module)
{
    return isnan(r->difference) ? "" : module ? ": use f64 (--real=f64)" : ": use f64";
}

rt_text tk_rt_text_of_modes(const tk_gradcheck_result *r)
{
    rt_text t;
    if (isnan(r->forward) && !r->has_forward)
        snprintf(t.s, sizeof t.s, "%.9g by reverse mode, %.9g by differences (step %g)", r->reverse, r->difference,
                 r->step);
    else
        snprintf(t.s, sizeof t.s, "%.9g by reverse mode, %.9g by forward mode, %.9g by differences (step %g)",
                 r->reverse, r->forward, r->difference, r->step);
    return t;
}

/* ---- functions of the host ---- */

typedef struct host_function {
    tk_value_fn value;
    void *user;
    double *x;
    size_t k;
    bool single;
} host_function;

static double value_at(void *ctx, double *x)
{
    const host_function *h = ctx;
    const double old = h->x[h->k];
    *x = h->single ? (double)(float)*x : *x;
    h->x[h->k] = *x;
    const double y = h->value(h->user, h->x);
    h->x[h->k] = old;
    return y;
}

static double slope_along(tk_jvp_fn jvp, void *user, const double *x, double *unit, size_t k)
{
    unit[k] = 1;
    const double slope = jvp(user, x, unit);
    unit[k] = 0;
    return slope;
}

tk_status tk_gradcheck_function(const double *x, size_t n, const tk_function *f, void *user, double tolerance,
                                tk_gradcheck_result *result)
{
    if (!f || !f->value || !f->gradient || (!x && n > 0))
        return tk_rt_thread_fail(TK_BAD_ARGUMENT,
                                 "tk_gradcheck_function: the point, the function or its gradient is NULL");
    double *all = calloc(3 * n + 1, sizeof *all), *at = all, *gradient = at + n, *unit = gradient + n;
    if (!all)
        return tk_rt_thread_fail(TK_NO_MEMORY, "tk_gradcheck_function: out of memory for %zu variables", n);
    gradcheck g = {.o.tolerance = tolerance, .result.has_forward = f->jvp != NULL};
    for (size_t k = 0; k < n; k++)
        at[k] = f->single ? (double)(float)x[k] : x[k];
    f->gradient(user, at, gradient);
    const double value = f->value(user, at);
    if (!isfinite(value)) {
        free(all);
        return tk_rt_thread_fail(TK_NOT_FINITE, "the function is %s at the checked point", tk_rt_not_finite(value));
    }
    for (size_t k = 0; k < n; k++)
        g.largest = isfinite(gradient[k]) ? fmax(g.largest, fabs(gradient[k])) : g.largest;
    for (size_t k = 0; k < n; k++) {
        const modes m = {.reverse = gradient[k],
                         .forward = f->jvp ? slope_along(f->jvp, user, at, unit, k) : NAN,
                         .has_forward = f->jvp != NULL};
        host_function h = {f->value, user, at, k, f->single};
        const rt_line l = {.at = value_at, .ctx = &h, .x = at[k], .single = f->single};
        tk_rt_compare(&g, &l, &m, NULL, (int64_t)k);
    }
    free(all);
    if (result)
        *result = g.result;
    if (!(g.worst > 1) && !tk_rt_told_nothing(&g.result))
        return TK_OK;
    const rt_text by = tk_rt_text_of_modes(&g.result);
    if (!(g.worst > 1))
        return tk_rt_thread_fail(
            TK_UNDECIDED, "differences %s whether a derivative is right; that by variable %lld is %s%s",
            tk_rt_undecided(&g.result), (long long)g.result.component, by.s, tk_rt_remedy(&g.result, false));
    return tk_rt_thread_fail(TK_WRONG_GRADIENT, "the derivative by variable %lld is %s", (long long)g.result.component,
                             by.s);
}
