#include "passes/derive/jacobian/graph.h"
#include "passes/derive/jacobian/product.h"

#include <assert.h>
#include <string.h>

/* ---- the graph ---- */

void jac_graph_free(jac_graph *g)
{
    for (size_t v = 0; v < g->vertices.len; v++) {
        vec_free(&g->vertices.at[v].in);
        vec_free(&g->vertices.at[v].out);
    }
    vec_free(&g->vertices);
    vec_free(&g->edges);
}

int jac_vertex_add(jac_graph *g, scalar type)
{
    vec_push(&g->vertices, ((jac_vertex){.type = type}));
    return (int)g->vertices.len - 1;
}

static jac_edge *find_edge(jac_graph *g, int from, int to)
{
    const jac_vertex *v = &g->vertices.at[to];
    for (size_t i = 0; i < v->in.len; i++)
        if (g->edges.at[v->in.at[i]].from == from)
            return &g->edges.at[v->in.at[i]];
    return NULL;
}

void jac_edge_add(jac_graph *g, ir_builder *b, int from, int to, ir_value *by)
{
    assert(from < to);
    if (!by || jac_is(by, 0))
        return;
    jac_edge *e = find_edge(g, from, to);
    if (e) {
        e->by = jac_sum(b, e->by, by);
        return;
    }
    vec_push(&g->vertices.at[from].out, (int)g->edges.len);
    vec_push(&g->vertices.at[to].in, (int)g->edges.len);
    vec_push(&g->edges, ((jac_edge){from, to, by}));
}

/* Takes edge number e out of a list. */
static void unlist(int *at, size_t *len, int e)
{
    size_t n = 0;
    for (size_t i = 0; i < *len; i++)
        if (at[i] != e)
            at[n++] = at[i];
    *len = n;
}

static void remove_vertex(jac_graph *g, int v)
{
    jac_vertex *x = &g->vertices.at[v];
    for (size_t i = 0; i < x->in.len; i++) {
        jac_vertex *p = &g->vertices.at[g->edges.at[x->in.at[i]].from];
        unlist(p->out.at, &p->out.len, x->in.at[i]);
    }
    for (size_t i = 0; i < x->out.len; i++) {
        jac_vertex *s = &g->vertices.at[g->edges.at[x->out.at[i]].to];
        unlist(s->in.at, &s->in.len, x->out.at[i]);
    }
    vec_clear(&x->in);
    vec_clear(&x->out);
}

/* ---- elimination ---- */

typedef enum role { INNER, SOURCE, SINK } role;

typedef struct elimination {
    jac_graph *g;
    ir_builder *b;
    char *role; /* by vertex */
    jac_matrix *result;
    const int *sources; /* by column */
    int *sinks;         /* by row, -1: none */
    bool lower;
    int *most;  /* by vertex: the last row that it reaches, -1: none */
    int *least; /* the first column that reaches it; the number of columns: none */
} elimination;

static void eliminate_vertex(elimination *e, int v)
{
    jac_graph *g = e->g;
    for (size_t i = 0; i < g->vertices.at[v].in.len; i++)
        for (size_t k = 0; k < g->vertices.at[v].out.len; k++) {
            const jac_edge in = g->edges.at[g->vertices.at[v].in.at[i]], out = g->edges.at[g->vertices.at[v].out.at[k]];
            jac_edge_add(g, e->b, in.from, out.to, jac_product(e->b, out.by, in.by));
        }
    remove_vertex(g, v);
}

/* Vertices without successor go, and those whose elimination makes no more edges. */
static void eliminate_cheap(elimination *e)
{
    jac_graph *g = e->g;
    for (bool changed = true; changed;) {
        changed = false;
        for (int v = (int)g->vertices.len - 1; v >= 0; v--) {
            const jac_vertex *x = &g->vertices.at[v];
            if (e->role[v] == INNER && x->in.len && !x->out.len) {
                remove_vertex(g, v);
                changed = true;
            }
        }
        for (int v = 0; v < (int)g->vertices.len; v++) {
            const jac_vertex *x = &g->vertices.at[v];
            if (e->role[v] != INNER || !x->in.len || (x->in.len > 1 && x->out.len > 1))
                continue;
            eliminate_vertex(e, v);
            changed = true;
        }
    }
}

/* ---- sweeps over what is left ---- */

static void find_reach(elimination *e)
{
    const jac_graph *g = e->g;
    for (size_t v = 0; v < g->vertices.len; v++) {
        e->most[v] = -1;
        e->least[v] = e->result->ncols;
    }
    for (int i = 0; i < e->result->nrows; i++)
        if (e->sinks[i] >= 0)
            e->most[e->sinks[i]] = i;
    for (int j = 0; j < e->result->ncols; j++)
        e->least[e->sources[j]] = j;
    for (size_t v = 0; v < g->vertices.len; v++)
        for (size_t i = 0; i < g->vertices.at[v].in.len; i++) {
            const int p = g->edges.at[g->vertices.at[v].in.at[i]].from;
            e->least[v] = e->least[p] < e->least[v] ? e->least[p] : e->least[v];
        }
    for (size_t v = g->vertices.len; v-- > 0;)
        for (size_t i = 0; i < g->vertices.at[v].out.len; i++) {
            const int s = g->edges.at[g->vertices.at[v].out.at[i]].to;
            e->most[v] = e->most[s] > e->most[v] ? e->most[s] : e->most[v];
        }
}

/* Of a sweep, at a vertex and a column (forward) or row (reverse). */
typedef enum known { NOTHING, UNIT, NUMBER } known;

typedef struct sweep {
    elimination *e;
    bool reverse;
    int width;
    known *has;    /* vertex by column or row */
    ir_value **at; /* the same; NULL: only operations are counted */
    int64_t operations;
} sweep;

static bool is_wanted(const sweep *s, int v, int k)
{
    return !s->e->lower || (s->reverse ? s->e->least[v] <= k : k <= s->e->most[v]);
}

/* The vertex takes what comes over one of its edges. */
static void take(sweep *s, int v, const jac_edge *edge)
{
    const int w = s->reverse ? edge->to : edge->from;
    const bool unit = jac_is(edge->by, 1) || jac_is(edge->by, -1);
    for (int k = 0; k < s->width; k++) {
        const int64_t from = (int64_t)w * s->width + k, to = (int64_t)v * s->width + k;
        if (!s->has[from] || !is_wanted(s, v, k))
            continue;
        s->operations += !unit && s->has[from] != UNIT;
        s->operations += s->has[to] != NOTHING;
        s->has[to] = s->has[to] || s->has[from] != UNIT || !unit ? NUMBER : UNIT;
        if (!s->at)
            continue;
        ir_builder *b = s->e->b;
        ir_value *x = s->reverse ? jac_product(b, s->at[from], edge->by) : jac_product(b, edge->by, s->at[from]);
        s->at[to] = jac_sum(b, s->at[to], x);
    }
}

static void run_sweep(sweep *s)
{
    const jac_graph *g = s->e->g;
    const int n = (int)g->vertices.len;
    s->operations = 0;
    memset(s->has, 0, (size_t)n * (size_t)s->width * sizeof *s->has);
    for (int k = 0; k < s->width; k++) {
        const int v = s->reverse ? s->e->sinks[k] : s->e->sources[k];
        if (v < 0)
            continue;
        s->has[(int64_t)v * s->width + k] = UNIT;
        if (s->at)
            s->at[(int64_t)v * s->width + k] = ir_const_f(s->e->b, g->vertices.at[v].type, 1);
    }
    for (int i = 0; i < n; i++) {
        const int v = s->reverse ? n - 1 - i : i;
        const jac_vertex *x = &g->vertices.at[v];
        const size_t edges = s->reverse ? x->out.len : x->in.len;
        for (size_t k = 0; k < edges; k++)
            take(s, v, &g->edges.at[s->reverse ? x->out.at[k] : x->in.at[k]]);
    }
}

static sweep sweep_create(elimination *e, bool reverse)
{
    sweep s = {.e = e, .reverse = reverse, .width = reverse ? e->result->nrows : e->result->ncols};
    s.has = xrealloc(NULL, (e->g->vertices.len * (size_t)s.width + 1) * sizeof *s.has);
    run_sweep(&s);
    return s;
}

/* The entries: of the sinks by columns, or of the sources by rows. */
static void read_entries(const sweep *s)
{
    const jac_matrix *r = s->e->result;
    for (int i = 0; i < r->nrows; i++)
        for (int j = 0; j < r->ncols; j++)
            if (s->e->sinks[i] >= 0 && !(s->e->lower && j > i))
                *jac_entry(r, i, j) = s->reverse ? s->at[(int64_t)s->e->sources[j] * s->width + i]
                                                 : s->at[(int64_t)s->e->sinks[i] * s->width + j];
}

static void sweep_rest(elimination *e)
{
    sweep forward = sweep_create(e, false), reverse = sweep_create(e, true);
    sweep *s = reverse.operations < forward.operations ? &reverse : &forward;
    e->result->forward = forward.operations;
    e->result->reverse = reverse.operations;
    const size_t n = e->g->vertices.len * (size_t)s->width + 1;
    s->at = xrealloc(NULL, n * sizeof *s->at);
    memset(s->at, 0, n * sizeof *s->at);
    run_sweep(s);
    read_entries(s);
    free(s->at);
    free(forward.has);
    free(reverse.has);
}

jac_matrix jac_eliminate(jac_graph *g, ir_builder *b, const int *rows, int nrows, const int *cols, int ncols,
                         bool lower)
{
    arena *mem = b->func->module->mem;
    jac_matrix r = {nrows, ncols, ARENA_ARRAY(mem, ir_value *, (size_t)nrows * (size_t)ncols + 1), 0, 0};
    int *sinks = ARENA_ARRAY(mem, int, nrows + 1);
    for (int i = 0; i < nrows; i++) {
        sinks[i] = rows[i] < 0 ? -1 : jac_vertex_add(g, g->vertices.at[rows[i]].type);
        if (rows[i] >= 0)
            jac_edge_add(g, b, rows[i], sinks[i], ir_const_f(b, g->vertices.at[rows[i]].type, 1));
    }
    const size_t n = g->vertices.len;
    elimination e = {.g = g,
                     .b = b,
                     .role = ARENA_ARRAY(mem, char, n + 1),
                     .result = &r,
                     .sources = cols,
                     .sinks = sinks,
                     .lower = lower,
                     .most = ARENA_ARRAY(mem, int, n + 1),
                     .least = ARENA_ARRAY(mem, int, n + 1)};
    for (int j = 0; j < ncols; j++)
        e.role[cols[j]] = SOURCE;
    for (int i = 0; i < nrows; i++)
        if (sinks[i] >= 0)
            e.role[sinks[i]] = SINK;
    const bool finite = b->finite;
    b->finite = true; /* equal partials cancel, and a product with 0 is 0 */
    eliminate_cheap(&e);
    find_reach(&e);
    sweep_rest(&e);
    b->finite = finite;
    return r;
}
