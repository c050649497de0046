/* One C function: what its body uses, and what is declared at its top because of that. */
#include "emit/emit_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static void collect_hints(names *hints, const ir_region *r)
{
    for (int i = 0; i < r->nparams; i++)
        if (r->params[i]->name)
            names_unique_function(hints, r->params[i]->name);
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nres; i++)
            if (op->res[i]->name)
                names_unique_function(hints, op->res[i]->name);
        for (int i = 0; i < op->nregions; i++)
            collect_hints(hints, op->regions[i]);
    }
}

fstate fstate_create(const ir_func *f)
{
    fstate fs = {.use = value_uses(f), .v = xmalloc((f->next_value + 1) * sizeof *fs.v)};
    memset(fs.v, 0, (f->next_value + 1) * sizeof *fs.v);
    fs.hints = names_create(f->module->mem, NULL);
    collect_hints(fs.hints, f->body);
    return fs;
}

void fstate_free(fstate *fs)
{
    free(fs->use);
    free(fs->v);
    names_free(fs->hints);
}

/* ---- what the body touches ---- */

/* Of the size of all fields, for each C function: not kept for the whole run. */
static void *zeroed(size_t count, size_t size)
{
    void *p = xmalloc(count * size);
    memset(p, 0, count * size);
    return p;
}

cfn *cfn_create(emitter *e, const ir_func *f, cfn_kind kind, fstate *fs)
{
    cfn *c = ARENA_NEW(e->mem, cfn);
    *c = (cfn){.e = e, .f = f, .kind = kind, .fs = fs, .use = fs->use, .v = fs->v, .indent = 1};
    c->names = names_create(e->mem, e->globals);
    c->planes = zeroed(ir_storage_count(e->m) + 1, sizeof *c->planes);
    c->shape_names = zeroed(e->m->fields.len * 8 + 1, sizeof *c->shape_names);
    c->mparam_names = ARENA_ARRAY(e->mem, const char *, e->m->params.len + 1);
    return c;
}

void cfn_free(cfn *c)
{
    names_free(c->names);
    free(c->planes);
    free(c->shape_names);
    vec_free(&c->loads);
    vec_free(&c->stages);
}

body_plan cfn_plan(cfn *c)
{
    const body_kind kind = c->kind == CFN_RUN ? BODY_KERNEL : c->kind == CFN_EXTENTS ? BODY_EXTENTS : BODY_FUNC;
    return plan_body(&c->e->facts, c->use, c->f->body, kind, !c->e->opt->no_runtime);
}

static const char *pointer_hint(const cfn *c, ir_storage key)
{
    const ir_field *f = ir_storage_field(c->e->m, key);
    return c->plan->planes[key].scatter ? f->name : layout_title(f);
}

static const char *take_mparam(cfn *c, const ir_mparam *p)
{
    const char **name = &c->mparam_names[p->index];
    if (!*name && c->kind == CFN_EXTENTS)
        *name = arena_printf(c->e->mem, "params->%s", (const char *)ptrmap_get(&c->e->params, p));
    else if (!*name)
        *name = names_unique_function(c->names, p->name);
    return *name;
}

void cfn_take_names(cfn *c, const body_plan *plan)
{
    c->plan = plan;
    for (size_t i = 0; i < plan->params.len; i++)
        take_mparam(c, c->e->m->params.at[plan->params.at[i]]);
    for (size_t i = 0; i < plan->touched.len; i++) {
        const ir_storage key = plan->touched.at[i];
        const plane_use *use = &plan->planes[key];
        const char *name = arena_printf(c->e->mem, "%s%s", pointer_hint(c, key), plane_tail(ir_storage_plane(key)));
        if (use->same)
            continue;
        if (!c->planes[key].name) /* arrays have their parameters' names */
            c->planes[key].name = names_unique_function(c->names, name);
        if (use->scatter)
            c->planes[key].acc_name = c->planes[key].name;
        if (use->separate)
            c->planes[key].acc_name = names_unique_function(c->names, arena_printf(c->e->mem, "%s_sum", name));
    }
    c->m = names_internal(c->names, c->fs->hints, "m");
    c->st = names_internal(c->names, c->fs->hints, "st");
    c->a = names_internal(c->names, c->fs->hints, "a");
}

const char *mparam_name(cfn *c, const ir_mparam *p)
{
    assert(c->plan->param_read[p->index]);
    return take_mparam(c, p);
}

const char *key_name(cfn *c)
{
    assert(c->plan->key_read);
    if (!c->key)
        c->key = names_unique_function(c->names, "key");
    return c->key;
}

/* ---- declarations at the top ---- */

const char *plane_pointer(cfn *c, const ir_field *f, ir_plane plane, bool scatter)
{
    const ir_storage key = ir_storage_of(f, plane);
    const plane_use *use = &c->plan->planes[key];
    if (scatter && use->scatter) {
        assert(use->target);
        return c->planes[key].acc_name;
    }
    use = use->same ? use->same : use;
    assert(use->pointer);
    return c->planes[use - c->plan->planes].name;
}

const char *shape_name(cfn *c, const ir_field *f, int dim)
{
    if (f->array && f->dims[dim].param < 0 && !f->dims[dim].mparam)
        return arena_printf(c->e->mem, "%lld", (long long)f->dims[dim].count);
    if (is_argument(f))
        return name_member(c->e->mem, c->f->sig[f->dims[dim].param].name);
    if (ir_wide_extent(f, dim))
        return arena_printf(c->e->mem, "%d", ir_wide_extent(f, dim));
    f = f->lead ? f->lead : f;
    const char **name = &c->shape_names[f->index * 8 + dim];
    assert(c->plan->extent_read[f->index * 8 + dim]);
    if (!*name)
        *name = names_unique_function(c->names, arena_printf(c->e->mem, "%s_n%d", f->lead ? f->whole : f->name, dim));
    return *name;
}

const char *stride_name(cfn *c, const ir_field *f, ir_plane p, int dim)
{
    plane_ref *r = &c->planes[ir_storage_of(f, p)];
    assert(c->plan->planes[ir_storage_of(f, p)].strides & 1u << dim);
    if (!r->strides)
        r->strides = ARENA_ARRAY(c->e->mem, const char *, f->ndim);
    if (!r->strides[dim])
        r->strides[dim] = names_unique_function(c->names, arena_printf(c->e->mem, "%s_stride%d", r->name, dim));
    return r->strides[dim];
}

const char *session_text(cfn *c)
{
    c->uses_m = true;
    return arena_printf(c->e->mem, "%s->tk.session", c->m);
}

static void hoist_plane(cfn *c, strbuf *out, ir_storage key)
{
    const ir_field *f = ir_storage_field(c->e->m, key);
    const plane_use *use = &c->plan->planes[key];
    if (!use->hoisted)
        return;
    const bool is_const = !use->written;
    c->uses_m = true;
    const char *from = layout_plane(c->e->mem, c->m, c->e->field_names[f->index], f, ir_storage_plane(key), is_const,
                                    use->flat);
    const char *decl = layout_pointer(c->e->mem, f, is_const, use->unique ? "restrict const " : "const ",
                                      c->planes[key].name, use->flat);
    sb_printf(out, "    %s = %s;\n", decl, from);
}

static void hoist_strides(cfn *c, strbuf *out, ir_storage key)
{
    const ir_field *f = ir_storage_field(c->e->m, key);
    for (int d = 0; d < f->ndim; d++)
        if (c->plan->planes[key].strides & 1u << d) {
            c->uses_m = true;
            sb_printf(out, "    const int64_t %s = %s;\n", stride_name(c, f, ir_storage_plane(key), d),
                      layout_stride(c->e->mem, c->m, c->e->field_names[f->index], ir_storage_plane(key), d));
        }
}

static void hoist_params(cfn *c, strbuf *out)
{
    for (size_t i = 0; i < c->e->m->params.len; i++) {
        const ir_mparam *p = c->e->m->params.at[i];
        if (!c->plan->param_read[i])
            continue;
        c->uses_m = true;
        sb_printf(out, "    const %s %s = %s->params.%s;\n", scalar_c_type(p->type), mparam_name(c, p), c->m,
                  (const char *)ptrmap_get(&c->e->params, p));
    }
}

static void hoist_extents(cfn *c, strbuf *out)
{
    for (size_t i = 0; i < c->e->m->fields.len; i++)
        for (int d = 0; d < 8; d++) {
            if (!c->plan->extent_read[i * 8 + (size_t)d])
                continue;
            c->uses_m = true;
            sb_printf(out, "    const int64_t %s = %s->%s.shape[%d];\n", shape_name(c, c->e->m->fields.at[i], d), c->m,
                      c->e->field_names[i], d);
        }
}

/* In the order of the program's declarations, so that equal bodies have equal declarations. */
void cfn_hoists(cfn *c, strbuf *out)
{
    const size_t storages = ir_storage_count(c->e->m);
    hoist_params(c, out);
    if (c->plan->key_read) {
        c->uses_m = true;
        sb_printf(out, "    const uint64_t %s = %s->tk.key;\n", key_name(c), c->m);
    }
    hoist_extents(c, out);
    for (ir_storage key = 0; key < storages; key++)
        hoist_plane(c, out, key);
    for (ir_storage key = 0; key < storages; key++)
        if (c->plan->planes[key].strides)
            hoist_strides(c, out, key);
    if (c->steps)
        sb_add(out, "    TK_STEPS\n");
    if (c->rounds[0])
        sb_add(out, "    TK_ROUNDING(double, f64)\n");
    if (c->rounds[1])
        sb_add(out, "    TK_ROUNDING(float, f32)\n");
    if (c->others[0])
        sb_add(out, "    TK_OTHERS(double, f64)\n");
    if (c->others[1])
        sb_add(out, "    TK_OTHERS(float, f32)\n");
}
