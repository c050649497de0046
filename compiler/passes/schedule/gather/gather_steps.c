/* Subscripts of a gather: an index plus a constant, around the end (periodic), or held at a bound (clamped).
 *
 * The ways in which people write these, over a task that goes over the whole of [0, N):
 *
 *     (i + 1) % N,  (i - 1 + N) % N,  mod(i - 1, N),  ((i - 1) % N + N) % N,  (i + 1) & 63  with N = 64
 *     i == 0 ? N - 1 : i - 1,  i + 1 < N ? i + 1 : 0,  i < 2 ? i - 2 + N : i - 2
 *     min(i + 1, N - 1),  max(i - 1, 0),  clamp(i + 1, 0, N - 1),  i + 1 > N - 1 ? N - 1 : i + 1
 *     i == 0 ? 1 : i - 1,  i + 1 < N ? i + 1 : 2 * N - 2 - (i + 1),  abs(i - 1)
 *
 * and functions that do so at both ends, of which each call needs one: what never happens to i - 1 is left out.
 *
 * An index that goes around is a bijection of [0, N), whatever N is: each element has one iteration. Where a bound
 * holds back a subscript, or it is reflected, the few iterations to which that happens are parts of their own, each of
 * one element.
 *
 * Arithmetic in 32 bits counts as that of numbers where a subscript that wraps would be negative, and so outside of
 * every field. What would bring it back inside (mod, max, a mask) is told apart.
 */
#include "ir/ops.h"
#include "passes/analysis/values.h"
#include "passes/schedule/gather/gather.h"

/* MAX_LOW: of a lower bound, so that a constant added to it does not wrap. MAX_MODULUS: of constants, shifts too, for
 * the same reason. MAX_BOUNDS: choices, min and max that are looked through, so that one of which both operands are
 * others, again and again, does not cost 2^depth. */
enum { MAX_LOW = 65536, MAX_MODULUS = 1 << 29, MAX_BOUNDS = 50 };

bool gather_index(const gather *g, const affine *a, int *dim, int64_t *by)
{
    if (!a->ok || a->n != 1 || a->coef[0] != 1 || a->konst > MAX_MODULUS || a->konst < -MAX_MODULUS)
        return false;
    for (int d = 0; d < g->nd; d++)
        if (a->term[0] == g->index[d]) {
            *dim = d;
            *by = a->konst;
            return true;
        }
    return false;
}

/* ---- how far apart ---- */

bool gather_distance(const gather *g, const affine *a, const affine *b, int64_t *distance)
{
    return affine_distance(g->f->module, a, b, distance);
}

affine gather_bound(const gather *g, int dim, int which)
{
    return affine_of(g->task->args[2 * dim + which]);
}

bool gather_low(const gather *g, int dim, int64_t *low)
{
    return const_value_of(g->f->module, g->task->args[2 * dim], low) && *low >= -MAX_LOW && *low <= MAX_LOW;
}

bool gather_is_range(const gather *g, int dim, const affine *n)
{
    int64_t low, distance;
    const affine hi = gather_bound(g, dim, 1);
    return gather_low(g, dim, &low) && low == 0 && gather_distance(g, &hi, n, &distance) && distance == 0;
}

bool gather_place(const gather *g, const affine *a, int dim, int64_t *above, int64_t *below)
{
    const affine lo = gather_bound(g, dim, 0), hi = gather_bound(g, dim, 1);
    if (!gather_distance(g, a, &lo, above))
        *above = gather_unknown;
    if (!gather_distance(g, &hi, a, below))
        *below = gather_unknown;
    return *above != gather_unknown || *below != gather_unknown;
}

bool gather_is_bound(const gather *g, const affine *a, int dim)
{
    int64_t below;
    const affine hi = gather_bound(g, dim, 1);
    if (!a->ok || a->n > 1 || a->konst > MAX_MODULUS || a->konst < -MAX_LOW)
        return false;
    return a->n == 0 || (a->coef[0] == 1 && gather_distance(g, &hi, a, &below) && (a->konst <= 0 || below >= 0));
}

/* ---- around the end ---- */

static const steps no_steps;

/* x as an index plus c plus a multiple of n. */
static bool index_modulo(const gather *g, const ir_value *x, const affine *n, int *dim, int64_t *c, int *times)
{
    const affine a = affine_of(x);
    static const int tried[] = {0, 1, 2, -1};
    for (int k = 0; k < (int)(sizeof tried / sizeof *tried); k++) {
        const affine less = affine_plus(&a, n, -tried[k]);
        *times = tried[k];
        if (gather_index(g, &less, dim, c))
            return true;
    }
    return false;
}

/* The same way around, the short one. */
static int64_t reduced(int64_t c, int64_t n)
{
    c %= n;
    return c > n / 2 ? c - n : c < -(n / 2) ? c + n : c;
}

bool gather_is_small(const gather *g, scalar type, int dim, int64_t c)
{
    int64_t hi;
    if (type == SC_I64)
        return true;
    if (c > MAX_LOW || c < -MAX_LOW)
        return false;
    return const_value_of(g->f->module, g->task->args[2 * dim + 1], &hi)
               ? hi <= MAX_MODULUS
               : gather_ask(g, &(ask){.what = ASK_SMALL, .v = g->task->args[2 * dim + 1]});
}

/* x of (x % n + n) % n, which goes around whatever the sign of x; NULL: it is nothing like that. */
static const ir_value *floored(const gather *g, const ir_op *op, const affine *n)
{
    const affine a = affine_of(op->args[0]);
    const affine once = affine_plus(&a, n, -1);
    const ir_op *inner = once.ok && once.n == 1 && once.coef[0] == 1 && once.konst == 0 ? once.term[0]->def : NULL;
    if (op->code != OP_REM || !inner || inner->code != OP_REM)
        return NULL;
    const affine m = affine_of(inner->args[1]);
    int64_t distance;
    return gather_distance(g, &m, n, &distance) && distance == 0 ? inner->args[0] : NULL;
}

/* C's remainder of a negative number is no subscript, or 0 where it should be. What mod is given must not have wrapped:
 * i + 1 never has, as N is a number of its type. */
static steps steps_of_remainder(const gather *g, const ir_op *op)
{
    const affine n = affine_of(op->args[1]);
    const ir_value *x = floored(g, op, &n);
    int dim, times;
    int64_t c;
    if (!index_modulo(g, x ? x : op->args[0], &n, &dim, &c, &times) || !gather_is_range(g, dim, &n))
        return no_steps;
    const bool constant = n.n == 0 && n.konst > 0 && n.konst <= MAX_MODULUS && c <= MAX_MODULUS && c >= -MAX_MODULUS;
    const bool wraps = times || c > 1; /* perhaps, to a number that is brought back as another one */
    if ((op->code == OP_MOD || x) && !constant && wraps && !gather_is_small(g, op->res[0]->type, dim, c))
        return no_steps;
    return gather_step(STEP_WRAP, dim, constant ? reduced(c, n.konst) : c);
}

static steps steps_of_mask(const gather *g, const ir_op *op)
{
    for (int k = 0; k < 2; k++) {
        affine n = affine_of(op->args[1 - k]);
        int dim, times;
        int64_t c;
        n.konst++;
        if (!n.ok || !index_modulo(g, op->args[k], &n, &dim, &c, &times) || !gather_is_range(g, dim, &n))
            continue;
        const bool constant = n.n == 0 && n.konst > 0 && n.konst <= MAX_MODULUS;
        if (constant ? (n.konst & (n.konst - 1)) == 0 : gather_ask(g, &(ask){.what = ASK_POWER, .v = op->args[1 - k]}))
            return gather_step(STEP_WRAP, dim, constant ? reduced(c, n.konst) : c);
    }
    return no_steps;
}

/* ---- held at a bound ---- */

static steps steps_of_arg(const gather *g, const ir_value *v, int *left)
{
    const affine a = affine_of(v);
    return gather_steps_of(g, &a, left);
}

/* The iterations from the bound on, which is `beyond` the last one (before the first one), are held back. */
static bool add_held(steps *s, bool high, int64_t edge)
{
    const int64_t c = s->at[0].by, held = edge + (high ? c : -c);
    if (held > MAX_STEPS - 1 || edge > GATHER_EDGE || edge < -GATHER_EDGE)
        return false;
    if (held <= 0)
        return true;
    s->at[0].kind = high ? STEP_BELOW : STEP_ABOVE;
    s->at[0].edge = edge;
    for (int64_t m = 1; m <= held; m++)
        s->at[s->n++] = (step){high ? STEP_LAST : STEP_FIRST, high ? c - m : c + m, edge};
    return true;
}

/* A bound on the other side of what is held back already: it must never be met, nor by an element that is `edge` of its
 * step away from the other end, as reflections have them, where the range has few. */
static bool is_met(const gather *g, const steps *s, bool high, int64_t edge, int64_t low)
{
    const int64_t c = s->at[0].by;
    int64_t end, most = 0;
    for (int i = 1; i < s->n; i++)
        most = s->at[i].edge > most ? s->at[i].edge : most;
    const bool room = edge + most <= 0 ||
                      (const_value_of(g->f->module, g->task->args[2 * s->dim + 1], &end) && end - low > edge + most);
    return edge + (high ? c : -c) > 0 || edge + s->at[0].edge > 0 || !room;
}

static steps steps_of_bound(const gather *g, const ir_op *op, int *left)
{
    const bool high = op->code == OP_MIN;
    for (int k = 0; k < 2; k++) {
        const affine bound = affine_of(op->args[1 - k]);
        steps s = steps_of_arg(g, op->args[k], left);
        int64_t low, above, below;
        if (!s.n || s.at[0].kind == STEP_WRAP || !gather_low(g, s.dim, &low) || !gather_is_bound(g, &bound, s.dim))
            continue;
        gather_place(g, &bound, s.dim, &above, &below);
        const int64_t edge = high ? below - 1 : above;
        if (edge == gather_unknown || (high && below == gather_unknown))
            continue;
        /* i + 2 can wrap, below every bound: max would bring it back. */
        if (!high && s.at[0].by > 1 && !gather_is_small(g, op->res[0]->type, s.dim, s.at[0].by))
            continue;
        if (s.n > 1 ? !is_met(g, &s, high, edge, low) && step_is_edge(&s.at[1]) && (s.at[1].kind == STEP_FIRST) == high
                    : add_held(&s, high, edge))
            return s;
    }
    return no_steps;
}

static steps steps_of_value(const gather *g, const ir_value *v, int *left)
{
    const ir_op *op = v->def;
    if (!op || (v->type != SC_I32 && v->type != SC_I64) || !ir_region_is_ancestor(g->task->regions[0], v->region))
        return no_steps;
    switch (op->code) {
    case OP_REM:
    case OP_MOD:
        return steps_of_remainder(g, op);
    case OP_AND:
        return steps_of_mask(g, op);
    case OP_ABS:
        return --*left < 0 ? no_steps : gather_reflected(g, op);
    case OP_SELECT:
        return gather_choice(g, op, left);
    case OP_MIN:
    case OP_MAX:
        return --*left < 0 ? no_steps : steps_of_bound(g, op, left);
    default:
        return no_steps;
    }
}

steps gather_steps_of(const gather *g, const affine *subscript, int *left)
{
    int dim;
    int64_t by;
    if (gather_index(g, subscript, &dim, &by))
        return gather_step(STEP_SHIFT, dim, by);
    if (!subscript->ok || subscript->n != 1 || subscript->coef[0] != 1)
        return no_steps;
    steps s = steps_of_value(g, subscript->term[0], left);
    const int64_t more = subscript->konst;
    if (s.n && more && s.at[0].kind == STEP_WRAP)
        return no_steps;
    for (int i = 0; i < s.n; i++) {
        const step_kind k = s.at[i].kind;
        s.at[i].by += more;
        s.at[i].edge += k == STEP_BELOW || k == STEP_LAST ? -more : k == STEP_SHIFT ? 0 : more;
    }
    return s;
}

steps gather_steps(const gather *g, const affine *subscript)
{
    int left = MAX_BOUNDS;
    return gather_steps_of(g, subscript, &left);
}
