/* The runtime, inside. Functions that several of its files use begin with tk_rt_: in libtkc.a they stand among the
 * host's own. */
#ifndef TK_RT_H
#define TK_RT_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "tkc/tkc_gen.h"

/* Number of private copies in a deterministic session, whatever its threads. */
enum { RT_FIXED_SLOTS = 8, RT_MAX_THREADS = 1024 };

/* Loops of which a session knows what they took, a power of two; pieces that a loop is dealt out in. */
enum { RT_PACES = 128, RT_MAX_PIECES = 65535 };

/* Tests make loops small, and want all the threads that they ask for. */
#ifdef TK_MIN_CHUNK
enum { RT_ALL_THREADS = true };
#else
enum { RT_ALL_THREADS = false };
#endif

struct rt_kept;
struct rt_state;
struct rt_piece;

enum { RT_WRITES = TK_STORES | TK_ACCUMULATES };

/* What a launch of the kernel does to the data of a field, all parts together. */
static inline unsigned tk_rt_touches(const tk_kernel *k, int field)
{
    unsigned what = 0;
    for (int i = 0; i < k->nparts; i++)
        what |= k->parts[i].field == field && k->parts[i].plane == TK_DATA ? k->parts[i].what : 0;
    return what;
}

/* A call of the host's: its functions, and what they do to data. */
typedef struct rt_call {
    tk_triple triple;
    const tk_footprint *footprint;
    int nlines;        /* RT_ANYTHING: there is no footprint */
    size_t again_size; /* of arguments that stand twice, so that forward finds them again; second: as they were */
} rt_call;
enum { RT_ANYTHING = -1 };

typedef struct rt_entry {
    tk_module *module;
    const tk_kernel *kernel;
    const void *args;           /* in rt_tape.args, NULL if none */
    const struct rt_call *call; /* a call of the host's: no module, no kernel. In rt_tape.args */
    const struct rt_version *params;
    uint64_t seed, draws, first, last; /* of such a call: seed, draws and launches before it; launches after */
    struct rt_state *changes; /* data that it changed and earlier adjoints may need, the last change first; also of
                                 launches inside such a call */
    uint64_t arrays;          /* validated: hash of the arrays of the host that it reads */
    tk_record record;
} rt_entry;

typedef struct rt_tape {
    bool open, validate;
    bool sum;                /* gradients from before it was opened are set aside, */
    struct rt_state *before; /* in this state; fields with zero gradients are missing */
    bool continues;          /* they are those of its final state */
    tk_field *loss;
    tk_status failed;  /* a failure since opening that tk_session_clear_error has forgotten */
    rt_entry *entries; /* kept from tape to tape, as are the segments of args */
    size_t count, cap;
    bool replaying;         /* the adjoints are running */
    struct rt_state *final; /* meanwhile: the saved fields as they were when it was closed */
    uint64_t first, last,
        resumed; /* meanwhile: those of the call whose backward runs, and tk_session.launches when that began */
    bool doomed; /* a module that it uses went while a function of the host ran: closed when that is back */
    tk_stack args;
    size_t bytes;
    size_t at;                 /* replaying: number of the entry whose adjoint runs, from 0 */
    struct rt_state *scratch;  /* data that it changed, if it is the program's own */
    bool undone;               /* changes are, on the way back */
    int64_t *ends;             /* of the parts that the running launch touches */
    int nends;                 /* room */
    bool all;                  /* all parts of launches count: it has a call of the host's */
    struct rt_kept *call_kept; /* what the running function of a triple may write of what adjoints need */
    size_t listed;             /* how many entries' needs are */
    size_t start;              /* number of the first entry among the launches of the tape; 0 without a budget */
    struct rt_budget *budget;  /* NULL: none */
    struct rt_changed *changed, *of_program; /* params.h */
    const struct rt_version *versions, *params, *in_force;
} rt_tape;

/* What is watched during a launch; watch.c. */
typedef struct rt_watch {
    const tk_kernel *kernel;
    const char *derivative; /* "adjoint of ", "JVP of " or "" */
    bool serial;            /* the kernel tells its accesses, and libtkc is not made for several threads telling */
    bool writes,
        reads; /* of a launch on a validated tape: are writes held against needed reads, are its own reads needed */
    tk_record *record; /* of a launch on a tape, if it tells its decisions */
    bool replays;      /* its adjoint runs */
    bool finite;       /* stop at what is not finite */
    uint32_t stretch;  /* of the tape: how many functions of tk_call have ended so far */
    uint64_t iteration, first,
        count; /* of the running parallel loop: this and its first one, 0 outside; of all so far */
} rt_watch;

/* The function of the host that is held against its footprint; said.c. */
typedef struct rt_said {
    const rt_call *call; /* NULL: none is */
    bool back, poisons;
    struct rt_state *expected; /* data as they are if the footprint is right */
    struct rt_state *found;    /* floats as backward found them; NULL: they are not NaN */
} rt_said;

/* Pieces that are named for a state; states.c. */
typedef struct rt_wants {
    struct rt_piece *piece;
    int n, cap;
    bool failed; /* one of them did not find memory */
} rt_wants;

typedef struct rt_forward {
    bool open;
    tk_field *param;
    bool is_output;   /* param is one: its dual is a result */
    tk_status failed; /* as in rt_tape */
} rt_forward;

/* One of several processes that run the same program; agree.c. */
typedef struct rt_agree {
    tk_agree_fn fn; /* NULL: alone */
    void *user;
    int rank, ranks;
    bool over;      /* they have agreed that one has failed */
    uint64_t calls; /* of functions of the host before which they agreed */
} rt_agree;

/* What loops of one task and size took; pace.c. Zeroed: none so far. */
enum { RT_ALONE, RT_HALF, RT_ALL, RT_WAYS };
typedef struct rt_pace {
    tk_task_fn task;
    int size, most;       /* the power of two above its work; workers that there could be */
    int best, way, tried; /* what took least, this loop's way, and the last that was not the best one */
    double ns[RT_WAYS];   /* for a cycle of work, of late; 0: not known */
    double patience;
    double credit; /* ns that the best way has gained since it is that */
    int64_t asked; /* when it ran last */
    int64_t due;   /* when another way is tried; 0: there was no loop yet */
} rt_pace;

/* A stack of the pool. The session knows all of them, so that what a failed task did not give back is found when the
 * launch ends. */
typedef struct rt_pooled {
    tk_stack stack; /* first: generated code has a pointer to it */
    tk_mark bottom;
    bool in_use;
    struct rt_pooled *all_next;
} rt_pooled;

struct tk_session {
    tk_session_options opt;
    int threads;
    _Atomic(const void *) inside; /* the thread that is in a call, NULL: none */
    int depth;                    /* of that thread's calls in each other */
    int refs;                     /* the creator's and one of each module */
    bool released;                /* the creator has given its own up */
    tk_module *modules;
    uint64_t draws;    /* launches that drew random numbers, since the seed was set */
    uint64_t launches; /* launches with a record, ever */

    size_t tape_budget;     /* bytes, of the next tape; 0: none */
    tk_tape_report report;  /* of the last tape */
    struct rt_files *files; /* of it; NULL: none */
    uint64_t epoch;         /* how often data have jumped to another time of a tape under a budget */
    bool again;             /* a launch runs again */

    bool (*stop)(void *user); /* NULL: none */
    void *stop_user;
    int64_t next_poll;   /* ns */
    atomic_bool printed; /* since the launch began; only where there is `stop` */

    /* A failure: whoever sets `claimed` writes the message and then publishes the status. */
    atomic_bool claimed;
    atomic_int status;
    char message[512];

    bool running;     /* a kernel is */
    bool in_call;     /* a function of a triple is: tape and scope leave launches alone */
    bool in_program;  /* a gradient check or Jacobian is: modules neither come nor go */
    bool in_parallel; /* a parallel loop is: loops inside it are serial */
    rt_tape tape;
    rt_forward forward;
    rt_watch watch;
    rt_said said;
    rt_wants wants;
    rt_agree agree;
    rt_pace pace[RT_PACES];
    tk_stack scratch;
    rt_pooled *stacks; /* all */
    tk_stack *idle;    /* those not in use */

    atomic_size_t held, most_held; /* bytes of tk_rt_alloc, now and at most since a launch began */
    struct rt_profile *profile;    /* NULL: never asked for */

    pthread_mutex_t memory_lock; /* serialises the allocator hook */
    pthread_mutex_t stack_lock;  /* stacks, idle */
    pthread_mutex_t print_lock;
};

/* ---- error.c ---- */

/* Fails this thread (tk_error) where there is no session to hold the message; returns status. */
TK_FORMAT(2, 3) tk_status tk_rt_thread_fail(tk_status status, const char *fmt, ...);
void tk_rt_thread_clear(void);

/* ---- profile.c ---- */

/* Around a run of a kernel's function. 0: nothing is recorded. */
int64_t tk_rt_profile_enter(tk_session *s);
void tk_rt_profile_leave(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, int64_t began);
/* For a new session, and one that ends. */
void tk_rt_profile_begin(tk_session *s);
void tk_rt_profile_end(tk_session *s);

/* ---- memory.c ---- */

/* A block aligned to 64 bytes that remembers its allocator; hook NULL: malloc. NULL when out of memory. */
void *tk_rt_block_alloc(tk_alloc_fn hook, void *user, size_t bytes, bool zero);
void tk_rt_block_free(void *p);
/* The same through the session's allocator, one call at a time. */
void *tk_rt_alloc(tk_session *s, size_t bytes, bool zero);
void tk_rt_free(tk_session *s, void *p);
/* The same for a profile, which does not show in what it measures. */
void *tk_rt_uncounted_alloc(tk_session *s, size_t bytes, bool zero);
void tk_rt_uncounted_free(tk_session *s, void *p);

/* ---- session.c ---- */

extern _Thread_local char tk_rt_this_thread; /* its address is the thread's */
void tk_rt_session_free(tk_session *s);
/* Fails the session for both threads. */
void tk_rt_refuse(tk_session *s, const char *what);

/* All that changes a session stands between these two, on one thread at a time: false, and nothing to leave, where
 * another one is inside. Nothing of the session is freed before the outermost call ends. Each launch runs them: they
 * are inline. */
static inline bool tk_rt_try_enter(tk_session *s)
{
    const void *none = NULL;
    if (atomic_load_explicit(&s->inside, memory_order_relaxed) != &tk_rt_this_thread &&
        !atomic_compare_exchange_strong(&s->inside, &none, &tk_rt_this_thread))
        return false;
    s->depth++;
    return true;
}

/* Calls the function that stops launches, if its time has come or it is urgent. */
void tk_rt_poll(tk_session *s, bool urgent);

/* In front of a chunk, in any thread; that of the launch polls the host. False: the session has failed. */
static inline bool tk_rt_goes_on(tk_session *s)
{
    if (s->stop && atomic_load_explicit(&s->inside, memory_order_relaxed) == &tk_rt_this_thread)
        tk_rt_poll(s, false);
    return !tk_failed(s);
}

static inline void tk_rt_leave(tk_session *const *entered)
{
    tk_session *s = *entered;
    if (!s || --s->depth > 0)
        return;
    const bool last = s->refs == 0;
    atomic_store_explicit(&s->inside, NULL, memory_order_release);
    if (last)
        tk_rt_session_free(s);
}

/* tk_rt_try_enter, and fails the session where that is false. */
static inline tk_session *tk_rt_enter(tk_session *s, const char *what)
{
    if (tk_rt_try_enter(s))
        return s;
    tk_rt_refuse(s, what);
    return NULL;
}

/* To the end of the block, also where a C++ exception passes through; returns `failed` from the function. */
#define RT_ENTER(session, what, failed) \
    __attribute__((cleanup(tk_rt_leave))) tk_session *const entered = tk_rt_enter(session, what); \
    if (!entered) \
    return failed
/* While a function of the host's runs, its calls may come from any thread. */
typedef struct rt_pause {
    tk_session *session;
    int depth;
} rt_pause;
rt_pause tk_rt_pause(tk_session *s);
void tk_rt_resume(rt_pause *p);
#define RT_PAUSE(session) __attribute__((cleanup(tk_rt_resume), unused)) rt_pause paused = tk_rt_pause(session)

/* TK_BAD_STATE, with the name of what was asked for, inside a kernel. */
tk_status tk_rt_check_idle(tk_session *s, const char *what);
/* The same also inside a function of tk_call that an open tape or scope called. */
tk_status tk_rt_check_outside(tk_session *s, const char *what);
/* The same for what a new tape needs: no failure, no kernel, no tape. */
tk_status tk_rt_check_no_tape(tk_session *s, const char *what);
/* And a new scope: nothing open. */
tk_status tk_rt_check_closed(tk_session *s, const char *what);
void tk_rt_session_release(tk_session *s);

/* ---- agree.c ---- */

/* Returns the session's status, failed where another process has failed or is at another place. Meanwhile each of n
 * words, at most TK_AGREE_WORDS - 3, becomes the largest of all. A session alone, or one in which they have agreed on a
 * failure before, leaves them. */
tk_status tk_rt_agree(tk_session *s, const char *place, int64_t *words, int n);
int64_t tk_rt_agree_most(tk_session *s, const char *place, int64_t x);

/* ---- stack.c ---- */

void tk_rt_stack_free(tk_stack *st);  /* all segments */
void tk_rt_stack_clear(tk_stack *st); /* empties it, keeps one segment */
/* Returns every pooled stack that is in use. */
void tk_rt_stacks_reclaim(tk_session *s);
void tk_rt_stacks_free(tk_session *s);

/* ---- planes.c ---- */

/* The planes of the derivatives of the data, and of the tangents of adjoints. */
#define RT_IF_ADJOINT_(id, name, text, words, derived, ...) +((derived) == TK_OF_ADJOINT) * TK_##id
#define RT_IF_TANGENT_(id, name, text, words, derived, ...) +((derived) == TK_OF_TANGENT) * TK_##id
#define RT_IF_BOTH_(id, name, text, words, derived, ...) +((derived) == (TK_OF_ADJOINT | TK_OF_TANGENT)) * TK_##id
#define RT_ADJOINT ((tk_plane)(TK_PLANES(RT_IF_ADJOINT_)))
#define RT_TANGENT ((tk_plane)(TK_PLANES(RT_IF_TANGENT_)))
#define RT_ADJOINT_TANGENT ((tk_plane)(TK_PLANES(RT_IF_BOTH_)))

/* The columns of tkc_planes.h. */
typedef struct rt_plane {
    const char *text, *words, *attribute;
    unsigned derived, flag;
} rt_plane;
const rt_plane *tk_rt_plane(int plane);
/* The flag of the fields that may have it: its own, or that of the plane whose tangents it holds; 0: all. */
unsigned tk_rt_plane_needs(int plane);
/* The field in the place of a plane of f, in several directions as its data; NULL: the plane has none. */
tk_field *tk_rt_wide(const tk_field *f, int plane);
/* Directions of the tangents of f; 0: it has none. */
int64_t tk_rt_width(const tk_field *f);
/* Of component k of f, the number of the tangent in a direction among those of its tk_rt_wide. */
int64_t tk_rt_wide_number(const tk_field *f, int64_t k, int64_t direction);
/* Its data are tangents, or gradients, of another field. */
static inline bool tk_rt_has_tangents_of(const tk_field *f)
{
    return (f->desc->flags & TK_FIELD_TANGENTS) != 0;
}
static inline bool tk_rt_is_adjoint(int plane)
{
    return (tk_rt_plane(plane)->derived & TK_OF_ADJOINT) != 0;
}
static inline bool tk_rt_is_tangent(int plane)
{
    return (tk_rt_plane(plane)->derived & TK_OF_TANGENT) != 0;
}

/* ---- field.c ---- */

size_t tk_rt_scalar_bytes(tk_scalar t);
size_t tk_rt_scalars(const tk_field *f); /* components of all elements */
/* With the planes that are derived from it. */
void tk_rt_clear_module(tk_module *m, tk_plane plane);
void tk_rt_clear_session(tk_session *s, tk_plane plane);
void tk_rt_clear_plane(tk_field *f, tk_plane plane);
void tk_rt_clear_field(tk_field *f, tk_plane plane);
bool tk_rt_is_float(const tk_field *f);

/* ---- layout.c ---- */

/* Number of component c of an element in the whole field, as generated code counts them; and back. */
int64_t tk_rt_number(const tk_field *f, int64_t element, int64_t c);
int64_t tk_rt_element(const tk_field *f, int64_t component, int64_t *c);
/* Where a component stands; by that number. */
void *tk_rt_component(const tk_field *f, tk_plane plane, int64_t component);
/* Copies a plane to or from dense memory of tk_field_bytes. */
void tk_rt_plane_read(const tk_field *f, tk_plane plane, void *to);
void tk_rt_plane_write(const tk_field *f, tk_plane plane, const void *from);
void tk_rt_elements_clear(const tk_field *f, tk_plane plane, int64_t lo, int64_t hi);
/* The same of the first `element` bytes from each element on, where these are one field's or those of several members
 * of the same structs. */
void tk_rt_elements_read(const tk_field *f, tk_plane plane, size_t element, void *to);
void tk_rt_elements_write(const tk_field *f, tk_plane plane, size_t element, const void *from);
/* Whether the plane is one block without gaps; whether these bytes are. */
bool tk_rt_is_dense(const tk_field *f, tk_plane plane);
bool tk_rt_elements_dense(const tk_field *f, tk_plane plane, size_t element);
/* Whether the elements of another member of the same structs begin behind these bytes. */
bool tk_rt_elements_continue(const tk_field *f, size_t element, const tk_field *next, tk_plane plane);
/* And whether components stand in it by element: those of several elements in a row are one piece. */
bool tk_rt_is_row_major(const tk_field *f, tk_plane plane);
/* Whether each component stands where C may access it directly. */
bool tk_rt_is_aligned(const tk_field *f, tk_plane plane);

/* Its shape is set: counts elements, and sets the strides of all planes. False if its bytes cannot be counted. */
bool tk_rt_set_shape(tk_field *f);
/* The strides of the library's own memory, and of the host's if that was bound without any. */
void tk_rt_plain_strides(const tk_field *f, int64_t *stride);
size_t tk_rt_element_step(const tk_field *f); /* bytes from an element to the next there */
size_t tk_rt_alignment(const tk_field *f);    /* of the host's memory */
bool tk_rt_takes_strides(const tk_field *f);  /* may be bound with strides */

/* A memory is that of one field, the owner, or of the fields from the owner on that are members of one array of
 * structs. */
void tk_rt_set_members(tk_module *m); /* tells the fields, before all else */
bool tk_rt_shares_memory(const tk_field *f);
tk_field *tk_rt_owner(const tk_field *f);
int tk_rt_sharers(const tk_field *owner);              /* how many fields have its memory, at least 1 */
size_t tk_rt_memory_bytes(const tk_field *f);          /* of one plane */
void *tk_rt_placed(const tk_field *f, void *memory);   /* where the field begins there */
void *tk_rt_memory(const tk_field *f, tk_plane plane); /* and back */
int tk_rt_whole_name(const tk_field *f);               /* length of the memory's name in the field's: "p" of "p.pos" */

/* Which bytes a plane takes: blocks at multiples of strides. */
typedef struct rt_span {
    uintptr_t base;
    int64_t lo, hi;    /* bytes from base: all of it lies in [lo, hi); lo == hi: nothing */
    int64_t block;     /* bytes side by side: an element, with the dimensions that continue it */
    int64_t stride[8]; /* of the other dimensions */
    int64_t extent[8];
    int ndim;
} rt_span;
/* False if its size cannot be counted. */
bool tk_rt_span_of(const tk_field *f, void *base, const int64_t *stride, rt_span *l);
rt_span tk_rt_span_of_memory(const tk_field *f, void *memory);
/* Whether two elements share a byte, or cannot be seen not to. */
bool tk_rt_span_overlaps_itself(rt_span l);
bool tk_rt_spans_overlap(const rt_span *a, const rt_span *b);

/* ---- tape.c ---- */

/* Opens a tape on a field of any shape, whose gradient the caller sets before tk_rt_tape_play. */
tk_status tk_rt_tape_record(tk_field *output);
/* Closes the tape; runs the adjoints if st is TK_OK. loss_grad NULL: the gradient is set already. */
tk_status tk_rt_tape_play(tk_session *s, tk_status st, const double *loss_grad);
/* Runs and records a launch. */
tk_status tk_rt_tape_launch(tk_module *m, const tk_kernel *k, const void *args);
/* Around a launch inside a function of a triple, of kernel k, or of which it is the adjoint: an eye on what the tape
 * needs. */
tk_status tk_rt_tape_inside(tk_module *m, const tk_kernel *k, const void *args, bool jvp, struct rt_kept **kept);
/* The call of whose functions one runs under a tape, or NULL. */
const rt_call *tk_rt_tape_call(const tk_session *s);
tk_status tk_rt_tape_inside_end(tk_module *m, const tk_kernel *k, tk_status st, struct rt_kept **kept);
/* Records a call of the host's; *kept: the arguments to give it. */
tk_status tk_rt_tape_record_call(tk_session *s, const rt_call *c, const void *args, size_t size, void **kept);
/* After a function of the host's: closes a tape whose module went meanwhile. */
/* The function forward of the last entry has run. */
void tk_rt_tape_called(tk_session *s, const rt_entry *e);
void tk_rt_tape_end_call(tk_session *s);
void tk_rt_tape_close(tk_session *s);
void tk_rt_tape_free(tk_session *s);
/* A module is about to go: whatever is open on it is closed, as a failure. */
void tk_rt_tape_forget(tk_module *m);

/* ---- needs.c ---- */

/* Before a launch under a tape: *kept is a copy of what it is about to write of what earlier adjoints may need.
 * recorded: it is the last entry, and what its adjoint needs is noted. Fails the session; then *kept is NULL. */
tk_status tk_rt_needs_before(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded,
                             struct rt_kept **kept);
/* Who writes: a kernel, or a function of the host's. */
typedef struct rt_writer {
    const tk_module *module;
    const tk_kernel *kernel;
    const rt_call *call;
} rt_writer;
/* After it (st: how it went): what changed goes to the list of an entry, or fails the session. Frees the copy. */
tk_status tk_rt_needs_after(tk_session *s, rt_writer w, tk_status st, struct rt_kept **kept, struct rt_state **to);
void tk_rt_needs_drop(tk_session *s, struct rt_kept **kept);
void tk_rt_needs_forget(tk_session *s);
void tk_rt_needs_free(tk_session *s, tk_field *f);
/* A module is about to go: what is kept of its fields goes first. */
void tk_rt_kept_forget(tk_session *s, struct rt_kept **kept, const tk_module *m);

/* ---- saved.c ---- */

/* Before a launch: a copy of the saved fields that its adjoint, or (on a tape) that of an earlier launch, will want as
 * they are now; duals: with theirs. Fails the session. */
tk_status tk_rt_saved_keep(tk_module *m, const tk_kernel *k, const void *args, tk_record *rec, bool on_tape,
                           bool duals);
/* After a launch on a tape: whose data is needed from here on. */
void tk_rt_saved_launched(tk_module *m, const tk_kernel *k, const tk_record *rec);
void tk_rt_saved_begin(tk_session *s);
/* Pieces of tk_record.before: the adjoint is about to read them; the adjoint of the launch before it needs them. */
enum { RT_FOR_ADJOINT = 1, RT_FOR_EARLIER = 2 };
/* Takes all saved fields of the tape as they are now, into rt_tape.final. */
tk_status tk_rt_saved_keep_final(tk_session *s);
/* An adjoint called directly, by the record of the last launch; afterwards the data are what they were. */
tk_status tk_rt_saved_run(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args, void *out,
                          tk_record *rec);
/* True if the adjoint cannot do without a copy, and there is none; duals: the HVP, without theirs. */
bool tk_rt_saved_lacks(const tk_module *m, const tk_kernel *k, const tk_record *rec, bool duals);
bool tk_rt_saved_writes(const tk_kernel *k);
/* A launch inside a function of a triple, under a tape: fails the session if it overwrites a saved field that adjoints
 * need, and the triple's footprint does not say so. */
tk_status tk_rt_saved_check_call(tk_module *m, const tk_kernel *k);
void tk_rt_saved_free(tk_session *s, tk_record *rec);

/* ---- sum.c ---- */

bool tk_rt_plane_is_zero(const tk_field *f, tk_plane plane);

/* Sets all gradients aside, but for that of the loss; fails the session. The caller clears them. */
tk_status tk_rt_sum_begin(const tk_field *loss);
/* Adds them to those of the tape. */
void tk_rt_sum_add(tk_session *s);
/* Puts them back in place of those of the tape, if it has not come to tk_rt_sum_add. */
void tk_rt_sum_put_back(tk_session *s);

/* ---- run.c ---- */

/* Runs one function of a kernel; the session's failure is its own. */
tk_status tk_rt_run(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args, void *out, tk_record *rec);
/* Runs the primal, unrecorded: its record becomes the module's. */
tk_status tk_rt_run_primal(tk_module *m, const tk_kernel *k, const void *args);
/* Room for a launch's record; fails the session. */
tk_status tk_rt_record_alloc(tk_session *s, const tk_kernel *k, tk_record *rec);
/* A new launch: its number, and its random numbers, for a kernel with such a record. */
void tk_rt_record_number(tk_session *s, const tk_kernel *k, tk_record *rec);
void tk_rt_record_free(tk_session *s, tk_record *rec);

/* ---- records.c ---- */

size_t tk_rt_records_bytes(const tk_record *rec);
void tk_rt_records_free(tk_session *s, tk_record *rec);

/* ---- arrays.c ---- */

/* The kernel's arrays become fields for a run of fn; checked. Unbinding is right after a failure, too. */
tk_status tk_rt_arrays_bind(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args);
void tk_rt_arrays_unbind(tk_module *m, const tk_kernel *k);
/* Fails the session if the kernel writes floats to an array; where: "a tape". */
tk_status tk_rt_arrays_refuse_results(tk_module *m, const tk_kernel *k, const char *where);
uint64_t tk_rt_arrays_hash(const tk_module *m, const tk_kernel *k, const void *args);
/* bind.c: whether written memory of the running kernel overlaps other memory that it uses; back, along: of an adjoint,
 * of a JVP. */
tk_status tk_rt_arrays_check(tk_module *m, const tk_kernel *k, bool back, bool along);

/* ---- marks.c ---- */

/* Around a run of fn: of a launch on a tape, memory for what the kernel marks. Ending is right after a failure, too. */
tk_status tk_rt_marks_begin(tk_module *m, const tk_kernel *k, tk_kernel_fn fn);
void tk_rt_marks_end(tk_module *m, const tk_kernel *k);

/* ---- call.c ---- */

/* The function backward of an entry; or forward of the last one, once more. */
tk_status tk_rt_call_replay(tk_session *s, rt_entry *e, bool back);
static inline bool tk_rt_call_runs_again(const rt_call *c)
{
    return (c->triple.flags & TK_CALL_AGAIN) != 0;
}
static inline bool tk_rt_call_is_together(const rt_call *c)
{
    return (c->triple.flags & TK_CALL_TOGETHER) != 0;
}
const char *tk_rt_call_name(const rt_call *c);

/* ---- footprint.c ---- */

tk_status tk_rt_footprint_check(tk_session *s, const rt_call *c);
/* Whether it has a line of such a kind on the field, or may have. */
bool tk_rt_footprint_has(const rt_call *c, const tk_field *f, unsigned what);
/* With its footprint, in rt_tape.args; NULL after failing the session. */
rt_call *tk_rt_call_copy(tk_session *s, const rt_call *c);
bool tk_rt_footprint_names(const rt_call *c, const tk_module *m);
/* Around a function of the call of entry e under a tape: what it may write of what adjoints need is copied, and
 * compared. */
tk_status tk_rt_call_before(tk_session *s, const rt_entry *e);
tk_status tk_rt_call_after(tk_session *s, rt_entry *e, tk_status st);
/* After forward: backward needs data from here on. */
tk_status tk_rt_call_needs(tk_session *s, const rt_entry *e);

/* ---- said.c ---- */

/* Around a function of a call with footprint; back: backward. Fails the session. */
void tk_rt_said_begin(tk_session *s, const rt_call *c, bool back);
void tk_rt_said_end(tk_session *s);
/* Before and after a launch inside of it. */
void tk_rt_said_launch(tk_session *s);
void tk_rt_said_launched(tk_session *s);
void tk_rt_said_forget(tk_session *s, const tk_module *m);

/* ---- snapshot.c ---- */

/* The data of all fields of a session, and which random numbers come next. Without data after failing the session.
 * Until it is freed, modules neither come nor go. */
typedef struct rt_snapshot {
    tk_session *session;
    struct rt_state *data; /* NULL: none */
    uint64_t seed, draws;
} rt_snapshot;
rt_snapshot tk_rt_snapshot_take(tk_session *s);
void tk_rt_snapshot_restore(const rt_snapshot *snapshot);
void tk_rt_snapshot_run(const rt_snapshot *snapshot, tk_program_fn run, void *user);
/* Runs also where a C++ exception passes through. */
void tk_rt_snapshot_free(rt_snapshot *snapshot);
#define RT_SNAPSHOT __attribute__((cleanup(tk_rt_snapshot_free))) rt_snapshot
double tk_rt_scalar_get(const tk_field *f, tk_plane plane, int64_t component);
void tk_rt_scalar_set(tk_field *f, tk_plane plane, int64_t component, double value);

/* ---- watch.c ---- */

/* "x[3, 4]", "p.grad[2] component 1" */
typedef struct rt_text {
    char s[160];
} rt_text;
rt_text tk_rt_element_text(const tk_field *f, tk_plane plane, int64_t component);
/* The tape has kept what was read there. */
void tk_rt_watch_kept(const tk_field *f, tk_plane plane, int64_t component);
void tk_rt_watch_begin(tk_session *s, const tk_module *m, const tk_kernel *k, tk_kernel_fn fn, tk_record *rec);
void tk_rt_watch_end(tk_session *s);
void tk_rt_watch_loop(tk_session *s, bool begins);
/* A launch on a validated tape needs code that can be watched. */
tk_status tk_rt_watch_check(tk_module *m, const tk_kernel *k);
/* Whether all data that adjoints need is still what it was. */
tk_status tk_rt_watch_compare(tk_session *s);
/* Forgets the needed reads. */
void tk_rt_watch_forget(tk_session *s);
void tk_rt_watch_free(tk_field *f);

/* ---- decisions.c ---- */

void tk_rt_decisions_free(tk_session *s, tk_record *rec);

/* ---- parallel.c ---- */

/* Work that is enough for more than one thread, in rough cycles; else 0. */
double tk_rt_work(const tk_session *s, const tk_plan *p);
typedef struct rt_loop {
    int64_t n;
    double work;     /* 0: too little for more than one thread */
    tk_task_fn task; /* of what loop it is */
    tk_task_fn fn;
    const void *args;
    const void *serial_args; /* args where this thread runs all of it, if these are others; else NULL */
} rt_loop;
/* fn(args, k, k + 1) for all k in [0, n), in parallel if there are threads. */
void tk_rt_for(tk_session *s, const rt_loop *l);
/* fn for each chunk; `always`: also after a failure. */
void tk_rt_run_chunks(tk_session *s, const tk_plan *p, double work, tk_task_fn fn, const void *args, bool always);
/* The same, where one thread does better with another function. */
void tk_rt_run_either(tk_session *s, const tk_plan *p, double work, tk_task_fn fn, tk_task_fn serial, const void *args);
tk_status tk_rt_too_many(tk_session *s); /* fails the launch */

/* ---- pool.c ---- */

/* Each session counts; threads that are there end with the last one. */
void tk_rt_pool_join(void);
void tk_rt_pool_leave(void);
/* How many processors this thread may use counts, too. */
void tk_rt_pool_look(void);
/* Whether this thread runs a piece of a loop, whosever. */
bool tk_rt_pool_inside(void);
/* Says whether it does: of a pool of the host's. Gives what was before. */
bool tk_rt_pool_enter(bool now);
int64_t tk_rt_now(void); /* ns */

/* How a loop went. Times in ns: when it began, workers were invited, the caller found no more pieces, all had ended. */
typedef struct rt_times {
    int64_t began, invited, solo_ns, ended;
    int helpers, own; /* workers invited; pieces that the caller ran */
    bool forked;      /* this is the child of a fork inside the loop: pieces are missing */
} rt_times;
/* fn(args, k, k + 1) for all k in [0, n), n <= RT_MAX_PIECES, on this thread and up to so many workers. If there is no
 * worker to be had (helpers 0), nothing runs. */
rt_times tk_rt_pool_run(int64_t n, int helpers, tk_task_fn fn, const void *args);

/* ---- pace.c ---- */

rt_pace *tk_rt_pace_of(tk_session *s, tk_task_fn task, double work, int most);
/* How many workers to ask for. */
int tk_rt_pace_ask(rt_pace *p, int64_t now);
/* What came of it. alone: what one thread would have taken, for all that is known; 0 if that is nothing. */
void tk_rt_pace_learn(rt_pace *p, double work, int64_t now, int64_t took, double solo);

/* ---- processors.c ---- */

/* That this process may use, by affinity and control group. */
int tk_rt_processors(void);
/* Whole processors that control groups grant: /proc/self/cgroup, /sys/fs/cgroup. INT_MAX: no bound. */
int tk_rt_quota(const char *groups, const char *root);
int tk_rt_all_threads(const tk_session_options *opt);

/* ---- floats.c ---- */

/* Of this thread; also with the session's, where enter returns what leave takes. */
unsigned tk_rt_float_mode(void);
void tk_rt_float_mode_set(unsigned mode);
unsigned tk_rt_float_mode_enter(const tk_session *s);
void tk_rt_float_mode_leave(const tk_session *s, unsigned saved);

#endif
