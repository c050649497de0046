/* Which of the names that there are is like one that there is not. */
#ifndef TKC_SPELLING_H
#define TKC_SPELLING_H

typedef struct spelling_search {
    const char *name, *best; /* best: NULL while none is near */
    int limit, least;        /* distance of the best so far */
} spelling_search;

/* How many letters may be wrong in a name of that length. */
int spelling_limit(const char *name);
spelling_search spelling_begin(const char *name, int limit);
/* The nearest name wins; of those as near the one that begins alike for longer, then the first in the alphabet. */
void spelling_consider(spelling_search *s, const char *known);

#endif
