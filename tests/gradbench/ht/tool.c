#include <string.h>

#include "bench.h"
#include "ht.h"
#include "tool.h"

enum { THETA = 26 };

typedef struct data {
    ht *m;
    bool complicated;
    double *jacobian;
} data;

BENCH_MODULE(ht)

static bool find_vertices(ht *m, const json_t *data, const json_t *model, bool complicated)
{
    const int64_t points = m->params.POINTS, triangles = complicated ? tool_length(model, "triangles") : 0;
    const int vertices = m->params.VERTICES;
    int *all = bench_zeros(3 * (triangles + 1) * (int64_t)sizeof *all),
        *at = bench_zeros((points + 1) * (int64_t)sizeof *at);
    bool ok = triangles >= 0 && tool_integers(data, "correspondences", points, at) &&
              (!complicated || tool_integers(model, "triangles", 3 * triangles, all));
    for (int64_t i = 0; ok && i < points; i++)
        if (at[i] < 0 || at[i] >= (complicated ? triangles : vertices))
            ok = tool_refuse("correspondences: there is no %d", at[i]);
    for (int64_t i = 0; ok && i < 3 * triangles; i++)
        if (all[i] < 0 || all[i] >= vertices)
            ok = tool_refuse("triangles: there is no vertex %d", all[i]);
    for (int64_t i = 0; ok && i < points; i++) {
        m->vertex.data[i] = complicated ? 0 : at[i];
        for (int k = 0; k < 3; k++)
            m->triangle.data[i][k] = complicated ? all[3 * at[i] + k] : 0;
    }
    return ok;
}

/* Weights come by vertices, and are kept by bones. */
static bool find_weights(ht *m, const json_t *model)
{
    const int64_t bones = m->params.BONES, vertices = m->params.VERTICES;
    double *all = bench_doubles(bones * vertices);
    const bool ok = tool_numbers(model, "weights", bones * vertices, all);
    for (int64_t i = 0; i < bones * vertices; i++)
        m->weight.data[i % bones * vertices + i / bones] = all[i];
    return ok;
}

static bool find_bones(ht *m, const json_t *model)
{
    const int bones = m->params.BONES;
    if (!tool_integers(model, "parents", bones, m->parent.data) ||
        !tool_numbers(model, "base_relatives", 16 * (int64_t)bones, &m->base_relative.data[0][0][0]) ||
        !tool_numbers(model, "inverse_base_absolutes", 16 * (int64_t)bones, &m->inverse_base.data[0][0][0]))
        return false;
    for (int b = 0; b < bones; b++)
        if (m->parent.data[b] >= b)
            return tool_refuse("parents: %d stands behind its bone %d", m->parent.data[b], b);
    return true;
}

static void *prepare(const json_t *input)
{
    const json_t *values = json_object_get(input, "data"), *model = json_object_get(values, "model"),
                 *us = json_object_get(input, "us");
    ht_params p = ht_defaults();
    const int64_t vertices = tool_length(model, "base_positions"), points = tool_length(values, "correspondences");
    if (vertices < 1 || points < 0 || vertices > 1 << 24 || points > 1 << 24)
        return NULL;
    if (!tool_integer(model, "bone_count", 22, 22, &p.BONES))
        return NULL;
    data *d = bench_zeros(sizeof *d);
    d->complicated = json_array_size(us) > 0;
    p.VERTICES = (int)vertices;
    p.POINTS = (int)points;
    p.MIRRORED = json_is_true(json_object_get(model, "is_mirrored"));
    ht *m = d->m = new_ht(&p);
    d->jacobian = bench_doubles(3 * points * (THETA + 2));
    if (m && tool_numbers(input, "theta", THETA, m->theta.data) && find_bones(m, model) &&
        tool_numbers(model, "base_positions", 4 * vertices, m->base_position.data[0]) && find_weights(m, model) &&
        find_vertices(m, values, model, d->complicated) &&
        tool_numbers(values, "points", 3 * points, m->point.data[0]) &&
        (!d->complicated || tool_numbers(input, "us", 2 * points, m->us.data[0])))
        return d;
    return NULL;
}

static void objective(void *p)
{
    data *d = p;
    ht_pose(d->m);
    (d->complicated ? ht_complicated : ht_simple)(d->m);
}

/* Column by column, as a forward sweep gives it. */
static void jacobian(void *p)
{
    data *d = p;
    ht *m = d->m;
    const int points = m->params.POINTS;
    double *column = d->jacobian;
    for (int k = 0; d->complicated && k < 2; k++, column += 3 * points) {
        for (int i = 0; i < points; i++)
            m->us.dual[i][k] = 1.0;
        ht_pose_jvp(m);
        ht_complicated_jvp(m);
        memcpy(column, m->error.dual, 3 * (size_t)points * sizeof(double));
        memset(m->us.dual, 0, 2 * (size_t)points * sizeof(double));
    }
    for (int k = 0; k < THETA; k++, column += 3 * points) {
        m->theta.dual[k] = 1.0;
        ht_pose_jvp(m);
        (d->complicated ? ht_complicated_jvp : ht_simple_jvp)(m);
        memcpy(column, m->error.dual, 3 * (size_t)points * sizeof(double));
        m->theta.dual[k] = 0.0;
    }
}

static json_t *errors(void *p)
{
    const data *d = p;
    return tool_list(d->m->error.data[0], 3 * (int64_t)d->m->params.POINTS);
}

/* Row by row. */
static json_t *rows(void *p)
{
    const data *d = p;
    const int64_t count = 3 * (int64_t)d->m->params.POINTS, columns = THETA + (d->complicated ? 2 : 0);
    double *all = bench_doubles(count * columns);
    for (int64_t i = 0; i < count * columns; i++)
        all[i] = d->jacobian[i % columns * count + i / columns];
    json_t *list = tool_rows(all, count, columns);
    return list;
}

static const tool_function functions[] = {
    {"objective", prepare, objective, errors}, {"jacobian", prepare, jacobian, rows}, {0}};
const tool_module tool_ht = {"ht", functions};
