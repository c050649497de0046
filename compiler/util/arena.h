/* Bump allocation with one lifetime.
 *
 * Everything that belongs to one compilation (AST, typed tree, IR, strings) lives in an arena and is freed with it;
 * nothing is freed singly. Running out of memory ends the compiler with a message and status 1: a compiler has nothing
 * better to do.
 */
#ifndef TKC_ARENA_H
#define TKC_ARENA_H

#include <stddef.h>

typedef struct arena arena;

arena *arena_create(void);
void arena_destroy(arena *a);

/* Zeroed memory, aligned for any type. */
void *arena_alloc(arena *a, size_t size);
/* A copy of the first n bytes of s with a NUL behind them. */
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_strdup(arena *a, const char *s);
__attribute__((format(printf, 2, 3))) char *arena_printf(arena *a, const char *fmt, ...);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* malloc family that cannot return NULL. */
void *xmalloc(size_t size);
void *xrealloc(void *p, size_t size);

#endif
