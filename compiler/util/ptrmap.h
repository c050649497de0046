/* Maps keyed by pointer. */
#ifndef TKC_PTRMAP_H
#define TKC_PTRMAP_H

#include <stddef.h>

/* Pointer to pointer; iteration order is never used. */
typedef struct ptrmap {
    const void **key;
    void **val;
    size_t len, cap;
} ptrmap;
void *ptrmap_get(const ptrmap *m, const void *key);
void ptrmap_set(ptrmap *m, const void *key, void *val);
void ptrmap_free(ptrmap *m);

#endif
