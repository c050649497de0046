#include "ours.h"
#include "tool.h"

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
    p.VERTICES = (int)vertices;
    p.POINTS = (int)points;
    p.MIRRORED = json_is_true(json_object_get(model, "is_mirrored"));
    const bool complicated = json_array_size(us) > 0;
    ours *o = bench_zeros(sizeof *o);
    if (!begin(o, &p, complicated))
        return NULL;
    ht *m = o->m;
    return tool_numbers(input, "theta", THETA, m->theta.data) && find_bones(m, model) &&
                   tool_numbers(model, "base_positions", 4 * vertices, m->base_position.data[0]) &&
                   find_weights(m, model) && find_vertices(m, values, model, complicated) &&
                   tool_numbers(values, "points", 3 * points, m->point.data[0]) &&
                   (!complicated || tool_numbers(input, "us", 2 * points, m->us.data[0]))
               ? o
               : NULL;
}

static json_t *errors(void *p)
{
    const ours *o = p;
    return tool_list(o->m->error.data[0], 3 * (int64_t)o->m->params.POINTS);
}

/* Row by row. */
static json_t *rows(void *p)
{
    const ours *o = p;
    const int64_t count = 3 * (int64_t)o->m->params.POINTS, columns = o->columns;
    double *all = bench_doubles(count * columns);
    for (int64_t i = 0; i < count * columns; i++)
        all[i] = entry(o, i / columns, (int)(i % columns));
    return tool_rows(all, count, columns);
}

static const tool_function functions[] = {
    {"objective", prepare, primal, errors}, {"jacobian", prepare, grad, rows}, {0}};
const tool_module tool_ht = {"ht", functions};
