/* Values as C expressions: a value with one use becomes part of that use, the others get names. */
#include "emit/emit_int.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "passes/analysis/analysis.h"

enum { MAX_OPS = 12, MAX_CHARS = 90, MAX_LOADS = 64 };

expr expr_leaf(const char *text)
{
    return (expr){.text = text, .prec = PREC_PRIMARY};
}

void expr_absorb(cfn *c, expr *into, expr part)
{
    into->nops += part.nops;
    into->calls |= part.calls;
    for (const memref *r = part.reads; r; r = r->next) {
        memref *copy = ARENA_NEW(c->e->mem, memref);
        *copy = *r;
        copy->next = into->reads;
        into->reads = copy;
    }
    for (const varref *r = part.vars; r; r = r->next) {
        varref *copy = ARENA_NEW(c->e->mem, varref);
        *copy = *r;
        copy->next = into->vars;
        into->vars = copy;
    }
}

const char *paren(cfn *c, expr e, int prec)
{
    return e.prec < prec ? arena_printf(c->e->mem, "(%s)", e.text) : e.text;
}

expr val(cfn *c, const ir_value *v)
{
    const ir_op *d = v->def;
    if (d && d->code == OP_CONST) {
        int prec;
        const bool is_float = scalar_is_float(v->type);
        const char *text = const_text(c->e->mem, v->type, is_float ? 0 : ir_const_attr(d)->i,
                                      is_float ? ir_const_attr(d)->f : 0, &prec);
        return (expr){.text = text, .prec = prec};
    }
    if (d && d->code == OP_MPARAM)
        return expr_leaf(mparam_name(c, ir_mparam_attr(d)->param));
    if (d && d->code == OP_KEY)
        return expr_leaf(key_name(c));
    if (d && d->code == OP_SHAPE)
        return expr_leaf(shape_name(c, ir_field_of(d), (int)ir_shape_attr(d)->dim));
    vstate *s = &c->v[v->id];
    assert(s->e.text && "value printed before its definition");
    s->pending = false;
    return s->e;
}

const char *val_text(cfn *c, const ir_value *v, int prec)
{
    return paren(c, val(c, v), prec);
}

expr val_simple(cfn *c, const ir_value *v)
{
    if (c->v[v->id].pending)
        materialise(c, v);
    return val(c, v);
}

const char *c_type_of(cfn *c, const ir_value *v)
{
    if (v->type != SC_PTR)
        return scalar_c_type(v->type);
    const value_use *s = &c->use[v->id];
    if (v->def && v->def->code == OP_STK_MARK)
        return "tk_mark";
    if (s->layout)
        return arena_printf(c->e->mem, "struct %s *", saved_struct_of(c->e, s->layout)->tag);
    if (s->elem != SC_NONE)
        return arena_printf(c->e->mem, "%s *", scalar_c_type(s->elem));
    return "void *";
}

const char *declare(cfn *c, const ir_value *v, bool constant, const char *name)
{
    const char *type = c_type_of(c, v);
    if (v->type == SC_PTR && strcmp(type, "tk_mark") != 0)
        return arena_printf(c->e->mem, "%s%s%s", type, constant ? "const " : "", name);
    return arena_printf(c->e->mem, "%s%s %s", constant ? "const " : "", type, name);
}

const char *converted_to(cfn *c, expr e, const ir_value *to)
{
    const char *type = to->type == SC_PTR && e.pointer ? c_type_of(c, to) : NULL;
    if (!type || strcmp(type, "void *") == 0 || strcmp(type, e.pointer) == 0)
        return e.text;
    return arena_printf(c->e->mem, "(%s)%s", type, paren(c, e, PREC_UNARY));
}

void define_name(cfn *c, const ir_value *v, const char *name)
{
    c->v[v->id].e = expr_leaf(name);
    c->v[v->id].e.pointer = v->type == SC_PTR ? c_type_of(c, v) : NULL;
    c->v[v->id].pending = false;
}

static void declare_with(cfn *c, const ir_value *v, expr e, src_loc loc)
{
    const char *name = names_unique(c->names, v->name ? v->name : c->v[v->id].hint);
    stmt(c, loc, "%s = %s;", declare(c, v, true, name), converted_to(c, e, v));
    define_name(c, v, name);
}

void materialise(cfn *c, const ir_value *v)
{
    vstate *s = &c->v[v->id];
    s->pending = false;
    declare_with(c, v, s->e, v->loc);
}

/* Where the user gave a name to more than a plain load, the name is kept, but for what is assigned at once. */
static bool keeps_name(const ir_value *v, expr e, const ir_op *user)
{
    if (!v->name || e.nops == 0)
        return false;
    return user->code != OP_YIELD && user->code != OP_STORE && user->code != OP_ACCUM && user->code != OP_LSTORE &&
           user->code != OP_LACCUM && user->code != OP_STK_STORE;
}

static bool is_in_vectors(const cfn *c, const ir_op *op)
{
    const ir_op *loop = op->region->parent;
    while (loop && loop->code != OP_LOOP)
        loop = loop->region->parent;
    return loop && ir_loop_attr(loop)->simd && !c->e->opt->no_runtime;
}

/* What ?: would compute on one side only, which compilers keep from becoming vectors. */
static bool is_for_both(const cfn *c, const ir_value *v, expr e, const ir_op *user)
{
    return user->code == OP_SELECT && user->args[0] != v && (e.calls || e.reads) && is_in_vectors(c, user);
}

void define(cfn *c, const ir_value *v, expr e, src_loc loc)
{
    vstate *s = &c->v[v->id];
    const value_use *use = &c->use[v->id];
    if (use->uses == 0)
        return;
    s->e = e;
    if (e.nops == 0 && !e.reads && e.prec == PREC_PRIMARY) /* another name for a named value */
        return;
    if (e.bare && e.bare_prec == PREC_PRIMARY && e.nops == 1 &&
        !e.reads) /* a name widened to i64: most uses need no cast */
        return;
    const ir_op *user = use->user;
    const bool fold = use->uses == 1 && user->region == v->region && user->code != OP_TASK && e.nops <= MAX_OPS &&
                      strlen(e.text) <= MAX_CHARS;
    if (!fold || keeps_name(v, e, user) || is_for_both(c, v, e, user)) {
        declare_with(c, v, e, loc);
        return;
    }
    s->pending = true;
    if (e.reads) {
        if (c->loads.len >= MAX_LOADS) /* keeps the search for conflicts short */
            flush_reads(c, -1, 0, NULL);
        vec_push(&c->loads, v);
    }
}

static bool conflicts(const expr *e, int kind, int plane, const ir_value *array)
{
    if (kind < 0)
        return true;
    for (const memref *r = e->reads; r; r = r->next)
        if ((int)r->kind == kind && (kind != MEM_PLANE || r->plane == plane) &&
            (kind != MEM_LOCAL || r->array == array))
            return true;
    return false;
}

void flush_reads(cfn *c, int kind, int plane, const ir_value *array)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->loads.len; i++) {
        const ir_value *v = c->loads.at[i];
        if (!c->v[v->id].pending)
            continue;
        if (conflicts(&c->v[v->id].e, kind, plane, array))
            materialise(c, v);
        else
            c->loads.at[kept++] = v;
    }
    c->loads.len = kept;
}

/* One pair around it all. */
static bool is_in_parens(const char *text)
{
    int depth = 0;
    const char *p = text;
    do {
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    } while (depth > 0 && *++p);
    return *text == '(' && *p && !p[1];
}

const char *negated(cfn *c, expr e)
{
    if (e.prec == PREC_UNARY && e.text[0] == '!')
        return is_in_parens(e.text + 1) ? arena_printf(c->e->mem, "%.*s", (int)strlen(e.text) - 3, e.text + 2)
                                        : e.text + 1;
    return arena_printf(c->e->mem, "!%s", paren(c, e, PREC_PRIMARY));
}

/* ---- pure operations ---- */

/* Values that are visited for one sum. */
enum { MAX_STEPS = 400 };

static int magnitude_bits(const ir_value *v, int *steps);

/* An index is as small as its bounds; index + small constant cannot overflow, because the index runs below its upper
 * bound. */
static int index_bits(const ir_value *v, int *steps)
{
    const ir_op *op = v->region->parent;
    if (!op || --*steps < 0)
        return 64;
    int dim;
    if (op->code == OP_LOOP && ir_loop_attr(op)->bounded && v->index == 0 && v->region == op->regions[0])
        dim = 0;
    else if (op->code == OP_TASK)
        dim = v->index < ir_task_attr(op)->ndim
                  ? v->index
                  : ir_task_attr(op)->ndim - 1; /* a row segment has two parameters for one dimension */
    else
        return 64;
    const int a = magnitude_bits(op->args[2 * dim], steps), b = magnitude_bits(op->args[2 * dim + 1], steps);
    const int bits = a > b ? a : b;
    return bits < 62 ? bits : 62;
}

static bool is_nonnegative(const ir_value *v, int *steps)
{
    const ir_op *d = v->def;
    if (!d || --*steps < 0)
        return false;
    if (d->code == OP_CONST)
        return ir_const_attr(d)->i >= 0;
    const bool max = d->code == OP_MAX;
    if (!max && d->code != OP_MIN)
        return d->code == OP_SHAPE;
    const bool a = is_nonnegative(d->args[0], steps), b = is_nonnegative(d->args[1], steps);
    return max ? a || b : a && b;
}

/* Bits that hold the magnitude of an i64 value, as far as its definition tells: sums and products that stay below 64
 * need no wrapping. */
static int magnitude_bits(const ir_value *v, int *steps)
{
    const ir_op *d = v->def;
    if (!d)
        return index_bits(v, steps);
    if (--*steps < 0)
        return 64;
    switch (d->code) {
    case OP_CONST: {
        int bits = 0;
        for (uint64_t m = ir_const_attr(d)->i < 0 ? -(uint64_t)ir_const_attr(d)->i : (uint64_t)ir_const_attr(d)->i; m;
             m >>= 1)
            bits++;
        return bits;
    }
    case OP_SHAPE:
        return 48;
    case OP_CAST:
        return scalar_is_int(d->args[0]->type) && scalar_bytes(d->args[0]->type) <= 4
                   ? 8 * scalar_bytes(d->args[0]->type)
                   : 64;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: {
        const int a = magnitude_bits(d->args[0], steps), b = magnitude_bits(d->args[1], steps);
        const int bits = d->code == OP_MUL ? a + b : (a > b ? a : b) + 1;
        return bits > 64 ? 64 : bits;
    }
    case OP_DIV: /* by a number that is not 0 or -1 */
        return ir_is_const(d->args[1]) && ir_int(d->args[1]) > 0 ? magnitude_bits(d->args[0], steps) : 64;
    case OP_MIN:
    case OP_MAX: {
        const int a = magnitude_bits(d->args[0], steps), b = magnitude_bits(d->args[1], steps);
        if (d->code == OP_MIN && b < a && is_nonnegative(d->args[0], steps))
            return b; /* of a negative b it is b */
        if (d->code == OP_MIN && a < b && is_nonnegative(d->args[1], steps))
            return a;
        return a > b ? a : b;
    }
    default:
        return 64;
    }
}

static bool is_plain_i64(const ir_op *op)
{
    if (op->res[0]->type != SC_I64 || (op->code != OP_ADD && op->code != OP_SUB && op->code != OP_MUL))
        return false;
    int steps = MAX_STEPS;
    return magnitude_bits(op->res[0], &steps) <= 63;
}

static bool is_compare(ir_opcode code)
{
    return code == OP_EQ || code == OP_NE || code == OP_LT || code == OP_LE || code == OP_GT || code == OP_GE;
}

/* A constant at the end of its type's range, which gcc's -Wtype-limits takes offence at. */
static bool is_limit(const ir_value *v)
{
    if (!v->def || v->def->code != OP_CONST || !scalar_is_int(v->type) || v->type == SC_I32 || v->type == SC_I64)
        return false;
    const int bits = 8 * scalar_bytes(v->type);
    const int64_t x = ir_int(v);
    if (!scalar_is_signed(v->type))
        return x == 0 || (bits < 64 ? x == (INT64_C(1) << bits) - 1 : x == -1);
    return x == -(INT64_C(1) << (bits - 1)) || x == (INT64_C(1) << (bits - 1)) - 1;
}

/* Operands of an operation as text; too long ones get names first. */
static void operands(cfn *c, const ir_op *op, expr *e, int n, expr *part)
{
    for (int pass = 0; pass < 3; pass++) {
        size_t chars = 0;
        int nops = 1, longest = -1;
        for (int i = 0; i < n; i++) {
            const vstate *s = &c->v[op->args[i]->id];
            if (!s->pending)
                continue;
            chars += strlen(s->e.text);
            nops += s->e.nops;
            if (longest < 0 || strlen(s->e.text) > strlen(c->v[op->args[longest]->id].e.text))
                longest = i;
        }
        if (longest < 0 || (nops <= MAX_OPS && chars <= MAX_CHARS))
            break;
        materialise(c, op->args[longest]);
    }
    e->nops = 1;
    for (int i = 0; i < n; i++) {
        part[i] = val(c, op->args[i]);
        expr_absorb(c, e, part[i]);
    }
    if (is_compare(op->code) && !scalar_is_float(op->args[0]->type))
        for (int i = 0; i < 2; i++)
            if (is_limit(op->args[i]) || (i == 1 && op->args[0] == op->args[1])) {
                /* a comparison that is always true or false must not look like one to the C compiler */
                const char *name = names_unique(c->names, NULL);
                stmt(c, op->loc, "const %s %s = %s;", scalar_c_type(op->args[i]->type), name, part[i].text);
                part[i] = expr_leaf(name);
            }
}

static const char *unary_operand(cfn *c, expr e)
{
    return e.prec < PREC_UNARY || e.text[0] == '-' ? arena_printf(c->e->mem, "(%s)", e.text) : e.text;
}

static expr cast_expr(cfn *c, const ir_op *op, expr e, expr a)
{
    const scalar from = op->args[0]->type, to = op->res[0]->type;
    if (from == to)
        return a;
    if (scalar_is_float(from) && scalar_is_int(to) && !cast_is_plain(op)) {
        e.prec = PREC_PRIMARY;
        e.text = arena_printf(c->e->mem, "tk_%s_from_%s(%s)", scalar_name(to), scalar_name(from), a.text);
        return e;
    }
    e.prec = PREC_UNARY;
    e.text = arena_printf(c->e->mem, "(%s)%s", scalar_c_type(to), unary_operand(c, a));
    if (to == SC_I64 && from != SC_U64 && !scalar_is_float(from) && from != SC_BOOL) {
        e.bare = a.text;
        e.bare_prec = a.prec;
    }
    return e;
}

/* Logic on bools reads better in C's operators; both operands are pure, so evaluating fewer of them changes nothing. */
static expr bool_expr(cfn *c, const ir_op *op, expr e, const expr *part)
{
    if (op->code == OP_NOT) {
        e.prec = PREC_UNARY;
        e.text = arena_printf(c->e->mem, "!%s", unary_operand(c, part[0]));
        return e;
    }
    /* gcc asks for parentheses around && in ||, and around comparisons in comparisons */
    const int inner = op->code == OP_AND ? PREC_LAND : op->code == OP_OR ? PREC_LAND + 1 : PREC_ADD;
    e.prec = op->code == OP_AND ? PREC_LAND : op->code == OP_OR ? PREC_LOR : PREC_EQ;
    const int left = op->code == OP_OR && part[0].prec == PREC_LOR ? PREC_LOR : inner;
    e.text = arena_printf(c->e->mem, "%s %s %s", paren(c, part[0], left),
                          op->code == OP_AND  ? "&&"
                          : op->code == OP_OR ? "||"
                                              : "!=",
                          paren(c, part[1], inner + (op->code == OP_AND)));
    return e;
}

/* Fills a spelling of ops.def: {a} {b} {c} operands, @ the suffix f, % the type's name. */
static const char *fill(cfn *c, const char *spelling, scalar type, const char *const *text)
{
    strbuf b = {0};
    for (const char *p = spelling; *p; p++) {
        if (*p == '{') {
            sb_add(&b, text[p[1] - 'a']);
            p += 2;
        } else if (*p == '@') {
            sb_add(&b, type == SC_F32 ? "f" : "");
        } else if (*p == '%') {
            sb_add(&b, scalar_name(type));
        } else {
            sb_addc(&b, *p);
        }
    }
    const char *r = arena_strdup(c->e->mem, sb_str(&b));
    sb_free(&b);
    return r;
}

static expr infix(cfn *c, expr e, const char *sign, int prec, const expr *part)
{
    const int left = prec <= PREC_REL ? PREC_ADD : prec, right = prec <= PREC_REL ? PREC_ADD : prec + 1;
    e.prec = prec;
    e.text = arena_printf(c->e->mem, "%s %s %s", paren(c, part[0], left), sign, paren(c, part[1], right));
    return e;
}

/* ---- exact values ----
 * An exact product that may be added to something is printed as TK_ROUNDED. A pragma cannot replace the macro: gcc has
 * no such pragma, and clang's -ffp-contract=fast overrides its pragma. */

/* Whether a C compiler may see x * y where it would be contracted with a sum. */
static bool is_product(const ir_op *op)
{
    if (op->code == OP_MUL || op->code == OP_POWI || op->code == OP_RANDN)
        return true;
    int e;
    return op->code == OP_DIV && ir_is_const(op->args[1]) &&
           fabs(frexp(ir_float(op->args[1]), &e)) == 0.5; /* compilers make it one */
}

/* The use itself does not add to it, and what it makes of it is no product. */
static bool is_harmless_use(const ir_op *user)
{
    switch (user->code) {
    case OP_MUL: /* a product that is exact is looked at itself; what is not may be contracted */
    case OP_DIV:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
    case OP_SIGN:
    case OP_SQRT:
        return true;
    case OP_CAST:
        return !scalar_is_float(user->res[0]->type);
    case OP_YIELD: /* a result, which goes to the caller's memory */
        return !user->region->parent && user->region->func->kind != IR_FUNC;
    default:
        return false;
    }
}

static expr rounded(cfn *c, const ir_op *op, expr e)
{
    const ir_value *v = op->res[0];
    const value_use *s = &c->use[v->id];
    if (!is_product(op) || (s->uses == 1 && is_harmless_use(s->user)))
        return e;
    const bool single = v->type == SC_F32;
    c->rounds[single] = true;
    e.text = arena_printf(c->e->mem, "TK_ROUNDED(%s, %s)", e.text, single ? "f32" : "f64");
    e.prec = PREC_PRIMARY;
    return e;
}

expr pure_expr(cfn *c, const ir_op *op)
{
    const op_info *info = op_get(op->code);
    const int n = info->arity;
    expr e = {0}, part[3] = {{0}};
    assert(n <= 3 && op->nargs == n);
    operands(c, op, &e, n, part);
    const scalar type = info->result == RESULT_X ? op->res[0]->type : op->args[op->code == OP_SELECT ? 1 : 0]->type;
    switch (op->code) {
    case OP_STOP:
        return part[0];
    case OP_CAST:
        return cast_expr(c, op, e, part[0]);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
        if (type == SC_BOOL)
            return bool_expr(c, op, e, part);
        break;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        if (is_plain_i64(op))
            return infix(c, e,
                         op->code == OP_ADD   ? "+"
                         : op->code == OP_SUB ? "-"
                                              : "*",
                         op->code == OP_MUL ? PREC_MUL : PREC_ADD, part);
        break;
    case OP_SELECT:
        e.prec = PREC_COND;
        e.text = arena_printf(c->e->mem, "%s ? %s : %s", paren(c, part[0], PREC_COND + 1),
                              paren(c, part[1], PREC_COND + 1), paren(c, part[2], PREC_COND + 1));
        if (scalar_is_int(type) && scalar_bytes(type) < 4) {
            e.prec = PREC_UNARY;
            e.text = arena_printf(c->e->mem, "(%s)(%s)", scalar_c_type(type), e.text);
        }
        return e;
    default:
        break;
    }
    e.calls |= op_is_of_library(op->code);
    const char *spelling = scalar_is_float(type) ? info->c_float : info->c_int;
    if (op->res[0]->exact && op_is_of_library(op->code)) {
        static const char *const arguments[] = {"", "{a}", "{a}, {b}", "{a}, {b}, {c}"};
        spelling = arena_printf(c->e->mem, "tk_exact_%s_%%(%s)", info->name, arguments[n]);
    }
    assert(*spelling && "operation without a C form for its type");
    if (op->code == OP_COS && !op->res[0]->exact && is_of_both(c->use, op) && is_in_vectors(c, op)) {
        c->others[type == SC_F32] = true;
        spelling = "cos@(TK_OTHER({a}, %))";
    }
    const bool call = strncmp(spelling, "{a}", 3) != 0 && spelling[0] != '-';
    const char *text[3] = {0};
    for (int i = 0; i < n; i++) {
        if (call)
            text[i] = part[i].text;
        else if (n == 1)
            text[i] = unary_operand(c, part[i]);
        else if (info->prec <= PREC_REL)
            text[i] = paren(c, part[i], PREC_ADD);
        else
            text[i] = paren(c, part[i], info->prec + (i > 0));
    }
    e.prec = call ? PREC_PRIMARY : info->prec;
    e.text = fill(c, spelling, type, text);
    return op->res[0]->exact ? rounded(c, op, e) : e;
}
