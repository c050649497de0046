/* Sparse matrices of kernels in C: the functions that make a pattern and add to its values. */
#include "host/host_int.h"
#include "ir/ops.h"
#include "passes/analysis/analysis.h"

#include <string.h>

typedef struct entry {
    const ir_func *kernel, *places, *sweep;
    const ir_request *by;
    const char *word, *module, *self; /* "hess" or "jac" */
    const char *given;                /* "m, dt": what both functions hand on */
    const char *pattern, *places_name, *values, *n, *options, *elements, *run, *status, *desc;
} entry;

static const ir_request *request_of(const ir_func *k)
{
    const ir_request *r = ir_request_of(k, IR_DERIVE_BLOCKS);
    return r ? r : ir_request_of(k, IR_DERIVE_ROWS);
}

static const char *word_of(const ir_request *r)
{
    return r->kind == IR_DERIVE_BLOCKS ? "hess" : "jac";
}

const char *kernel_shown_name(arena *mem, const ir_func *kernel)
{
    const ir_func *k = kernel->ad.elements_of;
    return !k ? kernel->name
              : arena_printf(mem, "%s_%s%s", k->name, word_of(request_of(k)),
                             kernel == k->ad.elements.places ? "_pattern" : "");
}

/* Of the values. */
static scalar element_of(const entry *x)
{
    return ir_matrix_type(x->kernel, x->by);
}

static entry entry_of(emitter *e, const ir_func *k)
{
    arena *mem = e->mem;
    entry x = {.kernel = k, .by = request_of(k), .module = e->m->name, .self = kernel_self(mem, k)};
    x.places = k->ad.elements.places;
    x.sweep = k->ad.elements.sweep;
    x.word = word_of(x.by);
    x.given = x.self;
    for (int i = 0; i < k->nsig; i++)
        if (sig_stands(&k->sig[i]))
            x.given = arena_printf(mem, "%s, %s", x.given, name_member(mem, k->sig[i].name));
    x.pattern = free_name(mem, k, "pattern");
    x.places_name = free_name(mem, k, "places");
    x.values = free_name(mem, k, "values");
    x.n = free_name(mem, k, "n");
    x.options = free_name(mem, k, "options");
    x.elements = free_name(mem, k, "elements");
    x.run = free_name(mem, k, "run");
    x.status = free_name(mem, k, "status");
    x.desc = arena_printf(mem, "%s_%s", file_level(e, k->name), x.word);
    return x;
}

/* The kernel's own parameters, and behind them `rest`. */
static void print_signature(emitter *e, const entry *x, const char *suffix, const char *rest)
{
    strbuf b = {0};
    sig_items items = {0};
    kernel_items(e->mem, &items, x->kernel, FORM_RUN);
    sb_printf(&b, "%s *%s", x->module, x->self);
    add_items(e->mem, &b, &items);
    sb_printf(&b, ", %s", rest);
    const char *name = arena_printf(e->mem, "%s_%s_%s%s", x->module, x->kernel->name, x->word, suffix);
    sb_printf(e->out, "tk_status %s(%s)", name,
              wrap_list(e->mem, arena_strdup(e->mem, sb_str(&b)), strlen("tk_status (") + strlen(name), 2));
    vec_free(&items);
    sb_free(&b);
}

static void print_pattern_signature(emitter *e, const entry *x)
{
    print_signature(e, x, "_pattern",
                    arena_printf(e->mem, "const tk_sparse_options *%s, tk_sparse **%s", x->options, x->pattern));
}

static void print_sweep_signature(emitter *e, const entry *x)
{
    print_signature(e, x, "",
                    arena_printf(e->mem, "tk_sparse *%s, %s *%s, size_t %s", x->pattern, scalar_c_type(element_of(x)),
                                 x->values, x->n));
}

void elements_print_header(emitter *e, const ir_func *k)
{
    if (!k->ad.elements.sweep)
        return;
    const entry x = entry_of(e, k);
    const bool hess = x.by->kind == IR_DERIVE_BLOCKS;
    const char *by = ir_columns_names(e->mem, &x.by->by, ", ");
    sb_printf(e->out,
              "/** Pattern of the %s of %s by %s: creates *%s if it is NULL, else adds to it; free it with "
              "tk_sparse_free.\n"
              " *  To be called again when other elements of %s are read. %s NULL: the defaults. */\n",
              hess ? "Hessian" : "Jacobian", k->name, by, x.pattern, by, x.options);
    print_pattern_signature(e, &x);
    sb_printf(e->out, ";\n\n/** Runs %s, and adds%s its %s by %s to the values. %s: tk_sparse_values at least. */\n",
              k->name,
              !hess || !ir_columns_have_grad(&x.by->by) ? ""
              : x.by->by.n == 1                         ? " its gradient to that field, and"
                                                        : " its gradients to those fields, and",
              hess ? "Hessian" : "Jacobian", by, x.n);
    print_sweep_signature(e, &x);
    sb_add(e->out, ";\n\n");
}

/* The matrix is computed: there are no elements. */
static bool is_computed(const entry *x)
{
    return !x->kernel->ad.elements.arity;
}

/* Whether each launch of f leaves the same in the memory, if all else that it reads is the same: nothing is added, and
 * all stores are in front of all reads. */
static bool is_repeated(const ir_func *f, ir_storage at)
{
    bool repeated = true, read = false;
    for (const ir_op *op = f->body->first; op && repeated; op = op->next) {
        effects e = effects_of_op(f->module, op);
        read |= (e.at[at] & OP_READS) != 0;
        repeated = !(e.at[at] & OP_ADDS) && !(read && (e.at[at] & OP_STORES));
        effects_free(&e);
    }
    return repeated;
}

/* The arrays of a kernel that carries sets or tangents, in order; how many. */
static int arrays_of(const ir_func *f, const ir_field **arrays)
{
    int n = 0;
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array && f->sig[i].array->beside)
            arrays[n++] = f->sig[i].array;
    return n;
}

/* Memory that depends on the columns, as the arrays of the two kernels; how much. */
static int print_active(emitter *e, const entry *x)
{
    const ir_field **sets = ARENA_ARRAY(e->mem, const ir_field *, x->places->nsig + 1),
                   **tangents = ARENA_ARRAY(e->mem, const ir_field *, x->sweep->nsig + 1);
    const int n = arrays_of(x->sweep, tangents), nsets = arrays_of(x->places, sets);
    assert(n == nsets);
    sb_printf(e->out, "static const tk_storage %s_active[] = {", x->desc);
    for (int i = 0; i < n; i++) {
        const bool of_sets = !is_repeated(x->places, ir_storage_of(sets[i], IR_DATA)),
                   of_tangents = !is_repeated(x->sweep, ir_storage_of(tangents[i], IR_DATA));
        sb_printf(e->out, "%s{%d, %s, %s}", i ? ", " : "", tangents[i]->beside->index,
                  plane_enum(tangents[i]->beside_plane),
                  of_sets && of_tangents ? "TK_CLEAR_SETS | TK_CLEAR_TANGENTS"
                  : of_sets              ? "TK_CLEAR_SETS"
                  : of_tangents          ? "TK_CLEAR_TANGENTS"
                                         : "0");
    }
    sb_add(e->out, "};\n");
    return n;
}

/* Memory of fields that the sweep writes, and that another launch needs as it was; how much. */
static int print_written(emitter *e, const entry *x)
{
    effects all = effects_of_region(e->m, x->sweep->body);
    strbuf b = {0};
    int n = 0;
    for (size_t at = 0; at < e->m->nfields * IR_PLANES; at++) {
        const bool kept = !x->kernel->ad.elements.replays && ir_storage_plane(at) == IR_DATA;
        if ((all.at[at] & (OP_STORES | OP_ADDS)) && !(kept && is_repeated(x->sweep, at)))
            sb_printf(&b, "%s{%d, %s, 0}", n++ ? ", " : "", ir_storage_field(e->m, at)->index,
                      plane_enum(ir_storage_plane(at)));
    }
    if (n)
        sb_printf(e->out, "static const tk_storage %s_written[] = {%s};\n", x->desc, sb_str(&b));
    sb_free(&b);
    effects_free(&all);
    return n;
}

static void print_columns(emitter *e, const entry *x)
{
    sb_printf(e->out, "static const int %s_by[] = {", x->desc);
    for (int i = 0; i < x->by->by.n; i++)
        sb_printf(e->out, "%s%d", i ? ", " : "", x->by->by.at[i]->index);
    sb_add(e->out, "};\n");
}

static void print_desc(emitter *e, const entry *x)
{
    const bool hess = x->by->kind == IR_DERIVE_BLOCKS;
    const ir_elements *all = &x->kernel->ad.elements;
    const char *more = "";
    print_columns(e, x);
    if (is_computed(x)) {
        const int nactive = print_active(e, x), nwritten = print_written(e, x);
        more = arena_printf(
            e->mem, ",\n    .active = %s_active, .nactive = %d%s%s", x->desc, nactive,
            !nwritten ? "" : arena_printf(e->mem, ", .written = %s_written, .nwritten = %d", x->desc, nwritten),
            all->replays ? ", .replays = true" : "");
    }
    sb_printf(e->out,
              "static const tk_elements %s = {.name = %s, .by = %s_by, .nby = %d, .block = %d, .to = %d, .width = %d, "
              ".hessian = %s, .elem = %s%s};\n\n",
              x->desc, c_string(e->mem, x->kernel->name), x->desc, x->by->by.n, ir_columns_block(&x->by->by),
              all->to->index, is_computed(x) ? 2 : all->arity + !hess, hess ? "true" : "false",
              scalar_enum(element_of(x)), more);
}

/* ---- computed matrices ---- */

/* The arguments of a kernel that carries sets or tangents: sizes and arrays. */
static const char *memory_of(emitter *e, const entry *x, const ir_func *f)
{
    const char *args = x->given;
    int n = 0;
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array && f->sig[i].array->beside) {
            args = arena_printf(e->mem, "%s, %s.sizes[%d], (%s *)%s.memory[%d]", args, x->run, n,
                                scalar_c_type(f->sig[i].elem), x->run, n);
            n++;
        }
    return args;
}

static void print_launches(emitter *e, const entry *x, const ir_func *f, const char *next)
{
    strbuf *b = e->out;
    sb_printf(b, "    while (%s == TK_OK && %s.goes_on) {\n", x->status, x->run);
    sb_printf(b, "        %s = %s(%s);\n", x->status, file_level(e, f->name), memory_of(e, x, f));
    sb_printf(b, "        if (%s == TK_OK)\n            %s = %s(&%s);\n    }\n", x->status, x->status, next, x->run);
}

static void print_computed_pattern(emitter *e, const entry *x)
{
    strbuf *b = e->out;
    print_pattern_signature(e, x);
    sb_printf(b, "\n{\n    tk_coloured %s;\n", x->run);
    sb_printf(b, "    tk_status %s = tk_sets_open(%s ? &%s->tk : NULL, &%s, %s, %s, &%s);\n", x->status, x->self,
              x->self, x->desc, x->options, x->pattern, x->run);
    print_launches(e, x, x->places, "tk_sets_next");
    sb_printf(b, "    return tk_sets_close(&%s, %s, %s, %s);\n}\n\n", x->run, x->status, x->options, x->pattern);
}

static void print_computed_sweep(emitter *e, const entry *x)
{
    strbuf *b = e->out;
    print_sweep_signature(e, x);
    sb_printf(b, "\n{\n    tk_coloured %s;\n    tk_status %s = TK_OK;\n", x->run, x->status);
    if (e->m->debug) {
        sb_printf(b, "    %s = tk_sets_reopen(%s ? &%s->tk : NULL, &%s, %s, &%s);\n", x->status, x->self, x->self,
                  x->desc, x->pattern, x->run);
        print_launches(e, x, x->places, "tk_sets_next");
        sb_printf(b, "    %s = tk_sets_compare(&%s, %s);\n", x->status, x->run, x->status);
        sb_printf(b, "    if (%s != TK_OK)\n        return %s;\n", x->status, x->status);
    }
    sb_printf(b, "    %s = tk_products_open(%s ? &%s->tk : NULL, &%s, %s, %s, %s, &%s);\n", x->status, x->self, x->self,
              x->desc, x->pattern, x->values, x->n, x->run);
    print_launches(e, x, x->sweep, "tk_products_next");
    const char *close = arena_printf(e->mem, "tk_products_close(&%s, %s)", x->run, x->status);
    if (x->kernel->ad.elements.replays) {
        sb_printf(b, "    %s = %s;\n", x->status, close);
        sb_printf(b, "    return %s == TK_OK ? %s_%s(%s) : %s;\n}\n\n", x->status, x->module, x->kernel->name, x->given,
                  x->status);
    } else {
        sb_printf(b, "    return %s;\n}\n\n", close);
    }
}

static void print_pattern(emitter *e, const entry *x)
{
    strbuf *b = e->out;
    const char *launch = file_level(e, x->places->name),
               *tk = arena_printf(e->mem, "%s ? &%s->tk : NULL", x->self, x->self);
    print_pattern_signature(e, x);
    sb_printf(b, "\n{\n    int64_t %s = 0, *%s = NULL;\n", x->elements, x->places_name);
    sb_printf(b, "    tk_status %s = %s(%s, 0, NULL, &%s);\n", x->status, launch, x->given, x->elements);
    sb_printf(b, "    if (%s == TK_OK)\n        %s = tk_sparse_begin(%s, &%s, %s, %s, %s, &%s);\n", x->status,
              x->status, tk, x->desc, x->elements, x->options, x->pattern, x->places_name);
    sb_printf(b, "    if (%s != TK_OK)\n        return %s;\n", x->status, x->status);
    sb_printf(b, "    %s = %s(%s, %s * %s.width, %s, &%s);\n", x->status, launch, x->given, x->elements, x->desc,
              x->places_name, x->elements);
    sb_printf(b, "    return tk_sparse_end(&%s->tk, &%s, %s, %s, %s, %s, %s);\n}\n\n", x->self, x->desc, x->status,
              x->places_name, x->elements, x->options, x->pattern);
}

/* --debug: the places of now are the pattern's. */
static void print_comparison(emitter *e, const entry *x)
{
    strbuf *b = e->out;
    const char *run = x->run, *head = arena_printf(e->mem, "    if (%s == TK_OK)\n        %s = ", x->status, x->status);
    sb_printf(b, "%stk_sparse_places(&%s);\n", head, run);
    sb_printf(b, "%s%s(%s, %s.nplaces, %s.places, &%s.elements);\n", head, file_level(e, x->places->name), x->given,
              run, run, run);
    sb_printf(b, "%stk_sparse_compare(&%s);\n", head, run);
}

static void print_sweep(emitter *e, const entry *x)
{
    strbuf *b = e->out;
    const char *run = x->run, *energies = "";
    if (x->by->kind == IR_DERIVE_BLOCKS)
        energies = arena_printf(e->mem, "(%s *)%s.energies, ", scalar_c_type(x->kernel->ad.elements.to->elem), run);
    print_sweep_signature(e, x);
    sb_printf(b, "\n{\n    tk_sparse_run %s;\n", run);
    sb_printf(b, "    tk_status %s = tk_sparse_open(%s ? &%s->tk : NULL, &%s, %s, %s, %s, &%s);\n", x->status, x->self,
              x->self, x->desc, x->pattern, x->values, x->n, run);
    if (e->m->debug)
        print_comparison(e, x);
    sb_printf(b, "    while (%s == TK_OK && %s.goes_on) {\n", x->status, run);
    sb_printf(b, "        %s = %s(%s, %s.from, %s.numbers, %s.room, %s(%s *)%s.stage, &%s.elements, &%s.to);\n",
              x->status, file_level(e, x->sweep->name), x->given, run, run, run, energies, scalar_c_type(element_of(x)),
              run, run, run);
    sb_printf(b, "        if (%s == TK_OK)\n            %s = tk_sparse_add(&%s);\n    }\n", x->status, x->status, run);
    sb_printf(b, "    return tk_sparse_close(&%s, %s);\n}\n\n", run, x->status);
}

void emit_elements(emitter *e)
{
    for (size_t i = 0; i < e->m->funcs.len; i++) {
        const ir_func *k = e->m->funcs.at[i];
        if (!k->ad.elements.sweep)
            continue;
        const entry x = entry_of(e, k);
        print_desc(e, &x);
        if (is_computed(&x)) {
            print_computed_pattern(e, &x);
            print_computed_sweep(e, &x);
        } else {
            print_pattern(e, &x);
            print_sweep(e, &x);
        }
    }
}
