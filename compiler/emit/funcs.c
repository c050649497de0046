/* Called functions: what they need from their callers, and their C. */
#include "emit/emit_int.h"

#include <string.h>

static const src_loc nowhere = {0, 0, 0};

/* ---- names ---- */

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

/* A kernel f_vjp, or one called f_jvp whose adjoint is f_jvp_grad: structs are named after them, as after a function
 * f's derivatives. */
static bool is_kernel_form(const ir_module *m, const char *name)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        const char *kernel = m->funcs.at[i]->name;
        const size_t n = strlen(kernel);
        if (!ir_is_kernel(m->funcs.at[i]) || strncmp(name, kernel, n) != 0)
            continue;
        for (int form = 0; form <= FORM_HVP; form++)
            if (strcmp(name + n, form_suffix((kernel_form)form)) == 0)
                return true;
    }
    return false;
}

/* Kernels' own functions and tables are called k_run, k_task0, k_task0_atomic, k_parts, k_arrays, k_bounds, k_beside: a
 * function of the user gives way, to them and to the module's own. */
static const char *file_name(emitter *e, const char *name)
{
    static const char *const ends[] = {"_run", "_parts", "_arrays", "_bounds", "_beside"};
    const char *const own[] = {e->kernels,     e->fields, e->members, e->desc, e->sites_name,
                               e->places_name, e->bounds, e->extents, e->take};
    bool clash = strstr(name, "_task") != NULL || is_kernel_form(e->m, name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        clash |= ends_in(name, ends[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        clash |= strcmp(file_level(e, name), own[i]) == 0;
    return clash ? arena_printf(e->mem, "%s_fn", name) : name;
}

typedef struct c_function {
    const char *name;
    bool printed;
} c_function;

static c_function *function_of(emitter *e, const ir_func *f)
{
    const func_facts *info = facts_of(&e->facts, f);
    c_function *c = ptrmap_get(&e->functions, info);
    if (c)
        return c;
    c = ARENA_NEW(e->mem, c_function);
    ptrmap_set(&e->functions, info, c);
    *c = (c_function){0};
    if (f->kind == IR_FUNC)
        c->name = f->external && extern_is_direct(f)
                      ? f->name
                      : file_level(e, names_unique(e->globals, f->external ? arena_printf(e->mem, "call_%s", f->name)
                                                                           : file_name(e, f->name)));
    return c;
}

const char *function_name(emitter *e, const ir_func *f)
{
    return function_of(e, f)->name;
}

/* ---- functions ---- */

static void emit_callees(emitter *e, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_CALL)
            emit_function(e, ir_callee_of(op));
        for (int i = 0; i < op->nregions; i++)
            emit_callees(e, op->regions[i]);
    }
}

void emit_functions_of(emitter *e, const ir_func *f)
{
    emit_callees(e, f->body);
}

static bool accumulates(const emitter *e, const func_facts *info)
{
    for (ir_storage key = 0; key < ir_storage_count(e->m); key++)
        if (info->planes[key] & OP_ADDS)
            return true;
    return false;
}

static void hidden_params(cfn *c, strbuf *params)
{
    emitter *e = c->e;
    const func_facts *info = c->info;
    if (info->module)
        sb_printf(params, "const %s *%s", e->m->name, c->m);
    if (info->stack)
        sb_printf(params, info->pure ? "%sunsigned char *%s" : "%stk_stack *%s", params->len ? ", " : "", c->st);
    for (ir_storage key = 0; key < ir_storage_count(e->m); key++)
        if (info->planes[key] & OP_ADDS)
            sb_printf(params, "%s%s", params->len ? ", " : "",
                      layout_pointer(e->mem, ir_storage_field(e->m, key), false, "", c->planes[key].acc_name,
                                     c->plan->planes[key].flat));
    if (c->atomic)
        sb_printf(params, "%sconst bool %s", params->len ? ", " : "", c->atomic);
}

/* Results: returned if there is one and the function cannot fail, else through pointers. */
static void yield_results(cfn *c, const ir_func *f, const char *const *outs)
{
    const ir_op *yield = f->body->last;
    if (!outs && f->nresults == 1) {
        stmt(c, yield->loc, "return %s;", val(c, yield->args[0]).text);
        return;
    }
    for (int i = 0; i < f->nresults; i++)
        stmt(c, yield->loc, "*%s = %s;", outs[i], val(c, yield->args[i]).text);
    if (c->info->can_fail)
        stmt(c, nowhere, "return true;");
}

static void print_function(cfn *c, const ir_func *f, const char *params, const strbuf *body)
{
    emitter *e = c->e;
    strbuf hoists = {0};
    cfn_hoists(c, &hoists);
    const func_facts *info = c->info;
    const char *result = info->can_fail ? "bool" : f->nresults == 1 ? scalar_c_type(f->results[0]) : "void";
    const char *whole = needs_whole_loops(&e->facts, f->body) ? "TK_WHOLE_LOOPS\n" : "";
    sb_printf(e->out, "/* func %s, %s */\n%sstatic %s %s(%s)\n{\n", f->name, place_of(e, f->loc), whole, result,
              e->base, *params ? wrap_list(e->mem, params, strlen("static bool (") + strlen(e->base), 2) : "void");
    if (info->module && !c->uses_m)
        sb_printf(e->out, "    (void)%s;\n", c->m);
    if (info->stack && !c->uses_st)
        sb_printf(e->out, "    (void)%s;\n", c->st);
    for (int i = 0; i < f->body->nparams; i++)
        if (!c->use[f->body->params[i]->id].uses)
            sb_printf(e->out, "    (void)%s;\n", c->v[f->body->params[i]->id].e.text);
    sb_add(e->out, sb_str(&hoists));
    sb_addn(e->out, sb_str(body), body->len);
    sb_add(e->out, "}\n");
    reset_line(e, e->out);
    sb_addc(e->out, '\n');
    sb_free(&hoists);
}

void emit_function(emitter *e, const ir_func *f)
{
    const func_facts *info = facts_of(&e->facts, f);
    c_function *function = function_of(e, f);
    if (function->printed || (f->external && extern_is_direct(f)))
        return;
    function->printed = true;
    emit_callees(e, f->body);
    e->base = function->name;
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_FUNC, &fs);
    strbuf body = {0}, params = {0};
    c->out = &body;
    c->info = info;
    c->pure = info->pure;
    c->fail = "return false;";
    body_plan plan = cfn_plan(c);
    cfn_take_names(c, &plan);
    if (accumulates(e, info))
        c->atomic = names_internal(c->names, fs.hints, "atomic");
    hidden_params(c, &params);
    for (int i = 0; i < f->body->nparams; i++) {
        const ir_value *p = f->body->params[i];
        const char *name = names_unique_function(c->names, p->name ? p->name : "arg");
        define_name(c, p, name);
        sb_printf(&params, "%s%s", params.len ? ", " : "", declare(c, p, false, name));
    }
    const char **outs = NULL;
    if (f->nresults > 1 || info->can_fail) {
        outs = ARENA_ARRAY(e->mem, const char *, f->nresults + 1);
        for (int i = 0; i < f->nresults; i++) {
            const ir_value *y = f->body->last->args[i];
            outs[i] = names_unique_function(c->names, arena_printf(e->mem, "%s_out", y->name ? y->name : "r"));
            sb_printf(&params, "%s%s *%s", params.len ? ", " : "", scalar_c_type(f->results[i]), outs[i]);
        }
    }
    emit_ops(c, f->body);
    yield_results(c, f, outs);
    print_function(c, f, sb_str(&params), &body);
    cfn_free(c);
    body_plan_free(&plan);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&params);
}

/* ---- the fields' extents, from the module's parameters ---- */

void emit_extents(emitter *e)
{
    const ir_func *f = e->m->extents;
    if (!f || f->body->last->nargs == 0)
        return;
    emit_callees(e, f->body);
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_EXTENTS, &fs);
    strbuf body = {0};
    c->out = &body;
    c->info = facts_of(&e->facts, f);
    names_unique_function(c->names, "params");
    names_unique_function(c->names, "n");
    body_plan plan = cfn_plan(c);
    c->plan = &plan;
    emit_ops(c, f->body);
    for (int i = 0; i < f->body->last->nargs; i++)
        stmt(c, nowhere, "n[%d] = %s;", i, val(c, f->body->last->args[i]).text);
    sb_printf(e->out,
              "/* All fields' extents, one field after the other. */\nstatic void %s(const %s_params *params, int64_t "
              "*n)\n{\n",
              e->extents, e->m->name);
    if (!plan.params.len)
        sb_add(e->out, "    (void)params;\n");
    sb_addn(e->out, sb_str(&body), body.len);
    sb_add(e->out, "}\n");
    reset_line(e, e->out);
    sb_addc(e->out, '\n');
    cfn_free(c);
    body_plan_free(&plan);
    fstate_free(&fs);
    sb_free(&body);
}
