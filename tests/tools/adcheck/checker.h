/* Inside tools/adcheck: the kernel that is checked, and the state that its derivatives are taken of. */
#ifndef ADCHECK_CHECKER_H
#define ADCHECK_CHECKER_H

#include "adcheck.h"

enum { MAX_ARGS = 4096, MAX_RESULT = 32 };

typedef struct state {
    double *at;
    int64_t n;
} state;

/* Everything that is not in the state, so that each run starts alike: duals as well, which kernels without a JVP may change. */
typedef struct backup {
    void **at, **dual;
} backup;

/* An array of the host among the kernel's parameters; of structs, one for each member. */
typedef struct host_array {
    const tk_array_desc *desc;
    const tk_field_desc *type;
    int64_t n;                   /* components */
    bool active;                 /* of floats: a part of the state */
    bool single;                 /* of f32 */
    size_t stride;               /* bytes from an element to the next */
    void *base[4];               /* what the kernel is given */
    unsigned char *plane[4];     /* where its own numbers begin there; NULL: it has none */
} host_array;

typedef struct checker {
    tk_module *m;
    const tk_kernel *k;
    backup b;
    state x;                     /* the fields' state, then the real parameters and the result, then the arrays of floats */
    int64_t nfield;              /* components that belong to fields */
    const adcheck_param *params;
    int nparams;
    host_array *arrays;          /* as many as the kernel has */
    double result[4][MAX_RESULT]; /* the memory of a result that may be a struct */
    bool table;
    bool algorithm;              /* data may lie at kinks */
    long telling;                /* of the compared: those that are neither zero nor passed through */
    const state *passed;         /* the direction */
    bool *f32;                   /* which components are f32 */
    bool *single;                /* the same; NULL: the kernel does not touch any */
    int failures;
    long compared, skipped;      /* components against differences */
    long taped, reported;        /* tapes with a gradient, and with a report */
    int inputs, zero;            /* fields read and not written; those without any gradient in all rounds */
    bool *nonzero;
    state planes;                /* what a kernel without adjoint finds in gradients, and one without JVP in duals: it may read them */
} checker;

/* Memory of a kernel's arguments, as doubles for the alignment. */
typedef union arguments {
    unsigned char at[MAX_ARGS];
    double align;
} arguments;

/* ---- state.c ---- */

/* What ad_uniform goes on from. */
void ad_reseed(uint64_t to);
/* In [0, 1). */
double ad_uniform(void);
/* n times size bytes, zeroed. */
void *ad_new(size_t n, size_t size);
bool ad_is_float(const tk_field *f);
bool ad_in_state(const tk_field *f);
/* What the kernel does to the data of a field. */
unsigned ad_touches(const tk_kernel *k, int field);
int64_t ad_components(const tk_field *f);
size_t ad_scalar_size(const tk_field_desc *f);
size_t ad_scalar_bytes(const tk_field *f);
/* By its number in the field; members of structs stand apart. */
void *ad_component(const tk_field *f, tk_plane plane, int64_t j);
double ad_number(const void *at, bool single);
void ad_set_number(void *at, bool single, double value);
/* A plane of all fields of the state: to s, or from there. */
void ad_copy(tk_module *m, tk_plane plane, state *s, bool to_state);
/* How much of it belongs to fields. */
int64_t ad_state_size(const tk_module *m);
/* Of a member of structs: from its first place to the end of all. */
size_t ad_bytes(const tk_field *f);
backup ad_save(const tk_module *m);
void ad_restore(tk_module *m, const backup *b);
void ad_drop(const tk_module *m, backup *b);
/* Zeros. */
state ad_make(int64_t n);
state ad_random_state(int64_t n, double lo, double hi);
double ad_dot(const state *a, const state *b);
double ad_norm(const state *a);

/* ---- arguments.c ---- */

/* Components that are f32 get few digits; which they are. */
bool *ad_singles(checker *c, state *x, state *d, state *w);
/* Components of the state behind those of fields. */
int64_t ad_tail_size(const checker *c);
/* Without data: those come with each set that is checked. */
checker ad_checker(tk_module *m, const tk_kernel *k);
/* The result and the arrays from the state, before a launch: what goes in of a plane. An `out` array is whatever the host had there. */
void ad_set_tail(checker *c, tk_plane plane, const state *s);
/* What came out, after a launch; zero for the rest, parameters among it. */
void ad_take_tail(checker *c, tk_plane plane, state *s);
/* A parameter's components, where it stands among arguments. */
void ad_put_numbers(unsigned char *to, const adcheck_param *p, const double *from);
/* The parameters of x and, for a JVP, the tangents of d (NULL: none). */
arguments ad_fill_arguments(checker *c, const state *x, const state *d);
/* What the adjoint gave for the parameters; with `second`, the second-order product. */
void ad_take_gradients(checker *c, const arguments *out, bool second, state *g);
/* The direction without what has a tangent and no gradient; or seeds without what has no seed. */
state ad_only_with_gradient(const checker *c, const state *d, bool seeds);

/* ---- launches.c ---- */

/* For tk_session_options.on_print. */
void ad_count_print(void *user, const char *text);
/* Ends the program unless s is TK_OK. */
void ad_need(checker *c, tk_status s);
/* The state that a launch from x + h d leaves. */
state ad_primal_at(checker *c, const state *d, double h);
/* J^T w at x + h d; leaves nothing behind. */
state ad_gradient_at(checker *c, const state *d, double h, const state *w);
state ad_jvp(checker *c, const state *d);
/* H d; and g, which the product gives along. */
state ad_second_order(checker *c, const state *d, const state *w, state *g);
state ad_second_product(checker *c, const state *d, const state *w);

/* ---- derivatives.c ---- */

/* What is known of differences. */
typedef struct doubt doubt;

/* Of comparisons that are equal to rounding: with f32 among the fields, to its rounding. */
double ad_rounding(const checker *c, double of_f64);
/* Components of which `doubt` (NULL: none) says that `want` is not known are skipped, and those where small steps tell for `got`: a chaotic map that
 * enters by a small factor looks constant from afar. */
void ad_compare(checker *c, const char *what, const state *got, const state *want, const doubt *doubt, double tolerance);
void ad_compare_numbers(checker *c, const char *what, double a, double b, double scale);
/* The JVP against differences, reverse against forward. threads: that are compared with one; 0: several numbers of them. */
void ad_check_first(checker *c, const state *d, const state *w, int threads);
void ad_check_second(checker *c, const state *d, const state *w);

/* ---- ties.c ---- */

/* Multiples of the round's step and their neighbours. */
state ad_state_at_ties(const checker *c, const state *like, int round, double lo, double hi);
/* Directions and seeds, which f32 holds exactly where it must. */
state ad_random_direction(const checker *c);
/* That all forms of the kernel decide alike. */
void ad_check_at_ties(checker *c, const state *d, const state *w, int threads);
/* Each field gets memory of the host between guard zones, but members of structs. */
void ad_bind_guarded(tk_module *m);
/* That nothing was written beside fields and arrays. */
void ad_check_guards(checker *c);

/* ---- tapes.c ---- */

/* Whether a tape takes launches of k, and its adjoint no arguments. */
bool ad_fits_on_tape(const tk_kernel *k);
/* Of a program that may break the rule inside one launch. */
bool ad_is_reported(checker *c, const state *w);
/* On a tape a write over what an adjoint needs is reported, or the gradient is right; and nothing is reported without cause. validate: TK_TAPE_VALIDATE or 0. */
void ad_check_tape(checker *c, const tk_kernel *then, const state *w, unsigned validate);

/* ---- algorithm.c ---- */

/* Every kernel with a derivative, on two sets of random data and on each lattice. Gives the failures. */
int ad_check_algorithm(tk_module *m, int threads);

#endif
