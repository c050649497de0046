#include "util/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE ((size_t)64 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char mem[];
};

struct arena {
    struct chunk *head;
};

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) {
        fputs("tkc: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p) {
        fputs("tkc: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

arena *arena_create(void)
{
    arena *a = xmalloc(sizeof *a);
    a->head = NULL;
    return a;
}

void arena_destroy(arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *arena_alloc(arena *a, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!a->head || a->head->size - a->head->used < size) {
        size_t n = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        struct chunk *c = xmalloc(sizeof *c + n);
        c->used = 0;
        c->size = n;
        c->next = a->head;
        a->head = c;
    }
    void *p = a->head->mem + a->head->used;
    a->head->used += size;
    return memset(p, 0, size);
}

char *arena_strndup(arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    char small[256]; /* most texts fit, and are formatted once */
    va_list ap, ap2;
    va_start(ap, fmt);
    va_copy(ap2, ap);
    const size_t n = (size_t)vsnprintf(small, sizeof small, fmt, ap) + 1;
    va_end(ap);
    char *p = arena_alloc(a, n);
    if (n <= sizeof small)
        memcpy(p, small, n);
    else
        vsnprintf(p, n, fmt, ap2);
    va_end(ap2);
    return p;
}
