/* One C function: what its body uses, and what is declared at its top because of that. */
#include "emit/emit_int.h"

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
    c->no_restrict = e->m->debug; /* libtkc looks at elements after each access */
    c->names = names_create(e->mem, e->globals);
    c->planes = zeroed(ir_storage_count(e->m) + 1, sizeof *c->planes);
    c->shape_names = zeroed(e->m->fields.len * 8 + 1, sizeof *c->shape_names);
    c->mparam_names = ARENA_ARRAY(e->mem, const char *, e->m->params.len + 1);
    c->mparam_used = ARENA_ARRAY(e->mem, bool, e->m->params.len + 1);
    return c;
}

void cfn_free(cfn *c)
{
    names_free(c->names);
    free(c->planes);
    free(c->shape_names);
    vec_free(&c->loads);
    vec_free(&c->touched);
    vec_free(&c->shapes);
    vec_free(&c->mparams);
    vec_free(&c->stages);
}

static plane_ref *touch(cfn *c, ir_storage key)
{
    plane_ref *p = &c->planes[key];
    if (!p->listed) {
        p->listed = true;
        vec_push(&c->touched, key);
    }
    return p;
}

static plane_ref *touch_component(cfn *c, const ir_op *op, ir_plane plane)
{
    const ir_field *f = ir_field_of(op);
    plane_ref *p = touch(c, ir_storage_of(f, plane));
    if (f->shape == IR_SHAPE_MAT && !ir_component_known(op))
        p->flat = true; /* where the layout has no rows of components, without meaning */
    return p;
}

static void scan_memory(cfn *c, const ir_op *op)
{
    plane_ref *p = touch_component(c, op, ir_access_attr(op)->plane);
    if (op->code == OP_LOAD)
        p->read = true;
    else if ((op->code == OP_ACCUM || op->code == OP_ATOMIC) && op_is_scatter(op))
        p->scatter = p->flat = true; /* flat: one pointer type for all functions it is passed to */
    else if (op->code == OP_ACCUM)
        p->plain_accum = true;
    else if (op_writes_field(op->code))
        p->written = true;
    if (op->code == OP_ATOMIC && ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT)
        touch_component(c, op, ir_tangent_of(ir_access_attr(op)->plane))->written = true;
}

static void scan_call(cfn *c, const ir_op *op)
{
    const func_facts *info = facts_of(&c->e->facts, ir_callee_of(op));
    for (ir_storage key = 0; key < ir_storage_count(c->e->m); key++) {
        if (!info->planes[key])
            continue;
        plane_ref *p = touch(c, (int)key);
        if (info->planes[key] & (OP_READS | OP_STORES)) {
            p->by_callee = true;
            p->callee_writes |= (info->planes[key] & OP_STORES) != 0;
        }
        if (info->planes[key] & OP_ADDS) {
            p->flat = true;
            if (c->kind == CFN_RUN) {
                p->written = true;
                p->by_callee = p->callee_writes = true;
            } else {
                p->scatter = true;
            }
        }
    }
}

static const char *take_mparam(cfn *c, const ir_mparam *p)
{
    const char **name = &c->mparam_names[p->index];
    if (!*name) {
        if (c->kind == CFN_EXTENTS)
            *name = arena_printf(c->e->mem, "params->%s", (const char *)ptrmap_get(&c->e->params, p));
        else
            *name = names_unique_function(c->names, p->name);
        vec_push(&c->mparams, p->index);
    }
    return *name;
}

const char *mparam_name(cfn *c, const ir_mparam *p)
{
    c->mparam_used[p->index] = true;
    return take_mparam(c, p);
}

const char *key_name(cfn *c)
{
    if (!c->key)
        c->key = names_unique_function(c->names, "key");
    return c->key;
}

void cfn_scan(cfn *c, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op_is_dead(c->use, op))
            continue;
        if (op_memory_of(op->code) == MEMORY_FIELD)
            scan_memory(c, op);
        switch (op->code) {
        case OP_CALL:
            scan_call(c, op);
            break;
        case OP_MPARAM:
            take_mparam(c, ir_mparam_attr(op)->param);
            break;
        default:
            break;
        }
        if (op->code == OP_TASK) {
            c->no_restrict = true; /* task functions have pointers of their own to the same memory */
            continue;
        }
        for (int i = 0; i < op->nregions; i++)
            cfn_scan(c, op->regions[i]);
    }
}

/* One pointer may serve several fields, but for those that a task scatters into. */
static plane_ref *same_pointer(cfn *c, size_t i)
{
    const ir_storage key = c->touched.at[i];
    const ir_field *f = ir_storage_field(c->e->m, key);
    plane_ref *p = &c->planes[key];
    for (size_t k = 0; k < i && !p->scatter; k++) {
        const ir_storage other = c->touched.at[k];
        plane_ref *q = &c->planes[other];
        if (ir_storage_plane(other) != ir_storage_plane(key) ||
            !layout_one_pointer(f, ir_storage_field(c->e->m, other)) || q->scatter || q->same)
            continue;
        q->written |= p->written | p->plain_accum;
        q->by_callee |= p->by_callee;
        q->callee_writes |= p->callee_writes;
        return q;
    }
    return NULL;
}

static const char *pointer_hint(const cfn *c, ir_storage key)
{
    const ir_field *f = ir_storage_field(c->e->m, key);
    return c->planes[key].scatter ? f->name : layout_title(f);
}

void cfn_take_names(cfn *c)
{
    for (size_t i = 0; i < c->touched.len; i++) {
        const ir_storage key = c->touched.at[i];
        const char *name = arena_printf(c->e->mem, "%s%s", pointer_hint(c, key), plane_tail(ir_storage_plane(key)));
        c->planes[key].written |= c->planes[key].plain_accum &&
                                  !c->planes[key].scatter; /* else it goes through the scatter's pointer, too */
        c->planes[key].same = same_pointer(c, i);
        if (c->planes[key].same)
            continue;
        if (!c->planes[key].name) /* arrays have their parameters' names */
            c->planes[key].name = names_unique_function(c->names, name);
        if (c->planes[key].scatter)
            c->planes[key].acc_name = c->planes[key].name;
        /* both: reads and plain writes go to the field, accumulations may go to a private copy */
        if (c->planes[key].scatter && (c->planes[key].read || c->planes[key].written || c->planes[key].by_callee))
            c->planes[key].acc_name = names_unique_function(c->names, arena_printf(c->e->mem, "%s_sum", name));
    }
    c->m = names_internal(c->names, c->fs->hints, "m");
    c->st = names_internal(c->names, c->fs->hints, "st");
    c->a = names_internal(c->names, c->fs->hints, "a");
}

/* ---- declarations at the top ---- */

const char *plane_pointer(cfn *c, const ir_field *f, ir_plane plane, bool scatter)
{
    plane_ref *p = &c->planes[ir_storage_of(f, plane)];
    if (scatter && p->scatter) {
        p->acc_used = true;
        return p->acc_name;
    }
    if (p->same)
        p = p->same;
    p->used = true;
    return p->name;
}

const char *shape_name(cfn *c, const ir_field *f, int dim)
{
    if (f->array && f->dims[dim].param < 0 && !f->dims[dim].mparam)
        return arena_printf(c->e->mem, "%lld", (long long)f->dims[dim].count);
    if (is_argument(f))
        return name_member(c->e->mem, c->f->sig[f->dims[dim].param].name);
    f = f->lead ? f->lead : f;
    const char **name = &c->shape_names[f->index * 8 + dim];
    if (!*name) {
        *name = names_unique_function(c->names, arena_printf(c->e->mem, "%s_n%d", f->lead ? f->whole : f->name, dim));
        vec_push(&c->shapes, f->index * 8 + dim);
    }
    return *name;
}

const char *stride_name(cfn *c, const ir_field *f, ir_plane p, int dim)
{
    plane_ref *r = &c->planes[ir_storage_of(f, p)];
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
    if (is_argument(f))
        return;
    const plane_ref *p = &c->planes[key];
    const bool separate = p->acc_name && p->acc_name != p->name;
    if (p->same || (!p->used && !(p->acc_used && !separate)))
        return;
    const bool from_args = p->acc_name &&
                           !separate; /* the pointer is a parameter, or comes with the task's arguments */
    if (from_args)
        return;
    const bool is_const = !p->written;
    const bool shared = c->no_restrict || separate || (p->by_callee && (p->written || p->callee_writes));
    c->uses_m = true;
    const char *from = layout_plane(c->e->mem, c->m, c->e->field_names[f->index], f, ir_storage_plane(key));
    const char *decl = layout_pointer(c->e->mem, f, is_const, shared ? "const " : "restrict const ", p->name, p->flat);
    sb_printf(out, "    %s = %s%s;\n", decl, layout_cast(c->e->mem, f, is_const, p->flat), from);
}

static void hoist_strides(cfn *c, strbuf *out, ir_storage key)
{
    const ir_field *f = ir_storage_field(c->e->m, key);
    for (int d = 0; c->planes[key].strides && d < f->ndim; d++)
        if (c->planes[key].strides[d]) {
            c->uses_m = true;
            sb_printf(out, "    const int64_t %s = %s;\n", c->planes[key].strides[d],
                      layout_stride(c->e->mem, c->m, c->e->field_names[f->index], ir_storage_plane(key), d));
        }
}

static int by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* In the order of the program's declarations, so that equal bodies have equal declarations. */
static void sort_hoists(cfn *c)
{
    if (c->mparams.len > 1)
        qsort(c->mparams.at, c->mparams.len, sizeof *c->mparams.at, by_number);
    if (c->shapes.len > 1)
        qsort(c->shapes.at, c->shapes.len, sizeof *c->shapes.at, by_number);
    if (c->touched.len > 1)
        qsort(c->touched.at, c->touched.len, sizeof *c->touched.at, by_number);
}

void cfn_hoists(cfn *c, strbuf *out)
{
    sort_hoists(c);
    for (size_t i = 0; i < c->mparams.len; i++) {
        const ir_mparam *p = c->e->m->params.at[c->mparams.at[i]];
        if (c->kind == CFN_EXTENTS || !c->mparam_used[p->index])
            continue;
        c->uses_m = true;
        sb_printf(out, "    const %s %s = %s->params.%s;\n", scalar_c_type(p->type), c->mparam_names[p->index], c->m,
                  (const char *)ptrmap_get(&c->e->params, p));
    }
    if (c->key) {
        c->uses_m = true;
        sb_printf(out, "    const uint64_t %s = %s->tk.key;\n", c->key, c->m);
    }
    for (size_t i = 0; i < c->shapes.len; i++) {
        const int key = c->shapes.at[i];
        c->uses_m = true;
        sb_printf(out, "    const int64_t %s = %s->%s.shape[%d];\n", c->shape_names[key], c->m,
                  c->e->field_names[key / 8], key % 8);
    }
    for (size_t i = 0; i < c->touched.len; i++)
        hoist_plane(c, out, c->touched.at[i]);
    for (size_t i = 0; i < c->touched.len; i++)
        hoist_strides(c, out, c->touched.at[i]);
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
