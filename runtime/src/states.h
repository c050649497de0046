/* States: data of fields as they were at one time. All that libtkc keeps of fields for later is a state: the data that
 * launches overwrite, gradients that a tape is added to, the fields around a gradient check.
 *
 * A state is one block: pieces, their boxes, their values. A caller names the pieces one by one (tk_rt_state_want), and
 * then takes all of them (tk_rt_state_take). */
#ifndef RT_STATES_H
#define RT_STATES_H

#include "rt.h"

/* A part of a plane. */
typedef struct rt_piece {
    tk_field *field;
    tk_plane plane;
    unsigned what;      /* the caller's */
    size_t element;     /* bytes of an element: of the field, and of the members of the same structs that continue it */
    int members;        /* 1, and these members */
    const int64_t *box; /* first and last subscript of each dimension, and of the components; NULL: all */
    size_t singles;     /* single components alone: values begins with their addresses; 0: all of the box */
    size_t bytes;       /* of the values */
    unsigned char *values;
} rt_piece;

struct rt_state {
    struct rt_state *next;  /* of a list: the state before */
    size_t bytes;           /* of the block */
    size_t head;            /* of these before the values */
    struct rt_filed *filed; /* files.h */
    bool swapped;           /* the values are the later ones, and the field has the earlier ones */
    int n;
    rt_piece piece[];
};

/* Names a piece of the state that is taken next. box: valid until then. A whole field joins a piece beside it in the
 * same structs if `what` is the same. */
void tk_rt_state_want(tk_field *f, tk_plane plane, const int64_t *box, unsigned what);
/* How many pieces are named; a piece without memory counts. */
int tk_rt_state_wanted(const tk_session *s);
/* A state of the named pieces. old: a state to be replaced, or NULL. NULL when out of memory; the caller fails the
 * session. */
struct rt_state *tk_rt_state_take(tk_session *s, struct rt_state *old);
/* Forgets the named pieces; the bytes of their state. */
size_t tk_rt_state_drop(tk_session *s);
/* A state of the same pieces as they are now. NULL when out of memory. */
struct rt_state *tk_rt_state_take_again(tk_session *s, const struct rt_state *st);
/* A state of some of the pieces, with their values: those of which `drops` is false. NULL when out of memory. */
typedef bool (*rt_drops_fn)(const void *ctx, const rt_piece *p);
struct rt_state *tk_rt_state_without(tk_session *s, const struct rt_state *st, rt_drops_fn drops, const void *ctx);
/* Takes the values once more. */
void tk_rt_state_retake(struct rt_state *st);
/* Puts back the pieces with one of the bits of `what`; 0: all. NULL: nothing. */
void tk_rt_state_restore(const struct rt_state *st, unsigned what);
/* Exchanges the values of fields and states, of a list: where the states have the earlier values, the last state first;
 * where they have the later ones, the first state first. */
void tk_rt_states_undo(struct rt_state *last);
void tk_rt_states_redo(struct rt_state **last);
/* Undoes a list and frees it. */
void tk_rt_states_put_back(tk_session *s, struct rt_state **last);
/* Calls fn for each component whose value is another one now, until that is false. `was`: the value of the state. */
typedef bool (*rt_differs_fn)(void *ctx, const rt_piece *p, int64_t component, const void *was);
void tk_rt_state_differ(const struct rt_state *st, rt_differs_fn fn, void *ctx);
/* The n components of a state of one piece that differ. NULL when out of memory. */
struct rt_state *tk_rt_state_shrink(tk_session *s, const struct rt_state *st, size_t n);
/* A sum over the bits of a box of a plane, which tells data apart. */
uint64_t tk_rt_state_sum(tk_field *f, tk_plane plane, const int64_t *box);
/* The same over bytes. */
uint64_t tk_rt_bytes_sum(const void *bytes, size_t n);
/* The block was copied from `old`. */
void tk_rt_state_moved(struct rt_state *st, const struct rt_state *old);
/* Adds the values of whole fields to these. */
void tk_rt_state_add(tk_session *s, const struct rt_state *st);
/* The piece of the field, or NULL. */
const rt_piece *tk_rt_state_piece(const struct rt_state *st, const tk_field *f, tk_plane plane);
/* Of a list: the bytes, without the pieces of a module, and freed. */
size_t tk_rt_states_bytes(const struct rt_state *st);
void tk_rt_states_forget(struct rt_state *st, const tk_module *m);
void tk_rt_states_free(tk_session *s, struct rt_state **list);

#endif
