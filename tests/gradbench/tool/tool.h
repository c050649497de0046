/* What the evaluations give to the program that speaks GradBench's protocol, and what it gives to them. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <tkc/tkc.h>

/* One function of a module of the benchmark. */
typedef struct tool_function {
    const char *name;
    void *(*prepare)(const json_t *input); /* NULL behind tool_refuse */
    void (*run)(void *);                   /* what is timed */
    json_t *(*output)(void *);
} tool_function;

typedef struct tool_module {
    const char *name;
    const tool_function *functions; /* the last one has no name */
} tool_module;

/* Defines the functions of a module whose outer and inner gradients have two modes each: their names say the mode of
 * the outer one, then of the inner one, r for reverse and f for forward. */
#define TOOL_MODES(prepare, run, output) \
    static void run_rr(void *p) \
    { \
        run(p, false, false); \
    } \
    static void run_rf(void *p) \
    { \
        run(p, false, true); \
    } \
    static void run_fr(void *p) \
    { \
        run(p, true, false); \
    } \
    static void run_ff(void *p) \
    { \
        run(p, true, true); \
    } \
    static const tool_function functions[] = {{"rr", prepare, run_rr, output}, \
                                              {"rf", prepare, run_rf, output}, \
                                              {"fr", prepare, run_fr, output}, \
                                              {"ff", prepare, run_ff, output}, \
                                              {0}};

extern const tool_module tool_hello, tool_gmm, tool_ba, tool_lstm, tool_ht, tool_kmeans, tool_lse, tool_llsq, tool_ode,
    tool_det, tool_particle, tool_saddle;

/* Says why something cannot be done, for the answer. False. */
bool tool_refuse(const char *format, ...);

/* How many elements the list input[key] has, and how many numbers are in it and in the lists in it; -1 behind
 * tool_refuse. */
int64_t tool_length(const json_t *input, const char *key);
int64_t tool_count(const json_t *input, const char *key);
/* The numbers of input[key], a number or a list of lists to any depth, in their order; false if they are not `count`.
 */
bool tool_numbers(const json_t *input, const char *key, int64_t count, double *to);
bool tool_integers(const json_t *input, const char *key, int64_t count, int *to);
/* input[key], which lies between the two. */
bool tool_integer(const json_t *input, const char *key, int least, int most, int *to);

/* NULL behind tool_refuse, where a number is not finite. */
json_t *tool_value(double number);
json_t *tool_list(const double *numbers, int64_t count);
json_t *tool_rows(const double *numbers, int64_t rows, int64_t columns);

#endif
