/* The case ht: a hand of random bones whose vertices hang on up to four of them, and its Jacobian, all columns by one
 * launch; against code by hand, and against a launch for each column. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ours.h"
#include "hand.h"
#include "ht_one.h"

typedef struct data {
    ours o;
    ht_input in;
    ht_output out;
    double *work;
    ht_one *one; /* the same with one direction */
    double *column;
} data;

static ht_one *new_one(ht *m)
{
    ht_one_params p = ht_one_defaults();
    p.VERTICES = m->params.VERTICES;
    p.POINTS = m->params.POINTS;
    p.MIRRORED = m->params.MIRRORED;
    tk_session *s = tk_module_session(&m->tk);
    ht_one *one = ht_one_create(s, &p);
    for (tk_field *f = one ? tk_field_next(s, NULL) : NULL; f; f = tk_field_next(s, f)) {
        char name[64];
        snprintf(name, sizeof name, "ht.%s", tk_field_name(f));
        if (!strcmp(tk_field_module(f), "ht_one"))
            memcpy(tk_field_data(f), tk_field_data(tk_field_find(s, name)), tk_field_bytes(f));
    }
    return one;
}

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
    d->column = bench_doubles(3 * n[1]);
    d->one = new_one(m);
    return d->one ? d : NULL;
}

static void hand_jacobian(void *p)
{
    data *d = p;
    ht_hand_jacobian(&d->in, &d->out, d->work);
}

static void sweep(ht_one *m, bool complicated, double *column)
{
    ht_one_pose_jvp(m);
    (complicated ? ht_one_complicated_jvp : ht_one_simple_jvp)(m);
    memcpy(column, m->error.dual, 3 * (size_t)m->params.POINTS * sizeof(double));
}

/* A forward sweep for each column. */
static void single_jacobian(void *p)
{
    data *d = p;
    ht_one *m = d->one;
    const int points = m->params.POINTS;
    double *column = d->out.jacobian;
    for (int k = 0; d->o.complicated && k < PLACES; k++, column += 3 * (int64_t)points) {
        for (int i = 0; i < points; i++)
            m->us.dual[i][k] = 1.0;
        sweep(m, true, column);
        memset(m->us.dual, 0, 2 * (size_t)points * sizeof(double));
    }
    for (int k = 0; k < THETA; k++, column += 3 * (int64_t)points) {
        m->theta.dual[k] = 1.0;
        sweep(m, d->o.complicated, column);
        m->theta.dual[k] = 0.0;
    }
    memcpy(d->out.error, m->error.data, 3 * (size_t)points * sizeof(double));
}

static double difference(void *p)
{
    const data *d = p;
    const int64_t each = 3 * (int64_t)d->in.points;
    double top = bench_difference(d->o.m->error.data[0], d->out.error, each);
    for (int k = 0; k < d->o.columns; k++) {
        for (int64_t i = 0; i < each; i++)
            d->column[i] = entry(&d->o, i, k);
        top = fmax(top, bench_difference(d->column, d->out.jacobian + k * each, each));
    }
    return top;
}

static const bench_size sizes[][3] = {
    [SIMPLE] = {{"v7 p5", {7, 5, 1, SIMPLE}}, {"simple, v544 p544", {544, 544, 0, SIMPLE}}, {0}},
    [COMPLICATED] = {{"v7 p5", {7, 5, 1, COMPLICATED}}, {"complicated, v544 p1000", {544, 1000, 0, COMPLICATED}}, {0}}};
static const char how[] = "kernel, 28 directions", one[] = "a launch for each column";
const bench_case bench_ht[] = {
    BENCH_CASE("ht", how, "as known", sizes[SIMPLE], create, difference, primal, grad, hand_jacobian),
    BENCH_CASE("ht", how, "as known", sizes[COMPLICATED], create, difference, primal, grad, hand_jacobian),
    BENCH_CASE("ht", how, one, sizes[SIMPLE], create, difference, primal, grad, single_jacobian),
    BENCH_CASE("ht", how, one, sizes[COMPLICATED], create, difference, primal, grad, single_jacobian),
    {0}};
