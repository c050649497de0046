/* Iterations that write elements several times, against the same in C, element by element: values and duals, and a gradient. */
#include "rewritten.h"
#include "host.h"

typedef __typeof__(((rewritten *)0)->c.data[0][0]) real;

static void expect(const char *what, int i, double got, double want)
{
    if (got != want)
        FAIL("%s[%d] is %.9g, not %.9g", what, i, got, want);
}

/* A number and its tangent. */
typedef struct pair {
    real v, t;
} pair;

static pair plus(pair a, pair b) { return (pair){a.v + b.v, a.t + b.t}; }
static pair minus(pair a, pair b) { return (pair){a.v - b.v, a.t - b.t}; }
static pair times(real f, pair a) { return (pair){f * a.v, f * a.t}; }

static void fill(rewritten *m)
{
    for (int i = 0; i < m->params.N; i++) {
        m->k.data[i] = i * 7 % 3;
        for (int j = 0; j < 2; j++) {
            m->c.data[i][j] = (real)(i + 10 * (j == 0)); /* all results are exact */
            m->c.dual[i][j] = (real)(1 + i % 3 + 4 * j);
            m->d.data[i][j] = 100;
            m->d.dual[i][j] = 100;
        }
        for (int j = 0; j < 3; j++) {
            m->x.data[i][j] = (real)(i % 8 + j);
            m->x.dual[i][j] = (real)(i % 5 - j);
            m->y.data[i][j] = (real)(i % 6 * (j + 1));
            m->y.dual[i][j] = (real)(i % 4 - 2 * j);
        }
    }
}

typedef struct element {
    pair c[2], d[2], x[3], y[3];
    int k;
} element;

static element element_of(const rewritten *m, int i)
{
    element e = {.k = m->k.data[i]};
    for (int j = 0; j < 2; j++) {
        e.c[j] = (pair){m->c.data[i][j], m->c.dual[i][j]};
        e.d[j] = (pair){m->d.data[i][j], m->d.dual[i][j]};
    }
    for (int j = 0; j < 3; j++) {
        e.x[j] = (pair){m->x.data[i][j], m->x.dual[i][j]};
        e.y[j] = (pair){m->y.data[i][j], m->y.dual[i][j]};
    }
    return e;
}

static void scaled(element *e)
{
    const pair square = {e->c[1].v * e->c[1].v, 2 * e->c[1].v * e->c[1].t};
    e->d[0] = plus(times((real)0.5, e->c[0]), square);
    e->d[1] = times((real)0.5, e->c[1]);
}

static void summed(element *e)
{
    for (int j = 0; j < 3; j++)
        e->x[j] = times(-1, e->y[j]);
    e->x[1] = minus(e->x[1], minus((pair){(real)0.25, 0}, e->x[0]));
}

static void swapped(element *e)
{
    const pair t = e->x[1];
    e->x[1] = e->x[e->k];
    e->x[e->k] = t;
    for (int j = 0; j < 3; j++)
        e->x[j] = minus(e->x[j], e->y[j]);
}

static void chosen(element *e)
{
    const pair x = e->k > 0 ? (pair){2, 0} : e->c[0];
    e->d[0] = times((real)0.5, x);
    e->d[1] = plus(times((real)0.5, e->c[1]), e->d[0]);
}

static void decided(element *e)
{
    e->d[0] = e->k > 0 ? e->c[1] : e->c[0];
    e->d[1] = e->c[1];
}

static void peeked(element *e)
{
    e->x[1] = e->y[0];
    e->x[2] = e->x[e->k];
    e->x[1] = times((real)0.5, e->y[1]);
}

static void looped(element *e)
{
    e->x[0] = e->y[0];
    for (int q = 0; q < 3; q++) {
        e->x[1] = plus(e->x[0], e->y[1]);
        e->x[0] = times((real)0.5, e->x[0]);
    }
}

static void branched(element *e)
{
    e->x[1] = e->y[1];
    if (e->k > 0) {
        e->x[1] = e->y[0];
        e->x[0] = e->x[e->k];
    }
}

static void placed(element *e)
{
    e->x[0] = e->y[0];
    e->x[e->k] = (pair){2, 0};
    e->x[1] = e->y[1];
    e->x[2] = e->y[2];
}

static void overlaid(element *e)
{
    e->x[1] = e->y[0];
    e->x[e->k] = e->y[2];
    e->x[1] = times((real)0.5, e->x[1]);
}

typedef tk_status launch(rewritten *m);

static void check(rewritten *m, const char *name, launch *run, launch *jvp, void (*same)(element *e))
{
    static element want[64], before[64];
    for (int tangent = 0; tangent < 2; tangent++) {
        fill(m);
        for (int i = 0; i < m->params.N; i++) {
            before[i] = want[i] = element_of(m, i);
            same(&want[i]);
        }
        CHECK((tangent ? jvp : run)(m) == TK_OK);
        for (int i = 0; i < m->params.N; i++) {
            const element got = element_of(m, i);
            for (int j = 0; j < 2; j++) {
                expect(name, i, got.d[j].v, want[i].d[j].v);
                expect(name, i, got.d[j].t, tangent ? want[i].d[j].t : before[i].d[j].t);
            }
            for (int j = 0; j < 3; j++) {
                expect(name, i, got.x[j].v, want[i].x[j].v);
                expect(name, i, got.x[j].t, tangent ? want[i].x[j].t : before[i].x[j].t);
            }
        }
    }
}

/* w = d.grad: what flows to c from d.x = c.x / 2 + c.y^2, d.y = c.y / 2; what was in d gets nothing. */
static void check_gradient(rewritten *m)
{
    fill(m);
    for (int i = 0; i < m->params.N; i++)
        for (int j = 0; j < 2; j++) {
            m->d.grad[i][j] = (real)(2 + i % 4 - 4 * j);
            m->c.grad[i][j] = 0;
        }
    CHECK(rewritten_scaled_grad(m) == TK_OK);
    for (int i = 0; i < m->params.N; i++) {
        const double w[2] = {2 + i % 4, 2 + i % 4 - 4};
        expect("c.grad", i, m->c.grad[i][0], 0.5 * w[0]);
        expect("c.grad", i, m->c.grad[i][1], 0.5 * w[1] + 2.0 * m->c.data[i][1] * w[0]);
        expect("d.grad", i, m->d.grad[i][0], 0.0);
        expect("d.grad", i, m->d.grad[i][1], 0.0);
    }
}

int main(void)
{
    rewritten *m = rewritten_create(NULL, NULL);
    if (!m)
        return 1;
    check(m, "scaled", rewritten_scaled, rewritten_scaled_jvp, scaled);
    check(m, "summed", rewritten_summed, rewritten_summed_jvp, summed);
    check(m, "swapped", rewritten_swapped, rewritten_swapped_jvp, swapped);
    check(m, "chosen", rewritten_chosen, rewritten_chosen_jvp, chosen);
    check(m, "decided", rewritten_decided, rewritten_decided_jvp, decided);
    check(m, "peeked", rewritten_peeked, rewritten_peeked_jvp, peeked);
    check(m, "looped", rewritten_looped, rewritten_looped_jvp, looped);
    check(m, "branched", rewritten_branched, rewritten_branched_jvp, branched);
    check(m, "placed", rewritten_placed, rewritten_placed_jvp, placed);
    check(m, "overlaid", rewritten_overlaid, rewritten_overlaid_jvp, overlaid);
    check_gradient(m);
    rewritten_destroy(m);
    return failures != 0;
}
