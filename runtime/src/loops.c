/* Nested loops in a sequence of lines: what repeats itself, with numbers and arguments that advance by equal amounts,
 * is kept once, as the body of a loop. So the log of time steps takes the memory of a few of them.
 *
 * Nodes of the sequence are lines and loops. Three groups of nodes one after the other that advance equally become a
 * loop; a group that continues the loop in front of it becomes one more turn. See A. Ketterlin and P. Clauss,
 * Prediction and trace compression of data access addresses through nested loop recognition, CGO 2008. */
#include "loops.h"

enum { MOST = 64 /* nodes of a body */, TURNS = 3 /* that make a loop */ };

/* What a line of a body advances by, a turn. */
typedef struct advance {
    uint64_t key, launch, last;
    uint64_t *words; /* of the arguments; NULL: they stay */
} advance;

struct rt_node {
    size_t first;    /* line, unless it is part of a loop */
    size_t lines;    /* of all turns */
    rt_logged line;  /* turns is 0 */
    uint64_t *words; /* of its arguments */
    size_t nwords;
    size_t turns; /* of a loop */
    rt_node *body;
    size_t n;
    size_t leaves; /* lines of the body, those of a loop in it once; 1 */
    advance *advance;
    size_t bytes; /* that hang on it */
    double ns;    /* of all its lines */
    double ahead; /* of the nodes in front of it, unless it is part of a loop */
};

static size_t leaves_of(const rt_node *nodes, size_t n)
{
    size_t leaves = 0;
    for (size_t i = 0; i < n; i++)
        leaves += nodes[i].leaves;
    return leaves;
}

static const rt_node *leaf(const rt_node *nodes, size_t i)
{
    for (; i >= nodes->leaves; nodes++)
        i -= nodes->leaves;
    return nodes->turns == 0 ? nodes : leaf(nodes->body, i);
}

/* ---- which lines are alike ---- */

static bool same_box(const tk_footprint *a, const tk_footprint *b)
{
    const size_t size = 2 * (size_t)a->field->desc->ndim * sizeof *a->box;
    return a->box == b->box || (a->box && b->box && memcmp(a->box, b->box, size) == 0);
}

bool tk_rt_same_call(const rt_call *a, const rt_call *b)
{
    const tk_triple *x = &a->triple, *y = &b->triple;
    bool same = a->again_size + b->again_size == 0 && a->nlines == b->nlines && x->name == y->name &&
                x->forward == y->forward && x->backward == y->backward && x->jvp == y->jvp && x->flags == y->flags;
    for (int i = 0; i < a->nlines && same; i++)
        same = a->footprint[i].field == b->footprint[i].field && a->footprint[i].what == b->footprint[i].what &&
               same_box(&a->footprint[i], &b->footprint[i]);
    return same;
}

/* All but numbers and arguments. */
static bool alike(const rt_logged *a, const rt_logged *b)
{
    if (a->params != b->params)
        return false;
    if (a->call && b->call)
        return tk_rt_call_runs_again(b->call) && b->last == b->launch && a->last == a->launch && a->args == b->args &&
               a->seed == b->seed && tk_rt_same_call(a->call, b->call);
    return a->kernel && a->kernel == b->kernel && a->module == b->module && a->seed == b->seed;
}

static bool same_advance(size_t nwords, const advance *a, const advance *b)
{
    return a->key == b->key && a->launch == b->launch && a->last == b->last && !a->words == !b->words &&
           (!a->words || memcmp(a->words, b->words, nwords * sizeof *a->words) == 0);
}

/* Loops of as many turns, whose lines are alike and advance by the same. */
static bool same_shape(const rt_node *a, const rt_node *b)
{
    if (a->turns != b->turns || a->n != b->n || a->leaves != b->leaves)
        return false;
    if (a->turns == 0)
        return alike(&a->line, &b->line);
    for (size_t i = 0; i < a->n; i++)
        if (!same_shape(&a->body[i], &b->body[i]))
            return false;
    for (size_t i = 0; i < a->leaves; i++)
        if (!same_advance(leaf(a, i)->nwords, &a->advance[i], &b->advance[i]))
            return false;
    return true;
}

/* The last node first: there most groups differ. */
static bool same_shapes(const rt_node *a, const rt_node *b, size_t n)
{
    while (n-- > 0)
        if (!same_shape(&a[n], &b[n]))
            return false;
    return true;
}

static bool in_step(const rt_node *a, const rt_node *b, const rt_node *c)
{
    const rt_logged *x = &a->line, *y = &b->line, *z = &c->line;
    bool same = y->key - x->key == z->key - y->key && y->launch - x->launch == z->launch - y->launch &&
                y->last - x->last == z->last - y->last;
    for (size_t i = 0; i < a->nwords && same; i++)
        same = b->words[i] - a->words[i] == c->words[i] - b->words[i];
    return same;
}

/* The line is that of the base after so many turns. */
static bool continues(const rt_node *base, const advance *a, uint64_t turn, const rt_node *x)
{
    const rt_logged *l = &base->line;
    bool same = x->line.key == l->key + turn * a->key && x->line.launch == l->launch + turn * a->launch &&
                x->line.last == l->last + turn * a->last;
    for (size_t i = 0; i < base->nwords && same; i++)
        same = x->words[i] == base->words[i] + (a->words ? turn * a->words[i] : 0);
    return same;
}

/* ---- memory ---- */

static void *get(tk_session *s, size_t bytes)
{
    void *p = tk_rt_alloc(s, bytes, true);
    s->tape.budget->used += p ? bytes : 0;
    return p;
}

static void free_nodes(tk_session *s, rt_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rt_node *x = &nodes[i];
        s->tape.budget->used -= x->bytes;
        tk_rt_free(s, x->words);
        free_nodes(s, x->body, x->n);
        tk_rt_free(s, x->body);
        tk_rt_free(s, x->advance);
    }
}

static bool reserve(tk_session *s, rt_nodes *all)
{
    if (all->n < all->cap)
        return true;
    const size_t cap = all->cap ? 2 * all->cap : 8;
    rt_node *more = get(s, cap * sizeof *more);
    if (!more)
        return false;
    if (all->n > 0)
        memcpy(more, all->node, all->n * sizeof *more);
    tk_rt_free(s, all->node);
    s->tape.budget->used -= all->cap * sizeof *more;
    all->node = more;
    all->cap = cap;
    return true;
}

/* ---- loops ---- */

/* By how much the lines of `to` are ahead of those of `from`: one block, or NULL. */
static advance *advances(tk_session *s, const rt_node *from, const rt_node *to, size_t leaves, size_t *bytes)
{
    size_t words = 0;
    for (size_t i = 0; i < leaves; i++)
        words += leaf(from, i)->nwords;
    *bytes = leaves * sizeof(advance) + words * sizeof(uint64_t);
    advance *a = get(s, *bytes);
    uint64_t *room = (uint64_t *)(a ? a + leaves : NULL);
    for (size_t i = 0; i < leaves && a; i++) {
        const rt_node *x = leaf(from, i), *y = leaf(to, i);
        a[i] = (advance){y->line.key - x->line.key, y->line.launch - x->line.launch, y->line.last - x->line.last, NULL};
        for (size_t k = 0; k < x->nwords; k++) {
            room[k] = y->words[k] - x->words[k];
            a[i].words = room[k] != 0 ? room : a[i].words;
        }
        room += x->nwords;
    }
    return a;
}

static bool make_loops(const rt_nodes *all, size_t n)
{
    const rt_node *c = all->node + all->n - n, *b = c - n, *a = b - n;
    if (!same_shapes(b, c, n) || !same_shapes(a, b, n))
        return false;
    const size_t leaves = leaves_of(a, n);
    for (size_t i = 0; i < leaves; i++)
        if (!in_step(leaf(a, i), leaf(b, i), leaf(c, i)))
            return false;
    return true;
}

static void add_costs(rt_node *to, const rt_node *more, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i].ns += more[i].ns;
        add_costs(to[i].body, more[i].body, to[i].n);
    }
}

/* The last three groups of n nodes become a loop. */
static bool fold(tk_session *s, rt_nodes *all, size_t n)
{
    rt_node *first = all->node + all->n - TURNS * n;
    rt_node loop = {.first = first->first, .turns = TURNS, .n = n, .leaves = leaves_of(first, n)};
    size_t bytes;
    for (size_t i = 0; i < TURNS * n; i++) {
        loop.lines += first[i].lines;
        loop.ns += first[i].ns;
    }
    loop.advance = advances(s, first, first + n, loop.leaves, &bytes);
    loop.body = loop.advance ? get(s, n * sizeof *loop.body) : NULL;
    if (!loop.body) {
        s->tape.budget->used -= loop.advance ? bytes : 0;
        tk_rt_free(s, loop.advance);
        return false;
    }
    loop.bytes = bytes + n * sizeof *loop.body;
    for (size_t i = 1; i < TURNS; i++)
        add_costs(first, first + i * n, n);
    memcpy(loop.body, first, n * sizeof *loop.body);
    free_nodes(s, first + n, (TURNS - 1) * n);
    all->n -= TURNS * n;
    all->node[all->n++] = loop;
    return true;
}

static bool is_next_turn(const rt_node *loop, const rt_node *nodes)
{
    if (!same_shapes(loop->body, nodes, loop->n))
        return false;
    for (size_t i = 0; i < loop->leaves; i++)
        if (!continues(leaf(loop->body, i), &loop->advance[i], loop->turns, leaf(nodes, i)))
            return false;
    return true;
}

/* The last nodes are one more turn of the loop in front of them. */
static bool extend_loop(tk_session *s, rt_nodes *all)
{
    for (size_t n = 1; n <= MOST && n < all->n; n++) {
        rt_node *loop = all->node + all->n - n - 1;
        if (loop->turns == 0 || loop->n != n || !is_next_turn(loop, loop + 1))
            continue;
        for (size_t i = 1; i <= n; i++) {
            loop->lines += loop[i].lines;
            loop->ns += loop[i].ns;
        }
        add_costs(loop->body, loop + 1, n);
        loop->turns++;
        free_nodes(s, loop + 1, n);
        all->n -= n;
        return true;
    }
    return false;
}

static bool fold_any(tk_session *s, rt_nodes *all, bool *failed)
{
    for (size_t n = 1; n <= MOST && TURNS * n <= all->n; n++)
        if (make_loops(all, n)) {
            *failed = !fold(s, all, n);
            return !*failed;
        }
    return false;
}

bool tk_rt_nodes_add(tk_session *s, rt_nodes *all, const rt_logged *line, uint64_t *words, size_t nwords)
{
    if (!reserve(s, all)) {
        tk_rt_free(s, words);
        return false;
    }
    all->node[all->n++] = (rt_node){.first = s->tape.budget->n,
                                    .lines = 1,
                                    .leaves = 1,
                                    .line = *line,
                                    .words = words,
                                    .nwords = nwords,
                                    .bytes = nwords * sizeof *words};
    s->tape.budget->used += nwords * sizeof *words;
    bool failed = false;
    while (extend_loop(s, all) || fold_any(s, all, &failed))
        ;
    return !failed;
}

void tk_rt_nodes_free(tk_session *s, rt_nodes *all)
{
    free_nodes(s, all->node, all->n);
    tk_rt_free(s, all->node);
    s->tape.budget->used -= all->cap * sizeof *all->node;
    *all = (rt_nodes){0};
}

/* ---- reading ---- */

/* Line `at` of the nodes; the number of its leaf among theirs. words: as many as it has. */
static size_t find(const rt_node *nodes, size_t at, rt_logged *l, uint64_t *words)
{
    size_t before = 0;
    for (; at >= nodes->lines; nodes++) {
        at -= nodes->lines;
        before += nodes->leaves;
    }
    if (nodes->turns == 0) {
        *l = nodes->line;
        if (nodes->nwords > 0)
            memcpy(words, nodes->words, nodes->nwords * sizeof *words);
        return before;
    }
    const size_t each = nodes->lines / nodes->turns, i = find(nodes->body, at % each, l, words);
    const uint64_t turn = at / each;
    const advance *a = &nodes->advance[i];
    l->key += turn * a->key;
    l->launch += turn * a->launch;
    l->last += turn * a->last;
    for (size_t k = 0; a->words && k < leaf(nodes, i)->nwords; k++)
        words[k] += turn * a->words[k];
    return before + i;
}

/* That has line i. */
static const rt_node *node_of(const rt_nodes *all, size_t i)
{
    size_t lo = 0, hi = all->n;
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        *(all->node[mid].first <= i ? &lo : &hi) = mid;
    }
    return &all->node[lo];
}

void tk_rt_nodes_line(const rt_nodes *all, size_t i, rt_logged *l, uint64_t *words)
{
    const rt_node *x = node_of(all, i);
    find(x, i - x->first, l, words);
}

static bool any(const rt_node *nodes, size_t n, rt_is_fn is, const void *ctx)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i].turns > 0 ? any(nodes[i].body, nodes[i].n, is, ctx) : is(&nodes[i].line, ctx))
            return true;
    return false;
}

bool tk_rt_nodes_any(const rt_nodes *all, rt_is_fn is, const void *ctx)
{
    return any(all->node, all->n, is, ctx);
}

/* ---- costs ---- */

void tk_rt_nodes_spend(rt_nodes *all, double ns)
{
    rt_node *x = all->n > 0 ? &all->node[all->n - 1] : NULL;
    while (x) {
        x->ns += ns;
        x = x->n > 0 ? &x->body[x->n - 1] : NULL;
    }
}

void tk_rt_nodes_settle(rt_nodes *all)
{
    double ns = 0;
    for (size_t i = 0; i < all->n; i++) {
        all->node[i].ahead = ns;
        ns += all->node[i].ns;
    }
}

/* Of the first lines of nodes, which ran so often. */
static double cost_of(const rt_node *nodes, size_t lines, double times)
{
    double ns = 0;
    for (; lines >= nodes->lines; nodes++) {
        ns += nodes->ns / times;
        lines -= nodes->lines;
        if (lines == 0)
            return ns;
    }
    const size_t each = nodes->turns > 0 ? nodes->lines / nodes->turns : 0;
    if (lines >= each && each > 0)
        ns += nodes->ns / times * (double)(lines / each) / (double)nodes->turns;
    return each > 0 && lines % each > 0 ? ns + cost_of(nodes->body, lines % each, times * (double)nodes->turns) : ns;
}

double tk_rt_nodes_cost(const rt_nodes *all, size_t lines)
{
    if (lines == 0 || all->n == 0)
        return 0;
    const rt_node *x = node_of(all, lines - 1);
    return x->ahead + cost_of(x, lines - x->first, 1);
}
