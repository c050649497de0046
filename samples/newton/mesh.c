#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 4 }; /* in widths */

static const double pi = 3.14159265358979323846;

double *mesh_places(const mesh *k)
{
    return k->shape.solid ? k->m->y.data[0] : k->m->x.data[0];
}

double *mesh_gradient(const mesh *k)
{
    return k->shape.solid ? k->m->y.grad[0] : k->m->x.grad[0];
}

bool mesh_fails(const mesh *k)
{
    fprintf(stderr, "newton: %s\n", k->m ? newton_error(k->m) : tk_error());
    return false;
}

/* ---- the elements ---- */

/* Of the point at (i, j, l) cells. */
static int point_at(const shape *s, int i, int j, int l)
{
    const int across = s->cells + 1;
    return s->solid ? (i * across + j) * across + l : i * across + j;
}

/* Two to a cell, whose diagonals alternate. */
static void fill_triangles(newton *m, const shape *s)
{
    for (int i = 0, k = 0; i < LENGTH * s->cells; i++)
        for (int j = 0; j < s->cells; j++) {
            const int a = point_at(s, i, j, 0), b = point_at(s, i + 1, j, 0), c = b + 1, d = a + 1;
            const int corners[4][3] = {{a, b, c}, {a, c, d}, {a, b, d}, {b, c, d}};
            for (int half = 0; half < 2; half++, k++)
                memcpy(m->triangle.data[k], corners[2 * ((i + j) % 2) + half], sizeof corners[0]);
        }
}

/* Six to a cell: from one corner to the opposite one, along the axes in each order (Kuhn, 1960). */
static void fill_tetrahedra(newton *m, const shape *s)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    int k = 0;
    for (int cell = 0; cell < LENGTH * s->cells * s->cells * s->cells; cell++)
        for (int o = 0; o < 6; o++, k++) {
            int at[3] = {cell / (s->cells * s->cells), cell / s->cells % s->cells, cell % s->cells}, corner[4];
            for (int c = 0; c < 4; c++) {
                corner[c] = point_at(s, at[0], at[1], at[2]);
                if (c < 3)
                    at[order[o][c]]++;
            }
            if (o >= 3) { /* an odd order: its volume would be negative */
                const int swapped = corner[1];
                corner[1] = corner[2];
                corner[2] = swapped;
            }
            memcpy(m->tetrahedron.data[k], corner, sizeof corner);
        }
}

/* ---- the places ---- */

/* The ends come closer, and what is between them follows in proportion: a strip bends, a beam twists. */
static void place(const shape *s, const double at[3], double part, double to[3])
{
    const double angle = part * s->turn * pi / 180.0, along = (1.0 - s->squeeze) * at[0];
    to[0] = s->solid ? along : along - sin(angle) * at[1];
    to[1] = cos(angle) * at[1] - (s->solid ? sin(angle) * at[2] : 0.0);
    to[2] = sin(angle) * at[1] + cos(angle) * at[2];
}

static void set_places(mesh *k, bool deformed)
{
    const shape *s = &k->shape;
    double *x = mesh_places(k);
    for (int i = 0; i <= LENGTH * s->cells; i++)
        for (int j = 0; j <= s->cells; j++)
            for (int l = 0; l <= (s->solid ? s->cells : 0); l++) {
                const double cell = 1.0 / s->cells, at[3] = {cell * i, cell * j - 0.5, s->solid ? cell * l - 0.5 : 0.0};
                const int p = k->dim * point_at(s, i, j, l);
                double to[3];
                place(s, at, at[0] / LENGTH, to);
                memcpy(&x[p], deformed ? to : at, sizeof *x * (size_t)k->dim);
                for (int c = 0; c < k->dim; c++)
                    k->held[p + c] = i == 0 || i == LENGTH * s->cells;
            }
}

/* ---- energy, gradient, Hessian ---- */

double mesh_energy(mesh *k)
{
    *k->m->E.data = 0.0;
    if ((k->shape.solid ? newton_tetrahedra(k->m) : newton_triangles(k->m)) != TK_OK)
        return NAN;
    return *k->m->E.data;
}

double mesh_derive(mesh *k, bool projected)
{
    const size_t n = tk_sparse_values(k->hessian);
    double *g = mesh_gradient(k);
    memset(k->values, 0, n * sizeof *k->values);
    memset(g, 0, (size_t)k->n * sizeof *g);
    *k->m->E.data = 0.0;
    tk_sparse_project(k->hessian, projected);
    const tk_status status = k->shape.solid ? newton_tetrahedra_hess(k->m, k->hessian, k->values, n)
                                            : newton_triangles_hess(k->m, k->hessian, k->values, n);
    if (status != TK_OK || tk_sparse_fix(k->hessian, k->values, n, k->held, (size_t)k->n) != TK_OK)
        return NAN;
    for (int j = 0; j < k->n; j++)
        if (k->held[j])
            g[j] = 0.0;
    return *k->m->E.data;
}

const double *mesh_tension(mesh *k)
{
    k->shape.solid ? newton_shade_tetrahedra(k->m) : newton_shade_triangles(k->m);
    return k->m->tension.data;
}

/* ---- the mesh ---- */

static newton *make_module(const mesh *k, tk_session *session)
{
    newton_params p = newton_defaults();
    p.GRAVITY = k->shape.gravity;
    p.LAMBDA = k->shape.lambda;
    if (k->shape.solid) {
        p.CORNERS = k->points;
        p.TETRAHEDRA = k->elements;
    } else {
        p.POINTS = k->points;
        p.TRIANGLES = k->elements;
    }
    return newton_create(session, &p);
}

bool mesh_create(mesh *k, const shape *s, tk_session *session)
{
    const int long_cells = LENGTH * s->cells, across = s->cells + 1;
    *k = (mesh){.shape = *s, .dim = s->solid ? 3 : 2};
    k->points = (long_cells + 1) * across * (s->solid ? across : 1);
    k->elements = long_cells * s->cells * (s->solid ? 6 * s->cells : 2);
    k->n = k->dim * k->points;
    k->m = make_module(k, session);
    k->held = calloc((size_t)k->n, sizeof *k->held);
    if (!k->m)
        return mesh_fails(k);
    if (!k->held) {
        perror("newton");
        return false;
    }
    s->solid ? fill_tetrahedra(k->m, s) : fill_triangles(k->m, s);
    set_places(k, false);
    s->solid ? newton_rest_tetrahedra(k->m) : newton_rest_triangles(k->m);
    set_places(k, true);
    const tk_sparse_options columns = {.columns = true};
    const tk_status status = s->solid ? newton_tetrahedra_hess_pattern(k->m, &columns, &k->hessian)
                                      : newton_triangles_hess_pattern(k->m, &columns, &k->hessian);
    if (status != TK_OK)
        return mesh_fails(k);
    k->values = malloc(tk_sparse_values(k->hessian) * sizeof *k->values);
    if (!k->values)
        perror("newton");
    return k->values != NULL;
}

void mesh_destroy(mesh *k)
{
    tk_sparse_free(k->hessian);
    free(k->values);
    free(k->held);
    newton_destroy(k->m);
}
