/* Activity over a module, for what no .tk program can contain: an operation without derivative on an active path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/schedule/schedule.h"

typedef struct fixture {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    FILE *out;
    char *text;
    size_t len;
    ir_module *m;
    ir_field *x;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->mem = arena_create();
    f->names = intern_create();
    f->out = open_memstream(&f->text, &f->len);
    f->diag = diag_create(f->out, DIAG_FORMAT_TEXT);
    f->m = ir_module_create(f->mem, f->names, f->diag, "t");
    f->x = ARENA_NEW(f->mem, ir_field);
    f->x->name = "x";
    f->x->elem = SC_F64;
    f->x->rows = f->x->cols = 1;
    f->x->grad = true;
    vec_push(&f->m->fields, f->x);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    diag_destroy(f->diag);
    fclose(f->out);
    free(f->text);
    intern_destroy(f->names);
    ir_module_destroy(f->m);
    arena_destroy(f->mem);
    free(f);
    return 0;
}

/* x = tetragamma(x), or of stop_grad(x). */
static void make_kernel(fixture *f, bool stopped)
{
    ir_func *k = ir_func_create(f->m, IR_KERNEL, "k");
    k->ad.requests = ARENA_NEW(f->mem, ir_request);
    k->ad.requests->kind = IR_DERIVE_GRAD;
    k->ad.nrequests = 1;
    ir_builder b = {.func = k, .region = k->body, .loc = {3, 5, 0}};
    ir_value *zero = ir_const_i(&b, SC_I64, 0);
    ir_value *v = ir_load(&b, f->x, IR_DATA, NULL, zero);
    if (stopped)
        v = ir_op1(&b, OP_STOP, v);
    ir_store(&b, f->x, IR_DATA, NULL, zero, ir_op1(&b, OP_TETRAGAMMA, v));
    ir_yield(&b, 0, NULL);
}

static void not_differentiable(void **state)
{
    fixture *f = *state;
    make_kernel(f, false);
    assert_false(pass_lost_gradient(f->m));
    assert_int_equal(diag_error_count(f->diag), 1);
    diag_flush(f->diag);
    fflush(f->out);
    assert_non_null(strstr(f->text, "[E0504]"));
    assert_non_null(strstr(f->text, "'tetragamma'"));
}

static void stopped(void **state)
{
    fixture *f = *state;
    make_kernel(f, true);
    assert_true(pass_lost_gradient(f->m));
    ir_func *k = f->m->funcs.at[0];
    assert_null(k->ad.no_grad_why);
    assert_string_equal(k->ad.no_jvp_why, "derive(...) does not list jvp");
    activity a = activity_compute(k, ACTIVITY_REVERSE);
    const ir_value *load = k->body->first->next->res[0];
    assert_true(a.varied[load->id]);
    assert_false(a.useful[load->id]);
    activity_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(not_differentiable, setup, teardown),
        cmocka_unit_test_setup_teardown(stopped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
