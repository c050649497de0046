/* Maps from values to values. */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

ir_map ir_map_create(const ir_func *from)
{
    ir_map m = {.n = from->next_value};
    m.at = xmalloc(sizeof *m.at * ((size_t)m.n + 1));
    memset(m.at, 0, sizeof *m.at * ((size_t)m.n + 1));
    return m;
}

void ir_map_set(ir_map *m, const ir_value *from, ir_value *to)
{
    to->exact |= from->exact;
    ir_map_set_other(m, from, to);
}

void ir_map_set_other(ir_map *m, const ir_value *from, ir_value *to)
{
    if (from->id >= m->n) { /* values made since the map was created */
        uint32_t n = from->id + 1 + m->n;
        m->at = xrealloc(m->at, sizeof *m->at * ((size_t)n + 1));
        memset(m->at + m->n, 0, sizeof *m->at * ((size_t)(n - m->n) + 1));
        m->n = n;
    }
    m->at[from->id] = to;
}

ir_value *ir_map_get(const ir_map *m, const ir_value *from)
{
    return from->id < m->n ? m->at[from->id] : NULL;
}

void ir_map_free(ir_map *m)
{
    free(m->at);
    m->at = NULL;
    m->n = 0;
}
