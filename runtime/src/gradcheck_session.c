/* Derivatives of a program that launches kernels, compared by each component of its inputs, or along random directions.
 */
#include "gradcheck.h"
#include "tkc/tkc_math.h"

#include <math.h>
#include <stdio.h>

static bool is_f32(const gradcheck *g, const tk_field *f)
{
    return f->desc->elem == TK_F32 || g->loss->desc->elem == TK_F32;
}

/* ---- several processes: each runs the program as often as the others, and one moves its inputs ---- */

static bool is_mine(const gradcheck *g)
{
    return !g->s->agree.fn || g->owner == g->s->agree.rank;
}

static int64_t owners_count(const gradcheck *g, int64_t n)
{
    return tk_rt_agree_most(g->s, "tk_gradcheck", is_mine(g) ? n : 0);
}

/* A number of the owner's. */
static double owners_number(const gradcheck *g, double x)
{
    int64_t bits = INT64_MIN;
    if (is_mine(g))
        memcpy(&bits, &x, sizeof bits);
    bits = tk_rt_agree_most(g->s, "tk_gradcheck", bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* All have the same loss, from which all draw the same conclusions. */
static tk_status check_shared(const gradcheck *g, double loss)
{
    enum { MOST, LEAST_INVERTED };
    int64_t bits;
    memcpy(&bits, &loss, sizeof bits);
    int64_t words[] = {bits, ~bits};
    const tk_status st = tk_rt_agree(g->s, "tk_gradcheck", words, 2);
    if (st != TK_OK || words[MOST] == ~words[LEAST_INVERTED])
        return st;
    return tk_fail(g->s, TK_BAD_ARGUMENT,
                   "tk_gradcheck: the loss '%s' differs between processes: it is to be added up (tk_allsum)",
                   g->loss->desc->name);
}

static void run_program(const gradcheck *g)
{
    tk_rt_snapshot_run(g->snapshot, g->run, g->user);
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
    *x = v->f->desc->elem == TK_F32 ? (double)(float)*x : *x;
    if (is_mine(v->g))
        tk_rt_scalar_set(v->f, TK_DATA, v->k, *x);
    tk_rt_scalar_set(v->g->loss, TK_DATA, 0, 0.0);
    run_program(v->g);
    return tk_rt_scalar_get(v->g->loss, TK_DATA, 0);
}

static tk_status reverse_mode(gradcheck *g)
{
    tk_rt_snapshot_restore(g->snapshot);
    tk_status st = tk_tape_begin(g->loss, 0);
    if (st != TK_OK)
        return st;
    run_program(g);
    const double loss = tk_rt_scalar_get(g->loss, TK_DATA, 0);
    st = tk_tape_end(g->loss);
    if (st == TK_OK && g->s->agree.fn)
        st = check_shared(g, loss);
    return st != TK_OK || isfinite(loss)
               ? st
               : tk_fail(g->s, TK_NOT_FINITE, "'%s' is %s at the checked point: no difference tells its derivative",
                         g->loss->desc->name, tk_rt_not_finite(loss));
}

/* The slopes of the loss along a seed of a field, in all its directions. */
static tk_status forward_mode(gradcheck *g, tk_field *f, const void *seed, double *slopes)
{
    const tk_field *wide = tk_rt_wide(f, RT_TANGENT);
    tk_rt_snapshot_restore(g->snapshot);
    const tk_status st = tk_forward_begin(&g->loss, 1, f, seed, tk_rt_scalars(wide ? wide : f));
    if (st != TK_OK)
        return st;
    tk_rt_scalar_set(g->loss, TK_DATA, 0, 0.0);
    run_program(g);
    for (int64_t d = 0; d < tk_rt_width(f); d++)
        slopes[d] = wide ? tk_rt_scalar_get(tk_rt_wide(g->loss, RT_TANGENT), TK_DATA, d)
                         : tk_rt_scalar_get(g->loss, RT_TANGENT, 0);
    return tk_forward_end(g->s);
}

/* Whether forward mode has the derivative of the loss by f: they have equally many directions. */
static bool has_forward(const gradcheck *g, const tk_field *f)
{
    return tk_rt_width(f) > 0 && tk_rt_width(g->loss) == tk_rt_width(f);
}

static size_t seed_bytes(const tk_field *f)
{
    return tk_field_bytes(tk_rt_wide(f, RT_TANGENT) ? tk_rt_wide(f, RT_TANGENT) : f);
}

static void set_seed(const tk_field *f, void *seed, int64_t k, int64_t direction, double x)
{
    const int64_t at = tk_rt_wide(f, RT_TANGENT) ? tk_rt_wide_number(f, k, direction) : k;
    if (f->desc->elem == TK_F32)
        ((float *)seed)[at] = (float)x;
    else
        ((double *)seed)[at] = x;
}

/* One variable is done. */
static tk_status done(const gradcheck *g)
{
    if (g->o.progress)
        g->o.progress(g->user, g->result.compared, g->o.directions ? g->o.directions : g->scalars);
    return tk_session_status(g->s);
}

static void compare(gradcheck *g, const rt_line *l, const modes *m, tk_field *f, int64_t k)
{
    const double worst = g->worst;
    rt_line line = *l;
    line.x = owners_number(g, line.x);
    tk_rt_compare(g, &line, m, f, k);
    g->worst_owner = g->worst == worst ? g->worst_owner : g->owner;
}

/* ---- each component ---- */

/* By component k and those behind it, of `all`, one in each direction. */
static tk_status forward_by(gradcheck *g, tk_field *f, int64_t k, int64_t all, void *seed)
{
    const int64_t n = !is_mine(g) ? 0 : all - k < tk_rt_width(f) ? all - k : tk_rt_width(f);
    for (int64_t d = 0; d < n; d++)
        set_seed(f, seed, k + d, d, 1);
    const tk_status st = forward_mode(g, f, seed, g->slopes);
    for (int64_t d = 0; d < n; d++)
        set_seed(f, seed, k + d, d, 0);
    return st;
}

static tk_status check_variable(gradcheck *g, tk_field *f, int64_t k, int64_t n, void *seed)
{
    modes m = {.reverse = g->reverse[k], .forward = NAN, .has_forward = seed != NULL};
    if (seed) {
        const int64_t direction = k % tk_rt_width(f);
        const tk_status st = direction ? TK_OK : forward_by(g, f, k, n, seed);
        m.forward = g->slopes[direction];
        if (st != TK_OK)
            return st;
    }
    variable v = {g, f, k};
    tk_rt_snapshot_restore(g->snapshot);
    const rt_line l = {
        .at = loss_at, .ctx = &v, .x = is_mine(g) ? tk_rt_scalar_get(f, TK_DATA, k) : 0, .single = is_f32(g, f)};
    compare(g, &l, &m, f, k);
    return done(g);
}

static tk_status check_field(gradcheck *g, tk_field *f)
{
    const bool forward = has_forward(g, f);
    tk_status st = reverse_mode(g);
    const int64_t n = owners_count(g, (int64_t)tk_rt_scalars(f));
    g->reverse = tk_rt_alloc(g->s, (size_t)n * sizeof *g->reverse + 1, false);
    void *seed = forward ? tk_rt_alloc(g->s, seed_bytes(f) + 1, true) : NULL;
    if (st == TK_OK && (!g->reverse || (forward && !seed)))
        st = tk_fail(g->s, TK_NO_MEMORY, "out of memory for checking field '%s'", f->desc->name);
    g->largest = 0;
    for (int64_t k = 0; k < n && st == TK_OK; k++) {
        g->reverse[k] = owners_number(g, is_mine(g) ? tk_rt_scalar_get(f, RT_ADJOINT, k) : 0);
        if (isfinite(g->reverse[k]))
            g->largest = fmax(g->largest, fabs(g->reverse[k]));
    }
    g->result.has_forward = g->result.has_forward || forward;
    for (int64_t k = 0; k < n && st == TK_OK; k++)
        st = check_variable(g, f, k, n, seed);
    tk_rt_free(g->s, seed);
    tk_rt_free(g->s, g->reverse);
    return st;
}

/* ---- random directions ---- */

typedef struct direction {
    gradcheck *g;
    int number;
} direction;

/* How far component k of input i, which is at x, goes along a direction: normal numbers, of the size that steps of one
 * component alone have. */
static double component_along(const direction *d, int i, int64_t k, double x)
{
    const uint64_t input = (uint64_t)d->number << 32 | (uint32_t)i;
    return tk_exact_randn_f64(d->g->o.seed, input, (uint64_t)k) * fmax(1, fabs(x)) / sqrt((double)d->g->scalars);
}

/* The loss at a distance along a direction. Each component is rounded to its field's type: the distance becomes the
 * nearest one to where that leads. */
static double loss_along(void *ctx, double *distance)
{
    const direction *d = ctx;
    const gradcheck *g = d->g;
    double moved = 0, squares = 0;
    tk_rt_snapshot_restore(g->snapshot);
    for (int i = 0; i < g->o.ninputs && is_mine(g); i++) {
        tk_field *f = g->o.inputs[i];
        for (int64_t k = 0, n = (int64_t)tk_rt_scalars(f); k < n; k++) {
            const double x = tk_rt_scalar_get(f, TK_DATA, k), along = component_along(d, i, k, x);
            tk_rt_scalar_set(f, TK_DATA, k, x + *distance * along);
            moved += (tk_rt_scalar_get(f, TK_DATA, k) - x) * along;
            squares += along * along;
        }
    }
    *distance = owners_number(g, squares > 0 ? moved / squares : *distance);
    tk_rt_scalar_set(g->loss, TK_DATA, 0, 0.0);
    run_program(g);
    return tk_rt_scalar_get(g->loss, TK_DATA, 0);
}

/* Of the gradients that are there, by all directions. */
static void slopes_of_gradients(gradcheck *g)
{
    tk_rt_snapshot_restore(g->snapshot);
    for (int j = 0; j < g->o.directions; j++) {
        const direction d = {g, j};
        double squares = 0;
        g->reverse[j] = 0;
        for (int i = 0; i < g->o.ninputs && is_mine(g); i++)
            for (int64_t k = 0, n = (int64_t)tk_rt_scalars(g->o.inputs[i]); k < n; k++) {
                const double x = tk_rt_scalar_get(g->o.inputs[i], TK_DATA, k);
                const double part = tk_rt_scalar_get(g->o.inputs[i], RT_ADJOINT, k) * component_along(&d, i, k, x);
                g->reverse[j] += part;
                squares += part * part;
            }
        squares = owners_number(g, squares);
        g->reverse[j] = owners_number(g, g->reverse[j]);
        if (isfinite(squares))
            g->largest = fmax(g->largest, sqrt(squares));
    }
}

/* Forward mode has one field with a seed at a time: the slopes along direction j and those behind it are the sums of
 * those along each input. */
static tk_status forward_along(gradcheck *g, int j, void *seed)
{
    const int64_t width = tk_rt_width(g->loss);
    double *part = tk_rt_alloc(g->s, (size_t)width * sizeof *part, false);
    tk_status st = part ? TK_OK : tk_fail(g->s, TK_NO_MEMORY, "out of memory for %lld slopes", (long long)width);
    memset(g->slopes, 0, (size_t)width * sizeof *g->slopes);
    for (int i = 0; i < g->o.ninputs && st == TK_OK; i++) {
        tk_field *f = g->o.inputs[i];
        tk_rt_snapshot_restore(g->snapshot);
        for (int64_t k = 0, n = (int64_t)tk_rt_scalars(f); k < n && is_mine(g); k++)
            for (int64_t d = 0; d < width; d++) {
                const direction along = {g, j + (int)d};
                set_seed(f, seed, k, d, component_along(&along, i, k, tk_rt_scalar_get(f, TK_DATA, k)));
            }
        st = forward_mode(g, f, seed, part);
        for (int64_t d = 0; d < width && st == TK_OK; d++)
            g->slopes[d] += part[d];
    }
    tk_rt_free(g->s, part);
    return st;
}

static tk_status check_along(gradcheck *g, int j, void *seed, bool single)
{
    direction d = {g, j};
    modes m = {.reverse = g->reverse[j], .forward = NAN, .has_forward = seed != NULL};
    const int64_t number = seed ? j % tk_rt_width(g->loss) : 0;
    const tk_status st = seed && !number ? forward_along(g, j, seed) : TK_OK;
    if (st != TK_OK)
        return st;
    if (seed)
        m.forward = g->slopes[number];
    const rt_line l = {.at = loss_along, .ctx = &d, .x = 0, .single = single};
    compare(g, &l, &m, NULL, j);
    return done(g);
}

static tk_status check_directions(gradcheck *g)
{
    bool forward = tk_rt_width(g->loss) > 0, single = false;
    size_t largest = 0;
    for (int i = 0; i < g->o.ninputs; i++) {
        const tk_field *f = g->o.inputs[i];
        forward = forward && has_forward(g, f);
        single = single || is_f32(g, f);
        largest = seed_bytes(f) > largest ? seed_bytes(f) : largest;
    }
    tk_status st = reverse_mode(g);
    g->reverse = tk_rt_alloc(g->s, (size_t)g->o.directions * sizeof *g->reverse, false);
    void *seed = forward ? tk_rt_alloc(g->s, largest + 1, true) : NULL;
    if (st == TK_OK && (!g->reverse || (forward && !seed)))
        st = tk_fail(g->s, TK_NO_MEMORY, "out of memory for checking along %d directions", g->o.directions);
    if (st == TK_OK)
        slopes_of_gradients(g);
    g->result.has_forward = forward;
    for (int j = 0; j < g->o.directions && st == TK_OK && g->scalars > 0; j++)
        st = check_along(g, j, seed, single);
    tk_rt_free(g->s, seed);
    tk_rt_free(g->s, g->reverse);
    return st;
}

/* ---- what is checked ---- */

/* All fields that have a gradient, but for the loss, into a list that has room for them; without a list, their number.
 */
static int all_inputs(const gradcheck *g, tk_field **list)
{
    int n = 0;
    for (tk_module *m = g->s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            if (m->fields[i].plane[RT_ADJOINT] && &m->fields[i] != g->loss) {
                if (list)
                    list[n] = &m->fields[i];
                n++;
            }
    return n;
}

static tk_status check_inputs(gradcheck *g)
{
    tk_field **all = NULL;
    if (!g->o.inputs) {
        all = tk_rt_alloc(g->s, (size_t)all_inputs(g, NULL) * sizeof *all + 1, false);
        if (!all)
            return tk_fail(g->s, TK_NO_MEMORY, "out of memory for the list of inputs");
        g->o.ninputs = all_inputs(g, all);
        g->o.inputs = all;
    }
    g->slopes = tk_rt_alloc(g->s, (size_t)tk_rt_width(g->loss) * sizeof *g->slopes + 1, false);
    tk_status st = g->slopes ? TK_OK
                             : tk_fail(g->s, TK_NO_MEMORY, "out of memory for the slopes of '%s'", g->loss->desc->name);
    for (g->owner = 0; g->owner < (g->s->agree.fn ? g->s->agree.ranks : 1) && st == TK_OK; g->owner++) {
        g->scalars = 0;
        for (int i = 0; i < g->o.ninputs; i++)
            g->scalars += (int64_t)tk_rt_scalars(g->o.inputs[i]);
        g->scalars = owners_count(g, g->scalars);
        st = g->o.directions ? check_directions(g) : TK_OK;
        for (int i = 0; i < g->o.ninputs && st == TK_OK && !g->o.directions; i++)
            st = check_field(g, g->o.inputs[i]);
    }
    tk_rt_free(g->s, g->slopes);
    tk_rt_free(g->s, all);
    return st;
}

static tk_status check_arguments(tk_session *s, const tk_field *loss, const tk_gradcheck_options *o, tk_program_fn run)
{
    const tk_status st = tk_rt_check_closed(s, "tk_gradcheck");
    if (st != TK_OK)
        return st;
    if (!run || o->ninputs < 0 || (!o->inputs && o->ninputs > 0))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck: the program or the inputs are NULL");
    if (o->directions < 0)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck: %d directions", o->directions);
    for (int i = 0; i < o->ninputs; i++) {
        const tk_field *f = o->inputs[i];
        if (!f || f->module->session != s || f == loss)
            return tk_fail(s, TK_BAD_ARGUMENT,
                           "tk_gradcheck: input %d is NULL, the loss, or a field of another session", i);
        if (!f->plane[RT_ADJOINT])
            return tk_fail(s, TK_NO_DERIVATIVE, "tk_gradcheck: input '%s' is not declared needs_grad", f->desc->name);
    }
    return TK_OK;
}

/* The component that was found: of another process, whose extents may be others, by its number. */
static rt_text found_text(const gradcheck *g)
{
    const tk_gradcheck_result *r = &g->result;
    rt_text t = {""};
    if (!r->field)
        return t;
    const bool mine = !g->s->agree.fn || g->worst_owner == g->s->agree.rank || r->field->desc->ndim == 0;
    if (mine && r->component < (int64_t)tk_rt_scalars(r->field))
        return tk_rt_element_text(r->field, TK_DATA, r->component);
    snprintf(t.s, sizeof t.s, "%s, number %lld", r->field->desc->name, (long long)r->component);
    return t;
}

/* The status of what was found, with the session's message. */
static tk_status verdict(const gradcheck *g)
{
    const tk_gradcheck_result *r = &g->result;
    if (!(g->worst > 1) && !tk_rt_told_nothing(r))
        return TK_OK;
    const rt_text by = tk_rt_text_of_modes(r), element = found_text(g);
    char at[sizeof element.s + 64], process[32] = "";
    if (g->s->agree.fn)
        snprintf(process, sizeof process, " of process %d", g->worst_owner);
    if (r->field)
        snprintf(at, sizeof at, "by '%s'%s", element.s, process);
    else
        snprintf(at, sizeof at, "along direction %lld%s", (long long)r->component, process);
    if (!(g->worst > 1))
        return tk_fail(g->s, TK_UNDECIDED, "differences of '%s' %s whether a derivative is right; that %s is %s%s",
                       g->loss->desc->name, tk_rt_undecided(r), at, by.s, tk_rt_remedy(r, true));
    return tk_fail(g->s, TK_WRONG_GRADIENT, "the derivative of '%s' %s is %s%s", g->loss->desc->name, at, by.s,
                   r->field ? "" : "; without directions the check names the component");
}

static tk_status check(tk_field *loss, const tk_gradcheck_options *options, tk_program_fn run, void *user,
                       tk_gradcheck_result *result)
{
    gradcheck g = {.s = loss->module->session, .loss = loss, .run = run, .user = user};
    if (options)
        g.o = *options;
    tk_status st = check_arguments(g.s, loss, &g.o, run);
    if (st != TK_OK)
        return st;
    RT_SNAPSHOT snapshot = tk_rt_snapshot_take(g.s);
    g.snapshot = &snapshot;
    if (!snapshot.data)
        return tk_session_status(g.s);
    st = check_inputs(&g);
    if (st == TK_OK)
        st = reverse_mode(&g); /* leaves the gradients there */
    tk_rt_snapshot_restore(&snapshot);
    if (result)
        *result = g.result;
    return st == TK_OK ? verdict(&g) : st;
}

tk_status tk_gradcheck_with(tk_field *loss, const tk_gradcheck_options *options, tk_program_fn run, void *user,
                            tk_gradcheck_result *result)
{
    if (!loss)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_gradcheck: the loss is NULL");
    tk_session *s = loss->module->session;
    RT_ENTER(s, "tk_gradcheck", TK_BAD_STATE);
    const tk_status st = check(loss, options, run, user, result);
    return s->agree.fn ? tk_rt_agree(s, "the end of tk_gradcheck", NULL, 0) : st;
}

tk_status tk_gradcheck(tk_field *loss, tk_field *const *inputs, int ninputs, tk_program_fn run, void *user,
                       double tolerance, tk_gradcheck_result *result)
{
    const tk_gradcheck_options options = {.inputs = inputs, .ninputs = ninputs, .tolerance = tolerance};
    return tk_gradcheck_with(loss, &options, run, user, result);
}
