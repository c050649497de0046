/* Private to needs.c, kept.c, parts.c and footprint.c: the boxes that a tape has of each field. */
#ifndef RT_NEEDS_H
#define RT_NEEDS_H

#include "box.h"
#include "rt.h"
#include "states.h"

enum { SUM_MAX = 16, RECENT = 8 };

/* Of a part. PERHAPS: it may be needed, and the tape keeps all that changes there. */
typedef enum kind { EMPTY, PERHAPS, SOME, ALL } kind;

typedef struct rt_mark_of_need {
    uint32_t launch; /* from 1 */
    kind kind_of;
} rt_mark_of_need;

struct rt_needs {
    int64_t first, last; /* of the first subscript, of all that is needed; first > last: nothing */
    int dims;            /* of the field, and one of components */
    int nsum;
    int64_t sum[SUM_MAX][2 * DIMS_MAX];
    int64_t *log; /* 2 * dims each: lo, hi */
    rt_mark_of_need *marks;
    size_t n, cap;
    uint64_t epoch;      /* under a budget, of the data: tk_session.epoch when the next two were set */
    int64_t made;        /* the launch that replaced all of them, -1: not known */
    bool crosses;        /* they are read in a later segment than that launch's */
    bool dead, replaced; /* the launch that comes overwrites dead data; replaces all of them */
};

/* A copy of what a launch is about to write, where that meets what adjoints need. */
struct rt_kept {
    struct rt_kept *next;
    tk_field *field;
    tk_plane plane;
    bool all;      /* all of `written` is, always */
    size_t before; /* how many needs there were */
    int64_t written[2 * DIMS_MAX], region[2 * DIMS_MAX];
    struct rt_state *was; /* the data of the region */
};

/* ---- parts ---- */

/* Parts, one after the other: of a launch, whose boxes stand in rt_tape.ends, or of a call of the host's. */
typedef struct rt_parts {
    tk_field *field; /* of this part, */
    tk_plane plane;
    unsigned what;
    int64_t *box;
    tk_module *module; /* of a launch; of a call without footprint, whose parts are all fields */
    const tk_kernel *kernel;
    const rt_call *call; /* NULL: of a launch */
    int at, n;
    int64_t *ends; /* of the next part; of a call room for a box */
} rt_parts;

/* parts.c: of a part that no adjoint of the module needs, or no kernel writes: whether functions of the host may, so
 * that a tape keeps what changes there. Launches keep what they overwrite of saved fields. */
bool tk_rt_parts_counts(const tk_field *f, tk_plane plane);
bool tk_rt_call_part(rt_parts *w);
/* The boxes of a launch, to rt_tape.ends; all: also of parts that tapes do not compare. False after failing the
 * session.
 */
bool tk_rt_parts_compute(tk_module *m, const tk_kernel *k, const void *args, bool all);
/* Makes the box one of the field; EMPTY: it has no element. */
kind tk_rt_part_settle(const rt_parts *w);

/* all: also those that count beside functions of the host alone. */
static inline rt_parts parts_of_launch(tk_module *m, const tk_kernel *k, bool all)
{
    return (rt_parts){.module = m, .kernel = k, .n = all ? k->nparts : k->ncompared, .ends = m->session->tape.ends};
}

/* b: room for a box. */
static inline rt_parts parts_of_call(tk_session *s, const rt_call *c, int64_t *b)
{
    return (rt_parts){.module = s->modules, .call = c, .n = c->nlines, .ends = b};
}

/* The next part; false: there is none. */
static inline bool next_part(rt_parts *w)
{
    if (w->call)
        return tk_rt_call_part(w);
    while (w->at < w->n) {
        const tk_part *p = &w->kernel->parts[w->at++];
        w->field = &w->module->fields[p->field];
        w->plane = p->plane;
        w->what = p->what;
        w->box = w->ends;
        w->ends += 2 * w->field->desc->ndim + 2;
        if (w->at <= w->kernel->ncompared)
            return true;
        w->what &= ~(unsigned)TK_ALL;
        if (tk_rt_parts_counts(w->field, w->plane))
            return true;
    }
    return false;
}

/* Of a part that meets a box of what is needed: a copy of what adjoints may need of it, to the list; of a saved field
 * all of it. False after failing the session. */
bool tk_rt_kept_add(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept);

/* Of a field; NULL after failing the session. */
struct rt_needs *tk_rt_needs_of(tk_field *f, tk_plane plane);

/* The box of a whole field, with components; false: it is empty. */
bool tk_rt_needs_whole(const tk_field *f, int64_t *b);
/* Of what is about to be written: tk_rt_kept_add, if something of it is needed. */
bool tk_rt_needs_keep(rt_parts w, bool duals, struct rt_kept **kept);
/* First subscripts of what is needed from here on, which say whether the list is to be made. False after failing the
 * session. */
bool tk_rt_needs_first(rt_parts w);
/* What entries need before `end` that are not listed yet. */
bool tk_rt_needs_list(tk_session *s, size_t end);
/* A function of the host is on the tape: from here on all parts count, also of entries that are listed. */
bool tk_rt_needs_all(tk_session *s);

/* ---- saved.c ---- */

/* Of tk_rt_saved_keep for a launch alone. */
size_t tk_rt_saved_bytes(tk_module *m, const tk_kernel *k, const void *args, bool duals);

#endif
