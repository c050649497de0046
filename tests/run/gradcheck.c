#include "gradcheck.h"
#include "host.h"

static void reset(gradcheck *m)
{
    for (int i = 0; i < 5; i++) {
        m->x.data[i] = 0;
        m->x.data[i] += 3 + i;
        m->x.data[i] /= 4;
        m->g.data[i] = m->x.data[i];
    }
}

/* What a check changes it puts back. */
static void check_unchanged(gradcheck *m, int line)
{
    for (int i = 0; i < 5; i++)
        if (!(fabs((double)m->x.data[i] - (3 + i) / 4.0) <= 1e-6))
            FAIL("line %d: x[%d] was left changed", line, i);
    reset(m);
}

#define EXPECT(m, call, want, text) (CHECK_STATUS(m, call, want, text), check_unchanged(m, __LINE__))

static void right(void *user)
{
    gradcheck_in_place(user);
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_total(user);
}

static void overwriting(void *user) /* breaks the data rule */
{
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_in_place(user);
}

static void right_without_dual(void *user)
{
    gradcheck_only_grad(user);
}

static void wrong(void *user)
{
    gradcheck_first(user);
    gradcheck_second(user);
    gradcheck_hidden(user);
}

static void unlike(void *user) /* what the host does is not differentiated */
{
    gradcheck *m = user;
    gradcheck_total(m);
    m->loss.data[0] += m->x.data[1];
}

static void wrong_without_dual(void *user)
{
    gradcheck_hidden_g(user);
}

static void nearly(void *user)
{
    gradcheck_nearly(user);
}

static void scales(void *user)
{
    gradcheck_scales(user);
}

static void lone(void *user)
{
    gradcheck_lone(user);
}

static void total(void *user)
{
    gradcheck_total(user);
}

static void underivable(void *user)
{
    gradcheck_none(user);
}

static void cubes(void *user)
{
    gradcheck_three(user);
}

static void pairs(void *user)
{
    gradcheck_first(user);
}

#define PROGRAM(k) \
    static void k(void *user) \
    { \
        gradcheck_##k(user); \
    }
PROGRAM(kinked)
PROGRAM(ramp)
PROGRAM(ramp_and_more)
PROGRAM(outside)
PROGRAM(stairs)
PROGRAM(root)
PROGRAM(many_stairs)
PROGRAM(stairs_and_wrong)

/* x[2] is 1.25, where these have a kink, or jump: x = 0.75, 1, 1.25, 1.5, 1.75. */
static void check_kinks(gradcheck *m)
{
    tk_field *const x[] = {m->x.field}, *const g[] = {m->g.field};
    tk_gradcheck_result r;
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, ramp, m, 0, &r), TK_OK, "");
    CHECK(r.compared == 5 && r.kinks == 1 && r.jumps == 0);
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, ramp_and_more, m, 0, &r), TK_OK, "");
    CHECK(r.kinks == 1);
    EXPECT(m, tk_gradcheck(m->loss.field, g, 1, outside, m, 0, &r), TK_WRONG_GRADIENT,
           "by 'g[2]' is 1.5 by reverse mode, ");
    CHECK(r.kinks == 1 && !r.has_forward && !strstr(tk_error(), "forward"));
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, stairs, m, 0, &r), TK_OK, "");
    CHECK(r.jumps == 5 && r.kinks == 0);
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, many_stairs, m, 0, &r), TK_OK, "");
    CHECK(r.jumps >= 1); /* others have differences that know how far they are off */
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, stairs_and_wrong, m, 0, &r), TK_WRONG_GRADIENT,
           "the derivative of 'loss' by 'x[");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, kinked, m, 0, &r), TK_OK, "");
    CHECK(r.kinks == 0);
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, root, m, 0, &r), TK_WRONG_GRADIENT, "the derivative of 'loss' by 'x[");
    CHECK(r.jumps == 0);
}

/* ---- random directions ---- */

typedef struct counted {
    gradcheck *m;
    int64_t done, of;
} counted;

static void counted_right(void *user)
{
    right(((counted *)user)->m);
}

/* Of two inputs. */
static void both(void *user)
{
    gradcheck_total(user);
    gradcheck_second(user);
}

static void count(void *user, int64_t done, int64_t of)
{
    counted *c = user;
    CHECK(done == c->done + 1);
    *c = (counted){c->m, done, of};
}

static void check_directions(gradcheck *m)
{
    tk_field *const x[] = {m->x.field}, *const loss[] = {m->loss.field};
    tk_gradcheck_result r, other;
    tk_gradcheck_options o = {.inputs = x, .ninputs = 1, .directions = 7, .progress = count};
    counted c = {m, 0, 0};
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, counted_right, &c, &r), TK_OK, "");
    CHECK(r.compared == 7 && r.has_forward && !r.field && c.done == 7 && c.of == 7);
    CHECK(fabs(r.reverse - r.difference) < 1e-2 && fabs(r.reverse - r.forward) < 1e-4);
    o.directions = 0;
    c.done = 0;
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, counted_right, &c, NULL), TK_OK, "");
    CHECK(c.done == 5 && c.of == 5);
    o.progress = NULL;
    o.directions = 1;
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, &r), TK_OK, "");
    o.seed = 1;
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, &other), TK_OK, "");
    CHECK(r.reverse != other.reverse);
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, &r), TK_OK, "");
    CHECK(r.reverse == other.reverse && m->loss.grad[0] == 1);
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, wrong, m, &r), TK_WRONG_GRADIENT,
           "the derivative of 'loss' along direction 0 is ");
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, nearly, m, NULL), TK_WRONG_GRADIENT, "by forward mode");
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, ramp, m, &r), TK_OK, "");
    CHECK(r.kinks == 1);
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, underivable, m, NULL), TK_NO_DERIVATIVE, "kernel 'none'");
    tk_field *const two[] = {m->x.field, m->y.field};
    o = (tk_gradcheck_options){.inputs = two, .ninputs = 2, .directions = 4};
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, both, m, &r), TK_OK, "");
    CHECK(r.compared == 4 && r.has_forward && fabs(r.reverse - r.forward) < 1e-4 && r.reverse != 0);
    o.inputs = loss;
    o.ninputs = 1;
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, NULL), TK_BAD_ARGUMENT, "the loss");
    o = (tk_gradcheck_options){.directions = 3}; /* g has no dual */
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, &r), TK_OK, "");
    CHECK(r.compared == 3 && !r.has_forward && isnan(r.forward));
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, wrong, m, NULL), TK_WRONG_GRADIENT, "without directions");
    o.directions = -1;
    EXPECT(m, tk_gradcheck_with(m->loss.field, &o, right, m, NULL), TK_BAD_ARGUMENT, "-1 directions");
    EXPECT(m, tk_gradcheck_with(m->loss.field, NULL, right, m, &r), TK_OK, "");
    CHECK(r.compared == 5 + 10 + 5 + 3 && r.field);
}

/* ---- few digits ---- */

PROGRAM(cancelled)
PROGRAM(drowned)

typedef struct shifted {
    gradcheck *m;
    int n;
} shifted;

static void splats(void *user)
{
    const shifted *p = user;
    gradcheck_splats(p->m, p->n);
}

static void long_sum(void *user)
{
    const shifted *p = user;
    gradcheck_long_sum(p->m, p->n);
}

/* No right derivative is called wrong, in f32 either; where differences tell nothing, that is said. */
static void check_digits(gradcheck *m)
{
    tk_field *const x[] = {m->x.field};
    const bool f32 = sizeof m->x.data[0] == sizeof(float);
    tk_gradcheck_result r;
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, drowned, m, 0, &r), f32 ? TK_UNDECIDED : TK_OK,
           f32 ? "differences of 'loss' have too few digits to tell" : "");
    CHECK(r.compared == 5 && r.undecided == (f32 ? 5 : 0));
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, wrong, m, 0, &r), TK_WRONG_GRADIENT, "by 'x[3]'");
    CHECK(r.undecided == 0);
    int undecided = 0, decided = 0;
    for (int i = 0; i < 40; i++) {
        shifted p = {m, i};
        reset(m);
        m->x.data[1] *= 20;
        m->x.data[1] += i;
        m->x.data[1] /= 20;
        tk_status st = tk_gradcheck(m->loss.field, x, 1, cancelled, m, 0, &r);
        if (st != TK_OK && (st != TK_UNDECIDED || !f32))
            FAIL("cancelled %d: %s", i, gradcheck_error(m));
        undecided += (int)r.undecided;
        tk_session_clear_error(m->tk.session);
        st = tk_gradcheck(m->loss.field, x, 1, splats, &p, 0, &r);
        if (st != TK_OK)
            FAIL("splats %d: %s", i, gradcheck_error(m));
        tk_session_clear_error(m->tk.session);
        decided += (int)(r.compared - r.undecided - r.jumps);
        st = tk_gradcheck(m->loss.field, x, 1, long_sum, &p, 0, &r);
        if (st != TK_OK)
            FAIL("long_sum %d: %s", i, gradcheck_error(m));
        tk_session_clear_error(m->tk.session);
    }
    reset(m);
    CHECK(f32 ? undecided > 0 : undecided == 0);
    CHECK(decided > 100);
}

/* ---- export funcs ---- */

typedef struct how {
    double off; /* by which the gradient is wrong */
} how;

static void split(const double *x, float *a, float v[2])
{
    const float all[] = {(float)x[0], (float)x[1], (float)x[2]};
    *a = all[0];
    memcpy(v, all + 1, 2 * sizeof *v);
}

static double energy(void *user, const double *x)
{
    float a, v[2], result;
    (void)user;
    split(x, &a, v);
    gradcheck_energy(a, v, &result);
    return (double)result;
}

static void energy_gradient(void *user, const double *x, double *gradient)
{
    const how *h = user;
    float a, v[2], a_grad = 0, v_grad[2] = {0};
    const float one = 1;
    split(x, &a, v);
    gradcheck_energy_grad(a, v, NULL, &one, &a_grad, v_grad);
    gradient[0] = (double)a_grad;
    gradient[1] = (double)v_grad[0] + h->off;
    gradient[2] = (double)v_grad[1];
}

static double energy_along(void *user, const double *x, const double *direction)
{
    float a, v[2], a_dual, v_dual[2], result, dual;
    (void)user;
    split(x, &a, v);
    split(direction, &a_dual, v_dual);
    gradcheck_energy_jvp(a, &a_dual, v, v_dual, &result, &dual);
    return (double)dual;
}

static void check_function(void)
{
    const double at[] = {0.5, 0.7, -1.2};
    how h = {0};
    tk_function f = {energy, energy_gradient, energy_along, true};
    tk_gradcheck_result r;
    if (tk_gradcheck_function(at, 3, &f, &h, 0, &r) != TK_OK || r.compared != 3 || !r.has_forward || r.kinks != 1 ||
        r.field)
        FAIL("function: %s, %d kinks", tk_error(), (int)r.kinks);
    f.jvp = NULL;
    h.off = 0.1;
    if (tk_gradcheck_function(at, 3, &f, &h, 0, &r) != TK_WRONG_GRADIENT || r.component != 1 ||
        !strstr(tk_error(), "the derivative by variable 1 is ") || strstr(tk_error(), "forward"))
        FAIL("wrong function: %s", tk_error());
    h.off = NAN;
    if (tk_gradcheck_function(at, 3, &f, &h, 0, &r) != TK_WRONG_GRADIENT || r.component != 1)
        FAIL("no number: %s", tk_error());
    f.gradient = NULL;
    CHECK(tk_gradcheck_function(at, 3, &f, &h, 0, &r) == TK_BAD_ARGUMENT &&
          tk_gradcheck_function(at, 3, NULL, &h, 0, &r) == TK_BAD_ARGUMENT);
}

static double not_finite(void *user, const double *x)
{
    return user ? NAN : x[0];
}

/* Differences of a loss that is no number are none; a check says so, and blames no derivative. */
static void check_not_finite(gradcheck *m)
{
    tk_field *const x[] = {m->x.field};
    const tk_gradcheck_options one = {.inputs = x, .ninputs = 1, .directions = 1};
    tk_gradcheck_result r;
    m->x.data[1] = NAN;
    CHECK_STATUS(m, tk_gradcheck(m->loss.field, x, 1, total, m, 0, &r), TK_NOT_FINITE,
                 "'loss' is NaN at the checked point");
    m->x.data[1] = INFINITY;
    CHECK_STATUS(m, tk_gradcheck_with(m->loss.field, &one, total, m, &r), TK_NOT_FINITE,
                 "'loss' is infinite at the checked point");
    reset(m);
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, lone, m, 0, &r), TK_OK, "");
    CHECK(r.compared == 5 && r.undecided == 1);
    EXPECT(m, tk_gradcheck_with(m->loss.field, &one, lone, m, &r), TK_UNDECIDED,
           "differences of 'loss' are not finite, and do not tell");
    CHECK(r.undecided == 1 && isnan(r.difference));
    const double at[] = {0.5, 0.7, -1.2};
    how h = {0};
    const tk_function f = {not_finite, energy_gradient, NULL, false};
    CHECK(tk_gradcheck_function(at, 3, &f, &h, 0, &r) == TK_NOT_FINITE &&
          strstr(tk_error(), "the function is NaN at the checked point"));
}

static void check(gradcheck *m)
{
    tk_field *const x[] = {m->x.field}, *const g[] = {m->g.field}, *const none[] = {NULL},
                    *const loss[] = {m->loss.field};
    tk_gradcheck_result r;
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, right, m, 0, &r), TK_OK, "");
    if (r.compared != 5 || !r.has_forward || r.field != m->x.field || fabs(r.reverse - r.difference) > 1e-2 ||
        fabs(r.reverse - r.forward) > 1e-4)
        FAIL("right: %d compared, %g %g %g", (int)r.compared, r.reverse, r.forward, r.difference);
    EXPECT(m, tk_gradcheck(m->loss.field, NULL, 0, right, m, 0, &r), TK_OK, "");
    CHECK(r.compared == 5 + 10 + 5 + 3);
    EXPECT(m, tk_gradcheck(m->loss.field, g, 1, right_without_dual, m, 0, &r), TK_OK, "");
    CHECK(!r.has_forward && isnan(r.forward));
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, wrong, m, 0, &r), TK_WRONG_GRADIENT,
           "the derivative of 'loss' by 'x[3]' is ");
    CHECK(r.component == 3);
    EXPECT(m, tk_gradcheck(m->loss.field, g, 1, wrong_without_dual, m, 0, &r), TK_WRONG_GRADIENT,
           "the derivative of 'loss' by 'g[2]' is 0 ");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, nearly, m, 0, NULL), TK_WRONG_GRADIENT, "by reverse mode");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, scales, m, 0, NULL), TK_OK, "");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, unlike, m, 0, NULL), TK_WRONG_GRADIENT,
           "the derivative of 'loss' by 'x[1]' is ");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, overwriting, m, 0, NULL), TK_OVERWRITTEN,
           "kernel 'in_place' of module 'gradcheck' changes 'x[0]'");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, underivable, m, 0, NULL), TK_NO_DERIVATIVE, "kernel 'none'");

    EXPECT(m, tk_gradcheck(m->loss.field, none, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "input 0 is NULL");
    EXPECT(m, tk_gradcheck(m->loss.field, loss, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "input 0 is NULL, the loss");
    EXPECT(m, tk_gradcheck(m->loss.field, x, 1, NULL, m, 0, NULL), TK_BAD_ARGUMENT, "NULL");
    EXPECT(m, tk_gradcheck(m->x.field, g, 1, right, m, 0, NULL), TK_BAD_ARGUMENT, "0-D");
    CHECK(tk_gradcheck(NULL, x, 1, right, m, 0, NULL) == TK_BAD_ARGUMENT);
    TK_TAPE(m, m->loss)
    {
        EXPECT(m, tk_gradcheck(m->loss.field, x, 1, right, m, 0, NULL), TK_BAD_STATE, "while a tape is open");
    }
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void jacobians(gradcheck *m)
{
    double forward[3 * 5], reverse[3 * 5], pair_forward[10 * 5], pair_reverse[10 * 5];
    EXPECT(m, tk_jacobian_forward(m->z.field, m->x.field, cubes, m, forward), TK_OK, "");
    EXPECT(m, tk_jacobian_reverse(m->z.field, m->x.field, cubes, m, reverse), TK_OK, "");
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 5; k++) {
            const double x = (3 + k) / 4.0, want = k % 3 == i ? 3 * x * x * (k + 1) : 0;
            if (fabs(forward[5 * i + k] - want) > 1e-4 || fabs(reverse[5 * i + k] - want) > 1e-4)
                FAIL("dz[%d]/dx[%d] is %g, %g instead of %g", i, k, forward[5 * i + k], reverse[5 * i + k], want);
        }
    }
    EXPECT(m, tk_jacobian_forward(m->y.field, m->x.field, pairs, m, pair_forward), TK_OK, "");
    EXPECT(m, tk_jacobian_reverse(m->y.field, m->x.field, pairs, m, pair_reverse), TK_OK, "");
    for (int k = 0; k < 50; k++)
        CHECK(fabs(pair_forward[k] - pair_reverse[k]) <= 1e-5);
    CHECK(fabs(pair_forward[5 * 2 + 1] - cos(1.0)) <= 1e-5 && fabs(pair_forward[5 * 3 + 2] - 1.0) <= 1e-5);

    EXPECT(m, tk_jacobian_forward(m->g.field, m->x.field, cubes, m, forward), TK_NO_DERIVATIVE,
           "'g' is not declared needs_dual");
    EXPECT(m, tk_jacobian_reverse(m->loss.field, m->x.field, underivable, m, reverse), TK_NO_DERIVATIVE,
           "kernel 'none'");
    EXPECT(m, tk_jacobian_reverse(m->z.field, m->x.field, cubes, m, NULL), TK_BAD_ARGUMENT, "NULL");
    EXPECT(m, tk_jacobian_forward(m->z.field, m->x.field, NULL, m, forward), TK_BAD_ARGUMENT, "NULL");
    CHECK(tk_jacobian_forward(NULL, m->x.field, cubes, m, forward) == TK_BAD_ARGUMENT &&
          tk_jacobian_reverse(m->x.field, NULL, cubes, m, reverse) == TK_BAD_ARGUMENT);
}

int main(void)
{
    gradcheck *m = gradcheck_create(NULL, NULL);
    if (!m)
        return 1;
    reset(m);
    check(m);
    check_kinks(m);
    check_directions(m);
    check_digits(m);
    check_not_finite(m);
    check_function();
    jacobians(m);
    gradcheck_destroy(m);
    return failures != 0;
}
