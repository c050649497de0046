/* A sequence of lines in the memory of the loops that it consists of. */
#ifndef RT_LOOPS_H
#define RT_LOOPS_H

#include "budget.h"

/* One more line, with its arguments as integers: a block of the session, which goes over to the nodes; they count it.
 * False: no memory. */
bool tk_rt_nodes_add(tk_session *s, rt_nodes *all, const rt_logged *line, uint64_t *words, size_t nwords);
/* Line i, and its arguments: room for those of each kernel of the log. */
void tk_rt_nodes_line(const rt_nodes *all, size_t i, rt_logged *l, uint64_t *words);
/* The last line took so many ns. */
void tk_rt_nodes_spend(rt_nodes *all, double ns);
/* No line follows: from here on tk_rt_nodes_cost is the time of the first lines, in ns; in a loop, the mean of its
 * turns. */
void tk_rt_nodes_settle(rt_nodes *all);
double tk_rt_nodes_cost(const rt_nodes *all, size_t lines);
bool tk_rt_nodes_any(const rt_nodes *all, rt_is_fn is, const void *ctx);
void tk_rt_nodes_free(tk_session *s, rt_nodes *all);
/* Calls of one function, with one footprint, and without arguments of a size. */
bool tk_rt_same_call(const rt_call *a, const rt_call *b);

#endif
