/* Three ways to the same derivative, compared. */
#include "rt.h"

#include <float.h>

enum { STEPS = 12 };

typedef struct gradcheck {
    tk_session *s;
    tk_field *loss;
    tk_program_fn run;
    void *user;
    double tolerance; /* 0: by the field's type */
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

/* The loss with x at component k, whatever was there. */
static double loss_at(gradcheck *g, tk_field *f, int64_t k, double x)
{
    rt_snapshot_restore(g->snapshot);
    rt_scalar_set(f, TK_DATA, k, x);
    rt_scalar_set(g->loss, TK_DATA, 0, 0.0);
    g->run(g->user);
    return rt_scalar_get(g->loss, TK_DATA, 0);
}

/* A wide step has the error of the third derivative, a narrow one that of rounding: steps are made smaller, and the estimate that changes least is taken.
 * Not by whole factors: where a step is a number of periods of the loss, the next one is not.
 * error: how far it may be off. */
static double difference(gradcheck *g, tk_field *f, int64_t k, double *step, double *error)
{
    rt_snapshot_restore(g->snapshot);
    const double x = rt_scalar_get(f, TK_DATA, k), eps = is_f32(g, f) ? (double)FLT_EPSILON : DBL_EPSILON;
    double h = 0.25 * (fabs(x) > 1 ? fabs(x) : 1), before = 0, best = 0, rich_before = 0;
    *error = INFINITY;
    *step = h;
    const double ratio = is_f32(g, f) ? 2.17 : 4.37;
    for (int i = 0; i < STEPS; i++, h /= ratio) {
        rt_snapshot_restore(g->snapshot);
        rt_scalar_set(f, TK_DATA, k, x + h);
        const double up = rt_scalar_get(f, TK_DATA, k); /* as rounded to the field's type */
        rt_scalar_set(f, TK_DATA, k, x - h);
        const double down = rt_scalar_get(f, TK_DATA, k);
        const double high = loss_at(g, f, k, up), low = loss_at(g, f, k, down);
        const double slope = (high - low) / (up - down);
        const double rich = i ? (ratio * ratio * slope - before) / (ratio * ratio - 1) : slope;
        const double noise = eps * (fabs(high) + fabs(low)) / (up - down);
        if (i > 1 && fabs(rich - rich_before) + noise < *error) {
            *error = fabs(rich - rich_before) + noise;
            best = rich;
            *step = h;
        }
        before = slope;
        rich_before = rich;
    }
    return best;
}

/* The ratio of |a - b| to what is tolerated; NaN counts as wrong unless both are. */
static double ratio_of(double a, double b, double allowed)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    return a == b ? 0 : fabs(a - b) / allowed;
}

static tk_status reverse_mode(gradcheck *g)
{
    rt_snapshot_restore(g->snapshot);
    tk_status st = tk_tape_begin(g->loss, 0);
    if (st != TK_OK)
        return st;
    g->run(g->user);
    return tk_tape_end(g->loss);
}

static tk_status forward_mode(gradcheck *g, tk_field *f, int64_t k, void *seed, double *slope)
{
    rt_snapshot_restore(g->snapshot);
    const float one_f32 = 1.0f;
    const double one_f64 = 1.0;
    const size_t size = rt_scalar_bytes(f->desc->elem);
    void *at = (unsigned char *)seed + (size_t)k * size;
    memcpy(at, f->desc->elem == TK_F32 ? (const void *)&one_f32 : (const void *)&one_f64, size);
    tk_status st = tk_forward_begin(&g->loss, 1, f, seed, rt_scalars(f));
    memset(at, 0, size);
    if (st != TK_OK)
        return st;
    rt_scalar_set(g->loss, TK_DATA, 0, 0.0);
    g->run(g->user);
    *slope = rt_scalar_get(g->loss, TK_DUAL, 0);
    return tk_forward_end(g->s);
}

static tk_status check_variable(gradcheck *g, tk_field *f, int64_t k, void *seed)
{
    const double reverse = g->reverse[k];
    double step, error, forward = NAN;
    tk_status st = seed ? forward_mode(g, f, k, seed, &forward) : TK_OK;
    if (st != TK_OK)
        return st;
    const double slope = difference(g, f, k, &step, &error);
    if ((st = tk_session_status(g->s)) != TK_OK)
        return st;
    /* a derivative that is small beside the others of its field has their rounding */
    const double tolerance = g->tolerance > 0 ? g->tolerance : is_f32(g, f) ? 1e-2 : 1e-5;
    const double size = fmax(fmax(fabs(reverse), fabs(slope)), 1e-2 * g->largest);
    double ratio = ratio_of(reverse, slope, tolerance * size + error);
    if (seed)
        ratio = fmax(ratio, ratio_of(reverse, forward, (is_f32(g, f) ? 1e-4 : 1e-10) * fmax(size, fabs(forward))));
    if (seed)
        ratio = fmax(ratio, ratio_of(forward, slope, tolerance * fmax(size, fabs(forward)) + error));
    g->result.compared++;
    if (ratio > g->worst || !g->result.field) {
        g->worst = ratio;
        g->result.field = f;
        g->result.component = k;
        g->result.reverse = reverse;
        g->result.forward = forward;
        g->result.difference = slope;
        g->result.step = step;
    }
    return TK_OK;
}

static tk_status check_field(gradcheck *g, tk_field *f)
{
    const int64_t n = (int64_t)rt_scalars(f);
    const bool forward = g->loss->plane[TK_DUAL] && f->plane[TK_DUAL];
    tk_status st = reverse_mode(g);
    g->reverse = rt_alloc(g->s, (size_t)n * sizeof *g->reverse + 1, false);
    void *seed = forward ? rt_alloc(g->s, tk_field_bytes(f) + 1, true) : NULL;
    if (st == TK_OK && (!g->reverse || (forward && !seed)))
        st = tk_fail(g->s, TK_NO_MEMORY, "out of memory for checking field '%s'", f->desc->name);
    g->largest = 0;
    for (int64_t k = 0; k < n && st == TK_OK; k++) {
        g->reverse[k] = rt_scalar_get(f, TK_GRAD, k);
        if (isfinite(g->reverse[k]))
            g->largest = fmax(g->largest, fabs(g->reverse[k]));
    }
    g->result.has_forward = g->result.has_forward || forward;
    for (int64_t k = 0; k < n && st == TK_OK; k++)
        st = check_variable(g, f, k, seed);
    rt_free(g->s, seed);
    rt_free(g->s, g->reverse);
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

static tk_status check_arguments(tk_session *s, const tk_field *loss, tk_field *const *inputs, int ninputs, tk_program_fn run)
{
    const tk_status st = rt_check_closed(s, "tk_gradcheck");
    if (st != TK_OK)
        return st;
    if (!run || ninputs < 0 || (!inputs && ninputs > 0))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck: the program or the inputs are NULL");
    for (int i = 0; i < ninputs; i++) {
        if (!inputs[i] || inputs[i]->module->session != s || inputs[i] == loss)
            return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck: input %d is NULL, the loss, or a field of another session", i);
        if (!inputs[i]->plane[TK_GRAD])
            return tk_fail(s, TK_NO_DERIVATIVE, "tk_gradcheck: input '%s' is not declared needs_grad", inputs[i]->desc->name);
    }
    return TK_OK;
}

tk_status tk_gradcheck(tk_field *loss, tk_field *const *inputs, int ninputs, tk_program_fn run, void *user, double tolerance, tk_gradcheck_result *result)
{
    if (!loss)
        return rt_thread_fail(TK_BAD_ARGUMENT, "tk_gradcheck: the loss is NULL");
    gradcheck g = {.s = loss->module->session, .loss = loss, .run = run, .user = user, .tolerance = tolerance};
    tk_status st = check_arguments(g.s, loss, inputs, ninputs, run);
    if (st != TK_OK)
        return st;
    RT_SNAPSHOT snapshot = rt_snapshot_take(g.s);
    g.snapshot = &snapshot;
    if (!snapshot.data)
        return tk_session_status(g.s);
    st = check_fields(&g, inputs, ninputs);
    if (st == TK_OK)
        st = reverse_mode(&g); /* leaves the gradients there for whoever wants to look */
    rt_snapshot_restore(&snapshot);
    if (result)
        *result = g.result;
    if (st != TK_OK || !(g.worst > 1))
        return st;
    const rt_text at = rt_element_text(g.result.field, TK_DATA, g.result.component);
    return tk_fail(g.s, TK_WRONG_GRADIENT, "the derivative of '%s' by '%s' is %.9g by reverse mode, %.9g by forward mode, %.9g by central differences (step %g)",
                   loss->desc->name, at.s, g.result.reverse, g.result.forward, g.result.difference, g.result.step);
}
