/* The command line. */
#ifndef TKC_OPTIONS_H
#define TKC_OPTIONS_H

#include <stdbool.h>

#include "ir/ir.h"
#include "util/diag.h"
#include "util/scalar.h"
#include "util/vec.h"

/* Exit statuses. */
enum { TKC_OK = 0, TKC_ERRORS = 1, TKC_USAGE = 2 };

typedef enum output_kind {
    OUTPUT_C,
    OUTPUT_OBJECT,
    OUTPUT_SHARED,
    OUTPUT_PYTHON,
    OUTPUT_TOKENS,
    OUTPUT_AST,
    OUTPUT_PLAN, /* of the adjoints */
    OUTPUT_IR,
    OUTPUT_C_TEXT,
    OUTPUT_EXPLAIN, /* --explain-adjoint alone */
    OUTPUT_WORDS,   /* --explain */
    OUTPUT_FORMAT,
    OUTPUT_SERVER,
    OUTPUT_PASSES
} output_kind;

typedef struct options {
    const char *input;
    const char *output;     /* -o, or NULL */
    const char *header;     /* --header, or NULL */
    const char *prefix;     /* --prefix, or NULL */
    const char *depfile;    /* -MF, or NULL */
    const char *cc;         /* --cc, or NULL */
    const char *dump_after; /* a pass's name, "all" or NULL */
    output_kind kind;
    unsigned frameworks; /* --python=torch,jax: PYTHON_TORCH, PYTHON_JAX */
    ir_where lanes, checkpoints;
    int64_t checkpoint_bytes;
    bool write_deps, explain, in_place, debug, line_directives, werror, shadow, no_runtime, casadi, embed, finite;
    bool through_text;
    scalar real;
    diag_format diagnostics;
    VEC(const char *) include_dirs;
    VEC(const char *) defines;    /* NAME=VALUE */
    VEC(const char *) run_passes; /* --run-pass: the input is IR */
    VEC(const char *) strings;    /* arguments to free */
    void *parser;                 /* owns the input's name */
    const char **words;           /* what it reads */
} options;

/* Fills o. Returns -1 when there is something to compile, else the exit status: after --help, --version, --list-passes,
 * or a usage error. */
int options_parse(options *o, int argc, const char **argv);
void options_free(options *o);

/* True for modes that make a shared library. */
static inline bool output_links(output_kind k)
{
    return k == OUTPUT_SHARED || k == OUTPUT_PYTHON;
}

/* True for modes that print text instead of writing a module. */
static inline bool output_is_text(output_kind k)
{
    return k != OUTPUT_C && k != OUTPUT_OBJECT && k != OUTPUT_SHARED && k != OUTPUT_PYTHON;
}

#endif
