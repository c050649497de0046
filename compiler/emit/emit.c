/* The C file as a whole. */
#include "emit/emit_int.h"
#include "emit/helpers.h"

#include <string.h>

#ifndef TKC_VERSION
#define TKC_VERSION "0.1.0"
#endif

/* A field's view is a member of the module's struct, beside tk and params. */
static const char *view_name(arena *mem, const char *name)
{
    return strcmp(name, "tk") == 0 || strcmp(name, "params") == 0 ? arena_printf(mem, "%s_", name) : name_member(mem, name);
}

void emitter_init(emitter *e, const ir_module *m, const emit_options *opt)
{
    *e = (emitter){.mem = arena_create(), .m = m, .opt = opt};
    e->globals = names_create(e->mem, NULL);
    e->field_names = ARENA_ARRAY(e->mem, const char *, m->fields.len + 1);
    for (size_t i = 0; i < m->fields.len; i++) {
        const ir_field *f = m->fields.at[i];
        e->field_names[i] = f->launched ? arena_printf(e->mem, "tk.fields[%d]", f->index) : view_name(e->mem, f->lead ? f->whole : f->name);
        if (f->lead && f->soa)
            e->field_names[i] = arena_printf(e->mem, "%s.%s", e->field_names[i], member_path(e->mem, f->path, "."));
    }
    for (size_t i = 0; i < m->params.len; i++)
        ptrmap_set(&e->params, m->params.at[i], arena_printf(e->mem, "%s", name_member(e->mem, m->params.at[i]->name)));
}

void emitter_done(emitter *e)
{
    names_free(e->globals);
    sb_free(&e->sites);
    ptrmap_free(&e->infos);
    ptrmap_free(&e->pure_infos);
    ptrmap_free(&e->layouts);
    ptrmap_free(&e->params);
    arena_destroy(e->mem);
}

const char *file_level(const emitter *e, const char *name)
{
    return arena_printf(e->mem, "%s__%s", e->m->name, name); /* no name of a program has two underscores */
}

static void take_global_names(emitter *e)
{
    const ir_module *m = e->m;
    names_unique_function(e->globals, m->name);
    for (size_t i = 0; i < m->externs.len; i++)
        names_unique_function(e->globals, m->externs.at[i]->name);
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if (f->pure)
            names_unique_function(e->globals, arena_printf(e->mem, "%s_%s", m->name, f->name));
    }
    e->kernels = file_level(e, "kernels");
    e->fields = file_level(e, "fields");
    e->members = file_level(e, "members");
    e->desc = file_level(e, "module");
    e->sites_name = file_level(e, "sites");
    e->places_name = file_level(e, "decisions");
    e->bounds = file_level(e, "in_bounds");
    e->extents = file_level(e, "extents_of");
    e->take = file_level(e, "take");
}

static bool prints(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_PRINT && op->nargs)
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (prints(op->regions[i]))
                return true;
    }
    return false;
}

bool emit_has_object(const ir_module *m)
{
    bool exports = false;
    for (size_t i = 0; i < m->funcs.len; i++) {
        if (ir_is_kernel(m->funcs.at[i]))
            return true;
        exports |= ir_is_export(m->funcs.at[i]);
    }
    return m->nfields || m->params.len || !exports;
}

/* Takes memory from a workspace: every block is a multiple of the workspace's alignment. */
static void print_take(const emitter *e, strbuf *out)
{
    if (e->uses_take)
        sb_printf(out, "static void *%s(unsigned char **at, int64_t count, size_t size)\n{\n    void *const p = *at;\n    if (count > 0)\n"
                       "        *at += ((size_t)count * size + %du) & ~(size_t)%du;\n    return p;\n}\n\n",
                  e->take, IR_WORKSPACE_ALIGN - 1, IR_WORKSPACE_ALIGN - 1);
}

/* Sums may be reordered and quotients made products by these flags, in a launch and in its derivatives as each compiler sees fit. The x87 unit keeps more bits
 * of what it has not stored yet. */
static const char refusal[] =
    "\n#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)\n"
    "#error \"not with -ffast-math or a part of it: numbers that steer this program would differ between launches and derivatives (-O3 -fno-math-errno -fno-trapping-math is safe)\"\n"
    "#elif defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)\n"
    "#error \"not with the x87 unit: numbers that steer this program would differ between launches and derivatives (-msse2 -mfpmath=sse is safe)\"\n"
    "#endif\n";

/* gcc unrolls a loop over an array further than the program's conditions let it run (`j > i` of j = i ^ stride), and warns of subscripts that never are. tkc
 * itself looks at constant subscripts, --debug at all. */
static const char quiet[] =
    "\n/* gcc -O3 unrolls loops over local arrays further than they run, and warns of that. */\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Warray-bounds\"\n#endif\n";
static const char quiet_end[] = "\n#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic pop\n#endif\n";

static void print_top(emitter *e, strbuf *out, strbuf *body)
{
    const bool object = emit_has_object(e->m);
    sb_printf(out, "/* Generated by tkc " TKC_VERSION " from %s. Do not edit. */\n#include \"%s\"\n",
              strstr(source_base(e), "*/") ? "its source" : source_base(e), e->opt->header_name);
    if (!e->opt->no_runtime)
        sb_printf(out, "#include <tkc/%s>\n", object ? "tkc_gen.h" : "tkc_math.h");
    if (e->m->decides)
        sb_add(out, refusal);
    if (e->uses_arrays)
        sb_add(out, quiet);
    if (e->uses_assert || e->opt->no_runtime)
        sb_printf(out, "\n%s", e->uses_assert ? "#include <assert.h>\n" : "");
    if (e->opt->no_runtime)
        emit_helpers_of(out, body, file_level(e, ""));
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (prints(e->m->funcs.at[i]->body)) {
            sb_add(out, "\n#include <stdio.h>\n");
            break;
        }
    if (!e->opt->no_runtime)
        sb_addc(out, '\n');
    if (object)
        sb_printf(out, "_Static_assert(TK_INTERFACE == %d, \"generated for another version of libtkc: run tkc again\");\n\n", EMIT_INTERFACE);
    print_take(e, out);
    if (!e->uses_bounds)
        return;
    sb_printf(out,
              "/* Checks the subscripts of an element, and its component where that is no constant. */\n"
              "static bool %s(const tk_field *f, const char *place, bool component, const int64_t *index)\n{\n"
              "    for (int d = 0; d < f->desc->ndim; d++) {\n"
              "        if (index[d] < 0 || index[d] >= f->shape[d]) {\n"
              "            tk_fail(f->module->session, TK_BOUNDS, \"%%s: subscript %%d of '%%s' is %%lld, outside [0, %%lld)\", place, d, f->desc->name,\n"
              "                    (long long)index[d], (long long)f->shape[d]);\n"
              "            return false;\n        }\n    }\n"
              "    if (component && (index[f->desc->ndim] < 0 || index[f->desc->ndim] >= f->desc->ncomp)) {\n"
              "        tk_fail(f->module->session, TK_BOUNDS, \"%%s: component of '%%s' is %%lld, outside [0, %%d)\", place, f->desc->name,\n"
              "                (long long)index[f->desc->ndim], f->desc->ncomp);\n"
              "        return false;\n    }\n    return true;\n}\n\n",
              e->bounds);
}

/* Copies text to out; "#line @" becomes the number of the line that follows it. */
static void resolve_lines(const emitter *e, strbuf *out, const char *text)
{
    unsigned line = 1;
    while (*text) {
        const char *end = strchr(text, '\n');
        const size_t n = end ? (size_t)(end - text) + 1 : strlen(text);
        if (n == 8 && memcmp(text, "#line @\n", 8) == 0)
            sb_printf(out, "#line %u %s\n", line + 1, c_string(e->mem, e->opt->c_name));
        else
            sb_addn(out, text, n);
        line++;
        text += n;
    }
}

void emit_c(strbuf *out, const ir_module *m, const emit_options *opt)
{
    emitter e;
    emitter_init(&e, m, opt);
    take_global_names(&e);
    strbuf body = {0}, all = {0};
    e.out = &body;
    if (emit_has_object(m)) {
        emit_kernels(&e);
        emit_module(&e);
    }
    emit_exports(&e);
    print_top(&e, &all, &body);
    while (body.len > 1 && body.s[body.len - 1] == '\n' && body.s[body.len - 2] == '\n')
        body.s[--body.len] = '\0';
    sb_addn(&all, sb_str(&body), body.len);
    if (e.uses_arrays)
        sb_add(&all, quiet_end);
    if (opt->line_directives)
        resolve_lines(&e, out, sb_str(&all));
    else
        sb_addn(out, sb_str(&all), all.len);
    sb_free(&body);
    sb_free(&all);
    emitter_done(&e);
}
