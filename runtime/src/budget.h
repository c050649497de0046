/* A tape under a budget of bytes, inside: budget.c records launches, images.c and segments.c keep what they overwrite,
 * replay.c is the way back.
 *
 * While all fits, the tape is a plain one. Beyond that it is a log of launches and images of the data at a few times:
 * an image of time a has what the launches between a and the next image overwrote, as they found it. Put back from the
 * last image to that of time a, they give the data at time a. Launches run again from there; a few of them at a time
 * are recorded as a plain tape, whose adjoints then run. */
#ifndef RT_BUDGET_H
#define RT_BUDGET_H

#include "needs.h"

/* A launch, or a call of the host's (no kernel). */
typedef struct rt_logged {
    tk_module *module;
    const tk_kernel *kernel;
    const void *args; /* in rt_tape.args */
    const rt_call *call;
    uint64_t key, launch; /* of a launch: those of its record, in the log tk_session.draws for the first one; of a call:
                             rt_entry.draws, .first */
    uint64_t last;        /* of a call: rt_entry.last */
    uint64_t seed;        /* of a launch that draws, or a call */
    const struct rt_version *params;
} rt_logged;

/* A line, or a loop of them; loops.c. */
typedef struct rt_node rt_node;
typedef struct rt_nodes {
    rt_node *node;
    size_t n, cap;
} rt_nodes;
typedef bool (*rt_is_fn)(const rt_logged *l, const void *ctx);

/* A box that an image holds, or need not hold. */
typedef struct rt_held {
    struct rt_held *next;
    tk_field *field;
    bool known; /* sum is that of the data at the end of the segment */
    uint64_t sum;
    int64_t box[]; /* with components */
} rt_held;

/* The launches between two images, and the first of these. */
typedef struct rt_segment {
    size_t first;            /* line */
    bool fixed;              /* a call of the host's alone that does not run again */
    struct rt_state *states; /* the last copy first */
    rt_held *held;
    size_t bytes;
} rt_segment;

/* What the way back has taken so far, in ns, and for how many launches. */
typedef struct rt_way {
    int64_t began;
    int64_t run, record, adjoints;
    size_t ran, recorded;
    int64_t copy;  /* from the beginning of the tape: data to and from images */
    size_t copied; /* bytes */
} rt_way;

enum { RT_CALLS = 16 };

struct rt_budget {
    size_t bytes;         /* the budget */
    struct rt_file *file; /* NULL: none */
    bool over;            /* not all fits: launches are logged, and leave no entries */
    bool measures;        /* nor do images: launches run to the end of the tape for the least that suffices */
    size_t unkept, most;  /* since then: part of `used` without memory; the most that was to be kept at a time */
    size_t used;          /* of images, log and arguments; entries: rt_tape.bytes */
    size_t n;             /* lines */
    rt_nodes log;
    uint64_t *words; /* room for the arguments of a line, as integers */
    size_t nwords;
    const rt_call *calls[RT_CALLS]; /* of the log, those without arguments of a size: each stands there once */
    size_t ncalls;
    rt_segment *segment;
    size_t nsegments, cap;
    size_t stride;                   /* lines of a segment */
    rt_held *touched;                /* all that was overwritten, but for the boxes of `born` */
    size_t final_bytes;              /* of it */
    rt_held *read, *born;            /* all that was read; replaced by the first launch that touched it */
    rt_held *own;                    /* all that adjoints of the program's own store */
    size_t own_bytes;                /* of copies of it */
    bool back;                       /* the way back has begun: these lists are complete */
    size_t entry_bytes, image_bytes; /* at most, of an entry on average and of an image, so far */
    size_t largest, alone; /* at most, of an entry, and of a tape with one; one of several processes: of the entries
                              between two calls that all make */
    int64_t call_began;    /* the last call of the host's */
    size_t before, sized;  /* of entries when the last launch began; of those since, each alone */
    tk_tape_report report;
    rt_way way;
};

static inline size_t budget_used(const tk_session *s)
{
    return s->tape.budget->used + s->tape.bytes;
}

/* The bytes of the entry of a launch, as the only one of a tape. */
static inline void tk_rt_budget_sized(tk_session *s, size_t bytes)
{
    s->tape.budget->sized += bytes;
}

/* Bytes that stay until the tape is closed. */
static inline void tk_rt_tape_count(tk_session *s, size_t bytes)
{
    *(s->tape.budget ? &s->tape.budget->used : &s->tape.bytes) += bytes;
}

/* Bytes of the arguments of a launch on a tape. */
static inline size_t tk_rt_args_size(const tk_session *s, const tk_kernel *k)
{
    return s->forward.open ? k->jvp_args_size : k->args_size;
}

/* ---- log.c ---- */

/* A launch, with the number of its record and a copy of its arguments, in rt_tape.args. */
tk_status tk_rt_line_make(tk_module *m, const tk_kernel *k, const void *args, rt_logged *line);
/* The same, and one more line of the log. */
tk_status tk_rt_log_launch(tk_module *m, const tk_kernel *k, const void *args, rt_logged *line);
/* Or for a call. */
tk_status tk_rt_log_call(tk_session *s, const rt_logged *line);
/* A copy of a call that a line has; NULL: none of late. */
const rt_call *tk_rt_log_call_of(const tk_session *s, const rt_call *c);
/* The last line took the time since then. */
void tk_rt_log_spent(tk_session *s, int64_t began);
/* Line i. taken: so many bytes of rt_tape.args have its arguments. */
tk_status tk_rt_log_line(tk_session *s, size_t i, rt_logged *line, size_t *taken);

/* ---- entries.c ---- */

/* Room for one more entry; `what` and `name` are for the message. */
bool tk_rt_entry_reserve(tk_session *s, const char *what, const char *name);
/* Whether a tape has no entry for the kernel: it is without derivative by intent. */
bool tk_rt_leaves_no_entry(const tk_kernel *k);
/* A launch that leaves no entry, but for what it changed. line: NULL where it is not to run again. */
tk_status tk_rt_run_unrecorded(tk_module *m, const tk_kernel *k, const void *args, const rt_logged *line);
/* Runs a line without recording it. */
tk_status tk_rt_line_run(tk_session *s, const rt_logged *line);
/* Runs and records it; of a call that does not run again the entry alone. */
tk_status tk_rt_entry_record(tk_session *s, const rt_logged *line);
/* The adjoints of all entries, the last first. */
tk_status tk_rt_entries_back(tk_session *s);
void tk_rt_entries_free(tk_session *s);
/* They go while the tape stays open: its log has the launches. The same before a part of it is recorded. */
void tk_rt_entries_drop(tk_session *s);
void tk_rt_entries_restart(tk_session *s, size_t start);

/* ---- images.c ---- */

/* The kernel is about to write: copies of what the last image lacks. at: number of the line; RT_BESIDE: it is no line
 * but part of a call, or an adjoint of the program's own. False after failing the session, as all of these. */
#define RT_BESIDE SIZE_MAX
bool tk_rt_image_launch(tk_module *m, const tk_kernel *k, const void *args, size_t at);
/* The same for a function of the host, and for line number `at`. */
bool tk_rt_image_call(tk_session *s, const rt_call *c);
bool tk_rt_image_line(tk_session *s, const rt_logged *l, size_t at);
/* A kernel runs that is no line: inside a call, or as an adjoint of the program's own. */
bool tk_rt_image_beside(tk_module *m, const tk_kernel *k, const void *args);
void tk_rt_image_free(tk_session *s, rt_held **list);

/* ---- segments.c ---- */

/* A new segment from this line on. False after failing the session, as all of these. */
bool tk_rt_segment_push(tk_session *s, size_t first, bool fixed);
/* Bytes that its place takes. */
size_t tk_rt_segment_growth(const struct rt_budget *u);
/* The last segment goes. */
void tk_rt_segment_pop(tk_session *s);
/* Its data as they were at its beginning. */
void tk_rt_segment_restore(tk_session *s);
/* The last segment is at its end: sums of the data of its image. */
void tk_rt_segment_end(tk_session *s);
/* Its launches ran again, up to its end: what differs is an error. */
tk_status tk_rt_segment_check(tk_session *s, const rt_segment *g, size_t end);
/* Segment i + 1 becomes a part of segment i. */
void tk_rt_segment_join(tk_session *s, size_t i);
/* The last segment becomes a part of the one before, and is open again. False: a call is between them. */
bool tk_rt_segment_join_last(tk_session *s);
/* What the images held is known, and their memory is free. */
void tk_rt_segments_empty(tk_session *s);
/* Bytes beyond those of now that the restoring of images takes. */
size_t tk_rt_segments_load(const struct rt_budget *u);
/* The data of all that was overwritten, to rt_tape.final; their bytes. */
bool tk_rt_image_final(tk_session *s);
size_t tk_rt_image_final_bytes(tk_session *s);
/* Whether budget_used and `more` exceed the bytes. Before that, images but the last one go to the file. */
bool tk_rt_image_exceeds(tk_session *s, size_t more, size_t bytes);
void tk_rt_image_forget(tk_session *s, const tk_module *m);

/* ---- budget.c ---- */

/* Of an open tape, if its session has a budget; behind its last adjoint. */
tk_status tk_rt_budget_open(tk_session *s);
void tk_rt_budget_close(tk_session *s);
/* The kernel is about to be launched: what it overwrites is kept. */
tk_status tk_rt_budget_launch(tk_module *m, const tk_kernel *k, const void *args);
/* Before a call of the host's, which is a segment unless it may run again. */
tk_status tk_rt_budget_call(tk_session *s, const rt_call *c);
/* Whether a line may write the loss. */
bool tk_rt_budget_writes(const tk_session *s, const tk_field *loss);
/* A module is about to go; whether a line uses it. */
bool tk_rt_budget_forget(const tk_module *m);
void tk_rt_budget_count(tk_session *s);
/* All launches have run: the session fails if it has not enough memory for them. */
tk_status tk_rt_budget_check(tk_session *s);
/* All launches have run: copies of the last data. The session fails if the budget does not suffice for the way back. */
tk_status tk_rt_budget_settle(tk_session *s);
tk_status tk_rt_budget_refuse(tk_session *s);

/* ---- replay.c ---- */

tk_status tk_rt_budget_back(tk_session *s);

#endif
