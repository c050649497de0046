/* Three ways to the same derivative, compared. */
#include "rt.h"
#include "slopes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* So uncertain, relative to the derivative, are differences that tell nothing. */
#define UNDECIDED 0.1

typedef struct gradcheck {
    tk_session *s; /* NULL: of functions of the host */
    tk_field *loss;
    tk_program_fn run;
    void *user;
    double tolerance; /* 0: by the type */
    const rt_snapshot *snapshot;
    double *reverse; /* of the field being checked */
    double largest;  /* of them */
    double worst;    /* largest ratio of a difference to what is tolerated */
    tk_gradcheck_result result;
} gradcheck;

static bool is_f32(const gradcheck *g, const tk_field *f)
{
    return f->desc->elem == TK_F32 || g->loss->desc->elem == TK_F32;
}

typedef struct variable {
    gradcheck *g;
    tk_field *f;
    int64_t k;
} variable;

/* The loss with the variable at x, whatever was there. */
static double loss_at(void *ctx, double *x)
{
    const variable *v = ctx;
    tk_rt_snapshot_restore(v->g->snapshot);
    tk_rt_scalar_set(v->f, TK_DATA, v->k, *x);
    *x = tk_rt_scalar_get(v->f, TK_DATA, v->k); /* as rounded to the field's type */
    tk_rt_scalar_set(v->g->loss, TK_DATA, 0, 0.0);
    v->g->run(v->g->user);
    return tk_rt_scalar_get(v->g->loss, TK_DATA, 0);
}

/* The ratio of |a - b| to what is tolerated; NaN counts as wrong unless both are. */
static double ratio_of(double a, double b, double allowed)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    return a == b ? 0 : fabs(a - b) / allowed;
}

/* What reverse and forward mode say of one variable; forward is NaN where it was not asked. */
typedef struct modes {
    double reverse, forward;
    bool has_forward;
} modes;

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
    return isfinite(apart) && tk_rt_slope_of_jumps(l, d->step, apart / 4);
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

static void compare(gradcheck *g, const rt_line *l, const modes *m, tk_field *f, int64_t k)
{
    rt_slope d = tk_rt_slope_central(l);
    const double tolerance = g->tolerance > 0 ? g->tolerance : l->single ? 1e-2 : 1e-5;
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
    g->result.undecided += central && ratio > 0 && ratio <= 1 && d.error > UNDECIDED * size_of(g, m, &d);
    g->result.compared++;
    if (g->result.compared > 1 && !(ratio > g->worst))
        return;
    g->worst = ratio;
    g->result.field = f;
    g->result.component = k;
    g->result.reverse = m->reverse;
    g->result.forward = m->forward;
    g->result.difference = d.slope;
    g->result.step = d.step;
}

static tk_status reverse_mode(gradcheck *g)
{
    tk_rt_snapshot_restore(g->snapshot);
    tk_status st = tk_tape_begin(g->loss, 0);
    if (st != TK_OK)
        return st;
    g->run(g->user);
    return tk_tape_end(g->loss);
}

static tk_status forward_mode(gradcheck *g, tk_field *f, int64_t k, void *seed, double *slope)
{
    tk_rt_snapshot_restore(g->snapshot);
    const float one_f32 = 1.0f;
    const double one_f64 = 1.0;
    const size_t size = tk_rt_scalar_bytes(f->desc->elem);
    void *at = (unsigned char *)seed + (size_t)k * size;
    memcpy(at, f->desc->elem == TK_F32 ? (const void *)&one_f32 : (const void *)&one_f64, size);
    tk_status st = tk_forward_begin(&g->loss, 1, f, seed, tk_rt_scalars(f));
    memset(at, 0, size);
    if (st != TK_OK)
        return st;
    tk_rt_scalar_set(g->loss, TK_DATA, 0, 0.0);
    g->run(g->user);
    *slope = tk_rt_scalar_get(g->loss, TK_DUAL, 0);
    return tk_forward_end(g->s);
}

static tk_status check_variable(gradcheck *g, tk_field *f, int64_t k, void *seed)
{
    modes m = {.reverse = g->reverse[k], .forward = NAN, .has_forward = seed != NULL};
    const tk_status st = seed ? forward_mode(g, f, k, seed, &m.forward) : TK_OK;
    if (st != TK_OK)
        return st;
    variable v = {g, f, k};
    tk_rt_snapshot_restore(g->snapshot);
    const rt_line l = {.at = loss_at, .ctx = &v, .x = tk_rt_scalar_get(f, TK_DATA, k), .single = is_f32(g, f)};
    compare(g, &l, &m, f, k);
    return tk_session_status(g->s);
}

static tk_status check_field(gradcheck *g, tk_field *f)
{
    const int64_t n = (int64_t)tk_rt_scalars(f);
    const bool forward = g->loss->plane[TK_DUAL] && f->plane[TK_DUAL];
    tk_status st = reverse_mode(g);
    g->reverse = tk_rt_alloc(g->s, (size_t)n * sizeof *g->reverse + 1, false);
    void *seed = forward ? tk_rt_alloc(g->s, tk_field_bytes(f) + 1, true) : NULL;
    if (st == TK_OK && (!g->reverse || (forward && !seed)))
        st = tk_fail(g->s, TK_NO_MEMORY, "out of memory for checking field '%s'", f->desc->name);
    g->largest = 0;
    for (int64_t k = 0; k < n && st == TK_OK; k++) {
        g->reverse[k] = tk_rt_scalar_get(f, TK_GRAD, k);
        if (isfinite(g->reverse[k]))
            g->largest = fmax(g->largest, fabs(g->reverse[k]));
    }
    g->result.has_forward = g->result.has_forward || forward;
    for (int64_t k = 0; k < n && st == TK_OK; k++)
        st = check_variable(g, f, k, seed);
    tk_rt_free(g->s, seed);
    tk_rt_free(g->s, g->reverse);
    return st;
}

static tk_status check_fields(gradcheck *g, tk_field *const *inputs, int ninputs)
{
    tk_status st = TK_OK;
    for (int i = 0; i < ninputs && st == TK_OK; i++)
        st = check_field(g, inputs[i]);
    for (tk_module *m = inputs ? NULL : g->s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields && st == TK_OK; i++)
            if (m->fields[i].plane[TK_GRAD] && &m->fields[i] != g->loss)
                st = check_field(g, &m->fields[i]);
    return st;
}

static bool told_nothing(const tk_gradcheck_result *r)
{
    return r->undecided > 0 && r->undecided == r->compared;
}

static rt_text text_of_modes(const tk_gradcheck_result *r)
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

static tk_status check_arguments(tk_session *s, const tk_field *loss, tk_field *const *inputs, int ninputs,
                                 tk_program_fn run)
{
    const tk_status st = tk_rt_check_closed(s, "tk_gradcheck");
    if (st != TK_OK)
        return st;
    if (!run || ninputs < 0 || (!inputs && ninputs > 0))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck: the program or the inputs are NULL");
    for (int i = 0; i < ninputs; i++) {
        if (!inputs[i] || inputs[i]->module->session != s || inputs[i] == loss)
            return tk_fail(s, TK_BAD_ARGUMENT,
                           "tk_gradcheck: input %d is NULL, the loss, or a field of another session", i);
        if (!inputs[i]->plane[TK_GRAD])
            return tk_fail(s, TK_NO_DERIVATIVE, "tk_gradcheck: input '%s' is not declared needs_grad",
                           inputs[i]->desc->name);
    }
    return TK_OK;
}

tk_status tk_gradcheck(tk_field *loss, tk_field *const *inputs, int ninputs, tk_program_fn run, void *user,
                       double tolerance, tk_gradcheck_result *result)
{
    if (!loss)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_gradcheck: the loss is NULL");
    gradcheck g = {.s = loss->module->session, .loss = loss, .run = run, .user = user, .tolerance = tolerance};
    tk_status st = check_arguments(g.s, loss, inputs, ninputs, run);
    if (st != TK_OK)
        return st;
    RT_SNAPSHOT snapshot = tk_rt_snapshot_take(g.s);
    g.snapshot = &snapshot;
    if (!snapshot.data)
        return tk_session_status(g.s);
    st = check_fields(&g, inputs, ninputs);
    if (st == TK_OK)
        st = reverse_mode(&g); /* leaves the gradients there for whoever wants to look */
    tk_rt_snapshot_restore(&snapshot);
    if (result)
        *result = g.result;
    if (st != TK_OK || (!(g.worst > 1) && !told_nothing(&g.result)))
        return st;
    const rt_text at = tk_rt_element_text(g.result.field, TK_DATA, g.result.component), by = text_of_modes(&g.result);
    if (!(g.worst > 1))
        return tk_fail(g.s, TK_UNDECIDED,
                       "differences of '%s' have too few digits to tell whether a derivative is right; that by '%s' is "
                       "%s: use f64 (--real=f64)",
                       loss->desc->name, at.s, by.s);
    return tk_fail(g.s, TK_WRONG_GRADIENT, "the derivative of '%s' by '%s' is %s", loss->desc->name, at.s, by.s);
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

static double slope_along(tk_jvp_fn jvp, void *user, const double *x, double *direction, size_t k)
{
    direction[k] = 1;
    const double slope = jvp(user, x, direction);
    direction[k] = 0;
    return slope;
}

tk_status tk_gradcheck_function(const double *x, size_t n, const tk_function *f, void *user, double tolerance,
                                tk_gradcheck_result *result)
{
    if (!f || !f->value || !f->gradient || (!x && n > 0))
        return tk_rt_thread_fail(TK_BAD_ARGUMENT,
                                 "tk_gradcheck_function: the point, the function or its gradient is NULL");
    double *all = calloc(3 * n + 1, sizeof *all), *at = all, *gradient = at + n, *direction = gradient + n;
    if (!all)
        return tk_rt_thread_fail(TK_NO_MEMORY, "tk_gradcheck_function: out of memory for %zu variables", n);
    gradcheck g = {.tolerance = tolerance, .result.has_forward = f->jvp != NULL};
    for (size_t k = 0; k < n; k++)
        at[k] = f->single ? (double)(float)x[k] : x[k];
    f->gradient(user, at, gradient);
    for (size_t k = 0; k < n; k++)
        g.largest = isfinite(gradient[k]) ? fmax(g.largest, fabs(gradient[k])) : g.largest;
    for (size_t k = 0; k < n; k++) {
        const modes m = {.reverse = gradient[k],
                         .forward = f->jvp ? slope_along(f->jvp, user, at, direction, k) : NAN,
                         .has_forward = f->jvp != NULL};
        host_function h = {f->value, user, at, k, f->single};
        const rt_line l = {.at = value_at, .ctx = &h, .x = at[k], .single = f->single};
        compare(&g, &l, &m, NULL, (int64_t)k);
    }
    free(all);
    if (result)
        *result = g.result;
    if (!(g.worst > 1) && !told_nothing(&g.result))
        return TK_OK;
    const rt_text by = text_of_modes(&g.result);
    if (!(g.worst > 1))
        return tk_rt_thread_fail(TK_UNDECIDED,
                                 "differences have too few digits to tell whether a derivative is right; that by "
                                 "variable %lld is %s: use f64",
                                 (long long)g.result.component, by.s);
    return tk_rt_thread_fail(TK_WRONG_GRADIENT, "the derivative by variable %lld is %s", (long long)g.result.component,
                             by.s);
}
