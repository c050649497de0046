/* The derivative rules of ops.def as IR. A rule is parsed into a small tree for each application: rules are a dozen
 * tokens long. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/ops.h"

/* ---- the tree ---- */

typedef enum node_kind { N_NUMBER, N_A, N_B, N_C, N_R, N_G, N_FLOAT, N_OP, N_COND } node_kind;

typedef struct node {
    node_kind kind;
    double number;
    ir_opcode op; /* N_OP */
    int kid[3];
    int nkids;
} node;

enum { MAX_NODES = 64 };

typedef struct rule {
    const char *text, *at;
    node nodes[MAX_NODES];
    int n, root;
} rule;

/* The table is part of the compiler: a rule that does not parse is a bug in ops.def, whatever the build type. */
static void bad_rule(const rule *p, const char *why)
{
    fprintf(stderr, "tkc: internal error: derivative rule \"%s\": %s at \"%s\"\n", p->text, why, p->at);
    abort();
}

static int new_node(rule *p, node_kind kind)
{
    if (p->n == MAX_NODES)
        bad_rule(p, "too long");
    p->nodes[p->n] = (node){.kind = kind};
    return p->n++;
}

static int op_node(rule *p, ir_opcode op, int nkids, int x, int y)
{
    int i = new_node(p, N_OP);
    p->nodes[i].op = op;
    p->nodes[i].nkids = nkids;
    p->nodes[i].kid[0] = x;
    p->nodes[i].kid[1] = y;
    return i;
}

static bool accept(rule *p, const char *token)
{
    while (*p->at == ' ')
        p->at++;
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0)
        return false;
    p->at += n;
    return true;
}

static int parse_cond(rule *p);

static ir_opcode find_op(const char *name, size_t n)
{
    for (int i = 0; i < OP_PURE_COUNT; i++) {
        const char *s = op_get((ir_opcode)i)->name;
        if (strlen(s) == n && memcmp(s, name, n) == 0)
            return (ir_opcode)i;
    }
    return OP_COUNT;
}

static int parse_call(rule *p, const char *name, size_t len)
{
    bool to_float = len == 5 && memcmp(name, "float", 5) == 0;
    ir_opcode op = to_float ? OP_COUNT : find_op(name, len);
    if (!to_float && op == OP_COUNT)
        bad_rule(p, "unknown operation");
    int i = new_node(p, to_float ? N_FLOAT : N_OP), nkids = 0, kids[3];
    do {
        if (nkids == 3)
            bad_rule(p, "too many operands");
        kids[nkids++] = parse_cond(p);
    } while (accept(p, ","));
    if (!accept(p, ")") || nkids != (to_float ? 1 : op_get(op)->arity))
        bad_rule(p, "wrong number of operands");
    p->nodes[i].op = op;
    p->nodes[i].nkids = nkids;
    memcpy(p->nodes[i].kid, kids, sizeof(int) * (size_t)nkids);
    return i;
}

static int parse_primary(rule *p)
{
    if (accept(p, "(")) {
        int i = parse_cond(p);
        if (!accept(p, ")"))
            bad_rule(p, "missing )");
        return i;
    }
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        int i = new_node(p, N_NUMBER);
        p->nodes[i].number = strtod(p->at, &end);
        p->at = end;
        return i;
    }
    const char *name = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size_t len = (size_t)(p->at - name);
    if (len && accept(p, "("))
        return parse_call(p, name, len);
    static const char letters[] = "abcrg";
    const char *which = len == 1 ? strchr(letters, *name) : NULL;
    if (!which)
        bad_rule(p, "unknown name");
    return new_node(p, (node_kind)(N_A + (int)(which - letters)));
}

static int parse_unary(rule *p)
{
    if (accept(p, "-")) {
        int x = parse_unary(p);
        return op_node(p, OP_NEG, 1, x, 0);
    }
    return parse_primary(p);
}

static int parse_term(rule *p)
{
    int x = parse_unary(p);
    for (;;) {
        ir_opcode op = accept(p, "*") ? OP_MUL : accept(p, "/") ? OP_DIV : OP_COUNT;
        if (op == OP_COUNT)
            return x;
        int y = parse_unary(p);
        x = op_node(p, op, 2, x, y);
    }
}

static int parse_sum(rule *p)
{
    int x = parse_term(p);
    for (;;) {
        ir_opcode op = accept(p, "+") ? OP_ADD : accept(p, "-") ? OP_SUB : OP_COUNT;
        if (op == OP_COUNT)
            return x;
        int y = parse_term(p);
        x = op_node(p, op, 2, x, y);
    }
}

static int parse_comparison(rule *p)
{
    static const struct {
        const char *token;
        ir_opcode op;
    } ops[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE}, {"<", OP_LT}, {">", OP_GT}};
    int x = parse_sum(p);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (accept(p, ops[i].token)) {
            int y = parse_sum(p);
            return op_node(p, ops[i].op, 2, x, y);
        }
    return x;
}

static int parse_and(rule *p)
{
    int x = parse_comparison(p);
    while (accept(p, "&&")) {
        int y = parse_comparison(p);
        x = op_node(p, OP_AND, 2, x, y);
    }
    return x;
}

static int parse_cond(rule *p)
{
    int x = parse_and(p);
    if (!accept(p, "?"))
        return x;
    int y = parse_cond(p);
    if (!accept(p, ":"))
        bad_rule(p, "missing :");
    int z = parse_cond(p);
    int i = new_node(p, N_COND);
    p->nodes[i].nkids = 3;
    p->nodes[i].kid[0] = x;
    p->nodes[i].kid[1] = y;
    p->nodes[i].kid[2] = z;
    return i;
}

static void parse_rule(rule *p, ir_opcode op, int k)
{
    p->text = p->at = op_get(op)->d[k];
    p->n = 0;
    p->root = parse_cond(p);
    while (*p->at == ' ')
        p->at++;
    if (*p->at)
        bad_rule(p, "text behind the rule");
}

/* ---- building ---- */

typedef struct context {
    ir_builder *b;
    const rule *rule;
    const rule_values *at;
    ir_value *g;
    scalar work; /* type of g: the one in which a contribution is computed */
} context;

static bool is_part(const rule *p, const node *n, ir_opcode part)
{
    return n->kind == N_OP && n->op == part && n->nkids == 1 && p->nodes[n->kid[0]].kind == N_A;
}

/* The type that a subtree has of its own accord; SC_NONE for numbers. */
static scalar type_of(const context *c, int i)
{
    const node *n = &c->rule->nodes[i];
    switch (n->kind) {
    case N_NUMBER:
        return SC_NONE;
    case N_A:
    case N_B:
    case N_C:
        return c->at->args[n->kind - N_A]->type;
    case N_R:
        return c->at->result->type;
    case N_G:
    case N_FLOAT:
        return c->work;
    case N_COND: {
        scalar t = type_of(c, n->kid[1]);
        return t == SC_NONE ? type_of(c, n->kid[2]) : t;
    }
    case N_OP:
        if (is_part(c->rule, n, c->at->part))
            return c->at->part_of_a->type;
        break;
    }
    const op_info *info = op_get(n->op);
    if (info->result == RESULT_B)
        return SC_BOOL;
    for (int k = 0; k < n->nkids; k++) {
        scalar t = type_of(c, n->kid[k]);
        if (t != SC_NONE)
            return t;
    }
    return SC_NONE;
}

static ir_value *build(const context *c, int i, scalar want);

static ir_value *build_op(const context *c, const node *n, scalar want)
{
    ir_value *kid[3] = {NULL, NULL, NULL};
    scalar shared = SC_NONE; /* the type that numbers among the operands take */
    bool mixed = op_get(n->op)->operands == OPERANDS_FI;
    for (int k = 0; k < n->nkids && shared == SC_NONE; k++)
        shared = type_of(c, n->kid[k]);
    if (shared == SC_NONE)
        shared = want == SC_BOOL ? c->work : want;
    const bool exact = c->b->exact;
    c->b->exact |= n->op == OP_ROUND || n->op == OP_POW || n->op == OP_POW_LOG ||
                   op_get(n->op)->result == RESULT_B; /* what decides in a rule */
    for (int k = 0; k < n->nkids; k++) {
        scalar own = type_of(c, n->kid[k]);
        kid[k] = build(c, n->kid[k], mixed && own != SC_NONE ? own : shared);
    }
    c->b->exact = exact;
    switch (n->nkids) {
    case 1:
        return ir_op1(c->b, n->op, kid[0]);
    case 2:
        return ir_op2(c->b, n->op, kid[0], kid[1]);
    default:
        return ir_op3(c->b, n->op, kid[0], kid[1], kid[2]);
    }
}

static bool constant_of(const context *c, const node *n, double *x)
{
    const ir_value *v = n->kind >= N_A && n->kind <= N_C ? c->at->args[n->kind - N_A] : NULL;
    if (n->kind == N_NUMBER)
        *x = n->number;
    else if (v && ir_is_const(v) && scalar_is_float(v->type))
        *x = ir_float(v);
    else
        return false;
    return true;
}

/* A condition that constants decide: 1 or 0; else -1. What is not asked need not be exact. */
static int known(const context *c, int i)
{
    const node *n = &c->rule->nodes[i];
    if (n->kind != N_OP || n->nkids != 2)
        return -1;
    if (n->op == OP_AND) {
        const int x = known(c, n->kid[0]), y = known(c, n->kid[1]);
        return x == 0 || y == 0 ? 0 : x == 1 && y == 1 ? 1 : -1;
    }
    double x, y;
    if (!constant_of(c, &c->rule->nodes[n->kid[0]], &x) || !constant_of(c, &c->rule->nodes[n->kid[1]], &y))
        return -1;
    switch (n->op) {
    case OP_EQ:
        return x == y;
    case OP_NE:
        return x != y;
    case OP_LT:
        return x < y;
    case OP_GT:
        return x > y;
    default:
        return -1;
    }
}

static ir_value *build(const context *c, int i, scalar want)
{
    const node *n = &c->rule->nodes[i];
    switch (n->kind) {
    case N_NUMBER:
        return scalar_is_float(want) ? ir_const_f(c->b, want, n->number) : ir_const_i(c->b, want, (int64_t)n->number);
    case N_A:
    case N_B:
    case N_C:
        return c->at->args[n->kind - N_A];
    case N_R:
        return c->at->result;
    case N_G:
        return c->g;
    case N_FLOAT:
        return ir_cast(c->b, c->work, build(c, n->kid[0], c->work));
    case N_OP:
        return is_part(c->rule, n, c->at->part) ? c->at->part_of_a : build_op(c, n, want);
    case N_COND: {
        const int answer = known(c, n->kid[0]);
        if (answer >= 0)
            return build(c, n->kid[answer ? 1 : 2], want);
        ir_value *cond = build(c, n->kid[0], SC_BOOL);
        ir_value *yes = build(c, n->kid[1], want), *no = build(c, n->kid[2], want);
        return ir_op3(c->b, OP_SELECT, cond, yes, no);
    }
    }
    return NULL;
}

ir_value *rule_apply(ir_builder *b, ir_opcode op, int k, const rule_values *at, ir_value *g, scalar type)
{
    if (op_zero_derivative(op, k))
        return NULL;
    rule p;
    p.text = p.at = op_get(op)->d[k];
    if (k >= op_get(op)->arity || op_not_differentiable(op, k))
        bad_rule(&p, "applied, but there is no derivative");
    parse_rule(&p, op, k);
    context c = {.b = b, .rule = &p, .at = at, .g = g, .work = g->type};
    assert(scalar_is_float(g->type) && scalar_is_float(type));
    return ir_cast(b, type, build(&c, p.root, c.work));
}

bool rule_is_by_result(ir_opcode op)
{
    unsigned needs = 0;
    for (int k = 0; op_is_pure_table(op) && k < op_get(op)->arity; k++)
        needs |= rule_needs(op, k, OP_COUNT);
    return needs == RULE_RESULT;
}

bool ir_op_is_rereadable(const ir_op *op)
{
    return op->code == OP_LOOP || op->code == OP_CALL || rule_is_by_result(op->code);
}

/* Of the operands and the result, those in the tree of node i, but for what is in the part. */
static unsigned needs_of(const rule *p, int i, ir_opcode part)
{
    const node *n = &p->nodes[i];
    if (n->kind >= N_A && n->kind <= N_R)
        return 1u << (n->kind - N_A);
    unsigned needs = 0;
    for (int k = 0; k < n->nkids && !is_part(p, n, part); k++)
        needs |= needs_of(p, n->kid[k], part);
    return needs;
}

unsigned rule_needs(ir_opcode op, int k, ir_opcode part)
{
    if (k >= op_get(op)->arity || op_zero_derivative(op, k) || op_not_differentiable(op, k))
        return 0;
    rule p;
    parse_rule(&p, op, k);
    return needs_of(&p, p.root, part);
}

ir_opcode rule_costly_part(ir_opcode op)
{
    enum { COSTLY = 12 };
    if (op_get(op)->arity != 1 || op_zero_derivative(op, 0) || op_not_differentiable(op, 0))
        return OP_COUNT;
    rule p;
    parse_rule(&p, op, 0);
    for (int i = 0; i < p.n; i++)
        if (p.nodes[i].kind == N_OP && is_part(&p, &p.nodes[i], p.nodes[i].op) && op_cost(p.nodes[i].op) >= COSTLY)
            return p.nodes[i].op;
    return OP_COUNT;
}
