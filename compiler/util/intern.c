#include "util/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

struct intern_pool {
    arena *mem;
    const char **slot; /* open addressing; cap is a power of two */
    size_t len, cap;
};

static uint64_t hash(const char *s, size_t n)
{
    /* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

intern_pool *intern_create(void)
{
    intern_pool *p = xmalloc(sizeof *p);
    p->mem = arena_create();
    p->len = 0;
    p->cap = 1024;
    p->slot = xmalloc(p->cap * sizeof *p->slot);
    memset(p->slot, 0, p->cap * sizeof *p->slot);
    return p;
}

void intern_destroy(intern_pool *p)
{
    if (!p)
        return;
    arena_destroy(p->mem);
    free(p->slot);
    free(p);
}

static const char **find(intern_pool *p, const char *s, size_t n)
{
    size_t i = (size_t)hash(s, n) & (p->cap - 1);
    while (p->slot[i] && (strncmp(p->slot[i], s, n) != 0 || p->slot[i][n] != '\0'))
        i = (i + 1) & (p->cap - 1);
    return &p->slot[i];
}

static void grow(intern_pool *p)
{
    const char **old = p->slot;
    size_t n = p->cap;
    p->cap *= 2;
    p->slot = xmalloc(p->cap * sizeof *p->slot);
    memset(p->slot, 0, p->cap * sizeof *p->slot);
    for (size_t i = 0; i < n; i++)
        if (old[i])
            *find(p, old[i], strlen(old[i])) = old[i];
    free(old);
}

const char *intern_n(intern_pool *p, const char *s, size_t n)
{
    const char **slot = find(p, s, n);
    if (*slot)
        return *slot;
    if (2 * (p->len + 1) > p->cap) {
        grow(p);
        slot = find(p, s, n);
    }
    p->len++;
    return *slot = arena_strndup(p->mem, s, n);
}

const char *intern(intern_pool *p, const char *s)
{
    return intern_n(p, s, strlen(s));
}
