/* Functions of tensors: tables of what goes in and out, which the support for PyTorch and JAX reads. */
#include "python/python.h"

#include <string.h>

#include "python/python_int.h"

extern const char python_wrap_support[], python_fields_support[], python_torch_support[], python_torch_fields_support[],
    python_jax_support[], python_jax_fields_support[]; /* support_*.py */

static const char *const form_names[] = {
    [FORM_RUN] = "run", [FORM_GRAD] = "grad", [FORM_JVP] = "jvp", [FORM_HVP] = "hvp"};

static bool touches_fields(python *p, const ir_func *f)
{
    const func_facts *info = facts_of(&p->e.facts, f);
    for (size_t i = 0; i < p->e.m->nfields; i++)
        for (int plane = IR_DATA; plane < IR_PLANES; plane++)
            if (info->planes[ir_storage_of(p->e.m->fields.at[i], (ir_plane)plane)])
                return true;
    return false;
}

/* Why there is no function of tensors; NULL: there is. */
static const char *why_not(python *p, const call *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->at[i].sig->p.structure && c->at[i].role != ROLE_VALUE)
            return "it has arrays or results of structs";
    if (ir_is_kernel(c->f) && touches_fields(p, c->f))
        return "the kernel reads or writes fields (over_fields)";
    return ir_is_kernel(c->f) && c->f->draws ? "the kernel draws random numbers" : NULL;
}

static const char *kind_of(const item *x)
{
    const ir_field *a = x->sig->p.array;
    if (a)
        return x->sig->use == SIG_INPUT ? "in" : a->in ? "inout" : "out";
    return x->role == ROLE_RESULT ? "result" : x->sig->p.structure ? "struct" : "value";
}

static void print_items(python *p, const call *run)
{
    for (int i = 0; i < run->n; i++) {
        const item *x = &run->at[i];
        if (x->role == ROLE_EXTENT)
            continue;
        sb_printf(p->out, "        _Item(\"%s\", \"%s\", %s, ", x->name, kind_of(x),
                  python_element_type(run, &x->sig->p));
        if (x->sig->p.array)
            sb_printf(p->out, "lambda self: %s", python_dims(run, &x->sig->p, true));
        else
            sb_add(p->out, "None");
        sb_printf(p->out, ", %s),\n", python_element_shape(run, &x->sig->p));
    }
}

/* Which item of the launch an argument or result of a form belongs to; -1: none. */
static int item_of(const call *run, const item *x)
{
    int at = 0;
    for (int i = 0; i < run->n; i++) {
        if (run->at[i].role == ROLE_EXTENT)
            continue;
        if (strcmp(run->at[i].sig->p.name, x->sig->p.name) == 0)
            return at;
        at++;
    }
    return -1;
}

static void print_calls(python *p, const call *run)
{
    for (int form = FORM_RUN; form <= FORM_HVP; form++) {
        if (!kernel_form_of(run->f, (kernel_form)form))
            continue;
        call c = python_call_new(p, run->f, (kernel_form)form);
        sb_printf(p->out, "        \"%s\": (", form_names[form]);
        for (int i = 0; i < c.n; i++) {
            const item *x = &c.at[i];
            if (x->role == ROLE_EXTENT)
                continue;
            const bool result = x->role == ROLE_RESULT || x->role == ROLE_NEW_ARRAY;
            sb_printf(p->out, "(\"%s\", %d, %d, \"%s%s\"), ", x->name, item_of(run, x), (int)x->sig->plane,
                      python_is_argument(x) ? "a" : "", result ? "r" : "");
        }
        sb_add(p->out, "),\n");
        vec_free(&c.sigs);
    }
}

static void print_forms(python *p, const ir_func *f)
{
    for (int form = FORM_RUN; form <= FORM_HVP; form++)
        if (kernel_form_of(f, (kernel_form)form))
            sb_printf(p->out, "\"%s\": %s, ", form_names[form],
                      ir_is_kernel(f) ? "None"
                                      : (const char *)ptrmap_get(&p->names, kernel_form_of(f, (kernel_form)form)));
}

static void print_function(python *p, const ir_func *f, const char *name)
{
    const char *attribute = ptrmap_get(&p->names, f);
    call run = python_call_new(p, f, FORM_RUN);
    const char *why = why_not(p, &run);
    sb_printf(p->out, "    \"%s\": _Function(\"%s\", ", name, name);
    if (why) {
        sb_printf(p->out, "None, {}, (), {}, \"%s\"),\n", why);
    } else {
        sb_printf(p->out, ir_is_kernel(f) ? "\"%s\"" : "None", attribute);
        sb_add(p->out, ", {");
        print_forms(p, f);
        sb_add(p->out, "}, (\n");
        print_items(p, &run);
        sb_add(p->out, "    ), {\n");
        print_calls(p, &run);
        sb_add(p->out, "    }),\n");
    }
    vec_free(&run.sigs);
}

void python_wrappers(python *p, unsigned frameworks)
{
    const bool object = module_has_object(p->e.m);
    types_wrappers(p, frameworks);
    sb_printf(p->out, "%s\n\n", python_wrap_support);
    if (object)
        sb_printf(p->out, "%s\n\n", python_fields_support);
    if (frameworks & PYTHON_TORCH)
        sb_printf(p->out, "%s%s\n\n", python_torch_support, object ? python_torch_fields_support : "");
    if (frameworks & PYTHON_JAX)
        sb_printf(p->out, "%s%s\n\n", python_jax_support, object ? python_jax_fields_support : "");
    py_names taken = {0};
    vec_push(&taken, "over_fields");
    sb_add(p->out, "_functions = {\n");
    for (size_t i = 0; i < p->e.m->funcs.len; i++) {
        const ir_func *f = p->e.m->funcs.at[i];
        const char *name = ptrmap_get(&p->names, f);
        if (name && (ir_is_kernel(f) || ir_is_export(f)) && !f->ad.primal)
            print_function(p, f, py_name(p->e.mem, &taken, PY_CLASS, name));
    }
    vec_free(&taken);
    sb_add(p->out, "}\n");
    if (frameworks & PYTHON_TORCH)
        sb_add(p->out, "torch = _Torch()\n");
    if (frameworks & PYTHON_JAX)
        sb_add(p->out, "jax = _Jax()\n");
}
