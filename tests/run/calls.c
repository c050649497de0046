/* Random sequences of launches, functions of the host (with and without footprint) and derivatives of the program's own,
 * against a model of their reverse sweep: a gradient is right, or refused. */
#include "calls.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 5, FIELDS = 5, LENGTH = 12, SEQUENCES = 1500 };
enum field { A, B, S, H, C };
enum kind { SINE, ADD, SCALE, OWN, FUNCS, KINDS };
enum way { KERNEL, HOST, HOST_SAYS, INSIDE, INSIDE_SAYS, WAYS };

typedef tk_status (*kernel_fn)(calls *, int32_t, int32_t);
typedef struct kernels {
    enum kind kind;
    enum field to, from;
    kernel_fn run, grad;
} kernels;
#define PAIR(kind, name, to, from) {kind, to, from, calls_##name, calls_##name##_grad}
static const kernels all[] = {
    PAIR(SINE, sine_ab, A, B), PAIR(SINE, sine_as, A, S), PAIR(SINE, sine_ac, A, C), PAIR(SINE, sine_ba, B, A), PAIR(SINE, sine_bs, B, S), PAIR(SINE, sine_bc, B, C),
    PAIR(SINE, sine_sa, S, A), PAIR(SINE, sine_sb, S, B), PAIR(SINE, sine_ha, H, A), PAIR(SINE, sine_hs, H, S), PAIR(ADD, add_ab, A, B), PAIR(ADD, add_as, A, S),
    PAIR(ADD, add_ac, A, C), PAIR(ADD, add_ba, B, A), PAIR(ADD, add_bs, B, S), PAIR(ADD, add_bc, B, C), PAIR(ADD, add_sa, S, A), PAIR(ADD, add_sb, S, B), PAIR(ADD, add_ha, H, A),
    PAIR(ADD, add_hs, H, S), PAIR(SCALE, scale_a, A, A), PAIR(SCALE, scale_b, B, B), PAIR(SCALE, scale_s, S, S), PAIR(SCALE, scale_h, H, H), PAIR(OWN, own, B, A),
    PAIR(FUNCS, by_funcs, B, A),
};
enum { LEN = sizeof all / sizeof *all };

typedef struct step {
    enum kind kind;
    enum field to, from;
    int lo, hi;
    enum way way;
    const kernels *k; /* where kernels run */
} step;

typedef double state[FIELDS][N];

/* ---- the model ---- */

static double value(const step *p, double to, double from, double s)
{
    switch (p->kind) {
    case SINE: return sin(from);
    case ADD:
    case OWN: return to + from * from;
    case FUNCS: return to + s * s + from * from * from;
    default: return 1.5 * to;
    }
}

static void forward_step(const step *p, state x)
{
    for (int i = p->lo; i < p->hi; i++)
        x[p->to][i] = value(p, x[p->to][i], x[p->from][i], x[S][i]);
}

/* x: what the step found, or left: it does not store what its derivative reads. */
static void backward_step(const step *p, state x, state g)
{
    for (int i = p->lo; i < p->hi; i++) {
        const double seed = g[p->to][i], from = x[p->from][i];
        if (p->kind == SINE) {
            g[p->to][i] = 0;
            g[p->from][i] += cos(from) * seed;
        } else if (p->kind == SCALE) {
            g[p->to][i] = 1.5 * seed;
        } else {
            g[p->from][i] += (p->kind == FUNCS ? 3 * from * from : 2 * from) * seed;
            if (p->kind == FUNCS)
                g[S][i] += 2 * x[S][i] * seed;
        }
    }
}

static void model(const step *p, int n, const state start, state end, state g)
{
    static state at[LENGTH + 1];
    memcpy(at[0], start, sizeof at[0]);
    for (int k = 0; k < n; k++) {
        memcpy(at[k + 1], at[k], sizeof at[0]);
        forward_step(&p[k], at[k + 1]);
    }
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < N; i++)
            g[f][i] = f == C ? 0 : i + 1;
    for (int k = n; k-- > 0;)
        backward_step(&p[k], at[k], g);
    memcpy(end, at[n], sizeof at[0]);
}

/* ---- the same by the tape ---- */

typedef struct call {
    calls *m;
    step p;
} call;

static tk_field *field_of(const calls *m, enum field f)
{
    tk_field *const fields[] = {m->a.field, m->b.field, m->s.field, m->h.field, m->c.field};
    return fields[f];
}

static void planes(const calls *m, double *data[FIELDS], double *grad[FIELDS])
{
    double *const d[] = {m->a.data, m->b.data, m->s.data, m->h.data, m->c.data}, *const g[] = {m->a.grad, m->b.grad, m->s.grad, m->h.grad, m->c.grad};
    memcpy(data, d, sizeof d);
    memcpy(grad, g, sizeof g);
}

static void load(const calls *m, state x, state g)
{
    double *data[FIELDS], *grad[FIELDS];
    planes(m, data, grad);
    for (int f = 0; f < FIELDS; f++) {
        memcpy(x[f], data[f], sizeof x[f]);
        memcpy(g[f], grad[f], sizeof g[f]);
    }
}

static tk_status by_host(void *args)
{
    const call *c = args;
    double *data[FIELDS], *grad[FIELDS];
    planes(c->m, data, grad);
    for (int i = c->p.lo; i < c->p.hi; i++)
        data[c->p.to][i] = value(&c->p, data[c->p.to][i], data[c->p.from][i], data[S][i]);
    return TK_OK;
}

static tk_status by_host_back(void *args)
{
    const call *c = args;
    state x, g;
    double *data[FIELDS], *grad[FIELDS];
    load(c->m, x, g);
    backward_step(&c->p, x, g);
    planes(c->m, data, grad);
    for (int f = 0; f < FIELDS; f++)
        memcpy(grad[f], g[f], sizeof g[f]);
    for (int i = 0; i < N && c->p.way == HOST; i++)
        data[S][i] = 1e3; /* put back behind it */
    return TK_OK;
}

static tk_status inside(void *args)
{
    const call *c = args;
    return c->p.k->run(c->m, c->p.lo, c->p.hi);
}

static tk_status inside_back(void *args)
{
    const call *c = args;
    return c->p.k->grad(c->m, c->p.lo, c->p.hi);
}

static void play(calls *m, const step *p)
{
    static const tk_triple host = {"host", by_host, by_host_back, NULL, 0}, launches = {"launches", inside, inside_back, NULL, 0};
    if (p->way == KERNEL) {
        p->k->run(m, p->lo, p->hi);
        return;
    }
    const int64_t box[] = {p->lo, p->hi - 1};
    const call c = {m, *p};
    tk_footprint lines[3] = {{field_of(m, p->to), TK_STORES, box}, {field_of(m, p->from), TK_READS | TK_NEEDED, box}, {field_of(m, S), TK_NEEDED, box}};
    const int n = p->kind == SCALE ? 1 : p->kind == FUNCS ? 3 : 2;
    const bool is_inside = p->way == INSIDE || p->way == INSIDE_SAYS;
    lines[0].what |= p->kind == SCALE || p->kind == ADD ? TK_READS : 0;
    if (p->way == HOST || p->way == INSIDE)
        tk_call(tk_module_session(&m->tk), is_inside ? &launches : &host, &c, sizeof c);
    else
        tk_call_with(tk_module_session(&m->tk), is_inside ? &launches : &host, &c, sizeof c, lines, n);
}

/* ---- programs ---- */

static uint32_t bits = 12345;

static int draw(int n)
{
    bits = bits * 1664525u + 1013904223u;
    return (int)((bits >> 16) % (unsigned)n);
}

/* Functions of the host also take ways that no kernel has: from h, into c. */
static step draw_step(void)
{
    step p = {.way = (enum way)draw(WAYS), .lo = draw(3)};
    p.hi = draw(2) ? N : p.lo + draw(N - p.lo + 1);
    p.lo = draw(2) ? 0 : p.lo;
    p.k = &all[draw(LEN)];
    p.kind = p.k->kind;
    p.to = p.k->to;
    p.from = p.k->from;
    if ((p.way == HOST || p.way == HOST_SAYS) && draw(2)) {
        p.kind = (enum kind)draw(SCALE + 1);
        p.to = (enum field)draw(FIELDS);
        p.from = p.kind == SCALE ? p.to : (enum field)((p.to + 1 + draw(FIELDS - 1)) % FIELDS);
    }
    return p;
}

static void compare(const calls *m, int number, const state end, const state g)
{
    state x, grad;
    load(m, x, grad);
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < N; i++) {
            if (!near(grad[f][i], g[f][i], 1e-11))
                FAIL("sequence %d: gradient of %c[%d] is %.12g, not %.12g", number, "abshc"[f], i, grad[f][i], g[f][i]);
            if (!near(x[f][i], end[f][i], 1e-13))
                FAIL("sequence %d: %c[%d] is %.12g, not %.12g", number, "abshc"[f], i, x[f][i], end[f][i]);
        }
}

static void show(const step *p, int n)
{
    static const char *const kinds[] = {"sine", "add", "scale", "own", "funcs"}, *const ways[] = {"kernel", "host", "host says", "inside", "inside says"};
    for (int k = 0; k < n; k++)
        printf("    %s %c <- %c [%d, %d) %s\n", kinds[p[k].kind], "abshc"[p[k].to], "abshc"[p[k].from], p[k].lo, p[k].hi, ways[p[k].way]);
}

/* True if it was not refused. */
static bool sequence(calls *m, int number, unsigned flags)
{
    step p[LENGTH];
    state start, end, g, none;
    double *data[FIELDS], *grad[FIELDS];
    const int n = 1 + draw(LENGTH), before = failures;
    for (int k = 0; k < n; k++)
        p[k] = draw_step();
    planes(m, data, grad);
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < N; i++)
            data[f][i] = start[f][i] = 0.1 * (draw(13) - 6);
    model(p, n, start, end, g);
    tk_tape_begin(m->loss.field, flags);
    for (int k = 0; k < n; k++)
        play(m, &p[k]);
    calls_total(m);
    load(m, end, none);
    const tk_status st = tk_tape_end(m->loss.field);
    if (st != TK_OK && st != TK_OVERWRITTEN && st != TK_NO_DERIVATIVE)
        FAIL("sequence %d: %s", number, calls_error(m));
    if (st == TK_OK)
        compare(m, number, end, g);
    if (failures > before)
        show(p, n);
    tk_session_clear_error(tk_module_session(&m->tk));
    return st == TK_OK;
}

/* ---- single cases ---- */

static void footprints(calls *m)
{
    tk_session *s = tk_module_session(&m->tk);
    const tk_triple host = {"host", by_host, by_host_back, NULL, 0};
    const call c = {m, {.kind = SINE, .to = A, .from = B, .hi = N}};
    const int64_t beyond[] = {0, N}, row[] = {0, N - 1};
    calls *other = calls_create(NULL, NULL);
    tk_footprint line = {NULL, TK_STORES, row};
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, &line, 1), "'host': line 0 of its footprint has no field");
    line.field = other->a.field;
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, &line, 1), "is a field of another session");
    line = (tk_footprint){m->a.field, 16, row};
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, &line, 1), "does nothing, or has unknown bits");
    line = (tk_footprint){m->a.field, TK_STORES, beyond};
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, &line, 1), "has a box that is not in the field");
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, NULL, 1), "its footprint is NULL, but has 1 lines");
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, &line, -1), "its footprint has -1 lines");
    calls_destroy(other);
}

/* Only a footprint makes a tape small: without one all that later launches change is kept. */
static void bytes(calls *m)
{
    const tk_footprint from = {m->c.field, TK_READS | TK_NEEDED, NULL};
    size_t with[2];
    for (int says = 0; says < 2; says++) {
        const call c = {m, {.kind = SINE, .to = H, .from = C, .hi = N}};
        const tk_triple host = {"host", by_host, by_host_back, NULL, 0};
        tk_footprint lines[] = {from, {m->h.field, TK_STORES, NULL}};
        tk_tape_begin(m->loss.field, 0);
        if (says)
            tk_call_with(tk_module_session(&m->tk), &host, &c, sizeof c, lines, 2);
        else
            tk_call(tk_module_session(&m->tk), &host, &c, sizeof c);
        calls_scale_a(m, 0, N);
        CHECK_OK(m, tk_tape_end(m->loss.field));
        with[says] = tk_tape_bytes(tk_module_session(&m->tk));
    }
    if (with[0] < with[1] + 16 * N - 2 * sizeof(tk_footprint))
        FAIL("%zu bytes without a footprint, %zu with it", with[0], with[1]);
}

/* How often memory is taken by a write to c or h of [lo, lo + 2), behind a need of [0, 2): no kernel writes c, no adjoint reads h. */
static int64_t taken(calls *m, heap *h, bool by_launch, int lo)
{
    static const tk_triple host = {"host", by_host, by_host_back, NULL, 0};
    tk_session *s = tk_module_session(&m->tk);
    const int64_t low[] = {0, 1}, stored[] = {lo, lo + 1};
    const tk_footprint needs[] = {{m->h.field, TK_READS | TK_NEEDED, low}}, stores[] = {{m->c.field, TK_STORES, stored}};
    const call from_h = {m, {.kind = ADD, .to = C, .from = H}}, to_c = {m, {.kind = SINE, .to = C, .from = A, .lo = lo, .hi = lo + 2}};
    for (int i = 0; i < N; i++)
        m->a.data[i] = m->c.data[i] = m->h.data[i] = 0.5;
    tk_tape_begin(m->loss.field, 0);
    if (by_launch)
        tk_call_with(s, &host, &from_h, sizeof from_h, needs, 1);
    else
        calls_sine_ac(m, 0, 2);
    const int64_t before = h->calls;
    if (by_launch)
        calls_scale_h(m, lo, lo + 2);
    else
        tk_call_with(s, &host, &to_c, sizeof to_c, stores, 1);
    const int64_t calls_made = h->calls - before;
    calls_total(m);
    CHECK_OK(m, tk_tape_end(m->loss.field));
    return calls_made;
}

/* Beside what is needed nothing is copied. Over it memory is taken for an entry of the list, the copy, and the changes. */
static void beside(void)
{
    heap h = {0};
    tk_session *s = heap_session(&h);
    calls *m = calls_create(s, NULL);
    for (int k = 0; k < 4; k++) {
        const bool by_launch = k % 2;
        taken(m, &h, by_launch, 0); /* a tape keeps memory for the next one */
        const int64_t over = taken(m, &h, by_launch, 0), apart = taken(m, &h, by_launch, 3);
        if (over - apart != 3)
            FAIL("a %s takes memory %lld times over what is needed, %lld times beside it", by_launch ? "launch" : "call", (long long)over, (long long)apart);
    }
    calls_destroy(m);
    tk_session_destroy(s);
}

/* Code built with --debug compares what the functions do with the footprint. */
static void said(calls *m)
{
    const tk_triple host = {"host", by_host, by_host_back, NULL, 0}, launches = {"launches", inside, inside_back, NULL, 0};
    tk_session *s = tk_module_session(&m->tk);
    const call c = {m, {.kind = SINE, .to = A, .from = B, .hi = N, .k = &all[0]}};
    const int64_t some[] = {0, N - 2};
    const tk_footprint lines[] = {{m->a.field, TK_STORES, some}, {m->b.field, TK_READS | TK_NEEDED, NULL}}, less[] = {{m->a.field, TK_STORES, NULL}, {m->b.field, TK_NEEDED, some}};
    for (int i = 0; i < N; i++)
        m->b.data[i] = 0.3 * i + 0.1;
    CHECK_REFUSED(m, tk_call_with(s, &host, &c, sizeof c, lines, 2), "the function 'host' of the host changes 'a[4]', which its footprint does not say");
    CHECK_OK(m, tk_call_with(s, &launches, &c, sizeof c, lines + 1, 1));
    double b[N];
    memcpy(b, m->b.data, sizeof b);
    for (int k = 0; k < 3; k++) {
        tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
        tk_call_with(s, k == 1 ? &launches : &host, &c, sizeof c, k == 2 ? (const tk_footprint[]){less[0], lines[1]} : less, 2);
        calls_scale_h(m, 0, N);
        calls_total(m);
        const tk_status st = tk_tape_end(m->loss.field);
        if (k == 2)
            CHECK_OK(m, st);
        else
            CHECK_REFUSED(m, st, k ? "the backward function 'launches' of the host reads data that its footprint does not say: 'b.grad[4]' is NaN" : "the backward function 'host' of the host reads data that its footprint does not say: 'b.grad[4]' is NaN");
        CHECK(memcmp(b, m->b.data, sizeof b) == 0);
    }
}

int main(void)
{
    calls *m = calls_create(NULL, NULL);
    if (!m)
        return 1;
    const bool debug = m->tk.desc->nsites > 0;
    int right = 0;
    for (int k = 0; k < SEQUENCES && failures < 20; k++)
        right += sequence(m, k, debug && k % 2 ? TK_TAPE_VALIDATE : 0);
    if (right < SEQUENCES / 4)
        FAIL("%d of %d sequences were not refused", right, SEQUENCES);
    footprints(m);
    bytes(m);
    beside();
    if (debug)
        said(m);
    calls_destroy(m);
    return failures != 0;
}
