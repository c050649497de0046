/* The library of all benchmarks: sides that take turns, medians and ratios of their times, data of fixed seeds, the
 * comparison of results, and the program that prints a table of cases. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <tkc/tkc.h>

enum { BENCH_SIDES = 4, BENCH_NUMBERS = 4, BENCH_RUNS = 256 };

typedef void bench_run(void *data);

/* ---- times ---- */

/* One of several ways to do the same work. */
typedef struct bench_side {
    bench_run *run;
    void *data;
    bench_run *prepare; /* before each turn, and not counted; may be NULL */
} bench_side;

typedef struct bench_watch {
    clockid_t clock;
    int runs;    /* at most BENCH_RUNS */
    double turn; /* seconds of a turn at least, by repetitions; 0: one repetition */
} bench_watch;

/* Seconds of a repetition, in each run. */
typedef struct bench_times {
    int runs;
    double of[BENCH_SIDES][BENCH_RUNS];
} bench_times;

double bench_now(clockid_t clock);
/* The sides take turns in each run, so a machine whose speed drifts is equally unfair to all. */
void bench_measure(const bench_watch *w, const bench_side *side, int sides, bench_times *t);
double bench_median(const bench_times *t, int side);
/* The median of the ratios, each of which is of one run. */
double bench_ratio(const bench_times *t, int side, int to);

/* ---- the data of a case ---- */

/* Options of the next session: one thread, unless they are changed. */
extern tk_session_options bench_options;
tk_session *bench_session(void);
/* The first failure of the session; NULL: none. */
const char *bench_failure(void);
/* Frees the session, the memory and the objects of the case. bench_options has its defaults then. */
void bench_release(void);

/* Zeros, aligned to a cache line. The program ends where there is no memory. */
void *bench_zeros(int64_t bytes);
void *bench_floats(int64_t n);
void *bench_doubles(int64_t n);
/* Zeros for one side's gradient, beside arguments and results; bench_worked has the sums, in bytes. */
typedef enum bench_keeper { BENCH_OURS, BENCH_HAND } bench_keeper;
double *bench_work(bench_keeper keeper, int64_t n);
void *bench_workspace(size_t bytes); /* for ours */
extern int64_t bench_worked[2];

/* Hands an object over to bench_release, which calls `destroy`. Returns it, also NULL. */
void *bench_keep(void *object, bench_run *destroy);
/* Defines new_NAME: it creates the module NAME in the case's session, until bench_release. NULL: tk_error says why. */
#define BENCH_MODULE(name) \
    static void destroy_##name(void *m) \
    { \
        name##_destroy(m); \
    } \
    static name *new_##name(const name##_params *p) \
    { \
        return bench_keep(name##_create(bench_session(), p), destroy_##name); \
    }

/* Defines a side that calls a function of the module `m` in the file's type data. */
#define BENCH_CALL(side, function) \
    static void side(void *p) \
    { \
        function(((data *)p)->m); \
    }

/* Random numbers, the same on every machine: 64 bits, in (0, 1), in [0, 1), normally distributed. */
uint64_t bench_bits(uint64_t *state);
double bench_uniform(uint64_t *state);
float bench_random(uint64_t *state);
double bench_normal(uint64_t *state);
void bench_fill(double *to, int64_t n, double (*draw)(uint64_t *), uint64_t *state);

/* Largest |a - b| relative to the largest |b|, of floats or doubles; infinite where a number is not finite. */
#define bench_difference(a, b, n) bench_difference_of(1 ? (a) : (b), b, n, sizeof *(a))
double bench_difference_of(const void *a, const void *b, int64_t n, size_t size);

/* ---- a table of cases ---- */

typedef struct bench_size {
    const char *name; /* NULL ends the list */
    int64_t n[BENCH_NUMBERS];
} bench_size;

/* Some work at several sizes. Its sides leave their data ready for the next call. */
typedef struct bench_case {
    const char *name;
    const char *how, *hand;            /* the form of the .tk source, and the algorithm beside it; may be NULL */
    const bench_size *sizes;           /* the first is tiny, for --check */
    void *(*create)(const int64_t *n); /* NULL: tk_error says why */
    bench_run *run[BENCH_SIDES];       /* the sides; NULL ends the list */
    double (*difference)(void *);      /* of results, after one call of each side; NULL: nothing to compare */
    bench_run *prepare;                /* before each turn of a side, and not counted; may be NULL */
} bench_case;

#define BENCH_CASE(NAME, HOW, HAND, SIZES, CREATE, DIFFERENCE, ...) \
    { \
        .name = NAME, .how = HOW, .hand = HAND, .sizes = SIZES, .create = CREATE, .run = {__VA_ARGS__}, \
        .difference = DIFFERENCE \
    }

/* A case at one size. */
typedef struct bench_row {
    const bench_case *of;
    const bench_size *size;
    void *data;
    int busy; /* other processes that compute all the time */
    double difference;
    bench_times times;
} bench_row;

typedef struct bench_suite {
    const char *about; /* stands in front of compiler and processor */
    const char *head;  /* titles of the table, and the line below them */
    bench_watch watch;
    double allowed;                                /* greatest difference */
    int threads;                                   /* of sessions; 0: rows with one thread and rows with all */
    int busy;                                      /* rows with 0 to so many busy processes */
    const bench_case *const *cases;                /* lists that end with a case without a name; at last NULL */
    void (*print)(const bench_row *r);             /* a row */
    int (*sides)(const bench_row *, bench_side *); /* writes the sides, returns their number; NULL: the case's */
    const char *memory_head;                       /* of --memory; NULL: there is none */
    bool (*memory)(const bench_case *c, const bench_size *size);
} bench_suite;

/* Runs the cases and prints the table, by the arguments of the program. Returns the status of the program. */
int bench_main(const bench_suite *b, int argc, char **argv);
/* Prints name, size, form and algorithm. */
void bench_print_name(FILE *to, const bench_case *c, const bench_size *size);

#endif
