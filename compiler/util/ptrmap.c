#include "util/ptrmap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

static size_t slot_of(const ptrmap *m, const void *key)
{
    size_t i = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20) & (m->cap - 1);
    while (m->key[i] && m->key[i] != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void *ptrmap_get(const ptrmap *m, const void *key)
{
    return m->cap ? m->val[slot_of(m, key)] : NULL;
}

void ptrmap_set(ptrmap *m, const void *key, void *val)
{
    if (2 * (m->len + 1) > m->cap) {
        ptrmap old = *m;
        m->cap = old.cap ? 2 * old.cap : 64;
        m->key = xmalloc(m->cap * sizeof *m->key);
        m->val = xmalloc(m->cap * sizeof *m->val);
        memset(m->key, 0, m->cap * sizeof *m->key);
        memset(m->val, 0, m->cap * sizeof *m->val);
        for (size_t i = 0; i < old.cap; i++)
            if (old.key[i]) {
                const size_t k = slot_of(m, old.key[i]);
                m->key[k] = old.key[i];
                m->val[k] = old.val[i];
            }
        free(old.key);
        free(old.val);
    }
    const size_t k = slot_of(m, key);
    if (!m->key[k])
        m->len++;
    m->key[k] = key;
    m->val[k] = val;
}

void ptrmap_free(ptrmap *m)
{
    free(m->key);
    free(m->val);
    *m = (ptrmap){0};
}
