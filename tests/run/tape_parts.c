/* Programs on a tape: either refused, with the kernels and the place, or with the gradient that comes out when each
 * adjoint finds the data that its launch left. */
#include "tape_parts.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 24, MAX_STEPS = 300 };

static const char *title;

/* ---- a program: launches with up to two integers and a number ---- */

typedef struct launch {
    int kernel, a, b;
    double c;
} launch;

typedef struct program {
    launch at[MAX_STEPS];
    int n;
} program;

static int number_of(const tape_parts *m, const char *name)
{
    for (int k = 0; k < m->tk.desc->nkernels; k++)
        if (strcmp(m->tk.desc->kernels[k].name, name) == 0)
            return k;
    printf("no kernel '%s'\n", name);
    exit(1);
}

static const void *args_of(const launch *l, size_t size, unsigned char *buffer)
{
    const int both[2] = {l->a, l->b};
    memset(buffer, 0, 64);
    memcpy(buffer, both, sizeof both);
    if (size == 16) /* an integer, a gap, a number */
        memcpy(buffer + 8, &l->c, sizeof l->c);
    else if (size == 8 && l->c != 0)
        memcpy(buffer, &l->c, sizeof l->c);
    return buffer;
}

static void add(const tape_parts *m, program *p, const char *name, int a, int b, double c)
{
    p->at[p->n++] = (launch){number_of(m, name), a, b, c};
}

/* ---- memory ---- */

static size_t bytes_of(const tape_parts *m)
{
    size_t n = 0;
    for (int i = 0; i < m->tk.desc->nfields; i++)
        n += tk_field_bytes(&m->tk.fields[i]);
    return n;
}

static void copy(const tape_parts *m, tk_plane plane, unsigned char *to, bool back)
{
    for (int i = 0; i < m->tk.desc->nfields; i++) {
        const tk_field *f = &m->tk.fields[i];
        const size_t n = (size_t)f->count, each = tk_field_bytes(f) / n;
        for (size_t e = 0; e < n && f->plane[plane]; e++) {
            unsigned char *at = (unsigned char *)f->plane[plane] + e * (f->member ? f->member->size : each);
            memcpy(back ? at : to + e * each, back ? to + e * each : at, each);
        }
        to += tk_field_bytes(f);
    }
}

static void start(tape_parts *m)
{
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < m->tk.desc->nfields; i++)
        for (size_t k = 0; k < (size_t)m->tk.fields[i].count && m->tk.fields[i].member == NULL; k++)
            if (m->tk.fields[i].desc->elem == TK_F64)
                for (int c = 0; c < m->tk.fields[i].desc->ncomp; c++)
                    ((double *)m->tk.fields[i].plane[TK_DATA])[k * (size_t)m->tk.fields[i].desc->ncomp + (size_t)c] = 0.3 + 0.01 * (double)((k * 7 + (size_t)c) % 50);
    for (int i = 0; i < N; i++) {
        m->x.data[i] = 103.3 + 0.29 * i;
        m->v.data[i] = 0.5 - 0.02 * i;
        m->at.data[i] = (5 * i + 3) % N;
        m->pairs.data[i].a = 1 + 0.1 * i;
        m->pairs.data[i].b = 2;
    }
    m->now.data[0] = 0;
    m->clock.data[0] = 0;
    m->loss.data[0] = 0;
}

/* Beside the loss's: so that the adjoints of all programs have something to carry. */
static void seed(tape_parts *m)
{
    for (int i = 0; i < m->tk.desc->nfields; i++) {
        tk_field *f = &m->tk.fields[i];
        for (int64_t k = 0; k < f->count && f->plane[TK_GRAD] && !f->member; k++)
            for (int c = 0; c < f->desc->ncomp; c++)
                ((double *)f->plane[TK_GRAD])[k * f->desc->ncomp + c] = 0.1 * (double)((k * 3 + c) % 7);
    }
    m->loss.grad[0] = 1;
}

/* Each adjoint on the data that its launch left. */
static void by_hand(tape_parts *m, const program *p, unsigned char *grad, unsigned char *data)
{
    const size_t n = bytes_of(m);
    unsigned char args[64], *states = malloc(n * (size_t)p->n + 1);
    start(m);
    for (int i = 0; i < p->n; i++) {
        const tk_kernel *k = &m->tk.desc->kernels[p->at[i].kernel];
        tk_launch(&m->tk, k, args_of(&p->at[i], k->args_size, args));
        copy(m, TK_DATA, states + n * (size_t)i, false);
    }
    copy(m, TK_DATA, data, false);
    seed(m);
    for (int i = p->n; i-- > 0;) {
        const tk_kernel *k = &m->tk.desc->kernels[p->at[i].kernel];
        copy(m, TK_DATA, states + n * (size_t)i, true);
        if (k->grad)
            tk_launch_grad(&m->tk, k, args_of(&p->at[i], k->args_size, args), NULL);
    }
    copy(m, TK_GRAD, grad, false);
    free(states);
}

static tk_status on_tape(tape_parts *m, const program *p)
{
    unsigned char args[64];
    start(m);
    tk_tape_begin(m->loss.field, 0);
    seed(m);
    for (int i = 0; i < p->n; i++) {
        const tk_kernel *k = &m->tk.desc->kernels[p->at[i].kernel];
        tk_launch(&m->tk, k, args_of(&p->at[i], k->args_size, args));
    }
    return tk_tape_end(m->loss.field);
}

/* grad, data: those by hand. */
static void compare(tape_parts *m, size_t budget, const unsigned char *grad, const unsigned char *data)
{
    const size_t n = bytes_of(m);
    unsigned char *now = calloc(1, n);
    copy(m, TK_GRAD, now, false);
    if (memcmp(grad, now, n) != 0)
        FAIL("%s, budget %zu: wrong gradient", title, budget);
    copy(m, TK_DATA, now, false);
    if (memcmp(data, now, n) != 0)
        FAIL("%s, budget %zu: the data are not those of the last launch", title, budget);
    free(now);
}

static int again, refused;

/* A tape under budgets gives this as well, or refuses: an overwrite, or a budget that is too small. */
static void under_budgets(tape_parts *m, const program *p, const unsigned char *grad, const unsigned char *data)
{
    tk_session *s = tk_module_session(&m->tk);
    for (size_t budget = 600000; budget > 2000; budget -= budget / 3) {
        tk_tape_budget(s, budget);
        const tk_status st = on_tape(m, p);
        if (st == TK_OK) {
            again += tk_tape_last_report(s).again > 0;
            compare(m, budget, grad, data);
        } else if (st == TK_OVERWRITTEN || (st == TK_BAD_ARGUMENT && strstr(tape_parts_error(m), "is too small for"))) {
            refused++;
        } else {
            FAIL("%s, budget %zu: %s", title, budget, tape_parts_error(m));
        }
        tk_session_clear_error(s);
    }
    tk_tape_budget(s, 0);
}

/* text: of the refusal; NULL: it is right. Gives the bytes of the tape. */
static size_t check(tape_parts *m, const char *what, const program *p, const char *text)
{
    const size_t n = bytes_of(m);
    tk_session *s = tk_module_session(&m->tk);
    unsigned char *grad = calloc(1, n), *data = calloc(1, n);
    title = what;
    if (!text) {
        by_hand(m, p, grad, data);
        under_budgets(m, p, grad, data);
    }
    const tk_status st = on_tape(m, p);
    if (st != (text ? TK_OVERWRITTEN : TK_OK) || (text && !strstr(tape_parts_error(m), text)))
        FAIL("%s: %s '%s' instead of '%s'", what, tk_status_name(st), tape_parts_error(m), text ? text : "");
    tk_session_clear_error(s);
    const size_t bytes = tk_tape_bytes(s);
    if (!text && st == TK_OK)
        compare(m, 0, grad, data);
    free(grad);
    free(data);
    return bytes;
}

/* ---- cases ---- */

static void particles(tape_parts *m)
{
    program one = {.n = 0}, many = {.n = 0};
    for (int t = 0; t < 8; t++) {
        add(m, &one, "clear", 0, 0, 0);
        add(m, &one, "fill", t, 0, 0);
        add(m, &one, "move", t, 0, 0);
        add(m, &many, "clear_many", t, 0, 0);
        add(m, &many, "fill_many", t, 0, 0);
        add(m, &many, "move_many", t, 0, 0);
    }
    add(m, &one, "total_x", 8, 0, 0);
    add(m, &many, "total_x", 8, 0, 0);
    check(m, "one grid for all steps", &one, "kernel 'clear' of module 'tape_parts' changes 'one[103] component 0', but the adjoint of kernel 'move' (launch 3 on the tape)");
    one.n = 3;
    add(m, &one, "total_x", 1, 0, 0);
    check(m, "one grid for one step", &one, NULL);
    check(m, "a grid for each step", &many, NULL);
}

static void slabs(tape_parts *m)
{
    program p = {.n = 0};
    for (int t = 0; t < 30; t++)
        add(m, &p, "push", t, t + 1, 0);
    add(m, &p, "total", 30, 0, 0);
    check(m, "slabs in order", &p, NULL);
    p.at[20].b = 7;
    check(m, "the wrong slab", &p, "kernel 'push' of module 'tape_parts' changes 'v[7, 0]', but the adjoint of kernel 'push' (launch 8 on the tape)");

    program scattered = {.n = 0};
    for (int t = 0; t < 40; t++)
        add(m, &scattered, "push", t * 17 % 41, (t + 1) * 17 % 41, 0);
    add(m, &scattered, "total", 40 * 17 % 41, 0, 0);
    check(m, "slabs in no order", &scattered, NULL);
    scattered.at[39].b = 17 * 20 % 41;
    check(m, "a wrong one of these", &scattered, "(launch 21 on the tape)");

    program inner = {.n = 0}, backwards = {.n = 0}, mixed = {.n = 0};
    for (int t = 0; t < 20; t++) {
        add(m, &inner, "push_inner", t, 0, 0);
        add(m, &backwards, "push", 40 - t, 39 - t, 0);
        add(m, &mixed, "later", t, 0, 0);
        add(m, &mixed, "step_now", 0, 0, 0);
    }
    add(m, &inner, "total", 20, 0, 0);
    add(m, &backwards, "total", 20, 0, 0);
    check(m, "a stencil", &inner, NULL);
    check(m, "backwards", &backwards, NULL);
    mixed.n = 2;
    add(m, &mixed, "later", 1, 0, 0);
    check(m, "time behind", &mixed, NULL);
    add(m, &mixed, "later", 0, 0, 0);
    check(m, "time behind, the same values", &mixed, NULL);
    add(m, &mixed, "later", -1 + 3, 0, 0);
    add(m, &mixed, "total", 1, 0, 0);
    check(m, "time behind, on", &mixed, NULL);
    inner.at[19].a = 4;
    check(m, "a stencil over an older slab, the same values", &inner, NULL);
    add(m, &inner, "push", 19, 5, 0);
    check(m, "over an older slab of a stencil", &inner, "changes 'v[5, 0]'");
}

static void rings(tape_parts *m)
{
    for (int steps = 1; steps <= 4; steps++) {
        program sines = {.n = 0}, linear = {.n = 0};
        for (int t = 0; t < steps; t++) {
            add(m, &sines, "turn", t, 0, 0);
            add(m, &linear, "decay", t, 0, 0);
        }
        check(m, "a ring of three", &sines, steps < 3 ? NULL : "changes 'ring[0, 0]', but the adjoint of kernel 'turn' (launch 1 on the tape)");
        check(m, "a ring of three, linear", &linear, NULL);
    }
}

static void ranges(tape_parts *m)
{
    program p = {.n = 0};
    add(m, &p, "some", 2, 9, 0);
    add(m, &p, "set_some", 9, 20, 0);
    add(m, &p, "set_some", 0, 2, 0);
    add(m, &p, "some", 12, 18, 0);
    add(m, &p, "set_some", 9, 12, 0);
    check(m, "beside each other", &p, NULL);
    add(m, &p, "set_some", 17, 18, 0);
    check(m, "the last of a range", &p, "changes 'y[17]', but the adjoint of kernel 'some' (launch 4 on the tape)");
    p.n--;
    add(m, &p, "set_some", 18, 18, 0);
    check(m, "an empty range", &p, NULL);
    p.n--;
    add(m, &p, "set_wrapped", 2147483640, 2147483641, 0);
    check(m, "a subscript modulo 2^32", &p, "changes 'y[4]', but the adjoint of kernel 'some' (launch 1 on the tape)");
    p.n--;
    add(m, &p, "set_wrapped", 2147483638, 2147483639, 0);
    check(m, "one beside what is needed", &p, NULL);
    p.n--;
    add(m, &p, "set_some", 1, 3, 0);
    check(m, "the first of a range", &p, "changes 'y[2]', but the adjoint of kernel 'some' (launch 1 on the tape)");
}

static void from_data(tape_parts *m)
{
    program p = {.n = 0};
    add(m, &p, "pull", 8, 0, 0);
    add(m, &p, "put", 8, 0, 0.5);
    add(m, &p, "whole", 0, 0, 0);
    check(m, "other elements of a list", &p, NULL);
    p.n = 0;
    for (int k = 0; k < 6; k++) {
        add(m, &p, "pull", N, 0, 0);
        add(m, &p, "put", N - 3 * k, 0, 0.5 + 0.1 * k);
    }
    const size_t bytes = check(m, "the same elements of a list", &p, "changes 'z[0]'");
    p.n = 2;
    add(m, &p, "put", N / 2, 0, 0.25);
    add(m, &p, "put", N / 3, 0, 0.75);
    if (check(m, "elements that were needed", &p, NULL) <= bytes / 12)
        FAIL("%s: nothing was kept", title);
    p.n = 0;
    for (int l = 0; l < N; l++)
        add(m, &p, "level", l, 0, 0);
    add(m, &p, "whole", 0, 0, 0);
    check(m, "levels", &p, NULL);
    p.n = 0;
    for (int l = 0; l < 4; l++)
        add(m, &p, "level_all", l, 0, 0);
    check(m, "levels under a choice", &p, NULL);
    add(m, &p, "whole", 0, 0, 0);
    add(m, &p, "level_all", 5, 0, 0);
    check(m, "levels behind a use", &p, "changes 'y[");
    p.n = 0;
    add(m, &p, "pull", 8, 0, 0);
    add(m, &p, "shift_at", 0, 0, 0);
    check(m, "the list itself", &p, "kernel 'shift_at' of module 'tape_parts' changes 'at[0]'");
    p.n = 1;
    add(m, &p, "shift_one", 9, 0, 0);
    check(m, "an element of the list that was not used", &p, NULL);
    add(m, &p, "shift_one", 7, 0, 0);
    check(m, "one that was", &p, "changes 'at[7]'");
    p.n = 0;
    add(m, &p, "step_now", 0, 0, 0);
    add(m, &p, "tick", 0, 0, 0);
    check(m, "a number in memory", &p, "kernel 'tick' of module 'tape_parts' changes 'now'");
    p.n = 0;
    for (int t = 0; t < 3; t++) {
        add(m, &p, "step_clock", 0, 0, 0);
        add(m, &p, "tick_clock", 0, 0, 0);
    }
    add(m, &p, "total", 3, 0, 0);
    check(m, "a number in memory that is saved", &p, NULL);
    add(m, &p, "push", 9, 2, 0);
    check(m, "a slab that it stood for", &p, "changes 'v[2, 0]', but the adjoint of kernel 'step_clock' (launch 5 on the tape)");
    p.n = 0;
    add(m, &p, "constant", 0, 0, 2);
    add(m, &p, "constant", 0, 0, 2);
    check(m, "the same values", &p, NULL);
    add(m, &p, "constant", 0, 0, 3);
    check(m, "other values", &p, "changes 'z[0]'");
    p.n = 0;
    add(m, &p, "constant_read", 0, 0, 0);
    add(m, &p, "some", 0, N, 0);
    add(m, &p, "whole", 0, 0, 0);
    check(m, "a read that no adjoint needs", &p, NULL);
}

static tk_status nothing(void *args)
{
    (void)args;
    return TK_OK;
}

static tk_status recomputes(void *args)
{
    tape_parts *m = *(tape_parts **)args;
    tape_parts_put(m, N, 0.125);
    tape_parts_own(m);
    m->loss.grad[0] = 0;
    tape_parts_own_grad(m);
    m->loss.grad[0] = 1;
    return tape_parts_some(m, 0, N);
}

/* What adjoints of the program's own overwrite is there again for those of earlier launches. */
static void on_the_way_back(tape_parts *m)
{
    static const tk_triple triple = {"recomputes", nothing, recomputes, NULL, 0};
    program p = {.n = 0};
    add(m, &p, "whole", 0, 0, 0);
    add(m, &p, "own", 0, 0, 0);
    add(m, &p, "own", 0, 0, 0);
    check(m, "an adjoint that overwrites", &p, NULL);
    p.n = 1;
    check(m, "whole", &p, NULL);
    double want[2][N];
    memcpy(want[0], m->y.grad, sizeof want[0]);
    memcpy(want[1], m->z.grad, sizeof want[1]);
    start(m);
    tk_tape_begin(m->loss.field, 0);
    seed(m);
    tape_parts_whole(m);
    tk_call(tk_module_session(&m->tk), &triple, &m, sizeof m);
    title = "a backward function that overwrites";
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    if (memcmp(want[0], m->y.grad, sizeof want[0]) != 0 || memcmp(want[1], m->z.grad, sizeof want[1]) != 0)
        FAIL("%s: wrong gradient", title);
}

static void layouts(tape_parts *m)
{
    static const struct {
        const char *use, *set;
        int a, b;
        const char *text;
    } cases[] = {
        {"use_u", "set_v", 0, 0, NULL}, {"use_u", "set_u", 5, 0, "changes 'uv[5] component 0'"}, {"use_a", "set_b", 0, 0, NULL},
        {"use_a", "set_a", 6, 0, "changes 'pairs.a[6]'"}, {"use_apart", "set_apart", 7, 0, NULL}, {"use_apart", "set_apart_y", 7, 0, "changes 'apart[7] component 1'"},
        {"use_far", "set_far", 2, 4, "changes 'far[2, 23]'"}, {"use_far", "set_far", 1, 4, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        program p = {.n = 0};
        add(m, &p, cases[i].use, 2, 0, 0);
        add(m, &p, cases[i].set, cases[i].a, cases[i].b, 0);
        check(m, cases[i].set, &p, cases[i].text);
    }
    program p = {.n = 0};
    for (int t = 0; t < 5; t++)
        add(m, &p, "step_kept", 0, 0, 0);
    start(m);
    tk_tape_begin(m->loss.field, 0);
    for (int t = 0; t < 5; t++)
        tape_parts_step_kept(m);
    title = "a saved field";
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
}

/* ---- functions of the host, scopes, failures ---- */

typedef struct call {
    tape_parts *m;
    int n;
    bool fails;
} call;

static tk_status forward(void *args)
{
    const call *c = args;
    return tape_parts_put(c->m, c->n, 0.5);
}

static tk_status backward(void *args)
{
    const call *c = args;
    return c->fails ? TK_ASSERT : tape_parts_put_grad(c->m, c->n, 0.5);
}

enum { MANY = 300000 };

static tk_status many_launches(void *args)
{
    tk_status st = TK_OK;
    for (int i = 1; i <= MANY && st == TK_OK; i++)
        st = tape_parts_put(*(tape_parts **)args, 1, 1e-6 * i);
    return st;
}

/* Each has changes of its own to put back, and to make once more. */
static void many_in_a_call(tape_parts *m)
{
    static const tk_triple triple = {"many", many_launches, nothing, NULL, 0};
    title = "many launches in a call";
    start(m);
    m->y.data[m->at.data[N - 1]] = 7.5;
    tk_tape_begin(m->loss.field, 0);
    tape_parts_pull(m, N);
    tk_call(tk_module_session(&m->tk), &triple, &m, sizeof m);
    const double last = m->y.data[m->at.data[N - 1]];
    tape_parts_whole(m);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    if (last == 7.5 || m->y.data[m->at.data[N - 1]] != last)
        FAIL("%s: the data are not those of the last launch", title);
}

static void calls(tape_parts *m)
{
    static const tk_triple triple = {"put", forward, backward, NULL, 0};
    tk_session *s = tk_module_session(&m->tk);
    double want[N], data[N];
    program p = {.n = 0};
    add(m, &p, "pull", N, 0, 0);
    add(m, &p, "put", 9, 0, 0.5);
    add(m, &p, "whole", 0, 0, 0);
    check(m, "as launches", &p, NULL);
    memcpy(want, m->y.grad, sizeof want);
    memcpy(data, m->y.data, sizeof data);
    for (int fails = 0; fails < 2; fails++) {
        const call c = {m, 9, fails};
        title = fails ? "in a call whose adjoint fails" : "in a call";
        start(m);
        tk_tape_begin(m->loss.field, 0);
        seed(m);
        tape_parts_pull(m, N);
        tk_call(s, &triple, &c, sizeof c);
        tape_parts_whole(m);
        const tk_status st = tk_tape_end(m->loss.field);
        if (st != (fails ? TK_ASSERT : TK_OK))
            FAIL("%s: %s", title, tape_parts_error(m));
        tk_session_clear_error(s);
        if (!fails && memcmp(want, m->y.grad, sizeof want) != 0)
            FAIL("%s: wrong gradient", title);
        if (memcmp(data, m->y.data, sizeof data) != 0)
            FAIL("%s: the data are not those of the last launch", title);
    }
    title = "a call over what is surely needed";
    const call c = {m, 9, false};
    start(m);
    tk_tape_begin(m->loss.field, 0);
    seed(m);
    tape_parts_whole(m);
    tk_call(s, &triple, &c, sizeof c);
    if (tk_tape_end(m->loss.field) != TK_OVERWRITTEN || !strstr(tape_parts_error(m), "the function 'put' of the host changes 'y["))
        FAIL("%s: %s", title, tape_parts_error(m));
    tk_session_clear_error(s);
}

static void gradient_at(tape_parts *m, double moved, double *g)
{
    start(m);
    m->y.data[4] += moved;
    TK_TAPE(m, m->loss) {
        tape_parts_pull(m, N);
        tape_parts_put(m, 9, 0.5);
        tape_parts_whole(m);
    }
    memcpy(g, m->y.grad, N * sizeof *g);
}

static void second_order(tape_parts *m)
{
    tk_field *const outputs[] = {m->loss.field};
    double up[N], down[N], seed[N] = {0, 0, 0, 0, 1};
    gradient_at(m, 1e-5, up);
    gradient_at(m, -1e-5, down);
    title = "in a forward scope";
    start(m);
    memset(m->z.dual, 0, N * sizeof(double));
    tape_parts_forward_y(m, outputs, 1, seed, N);
    tk_tape_begin(m->loss.field, 0);
    tape_parts_pull(m, N);
    tape_parts_put(m, 9, 0.5);
    tape_parts_whole(m);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    for (int i = 0; i < N; i++)
        if (fabs(m->y.grad_dual[i] - (up[i] - down[i]) / 2e-5) > 1e-8)
            FAIL("%s: wrong second-order product", title);
    tk_forward_end(tk_module_session(&m->tk));
}

/* Nothing on the tape writes the loss: a tape that was opened too late. With a gradient of the host's, or without any
 * launch, there is nothing wrong. */
static void for_nothing(tape_parts *m)
{
    tk_session *s = tk_module_session(&m->tk);
    title = "no launch writes the loss";
    start(m);
    tk_tape_begin(m->loss.field, 0);
    tape_parts_put(m, 9, 0.5);
    if (tk_tape_end(m->loss.field) != TK_BAD_ARGUMENT ||
        !strstr(tape_parts_error(m), "none of the launches on the tape writes to the loss 'loss'"))
        FAIL("%s: %s", title, tape_parts_error(m));
    tk_session_clear_error(s);
    if (tk_tape_is_open(s))
        FAIL("%s: the tape is open", title);
    tk_tape_begin(m->loss.field, 0);
    m->z.grad[N - 1] = NAN;
    tape_parts_put(m, 9, 0.5);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    tk_tape_begin(m->loss.field, 0);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    /* the later segments may have had no gradient to hand on, and the host's may be zero */
    tk_session_clear_grad(s);
    tk_tape_begin(m->loss.field, TK_TAPE_CONTINUE);
    tape_parts_put(m, 9, 0.5);
    CHECK_OK(m, tk_tape_end(m->loss.field));
    tk_tape_begin(m->loss.field, 0);
    m->z.grad[N - 1] = 0;
    tape_parts_put(m, 9, 0.5);
    CHECK_OK(m, tk_tape_end_with(m->loss.field, 0));
}

/* Two modules of one session have fields of their own; a tape that is dropped has no say in the next one. */
static void others(tape_parts *m)
{
    tk_session *s = tk_module_session(&m->tk);
    tape_parts *other = tape_parts_create(s, NULL);
    title = "two modules";
    start(m);
    start(other);
    tk_tape_begin(m->loss.field, 0);
    tape_parts_whole(m);
    tape_parts_set_some(other, 0, N);
    tape_parts_whole(other);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    tk_tape_begin(m->loss.field, 0);
    tape_parts_whole(m);
    tk_tape_drop(s);
    tk_tape_begin(m->loss.field, 0);
    m->y.grad[0] = 1;
    tape_parts_put(m, 9, 0.25);
    tape_parts_set_some(m, 0, N);
    if (tk_tape_end(m->loss.field) != TK_OK)
        FAIL("%s: %s", title, tape_parts_error(m));
    tk_session_clear_error(s);
    tape_parts_destroy(other);
}

/* Any launches in any order: a tape refuses them, or has the gradient. */
static void any_order(tape_parts *m)
{
    static const struct {
        const char *name;
        int a, b; /* arguments are less */
        double c;
    } choices[] = {
        {"push", 41, 41, 0}, {"push_inner", 40, 1, 0}, {"turn", 9, 1, 0}, {"decay", 9, 1, 0}, {"later", 40, 1, 0},
        {"some", N, N + 1, 0}, {"set_some", N, N + 1, 0}, {"pull", N + 1, 1, 0}, {"put", N + 1, 1, 0.5}, {"whole", 1, 1, 0},
        {"level", N, 1, 0}, {"constant", 1, 1, 2}, {"step_clock", 1, 1, 0}, {"tick_clock", 1, 1, 0},
        {"clear", 1, 1, 0}, {"fill", 40, 1, 0}, {"move", 40, 1, 0}, {"total", 41, 1, 0}, {"shift_one", N, 1, 0},
    };
    enum { PROGRAMS = 80, CHOICES = sizeof choices / sizeof *choices };
    const size_t n = bytes_of(m);
    unsigned char *grad = calloc(1, n), *data = calloc(1, n);
    unsigned state = 1;
    title = "any order";
    for (int k = 0; k < PROGRAMS; k++) {
        program p = {.n = 0};
        int kinds[4], ticks = 0;
        for (int i = 0; i < 4; i++)
            kinds[i] = (int)((state = state * 1664525u + 1013904223u) >> 8) % CHOICES;
        for (int i = 0; i < 20 + k / 2; i++) {
            const int at = kinds[((state = state * 1664525u + 1013904223u) >> 8) % 4];
            const int r = (int)((state = state * 1664525u + 1013904223u) >> 8);
            const int a = (k % 2 ? i : r) % choices[at].a, b = (k % 2 ? a + 1 : r / 64) % choices[at].b;
            ticks += strcmp(choices[at].name, "tick_clock") == 0;
            if (ticks < 30 || strcmp(choices[at].name, "tick_clock") != 0)
                add(m, &p, choices[at].name, a, b, choices[at].c);
        }
        add(m, &p, "total", 3, 0, 0);
        by_hand(m, &p, grad, data);
        under_budgets(m, &p, grad, data);
    }
    free(grad);
    free(data);
}

int main(void)
{
    tape_parts *m = tape_parts_create(NULL, NULL);
    if (!m)
        return 1;
    particles(m);
    slabs(m);
    rings(m);
    ranges(m);
    from_data(m);
    layouts(m);
    on_the_way_back(m);
    calls(m);
    many_in_a_call(m);
    second_order(m);
    for_nothing(m);
    others(m);
    any_order(m);
    if (again < 40 || refused < 40)
        FAIL("under budgets %d tapes ran launches again, and %d were refused", again, refused);
    tape_parts_destroy(m);
    return failures != 0;
}
