/* Interned strings: equal strings have equal pointers, so names compare with ==. They live as long as the pool. */
#ifndef TKC_INTERN_H
#define TKC_INTERN_H

#include <stddef.h>

typedef struct intern_pool intern_pool;

intern_pool *intern_create(void);
void intern_destroy(intern_pool *p);
const char *intern(intern_pool *p, const char *s);
const char *intern_n(intern_pool *p, const char *s, size_t n);

#endif
