/* Which sums are worth taking out: kernels and co-kernels, as in the factoring of logic and of polynomials (Brayton and
 * McMullen, "The decomposition and factorization of Boolean expressions", 1982; Hosangadi, Fallah and Kastner,
 * "Optimizing polynomial expressions by algebraic factorization and common subexpression elimination", 2006).
 *
 * The products of a sum that have a variable in common, divided by all that they have in common (the cube), are a
 * kernel. The same kernel may be found in several sums, and several times in one. The one that saves most becomes a
 * variable; and so on, until none saves anything.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/derive/algebra/algebra.h"

/* The products of one sum that have a variable in common. */
typedef struct kernel {
    int n;
    int at[FACTOR_TERMS];    /* which products */
    term cube;               /* what they have in common */
    term rest[FACTOR_TERMS]; /* divided by that, sorted */
    uint32_t hash;
} kernel;

typedef struct candidate {
    int sum, var;
    uint32_t hash;
    int saved; /* in this sum, if the kernel is there */
    int cost;  /* of the kernel */
} candidate;

typedef struct taken {
    uint32_t hash;
    int var, n;
    term *rest;
} taken;

typedef struct search {
    factoring *x;
    VEC(candidate) found;
    VEC(taken) taken;
} search;

int factor_cost(const term *t)
{
    const int degree = t->n + (t->coef != 1.0 && t->coef != -1.0);
    return degree > 2 ? degree - 1 : 1;
}

/* ---- products ---- */

static int compare_terms(const void *p, const void *q)
{
    const term *a = p, *b = q;
    for (int i = 0; i < a->n && i < b->n; i++)
        if (a->at[i] != b->at[i])
            return a->at[i] < b->at[i] ? -1 : 1;
    return a->n != b->n ? (a->n < b->n ? -1 : 1) : a->coef < b->coef ? -1 : a->coef > b->coef;
}

static bool has(const term *t, int var)
{
    for (int i = 0; i < t->n; i++)
        if (t->at[i] == var)
            return true;
    return false;
}

static void append(term *t, const term *from, int i)
{
    t->at[t->n] = from->at[i];
    t->rank[t->n++] = from->rank[i];
}

/* What a and b have in common, as often as both have it. */
static term common(const term *a, const term *b)
{
    term c = {.coef = 1.0};
    for (int i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->at[i] == b->at[k]) {
            append(&c, a, i++);
            k++;
        } else if (a->at[i] < b->at[k]) {
            i++;
        } else {
            k++;
        }
    }
    return c;
}

/* a without the factors of b, which it has. */
static term without(const term *a, const term *b)
{
    term c = {.coef = a->coef};
    int k = 0;
    for (int i = 0; i < a->n; i++) {
        if (k < b->n && a->at[i] == b->at[k])
            k++;
        else
            append(&c, a, i);
    }
    return c;
}

term factor_times(const term *t, int var)
{
    term c = *t;
    int last = 0, i = c.n++;
    for (int k = 0; k < t->n; k++)
        last = t->rank[k] >= last ? t->rank[k] + 1 : last;
    for (; i > 0 && c.at[i - 1] > var; i--) {
        c.at[i] = c.at[i - 1];
        c.rank[i] = c.rank[i - 1];
    }
    c.at[i] = var;
    c.rank[i] = last;
    return c;
}

/* ---- kernels ---- */

/* Of products only: what is a value in a sum stays as it is beside the others. */
static bool is_shared(const term *t, int var)
{
    return t->n > 1 && has(t, var);
}

static int products_with(const sum *p, int var)
{
    int n = 0;
    for (int i = 0; i < p->n; i++)
        n += is_shared(&p->at[i], var);
    return n;
}

static uint32_t hash_of(const kernel *k)
{
    uint32_t h = (uint32_t)k->n;
    for (int i = 0; i < k->n; i++)
        for (int j = 0; j <= k->rest[i].n; j++)
            h = (h ^ (uint32_t)(j < k->rest[i].n ? k->rest[i].at[j] : -1)) * UINT32_C(16777619);
    return h;
}

/* The product of fewest factors, which is to have no constant. */
static int lowest(const kernel *k)
{
    int least = 0;
    for (int i = 1; i < k->n; i++)
        least = k->rest[i].n < k->rest[least].n ? i : least;
    return least;
}

/* False: fewer than two products have the variable. */
static bool kernel_of(const sum *p, int var, kernel *k)
{
    k->n = 0;
    for (int i = 0; i < p->n; i++)
        if (is_shared(&p->at[i], var)) {
            k->cube = k->n ? common(&k->cube, &p->at[i]) : p->at[i];
            k->at[k->n++] = i;
        }
    if (k->n < 2)
        return false;
    for (int i = 0; i < k->n; i++)
        k->rest[i] = without(&p->at[k->at[i]], &k->cube);
    qsort(k->rest, (size_t)k->n, sizeof *k->rest, compare_terms);
    k->cube.coef = k->rest[lowest(k)].coef;
    for (int i = 0; i < k->n; i++)
        k->rest[i].coef /= k->cube.coef;
    k->hash = hash_of(k);
    return k->rest[k->n - 1].n > 0; /* not of constants alone, which have no type */
}

/* Another variable of the cube is in the same products: one of them is enough. */
static bool is_found_by_another(const sum *p, int var, const kernel *k)
{
    for (int i = 0; i < k->cube.n && k->cube.at[i] < var; i++)
        if (products_with(p, k->cube.at[i]) == k->n)
            return true;
    return false;
}

static bool is_same(const kernel *k, const taken *t)
{
    if (k->hash != t->hash || k->n != t->n)
        return false;
    for (int i = 0; i < k->n; i++)
        if (compare_terms(&k->rest[i], &t->rest[i]))
            return false;
    return true;
}

static const taken *find_taken(const search *s, const kernel *k)
{
    for (size_t i = 0; i < s->taken.len; i++)
        if (is_same(k, &s->taken.at[i]))
            return &s->taken.at[i];
    return NULL;
}

static void add_candidate(search *s, int at, int var, kernel *k)
{
    const sum *p = &s->x->sums.at[at];
    if (!kernel_of(p, var, k) || k->cube.n == FACTOR_DEGREE || is_found_by_another(p, var, k))
        return;
    candidate c = {.sum = at, .var = var, .hash = k->hash};
    bool first_is_free = false; /* what a sum begins with is not added to anything */
    for (int i = 0; i < k->n; i++) {
        c.saved += factor_cost(&p->at[k->at[i]]);
        c.cost += factor_cost(&k->rest[i]);
        first_is_free |= k->rest[i].n == 1 && k->rest[i].coef == 1.0;
    }
    const term whole = factor_times(&k->cube, 0);
    c.saved -= factor_cost(&whole);
    c.cost = find_taken(s, k) ? 0 : c.cost - first_is_free;
    vec_push(&s->found, c);
}

/* What sum `at` has to offer. */
static void find_in(search *s, int at)
{
    const sum *p = &s->x->sums.at[at];
    kernel k;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->at[i].n; j++) {
            const int var = p->at[i].at[j];
            bool seen = j > 0 && var == p->at[i].at[j - 1];
            for (int before = 0; before < i && !seen; before++)
                seen = has(&p->at[before], var);
            if (!seen)
                add_candidate(s, at, var, &k);
        }
}

static int compare_candidates(const void *p, const void *q)
{
    const candidate *a = p, *b = q;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->sum != b->sum ? (a->sum < b->sum ? -1 : 1) : a->var < b->var ? -1 : a->var > b->var;
}

/* The candidates of one kernel that save most together: [*from, *to) of the sorted list. */
static bool find_best(const search *s, size_t *from, size_t *to)
{
    int best = 0;
    for (size_t i = 0, end; i < s->found.len; i = end) {
        int saved = -s->found.at[i].cost;
        for (end = i; end < s->found.len && s->found.at[end].hash == s->found.at[i].hash; end++)
            saved += s->found.at[end].saved;
        if (saved > best) {
            best = saved;
            *from = i;
            *to = end;
        }
    }
    return best > 0;
}

static int new_sum(factoring *x, scalar type, const term *at, int n)
{
    sum p = {.type = type, .at = xmalloc((size_t)n * sizeof *at), .n = n, .changed = true};
    memcpy(p.at, at, (size_t)n * sizeof *at);
    vec_push(&x->sums, p);
    vec_push(&x->vars, ((variable){.sum = (int)x->sums.len - 1}));
    return (int)x->vars.len - 1;
}

static const taken *take(search *s, const kernel *k, scalar type)
{
    const taken *old = find_taken(s, k);
    if (old)
        return old;
    taken t = {.hash = k->hash, .n = k->n, .rest = xmalloc((size_t)k->n * sizeof *k->rest)};
    memcpy(t.rest, k->rest, (size_t)k->n * sizeof *k->rest);
    t.var = new_sum(s->x, type, k->rest, k->n);
    vec_push(&s->taken, t);
    return &vec_last(&s->taken);
}

/* The products of the kernel become one. */
static void put(sum *p, const kernel *k, int var)
{
    int n = 0, next = 0;
    for (int i = 0; i < p->n; i++) {
        if (next < k->n && k->at[next] == i) {
            if (next++ == 0)
                p->at[n++] = factor_times(&k->cube, var);
        } else {
            p->at[n++] = p->at[i];
        }
    }
    p->n = n;
    p->changed = true;
}

static void forget_changed(search *s, const bool *changed)
{
    size_t n = 0;
    for (size_t i = 0; i < s->found.len; i++)
        if (!changed[s->found.at[i].sum])
            s->found.at[n++] = s->found.at[i];
    s->found.len = n;
}

/* One kernel is taken out wherever it is; what the changed sums offer now is looked for again. */
static void take_out(search *s, size_t from, size_t to)
{
    kernel first, k;
    const sum *p0 = &s->x->sums.at[s->found.at[from].sum];
    kernel_of(p0, s->found.at[from].var, &first);
    const size_t before = s->x->sums.len;
    const taken t = *take(s, &first, p0->type);
    const size_t nsums = s->x->sums.len;
    bool *changed = xmalloc(nsums * sizeof *changed);
    memset(changed, 0, nsums * sizeof *changed);
    for (size_t i = from; i < to; i++) {
        const candidate *c = &s->found.at[i];
        sum *p = &s->x->sums.at[c->sum];
        if (kernel_of(p, c->var, &k) && is_same(&k, &t)) {
            put(p, &k, t.var);
            changed[c->sum] = true;
        }
    }
    forget_changed(s, changed);
    for (size_t i = 0; i < nsums; i++)
        if (changed[i] || i >= before)
            find_in(s, (int)i);
    free(changed);
}

/* ---- products of two ---- */

typedef struct pair {
    int a, b, count;
    scalar type;
} pair;

static int compare_pairs(const void *p, const void *q)
{
    const pair *x = p, *y = q;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : x->b < y->b ? -1 : x->b > y->b;
}

/* Of products that take more than one operation. */
static bool most_frequent_pair(const factoring *x, pair *best)
{
    VEC(pair) all = {0};
    for (size_t i = 0; i < x->sums.len; i++)
        for (int t = 0; x->sums.at[i].changed && t < x->sums.at[i].n; t++) {
            const term *p = &x->sums.at[i].at[t];
            for (int a = 0; factor_cost(p) > 1 && a < p->n; a++)
                for (int b = a + 1; b < p->n; b++)
                    if ((a == 0 || p->at[a] != p->at[a - 1]) && (b == a + 1 || p->at[b] != p->at[b - 1]))
                        vec_push(&all, ((pair){p->at[a], p->at[b], 1, x->sums.at[i].type}));
        }
    if (all.len > 1)
        qsort(all.at, all.len, sizeof *all.at, compare_pairs);
    best->count = 1;
    for (size_t i = 0, end; i < all.len; i = end) {
        for (end = i; end < all.len && compare_pairs(&all.at[i], &all.at[end]) == 0; end++)
            continue;
        if ((int)(end - i) > best->count)
            *best = (pair){all.at[i].a, all.at[i].b, (int)(end - i), all.at[i].type};
    }
    vec_free(&all);
    return best->count > 1;
}

static void take_pair(factoring *x, const pair *p)
{
    const term both = {.coef = 1.0, .n = 2, .at = {p->a, p->b}, .rank = {0, 1}};
    const int var = new_sum(x, p->type, &both, 1);
    for (size_t i = 0; i + 1 < x->sums.len; i++)
        for (int t = 0; x->sums.at[i].changed && t < x->sums.at[i].n; t++) {
            term *one = &x->sums.at[i].at[t];
            const term shared = common(one, &both);
            if (factor_cost(one) > 1 && shared.n == 2) {
                const term rest = without(one, &both);
                *one = factor_times(&rest, var);
            }
        }
}

void factor_search(factoring *x)
{
    search s = {.x = x};
    for (size_t i = 0; i < x->sums.len; i++)
        find_in(&s, (int)i);
    for (size_t from, to; s.found.len;) {
        qsort(s.found.at, s.found.len, sizeof *s.found.at, compare_candidates);
        if (!find_best(&s, &from, &to))
            break;
        take_out(&s, from, to);
    }
    for (pair p; most_frequent_pair(x, &p);)
        take_pair(x, &p);
    for (size_t i = 0; i < s.taken.len; i++)
        free(s.taken.at[i].rest);
    vec_free(&s.found);
    vec_free(&s.taken);
}
