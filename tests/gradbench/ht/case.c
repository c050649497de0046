/* The case ht: a hand of random bones whose vertices hang on up to four of them, and its Jacobian, a forward sweep for
 * each column. */
#include <math.h>

#include "ours.h"
#include "hand.h"

typedef struct data {
    ours o;
    ht_input in;
    ht_output out;
    double *work;
} data;

/* A rotation around z and a shift; and what takes it back. */
static void place_bone(double angle, const double *shift, double (*m)[4], double (*back)[4])
{
    const double c = cos(angle), s = sin(angle);
    const double forth[4][4] = {{c, -s, 0, shift[0]}, {s, c, 0, shift[1]}, {0, 0, 1, shift[2]}, {0, 0, 0, 1}};
    memcpy(m, forth, sizeof forth);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            back[i][j] = forth[j][i];
        back[i][3] = -(forth[0][i] * shift[0] + forth[1][i] * shift[1] + forth[2][i] * shift[2]);
    }
    memcpy(back[3], forth[3], sizeof forth[3]);
}

static void make_bones(ht *m, uint64_t *seed)
{
    for (int b = 0; b < HT_BONES; b++) {
        const int up = b == 0 ? -1 : (b - 1) % 4 == 0 ? 0 : b - 1;
        double shift[3], back[4][4];
        m->parent.data[b] = up;
        bench_fill(shift, 3, bench_normal, seed);
        place_bone(bench_normal(seed), shift, m->base_relative.data[b], back);
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                double s = up < 0 ? back[i][j] : 0.0;
                for (int k = 0; up >= 0 && k < 4; k++)
                    s += back[i][k] * m->inverse_base.data[up][k][j];
                m->inverse_base.data[b][i][j] = s;
            }
        }
    }
}

static void make_vertices(ht *m, uint64_t *seed)
{
    const int n = m->params.VERTICES;
    for (int v = 0; v < n; v++) {
        double sum = 0.0, part[4];
        const int first = (int)(bench_uniform(seed) * (HT_BONES - 3)), count = 1 + (int)(4.0 * bench_uniform(seed));
        bench_fill(m->base_position.data[v], 3, bench_normal, seed);
        m->base_position.data[v][3] = 1.0;
        for (int k = 0; k < count; k++)
            sum += part[k] = bench_uniform(seed);
        for (int k = 0; k < count; k++)
            m->weight.data[(first + k) * n + v] = part[k] / sum;
    }
}

static void make_points(ht *m, uint64_t *seed)
{
    const int n = m->params.VERTICES;
    for (int i = 0; i < m->params.POINTS; i++) {
        m->vertex.data[i] = i % n;
        bench_fill(m->point.data[i], 3, bench_normal, seed);
        bench_fill(m->us.data[i], 2, bench_uniform, seed);
        for (int k = 0; k < 3; k++)
            m->triangle.data[i][k] = (i + k) % n;
    }
}

enum { SIMPLE, COMPLICATED };

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    ht_params p = ht_defaults();
    p.VERTICES = (int)n[0];
    p.POINTS = (int)n[1];
    p.MIRRORED = n[2];
    if (!begin(&d->o, &p, n[3] == COMPLICATED))
        return NULL;
    ht *m = d->o.m;
    uint64_t seed = 22;
    make_bones(m, &seed);
    make_vertices(m, &seed);
    make_points(m, &seed);
    bench_fill(m->theta.data, HT_THETA, bench_normal, &seed);
    d->in = (ht_input){p.VERTICES,
                       p.POINTS,
                       p.MIRRORED,
                       m->theta.data,
                       d->o.complicated ? m->us.data[0] : NULL,
                       m->parent.data,
                       (const double(*)[4][4])m->base_relative.data,
                       (const double(*)[4][4])m->inverse_base.data,
                       (const double(*)[4])m->base_position.data,
                       m->weight.data,
                       (const int(*)[3])m->triangle.data,
                       m->vertex.data,
                       (const double(*)[3])m->point.data};
    d->out = (ht_output){bench_doubles(3 * n[1]), bench_doubles(3 * n[1] * d->o.columns)};
    d->work = bench_work(BENCH_HAND, ht_hand_work(&d->in));
    return d;
}

static void hand_jacobian(void *p)
{
    data *d = p;
    ht_hand_jacobian(&d->in, &d->out, d->work);
}

static double difference(void *p)
{
    const data *d = p;
    const int64_t each = 3 * (int64_t)d->in.points;
    double top = bench_difference(d->o.m->error.data[0], d->out.error, each);
    for (int k = 0; k < d->o.columns; k++)
        top = fmax(top, bench_difference(d->o.jacobian + k * each, d->out.jacobian + k * each, each));
    return top;
}

static const bench_size sizes[][3] = {
    [SIMPLE] = {{"v7 p5", {7, 5, 1, SIMPLE}}, {"simple, v544 p544", {544, 544, 0, SIMPLE}}, {0}},
    [COMPLICATED] = {{"v7 p5", {7, 5, 1, COMPLICATED}}, {"complicated, v544 p1000", {544, 1000, 0, COMPLICATED}}, {0}}};
static const char how[] = "kernel, forwards";
const bench_case bench_ht[] = {
    BENCH_CASE("ht", how, "as known", sizes[SIMPLE], create, difference, primal, grad, hand_jacobian),
    BENCH_CASE("ht", how, "as known", sizes[COMPLICATED], create, difference, primal, grad, hand_jacobian),
    {0}};
