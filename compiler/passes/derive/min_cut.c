#include "passes/derive/min_cut.h"

cut_graph cut_create(void)
{
    cut_graph g = {0};
    cut_node(&g);
    cut_node(&g);
    return g;
}

void cut_free(cut_graph *g)
{
    vec_free(&g->edges);
    vec_free(&g->first);
    vec_free(&g->level);
}

int cut_node(cut_graph *g)
{
    vec_push(&g->first, -1);
    vec_push(&g->level, -1);
    return (int)g->first.len - 1;
}

static void add_half(cut_graph *g, int from, int to, int64_t room)
{
    const cut_edge e = {.to = to, .next = g->first.at[from], .room = room};
    g->first.at[from] = (int)g->edges.len;
    vec_push(&g->edges, e);
}

void cut_edge_add(cut_graph *g, int from, int to, int64_t capacity)
{
    add_half(g, from, to, capacity);
    add_half(g, to, from, 0);
}

/* Nodes by their distance from the source; whether the sink can be reached. */
static bool find_levels(cut_graph *g)
{
    VEC(int) queue = {0};
    for (size_t i = 0; i < g->level.len; i++)
        g->level.at[i] = -1;
    g->level.at[CUT_SOURCE] = 0;
    vec_push(&queue, CUT_SOURCE);
    for (size_t i = 0; i < queue.len; i++)
        for (int e = g->first.at[queue.at[i]]; e >= 0; e = g->edges.at[e].next) {
            const int to = g->edges.at[e].to;
            if (g->edges.at[e].room > 0 && g->level.at[to] < 0) {
                g->level.at[to] = g->level.at[queue.at[i]] + 1;
                vec_push(&queue, to);
            }
        }
    vec_free(&queue);
    return g->level.at[CUT_SINK] >= 0;
}

typedef VEC(int) edge_list;

static int tip(const cut_graph *g, const edge_list *path)
{
    return path->len ? g->edges.at[vec_last(path)].to : CUT_SOURCE;
}

/* Sends what fits along the path, and goes back to where it is full. */
static void push(cut_graph *g, edge_list *path)
{
    int64_t room = CUT_NEVER;
    for (size_t i = 0; i < path->len; i++)
        room = g->edges.at[path->at[i]].room < room ? g->edges.at[path->at[i]].room : room;
    size_t full = path->len;
    for (size_t i = path->len; i-- > 0;) {
        g->edges.at[path->at[i]].room -= room;
        g->edges.at[path->at[i] ^ 1].room += room;
        full = g->edges.at[path->at[i]].room == 0 ? i : full;
    }
    path->len = full;
}

/* All that fits along paths that are shortest now. left: by node, the edges that have not been found full. */
static void send(cut_graph *g, int *left)
{
    edge_list path = {0};
    for (;;) {
        const int at = tip(g, &path);
        if (at == CUT_SINK) {
            push(g, &path);
            continue;
        }
        int *e = &left[at];
        while (*e >= 0 && !(g->edges.at[*e].room > 0 && g->level.at[g->edges.at[*e].to] == g->level.at[at] + 1))
            *e = g->edges.at[*e].next;
        if (*e >= 0) {
            vec_push(&path, *e);
        } else if (path.len > 0) {
            (void)vec_pop(&path);
            left[tip(g, &path)] = g->edges.at[left[tip(g, &path)]].next;
        } else {
            break;
        }
    }
    vec_free(&path);
}

void cut_solve(cut_graph *g)
{
    int *left = xmalloc(g->first.len * sizeof *left);
    while (find_levels(g)) {
        for (size_t i = 0; i < g->first.len; i++)
            left[i] = g->first.at[i];
        send(g, left);
    }
    free(left);
}

bool cut_is_with_source(const cut_graph *g, int node)
{
    return g->level.at[node] >= 0;
}
