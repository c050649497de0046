/* The IR on hand-built functions: builder, verifier, printer, derivative rules, and the clean-up passes. */
#include "ir_fixture.h"
#include "ir/text/io.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"
#include "passes/simplify/simplify.h"

static ir_field *add_field(fixture *t, const char *name, scalar elem, int ndim)
{
    ir_field *f = ARENA_NEW(t->mem, ir_field);
    *f = (ir_field){.name = name, .elem = elem, .rows = 1, .cols = 1, .ndim = ndim, .grad = scalar_is_float(elem)};
    f->index = (int)t->m->fields.len;
    vec_push(&t->m->fields, f);
    return f;
}

static int setup(void **state)
{
    fixture *t = *state = fixture_create(IR_KERNEL, "k");
    t->x = add_field(t, "x", SC_F32, 1);
    t->y = add_field(t, "y", SC_F32, 1);
    return 0;
}

/* ---- helpers ---- */

static ir_value *i64(fixture *t, int64_t i)
{
    return ir_const_i(&t->b, SC_I64, i);
}

static ir_value *f32(fixture *t, double f)
{
    return ir_const_f(&t->b, SC_F32, f);
}

static ir_value *load(fixture *t, ir_field *f, ir_value *i)
{
    return ir_load(&t->b, f, IR_DATA, &i, i64(t, 0));
}

static void store(fixture *t, ir_field *f, ir_value *i, ir_value *v)
{
    ir_store(&t->b, f, IR_DATA, &i, i64(t, 0), v);
}

static ir_builder inside(fixture *t, const ir_op *op, int region)
{
    ir_builder outer = t->b;
    t->b.region = op->regions[region];
    t->b.before = NULL;
    return outer;
}

typedef struct tally {
    ir_opcode code;
    int n;
} tally;

static void count_op(ir_op *op, void *ctx)
{
    tally *c = ctx;
    c->n += op->code == c->code;
}

static int count(const fixture *t, ir_opcode code)
{
    tally c = {code, 0};
    ir_walk(t->f->body, count_op, &c);
    return c.n;
}

static ir_value *result(const fixture *t, int k)
{
    return ir_yield_of(t->f->body)->args[k];
}

static char *text_of(const ir_func *f)
{
    char *s = NULL;
    size_t n;
    FILE *out = open_memstream(&s, &n);
    ir_print_func(out, f);
    fclose(out);
    return s;
}

/* ---- builder, printer, verifier ---- */

static void test_print(void **state)
{
    fixture *t = *state;
    ir_value *a = ir_region_param(t->f->body, SC_F32, "a");
    ir_value *lo = i64(t, 0), *hi = i64(t, 10);
    ir_op *loop = ir_loop(&t->b, lo, hi, false, 1, &a);
    ir_builder outer = inside(t, loop, 0);
    t->b.loc = (src_loc){14, 9, 0};
    ir_value *s = ir_op2(&t->b, OP_MUL, loop->regions[0]->params[1], load(t, t->x, loop->regions[0]->params[0]));
    s->name = "s";
    ir_yield(&t->b, 1, &s);
    t->b = outer;
    finish(t, 1, loop->res);
    assert_true(ir_verify(t->f, "test"));
    char *text = text_of(t->f);
    assert_non_null(strstr(text, "kernel k(%0:f32 a) -> f32 {"));
    assert_non_null(strstr(text, "= loop %1..%2 init %0 (%3:i64, %5:f32 a) {"));
    assert_non_null(strstr(text, "    %8:f32 s = mul %5, %7   @14:9\n"));
    free(text);
}

static void test_verify_dominance(void **state)
{
    fixture *t = *state;
    ir_value *c = ir_const_i(&t->b, SC_BOOL, 1);
    ir_op *branch = ir_if(&t->b, c, 0, NULL);
    ir_builder outer = inside(t, branch, 0);
    ir_value *v = f32(t, 2);
    ir_yield(&t->b, 0, NULL);
    t->b.region = branch->regions[1];
    ir_yield(&t->b, 0, NULL);
    t->b = outer;
    finish(t, 0, NULL);
    assert_true(ir_verify(t->f, "test"));
    /* a value of a branch used behind it */
    t->b.before = ir_yield_of(t->f->body);
    ir_op1(&t->b, OP_NEG, v);
    assert_false(verifies(t->f));
}

static void test_verify_types(void **state)
{
    fixture *t = *state;
    ir_value *a = f32(t, 1), *b = f32(t, 2);
    ir_value *s = ir_op2(&t->b, OP_ADD, a, b);
    finish(t, 1, &s);
    assert_true(ir_verify(t->f, "test"));
    s->def->args[1] = i64(t, 3); /* behind the yield, and of another type */
    assert_false(verifies(t->f));
}

static void test_verify_shapes(void **state)
{
    fixture *t = *state;
    ir_value *zero = i64(t, 0), *hi = i64(t, 3), *init = f32(t, 0);
    ir_op *loop = ir_loop(&t->b, zero, hi, false, 1, &init);
    ir_builder outer = inside(t, loop, 0);
    ir_yield(&t->b, 1, &loop->regions[0]->params[1]);
    t->b = outer;
    finish(t, 1, loop->res);
    assert_true(ir_verify(t->f, "test"));
    ir_op *y = ir_yield_of(loop->regions[0]);
    y->args[0] = zero; /* i64 where f32 is carried */
    assert_false(verifies(t->f));
    y->args[0] = init;
    assert_true(ir_verify(t->f, "test"));
    ir_remove_arg(y, 0);
    assert_false(verifies(t->f));
    ir_add_arg(y, init);
    t->f->results[0] = SC_F64;
    assert_false(verifies(t->f));
}

/* What an earlier pass was to leave none of, as printed IR, and what is no such thing. */
static const struct {
    ir_gone gone;
    bool refused;
    const char *head, *body;
} left[] = {
    {IR_GONE_OLD, true, "kernel k(%0:i64 i)", "%1:f32 = old %0, %0, %0"},
    {IR_GONE_OLD, true, "kernel k(%0:i64 i)", "%1:bool = won %0, %0, %0, %0"},
    {IR_GONE_ADJOINT, true, "kernel step() {\n  yield\n}\nkernel k()", "adjoint step()"},
    {IR_GONE_GRADIENT, true, "func f(%0:f32 x) -> f32 {\n  yield %0\n}\nkernel k(%0:f32 x)", "%1:f32 = gradient f(%0)"},
    {IR_GONE_GRADIENT, true, "func f(%0:f32 x) -> f32 {\n  yield %0\n}\nkernel k(%0:f32 x)", "%1:f32 = along f(%0, %0)"},
    {IR_GONE_STOP, true, "kernel k(%0:f32 x)", "%1:f32 = stop_grad %0"},
    {IR_GONE_STOP, true, "kernel k(%0:f32 x)", "%1:f32 = slope %0, %0, %0"},
    {IR_GONE_STOP, true, "kernel k(%0:f32 x)", "%1:f32 = leg %0, %0, %0"},
    {IR_GONE_STOP, false, "kernel k(%0:f32 x)", "%1:f32 = div %0, %0"},
    {IR_GONE_NARROW_SUM, true, "kernel k(%0:i64 n, %1:f32 x)", "%2:f32 = task rows %0..%0 add(%1) (%3:i64 lo, %4:i64 hi) {\n yield %1\n}"},
    {IR_GONE_NARROW_SUM, false, "kernel k(%0:i64 n, %1:f64 x)", "%2:f64 = task rows %0..%0 add(%1) (%3:i64 lo, %4:i64 hi) {\n yield %1\n}"},
    {IR_GONE_NARROW_SUM, false, "kernel k(%0:i64 n, %1:f32 x)", "%2:f32 = task rows %0..%0 max(%1) (%3:i64 lo, %4:i64 hi) {\n yield %1\n}"},
    {IR_GONE_FLAT_TASK, true, "kernel k(%0:i64 n)", "task %0..%0 (%3:i64 i) {\n yield\n}"},
    {IR_GONE_FLAT_TASK, false, "kernel k(%0:i64 n)", "task rows %0..%0 (%3:i64 lo, %4:i64 hi) {\n yield\n}"},
    {IR_GONE_FLAT_TASK, false, "module m real f32 debug\nkernel k(%0:i64 n)", "task %0..%0 (%3:i64 i) {\n yield\n}"},
    {IR_GONE_SIZED, true, "kernel k(%0:i64 n)", "%1:ptr = local f32[%0]"},
    {IR_GONE_SIZED, false, "kernel k(%0:i64 n)", "%1:ptr = local f32[%0] stacked"},
    {IR_GONE_SIZED, false, "kernel k(%0:i64 n)", "%1:ptr = local f32[4]"},
};

static void test_verify_gone(void **state)
{
    fixture *t = *state;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
        ir_module *m = ir_module_create(t->mem, t->names, d, "m");
        const char *text = arena_printf(t->mem, "%s {\n%s\nyield\n}\n", left[i].head, left[i].body);
        assert_true(ir_read_module(m, "left", text, strlen(text), stderr));
        const ir_func *k = vec_last(&m->funcs);
        assert_true(ir_verify_gone(k, "test", ~(unsigned)left[i].gone));
        assert_int_equal(verifies_gone(k, left[i].gone), !left[i].refused);
        ir_module_destroy(m);
        diag_destroy(d);
    }
}

static void test_clone(void **state)
{
    fixture *t = *state;
    ir_value *lo = i64(t, 0), *hi = i64(t, 4), *init = f32(t, 0);
    ir_reduction add = {IR_RED_ADD, 0};
    ir_op *task = ir_task(&t->b, 1, &lo, &hi, 1, &add, &init);
    ir_builder outer = inside(t, task, 0);
    ir_value *v = load(t, t->x, task->regions[0]->params[0]);
    ir_yield(&t->b, 1, &v);
    t->b = outer;
    finish(t, 1, task->res);
    ir_func *c = ir_clone_func(t->f, "copy");
    assert_true(ir_verify(c, "test"));
    const ir_op *copy = ir_yield_of(c->body)->args[0]->def;
    assert_ptr_equal(copy->origin, task);
    assert_ptr_not_equal(ir_task_attr(copy)->reductions, ir_task_attr(task)->reductions);
    char *a = text_of(t->f), *b = text_of(c);
    assert_int_equal(strchr(a, '\n') - a, strchr(b, '\n') - b - 3); /* the name only */
    free(a);
    free(b);
}

/* for i in 0..4 { x[y[i]] += 1 }: the accumulation. */
static ir_op *task_that_adds(fixture *t, ir_op **task)
{
    ir_value *lo = i64(t, 0), *hi = i64(t, 4);
    *task = ir_task(&t->b, 1, &lo, &hi, 0, NULL, NULL);
    ir_builder outer = inside(t, *task, 0);
    ir_value *at = ir_cast(&t->b, SC_I64, load(t, t->y, (*task)->regions[0]->params[0]));
    ir_op *add = ir_accum(&t->b, t->x, IR_DATA, &at, i64(t, 0), f32(t, 1));
    ir_yield(&t->b, 0, NULL);
    t->b = outer;
    return add;
}

/* Behind the parallel pass each accumulation has a class, and each scatter is among the targets of its task. */
static void test_verify_class(void **state)
{
    fixture *t = *state;
    ir_op *task, *add = task_that_adds(t, &task);
    ir_value *zero = i64(t, 0), *one = f32(t, 1);
    ir_op *alone = ir_accum(&t->b, t->x, IR_DATA, &zero, zero, one);
    finish(t, 0, NULL);
    assert_true(ir_verify(t->f, "test"));
    t->f->classed = true; /* which it is not */
    assert_false(verifies(t->f));
    t->f->classed = false;
    pass_parallel(t->f);
    assert_true(ir_verify(t->f, "parallel"));
    assert_int_equal(ir_access_attr(add)->acc, IR_ACC_SCATTER);
    assert_int_equal(ir_access_attr(alone)->acc, IR_ACC_PLAIN);
    ir_access_attr(add)->acc = IR_ACC_UNSET;
    assert_false(verifies(t->f));
    ir_access_attr(add)->acc = IR_ACC_SCATTER;
    ir_access_attr(alone)->acc = IR_ACC_UNSET;
    assert_false(verifies(t->f));
    ir_access_attr(alone)->acc = IR_ACC_SCATTER; /* no task has it as a target */
    assert_false(verifies(t->f));
    ir_access_attr(alone)->acc = IR_ACC_PLAIN;
    assert_true(ir_verify(t->f, "test"));
    ir_task_attr(task)->scatters[0].plane = IR_GRAD;
    assert_false(verifies(t->f));
    ir_task_attr(task)->scatters[0].plane = IR_DATA;
    ir_task_attr(task)->nscatters = 0;
    assert_false(verifies(t->f));
}

static void test_verify_class_atomic(void **state)
{
    fixture *t = *state;
    ir_value *zero = i64(t, 0), *one = f32(t, 1);
    ir_value *old = ir_atomic(&t->b, OP_ADD, t->x, &zero, zero, one);
    finish(t, 0, NULL);
    pass_parallel(t->f);
    assert_true(ir_verify(t->f, "parallel"));
    ir_access_attr(old->def)->acc = IR_ACC_UNSET;
    assert_false(verifies(t->f));
}

/* ---- derivative rules ---- */

static void test_rules(void **state)
{
    fixture *t = *state;
    for (int code = 0; code < OP_PURE_COUNT; code++) {
        const op_info *op = op_get((ir_opcode)code);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(strcmp(op->d[k], "-") == 0, k >= op->arity);
            if (k >= op->arity || op_zero_derivative((ir_opcode)code, k) || op_not_differentiable((ir_opcode)code, k))
                continue;
            rule_values at = {.args = {f32(t, 1), f32(t, 2), f32(t, 3)}, .result = f32(t, 4), .part = OP_COUNT};
            if (op->operands == OPERANDS_FI)
                at.args[1] = ir_const_i(&t->b, SC_I32, 2);
            if (op->operands == OPERANDS_BAA)
                at.args[0] = ir_const_i(&t->b, SC_BOOL, 1);
            ir_value *g = f32(t, 1), *v = rule_apply(&t->b, (ir_opcode)code, k, &at, g, SC_F64);
            assert_non_null(v);
            assert_int_equal(v->type, SC_F64);
        }
    }
    finish(t, 0, NULL);
    assert_true(ir_verify(t->f, "test"));
    assert_int_equal(rule_needs(OP_MUL, 0, OP_COUNT), 2);
    assert_int_equal(rule_needs(OP_EXP, 0, OP_COUNT), 8);
    assert_int_equal(rule_needs(OP_POW, 1, OP_COUNT), 1 | 2 | 8);
    assert_int_equal(rule_needs(OP_ADD, 0, OP_COUNT), 0);
    assert_int_equal(rule_needs(OP_FLOOR, 0, OP_COUNT), 0);
    const rule_values at = {.args = {f32(t, 1)}, .result = f32(t, 1), .part = OP_COUNT};
    assert_null(rule_apply(&t->b, OP_FLOOR, 0, &at, at.args[0], SC_F32));
}

/* The derivative of a sine takes a cosine that is there already, and nothing else. */
static void test_rule_part(void **state)
{
    fixture *t = *state;
    assert_int_equal(rule_costly_part(OP_SIN), OP_COS);
    assert_int_equal(rule_costly_part(OP_EXP), OP_COUNT);
    assert_int_equal(rule_costly_part(OP_MUL), OP_COUNT);
    assert_int_equal(rule_needs(OP_SIN, 0, OP_COUNT), 1);
    assert_int_equal(rule_needs(OP_SIN, 0, OP_COS), 0);
    const rule_values at = {.part = OP_COS, .part_of_a = f32(t, 0.5)};
    const ir_value *v = rule_apply(&t->b, OP_SIN, 0, &at, f32(t, 1), SC_F32);
    assert_int_equal(v->def->code, OP_MUL);
    assert_ptr_equal(v->def->args[1], at.part_of_a);
}

/* ---- folding ---- */

static void test_fold_identities(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x");
    ir_value *v[] = {
        ir_op2(&t->b, OP_MUL, x, f32(t, 1)),
        ir_op2(&t->b, OP_ADD, x, f32(t, -0.0)),
        ir_op2(&t->b, OP_SUB, x, f32(t, 0.0)),
        ir_op1(&t->b, OP_NEG, ir_op1(&t->b, OP_NEG, x)),
        ir_op2(&t->b, OP_DIV, x, f32(t, 1)),
        /* not exact: these stay */
        ir_op2(&t->b, OP_ADD, x, f32(t, 0.0)),
        ir_op2(&t->b, OP_MUL, x, f32(t, 0.0)),
        ir_op2(&t->b, OP_SUB, x, f32(t, -0.0)),
        ir_op2(&t->b, OP_SUB, x, x),
        ir_op1(&t->b, OP_STOP, x),
    };
    finish(t, 10, v);
    pass_simplify(t->f);
    assert_true(ir_verify(t->f, "fold"));
    for (int i = 0; i < 10; i++)
        assert_int_equal(result(t, i) == x, i < 5);
}

static void test_fold_constants(void **state)
{
    fixture *t = *state;
    ir_value *tenth = f32(t, 0.1), *max = ir_const_i(&t->b, SC_I32, INT32_MAX), *one = ir_const_i(&t->b, SC_I32, 1);
    ir_value *v[] = {
        ir_op2(&t->b, OP_MUL, tenth, tenth),
        ir_op2(&t->b, OP_ADD, max, one),
        ir_cast(&t->b, SC_F64, tenth),
        ir_cast(&t->b, SC_U8, max),
        ir_op2(&t->b, OP_LT, one, max),
        ir_op3(&t->b, OP_SELECT, ir_const_i(&t->b, SC_BOOL, 0), tenth, f32(t, 3)),
    };
    finish(t, 6, v);
    pass_simplify(t->f);
    for (int i = 0; i < 6; i++)
        assert_true(ir_is_const(result(t, i)));
    assert_true(ir_float(result(t, 0)) == (double)(0.1f * 0.1f));
    assert_true(ir_int(result(t, 1)) == INT32_MIN);
    assert_true(ir_float(result(t, 2)) == (double)0.1f);
    assert_true(ir_int(result(t, 3)) == 255);
    assert_true(ir_int(result(t, 4)) == 1);
    assert_true(ir_float(result(t, 5)) == 3);
}

static void test_fold_branches(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x"), *v[2];
    for (int k = 0; k < 2; k++) {
        ir_op *branch = ir_if(&t->b, ir_const_i(&t->b, SC_BOOL, k), 1, &x->type);
        ir_builder outer = inside(t, branch, 0);
        ir_value *s = ir_op1(&t->b, OP_SIN, x);
        ir_yield(&t->b, 1, &s);
        t->b.region = branch->regions[1];
        ir_value *c = ir_op1(&t->b, OP_COS, x);
        ir_yield(&t->b, 1, &c);
        t->b = outer;
        v[k] = branch->res[0];
    }
    finish(t, 2, v);
    pass_simplify(t->f);
    assert_true(ir_verify(t->f, "fold"));
    assert_int_equal(count(t, OP_IF), 0);
    assert_int_equal(result(t, 0)->def->code, OP_COS);
    assert_int_equal(result(t, 1)->def->code, OP_SIN);
}

/* A loop over lo..hi that carries x * 2 and a value that never changes. */
static ir_op *doubling(fixture *t, int64_t lo, int64_t hi, ir_value *x, ir_value *same)
{
    ir_op *loop = ir_loop(&t->b, i64(t, lo), i64(t, hi), false, 2, (ir_value *[]){x, same});
    ir_builder outer = inside(t, loop, 0);
    ir_value *next = ir_op2(&t->b, OP_MUL, loop->regions[0]->params[1], f32(t, 2));
    ir_yield(&t->b, 2, (ir_value *[]){next, loop->regions[0]->params[2]});
    t->b = outer;
    return loop;
}

static void test_fold_loops(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x"), *v[6];
    const int64_t hi[] = {3, 4, 5};
    for (int k = 0; k < 3; k++) {
        ir_op *loop = doubling(t, 3, hi[k], x, x);
        v[2 * k] = loop->res[0];
        v[2 * k + 1] = loop->res[1];
    }
    finish(t, 6, v);
    pass_simplify(t->f);
    assert_true(ir_verify(t->f, "fold"));
    assert_ptr_equal(result(t, 0), x);                     /* no trip */
    assert_int_equal(result(t, 2)->def->code, OP_MUL);     /* one */
    assert_int_equal(result(t, 4)->def->code, OP_LOOP);    /* two */
    assert_int_equal(ir_loop_ncarried(result(t, 4)->def), 1);
    for (int k = 1; k < 6; k += 2)
        assert_ptr_equal(result(t, k), x);
    assert_int_equal(count(t, OP_LOOP), 1);
}

/* for i in lo..hi (i32) { y[i + 1] = x[i] } */
static void subscripts(fixture *t, ir_value *lo, ir_value *hi)
{
    ir_op *task = ir_task(&t->b, 1, &lo, &hi, 0, NULL, NULL);
    ir_builder outer = inside(t, task, 0);
    ir_value *i = ir_cast(&t->b, SC_I32, task->regions[0]->params[0]);
    ir_value *next = ir_op2(&t->b, OP_ADD, i, ir_const_i(&t->b, SC_I32, 1));
    store(t, t->y, ir_cast(&t->b, SC_I64, next), load(t, t->x, ir_cast(&t->b, SC_I64, i)));
    ir_yield(&t->b, 0, NULL);
    t->b = outer;
    finish(t, 0, NULL);
    pass_simplify(t->f);
    assert_true(ir_verify(t->f, "fold"));
}

static void test_fold_subscripts(void **state)
{
    fixture *t = *state;
    subscripts(t, i64(t, 0), ir_shape(&t->b, t->x, 0));
    assert_int_equal(count(t, OP_CAST), 0);
    assert_int_equal(count(t, OP_ADD), 1);
}

/* An i64 index that the program itself cuts to i32 stays cut. */
static void test_fold_keeps_truncation(void **state)
{
    fixture *t = *state;
    subscripts(t, i64(t, 0), ir_region_param(t->f->body, SC_I64, "n"));
    assert_true(count(t, OP_CAST) > 0);
}

/* ---- common subexpressions ---- */

static void test_cse_pure(void **state)
{
    fixture *t = *state;
    ir_value *a = ir_region_param(t->f->body, SC_F32, "a"), *b = ir_region_param(t->f->body, SC_F32, "b");
    ir_value *v[] = {
        ir_op2(&t->b, OP_ADD, a, b), ir_op2(&t->b, OP_ADD, b, a), ir_op2(&t->b, OP_SUB, a, b), ir_op2(&t->b, OP_SUB, b, a),
        ir_op2(&t->b, OP_MIN, a, b), ir_op2(&t->b, OP_MIN, b, a), f32(t, 0.0), f32(t, -0.0),
    };
    finish(t, 8, v);
    assert_true(pass_cse(t->f));
    assert_true(ir_verify(t->f, "cse"));
    assert_ptr_equal(result(t, 0), result(t, 1));
    assert_ptr_not_equal(result(t, 2), result(t, 3));
    assert_ptr_not_equal(result(t, 4), result(t, 5)); /* a tie goes to the second operand */
    assert_ptr_not_equal(result(t, 6), result(t, 7));
}

static void test_cse_loads(void **state)
{
    fixture *t = *state;
    ir_value *i = i64(t, 0), *v[4];
    v[0] = load(t, t->x, i);
    store(t, t->y, i, v[0]);
    v[1] = load(t, t->x, i); /* another field was written */
    store(t, t->x, i, f32(t, 1));
    v[2] = load(t, t->x, i); /* this one was */
    ir_accum(&t->b, t->x, IR_GRAD, &i, i, f32(t, 1));
    v[3] = load(t, t->x, i); /* another plane */
    finish(t, 4, v);
    assert_true(pass_cse(t->f));
    assert_true(ir_verify(t->f, "cse"));
    assert_ptr_equal(result(t, 0), result(t, 1));
    assert_ptr_not_equal(result(t, 1), result(t, 2));
    assert_ptr_equal(result(t, 2), result(t, 3));
}

/* A load at the head of a loop that writes its field further down is a new one in each iteration. */
static void test_cse_loop(void **state)
{
    fixture *t = *state;
    ir_value *i = i64(t, 0), *n = i64(t, 8);
    ir_value *before = load(t, t->x, i);
    ir_op *loop = ir_loop(&t->b, i, n, false, 1, &before);
    ir_builder outer = inside(t, loop, 0);
    ir_value *head = load(t, t->x, i);
    store(t, t->x, i, ir_op2(&t->b, OP_ADD, head, before));
    ir_yield(&t->b, 1, &head);
    t->b = outer;
    ir_value *behind = load(t, t->x, i);
    finish(t, 3, (ir_value *[]){before, loop->res[0], behind});
    pass_cse(t->f);
    assert_true(ir_verify(t->f, "cse"));
    assert_int_equal(count(t, OP_LOAD), 3);
}

static void test_cse_branches(void **state)
{
    fixture *t = *state;
    ir_value *i = i64(t, 0), *c = ir_region_param(t->f->body, SC_BOOL, "c");
    ir_value *before = load(t, t->x, i);
    ir_op *branch = ir_if(&t->b, c, 1, &before->type);
    ir_builder outer = inside(t, branch, 0);
    store(t, t->x, i, f32(t, 1));
    ir_value *yes = load(t, t->x, i);
    ir_yield(&t->b, 1, &yes);
    t->b.region = branch->regions[1];
    ir_value *no = load(t, t->x, i); /* nothing was written on this path */
    ir_yield(&t->b, 1, &no);
    t->b = outer;
    ir_value *behind = load(t, t->x, i);
    finish(t, 3, (ir_value *[]){before, branch->res[0], behind});
    pass_cse(t->f);
    assert_true(ir_verify(t->f, "cse"));
    assert_ptr_equal(ir_yield_of(branch->regions[1])->args[0], before);
    assert_ptr_equal(ir_yield_of(branch->regions[0])->args[0], yes);
    assert_ptr_equal(result(t, 2), behind);
}

/* ---- dead code ---- */

static void test_dce_carried(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x");
    ir_op *loop = ir_loop(&t->b, i64(t, 0), i64(t, 9), false, 2, (ir_value *[]){x, x});
    ir_builder outer = inside(t, loop, 0);
    ir_value *a = ir_op1(&t->b, OP_SIN, loop->regions[0]->params[1]);
    ir_value *b = ir_op1(&t->b, OP_COS, loop->regions[0]->params[2]); /* feeds only itself */
    ir_yield(&t->b, 2, (ir_value *[]){a, b});
    t->b = outer;
    finish(t, 1, loop->res);
    assert_true(pass_dce(t->f));
    assert_true(ir_verify(t->f, "dce"));
    assert_int_equal(count(t, OP_COS), 0);
    assert_int_equal(ir_loop_ncarried(loop), 1);
}

static void test_dce_regions(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x"), *c = ir_region_param(t->f->body, SC_BOOL, "c");
    ir_op *branch = ir_if(&t->b, c, 2, (scalar[]){SC_F32, SC_F32});
    ir_builder outer = inside(t, branch, 0);
    ir_yield(&t->b, 2, (ir_value *[]){ir_op1(&t->b, OP_SIN, x), ir_op1(&t->b, OP_COS, x)});
    t->b.region = branch->regions[1];
    ir_yield(&t->b, 2, (ir_value *[]){x, x});
    t->b = outer;
    ir_op *dead = ir_loop(&t->b, i64(t, 0), i64(t, 9), false, 1, &x);
    inside(t, dead, 0);
    ir_value *e = ir_op1(&t->b, OP_EXP, dead->regions[0]->params[1]);
    ir_yield(&t->b, 1, &e);
    t->b = outer;
    finish(t, 1, &branch->res[1]);
    assert_true(pass_dce(t->f));
    assert_true(ir_verify(t->f, "dce"));
    assert_int_equal(count(t, OP_LOOP), 0);
    assert_int_equal(count(t, OP_SIN), 0);
    assert_int_equal(branch->nres, 1);
}

static void test_dce_arrays(void **state)
{
    fixture *t = *state;
    ir_value *zero = i64(t, 0), *one = f32(t, 1);
    ir_value *read = ir_local(&t->b, SC_F32, 3, "read"), *written = ir_local(&t->b, SC_F32, 3, "written");
    ir_lstore(&t->b, read, zero, one);
    ir_lstore(&t->b, written, zero, one);
    ir_value *v = ir_lload(&t->b, read, zero);
    finish(t, 1, &v);
    assert_true(pass_dce(t->f));
    assert_true(ir_verify(t->f, "dce"));
    assert_int_equal(count(t, OP_LOCAL), 1);
    assert_int_equal(count(t, OP_LSTORE), 1);
}

/* A value that each step uses twice is asked about once, and one of more than 256 operations stays. */
static void test_leave(void **state)
{
    fixture *t = *state;
    ir_value *lo = i64(t, 0), *hi = i64(t, 9), *given = ir_region_param(t->f->body, SC_I64, "given");
    ir_op *loop = ir_loop(&t->b, lo, hi, false, 0, NULL);
    ir_builder outer = inside(t, loop, 0);
    ir_value *twice[258] = {given};
    for (int k = 0; k < 257; k++)
        twice[k + 1] = ir_op2(&t->b, OP_ADD, twice[k], twice[k]);
    ir_value *own = ir_op2(&t->b, OP_ADD, given, loop->regions[0]->params[0]);
    ir_yield(&t->b, 0, NULL);
    t->b = outer;
    assert_true(ir_can_leave(given, loop));
    assert_true(ir_can_leave(twice[256], loop));
    assert_false(ir_can_leave(twice[257], loop));
    assert_false(ir_can_leave(own, loop));
    finish(t, 0, NULL);
    assert_true(ir_verify(t->f, "leave"));
}

static ir_op *insert(fixture *t, ir_opcode code, ir_layout *l, int64_t slot, int nargs, ir_value *const *args, scalar type)
{
    ir_op *op = ir_insert(&t->b, code, nargs, args, type == SC_NONE ? 0 : 1, &type, 0);
    if (l) {
        ir_slot_attr(op)->layout = l;
        ir_slot_attr(op)->number = slot;
    }
    return op;
}

/* A chain of structs: slot 0 the value that nobody loads, slot 1 the previous struct, slot 2 the value that one may load. */
static void test_dce_buffers(void **state)
{
    for (int want = 0; want < 2; want++) {
        if (want) {
            teardown(state);
            setup(state);
        }
        fixture *t = *state;
        scalar types[] = {SC_F32, SC_PTR, SC_F32};
        ir_layout layout = {.types = types, .n = 3};
        ir_value *x = ir_region_param(t->f->body, SC_F32, "x"), *lo = i64(t, 0), *hi = i64(t, 9);
        ir_op *mark = insert(t, OP_STK_MARK, NULL, 0, 0, NULL, SC_PTR);
        ir_value *null = ir_zero(&t->b, SC_PTR);
        ir_op *fwd = ir_loop(&t->b, lo, hi, false, 1, &null);
        ir_builder outer = inside(t, fwd, 0);
        ir_value *p = insert(t, OP_STK_ALLOC, &layout, 0, 1, (ir_value *[]){i64(t, 1)}, SC_PTR)->res[0];
        insert(t, OP_STK_STORE, &layout, 0, 3, (ir_value *[]){p, lo, x}, SC_NONE);
        insert(t, OP_STK_STORE, &layout, 1, 3, (ir_value *[]){p, lo, fwd->regions[0]->params[1]}, SC_NONE);
        insert(t, OP_STK_STORE, &layout, 2, 3, (ir_value *[]){p, lo, x}, SC_NONE);
        ir_yield(&t->b, 1, &p);
        t->b = outer;
        ir_op *rev = ir_loop(&t->b, lo, hi, false, 2, (ir_value *[]){fwd->res[0], x});
        inside(t, rev, 0);
        ir_value *q = rev->regions[0]->params[1];
        ir_value *v = insert(t, OP_STK_LOAD, &layout, 2, 2, (ir_value *[]){q, lo}, SC_F32)->res[0];
        ir_value *before = insert(t, OP_STK_LOAD, &layout, 1, 2, (ir_value *[]){q, lo}, SC_PTR)->res[0];
        ir_yield(&t->b, 2, (ir_value *[]){before, ir_op2(&t->b, OP_ADD, rev->regions[0]->params[2], v)});
        t->b = outer;
        insert(t, OP_STK_RELEASE, NULL, 0, 1, mark->res, SC_NONE);
        finish(t, want, &rev->res[1]);
        assert_true(ir_verify(t->f, "test"));
        assert_true(pass_dce(t->f));
        assert_true(ir_verify(t->f, "dce"));
        assert_int_equal(count(t, OP_STK_STORE), want ? 2 : 0);
        assert_int_equal(count(t, OP_STK_ALLOC), want);
        assert_int_equal(count(t, OP_STK_MARK), want);
        assert_int_equal(count(t, OP_LOOP), want ? 2 : 0);
        if (want) { /* the slot that nobody loads is gone from this function's layout, and only from that */
            assert_int_equal(ir_layout_of(p->def)->n, 2);
            assert_int_equal(ir_slot_attr(before->def)->number, 0);
            assert_int_equal(layout.n, 3);
        }
    }
}

static void test_dce_reductions(void **state)
{
    fixture *t = *state;
    ir_value *lo = i64(t, 0), *hi = i64(t, 9), *x = ir_region_param(t->f->body, SC_F32, "x");
    ir_reduction reds[] = {{IR_RED_ADD, 0}, {IR_RED_MIN, 2}, {IR_RED_MAX, 1}};
    ir_op *task = ir_task(&t->b, 1, &lo, &hi, 3, reds, (ir_value *[]){x, x, lo, x, x, lo});
    ir_builder outer = inside(t, task, 0);
    ir_value *i = task->regions[0]->params[0], *v = load(t, t->x, i);
    ir_yield(&t->b, 6, (ir_value *[]){v, v, i, v, v, i});
    t->b = outer;
    finish(t, 1, &task->res[2]); /* the minimum's iteration */
    assert_true(ir_verify(t->f, "test"));
    assert_true(pass_dce(t->f));
    assert_true(ir_verify(t->f, "dce"));
    assert_int_equal(ir_task_attr(task)->nreductions, 1);
    assert_int_equal(ir_task_attr(task)->reductions[0].kind, IR_RED_MIN);
    assert_int_equal(ir_task_attr(task)->reductions[0].companions, 1);
    assert_int_equal(task->nres, 2);
}

/* ---- inlining, invariant code ---- */

/* f12 calls f11 twice, and so on: the code must not double with each level. */
static void test_inline_chain(void **state)
{
    fixture *t = *state;
    ir_func *callee = NULL, *k = t->f;
    t->m->funcs.len = 0;
    for (int depth = 0; depth <= 12; depth++) {
        ir_func *f = t->f = depth < 12 ? ir_func_create(t->m, IR_FUNC, arena_printf(t->mem, "f%d", depth)) : k;
        t->b = (ir_builder){.func = f, .region = f->body};
        ir_value *x = ir_region_param(f->body, SC_F32, "x");
        ir_value *v = ir_op1(&t->b, OP_SIN, x);
        for (int i = 0; i < 2 && callee; i++)
            v = ir_op2(&t->b, OP_MUL, v, ir_call(&t->b, callee, 1, &v)->res[0]);
        finish(t, 1, &v);
        callee = f;
    }
    vec_push(&t->m->funcs, k);
    pass_inline(t->m);
    int n = 0;
    for (size_t i = 0; i < t->m->funcs.len; i++) {
        t->f = t->m->funcs.at[i];
        assert_true(ir_verify(t->f, "inline"));
        n += count(t, OP_SIN);
    }
    assert_in_range(n, 1, 800); /* 8191 of a chain that is expanded whole */
}

static void test_licm(void **state)
{
    fixture *t = *state;
    ir_value *x = ir_region_param(t->f->body, SC_F32, "x"), *n = ir_region_param(t->f->body, SC_I64, "n"), *zero = i64(t, 0);
    ir_op *loop = ir_loop(&t->b, zero, n, false, 1, &x);
    ir_builder outer = inside(t, loop, 0);
    ir_value *s = ir_op1(&t->b, OP_SIN, x), *v = load(t, t->y, zero);
    ir_value *sum = ir_op2(&t->b, OP_ADD, loop->regions[0]->params[1], ir_op2(&t->b, OP_MUL, s, v));
    ir_yield(&t->b, 1, &sum);
    t->b = outer;
    finish(t, 1, loop->res);
    assert_true(pass_licm(t->f));
    assert_true(ir_verify(t->f, "licm"));
    assert_ptr_equal(s->region, t->f->body);
    assert_ptr_equal(v->region, loop->regions[0]); /* the loop may not run at all, and the load might fault */
    ir_loop_attr(loop)->parallel = true;
    assert_true(pass_licm(t->f));
    assert_ptr_equal(v->region, t->f->body);
    assert_true(ir_verify(t->f, "licm"));
}

/* ---- affine forms ---- */

static void test_affine(void **state)
{
    fixture *t = *state;
    ir_value *i = ir_region_param(t->f->body, SC_I64, "i"), *j = ir_region_param(t->f->body, SC_I64, "j");
    ir_value *a = ir_op2(&t->b, OP_SUB, ir_op2(&t->b, OP_MUL, i64(t, 3), ir_op2(&t->b, OP_ADD, i, i64(t, 2))), j);
    affine f = affine_of(a);
    assert_true(f.ok);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.konst, 6);
    affine g = affine_of(ir_op2(&t->b, OP_ADD, a, i64(t, 1))), d = affine_sub(&g, &f);
    assert_false(affine_equal(&f, &g));
    assert_int_equal(d.n, 0);
    assert_int_equal(d.konst, 1);
    for (int k = 0; k < 60; k++) /* shared subexpressions must not cost 2^60 */
        a = ir_op2(&t->b, OP_ADD, a, a);
    affine_of(a);
}

/* ---- groups of accesses ---- */

enum { NACCESSES = 150 };

typedef struct picks {
    unsigned random;
    ir_value *of[4]; /* what a subscript is made of: two values from around the task, its index, one from memory */
} picks;

static unsigned pick(picks *p, unsigned n)
{
    p->random = p->random * 1103515245u + 12345u;
    return (p->random >> 16) % n;
}

static ir_value *pick_subscript(fixture *t, picks *p, unsigned kinds)
{
    const unsigned kind = pick(p, kinds);
    ir_value *k = i64(t, pick(p, 5));
    return kind == 0 ? k : ir_op2(&t->b, OP_ADD, p->of[kind - 1], k);
}

/* The groups are those that comparing all pairs gives. */
static void test_groups(void **state)
{
    fixture *t = *state;
    ir_field *z = add_field(t, "z", SC_F32, 2);
    z->rows = 3;
    picks p = {.of = {ir_region_param(t->f->body, SC_I64, "a"), ir_region_param(t->f->body, SC_I64, "b")}};
    ir_value *lo = i64(t, 0), *hi = i64(t, 4);
    ir_op *task = ir_task(&t->b, 1, &lo, &hi, 0, NULL, NULL);
    ir_builder outer = inside(t, task, 0);
    p.of[2] = task->regions[0]->params[0];
    p.of[3] = ir_cast(&t->b, SC_I64, load(t, t->y, p.of[2]));
    int ngroups[4] = {0};
    for (unsigned seed = 0; seed < 200; seed++) {
        ir_op *at[NACCESSES];
        p.random = seed;
        const unsigned n = 1 + pick(&p, NACCESSES), kinds = 1 + seed % 4 + (seed % 4 == 3);
        for (unsigned i = 0; i < n; i++) {
            ir_value *idx[2] = {pick_subscript(t, &p, kinds), pick_subscript(t, &p, seed % 8 < 4 ? 1 : kinds)};
            at[i] = ir_accum(&t->b, z, IR_DATA, idx, i64(t, pick(&p, 3)), f32(t, 1));
        }
        size_t *group = groups_that_meet(task, at, n), want[NACCESSES];
        for (size_t i = 0; i < n; i++)
            want[i] = i;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (want[i] != want[j] && !never_meet(task, at[i], at[j])) {
                    const size_t from = want[i] > want[j] ? want[i] : want[j], to = want[i] + want[j] - from;
                    for (size_t k = 0; k < n; k++)
                        want[k] = want[k] == from ? to : want[k];
                }
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(group[i], want[i]);
            ngroups[seed % 4] += want[i] == i;
        }
        free(group);
    }
    for (int k = 0; k < 4; k++)
        assert_true(ngroups[k] > 60); /* more than one each */
    ir_yield(&t->b, 0, NULL);
    t->b = outer;
    finish(t, 0, NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_print), T(test_verify_dominance), T(test_verify_types), T(test_verify_shapes), T(test_verify_class), T(test_verify_class_atomic), T(test_verify_gone), T(test_clone), T(test_rules), T(test_rule_part),
        T(test_fold_identities), T(test_fold_constants), T(test_fold_branches), T(test_fold_loops), T(test_fold_subscripts),
        T(test_fold_keeps_truncation), T(test_cse_pure), T(test_cse_loads), T(test_cse_loop), T(test_cse_branches),
        T(test_dce_carried), T(test_dce_regions), T(test_dce_arrays), T(test_leave), T(test_dce_buffers), T(test_dce_reductions),
        T(test_inline_chain), T(test_licm), T(test_affine), T(test_groups),
    };
    return cmocka_run_group_tests_name("ir", tests, NULL, NULL);
}
