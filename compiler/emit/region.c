/* Operations in order: branches, calls, assertions, output. Loops stand in loop.c, tasks in task.c. */
#include "emit/emit_int.h"

#include <assert.h>
#include <string.h>

static const src_loc nowhere = {0, 0, 0};

/* ---- branches ---- */

typedef struct branch {
    strbuf text;
    expr *yields; /* per result; text NULL: not wanted */
} branch;

/* Prints a branch into a buffer. Its values are read while its names are in scope. */
static branch emit_branch(cfn *c, const ir_op *op, int k, const char *const *vars)
{
    branch b = {.yields = ARENA_ARRAY(c->e->mem, expr, op->nres + 1)};
    strbuf *outer = c->out;
    c->out = &b.text;
    c->indent++;
    names_push(c->names);
    const ir_region *r = op->regions[k];
    emit_ops(c, r);
    for (int i = 0; i < op->nres; i++)
        if (c->use[op->res[i]->id].uses)
            b.yields[i] = val(c, r->last->args[i]);
    const bool plain = b.text.len == 0 && op->nres == 1; /* may become an arm of ?: */
    for (int i = 0; i < op->nres && !plain; i++)
        if (b.yields[i].text)
            stmt(c, nowhere, "%s = %s;", vars[i], converted_to(c, b.yields[i], op->res[i]));
    names_pop(c->names);
    c->indent--;
    c->out = outer;
    return b;
}

static void finish_branch(cfn *c, const branch *b, const ir_op *op, const char *const *vars)
{
    sb_addn(c->out, sb_str(&b->text), b->text.len);
    c->indent++;
    if (b->text.len == 0 && op->nres == 1 && b->yields[0].text)
        stmt(c, nowhere, "%s = %s;", vars[0], converted_to(c, b->yields[0], op->res[0]));
    c->indent--;
}

/* One value and nothing else: c ? a : b. */
static bool emit_conditional(cfn *c, const ir_op *op, const branch *then, const branch *other, expr cond,
                             const char *name)
{
    if (op->nres != 1 || then->text.len || other->text.len || !then->yields[0].text)
        return false;
    const expr a = then->yields[0], b = other->yields[0];
    if (strlen(cond.text) + strlen(a.text) + strlen(b.text) > 100 || op->res[0]->type == SC_PTR)
        return false;
    names_release(c->names, name);
    expr e = {.prec = PREC_COND, .nops = 1};
    expr_absorb(c, &e, cond);
    expr_absorb(c, &e, a);
    expr_absorb(c, &e, b);
    e.text = arena_printf(c->e->mem, "%s ? %s : %s", paren(c, cond, PREC_COND + 1), paren(c, a, PREC_COND + 1),
                          paren(c, b, PREC_COND + 1));
    if (scalar_is_int(op->res[0]->type) && scalar_bytes(op->res[0]->type) < 4) {
        e.prec = PREC_UNARY;
        e.text = arena_printf(c->e->mem, "(%s)(%s)", scalar_c_type(op->res[0]->type), e.text);
    }
    define(c, op->res[0], e, op->loc);
    return true;
}

static void emit_if(cfn *c, const ir_op *op)
{
    const expr cond = val(c, op->args[0]);
    flush_reads(c, -1, 0, NULL);
    const char **vars = ARENA_ARRAY(c->e->mem, const char *, op->nres + 1);
    for (int i = 0; i < op->nres; i++)
        if (c->use[op->res[i]->id].uses)
            vars[i] = names_unique(c->names, op->res[i]->name);
    const src_loc last = c->last;
    strbuf head = {0}, *outer = c->out;
    c->out = &head; /* the head comes first, but whether there is one shows only after the branches */
    for (int i = 0; i < op->nres; i++)
        if (vars[i])
            stmt(c, nowhere, "%s;", declare(c, op->res[i], false, vars[i]));
    c->last = last;
    strbuf head_if = {0}, head_not = {0};
    c->out = &head_if;
    stmt(c, op->loc, "if (%s) {", cond.text);
    const src_loc after = c->last;
    c->last = last;
    c->out = &head_not;
    stmt(c, op->loc, "if (%s) {", negated(c, cond));
    c->out = outer;
    c->last = after;
    branch then = emit_branch(c, op, 0, vars), other = emit_branch(c, op, 1, vars);
    const bool wanted = op->nres > 0 && vars[0];
    if (!emit_conditional(c, op, &then, &other, cond, vars[0])) {
        const bool no_then = then.text.len == 0 && !wanted, no_else = other.text.len == 0 && !wanted;
        sb_add(c->out, sb_str(&head));
        if (!no_then || !no_else) {
            sb_add(c->out, sb_str(no_then ? &head_not : &head_if));
            if (!no_then)
                finish_branch(c, &then, op, vars);
            if (!no_then && !no_else)
                stmt(c, nowhere, "} else {");
            if (!no_else)
                finish_branch(c, &other, op, vars);
            stmt(c, nowhere, "}");
        }
        for (int i = 0; i < op->nres; i++)
            if (vars[i])
                define_name(c, op->res[i], vars[i]);
    }
    sb_free(&head);
    sb_free(&head_if);
    sb_free(&head_not);
    sb_free(&then.text);
    sb_free(&other.text);
}

/* ---- calls ---- */

static bool is_used(const cfn *c, const ir_value *v)
{
    return c->use[v->id].uses > 0;
}

/* What a callee gets besides its arguments: the module, the stack, the pointers that it accumulates through. */
static void hidden_args(cfn *c, const func_facts *info, strbuf *args)
{
    const char *sep = args->len ? ", " : "";
    if (info->module) {
        c->uses_m = true;
        sb_printf(args, "%s%s", sep, c->m);
        sep = ", ";
    }
    if (info->stack) {
        c->uses_st = true;
        sb_printf(args, "%s%s", sep, c->st);
        sep = ", ";
    }
    bool accumulates = false;
    for (ir_storage key = 0; key < ir_storage_count(c->e->m); key++) {
        if (!(info->planes[key] & OP_ADDS))
            continue;
        accumulates = true;
        sb_printf(args, "%s%s", sep, plane_pointer(c, ir_storage_field(c->e->m, key), ir_storage_plane(key), true));
        sep = ", ";
    }
    if (accumulates)
        sb_printf(args, "%s%s", sep, c->atomic ? c->atomic : "false");
}

static const char *wrapped(cfn *c, const char *callee, const strbuf *args)
{
    enum { ASSIGNED = 24 }; /* what may stand before the call */
    return wrap_list(c->e->mem, arena_strdup(c->e->mem, sb_str(args)),
                     4 * (size_t)c->indent + strlen(callee) + ASSIGNED, c->indent + 2);
}

void emit_call(cfn *c, const ir_op *op)
{
    const func_facts *info = facts_of(&c->e->facts, ir_callee_of(op));
    const char *callee = function_name(c->e, ir_callee_of(op));
    strbuf args = {0};
    hidden_args(c, info, &args);
    for (int i = 0; i < op->nargs; i++)
        sb_printf(&args, "%s%s", args.len ? ", " : "", val(c, op->args[i]).text);
    flush_reads(c, -1, 0, NULL);
    if (op->nres == 1 && !info->can_fail) {
        const char *name = is_used(c, op->res[0]) ? names_unique(c->names, op->res[0]->name) : NULL;
        if (name)
            stmt(c, op->loc, "%s = %s(%s);", declare(c, op->res[0], true, name), callee, wrapped(c, callee, &args));
        else
            stmt(c, op->loc, "(void)%s(%s);", callee, wrapped(c, callee, &args));
        if (name)
            define_name(c, op->res[0], name);
        sb_free(&args);
        return;
    }
    for (int i = 0; i < op->nres; i++) {
        const char *name = names_unique(c->names, op->res[i]->name);
        stmt(c, op->loc, "%s = %s;", declare(c, op->res[i], false, name), zero_text(op->res[i]->type));
        sb_printf(&args, "%s&%s", args.len ? ", " : "", name);
        define_name(c, op->res[i], name);
    }
    if (info->can_fail) {
        emit_fail_if(c, op->loc, arena_printf(c->e->mem, "!%s(%s)", callee, wrapped(c, callee, &args)));
    } else {
        stmt(c, op->loc, "%s(%s);", callee, wrapped(c, callee, &args));
    }
    sb_free(&args);
}

/* ---- assertions and output ---- */

void emit_check(cfn *c, src_loc loc, const char *holds, const char *message)
{
    c->e->uses_assert = true;
    stmt(c, loc, "assert((%s) && %s);", holds, c_string(c->e->mem, message));
}

void emit_bounds(cfn *c, src_loc loc, const ir_value *v, const char *extent, bool number, const char *what)
{
    const char *const quoted = c_string(c->e->mem, what), *const subscript = named_index(c, v).text;
    if (c->pure) {
        emit_check(c, loc, arena_printf(c->e->mem, "%s >= 0 && %s < %s", subscript, subscript, extent), what);
        return;
    }
    if (ir_is_const(v) && ir_int(v) >= 0)
        stmt(c, loc, "if (%s >= %s) {", subscript, extent);
    else
        stmt(c, loc, "if (%s < 0 || %s >= %s) {", subscript, subscript, extent);
    c->indent++;
    if (number)
        stmt(c, nowhere, "tk_fail(%s, TK_BOUNDS, \"%%s is %%lld, outside [0, %s)\", %s, (long long)%s);",
             session_text(c), extent, quoted, subscript);
    else
        stmt(c, nowhere,
             "tk_fail(%s, TK_BOUNDS, \"%%s is %%lld, outside [0, %%lld)\", %s, (long long)%s, (long long)%s);",
             session_text(c), quoted, subscript, extent);
    emit_leave(c);
    close_block(c);
}

/* A pure function has no session that stops. */
static void emit_derivative_assert(cfn *c, const ir_op *op)
{
    if (c->pure)
        return;
    const char *what = arena_printf(c->e->mem, "%s:%u: %s", place_of(c->e, op->loc), op->loc.col,
                                    ir_text_attr(op)->text);
    c->uses_m = true;
    stmt(c, op->loc, "if (%s)", negated(c, val(c, op->args[0])));
    c->indent++;
    stmt(c, nowhere, "tk_watch_derivative(&%s->tk, %s);", c->m, c_string(c->e->mem, what));
    c->indent--;
}

static void emit_finite_assert(cfn *c, const ir_op *op)
{
    const char *message = arena_printf(c->e->mem, "%s:%u: %s", place_of(c->e, op->loc), op->loc.col,
                                       ir_text_attr(op)->text),
               *number = val_text(c, op->args[0], 0);
    if (c->pure) {
        emit_check(c, op->loc, arena_printf(c->e->mem, "isfinite(%s)", number), message);
        return;
    }
    stmt(c, op->loc, "if (!isfinite(%s)) {", number);
    c->indent++;
    stmt(c, nowhere, "tk_fail(%s, TK_NOT_FINITE, \"%%s\", %s);", session_text(c), c_string(c->e->mem, message));
    emit_leave(c);
    close_block(c);
}

static void emit_assert(cfn *c, const ir_op *op)
{
    if (ir_text_attr(op)->whose == IR_ASSERT_FINITE) {
        emit_finite_assert(c, op);
        return;
    }
    if (ir_text_attr(op)->whose == IR_ASSERT_DERIVATIVE) {
        emit_derivative_assert(c, op);
        return;
    }
    if (ir_text_attr(op)->whose == IR_ASSERT_BOUNDS) {
        const bool number = ir_is_const(op->args[1]);
        const char *extent = number ? arena_printf(c->e->mem, "%lld", (long long)ir_int(op->args[1]))
                                    : paren(c, val_simple(c, op->args[1]), PREC_PRIMARY);
        const char *what = arena_printf(c->e->mem, "%s:%u: %s", place_of(c->e, op->loc), op->loc.col,
                                        ir_text_attr(op)->text);
        emit_bounds(c, op->loc, op->args[0], extent, number, what);
        return;
    }
    const char *text = ir_text_attr(op)->text && *ir_text_attr(op)->text
                           ? arena_printf(c->e->mem, ": %s", ir_text_attr(op)->text)
                           : "",
               *place = place_of(c->e, op->loc);
    const bool race = ir_text_attr(op)->whose == IR_ASSERT_RACE;
    const char *message = race || ir_text_attr(op)->whose == IR_ASSERT_BUILT_IN
                              ? arena_printf(c->e->mem, "%s:%u%s", place, op->loc.col, text)
                              : arena_printf(c->e->mem, "%s: assertion failed%s", place, text);
    if (c->pure) {
        emit_check(c, op->loc, val_text(c, op->args[0], 0), message);
        return;
    }
    stmt(c, op->loc, "if (%s) {", negated(c, val(c, op->args[0])));
    c->indent++;
    stmt(c, nowhere, "tk_fail(%s, %s, \"%%s\", %s);", session_text(c), race ? "TK_RACE" : "TK_ASSERT",
         c_string(c->e->mem, message));
    emit_leave(c);
    close_block(c);
}

/* The printf conversion of a scalar, and its argument converted to what that takes. */
static const char *print_arg(cfn *c, const ir_value *v, const char **conversion)
{
    const expr e = val(c, v);
    switch (v->type) {
    case SC_BOOL:
        *conversion = "%s";
        return arena_printf(c->e->mem, "%s ? \"true\" : \"false\"", paren(c, e, PREC_COND + 1));
    case SC_F32:
        *conversion = "%.9g";
        return arena_printf(c->e->mem, "(double)%s", paren(c, e, PREC_PRIMARY));
    case SC_F64:
        *conversion = "%.17g";
        return e.text;
    case SC_U8:
    case SC_U16:
    case SC_U32:
    case SC_U64:
        *conversion = "%llu";
        return arena_printf(c->e->mem, "(unsigned long long)%s", paren(c, e, PREC_PRIMARY));
    default:
        *conversion = "%lld";
        return arena_printf(c->e->mem, "(long long)%s", paren(c, e, PREC_PRIMARY));
    }
}

/* The text has %v for each value, and %% for a percent sign. */
static void emit_print(cfn *c, const ir_op *op)
{
    strbuf format = {0}, plain = {0}, args = {0};
    int k = 0;
    for (const char *p = ir_text_attr(op)->text ? ir_text_attr(op)->text : ""; *p; p++) {
        if (p[0] == '%' && p[1] == 'v') {
            assert(k < op->nargs && "print with more places than values");
            const char *conversion;
            const char *arg = print_arg(c, op->args[k++], &conversion);
            sb_add(&format, conversion);
            sb_printf(&args, ", %s", arg);
            p++;
            continue;
        }
        sb_addc(&format, *p);
        sb_addc(&plain, *p);
        if (*p == '%') {
            sb_addc(&format, '%');
            p += p[1] == '%';
        }
    }
    assert(k == op->nargs && "print without a place for each value");
    if (k == 0) {
        stmt(c, op->loc, "tk_print(%s, %s);", session_text(c), c_string(c->e->mem, sb_str(&plain)));
    } else {
        names_push(c->names);
        const char *buffer = names_unique(c->names, "text");
        stmt(c, op->loc, "{");
        c->indent++;
        stmt(c, nowhere, "char %s[%zu];", buffer, format.len + 32 * (size_t)k + 1);
        stmt(c, nowhere, "snprintf(%s, sizeof %s, %s%s);", buffer, buffer, c_string(c->e->mem, sb_str(&format)),
             sb_str(&args));
        stmt(c, nowhere, "tk_print(%s, %s);", session_text(c), buffer);
        close_block(c);
        names_pop(c->names);
    }
    sb_free(&format);
    sb_free(&plain);
    sb_free(&args);
}

/* ---- all ---- */

/* Behind op in its region: the cosine of what op is the sine of, or the other way round. C compilers merge the calls
 * themselves, but for the call of what decides. */
static const ir_op *other_of_both(const cfn *c, const ir_op *op)
{
    if (!is_of_both(c->use, op))
        return NULL;
    const ir_opcode code = op->code == OP_SIN ? OP_COS : OP_SIN;
    const ir_op *o = c->use[op->res[0]->id].next_angle;
    while (o && (o->code != code || o->region != op->region || !(op->res[0]->exact || o->res[0]->exact)))
        o = c->use[o->res[0]->id].next_angle;
    return o;
}

/* One call for sine and cosine. True if op's value has its name. */
static bool emit_both(cfn *c, const ir_op *op)
{
    const ir_value *v = op->res[0];
    if (c->v[v->id].e.text)
        return true;
    const ir_op *other = c->use[v->id].uses ? other_of_both(c, op) : NULL;
    if (!other)
        return false;
    const ir_value *sine = op->code == OP_SIN ? v : other->res[0], *cosine = op->code == OP_SIN ? other->res[0] : v;
    const char *angle = val_text(c, op->args[0], PREC_COND), *type = scalar_c_type(v->type);
    const char *const of[] = {names_unique(c->names, sine->name ? sine->name : c->v[sine->id].hint),
                              names_unique(c->names, cosine->name ? cosine->name : c->v[cosine->id].hint)};
    stmt(c, cosine->loc, "%s %s;", type, of[1]);
    stmt(c, sine->loc, "const %s %s = tk_exact_sincos_%s(%s, &%s);", type, of[0], scalar_name(v->type), angle, of[1]);
    define_name(c, sine, of[0]);
    define_name(c, cosine, of[1]);
    return true;
}

static void emit_other(cfn *c, const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
    case OP_KEY:
    case OP_MPARAM:
    case OP_SHAPE:
        break;
    case OP_IF:
        emit_if(c, op);
        break;
    case OP_LOOP:
        emit_loop(c, op);
        break;
    case OP_TASK:
        emit_task(c, op);
        break;
    case OP_CALL:
        emit_call(c, op);
        break;
    case OP_EXTERN:
        emit_extern(c, op);
        break;
    case OP_ASSERT:
        emit_assert(c, op);
        break;
    case OP_NEED:
    case OP_KEEP:
        emit_mark(c, op);
        break;
    case OP_DECISION:
        emit_decision(c, op);
        break;
    case OP_PRINT:
        emit_print(c, op);
        break;
    case OP_YIELD: /* its region's owner prints it */
    case OP_COUNT:
        break;
    case OP_SIN:
    case OP_COS:
        if (emit_both(c, op))
            break;
        /* fall through */
    default:
        define(c, op->res[0], pure_expr(c, op), op->loc);
    }
}

void emit_op(cfn *c, const ir_op *op)
{
    if (op_is_dead(c->use, op))
        return;
    switch (op_memory_of(op->code)) {
    case MEMORY_NONE:
        emit_other(c, op);
        break;
    case MEMORY_FIELD:
        emit_field(c, op);
        break;
    case MEMORY_ARRAY:
        emit_local(c, op);
        break;
    case MEMORY_STACK:
        emit_stack(c, op);
        break;
    case MEMORY_RECORD:
        emit_record(c, op);
        break;
    }
}

void emit_ops(cfn *c, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        emit_op(c, op);
}
