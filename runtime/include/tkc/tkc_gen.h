/* The interface of generated C, not for host programs: its contents change with TK_INTERFACE. */
#ifndef TK_GEN_INCLUDED
#define TK_GEN_INCLUDED

#include <assert.h>
#include <math.h>
#include <string.h>

#include "tkc.h"

/* Generated code is C11 and C++17. TK_INDICES(i, j): indices as an argument of a call. */
#ifdef __cplusplus
#define restrict __restrict__
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
struct tk_indices {
    int64_t at[9];
};
#define TK_INDICES(...) (tk_indices{{__VA_ARGS__}}.at)
#else
#define TK_INDICES(...) ((const int64_t[]){__VA_ARGS__})
#endif

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* True if this file was compiled without the parts of -ffast-math that reorder sums or turn quotients into products.
 * clang has no macro for them. */
static inline bool tk_compiled_exactly(void)
{
    volatile double one = 1.0, big = 1e16, three = 3.0;
    const double x = one, y = big;
    return (x + y) - y != x && three / 10.0 == 0.3;
}

/* The number of planes, and the number of planes that the host may bind, which come first. */
enum {
#define TK_PLANE_(...) +1
    TK_PLANE_COUNT = TK_PLANES(TK_PLANE_),
#undef TK_PLANE_
#define TK_PLANE_(id, name, text, words, derived, attribute, flag, bound, note) +(bound)
    TK_PLANES_BOUND = TK_PLANES(TK_PLANE_)
#undef TK_PLANE_
};

/* ---- descriptors: static const data in the generated file ---- */

enum {
#define TK_PLANE_(id, name, text, words, derived, attribute, flag, ...) TK_FIELD_##id = flag,
    TK_PLANES(TK_PLANE_)
#undef TK_PLANE_
        TK_FIELD_SAVED = 8,
    TK_FIELD_STRIDED = 16,
    TK_FIELD_SOA = 32,
    TK_FIELD_SCRATCH = 64,   /* zero when a launch begins; unspecified after a launch or adjoint */
    TK_FIELD_DISTINCT = 128, /* launches that rely on it check that its elements are different numbers */
    TK_FIELD_TANGENTS = 256  /* its data are another field's "x.dual" or "x.grad", in several directions */
};

typedef struct tk_field_desc {
    const char *name;
    tk_scalar elem;
    int ncomp; /* components of an element */
    int ndim;
    unsigned flags;
} tk_field_desc;

/* A field that is a member of an array of structs. `lead` is the field of the first member: it has the memory and the
 * extents of all. */
typedef struct tk_member {
    int field, lead;
    size_t offset, size; /* in the struct, and of it */
} tk_member;

/* Filled by a launch for its adjoint; empty for most kernels. Owned by tape or module. A launch gets
 * tk_kernel.record_size zeroed bytes. */
typedef struct tk_record {
    void *data;
    size_t size;
    struct rt_state *before;      /* saved fields as the launch found them; NULL: nothing is kept */
    struct rt_decisions *decided; /* --debug: the decisions of the launch; NULL: nothing kept */
    struct rt_blocks *olds;       /* old values of atomics, by number of the atomic; NULL: none */
    int nolds;
    uint64_t launch; /* number of the launch, counting launches that have a record, from 1; 0: none yet */
    uint64_t key;    /* of its random numbers */
} tk_record;

/* args: the kernel's argument struct. out: gradient struct of a _grad or _hvp, else NULL. */
typedef tk_status (*tk_kernel_fn)(tk_module *m, const void *args, void *out, tk_record *rec);

/* A part of a field that a launch accesses: a plane, an interval for each subscript, and an interval of components.
 * These bits extend the bits of tkc.h. TK_READS: the launch reads data from before it. */
enum {
    TK_NEEDED_BY_PRODUCT = 16, /* by the second-order product only, which runs in forward scopes */
    TK_ALL = 32,               /* to every component, always; without it, to a subset */
    TK_PERHAPS = 64,           /* the adjoint that needs it may store it before */
    TK_CUSTOM = 128,           /* a derivative of the program needs it: --debug records no reads of it in the launch */
    TK_SAVED = 256,            /* of a saved field, one part: the launch, or an adjoint of the program, overwrites it */
    TK_BEFORE_WANTED = 512,    /* the adjoint needs the data from before the launch */
    TK_BEFORE_REPLAYED = 1024, /* the adjoint overwrites them itself */
    TK_MARKED = 2048,  /* on a tape a launch marks the data that its adjoint needs, and checks for own overwrites */
    TK_REPLACES = 4096 /* it accumulates, but its stores replace all data from before it, and it reads none of them */
};
/* With --debug, of a single access: */
enum {
    TK_MAY_RACE = 32, /* iterations of a parallel loop may meet here */
    TK_DERIVED = 64,  /* in an adjoint or a JVP: checked for NaN and infinity only */
    TK_GOES_ON = 1024 /* before an access that adds to the present value, or compares with it */
};
typedef struct tk_part {
    int field;
    tk_plane plane;
    unsigned what;
} tk_part;

/* An array of the host among a kernel's arguments, as a member of its argument struct. A NULL gradient or dual is zero,
 * or not wanted. */
typedef struct tk_array {
    void *plane[TK_PLANE_COUNT]; /* by tk_plane */
} tk_array;
enum { TK_ARRAY_IN = 1, TK_ARRAY_OUT = 2, TK_ARRAY_COPIED = 4 /* an adjoint works on a copy of the gradient */ };
typedef enum tk_extent_kind {
    TK_EXTENT_ARGUMENT, /* an int64_t in the argument struct */
    TK_EXTENT_PARAM,    /* an integer in the module object */
    TK_EXTENT_CONSTANT
} tk_extent_kind;
typedef struct tk_array_extent {
    tk_extent_kind kind;
    tk_scalar type; /* of a param */
    size_t at;
    int64_t count; /* of a constant */
} tk_array_extent;
typedef struct tk_array_desc {
    int field; /* its field during a launch: one of the fields behind the module's own */
    unsigned what;
    size_t at; /* of its tk_array in the argument struct */
    tk_array_extent extents[8];
} tk_array_desc;

/* A by-value parameter of a kernel, or a member of a struct parameter. */
typedef struct tk_parameter {
    const char *name; /* "dt", "body.mass" */
    tk_scalar type;
    int ncomp;
    size_t at; /* in the argument struct */
} tk_parameter;

struct tk_kernel {
    const char *name;
    int index;
    size_t args_size;     /* of the primal's argument struct; 0 if none */
    size_t jvp_args_size; /* of the JVP's, which begins with the primal's: in a forward scope the rest (the tangents) is
                             zero */
    tk_kernel_fn run, grad, jvp, hvp; /* NULL: not generated */
    const char *no_grad, *no_jvp; /* the reason; no_grad beside grad: why tapes refuse it; both NULL: derivative zero
                                     by intent */
    const tk_part *parts;         /* its footprint */
    int ncompared; /* the first parts: tapes compare them from launch to launch. A kernel of the module may write them,
                      and an adjoint needs them. Saved fields and arrays are not among them */
    int nparts;
    /* Before a launch: the first and last value of each subscript and of the components, part by part. `bounds`: of the
     * compared parts; `beside`: of the others. NULL: there are none. */
    void (*bounds)(tk_module *m, const void *args, int64_t *ends),
        (*beside)(tk_module *m, const void *args, int64_t *ends);
    int nbounds, nends;             /* how many of the first, of both */
    bool bounds_read, beside_reads; /* they read fields, so later calls may give other values */
    bool saves, marks;              /* a part is of the data of a saved field; a part is TK_MARKED */
    size_t record_size;
    const tk_parameter *parameters; /* arrays of the host and their extents are not among them */
    int nparameters;
    const tk_array_desc *arrays;
    int narrays;
    bool result;                  /* has a result of floats: not on a tape, nor in a forward scope */
    bool grad_args;               /* has needs_grad parameters: not on a tape */
    const struct tk_kernel *back; /* its adjoint, if it is a kernel of the program with the same arguments; else NULL */
    bool draws;                   /* random numbers */
    bool records;                 /* for its adjoint: old values of atomics, winners of minima and maxima */
};

/* --debug: an access in the source. */
typedef struct tk_site {
    const char *file;
    int line, col;
    int field;
    tk_plane plane;
    unsigned what;
} tk_site;

typedef struct tk_place {
    const char *file;
    unsigned line, col;
} tk_place;

typedef struct tk_module_desc {
    const char *name;
    int interface; /* TK_INTERFACE of the compiler */
    uint64_t hash; /* of names, types and shapes of the module's interface */
    const tk_field_desc *fields;
    int nfields;
    int narrays;              /* arrays of kernels: fields behind the others, with memory only during a launch */
    const tk_member *members; /* in the order of fields */
    int nmembers;
    const tk_kernel *kernels;
    int nkernels;
    const tk_site *sites; /* with --debug, else NULL */
    int nsites;
    const tk_place *decisions; /* the same: decisions */
    int ndecisions;
} tk_module_desc;

struct tk_field {
    const tk_field_desc *desc;
    tk_module *module;
    const tk_member *member; /* NULL: it has memory of its own */

    void *plane[TK_PLANE_COUNT]; /* indexed by tk_plane; NULL where not declared */

    int64_t shape[8];
    /* bytes from an element to the next, by tk_plane and dimension: row-major but where a strided field was bound */
    int64_t stride[TK_PLANE_COUNT][8];

    int64_t count;             /* elements */
    bool live_on_tape;         /* saved: an adjoint of the open tape reads the data as they are now */
    bool bound;                /* memory belongs to the host */
    void *distinct;            /* declared distinct: the data of the last successful check, dense; NULL: unchecked */
    unsigned char *marks;      /* during a launch on a tape that marks needed data: by component; else NULL */
    struct rt_needs *needs[2]; /* open tape: which data, which duals adjoints need; NULL: none yet */
    struct rt_read
        *read_marks[TK_PLANE_COUNT]; /* validated tape: needed reads, by component; NULL until there is one */
    struct rt_left *left; /* validated tape: values that launches left or read, by component; NULL until there is one */
    struct rt_touch *touched[TK_PLANE_COUNT]; /* --debug: the accesses of a component; NULL until needed */

    /* memory of the library: one block for all planes that may be bound, one block for each other plane; NULL if none
     */
    void *own[1 + TK_PLANE_COUNT - TK_PLANES_BOUND];
};

/* ---- creation ---- */

/* extents: all fields' extents one after the other, in field order. On success m->fields is ready and zeroed. On
 * failure everything is undone, with a message in tk_error; the caller still owns m. */
tk_status tk_module_init(tk_module *m, tk_session *s, const tk_module_desc *desc, const int64_t *extents,
                         uint64_t header_hash, int header_interface);
/* Frees a module's parts. False, with a failure of the session, inside a running kernel and in a program of
 * tk_gradcheck or a Jacobian: modules stay then. */
bool tk_module_done(tk_module *m);
/* Changes the parameters of a module, `size` bytes at `own`, for launches that follow; or fails the session. */
tk_status tk_module_set_params(tk_module *m, void *own, const void *params, size_t size);
/* calloc/free of the module struct itself through the session's (or default) allocator; s may be NULL. The memory
 * stores its allocator, so freeing is right after the end of the session. NULL on failure, with a message in tk_error.
 */
void *tk_module_alloc(tk_session *s, size_t size);
void tk_module_free(tk_session *s, void *m, size_t size);
/* Replaces a field's memory by the host's: tk_field_bytes for each plane, aligned for the component type, NULL for
 * exactly the planes that were not declared. The field's own memory is freed. The host's memory must outlive the module
 * or the next bind.
 *
 * TK_BAD_ARGUMENT: overlap with memory of any field in the session, if one of the two is written (gradients and duals
 * always are). TK_BAD_STATE: under an open tape or scope, or inside a kernel. */
tk_status tk_field_bind(tk_field *f, void *data, void *grad, void *dual);
/* The same for a strided field, for any alignment. given, strides: by tk_plane, data to dual; NULL strides of a plane:
 * row-major. */
tk_status tk_field_bind_strided(tk_field *f, void *const *given, const int64_t *const *strides);
/* The same for the array of structs with the member f. A plane that no member has is NULL. */
tk_status tk_field_bind_structs(tk_field *f, void *data, void *grad, void *dual);
/* For the views: the array of structs of a member, or the first element of a component (TK_FIELD_SOA). NULL without the
 * plane. */
void *tk_field_structs(const tk_field *f, tk_plane plane);
void *tk_field_component(const tk_field *f, tk_plane plane, int component);
/* For libraries such as libtkc-mpi. Copies n elements (NULL: the first n) to or from dense memory, all components of an
 * element after each other, for any layout and strides. The last one adds floats. */
void tk_field_pack(const tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *to);
void tk_field_unpack(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, const void *from);
void tk_field_unpack_add(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, const void *from);
/* Allocates the grad-dual plane of fields with gradient, once, for _hvp. tk_launch_hvp calls it. */
tk_status tk_module_need_grad_dual(tk_module *m);

/* ---- launches ---- */

/* The four launches. tk_launch runs the kernel; under a tape it is recorded, in a forward scope its JVP runs. Without
 * the derivative that a tape or scope needs: TK_NO_DERIVATIVE. m NULL: TK_BAD_ARGUMENT (message in tk_error). After a
 * failure they do nothing and return its status. Inside a running kernel: TK_BAD_STATE. */
tk_status tk_launch(tk_module *m, const tk_kernel *k, const void *args);
/* Directly called derivatives have no derivatives: TK_NO_DERIVATIVE under a tape, and for _grad in a forward scope. */
tk_status tk_launch_grad(tk_module *m, const tk_kernel *k, const void *args, void *out);
/* args: the JVP's argument struct: the primal's struct as its first member, then the tangents. */
tk_status tk_launch_jvp(tk_module *m, const tk_kernel *k, const void *args);
tk_status tk_launch_hvp(tk_module *m, const tk_kernel *k, const void *args, void *out);
#ifdef __MINGW32__ /* here "printf" means the formats of Microsoft's library */
#define TK_FORMAT(at, first) __attribute__((format(gnu_printf, at, first)))
#else
#define TK_FORMAT(at, first) __attribute__((format(printf, at, first)))
#endif
/* Records a failure in the session (the first failure stays), or in this thread for NULL, and returns it. Safe from
 * tasks. */
TK_FORMAT(3, 4) tk_status tk_fail(tk_session *s, tk_status status, const char *fmt, ...);
/* True once a task of the running launch failed. */
bool tk_failed(const tk_session *s);
/* A line of print(...), from any task. */
void tk_print(tk_session *s, const char *text);

/* ---- sparse matrices ---- */

/* A plane of a field. Of an array of a computed matrix, `clear` has the runs that zero it before each launch. Others
 * store its elements before they read or add. */
typedef struct tk_storage {
    int field;
    tk_plane plane;
    unsigned clear;
} tk_storage;
enum { TK_CLEAR_SETS = 1, TK_CLEAR_TANGENTS = 2 };

/* A kernel whose iterations are elements. Each has `width` places: vertices, INT64_MIN for none. A vertex is `block`
 * components of a field: number v of field by[i] is v * nby + i. A Jacobian has the rows of field `to`, whose number
 * precedes the vertices. The energy of a Hessian is `to`. Of a computed matrix, an element is a block: its row and its
 * column. */
typedef struct tk_elements {
    const char *name;
    const int *by;
    int nby, block, to, width;
    bool hessian, replays; /* replays: launches leave data of fields unspecified; the kernel runs behind the last one */
    tk_scalar elem;        /* of the values */
    /* Of a computed matrix, else NULL: planes that depend on the columns, planes of rows last; planes that the kernel
     * writes. */
    const tk_storage *active, *written;
    int nactive, nwritten;
} tk_elements;

/* A sweep. Each launch evaluates elements from number `from` on, as many as there is room for. It stores number k of an
 * element at stage[k][element - from], a row of `room`, and the energy at energies[element - from]. It yields how many
 * elements the kernel has, and the first that it did not evaluate. */
typedef struct tk_sparse_run {
    tk_module *m;
    const tk_elements *k;
    tk_sparse *p;
    void *given, *values; /* of the host, and where elements are added */
    void *stage, *energies;
    int64_t from, room, numbers; /* numbers: of an element */
    int64_t elements, to;        /* yields */
    int64_t *places, nplaces;    /* --debug: the places of now */
    double sums[8], energy;
    bool goes_on; /* launch again */
} tk_sparse_run;

/* Allocates the places of so many elements. TK_BAD_ARGUMENT: m or pattern is NULL, or *pattern has another shape or
 * layout; TK_NO_MEMORY. */
tk_status tk_sparse_begin(tk_module *m, const tk_elements *k, int64_t elements, const tk_sparse_options *opt,
                          tk_sparse **pattern, int64_t **places);
/* Frees the places, and creates *pattern from them or replaces the elements of the kernel in it. Returns `ran` if it is
 * a failure. TK_BAD_STATE: an element is outside of its field. TK_BAD_ARGUMENT: too many entries for 32 bits.
 * TK_NO_MEMORY. After the last two, the pattern has to be made again. */
tk_status tk_sparse_end(tk_module *m, const tk_elements *k, tk_status ran, int64_t *places, int64_t elements,
                        const tk_sparse_options *opt, tk_sparse **pattern);
/* Begins a sweep. TK_BAD_ARGUMENT: m, p or values is NULL, or there are fewer than tk_sparse_values of them;
 * TK_BAD_STATE: p is not a pattern of the kernel. tk_sparse_close follows in any case. */
tk_status tk_sparse_open(tk_module *m, const tk_elements *k, tk_sparse *p, void *values, size_t n, tk_sparse_run *run);
/* --debug: allocates run->places; compares them with the pattern. TK_BAD_STATE: they differ. TK_NO_MEMORY. */
tk_status tk_sparse_places(tk_sparse_run *run);
tk_status tk_sparse_compare(const tk_sparse_run *run);
/* Adds the elements of a launch to the values, and prepares the next launch. TK_BAD_STATE: the kernel has another
 * number of elements than the pattern; TK_NO_MEMORY. */
tk_status tk_sparse_add(tk_sparse_run *run);
/* Ends a sweep, after a failure too. Returns `ran`, or a failure of its own. */
tk_status tk_sparse_close(tk_sparse_run *run, tk_status ran);

/* Launches for a computed matrix. Each gets the active planes as arrays: sets of 64 columns, a bit each (int64_t), or
 * tangents. */
typedef struct tk_coloured {
    const int64_t *sizes; /* of the arrays */
    void *const *memory;
    bool goes_on; /* launch again */
    struct rt_coloured *own;
} tk_coloured;

/* Begins the pattern, launches with sets. Errors as tk_sparse_begin. tk_sets_close follows in any case. */
tk_status tk_sets_open(tk_module *m, const tk_elements *k, const tk_sparse_options *opt, tk_sparse **pattern,
                       tk_coloured *run);
/* Takes the sets of a launch, and prepares the next launch. TK_NO_MEMORY. */
tk_status tk_sets_next(tk_coloured *run);
/* Errors as tk_sparse_end. */
tk_status tk_sets_close(tk_coloured *run, tk_status ran, const tk_sparse_options *opt, tk_sparse **pattern);
/* --debug: the same, compared with a pattern. Without one nothing is launched. TK_BAD_STATE: they differ. */
tk_status tk_sets_reopen(tk_module *m, const tk_elements *k, tk_sparse *p, tk_coloured *run);
tk_status tk_sets_compare(tk_coloured *run, tk_status ran);
/* Begins the launches with tangents, one for each colour of columns. Errors as tk_sparse_open. */
tk_status tk_products_open(tk_module *m, const tk_elements *k, tk_sparse *p, void *values, size_t n, tk_coloured *run);
/* Adds the tangents of a launch to the values, and prepares the next launch. */
tk_status tk_products_next(tk_coloured *run);
tk_status tk_products_close(tk_coloured *run, tk_status ran);

static inline uint64_t tk_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline uint64_t tk_bits_f32(float x)
{
    return tk_bits_f64((double)x);
}

/* Checks that all elements of a distinct field are different numbers. Else fails the session, with the two equal
 * elements; or TK_NO_MEMORY. */
tk_status tk_check_distinct(tk_module *m, int field);

/* ---- checks of --debug: kernels of a module with sites run on one thread, and report each access after it happened
 * ---- */

/* component: number of the component in the whole field. */
void tk_watch(const tk_module *m, int site, int64_t component);
/* Reports the decision `bits` at `place`, in the iteration of the parallel loop with these n indices. */
void tk_watch_decision(const tk_module *m, int place, uint64_t bits, const int64_t *indices, int n);
/* An iteration of a parallel loop begins. */
void tk_watch_iteration(const tk_module *m);
/* At this place an adjoint takes a derivative that does not exist. */
void tk_watch_derivative(const tk_module *m, const char *place);

/* ---- data that a launch on a tape overwrites, and its own adjoint needs ---- */

/* Marks the component as needed by the adjoint from here on. */
static inline void tk_need(const tk_module *m, int field, int64_t component)
{
    unsigned char *const marks = m->fields[field].marks;
    if (marks)
        __atomic_store_n(&marks[component], 1, __ATOMIC_RELAXED);
}

/* True if the numbers differ; all NaNs are equal. */
static inline bool tk_differ_f64(double x, double y)
{
    return x != y && (x == x || y == y);
}
static inline bool tk_differ_i64(int64_t x, int64_t y)
{
    return x != y;
}

/* Fails the session: the write at `place` changes a component that the adjoint needs since the read at `read`. */
void tk_overwrites(const tk_module *m, int field, int64_t component, const char *place, const char *read);

static inline void tk_keep(const tk_module *m, int field, int64_t component, bool changes, const char *place,
                           const char *read)
{
    const unsigned char *const marks = m->fields[field].marks;
    if (marks && changes && __atomic_load_n(&marks[component], __ATOMIC_RELAXED))
        tk_overwrites(m, field, component, place, read);
}

/* ---- parallel loops ---- */

/* n iterations (INT64_MAX: too many) in chunks of `chunk`. The chunks depend on n, unit and cost, never on threads. So
 * reductions give the same bits for any number of threads. */
enum { TK_MAX_CHUNKS = 256 };
typedef struct tk_plan {
    int64_t n, chunk, nchunks; /* chunk > 0; nchunks <= TK_MAX_CHUNKS */
    int64_t cost;              /* rough cycles of an iteration */
} tk_plan;
/* unit: chunks are multiples of it (a row's length, or 1). cost: rough cycles of an iteration. n <= 0 gives no chunks.
 */
tk_plan tk_plan_make(int64_t n, int64_t unit, int64_t cost);
/* The same for a space whose rows should stay whole: chunks are multiples of a row if there are enough rows. */
tk_plan tk_plan_rows(int64_t n, int64_t row, int64_t cost);
/* The unit of a loop whose iterations run `lanes` at a time: `lanes`, or less if threads would have no work. */
static inline int64_t tk_strip(int64_t n, int64_t lanes)
{
    enum { STRIPS = 16 };
    const int64_t share = n / STRIPS;
    return share >= lanes ? lanes : share > 1 ? share : 1;
}
/* Calls fn once for each chunk, in parallel if that is faster. */
tk_status tk_run(tk_session *s, const tk_plan *p, tk_task_fn fn, const void *args);

/* A task among several that run interleaved, slab by slab of their first dimension. */
typedef struct tk_stage {
    tk_task_fn fn;
    const void *args;
    int64_t slabs, slab; /* extent of the first dimension; iterations of one slab */
    int64_t around;      /* of a stage before the last, whose slabs are numbered around the end */
} tk_stage;
/* Runs stages interleaved. Slab k of the last stage runs after the slabs of each earlier stage up to k + (slabs - slabs
 * of the last) + around. The last `around` slabs run at the very end. Earlier stages are independent of each other. As
 * in a plan, the slabs of a call depend on extents and cost alone. cost: rough cycles of one iteration of all stages.
 */
tk_status tk_run_stages(tk_session *s, const tk_stage *stages, int nstages, int64_t cost);

/* The body of a task that scatters. It is inlined twice, with plain and with atomic additions, so neither tests at each
 * addition. */
#ifdef __GNUC__
#define TK_BODY static inline __attribute__((always_inline))
#else
#define TK_BODY static inline
#endif

/* The target of a scatter: the plane of a field, or an array of the kernel. args holds at `offset` a pointer to it,
 * which private copies replace. With `fixed` leading subscripts the task adds only to elements [at[0], ..., at[fixed -
 * 1], ...], and a private copy has only these. */
typedef struct tk_scatter_target {
    size_t offset;
    const tk_field *field; /* NULL: an array */
    tk_plane plane;
    bool shared; /* the task also loads or stores it, or it is strided: no private copies, only atomics (serial:
                    deterministic session, not aligned) */
    int fixed;
    int64_t at[8];
    int64_t count; /* of an array: its elements, and their type */
    tk_scalar elem;
    int64_t adds; /* additions of an iteration to it, roughly; 0: unknown */
} tk_scatter_target;
/* Runs a task that scatters. Every accumulation into a target plane must use its pointer in args. args is copied, not
 * changed. One thread adds to the fields plainly. Several threads use private copies (plain) if they are small against
 * the work, else `atomic` if that is faster than one thread. A deterministic session uses private copies in a number
 * that depends on the plan alone, else one thread. */
tk_status tk_run_scatter(tk_session *s, const tk_plan *p, tk_task_fn plain, tk_task_fn atomic, const void *args,
                         size_t args_size, const tk_scatter_target *targets, int ntargets);
/* Scratch memory of a launch (partial results), aligned to 64: freed when the launch ends, or by tk_scratch_reset.
 * bytes may be 0. NULL after failing the session. From kernel level only, never from tasks. */
void *tk_scratch(tk_session *s, size_t bytes);

/* Old values of an atomic of the running launch: the turn-th block of count * size zeroed bytes; NULL after failing the
 * session. From kernel level only. */
void *tk_record_alloc(tk_session *s, tk_record *rec, int which, int64_t turn, int64_t count, size_t size);
/* The same block in the adjoint. */
void *tk_record_get(tk_session *s, const tk_record *rec, int which, int64_t turn);

/* Values one after the other: parts, each twice as large as the one before, that never move. Empty if zeroed. */
typedef struct tk_log {
    struct rt_part *first;
    int64_t n;
} tk_log;

/* A block of logs: structs of one. */
void *tk_record_logs(tk_session *s, tk_record *rec, int which, int64_t turn, int64_t count, size_t size);
/* Returns memory for value n. NULL after failing the session. size: of a value, always the same. */
void *tk_log_add(tk_session *s, tk_log *log, int64_t n, size_t size);
/* Value n; a missing value is zero, and fails the session. */
const void *tk_log_get(tk_session *s, const tk_log *log, int64_t n, size_t size);

/* ---- winners of minima and maxima ---- */

/* Of an element, in the record: the iteration that set it, counted from 1, and the number of its execution in that
 * iteration. 0: it has its previous value. */
typedef struct tk_winner {
    int64_t at, step;
} tk_winner;

/* Takes the element: returns the iteration that has set it so far. Until the element is given back, no other iteration
 * may set it. */
int64_t tk_winner_take(tk_winner *w);
static inline void tk_winner_give(tk_winner *w, int64_t at)
{
    __atomic_store_n(&w->at, at, __ATOMIC_RELEASE);
}

static inline bool tk_won(const tk_winner *w, int64_t at, int64_t step)
{
    return w->at == at && w->step == step;
}

/* Number of iterations. INT64_MAX stands for all larger numbers: a loop of so many iterations is refused when it
 * begins. */
static inline int64_t tk_extent(int64_t lo, int64_t hi)
{
    const uint64_t n = hi > lo ? (uint64_t)hi - (uint64_t)lo : 0;
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}
static inline int64_t tk_extents(int64_t a, int64_t b)
{
    return b == 0 || a <= INT64_MAX / b ? a * b : INT64_MAX;
}

/* ---- the saved-value stack of reverse mode ---- */

typedef struct tk_segment tk_segment;
typedef struct tk_stack {
    unsigned char *mem; /* of the current segment */
    size_t top, cap;
    tk_segment *segment; /* NULL: none yet */
    tk_segment *spare;   /* kept for the next growth; NULL if none */
    tk_session *session;
    struct tk_stack *next;
} tk_stack;
typedef struct tk_mark {
    tk_segment *segment;
    size_t top;
} tk_mark;

/* A stack from the session's pool; NULL after failing the session. */
tk_stack *tk_stack_acquire(tk_session *s);
void tk_stack_release(tk_stack *st);
void *tk_stack_grow(tk_stack *st, size_t bytes); /* slow path of tk_stack_alloc */
void tk_stack_unwind(tk_stack *st, tk_mark m);   /* slow path of tk_stack_reset */

static inline tk_mark tk_stack_mark(const tk_stack *st)
{
    const tk_mark m = {st->segment, st->top};
    return m;
}

/* Frees what was allocated since the mark. */
static inline void tk_stack_reset(tk_stack *st, tk_mark m)
{
    if (st->segment == m.segment)
        st->top = m.top;
    else
        tk_stack_unwind(st, m);
}

/* Scratch memory inside a launch's loop. */
tk_mark tk_scratch_mark(const tk_session *s);
void tk_scratch_reset(tk_session *s, tk_mark m);

/* count * size bytes aligned to 16, valid until the stack is reset below; count <= 0 gives a valid pointer. NULL after
 * failing the session. Never moves. */
static inline void *tk_stack_alloc(tk_stack *st, int64_t count, size_t size)
{
    if (count < 1)
        count = 1;
    if ((uint64_t)count > (SIZE_MAX / 4) / size)
        return tk_stack_grow(st, SIZE_MAX); /* fails */
    const size_t bytes = ((size_t)count * size + 15u) & ~(size_t)15u;
    if (st->cap - st->top < bytes)
        return tk_stack_grow(st, bytes);
    void *p = st->mem + st->top;
    st->top += bytes;
    return p;
}

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#include "tkc_math.h"

/* Sets *p to v if v is less (more). Of several iterations with an equal v the lowest wins; an equal *p stays, and a NaN
 * never wins. The winner's tangent becomes *dual, unless that is NULL.
 *
 * A loser hardly ever waits: *p only falls (grows), so a value that has lost once has lost for good. The element is
 * stored with release, after w is taken: a thread that reads the new value does not read an older winner.
 *
 * tk_win_at_: of a strided field, at any address; atomic only if p is aligned. */
#define TK_WIN_(T, t, op, before) \
    static inline void tk_win_at_##op##_##t(void *p, T v, void *dual, T tangent, tk_winner *w, int64_t at, \
                                            int64_t step, bool atomic) \
    { \
        T now; \
        int64_t held; \
        if (!atomic) { \
            now = tk_load_##t(p); \
            held = w->at; \
        } else { \
            __atomic_load((T *)p, &now, __ATOMIC_ACQUIRE); \
            held = __atomic_load_n(&w->at, __ATOMIC_RELAXED); \
            if (!(v before now) && (v != now || (held >= 0 && held <= at))) \
                return; \
            held = tk_winner_take(w); \
            __atomic_load((T *)p, &now, __ATOMIC_RELAXED); \
        } \
        if (v before now || (v == now && at < held)) { \
            if (dual) \
                tk_store_##t(dual, tangent); \
            w->step = step; \
            held = at; \
            if (atomic) \
                __atomic_store((T *)p, &v, __ATOMIC_RELEASE); \
            else \
                tk_store_##t(p, v); \
        } \
        if (atomic) \
            tk_winner_give(w, held); \
        else \
            w->at = held; \
    } \
    static inline void tk_win_##op##_##t(T *p, T v, T *dual, T tangent, tk_winner *w, int64_t at, int64_t step, \
                                         bool atomic) \
    { \
        tk_win_at_##op##_##t(p, v, dual, tangent, w, at, step, atomic); \
    }
TK_WIN_(float, f32, min, <)
TK_WIN_(float, f32, max, >)
TK_WIN_(double, f64, min, <)
TK_WIN_(double, f64, max, >)
#undef TK_WIN_

#endif
