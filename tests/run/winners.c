#include "winners.h"
#include "host.h"

typedef __typeof__(*((winners *)0)->x.data) number;

enum { N = 20000, K = 37, SIDE = 64 };

static heap memory;

static bool same(const number *a, const number *b, size_t n)
{
    return !memcmp(a, b, n * sizeof *a);
}

/* Few different numbers, whose products are exact: many ties, with each other and with the previous values. */
static void fill(winners *m)
{
    for (int i = 0; i < N; i++) {
        const unsigned r = ((unsigned)i * 2654435761u) >> 7;
        m->x.data[i] = (number)(1 + r % 63) / 64;
        m->w.data[i] = (number)(1 + r / 64 % 8) / 8;
        m->slot.data[i] = (int)(r / 512 % K);
        m->x.grad[i] = m->w.grad[i] = 0;
        m->x.dual[i] = (number)(i % 101) / 128;
        m->w.dual[i] = (number)(i % 53) / 64;
    }
    for (int k = 0; k < K; k++) {
        m->low.data[k] = k % 5 == 0 ? (number)0 : k % 5 == 1 ? (number)1 / 512 : (number)1;
        m->high.data[k] = k % 3 == 0 ? (number)2 : (number)0.5;
        m->only_dual.data[k] = 0;
        m->low.grad[k] = m->high.grad[k] = (number)(k + 1);
        m->low.dual[k] = m->high.dual[k] = m->only_dual.dual[k] = (number)-7;
    }
}

/* The rule: the previous value, then the lowest iteration, then its first execution. e decides between elements of a field. */
typedef struct contest {
    number value[SIDE * SIDE], by_x[SIDE * SIDE], by_w[SIDE * SIDE];
    int winner[SIDE * SIDE];
} contest;

static contest *begin(const number *previous, int n)
{
    static contest c;
    memcpy(c.value, previous, (size_t)n * sizeof *previous);
    for (int k = 0; k < n; k++)
        c.winner[k] = -1;
    return &c;
}

static void offer(contest *c, bool wins, int k, number value, int i, number by_x, number by_w)
{
    if (!wins)
        return;
    c->value[k] = value;
    c->winner[k] = i;
    c->by_x[k] = by_x;
    c->by_w[k] = by_w;
}

/* Values and duals of the field, if there was a JVP; then its gradients before the adjoint ran were k + 1. */
static void check_forward(const winners *m, const contest *c, int n, const number *data, const number *dual)
{
    CHECK(same(c->value, data, (size_t)n));
    for (int k = 0; k < n && dual; k++) {
        const int i = c->winner[k];
        CHECK(dual[k] == (i < 0 ? (number)-7 : c->by_x[k] * m->x.dual[i] + c->by_w[k] * m->w.dual[i]));
    }
}

static void check_reverse(const winners *m, const contest *c, int n, const number *grad)
{
    static number gx[N], gw[N];
    memset(gx, 0, sizeof gx);
    memset(gw, 0, sizeof gw);
    for (int k = 0; k < n; k++) {
        const int i = c->winner[k];
        CHECK(grad[k] == (i < 0 ? (number)(k + 1) : 0));
        if (i < 0)
            continue;
        gx[i] += c->by_x[k] * (number)(k + 1);
        gw[i] += c->by_w[k] * (number)(k + 1);
    }
    CHECK(same(gx, m->x.grad, N) && same(gw, m->w.grad, N));
    CHECK(winners_status(m) == TK_OK);
}

static contest *least(const winners *m)
{
    contest *c = begin(m->low.data, K);
    for (int i = 0; i < N; i++) {
        const number e = m->x.data[i] * m->w.data[i];
        offer(c, e < c->value[m->slot.data[i]], m->slot.data[i], e, i, m->w.data[i], m->x.data[i]);
    }
    return c;
}

static void scatter(winners *m)
{
    fill(m);
    const contest *c = least(m);
    winners_scatter(m);
    check_forward(m, c, K, m->low.data, NULL);
    winners_scatter_grad(m);
    check_reverse(m, c, K, m->low.grad);

    fill(m);
    winners_scatter_jvp(m);
    check_forward(m, c, K, m->low.data, m->low.dual);
    winners_scatter_grad(m);
    check_reverse(m, c, K, m->low.grad);

    /* at kernel level, in order: the same */
    fill(m);
    winners_ordered_jvp(m);
    check_forward(m, c, K, m->low.data, m->low.dual);
    winners_ordered_grad(m);
    check_reverse(m, c, K, m->low.grad);
}

static void nested(winners *m)
{
    fill(m);
    contest *c = begin(m->high.data, K);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i % 4; j++) {
            const int k = (m->slot.data[i] + j * j) % K;
            const number e = m->x.data[i] * (number)(1 + j % 2);
            offer(c, m->x.data[i] > (number)0.25 && e > c->value[k], k, e, i, (number)(1 + j % 2), 0);
        }
        offer(c, m->w.data[i] > c->value[m->slot.data[i]], m->slot.data[i], m->w.data[i], i, 0, 1);
    }
    winners_nested_jvp(m);
    check_forward(m, c, K, m->high.data, m->high.dual);
    winners_nested_grad(m);
    check_reverse(m, c, K, m->high.grad);
}

static void squares(winners *m)
{
    fill(m);
    for (int k = 0; k < SIDE * SIDE; k++) {
        m->depth.data[k] = (number)0.75;
        m->depth.grad[k] = (number)(k + 1);
        m->depth.dual[k] = (number)-7;
    }
    contest *c = begin(m->depth.data, SIDE * SIDE);
    for (int s = 0; s < N / 100; s++)
        for (int i = m->slot.data[s]; i < m->slot.data[s] + 9; i++)
            for (int j = m->slot.data[s + 1]; j < m->slot.data[s + 1] + 7; j++) {
                const number by_w = (number)0.125 * (number)(i - m->slot.data[s]), e = m->x.data[s] + by_w * m->w.data[s];
                offer(c, (i + j) % 5 != s % 5 && e < c->value[i * SIDE + j], i * SIDE + j, e, s, 1, by_w);
            }
    winners_squares_jvp(m);
    check_forward(m, c, SIDE * SIDE, m->depth.data, m->depth.dual);
    winners_squares_grad(m);
    check_reverse(m, c, SIDE * SIDE, m->depth.grad);
}

/* A field without dimensions, and one without gradient in forward mode alone. */
static void others(winners *m)
{
    fill(m);
    m->best.data[0] = (number)0.5;
    m->best.grad[0] = 1;
    m->best.dual[0] = -7;
    contest *c = begin(m->best.data, 1);
    for (int i = 0; i < N; i++) {
        const number e = m->x.data[i] * m->w.data[i];
        offer(c, e > c->value[0], 0, e, i, m->w.data[i], m->x.data[i]);
    }
    winners_whole_jvp(m);
    check_forward(m, c, 1, m->best.data, m->best.dual);
    winners_whole_grad(m);
    check_reverse(m, c, 1, m->best.grad);

    c = begin(m->only_dual.data, K);
    for (int i = 0; i < N; i++) {
        const number e = m->x.data[i] * m->w.data[i];
        offer(c, e > c->value[m->slot.data[i]], m->slot.data[i], e, i, m->w.data[i], m->x.data[i]);
    }
    winners_forward_jvp(m);
    check_forward(m, c, K, m->only_dual.data, m->only_dual.dual);

    /* what a kernel without derivatives overwrites has no gradient any more */
    fill(m);
    c = begin(m->low.data, K);
    for (int i = 0; i < N; i++)
        offer(c, m->x.data[i] < c->value[m->slot.data[i]], m->slot.data[i], m->x.data[i], i, 0, 0);
    winners_forget(m);
    winners_forget_grad(m);
    check_reverse(m, c, K, m->low.grad);
}

/* Several launches on a tape: each has winners of its own, and the last one none. */
static void tapes(winners *m)
{
    static number want[N];
    fill(m);
    memset(want, 0, sizeof want);
    const contest *c = least(m);
    for (int k = 0; k < K; k++)
        if (c->winner[k] >= 0)
            want[c->winner[k]] += c->by_x[k] * (number)(k + 1);
    TK_TAPE(m, m->loss) {
        winners_scatter(m);
        winners_scatter(m); /* ties */
        winners_total(m);
    }
    CHECK(winners_status(m) == TK_OK);
    CHECK(tk_tape_bytes(m->tk.session) >= 2 * K * 16);
    CHECK(same(want, m->x.grad, N));

    fill(m);
    memset(want, 0, sizeof want);
    int lowest[K];
    for (int k = 0; k < K; k++) {
        m->low.data[k] = 4;
        lowest[k] = -1;
    }
    for (int i = 0; i < N; i++)
        if (lowest[m->slot.data[i]] < 0 || m->x.data[i] < m->x.data[lowest[m->slot.data[i]]])
            lowest[m->slot.data[i]] = i;
    for (int k = 0; k < K; k++)
        want[lowest[k]] += (number)0.5 * (number)(k + 1);
    TK_TAPE(m, m->loss) {
        winners_scaled(m, 1);
        winners_scaled(m, (number)0.5);
        winners_scaled(m, (number)0.75);
        winners_total(m);
    }
    CHECK(same(want, m->x.grad, N));
}

/* --debug: what an adjoint needs is not overwritten by an atomic without notice. */
static void validated(winners *m)
{
    fill(m);
    tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    winners_scatter(m);
    winners_nested(m);
    winners_total(m);
    const tk_status st = tk_tape_end(m->loss.field);
    tk_session_clear_error(m->tk.session);
    if (st == TK_BAD_STATE) /* compiled without */
        return;
    CHECK(st == TK_OK);
    fill(m);
    tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    winners_curved(m);
    CHECK(winners_scatter(m) == TK_OVERWRITTEN);
    CHECK(strstr(winners_error(m), "winners.tk:19:18") != NULL);
    tk_tape_drop(m->tk.session);
    tk_session_clear_error(m->tk.session);
}

/* A NaN never wins; an element that is NaN stays. */
static void nans(winners *m)
{
    fill(m);
    for (int i = 0; i < N; i += 3)
        m->x.data[i] = (number)NAN;
    m->low.data[2] = (number)NAN;
    const contest *c = least(m);
    winners_scatter_jvp(m);
    check_forward(m, c, K, m->low.data, m->low.dual);
    winners_scatter_grad(m);
    for (int k = 0; k < K; k++)
        CHECK(m->low.grad[k] == (c->winner[k] < 0 ? (number)(k + 1) : 0));
    CHECK(c->winner[2] == -1 && isnan(m->low.data[2]));
    fill(m);
    for (int i = 0; i < N; i += 3)
        m->x.data[i] = (number)NAN;
    winners_ordered(m);
    c = least(m);
    check_forward(m, c, K, m->low.data, NULL);
}

/* Any allocation may fail. */
static void any_allocation(winners *m)
{
    for (int64_t n = 0;; n++) {
        fill(m);
        heap_fails_after(&memory, n);
        tk_tape_begin(m->loss.field, 0);
        winners_scatter(m);
        winners_nested(m);
        winners_total(m);
        const tk_status st = tk_tape_end(m->loss.field);
        const bool hit = memory.calls > n;
        memory.fails_at = 0;
        CHECK(st == (hit ? TK_NO_MEMORY : TK_OK));
        tk_session_clear_error(m->tk.session);
        if (!hit)
            return;
    }
}

int main(void)
{
    tk_session *s = heap_session(&memory);
    winners *m = winners_create(s, NULL);
    if (!m)
        return 2;
    CHECK(winners_scatter_grad(m) == TK_BAD_STATE); /* no launch */
    tk_session_clear_error(s);
    for (int round = 0; round < 3; round++) {
        scatter(m);
        nested(m);
        squares(m);
        others(m);
        tapes(m);
        validated(m);
    }
    nans(m);
    any_allocation(m);
    winners_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
