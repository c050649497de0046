/* Loops. Carried values are C variables that the yield assigns. */
#include "codegen/nests.h"
#include "emit/emit_int.h"

#include <string.h>

static const src_loc nowhere = {0, 0, 0};

typedef struct assignment {
    const char *var;
    const ir_value *param; /* read by other assignments under this name */
    expr e;
    const ir_op *sum; /* the value is param + something: how `var += ...` is recognised */
    bool done, cut;
} assignment;

static bool reads(const expr *e, const ir_value *param)
{
    for (const varref *r = e->vars; r; r = r->next)
        if (r->param == param)
            return true;
    return false;
}

/* "s + x" or "x + s" for variable s as "s += x". */
static void assign(cfn *c, const assignment *a, src_loc loc)
{
    const size_t n = strlen(a->var), len = strlen(a->e.text);
    const char *text = a->e.text, sign = a->sum && a->sum->code == OP_SUB ? '-' : '+';
    const bool front = a->sum && a->sum->args[0] == a->param && len > n + 3 && strncmp(text, a->var, n) == 0 &&
                       text[n] == ' ' && text[n + 1] == sign;
    const bool back = a->sum && a->sum->code == OP_ADD && a->sum->args[1] == a->param && len > n + 3 &&
                      strcmp(text + len - n, a->var) == 0 && strncmp(text + len - n - 3, " + ", 3) == 0;
    if (front)
        stmt(c, loc, "%s %c= %s;", a->var, sign, text + n + 3);
    else if (back)
        stmt(c, loc, "%s += %.*s;", a->var, (int)(len - n - 3), text);
    else
        stmt(c, loc, "%s = %s;", a->var, text);
}

/* All at once in the IR, one after the other in C: a variable is overwritten only when no later value names it; a cycle
 * is cut by a temporary. */
static void assign_all(cfn *c, src_loc loc, int n, assignment *list)
{
    for (int left = n; left > 0;) {
        int first = -1, pick = -1;
        for (int i = 0; i < n && pick < 0; i++) {
            if (list[i].done)
                continue;
            if (first < 0 && !list[i].cut)
                first = i;
            bool blocked = false;
            for (int k = 0; k < n && !blocked; k++)
                blocked = k != i && !list[k].done && reads(&list[k].e, list[i].param);
            if (!blocked)
                pick = i;
        }
        if (pick >= 0) {
            assign(c, &list[pick], loc);
            list[pick].done = true;
            left--;
            continue;
        }
        assignment *a =
            &list[first]; /* in a cycle: takes its value now and is assigned when nobody reads it any more */
        const char *name = names_unique(c->names, NULL);
        stmt(c, loc, "%s = %s;", declare(c, a->param, true, name), a->e.text);
        a->e = expr_leaf(name);
        a->sum = NULL;
        a->cut = true;
    }
}

static void yield_carried(cfn *c, const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    const ir_op *yield = body->last;
    const int first = ir_loop_first_param(loop), n = ir_loop_ncarried(loop);
    assignment *list = ARENA_ARRAY(c->e->mem, assignment, n + 1);
    int count = 0;
    for (int k = 0; k < n; k++) {
        const ir_value *param = body->params[first + k], *value = yield->args[k];
        if (value == param)
            continue;
        const bool pending = c->v[value->id].pending;
        const ir_op *d = value->def;
        assignment *a = &list[count++];
        *a = (assignment){.var = c->v[param->id].e.text, .param = param, .e = val(c, value)};
        a->e.text = converted_to(c, a->e, param);
        if (pending && d && (d->code == OP_ADD || d->code == OP_SUB) && (d->args[0] == param || d->args[1] == param) &&
            a->e.prec == PREC_ADD)
            a->sum = d;
    }
    assign_all(c, yield->loc, count, list);
}

static bool is_read(const cfn *c, const ir_value *v)
{
    return c->use[v->id].uses > 0;
}

/* Variables for the carried values; a variable serves the body's parameter, the condition's, and the loop's result. */
static void declare_carried(cfn *c, const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    const int init = ir_loop_first_init(loop), first = ir_loop_first_param(loop), n = ir_loop_ncarried(loop);
    for (int k = 0; k < n; k++) {
        ir_value *param = body->params[first + k];
        const bool changes = body->last->args[k] != param;
        if (!changes && !is_read(c, param) && !is_read(c, loop->res[k]) &&
            !(ir_loop_attr(loop)->cond && is_read(c, loop->regions[1]->params[k])))
            continue;
        const ir_op *next = body->last->args[k]->def;
        const char *hint = param->name ? param->name : loop->res[k]->name;
        if (!hint && next && next->code == OP_ADD && (next->args[0] == param || next->args[1] == param))
            hint = "sum";
        const char *name = names_unique(c->names, hint);
        stmt(c, loop->loc, "%s = %s;", declare(c, param, !changes, name),
             converted_to(c, val(c, loop->args[init + k]), param));
        define_name(c, loop->res[k], name);
        define_name(c, param, name);
        c->v[loop->res[k]->id].e.pointer = c->v[param->id].e.pointer;
        const ir_value *inside[2] = {param, ir_loop_attr(loop)->cond ? loop->regions[1]->params[k] : NULL};
        for (int i = 0; i < 2 && inside[i]; i++) {
            c->v[inside[i]->id] = c->v[param->id];
            if (!changes)
                continue;
            varref *r = ARENA_NEW(c->e->mem, varref);
            *r = (varref){param, NULL};
            c->v[inside[i]->id].e.vars = r;
        }
    }
}

/* A constant number of trips, of two vectors or more. */
static bool is_fixed(const ir_op *loop)
{
    enum { TWO_VECTORS = 16 };
    return ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]) &&
           ir_int(loop->args[1]) - ir_int(loop->args[0]) >= TWO_VECTORS;
}

/* A fixed loop that stores one number, made of few others of its type: TK_SIMD_SHORT's. SC_BOOL: it is none. */
static scalar short_type(const ir_op *loop)
{
    enum { WHOLE = 32, MOST = 4 };
    scalar type = SC_BOOL;
    int stores = 0, arithmetic = 0;
    if (!is_fixed(loop) || (ir_int(loop->args[1]) - ir_int(loop->args[0])) % WHOLE)
        return SC_BOOL;
    for (const ir_op *op = loop->regions[0]->first; op != loop->regions[0]->last; op = op->next) {
        const bool pure = op_is_pure_table(op->code);
        stores += (op_touches(op->code) & (OP_STORES | OP_ADDS)) != 0;
        if (op->nregions || (pure ? op_cost(op->code) > 1 : !op_touches(op->code) && !op_is_launch_constant(op->code)))
            return SC_BOOL;
        const ir_value *v = op->nres ? op->res[0] : op->args[op->nargs - 1];
        if (!scalar_is_float(v->type))
            continue;
        if (type != SC_BOOL && type != v->type)
            return SC_BOOL;
        type = v->type;
        arithmetic += pure;
    }
    return stores == 1 && arithmetic >= 1 && arithmetic <= MOST ? type : SC_BOOL;
}

static void note_wide_values(ir_op *op, void *ctx)
{
    bool *narrow = ctx;
    for (int i = 0; i < op->nres; i++)
        *narrow &= op->res[i]->type != SC_F64 || op->code == OP_CAST || op->code == OP_ADD || op->code == OP_SUB;
}

/* Numbers of f32 are added up in f64, and nothing else is of f64: TK_SIMD_WIDE_SUM's. */
static bool is_wide_sum(const ir_op *loop)
{
    ir_region *body = loop->regions[0];
    const int first = ir_loop_first_param(loop);
    const bool few = ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]) && !is_fixed(loop);
    bool narrow = !few, any = false;
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        any |= body->params[first + k]->type == SC_F64;
    ir_walk(body, note_wide_values, &narrow);
    return narrow && any;
}

/* "TK_SIMD_SUM(s, t)": the iterations' order does not matter. */
static void simd_line(cfn *c, const ir_op *loop)
{
    strbuf list = {0};
    const ir_region *body = loop->regions[0];
    const int first = ir_loop_first_param(loop);
    for (int k = 0; k < ir_loop_ncarried(loop); k++)
        if (body->last->args[k] != body->params[first + k])
            sb_printf(&list, "%s%s", list.len ? ", " : "", c->v[body->params[first + k]->id].e.text);
    const char *fixed = is_fixed(loop) ? "_FIXED" : "";
    const scalar type = short_type(loop);
    if (!list.len && type != SC_BOOL)
        stmt(c, nowhere, "TK_SIMD_SHORT(%s)", scalar_name(type));
    else if (list.len)
        stmt(c, nowhere, "TK_SIMD%s%s_SUM(%s)", fixed, is_wide_sum(loop) ? "_WIDE" : "", sb_str(&list));
    else
        stmt(c, nowhere, "TK_SIMD%s", fixed);
    sb_free(&list);
}

/* `i < hi` is evaluated at each iteration: a constant, a name, or a conversion of one. */
static const char *bound(cfn *c, const ir_value *v)
{
    const vstate *s = &c->v[v->id];
    if (s->pending && (s->e.nops > 1 || s->e.reads || s->e.prec == PREC_COND))
        materialise(c, v);
    expr e = val(c, v);
    if (e.bare) {
        e.text = e.bare;
        e.prec = e.bare_prec;
    }
    return paren(c, e, PREC_ADD);
}

/* The head of the loop, up to its opening brace; the condition goes into `while` where it is one expression. */
static void open_loop(cfn *c, const ir_op *loop, bool simd)
{
    if (!ir_loop_attr(loop)->bounded) {
        strbuf text = {0}, *outer = c->out;
        const ir_region *cond = loop->regions[1];
        c->indent++;
        c->out = &text;
        emit_ops(c, cond);
        const expr e = val(c, cond->last->args[0]);
        c->out = outer;
        c->indent--;
        if (text.len == 0) {
            stmt(c, loop->loc, "while (%s) {", e.text);
        } else {
            stmt(c, loop->loc, "for (;;) {");
            sb_add(c->out, sb_str(&text));
            c->indent++;
            stmt(c, nowhere, "if (%s)", negated(c, e));
            c->indent++;
            stmt(c, nowhere, "break;");
            c->indent -= 2;
        }
        sb_free(&text);
        return;
    }
    const char *lo = bound(c, loop->args[0]), *hi = bound(c, loop->args[1]);
    const ir_value *index = loop->regions[0]->params[0];
    const char *i = names_unique(c->names, index->name ? index->name : "i");
    define_name(c, index, i);
    if (c->e->opt->no_runtime)
        simd = false; /* the pragmas are the library's */
    else if (simd)
        simd_line(c, loop);
    else if (ir_loop_attr(loop)->short_trip)
        stmt(c, nowhere, "TK_BRIEF");
    if (ir_loop_attr(loop)->down && !simd)
        stmt(c, loop->loc, "for (int64_t %s = %s; %s-- > %s;) {", i, hi, i, lo);
    else
        stmt(c, loop->loc, "for (int64_t %s = %s; %s < %s; %s++) {", i, lo, i, hi, i);
}

/* Number of additions between a carried value and what the yield makes of it: p + a + b has two. 0: it is no such sum.
 */
static int additions(const ir_value *v, const ir_value *param, int depth)
{
    if (v == param || !v->def || depth == 0 || (v->def->code != OP_ADD && v->def->code != OP_SUB))
        return 0;
    for (int k = 0; k < v->def->nargs; k++) {
        if (v->def->args[k] == param)
            return 1;
        const int inner = additions(v->def->args[k], param, depth - 1);
        if (inner)
            return inner + 1;
    }
    return 0;
}

/* Whether a float is carried through several additions in an order that counts: what TK_IN_ORDER is for. */
static bool sums_in_order(const ir_op *loop)
{
    enum { DEPTH = 8 };
    const ir_region *body = loop->regions[0];
    const int first = ir_loop_first_param(loop);
    for (int k = 0; k < ir_loop_ncarried(loop); k++) {
        const ir_value *param = body->params[first + k];
        if (scalar_is_float(param->type) && additions(body->last->args[k], param, DEPTH) > 1)
            return true;
    }
    return false;
}

void emit_loop(cfn *c, const ir_op *loop)
{
    const int n = ir_loop_ncarried(loop);
    const bool counts = ir_loop_attr(loop)->cond && c->use[loop->res[n]->id].uses > 0;
    const bool simd = ir_loop_attr(loop)->simd && ir_loop_attr(loop)->bounded && !ir_loop_attr(loop)->cond &&
                      !region_may_fail(&c->e->facts, loop->regions[0]);
    declare_carried(c, loop);
    flush_reads(c, -1, 0, NULL);
    const char *trips = NULL;
    if (counts) {
        trips = names_unique(c->names, loop->res[n]->name ? loop->res[n]->name : "trips");
        stmt(c, nowhere, "int64_t %s = 0;", trips);
    }
    names_push(c->names);
    open_loop(c, loop, simd);
    c->indent++;
    if (!simd && ir_loop_attr(loop)->bounded && sums_in_order(loop))
        stmt(c, nowhere, "TK_IN_ORDER");
    if (!simd && ir_loop_attr(loop)->short_trip && !c->e->opt->no_runtime)
        stmt(c, nowhere, "TK_ONE_BY_ONE");
    else if (!simd && nest_stores_again(&c->e->facts, loop))
        stmt(c, nowhere, "TK_NO_LANES");
    if (ir_loop_attr(loop)->bounded && ir_loop_attr(loop)->cond) { /* its names share the C block of the body */
        emit_ops(c, loop->regions[1]);
        stmt(c, nowhere, "if (%s)", negated(c, val(c, loop->regions[1]->last->args[0])));
        c->indent++;
        stmt(c, nowhere, "break;");
        c->indent--;
    }
    emit_ops(c, loop->regions[0]);
    yield_carried(c, loop);
    if (counts)
        stmt(c, nowhere, "%s++;", trips);
    close_block(c);
    names_pop(c->names);
    if (counts)
        define_name(c, loop->res[n], trips);
}
