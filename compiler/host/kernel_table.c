/* The descriptors of kernels, by which libtkc knows what a launch takes, touches and gives. */
#include "host/host_int.h"

static bool is_marked(emitter *e, const ir_func *kernel, const ir_part *p)
{
    return p->plane == IR_DATA && facts_of(&e->facts, kernel)->marked[p->field->index];
}

static void print_parts(emitter *e, const ir_func *kernel)
{
#define NAME(id, word) "TK_" #id,
    static const char *const flags[] = {IR_PART_FLAGS(NAME)};
#undef NAME
    if (kernel->launch.nparts)
        sb_printf(e->out, "static const tk_part %s_parts[] = {\n", file_level(e, kernel->name));
    for (int i = 0; i < kernel->launch.nparts; i++) {
        const ir_part *p = &kernel->launch.parts[i];
        const unsigned mark = is_marked(e, kernel, p) ? IR_PART_MARKED : 0;
        const char *comma = "";
        sb_printf(e->out, "    {%d, %s, ", p->field->index, plane_enum(p->plane));
        for (int k = 0; k < IR_PART_BITS; k++)
            if ((p->what | mark) >> k & 1) {
                sb_printf(e->out, "%s%s", comma, flags[k]);
                comma = " | ";
            }
        sb_printf(e->out, "}, /* %s */\n", p->field->name);
    }
    if (kernel->launch.nparts)
        sb_add(e->out, "};\n");
}

static void print_extent(emitter *e, const ir_func *kernel, const ir_extent *x, const char *comma)
{
    if (x->param >= 0)
        sb_printf(e->out, "%s{.kind = TK_EXTENT_ARGUMENT, .at = offsetof(struct %s, %s)}", comma,
                  kernel_args_tag(e, kernel, FORM_RUN), name_member(e->mem, kernel->sig[x->param].name));
    else if (x->mparam)
        sb_printf(e->out, "%s{.kind = TK_EXTENT_PARAM, .type = %s, .at = offsetof(%s, params.%s)}", comma,
                  scalar_enum(x->mparam->type), e->m->name, (const char *)ptrmap_get(&e->params, x->mparam));
    else
        sb_printf(e->out, "%s{.kind = TK_EXTENT_CONSTANT, .count = %lld}", comma, (long long)x->count);
}

/* Its arrays: the field that each is during a launch, and where its pointers and extents stand among the arguments. */
static int print_arrays(emitter *e, const ir_func *kernel)
{
    strbuf *b = e->out;
    const char *tag = kernel_args_tag(e, kernel, FORM_RUN);
    int n = 0;
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (!p->array)
            continue;
        if (n++ == 0)
            sb_printf(b, "static const tk_array_desc %s_arrays[] = {\n", file_level(e, kernel->name));
        bool copied = false; /* of structs: in all of them, or in none */
        for (int k = 0; k < kernel->nsig; k++)
            copied |= kernel->sig[k].array && kernel->sig[k].array->copied && kernel->sig[k].name == p->name;
        const char *what = copied          ? "TK_ARRAY_OUT | TK_ARRAY_COPIED"
                           : !p->array->in ? "TK_ARRAY_OUT"
                           : p->array->out ? "TK_ARRAY_IN | TK_ARRAY_OUT"
                                           : "TK_ARRAY_IN";
        sb_printf(b, "    {%d, %s, offsetof(struct %s, %s), {", p->array->index, what, tag,
                  name_member(e->mem, p->name));
        for (int d = 0; d < p->array->ndim; d++)
            print_extent(e, kernel, &p->array->dims[d], d ? ", " : "");
        sb_add(b, "}},\n");
    }
    if (n)
        sb_add(b, "};\n");
    return n;
}

/* What a launch takes by value, for whoever knows its types from here alone. */
static int print_parameters(emitter *e, const ir_func *kernel)
{
    int n = 0;
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (p->array)
            continue;
        if (n++ == 0)
            sb_printf(e->out, "static const tk_parameter %s_parameters[] = {\n", file_level(e, kernel->name));
        const char *dot = p->structure ? "." : "", *path = p->structure ? p->path : "";
        sb_printf(e->out, "    {\"%s%s%s\", %s, %d, offsetof(struct %s, %s%s%s)},\n", p->name, dot, path,
                  scalar_enum(p->elem), p->rows * p->cols, kernel_args_tag(e, kernel, FORM_RUN),
                  name_member(e->mem, p->name), dot, path);
    }
    if (n)
        sb_add(e->out, "};\n");
    return n;
}

static int kernel_index(const ir_module *m, const ir_func *kernel)
{
    int n = 0;
    for (size_t i = 0; m->funcs.at[i] != kernel; i++)
        n += ir_is_kernel(m->funcs.at[i]);
    return n;
}

static bool reads_fields(const ir_func *bounds)
{
    for (const ir_op *op = bounds->body->first; op; op = op->next)
        if (op->code == OP_LOAD)
            return true;
    return false;
}

static int count_compared(const ir_launch *l)
{
    int n = 0;
    while (n < l->nparts && l->parts[n].compared)
        n++;
    return n;
}

/* The functions that compute the boxes of parts, and how many ends these have. */
static void print_ends(emitter *e, const ir_func *kernel)
{
    const ir_func *bounds = kernel->launch.bounds, *beside = kernel->launch.beside;
    const char *own = file_level(e, kernel->name);
    const int nbounds = bounds ? bounds->nresults : 0;
    sb_printf(e->out, ",\n     .parts = %s_parts, .ncompared = %d, .nparts = %d", own, count_compared(&kernel->launch),
              kernel->launch.nparts);
    if (bounds)
        sb_printf(e->out, ", .bounds = %s_bounds", own);
    if (beside)
        sb_printf(e->out, ", .beside = %s_beside", own);
    if (bounds)
        sb_printf(e->out, ", .nbounds = %d", nbounds);
    bool saves = false, marks = false;
    for (int i = 0; i < kernel->launch.nparts; i++) {
        saves |= kernel->launch.parts[i].field->saved && kernel->launch.parts[i].plane == IR_DATA;
        marks |= is_marked(e, kernel, &kernel->launch.parts[i]);
    }
    sb_printf(e->out, ", .nends = %d%s%s%s%s", nbounds + (beside ? beside->nresults : 0),
              bounds && reads_fields(bounds) ? ", .bounds_read = true" : "",
              beside && reads_fields(beside) ? ", .beside_reads = true" : "", saves ? ", .saves = true" : "",
              marks ? ", .marks = true" : "");
}

/* How many entries its tables have. */
typedef struct counts {
    int arrays, parameters;
} counts;

static void print_kernel(emitter *e, const ir_func *kernel, int index, const counts *n)
{
    strbuf *b = e->out;
    const char *own = file_level(e, kernel->name);
    static const char *const member[] = {
        [FORM_RUN] = "run", [FORM_GRAD] = "grad", [FORM_JVP] = "jvp", [FORM_HVP] = "hvp"};
    sb_printf(b, "    {.name = %s, .index = %d", c_string(e->mem, kernel_shown_name(e->mem, kernel)), index);
    if (kernel_has_args(kernel))
        sb_printf(b, ", .args_size = sizeof(struct %s)", kernel_args_tag(e, kernel, FORM_RUN));
    if (kernel_has_args(kernel) && (kernel->ad.jvp || kernel->ad.hvp))
        sb_printf(b, ", .jvp_args_size = sizeof(struct %s)", kernel_args_tag(e, kernel, FORM_JVP));
    sb_add(b, ",\n     ");
    for (int form = FORM_RUN; form <= FORM_HVP; form++)
        if (kernel_form_of(kernel, (kernel_form)form))
            sb_printf(b, "%s.%s = %s%s_run", form ? ", " : "", member[form], own,
                      kernel_form_of(kernel, (kernel_form)form) == kernel ? "" : form_suffix((kernel_form)form));
    const char *untaped = kernel_has_wide_adjoint(kernel) ? "its gradients have several directions"
                                                          : why_no_grad(kernel);
    if (untaped)
        sb_printf(b, ",\n     .no_grad = %s", c_string(e->mem, untaped));
    if (why_no_jvp(kernel))
        sb_printf(b, ",\n     .no_jvp = %s", c_string(e->mem, why_no_jvp(kernel)));
    if (kernel->launch.nparts)
        print_ends(e, kernel);
    if (n->parameters)
        sb_printf(b, ",\n     .parameters = %s_parameters, .nparameters = %d", own, n->parameters);
    if (n->arrays)
        sb_printf(b, ",\n     .arrays = %s_arrays, .narrays = %d", own, n->arrays);
    if (kernel_gives_floats(kernel))
        sb_add(b, ", .result = true");
    if (kernel_gives_gradients(kernel))
        sb_add(b, ", .grad_args = true");
    if (kernel->ad.custom_grad)
        sb_printf(b, ", .back = &%s[%d]", e->kernels, kernel_index(e->m, kernel->ad.custom_grad));
    sb_printf(b, "%s%s},\n", kernel->draws ? ", .draws = true" : "",
              kernel->launch.records > 0 ? ", .records = true" : "");
}

int emit_kernel_table(emitter *e)
{
    const ir_module *m = e->m;
    int n = 0;
    counts *has = ARENA_ARRAY(e->mem, counts, m->funcs.len + 1);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i])) {
            has[n].arrays = print_arrays(e, m->funcs.at[i]);
            has[n++].parameters = print_parameters(e, m->funcs.at[i]);
            print_parts(e, m->funcs.at[i]);
        }
    if (n == 0)
        return 0;
    sb_addc(e->out, '\n');
    sb_printf(e->out, "static const tk_kernel %s[%d] = {\n", e->kernels, n);
    n = 0;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i])) {
            print_kernel(e, m->funcs.at[i], n, &has[n]);
            n++;
        }
    sb_add(e->out, "};\n\n");
    return n;
}
