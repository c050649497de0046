/* Values that are stored or added, and the reductions of parallel loops: sums, minima and maxima, and what belongs to a
 * minimum or maximum. */
#include "check/check.h"

/* ---- what is stored or added ---- */

val convert_stored(checker *c, val v, const place *p, src_span at)
{
    const sym *s = p->kind == PLACE_LOCAL ? p->sym : NULL;
    if (s && s->int_literal && !val_bad(v) && scalar_is_float(v.e->type->elem) && v.e->type->kind == p->type->kind) {
        ERR(c, at, DIAG_CONVERT, name_of(c, v), ty_name(c->types, p->type));
        NOTE(c, s->span, "'%s' is an integer because of its first value: write '0.0' rather than '0'%s", s->name,
             s->local->type->kind == TY_SCALAR ? arena_printf(c->mem, ", or '%s: real'", s->name) : "");
        return val_error(c, at);
    }
    if (s && !val_bad(v) && v.soft == SOFT_NO && v.e->type->elem == SC_F64 && p->type->elem == SC_F32 &&
        v.e->type->kind == p->type->kind) {
        ERR(c, at, DIAG_CONVERT, name_of(c, v), ty_name(c->types, p->type));
        NOTE(c, s->span, "declare it '%s: %s' to keep all digits, or cast what is assigned: %s(...)", s->name,
             ty_name(c->types, v.e->type), ty_name(c->types, p->type));
        return val_error(c, at);
    }
    return convert(c, v, p->type, at);
}

val convert_added(checker *c, val v, const place *p, src_span at)
{
    if (val_bad(v) || p->type->kind == TY_SCALAR || p->type->kind == TY_STRUCT || v.e->type->kind != TY_SCALAR)
        return convert_stored(c, v, p, at);
    return splat_to(c, convert(c, v, ty_scalar(c->types, p->type->elem), at), p->type);
}

tx_expr *added_value(checker *c, const ast_stmt *s, const place *p, val v)
{
    if (!val_bad(v) && p->type->elem == SC_BOOL) {
        ERR(c, s->span, DIAG_OPERANDS, s->assign_op == AST_ADD ? "+=" : "-=", ty_name(c->types, p->type),
            name_of(c, v));
        return NULL;
    }
    v = convert_added(c, v, p, s->value->span);
    if (val_bad(v))
        return NULL;
    if (s->assign_op == AST_SUB && p->type->kind == TY_STRUCT)
        v = apply_struct_unary(c, AST_NEG, v, s->value->span);
    else if (s->assign_op == AST_SUB)
        v.e = const_fold(c, tx_op(c, OP_NEG, v.e->type, s->value->span, 1, &v.e), false);
    return v.e;
}

bool is_sum(const ast_stmt *s)
{
    return s->has_op && (s->assign_op == AST_ADD || s->assign_op == AST_SUB);
}

bool accumulates(checker *c, const place *p, val v)
{
    return p->type->kind != TY_STRUCT || sums_members(c, p->type, v);
}

/* ---- sums, minima, maxima ---- */

static bool same_list(const ast_expr *a, const ast_expr *b)
{
    for (; a && b && same_expr(a, b); a = a->next)
        b = b->next;
    return !a && !b;
}

bool same_expr(const ast_expr *a, const ast_expr *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case AST_EXPR_NAME:
        return a->name == b->name;
    case AST_EXPR_INT:
        return a->ival == b->ival;
    case AST_EXPR_FLOAT:
        return a->fval == b->fval;
    case AST_EXPR_UNARY:
        return a->unop == b->unop && same_expr(a->a, b->a);
    case AST_EXPR_BINARY:
        return a->binop == b->binop && same_expr(a->a, b->a) && same_expr(a->b, b->b);
    case AST_EXPR_MEMBER:
        return a->name == b->name && same_expr(a->a, b->a);
    case AST_EXPR_INDEX:
        return same_expr(a->a, b->a) && same_list(a->args, b->args);
    case AST_EXPR_TYPECALL:
        return a->type->kind == AST_TYPE_NAME && b->type->kind == AST_TYPE_NAME && a->type->name == b->type->name &&
               same_list(a->args, b->args);
    default:
        return false;
    }
}

/* s = min(s, e): e, and which of the two; NULL if it is not that. */
static const ast_expr *min_max_operand(checker *c, const ast_stmt *s, ir_reduce *red)
{
    const ast_expr *v = s->value;
    bool is_min = calls_builtin(c, v, "min");
    if (s->has_op || (!is_min && !calls_builtin(c, v, "max")) || ast_count(v->args) != 2)
        return NULL;
    *red = is_min ? IR_RED_MIN : IR_RED_MAX;
    const ast_expr *a = v->args, *b = a->next;
    const bool first = same_expr(a, s->target);
    if (!first && !same_expr(b, s->target))
        return NULL;
    log_again(c, s->target, first ? a : b);
    return first ? b : a;
}

static bool note_reduction(checker *c, const ast_stmt *s, sym *l, ir_reduce red, tx_winner *winner)
{
    if (l->read_task == c->fn->task) {
        ERR(c, l->read_span, DIAG_REDUCED_READ, l->name);
        NOTE(c, s->span, "it is reduced here; its value is known after the loop only");
        return false;
    }
    if (l->red_task == c->fn->task && (l->red != red || l->winner != winner)) {
        ERR(c, s->span, DIAG_REDUCTIONS_MIXED, l->name);
        NOTE(c, l->red_span, "reduced in another way here");
        return false;
    }
    l->red_task = c->fn->task;
    l->red = red;
    l->red_span = s->span;
    l->winner = winner;
    return true;
}

static void refuse_reduction(checker *c, const ast_stmt *s, const place *p)
{
    const char *name = p->sym->name;
    ERR(c, s->span, DIAG_TASK_WRITE, name);
    NOTE(c, p->sym->span, "'%s' belongs to the kernel; its iterations run in parallel", name);
    if (p->nsubs > 0 || p->dyn)
        NOTE(c, s->span, "accumulate into a field, or write 'serial for'");
    else if (p->type->kind == TY_STRUCT)
        NOTE(c, s->span,
             "reductions of structs are '+=' and '-=' of the same struct, with numbers as members; or write 'serial "
             "for'");
    else
        NOTE(c, s->span,
             "reductions are allowed: '+=', '-=', '%s = min(%s, e)', '%s = max(%s, e)', "
             "'if e > m { m = e; k = i; }'; or write 'serial for'",
             name, name, name, name);
}

void check_reduction(checker *c, const ast_stmt *s, place *p)
{
    ir_reduce red = IR_RED_ADD;
    const bool sum = is_sum(s), whole = p->type->kind == TY_STRUCT;
    const ast_expr *operand = min_max_operand(c, s, &red);
    if (p->nsubs > 0 || p->dyn || (!sum && (!operand || whole))) {
        refuse_reduction(c, s, p);
        return;
    }
    if (!note_reduction(c, s, p->sym, red, NULL))
        return;
    tx_expr *value;
    if (sum) {
        const val v = check_expr(c, s->value);
        if (!val_bad(v) && !accumulates(c, p, v)) {
            refuse_reduction(c, s, p);
            return;
        }
        value = added_value(c, s, p, v);
    } else {
        val v = convert_added(c, check_expr(c, operand), p, operand->span);
        value = val_bad(v) ? NULL : v.e;
        if (value && p->type->elem == SC_BOOL) {
            ERR(c, s->span, DIAG_ARGUMENT, red == IR_RED_MIN ? "min" : "max", "bool");
            return;
        }
    }
    if (value)
        store_place(c, p, TX_REDUCE, value, red, s->span);
}

/* ---- winners: if e > w { w = e; k = i; } ----
 *
 * w and k are variables of the kernel. Each iteration has its own: it starts with the least value, so its condition
 * compares what the iteration found. The task yields w with k as a companion (ir_reduction). */

typedef struct winner_if {
    const ast_expr *value;  /* e */
    const ast_stmt *leader; /* w = e */
    ir_reduce red;
    int n; /* statements */
} winner_if;

enum { COMPANION_MAX = 16 }; /* components that lowering keeps in values */

/* A variable of the kernel, of numbers or bools, that the statement in a parallel loop replaces; NULL: none. */
static sym *replaced(checker *c, const ast_stmt *s)
{
    if (s->kind != AST_STMT_ASSIGN || s->targets || s->has_op || s->target->kind != AST_EXPR_NAME)
        return NULL;
    sym *v = names_lookup(c, s->target->name, s->target->span);
    if (!v || v->kind != SYM_LOCAL || v->owner != c->fn || v->task == c->fn->task || v->parts || !v->local->mutable_)
        return NULL;
    const ty *t = v->local->type;
    const bool fits = t->kind == TY_SCALAR || t->kind == TY_VEC || t->kind == TY_MAT;
    return fits && ty_ncomp(t) <= COMPANION_MAX ? v : NULL;
}

static ir_reduce winner_kind(ast_binop op, bool flipped)
{
    const bool more = (op == AST_GT || op == AST_GE) != flipped, last = op == AST_GE || op == AST_LE;
    if (more)
        return last ? IR_RED_LAST_MAX : IR_RED_MAX;
    return last ? IR_RED_LAST_MIN : IR_RED_MIN;
}

static bool find_winner(checker *c, const ast_stmt *s, winner_if *w)
{
    const ast_expr *cond = s->cond;
    if (s->has_else || cond->kind != AST_EXPR_BINARY ||
        (cond->binop != AST_GT && cond->binop != AST_GE && cond->binop != AST_LT && cond->binop != AST_LE))
        return false;
    for (const ast_stmt *b = s->body; b; b = b->next, w->n++) {
        if (!replaced(c, b))
            return false;
        for (const ast_stmt *other = s->body; other != b; other = other->next)
            if (same_expr(other->target, b->target))
                return false;
        const bool flipped = same_expr(b->value, cond->b) && same_expr(b->target, cond->a);
        if (w->leader || (!flipped && !(same_expr(b->value, cond->a) && same_expr(b->target, cond->b))))
            continue;
        w->leader = b;
        w->value = flipped ? cond->b : cond->a;
        w->red = winner_kind(cond->binop, flipped);
    }
    return w->leader && replaced(c, w->leader)->local->type->kind == TY_SCALAR;
}

/* Whether an iteration contributes, for reductions in which a tie replaces; declared in front of the loop. */
static tx_local *declare_taken(checker *c, src_span at)
{
    tx_local **list = ARENA_ARRAY(c->mem, tx_local *, 1);
    list[0] = local_new(c, "taken", ty_scalar(c->types, SC_BOOL), report_span(c, at).begin);
    list[0]->mutable_ = true;
    tx_stmt **tail = c->fn->tail, *task = *c->fn->before_task;
    c->fn->tail = c->fn->before_task;
    emit_decl(c, list, 1, val_const_i(c, SC_BOOL, 0, at).e, at);
    c->fn->before_task = c->fn->tail;
    *c->fn->before_task = task;
    c->fn->tail = tail;
    return list[0];
}

static bool keeps_the_same(checker *c, const ast_stmt *s, const winner_if *w, const tx_winner *known)
{
    int n = 0;
    for (const ast_stmt *b = s->body; b; b = b->next)
        for (int k = 0; k < known->ncompanions && b != w->leader; k++)
            n += known->companions[k] == replaced(c, b)->local;
    return n == known->ncompanions && n == w->n - 1;
}

/* All statements of a loop for one w keep the same companions. */
static tx_winner *known_winner(checker *c, const ast_stmt *s, const winner_if *w)
{
    const sym *leader = replaced(c, w->leader);
    if (leader->red_task == c->fn->task && leader->winner)
        return keeps_the_same(c, s, w, leader->winner) ? leader->winner : NULL;
    tx_winner *fresh = ARENA_NEW(c->mem, tx_winner);
    fresh->value = leader->local;
    fresh->companions = ARENA_ARRAY(c->mem, tx_local *, w->n);
    for (const ast_stmt *b = s->body; b; b = b->next)
        if (b != w->leader)
            fresh->companions[fresh->ncompanions++] = replaced(c, b)->local;
    return fresh;
}

static bool note_winner(checker *c, const ast_stmt *s, const winner_if *w, tx_winner *winner)
{
    const sym *leader = replaced(c, w->leader);
    if (!winner) {
        ERR(c, s->span, DIAG_REDUCTIONS_MIXED, leader->name);
        NOTE(c, leader->red_span, "other variables are kept with it here");
        return false;
    }
    bool ok = true;
    for (const ast_stmt *b = s->body; ok && b; b = b->next)
        ok = note_reduction(c, b, replaced(c, b), b == w->leader ? w->red : IR_RED_ADD, winner);
    return ok;
}

static void emit_replacement(checker *c, tx_local *local, ir_reduce red, tx_expr *value, const tx_winner *winner,
                             src_span at)
{
    tx_stmt *s = emit_stmt(c, TX_REDUCE, at);
    s->local = local;
    s->red = red;
    s->value = value;
    s->winner = winner;
}

/* The value of a replacing statement; NULL after an error. */
static tx_expr *replacement(checker *c, const ast_stmt *s, const ast_expr *value)
{
    place p;
    place_resolve(c, s->target, &p);
    const val v = convert_stored(c, check_expr(c, value), &p, value->span);
    return val_bad(v) ? NULL : v.e;
}

bool check_winner(checker *c, const ast_stmt *s)
{
    winner_if w = {0};
    if (!c->fn->task || !find_winner(c, s, &w))
        return false;
    tx_winner *winner = known_winner(c, s, &w);
    if (!note_winner(c, s, &w, winner))
        return true;
    tx_expr *value = replacement(c, w.leader, w.value);
    if (!value)
        return true;
    if (ir_reduce_is_last(w.red) && !winner->taken)
        winner->taken = declare_taken(c, s->span);
    binding *list = NULL;
    value = bind_value(c, value, &list);
    emit_bindings(c, list, s->span);
    const bool flipped = w.value == s->cond->b;
    const ast_expr *named = flipped ? s->cond->a : s->cond->b;
    names_use(c, named->name, named->span);
    tx_expr *so_far = tx_new(c, TX_LOCAL, winner->value->type, named->span);
    so_far->local = winner->value;
    const val a = val_typed(flipped ? so_far : value), b = val_typed(flipped ? value : so_far);
    tx_stmt *t = emit_stmt(c, TX_IF, s->span), **tail = c->fn->tail;
    t->cond = apply_binary(c, s->cond->binop, a, b, s->cond->span, s->cond->op_span).e;
    c->fn->tail = &t->body;
    if (winner->taken)
        emit_replacement(c, winner->taken, IR_RED_ADD, val_const_i(c, SC_BOOL, 1, s->span).e, winner, s->span);
    for (const ast_stmt *m = s->body; m; m = m->next) {
        tx_expr *v = m == w.leader ? value : replacement(c, m, m->value);
        if (v)
            emit_replacement(c, replaced(c, m)->local, m == w.leader ? w.red : IR_RED_ADD, v, winner, m->span);
    }
    c->fn->tail = tail;
    return true;
}
