/* The emitter's small parts: constants read back as what they were, names are unique and legal, plans of bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "codegen/plan.h"
#include "emit/emit_int.h"
#include "ir/text/io.h"
#include "passes/pipeline.h"

static void floats_read_back(void **state)
{
    (void)state;
    arena *mem = arena_create();
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double d;
        float f;
        const uint32_t half = (uint32_t)(seed >> 32);
        memcpy(&d, &seed, sizeof d);
        memcpy(&f, &half, sizeof f);
        int prec;
        if (isfinite(d)) {
            const char *text = const_text(mem, SC_F64, 0, d, &prec);
            assert_true(strtod(text, NULL) == d);
            assert_true(strpbrk(text, ".e") != NULL);
            assert_int_equal(prec == PREC_UNARY, text[0] == '-');
        }
        if (isfinite(f)) {
            const char *text = const_text(mem, SC_F32, 0, f, &prec);
            assert_true(strtof(text, NULL) == f);
            assert_int_equal(text[strlen(text) - 1], 'f');
        }
    }
    arena_destroy(mem);
}

static void constants_have_their_spelling(void **state)
{
    (void)state;
    static const struct {
        scalar type;
        int64_t i;
        double f;
        const char *text;
    } row[] = {
        {SC_F32, 0, 0.1f, "0.1f"}, {SC_F32, 0, 100, "100.0f"}, {SC_F32, 0, 1e-3f, "0.001f"}, {SC_F32, 0, 1e30f, "1e30f"}, {SC_F64, 0, -0.0, "-0.0"},
        {SC_F64, 0, 5e-324, "5e-324"}, {SC_F64, 0, INFINITY, "(double)INFINITY"}, {SC_F32, 0, -INFINITY, "-INFINITY"}, {SC_F64, 0, NAN, "(double)NAN"},
        {SC_I32, INT32_MIN, 0, "INT32_MIN"}, {SC_I32, -5, 0, "-5"}, {SC_I64, INT64_MIN, 0, "INT64_MIN"}, {SC_I64, 5000000000, 0, "INT64_C(5000000000)"},
        {SC_I64, -5000000000, 0, "-INT64_C(5000000000)"}, {SC_U32, 3000000000, 0, "3000000000u"}, {SC_U64, -1, 0, "UINT64_C(18446744073709551615)"},
        {SC_U8, 255, 0, "255"}, {SC_BOOL, 1, 0, "true"}, {SC_PTR, 0, 0, "NULL"},
    };
    arena *mem = arena_create();
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        int prec;
        assert_string_equal(const_text(mem, row[k].type, row[k].i, row[k].f, &prec), row[k].text);
    }
    arena_destroy(mem);
}

static void names_are_unique_and_legal(void **state)
{
    (void)state;
    arena *mem = arena_create();
    names *file = names_create(mem, NULL), *hints = names_create(mem, NULL), *n = names_create(mem, file);
    assert_string_equal(names_unique(file, "helper"), "helper");
    assert_string_equal(names_unique(file, "index"), "index_2"); /* strings.h declares it */
    names_unique_function(hints, "m");
    assert_string_equal(names_unique(n, "helper"), "helper_2");
    assert_string_equal(names_unique(n, "index"), "index");
    assert_string_equal(names_unique(n, "x"), "x");
    assert_string_equal(names_internal(n, hints, "m"), "m_2");
    names_push(n);
    assert_string_equal(names_unique(n, "x"), "x_2");
    assert_string_equal(names_unique(n, "y"), "y");
    assert_string_equal(names_unique_function(n, "z"), "z");
    names_push(n);
    assert_string_equal(names_unique(n, "x"), "x_3");
    names_pop(n);
    names_pop(n);
    assert_string_equal(names_unique(n, "x"), "x_2"); /* free again with its block */
    assert_string_equal(names_unique(n, "y"), "y");
    assert_string_equal(names_unique(n, "z"), "z_2");
    assert_string_equal(names_unique(n, "while"), "while_2");
    assert_string_equal(names_unique(n, "class"), "class_2");
    assert_string_equal(names_unique(n, "tk_x"), "v_tk_x");
    assert_string_equal(names_unique(n, "INFINITY"), "INFINITY_2");
    assert_string_equal(names_unique(n, "M_PI"), "M_PI_3"); /* M_PI_2 is a macro */
    assert_string_equal(names_unique(n, "DBL_X"), "v_DBL_X");
    assert_string_equal(names_unique(n, "INT8_MAX"), "INT8_MAX_2");
    names_unique(n, "last_");
    assert_string_equal(names_unique(n, "last_"), "last_2");
    assert_string_equal(names_unique(n, "sqrtf"), "sqrtf_2");
    assert_string_equal(names_unique(n, "a.b c"), "a_b_c");
    assert_string_equal(names_unique(n, "3d"), "v3d");
    assert_string_equal(names_unique(n, NULL), "t1");
    assert_string_equal(names_unique(n, "t2"), "t2");
    assert_string_equal(names_unique(n, NULL), "t3");
    assert_string_equal(name_member(mem, "new"), "new_");
    assert_string_equal(name_member(mem, "x"), "x");
    names_free(n);
    names_free(hints);
    names_free(file);
    arena_destroy(mem);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    arena *mem = arena_create();
    assert_string_equal(c_string(mem, "a\"b\\c\n\x01?" "?="), "\"a\\\"b\\\\c\\n\\001\\077?=\"");
    arena_destroy(mem);
}

/* y[m] += x[i, j] * s[i, 0] * random() * real(N) */
static const char sums[] =
    "module p source \"p.tk\" real f32 decided\n"
    "param N: i32 = 4\n"
    "param M: i32 = 4\n"
    "field x: f32, 2-D\n"
    "field y: f32, 1-D\n"
    "field s: f32, 2-D strided\n"
    "\n"
    "extents func extents() -> i64, i64, i64, i64, i64 {\n"
    "  %0:i64 = const 4\n"
    "  yield %0, %0, %0, %0, %0\n"
    "}\n"
    "\n"
    "kernel k() draws classed {\n"
    "  %1:u64 = key\n"
    "  %2:i64 = const 0\n"
    "  %3:i64 = shape x 0\n"
    "  %4:i64 = shape x 1\n"
    "  %5:f64 = const 0\n"
    "  %6:i32 = param M\n"
    "  %7:f64 = cast %6\n"
    "  %26:f64 = task %2..%3, %2..%4 add(%5) (%8:i64 i, %15:i64 j) {\n"
    "    %9:f32 = load s[%8, %2] comp %2\n"
    "    %10:u64 = cast %8\n"
    "    %13:i32 N = param N\n"
    "    %14:f32 = cast %13\n"
    "    %17:f32 = load x[%8, %15] comp %2\n"
    "    %18:f32 = mul %9, %17\n"
    "    %20:f32 = random %1, %10, %10\n"
    "    %21:f32 = mul %18, %20\n"
    "    %22:f32 = mul %14, %21\n"
    "    %23:f64 = cast %22\n"
    "    %24:f64 = mul %23, %7\n"
    "    yield %24\n"
    "  }\n"
    "  %27:f32 = cast %26\n"
    "  accum y plain[%2] comp %2, %27 class \"reduction\"\n"
    "  yield\n"
    "}\n";

static const ir_op *task_of(const ir_func *f)
{
    const ir_op *op = f->body->first;
    while (op->code != OP_TASK)
        op = op->next;
    return op;
}

static const plane_use *use_of(const body_plan *p, const ir_module *m, int field)
{
    return &p->planes[ir_storage_of(m->fields.at[field], IR_DATA)];
}

static void bodies_are_planned(void **state)
{
    (void)state;
    arena *mem = arena_create();
    intern_pool *strings = intern_create();
    diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
    ir_module *m = ir_module_create(mem, strings, d, "m");
    assert_true(ir_read_module(m, "sums.ir", sums, strlen(sums), stderr));
    const ir_func *k = m->funcs.at[m->funcs.len - 1];
    facts x = facts_create(m, mem);
    value_use *use = value_uses(k);
    enum { X, Y, S, N = 0, M };

    task_plan task = plan_task(&x, task_of(k), use, 1, true, mem);
    const body_plan *p = &task.body;
    assert_true(p->key_read && p->param_read[N] && !p->param_read[M] && !p->tasks);
    assert_int_equal(task.captures.len, 1); /* real(M) */
    assert_true(use_of(p, m, X)->read && use_of(p, m, X)->hoisted && use_of(p, m, X)->unique);
    assert_true(p->extent_read[X * 8 + 1] && !p->extent_read[X * 8] && !p->extent_read[S * 8 + 1]);
    assert_int_equal(use_of(p, m, S)->strides, 1); /* the last subscript is zero */
    assert_false(use_of(p, m, Y)->listed);
    task_plan_free(&task);

    body_plan around = plan_body(&x, use, k->body, BODY_KERNEL, true);
    assert_true(around.tasks && !around.key_read && around.param_read[M] && !around.param_read[N]);
    assert_true(around.extent_read[X * 8] && around.extent_read[X * 8 + 1]); /* the bounds of the task */
    assert_true(use_of(&around, m, Y)->written && use_of(&around, m, Y)->hoisted && !use_of(&around, m, Y)->unique);
    assert_false(use_of(&around, m, X)->listed);
    body_plan_free(&around);
    free(use);
    facts_free(&x);
    ir_module_destroy(m);
    diag_destroy(d);
    intern_destroy(strings);
    arena_destroy(mem);
}

static const char doubled[] =
    "module q source \"q.tk\" real f32\n"
    "field x: f32, 1-D\n"
    "\n"
    "extents func extents() -> i64 {\n"
    "  %0:i64 = const 8\n"
    "  yield %0\n"
    "}\n"
    "\n"
    "kernel k() derive(grad jvp) {\n"
    "  %0:i64 = const 0\n"
    "  %1:i64 = shape x 0\n"
    "  task %0..%1 (%2:i64 i) {\n"
    "    %4:f32 = const 2\n"
    "    %6:f32 = load x[%2] comp %0\n"
    "    %7:f32 = mul %4, %6\n"
    "    store x[%2] comp %0, %7\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

/* C gets a loop over a row segment, another target the body of an iteration. */
static void passes_are_for_targets(void **state)
{
    (void)state;
    static const pipeline_target targets[] = {TARGET_C, TARGET_ITERATIONS};
    for (int k = 0; k < 2; k++) {
        arena *mem = arena_create();
        intern_pool *strings = intern_create();
        diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
        ir_module *m = ir_module_create(mem, strings, d, "m");
        assert_true(ir_read_module(m, "doubled.ir", doubled, strlen(doubled), stderr));
        const pipeline_options opt = {.target = targets[k], .verify = true};
        assert_true(pipeline_run(m, &opt));
        const ir_op *task = task_of(m->funcs.at[1]);
        bool loop = false;
        for (const ir_op *op = task->regions[0]->first; op; op = op->next)
            loop |= op->code == OP_LOOP;
        assert_int_equal(ir_task_attr(task)->rows, targets[k] == TARGET_C);
        assert_int_equal(loop, targets[k] == TARGET_C);
        ir_module_destroy(m);
        diag_destroy(d);
        intern_destroy(strings);
        arena_destroy(mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(constants_have_their_spelling),
        cmocka_unit_test(names_are_unique_and_legal),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(bodies_are_planned),
        cmocka_unit_test(passes_are_for_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
