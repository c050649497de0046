/* What decides is exact: what the operation table says of it, what the verifier refuses, what passes leave alone. */
#include "ir_fixture.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

static int setup(void **state)
{
    fixture *t = *state = fixture_create(IR_FUNC, "f");
    t->u = ir_region_param(t->f->body, SC_F64, "x");
    t->v = ir_region_param(t->f->body, SC_F64, "y");
    return 0;
}

/* Whether float operand k of an operation on floats steers. */
static bool table_decides(fixture *t, ir_opcode code, int k)
{
    ir_value *args[3] = {t->u, t->v, t->u};
    if (op_get(code)->operands == OPERANDS_FI)
        args[1] = ir_const_i(&t->b, SC_I64, 2);
    else if (op_get(code)->operands == OPERANDS_BAA)
        args[0] = ir_const_i(&t->b, SC_BOOL, 1);
    const scalar type = op_get(code)->result == RESULT_B ? SC_BOOL : SC_F64;
    return op_decides(ir_insert(&t->b, code, op_get(code)->arity, args, 1, &type, 0), k);
}

/* An operation whose rule compares operands, or whose derivative is zero though it is a function of floats, steers. A new row cannot forget it. */
static void test_table(void **state)
{
    fixture *t = *state;
    for (int code = 0; code < OP_PURE_COUNT; code++) {
        const op_info *op = op_get((ir_opcode)code);
        /* the last operand of leg, and of logistic_rate, is made of the others; what is the prelude's own chooses scales, and any scale serves */
        if (code == OP_CAST || code == OP_STOP || code == OP_POW || code == OP_LEG || code == OP_LOGISTIC_RATE || op->user == OP_FOR_PRELUDE || op->operands == OPERANDS_BAA || op->operands == OPERANDS_FI || !op_admits((ir_opcode)code, 0, SC_F64))
            continue;
        bool asks = false, decides = false;
        for (int k = 0; k < op->arity; k++) {
            if (!op_admits((ir_opcode)code, k, SC_F64))
                continue;
            const char *rule = op->d[k];
            asks |= strpbrk(rule, "<>?") || strstr(rule, "==") || strstr(rule, "sign(") || strstr(rule, "floor(") || strstr(rule, "round(") || strcmp(rule, "0") == 0;
            decides |= table_decides(t, (ir_opcode)code, k);
        }
        if (asks && !decides)
            fail_msg("'%s' steers by its rules, and op_decides does not say so", op->name);
    }
    assert_true(table_decides(t, OP_POW, 1));
    assert_true(table_decides(t, OP_FRACT, 0)); /* jumps, though its derivative is that of a line */
    assert_false(table_decides(t, OP_MUL, 0));
    finish(t, 0, NULL);
}

static void test_verifier(void **state)
{
    fixture *t = *state;
    ir_value *sum = ir_op2(&t->b, OP_ADD, t->u, t->v), *c = ir_cast(&t->b, SC_I64, sum);
    finish(t, 1, &c);
    assert_true(verifies(t->f)); /* before the decisions pass nothing is marked */
    assert_true(pass_decisions(t->m));
    assert_true(sum->exact && t->u->exact && t->v->exact);
    assert_true(verifies(t->f));
    sum->exact = false;
    assert_false(verifies(t->f)); /* what decides */
    sum->exact = true;
    ir_builder before = {.func = t->f, .region = t->f->body, .before = sum->def};
    sum->def->args[1] = ir_op1(&before, OP_NEG, t->v);
    assert_false(verifies(t->f)); /* what it is computed from */
    sum->def->args[1]->exact = true;
    assert_true(verifies(t->f));
}

/* Marks go through carried values and branches, and end at integers. */
static void test_regions(void **state)
{
    fixture *t = *state;
    ir_value *lo = ir_const_i(&t->b, SC_I64, 0), *hi = ir_const_i(&t->b, SC_I64, 5);
    ir_op *loop = ir_loop(&t->b, lo, hi, false, 1, &t->u);
    ir_builder in = {.func = t->f, .region = loop->regions[0]};
    ir_value *grown = ir_op2(&in, OP_MUL, loop->regions[0]->params[1], t->v);
    ir_yield(&in, 1, &grown);
    ir_value *zero = ir_const_f(&t->b, SC_F64, 0), *more = ir_op2(&t->b, OP_GT, loop->res[0], zero);
    ir_value *other = ir_op2(&t->b, OP_ADD, t->u, t->u);
    ir_value *results[] = {more, other};
    finish(t, 2, results);
    pass_decisions(t->m);
    assert_true(grown->exact && loop->res[0]->exact && loop->regions[0]->params[1]->exact);
    assert_false(other->exact);
    assert_true(verifies(t->f));
    grown->exact = false;
    assert_false(verifies(t->f));
}

static int quotients(const ir_func *f)
{
    int n = 0;
    for (const ir_op *op = f->body->first; op; op = op->next)
        n += op->code == OP_DIV;
    return n;
}

/* Two quotients that decide stay two: a reciprocal would round otherwise. Two that do not share one. */
static void test_reciprocal(void **state)
{
    fixture *t = *state;
    for (int exact = 1; exact >= 0; exact--) {
        ir_func *primal = ir_func_create(t->m, IR_FUNC, "p");
        ir_builder nothing = {.func = primal, .region = primal->body};
        ir_yield(&nothing, 0, NULL);
        ir_func *f = ir_func_create(t->m, IR_FUNC, "g");
        f->ad.primal = primal;
        primal->ad.vjp = f; /* an adjoint */
        ir_builder b = {.func = f, .region = f->body, .exact = exact};
        ir_value *x = ir_region_param(f->body, SC_F64, "x"), *y = ir_region_param(f->body, SC_F64, "y"), *z = ir_region_param(f->body, SC_F64, "z");
        x->exact = y->exact = z->exact = exact;
        ir_value *results[] = {ir_op2(&b, OP_DIV, x, z), ir_op2(&b, OP_DIV, y, z)};
        f->nresults = 2;
        f->results = ARENA_ARRAY(t->mem, scalar, 2);
        f->results[0] = f->results[1] = SC_F64;
        ir_yield(&b, 2, results);
        pass_algebra(f);
        assert_int_equal(quotients(f), exact ? 2 : 1);
    }
    finish(t, 0, NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {T(test_table), T(test_verifier), T(test_regions), T(test_reciprocal)};
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
