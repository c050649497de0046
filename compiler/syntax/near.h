/* Which of the names that there are is like one that there is not. */
#ifndef TKC_NEAR_H
#define TKC_NEAR_H

typedef struct near_search {
    const char *name, *best; /* best: NULL while none is near */
    int limit, least;        /* distance of the best so far */
} near_search;

/* How many letters may be wrong in a name of that length. */
int near_limit(const char *name);
near_search near_begin(const char *name, int limit);
/* The nearest name wins; of those as near the one that begins alike for longer, then the first in the alphabet. */
void near_consider(near_search *s, const char *known);

#endif
