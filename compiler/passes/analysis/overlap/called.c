/* Accesses of functions that stay calls, as a set. */
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/called.h"

#include <stdlib.h>
#include <string.h>

static const ir_op *inner_of(const access *a)
{
    return a->inner ? a->inner : a->op;
}

/* Whether arguments alone decide which element it is, and nothing whether it is reached. */
static bool is_plain(const access *a)
{
    bool ok = !a->guarded;
    for (int k = 0; k < a->nsub; k++)
        ok &= a->sub[k].ok;
    return ok;
}

static bool is_same(const access *a, const access *b)
{
    if (inner_of(a) != inner_of(b) || !is_plain(a) || !is_plain(b))
        return false;
    for (int k = 0; k < a->nsub; k++)
        if (!affine_equal(&a->sub[k], &b->sub[k]))
            return false;
    return true;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

/* Terms come in any order. */
static uint64_t hash(const access *a, bool whole)
{
    uint64_t h = mix(1, (uint64_t)(uintptr_t)inner_of(a));
    for (int k = 0; k < a->nsub && whole; k++) {
        uint64_t terms = 0;
        for (int i = 0; i < a->sub[k].n; i++)
            terms += mix((uint64_t)a->sub[k].coef[i], (uint64_t)(uintptr_t)a->sub[k].term[i]);
        h = mix(mix(h, terms), (uint64_t)a->sub[k].konst);
    }
    return h;
}

/* The first of the operation, or with `whole` the one that is the same as a; else the free slot where it belongs. */
static size_t slot_for(const called *c, const access *a, bool whole)
{
    size_t i = hash(a, whole) & (c->nslots - 1);
    while (c->slot[i]) {
        const access *b = &c->found.at[c->slot[i] - 1];
        if (whole ? is_same(a, b) : inner_of(a) == inner_of(b))
            break;
        i = (i + 1) & (c->nslots - 1);
    }
    return i;
}

/* Each access is entered by its operation and, if it can be the same as another, as a whole. */
static void enter(called *c, size_t number)
{
    const access *a = &c->found.at[number];
    for (int whole = 0; whole <= is_plain(a); whole++) {
        const size_t at = slot_for(c, a, whole);
        if (!c->slot[at])
            c->slot[at] = number + 1;
    }
}

static void grow(called *c)
{
    if (c->nslots > 4 * (c->found.len + 1))
        return;
    c->nslots = c->nslots ? 2 * c->nslots : 64;
    free(c->slot);
    c->slot = xmalloc(c->nslots * sizeof *c->slot);
    memset(c->slot, 0, c->nslots * sizeof *c->slot);
    for (size_t i = 0; i < c->found.len; i++)
        enter(c, i);
}

void called_add(called *c, const ir_module *m, const ir_op *op, const access *inside)
{
    const access *beside = c->found.len ? &vec_last(&c->found) : NULL;
    const access a = inside ? access_in_call(m, op, inside, beside) : access_of_op(m, op, beside);
    grow(c);
    if (inside && c->slot[slot_for(c, &a, false)]) {
        if (is_plain(&a) && c->slot[slot_for(c, &a, true)])
            return;
        if (c->again == CALLED_AGAIN) {
            c->found.at[c->slot[slot_for(c, &a, false)] - 1].repeated = true;
            return;
        }
        c->again++;
    }
    vec_push(&c->found, a);
    enter(c, c->found.len - 1);
}

void called_free(called *c)
{
    vec_free(&c->found);
    free(c->slot);
}
