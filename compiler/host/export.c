/* Export funcs: plain C functions of their arguments, without module object or library. */
#include "host/host_int.h"

#include <assert.h>
#include <string.h>

static const src_loc nowhere = {0, 0, 0};

/* ---- arguments: what stands in the C signature, and which values of the function they carry ---- */

/* All components of a parameter or result; of a struct, those of a member. */
typedef struct arg {
    ir_sigparam p; /* with the name that it has in C */
    ir_plane plane;
    sig_use use;
    int value;     /* of the first component: region parameter of what goes in, yielded value of what comes out */
    bool add;      /* gradients are added to what is there */
    bool optional; /* NULL: not wanted */
} arg;

typedef struct arg_list {
    arg *at;
    int n;
} arg_list;

static int components(const ir_sigparam *p)
{
    return p->rows * p->cols;
}

static ir_storage storage_of(const arg *a)
{
    return ir_storage_of(a->p.array, a->plane);
}

/* A matrix has the function's own. */
static const ir_sigparam *signature_of(const ir_func *f, kernel_form form)
{
    return form >= FORM_JAC ? f->sig : kernel_form_of(f, form)->sig;
}

/* Inputs in the order of the region's parameters, outputs in the order of the yielded values;
 * docs/c-api/export-func.md has the order in C. */
static void push_inputs(arena *mem, arg_list *l, const ir_func *f, kernel_form form)
{
    const bool reverse = form == FORM_GRAD || form == FORM_HVP;
    const ir_sigparam *sig = signature_of(f, form);
    int value = 0;
    for (int tangent = 0; tangent <= (form == FORM_JVP || form == FORM_HVP); tangent++) {
        for (int i = 0; i < f->nsig; i++) {
            if (tangent && !sig_has_tangent(&sig[i]))
                continue;
            const ir_field *array = sig[i].array;
            const bool written = array && array->out && !(reverse && array->in);
            l->at[l->n++] = (arg){.p = sig[i],
                                  .plane = plane_of(false, tangent),
                                  .use = written   ? SIG_RESULT
                                         : tangent ? SIG_OPTIONAL
                                                   : SIG_INPUT,
                                  .value = value};
            value += components(&sig[i]);
        }
        for (int i = 0; i < f->nouts && form == FORM_HESS && matrix_has_multipliers(f); i++) {
            if (!sig_is_float(&f->outs[i]))
                continue;
            l->at[l->n++] = (arg){.p = matrix_multiplier(mem, f, i), .use = SIG_INPUT, .value = value};
            value += components(&f->outs[i]);
        }
        for (int i = 0; i < f->nsig && reverse; i++)
            if (sig[i].grad && sig_is_seed(&sig[i]))
                l->at[l->n++] = (arg){.p = sig[i], .plane = plane_of(true, tangent), .use = SIG_OPTIONAL};
        for (int i = 0; i < f->nouts && reverse; i++) {
            const ir_sigparam r = sig_result(mem, f, i);
            if (!sig_is_float(&r))
                continue;
            l->at[l->n++] = (arg){.p = r, .plane = plane_of(true, tangent), .use = SIG_OPTIONAL, .value = value};
            value += components(&r);
        }
    }
}

static void push_outputs(arena *mem, arg_list *l, const ir_func *f, kernel_form form)
{
    const bool reverse = form == FORM_GRAD || form == FORM_HVP;
    const ir_sigparam *sig = signature_of(f, form);
    int value = 0;
    for (int tangent = 0; tangent <= (form == FORM_JVP || form == FORM_HVP); tangent++) {
        for (int i = 0; i < f->nouts; i++) {
            const ir_sigparam r = sig_result(mem, f, i);
            if (tangent && !sig_is_float(&r))
                continue;
            l->at[l->n++] = (arg){.p = r,
                                  .plane = plane_of(false, tangent),
                                  .use = SIG_RESULT,
                                  .value = value,
                                  .optional = form != FORM_RUN};
            value += components(&r);
        }
        for (int i = 0; i < f->nsig && reverse; i++) {
            if (!sig[i].grad || sig_is_seed(&sig[i]))
                continue;
            l->at[l->n++] = (arg){.p = sig[i],
                                  .plane = plane_of(true, tangent),
                                  .use = SIG_RESULT,
                                  .value = value,
                                  .add = true,
                                  .optional = true};
            value += components(&sig[i]);
        }
    }
}

static arg_list list_new(arena *mem, const ir_func *f)
{
    return (arg_list){ARENA_ARRAY(mem, arg, 4 * (f->nsig + f->nouts) + 1), 0};
}

/* ---- the C signature ---- */

static bool is_one(const arg *a, const char *name, ir_plane plane)
{
    return strcmp(a->p.name, name) == 0 && a->plane == plane;
}

/* Members of a struct follow each other: whether a is the first of one argument in C. */
static bool begins(const arg_list *l, const arg *a)
{
    return a == l->at || !is_one(a - 1, a->p.name, a->plane);
}

static bool ends(const arg_list *l, const arg *a)
{
    return a == l->at + l->n - 1 || !is_one(a + 1, a->p.name, a->plane);
}

/* Everything of one parameter or result of that plane, and behind it its dual. */
static void push_group(sig_items *items, const arg_list *l, ir_plane plane)
{
    const ir_plane dual = ir_tangent_of(plane);
    for (int i = 0; i < l->n; i++) {
        const arg *a = &l->at[i];
        if (a->plane != plane || !begins(l, a))
            continue;
        vec_push(items, ((sig_item){a->p, plane, a->use}));
        for (int k = 0; k < l->n; k++)
            if (is_one(&l->at[k], a->p.name, dual) && begins(l, &l->at[k]))
                vec_push(items, ((sig_item){l->at[k].p, dual, l->at[k].use}));
    }
}

const char *export_workspace_name(arena *mem, const ir_func *f)
{
    return free_name(mem, f, "workspace");
}

void export_items(arena *mem, sig_items *items, const ir_func *f, kernel_form form)
{
    arg_list in = list_new(mem, f), out = list_new(mem, f);
    push_inputs(mem, &in, f, form);
    push_outputs(mem, &out, f, form);
    push_group(items, &in, IR_DATA);
    push_group(items, &out, IR_DATA);
    push_group(items, &in, ir_adjoint_of(IR_DATA));
    push_group(items, &out, ir_adjoint_of(IR_DATA));
}

/* A matrix that is made column by column takes what the columns take. */
const ir_func *export_workspace_of(const ir_func *f, kernel_form form)
{
    const ir_func *made = kernel_form_of(f, form);
    if (!made && form >= FORM_JAC)
        made = kernel_form_of(f, form == FORM_HESS ? FORM_HVP : FORM_JVP);
    return made ? made->ad.workspace : NULL;
}

const char *export_signature(arena *mem, const ir_module *m, const ir_func *f, kernel_form form)
{
    strbuf b = {0};
    sig_items items = {0};
    export_items(mem, &items, f, form);
    add_items(mem, &b, &items);
    if (form >= FORM_JAC)
        matrix_add_arguments(mem, &b, f, form);
    if (export_workspace_of(f, form))
        sb_printf(&b, "%svoid *%s", b.len ? ", " : "", export_workspace_name(mem, f));
    const size_t column = strlen("void __(") + strlen(m->name) + strlen(f->name) + strlen(form_suffix(form));
    const char *r = b.len ? wrap_list(mem, arena_strdup(mem, sb_str(&b)), column, 2) : "void";
    vec_free(&items);
    sb_free(&b);
    return r;
}

/* ---- the size of a workspace ---- */

bool export_sizes(const ir_func *f, int i)
{
    bool integer = false;
    for (int k = i; k < f->nsig && (k == i || (f->sig[i].structure && f->sig[k].name == f->sig[i].name)); k++)
        integer |= !f->sig[k].array && f->sig[k].shape == IR_SHAPE_SCALAR && scalar_is_int(f->sig[k].elem);
    return integer && sig_stands(&f->sig[i]);
}

static const char *macro_value(arena *mem, const ir_sigparam *p)
{
    const char *name = arena_printf(mem, "(%s)", name_member(mem, p->name));
    return p->structure ? arena_printf(mem, "%s.%s", name, member_path(mem, p->path, ".")) : name;
}

static const char *c_operator(ir_opcode code)
{
    switch (code) {
    case OP_ADD:
        return "+";
    case OP_SUB:
        return "-";
    case OP_MUL:
        return "*";
    case OP_DIV:
        return "/";
    case OP_AND:
        return "&";
    case OP_OR:
        return "|";
    case OP_REM:
        return "%";
    case OP_SHR:
        return ">>";
    default:
        return "^";
    }
}

/* As a constant expression where its arguments are constants: nothing is called. */
static const char *size_text(arena *mem, const ir_func *f, const ir_value *v)
{
    const ir_op *op = v->def;
    if (!op) {
        for (int i = 0; i < f->nsig; i++)
            if (!f->sig[i].array && f->sig[i].first == v->index)
                return arena_printf(mem, "(%s)%s", scalar_c_type(v->type), macro_value(mem, &f->sig[i]));
        assert(!"a formula is of scalar parameters");
    }
    const char *x[2] = {NULL, NULL};
    for (int i = 0; i < op->nargs && i < 2; i++)
        x[i] = size_text(mem, f, op->args[i]);
    switch (op->code) {
    case OP_CONST:
        return arena_printf(mem, "INT64_C(%lld)", (long long)ir_const_attr(op)->i);
    case OP_CAST:
        return arena_printf(mem, "(%s)%s", scalar_c_type(v->type), x[0]);
    case OP_NEG:
    case OP_NOT:
        return arena_printf(mem, "(%c%s)", op->code == OP_NEG ? '-' : '~', x[0]);
    case OP_MIN:
    case OP_MAX:
        return arena_printf(mem, "(%s %s %s ? %s : %s)", x[0], op->code == OP_MIN ? "<" : ">", x[1], x[0], x[1]);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_REM:
    case OP_SHR:
        return arena_printf(mem, "(%s %s %s)", x[0], c_operator(op->code), x[1]);
    default:
        assert(!"a formula holds nothing else");
        return "";
    }
}

const char *export_workspace(arena *mem, const ir_func *f, kernel_form form)
{
    const ir_func *w = export_workspace_of(f, form);
    if (!w)
        return NULL;
    strbuf b = {0};
    for (int i = 0; i < f->nsig; i++)
        if (export_sizes(f, i))
            sb_printf(&b, "%s%s", b.len ? ", " : "(", name_member(mem, f->sig[i].name));
    if (b.len)
        sb_addc(&b, ')');
    sb_printf(&b, " ((size_t)%s)", size_text(mem, f, ir_yield_of(w->body)->args[0]));
    const char *r = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return r;
}

/* ---- the C function ---- */

static const char *component(cfn *c, const arg *a, int k)
{
    const char *one = sig_component(c->e->mem, &a->p, a->plane, a->use == SIG_INPUT ? "." : "->", k);
    return a->p.shape == IR_SHAPE_SCALAR && !a->p.structure && a->use != SIG_INPUT ? arena_printf(c->e->mem, "*%s", one)
                                                                                   : one;
}

static void read_inputs(cfn *c, strbuf *out, const arg_list *in)
{
    bool used = false;
    for (int i = 0; i < in->n; i++) {
        const arg *a = &in->at[i];
        if (a->p.array)
            continue;
        const char *name = arena_printf(c->e->mem, "%s%s", name_member(c->e->mem, a->p.name), plane_tail(a->plane));
        used &= !begins(in, a);
        for (int k = 0; k < components(&a->p); k++) {
            const ir_value *v = c->f->body->params[a->value + k];
            if (!c->use[v->id].uses)
                continue;
            used = true;
            const char *one = component(c, a, k);
            if (a->use == SIG_INPUT && a->p.shape == IR_SHAPE_SCALAR && !a->p.structure) {
                define_name(c, v, name);
                continue;
            }
            const char *local = names_unique_function(c->names, v->name);
            define_name(c, v, local);
            if (a->use == SIG_OPTIONAL)
                one = arena_printf(c->e->mem, "%s ? %s : %s", name, one, zero_text(a->p.elem));
            sb_printf(out, "    %s = %s;\n", declare(c, v, true, local), one);
        }
        if (!used && ends(in, a))
            sb_printf(out, "    (void)%s;\n", name);
    }
}

/* ---- results that the function itself gives, once more (ir_func.results_separate) ---- */

/* An address for a result that the caller may not want: a variable stands in. */
static const char *wanted_or_spare(cfn *c, const arg *a, bool optional)
{
    const char *name = name_member(c->e->mem, a->p.name);
    if (!optional)
        return name;
    ir_sigparam p = a->p;
    p.name = names_unique_function(c->names, arena_printf(c->e->mem, "spare_%s", a->p.name));
    stmt(c, nowhere, "%s;", sig_decl(c->e->mem, &p, IR_DATA, SIG_MEMBER));
    const bool is_array = !p.structure && p.shape != IR_SHAPE_SCALAR;
    return arena_printf(c->e->mem, "%s ? %s : %s%s", name, name, is_array ? "" : "&", p.name);
}

static void call_for_results(cfn *c, const ir_func *primal)
{
    arg_list in = list_new(c->e->mem, primal), out = list_new(c->e->mem, primal);
    push_inputs(c->e->mem, &in, primal, FORM_RUN);
    push_outputs(c->e->mem, &out, primal, FORM_RUN);
    int nresults = 0;
    strbuf any = {0}, args = {0};
    for (int i = 0; i < out.n; i++) {
        if (!begins(&out, &out.at[i]))
            continue;
        sb_printf(&any, "%s%s", nresults++ ? " || " : "", name_member(c->e->mem, out.at[i].p.name));
    }
    stmt(c, nowhere, "if (%s) {", sb_str(&any));
    c->indent++;
    for (int i = 0; i < in.n + out.n; i++) {
        const arg *a = i < in.n ? &in.at[i] : &out.at[i - in.n];
        if (begins(i < in.n ? &in : &out, a))
            sb_printf(&args, "%s%s", args.len ? ", " : "",
                      i < in.n ? name_member(c->e->mem, a->p.name) : wanted_or_spare(c, a, nresults > 1));
    }
    stmt(c, nowhere, "%s_%s(%s);", c->e->m->name, primal->name, sb_str(&args));
    close_block(c);
    sb_free(&any);
    sb_free(&args);
}

/* A gradient that is zero is not added, component by component. */
static bool is_left(const cfn *c, const arg *a, int k)
{
    const ir_value *v = c->f->body->last->args[a->value + k];
    return a->add && ir_is_const(v) && ir_float(v) == 0;
}

/* How many statements an argument in C takes that begins with a. */
static int count_writes(const cfn *c, const arg_list *l, const arg *a)
{
    int n = 0;
    for (bool more = true; more; a++) {
        for (int k = 0; k < components(&a->p); k++)
            n += !is_left(c, a, k);
        more = !ends(l, a);
    }
    return n;
}

static bool has_results_apart(const ir_func *primal, kernel_form form)
{
    return primal->ad.results_separate && form != FORM_RUN && form != FORM_JVP && primal->nouts > 0;
}

static void write_outputs(cfn *c, const ir_func *primal, kernel_form form, const arg_list *out)
{
    const ir_op *yield = c->f->body->last;
    int count = 0;
    if (has_results_apart(primal, form))
        call_for_results(c, primal);
    for (int i = 0; i < out->n; i++) {
        const arg *a = &out->at[i];
        const char *name = name_member(c->e->mem, a->p.name);
        if (a->p.array || (has_results_apart(primal, form) && a->use == SIG_RESULT && a->plane == IR_DATA))
            continue;
        if (begins(out, a)) {
            count = count_writes(c, out, a);
            if (a->optional && count)
                stmt(c, nowhere, "if (%s%s)%s", name, plane_tail(a->plane), count > 1 ? " {" : "");
            else if (a->optional)
                stmt(c, nowhere, "(void)%s%s;", name, plane_tail(a->plane));
            c->indent += a->optional && count;
        }
        for (int k = 0; k < components(&a->p); k++)
            if (!is_left(c, a, k))
                stmt(c, nowhere, "%s %s %s;", component(c, a, k), a->add ? "+=" : "=",
                     val(c, yield->args[a->value + k]).text);
        if (a->optional && ends(out, a) && count > 1)
            close_block(c);
        else if (a->optional && ends(out, a) && count)
            c->indent--;
    }
}

/* What the function makes no use of. */
static void ignore_arrays(cfn *c, const arg_list *l)
{
    bool used = false;
    for (int i = 0; i < l->n; i++) {
        const arg *a = &l->at[i];
        used = (used && !begins(l, a)) || (a->p.array && c->plan->planes[storage_of(a)].pointer);
        if (a->p.array && !used && ends(l, a))
            sb_printf(c->e->out, "    (void)%s%s;\n", name_member(c->e->mem, a->p.name), plane_tail(a->plane));
    }
}

static void print_definition(cfn *c, const ir_func *f, kernel_form form, const strbuf *inputs, const strbuf *body)
{
    emitter *e = c->e;
    strbuf hoists = {0};
    cfn_hoists(c, &hoists);
    bool apart = false;
    for (int other = FORM_GRAD; form == FORM_RUN && other <= FORM_LAST_EXPORT; other++)
        apart |= kernel_form_of(f, (kernel_form)other) && has_results_apart(f, (kernel_form)other);
    const char *whole = needs_whole_loops(&e->facts, c->f->body) ? "TK_WHOLE_LOOPS\n" : "";
    sb_printf(e->out, "%s%svoid %s_%s%s(%s)\n{\n", whole, apart ? "TK_NOINLINE_EXACT " : "", e->m->name, f->name,
              form_suffix(form), export_signature(e->mem, e->m, f, form));
    arg_list in = list_new(e->mem, f), out = list_new(e->mem, f);
    push_inputs(e->mem, &in, f, form);
    push_outputs(e->mem, &out, f, form);
    ignore_arrays(c, &in);
    ignore_arrays(c, &out);
    sb_add(e->out, sb_str(inputs));
    sb_add(e->out, sb_str(&hoists));
    const bool given = kernel_form_of(f, form)->ad.workspace; /* not where all blocks of it are empty */
    if (c->uses_st)
        sb_printf(e->out, "    unsigned char *%s = %s%s;\n", c->st, given ? "(unsigned char *)" : "",
                  given ? export_workspace_name(e->mem, f) : "NULL");
    sb_addn(e->out, sb_str(body), body->len);
    sb_add(e->out, "}\n");
    reset_line(e, e->out);
    sb_addc(e->out, '\n');
    sb_free(&hoists);
}

static void emit_export(emitter *e, const ir_func *primal, kernel_form form)
{
    const ir_func *f = kernel_form_of(primal, form);
    if (matrix_is_wanted(primal, form))
        matrix_print_tables(e, primal, form);
    if (!f)
        return;
    static const char *const what[] = {[FORM_RUN] = "export func", [FORM_GRAD] = "gradient of",
                                       [FORM_JVP] = "JVP of",      [FORM_HVP] = "JVP of the gradient of",
                                       [FORM_JAC] = "Jacobian of", [FORM_HESS] = "Hessian of"};
    emit_functions_of(e, f);
    sb_printf(e->out, "/* ---- %s %s, %s ---- */\n\n", what[form], primal->name, place_of(e, primal->loc));
    e->base = arena_printf(e->mem, "%s%s", file_level(e, primal->name), form_suffix(form));
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_EXPORT, &fs);
    strbuf body = {0}, inputs = {0};
    arg_list in = list_new(e->mem, primal), out = list_new(e->mem, primal);
    push_inputs(e->mem, &in, primal, form);
    push_outputs(e->mem, &out, primal, form);
    for (int i = 0; i < in.n + out.n; i++) {
        const arg *a = i < in.n ? &in.at[i] : &out.at[i - in.n];
        const char *name = arena_printf(e->mem, "%s%s", name_member(e->mem, a->p.name), plane_tail(a->plane));
        if (begins(i < in.n ? &in : &out, a))
            names_unique_function(c->names, name);
        if (a->p.array)
            c->planes[storage_of(a)].name = name;
    }
    names_unique_function(c->names, export_workspace_name(e->mem, primal));
    const matrix_names matrix = matrix_names_of(e->mem, primal, form);
    const char *const taken[] = {matrix.at, matrix.ld, matrix.grad};
    for (int i = 0; i < 3 && form >= FORM_JAC; i++)
        names_unique_function(c->names, taken[i]);
    c->out = &body;
    c->info = facts_of(&e->facts, f);
    c->pure = true;
    body_plan plan = cfn_plan(c);
    cfn_take_names(c, &plan);
    read_inputs(c, &inputs, &in);
    entry_list entries = entries_of(c, primal, form);
    emit_with_entries(c, &entries);
    write_outputs(c, primal, form, &out);
    write_entries(c, &entries);
    print_definition(c, primal, form, &inputs, &body);
    cfn_free(c);
    body_plan_free(&plan);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&inputs);
}

void emit_exports(emitter *e)
{
    e->facts.pure = true;
    for (size_t i = 0; i < e->m->funcs.len; i++)
        for (int form = FORM_RUN; form <= FORM_LAST_EXPORT && ir_is_export(e->m->funcs.at[i]); form++)
            emit_export(e, e->m->funcs.at[i], (kernel_form)form);
    e->facts.pure = false;
}
