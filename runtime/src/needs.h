/* Private to needs.c, kept.c and footprint.c: the boxes that a tape has of each field. */
#ifndef RT_NEEDS_H
#define RT_NEEDS_H

#include "box.h"
#include "rt.h"
#include "state.h"

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

/* Of a part that meets a box of what is needed: a copy of what adjoints may need of it, to the list; of a saved field
 * all of it. False after failing the session. */
bool tk_rt_kept_add(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept);

/* The box of a whole field, with components; false: it is empty. */
bool tk_rt_needs_whole(const tk_field *f, int64_t *b);
/* Of a box that is about to be written: tk_rt_kept_add, if something of it is needed. */
bool tk_rt_needs_keep(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept);
/* What launch number `launch`, from 1, needs: its box; before that, first subscripts alone, which say whether the list
 * is to be made. False after failing the session. */
bool tk_rt_needs_note(tk_field *f, tk_plane plane, const int64_t *b, kind k, uint32_t launch);
bool tk_rt_needs_first(tk_field *f, tk_plane plane, int64_t first, int64_t last);
/* What entries need before `end` that are not listed yet. */
bool tk_rt_needs_list(tk_session *s, size_t end);
/* What backward of a triple needs. */
bool tk_rt_call_note(tk_session *s, const rt_entry *e, uint32_t launch);

#endif
