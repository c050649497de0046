/* Functions in the IR's text, both directions: the line that begins one, lines `.keyword ...` for what else is known of
 * it, its body. */
#include "ir/text/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const char *const kind_words[] = {[IR_FUNC] = "func",
                                         [IR_KERNEL] = "kernel",
                                         [IR_KERNEL_GRAD] = "kernel_grad",
                                         [IR_KERNEL_JVP] = "kernel_jvp",
                                         [IR_KERNEL_HVP] = "kernel_hvp",
                                         [IR_KERNEL_JAC] = "kernel_jac"};

enum { LEN_KINDS = 6 };

static const struct {
    const char *word;
    size_t at;
} flags[] = {
    {" extern", offsetof(ir_func, external)},
    {" no_inline", offsetof(ir_func, no_inline)},
    {" prelude", offsetof(ir_func, prelude)},
    {" draws", offsetof(ir_func, draws)},
    {" called", offsetof(ir_func, called)},
    {" no_grad", offsetof(ir_func, ad.no_grad)},
    {" explicit", offsetof(ir_func, ad.derive_explicit)},
    {" results_separate", offsetof(ir_func, ad.results_separate)},
    {" replays", offsetof(ir_func, ad.elements.replays)},
    {" classed", offsetof(ir_func, classed)},
};

/* Other functions that this one has. */
static const struct {
    const char *word;
    size_t at;
} links[] = {
    {"primal", offsetof(ir_func, ad.primal)},
    {"grad", offsetof(ir_func, ad.grad)},
    {"jvp", offsetof(ir_func, ad.jvp)},
    {"hvp", offsetof(ir_func, ad.hvp)},
    {"bent", offsetof(ir_func, ad.bent)},
    {"curved", offsetof(ir_func, ad.curved)},
    {"jac", offsetof(ir_func, ad.jac)},
    {"hess", offsetof(ir_func, ad.hess)},
    {"places", offsetof(ir_func, ad.elements.places)},
    {"sweep", offsetof(ir_func, ad.elements.sweep)},
    {"elements_of", offsetof(ir_func, ad.elements_of)},
    {"vjp", offsetof(ir_func, ad.vjp)},
    {"fn_jvp", offsetof(ir_func, ad.fn_jvp)},
    {"replay", offsetof(ir_func, ad.replay)},
    {"gradient", offsetof(ir_func, ad.gradient)},
    {"gradient_of", offsetof(ir_func, ad.gradient_of)},
    {"along", offsetof(ir_func, ad.along[0])},
    {"along_jvp", offsetof(ir_func, ad.along[1])},
    {"args_vjp", offsetof(ir_func, ad.args_vjp)},
    {"args_push", offsetof(ir_func, ad.args_jvp[0])},
    {"args_jvp", offsetof(ir_func, ad.args_jvp[1])},
    {"args_column", offsetof(ir_func, ad.args_jvp[2])},
    {"custom_grad", offsetof(ir_func, ad.custom_grad)},
    {"custom_jvp", offsetof(ir_func, ad.custom_jvp)},
    {"custom_of", offsetof(ir_func, ad.custom_of)},
    {"spectral", offsetof(ir_func, ad.spectral[0])},
    {"spectral_each", offsetof(ir_func, ad.spectral[1])},
    {"with_locals", offsetof(ir_func, ad.with_locals)},
    {"bounds", offsetof(ir_func, launch.bounds)},
    {"beside", offsetof(ir_func, launch.beside)},
    {"workspace", offsetof(ir_func, ad.workspace)},
};

static const struct {
    const char *word;
    size_t at;
} strings[] = {
    {"doc", offsetof(ir_func, doc)},
    {"no_grad_why", offsetof(ir_func, ad.no_grad_why)},
    {"no_jvp_why", offsetof(ir_func, ad.no_jvp_why)},
    {"pattern", offsetof(ir_func, ad.pattern)},
};

enum {
    LEN_FLAGS = sizeof flags / sizeof *flags,
    LEN_LINKS = sizeof links / sizeof *links,
    LEN_STRINGS = sizeof strings / sizeof *strings
};

static bool *flag(ir_func *f, int i)
{
    return (bool *)((char *)f + flags[i].at);
}

static ir_func **link(ir_func *f, int i)
{
    return (ir_func **)((char *)f + links[i].at);
}

static const char **string(ir_func *f, int i)
{
    return (const char **)((char *)f + strings[i].at);
}

ir_func *text_linked(const ir_func *f, int i)
{
    return i < LEN_LINKS ? *link((ir_func *)f, i) : NULL;
}

int text_nlinks(void)
{
    return LEN_LINKS;
}

/* ---- the first line ---- */

static void results(ir_text *t, ir_func *f)
{
    if (!text_opt(t, " -> ", f->nresults > 0))
        return;
    VEC(scalar) types = {0};
    int i = 0;
    do {
        scalar type = t->out ? f->results[i] : SC_F32;
        text_scalar(t, &type);
        vec_push(&types, type);
        i++;
    } while (text_opt(t, ", ", i < f->nresults));
    if (!t->out) {
        f->nresults = i;
        f->results = ARENA_ARRAY(t->m->mem, scalar, i);
        memcpy(f->results, types.at, sizeof *types.at * types.len);
    }
    vec_free(&types);
}

/* The inputs of a derivative: [1 4]. */
static void inputs(ir_text *t, ir_request *r)
{
    VEC(int) read = {0};
    if (!text_opt(t, "[", r->inputs != NULL))
        return;
    for (int i = 0; t->out ? i < r->ninputs : !t->failed && !text_is(t, "]"); i++) {
        int input = t->out ? r->inputs[i] : 0;
        text_lit(t, i ? " " : "");
        text_int(t, &input, 0, INT32_MAX);
        vec_push(&read, input);
    }
    text_lit(t, "]");
    if (!t->out) {
        r->ninputs = (int)read.len;
        r->inputs = ARENA_ARRAY(t->m->mem, int, read.len + 1);
        for (size_t i = 0; i < read.len; i++)
            r->inputs[i] = read.at[i];
    }
    vec_free(&read);
}

/* Fields: by x, u. */
static void columns(ir_text *t, ir_columns *c)
{
    VEC(ir_field *) read = {0};
    int i = 0;
    for (const char *word = " by "; text_opt(t, word, i < c->n); word = ", ") {
        void *f = t->out ? c->at[i] : NULL;
        text_refer(t, &t->fields, "field", &f);
        vec_push(&read, f);
        i++;
    }
    if (!t->out) {
        c->n = i;
        c->at = ARENA_ARRAY(t->m->mem, ir_field *, i + 1);
        for (int k = 0; k < i; k++)
            c->at[k] = read.at[k];
    }
    vec_free(&read);
}

/* What derivatives a kernel is to have. */
static void derive(ir_text *t, ir_func *f)
{
    enum { KINDS = 7 };
    static const char *const words[KINDS] = {"grad", "jvp", "hvp", "jac", "hess", "rows", "blocks"};
    if (!text_opt(t, " derive(", f->ad.nrequests != 0))
        return;
    if (!t->out)
        f->ad.requests = ARENA_ARRAY(t->m->mem, ir_request, KINDS);
    for (int i = 0, n = 0; i < KINDS; i++) {
        ir_request *r = NULL;
        for (int k = 0; t->out && k < f->ad.nrequests; k++)
            r = f->ad.requests[k].kind == 1 << i ? &f->ad.requests[k] : r;
        if (!t->out && text_is(t, words[i])) {
            r = &f->ad.requests[f->ad.nrequests++];
            r->kind = 1 << i;
        }
        if (!r)
            continue;
        text_lit(t, n++ ? " " : "");
        text_lit(t, words[i]);
        inputs(t, r);
        columns(t, &r->by);
    }
    text_lit(t, ")");
}

static void kind_and_name(ir_text *t, ir_func *f)
{
    int kind = (int)f->kind;
    text_flag(t, "pure ", &f->pure);
    text_choice(t, kind_words, LEN_KINDS, &kind);
    text_lit(t, " ");
    text_define(t, &t->funcs, &f->name, f);
    if (!t->out)
        f->kind = (ir_func_kind)kind;
}

static void first_line(ir_text *t, ir_func *f)
{
    kind_and_name(t, f);
    text_lit(t, "(");
    for (int i = 0; t->out && i < f->body->nparams; i++) {
        sb_add(t->out, i ? ", " : "");
        text_write_def(t, f->body->params[i]);
    }
    if (!t->out)
        text_params(t, f->body);
    text_lit(t, ")");
    results(t, f);
    for (int i = 0; i < LEN_FLAGS; i++)
        text_flag(t, flags[i].word, flag(f, i));
    derive(t, f);
    if (text_opt(t, " records ", f->launch.records != 0))
        text_int(t, &f->launch.records, 0, INT32_MAX);
    if (text_opt(t, " arity ", f->ad.elements.arity != 0))
        text_int(t, &f->ad.elements.arity, 0, INT32_MAX);
    void *to = f->ad.elements.to;
    if (text_opt(t, " gives ", to != NULL)) {
        text_refer(t, &t->fields, "field", &to);
        f->ad.elements.to = to;
    }
}

/* ---- further lines ---- */

static void signature(ir_text *t, ir_sigparam *s)
{
    text_name(t, &s->name);
    text_lit(t, ": ");
    text_type(t, &s->elem, &s->shape, &s->rows, &s->cols);
    text_lit(t, " at ");
    text_int(t, &s->first, 0, INT32_MAX);
    text_flag(t, " grad", &s->grad);
    text_flag(t, " no_dual", &s->no_dual);
    void *array = s->array, *structure = (void *)s->structure;
    if (text_opt(t, " array ", array != NULL)) {
        text_refer(t, &t->fields, "field", &array);
        s->array = array;
        s->rows = s->cols = 0;
    }
    if (text_opt(t, " struct ", structure != NULL)) {
        text_refer(t, &t->structs, "struct", &structure);
        s->structure = structure;
    }
    text_opt_string(t, " path ", &s->path);
    text_flag(t, " leads", &s->leads);
    text_flag(t, " struct_grad", &s->struct_grad);
    text_opt_string(t, " lost_in ", &s->lost_in);
}

static void part(ir_text *t, ir_part *p)
{
#define WORD(id, word) " " word,
    static const char *const words[] = {IR_PART_FLAGS(WORD)};
#undef WORD
    text_plane(t, &p->field, &p->plane);
    for (int i = 0; i < IR_PART_BITS; i++) {
        bool is = p->what >> i & 1;
        text_flag(t, words[i], &is);
        p->what |= (unsigned)is << i;
    }
    text_flag(t, " compared", &p->compared);
    text_lit(t, " comp ");
    text_int(t, &p->first, 0, INT32_MAX);
    text_lit(t, " to ");
    text_int(t, &p->last, 0, INT32_MAX);
}

static void begin(ir_text *t, const char *word)
{
    sb_printf(t->out, "  .%s ", word);
}

static void write_lines(ir_text *t, ir_func *f)
{
    for (int i = 0; i < LEN_STRINGS; i++)
        if (*string(f, i)) {
            begin(t, strings[i].word);
            text_string(t, string(f, i));
            text_lit(t, "\n");
        }
    for (int i = 0; i < LEN_LINKS; i++)
        if (*link(f, i)) {
            begin(t, links[i].word);
            text_func(t, link(f, i));
            text_lit(t, "\n");
        }
    for (int i = 0; i < f->nsig + f->nouts; i++) {
        begin(t, i < f->nsig ? "arg" : "out");
        signature(t, i < f->nsig ? &f->sig[i] : &f->outs[i - f->nsig]);
        text_lit(t, "\n");
    }
    for (size_t i = 0; f->launch.distinct && i < t->m->fields.len; i++)
        if (f->launch.distinct[i]) {
            void *field = t->m->fields.at[i];
            begin(t, "distinct");
            text_refer(t, &t->fields, "field", &field);
            text_lit(t, "\n");
        }
    for (int i = 0; i < f->launch.nparts; i++) {
        begin(t, "part");
        part(t, &f->launch.parts[i]);
        text_lit(t, "\n");
    }
}

/* What is read into arrays once it is known how many there are. */
typedef struct lines {
    VEC(ir_sigparam) args, outs;
    VEC(ir_part) parts;
} lines;

static bool read_link_or_string(ir_text *t, ir_func *f)
{
    for (int i = 0; i < LEN_STRINGS; i++)
        if (text_opt(t, strings[i].word, false)) {
            text_string(t, string(f, i));
            return true;
        }
    for (int i = 0; i < LEN_LINKS; i++)
        if (text_opt(t, links[i].word, false)) {
            text_func(t, link(f, i));
            return true;
        }
    return false;
}

static void read_line(ir_text *t, ir_func *f, lines *l)
{
    ir_sigparam s = {0};
    ir_part p = {0};
    if (read_link_or_string(t, f))
        return;
    if (text_opt(t, "arg", false)) {
        signature(t, &s);
        vec_push(&l->args, s);
    } else if (text_opt(t, "out", false)) {
        signature(t, &s);
        vec_push(&l->outs, s);
    } else if (text_opt(t, "part", false)) {
        part(t, &p);
        vec_push(&l->parts, p);
    } else if (text_opt(t, "distinct", false)) {
        void *field = NULL;
        text_refer(t, &t->fields, "field", &field);
        if (!f->launch.distinct)
            f->launch.distinct = ARENA_ARRAY(t->m->mem, bool, t->m->fields.len + 1);
        if (field)
            f->launch.distinct[((ir_field *)field)->index] = true;
    } else {
        text_expected(t, "what is known of a function");
    }
}

static void *copy(ir_text *t, const void *from, size_t n, size_t size)
{
    void *p = n ? arena_alloc(t->m->mem, n * size) : NULL;
    if (n)
        memcpy(p, from, n * size);
    return p;
}

static void read_lines(ir_text *t, ir_func *f)
{
    lines l = {0};
    while (text_opt(t, ".", false)) {
        read_line(t, f, &l);
        text_lit(t, "\n");
    }
    f->nsig = (int)l.args.len;
    f->nouts = (int)l.outs.len;
    f->launch.nparts = (int)l.parts.len;
    f->sig = copy(t, l.args.at, l.args.len, sizeof *f->sig);
    f->outs = copy(t, l.outs.at, l.outs.len, sizeof *f->outs);
    f->launch.parts = copy(t, l.parts.at, l.parts.len, sizeof *f->launch.parts);
    vec_free(&l.args);
    vec_free(&l.outs);
    vec_free(&l.parts);
}

void text_function(ir_text *t, ir_func *f)
{
    vec_clear(&t->values);
    first_line(t, f);
    int64_t next = f->next_value, ids = t->out ? text_ids(f) : 0;
    if (text_opt(t, " next ", next != ids))
        text_i64(t, &next, 0, TEXT_MAX_VALUES);
    else if (!t->out)
        next = 0;
    text_lit(t, " {");
    text_loc(t, &f->loc);
    text_lit(t, "\n");
    for (int i = 0; !t->out && i < f->body->nparams; i++)
        f->body->params[i]->loc = f->loc;
    if (t->out)
        write_lines(t, f);
    else
        read_lines(t, f);
    text_region(t, f->body, 1);
    text_lit(t, "}");
    text_lit(t, "\n");
    if (t->out)
        return;
    ids = (int64_t)t->values.len;
    f->next_value = (uint32_t)(next > ids ? next : ids);
}

void text_gone(ir_text *t, ir_func *f)
{
    if (t->out)
        sb_add(t->out, "gone ");
    kind_and_name(t, f);
    text_lit(t, "\n");
}
