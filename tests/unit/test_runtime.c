/* libtkc: sessions, launches, tape, forward scope, binding, running out of memory. */
#include "runtime_fake.h"

#include <stdio.h>

static void check_log(const fake *m, int n, const int *expected)
{
    assert_int_equal(m->nlog, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(m->log[i], expected[i]);
}
#define CHECK_LOG(m, ...) check_log(m, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static void expect(tk_session *s, tk_status status, const char *part)
{
    assert_string_equal(tk_status_name(tk_session_status(s)), tk_status_name(status));
    if (!strstr(tk_session_error(s), part))
        fail_msg("message is: %s", tk_session_error(s));
    tk_session_clear_error(s);
    assert_int_equal(tk_session_status(s), TK_OK);
    assert_string_equal(tk_session_error(s), "");
}

static fake *new_fake(void)
{
    fake *m = fake_create(NULL, 4);
    assert_non_null(m);
    for (int i = 0; i < 4; i++)
        m->y.data[i] = i + 1; /* sum of squares: 30 */
    return m;
}

/* ---- sessions and modules ---- */

static void test_session(void **state)
{
    (void)state;
    tk_session_options opt = tk_session_defaults();
    opt.threads = 3;
    tk_session *s = tk_session_create(&opt);
    assert_int_equal(tk_session_threads(s), 3);
    assert_int_equal(tk_session_set_threads(s, 0), TK_OK);
    assert_true(tk_session_threads(s) >= 1);
    assert_int_equal(tk_session_set_threads(s, -1), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "-1 threads");
    assert_int_equal(tk_session_set_threads(s, 1024), TK_OK);
    assert_int_equal(tk_session_set_threads(s, 1025), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "1025 threads");
    assert_int_equal(tk_session_set_threads(s, 3), TK_OK);
    opt.threads = -5;
    assert_null(tk_session_create(&opt));
    assert_non_null(strstr(tk_error(), "-5 threads"));
    assert_int_equal(tk_fail(s, TK_ASSERT, "first"), TK_ASSERT);
    assert_int_equal(tk_fail(s, TK_BOUNDS, "second"), TK_BOUNDS);
    expect(s, TK_ASSERT, "first");
    tk_session_destroy(s);
    tk_session_destroy(NULL);
    assert_int_equal(tk_session_status(NULL), TK_BAD_ARGUMENT);
    assert_string_equal(tk_status_name((tk_status)99), "unknown status");
}

static void test_lifetime(void **state)
{
    (void)state;
    tk_session *s = tk_session_create(NULL);
    fake *a = fake_create(s, 3), *b = fake_create(s, 5);
    assert_ptr_equal(tk_module_session(&a->tk), s);
    tk_session_destroy(s); /* the modules keep it */
    tk_session_destroy(s);
    assert_int_equal(fake_square(a, 1), TK_OK);
    fake_destroy(a);
    assert_int_equal(fake_square(b, 1), TK_OK);
    fake *c = fake_create(tk_module_session(&b->tk), 1);
    fake_destroy(b);
    assert_int_equal(fake_square(c, 1), TK_OK);
    fake_destroy(c);
    fake_destroy(NULL);
}

static void test_module_refused(void **state)
{
    (void)state;
    fake *m = tk_module_alloc(NULL, sizeof *m);
    int64_t extents[] = {4, 4, 4, 4};
    tk_module_desc d = fake_desc;
    assert_int_equal(tk_module_init(&m->tk, NULL, &d, extents, 43, TK_INTERFACE), TK_MISMATCH);
    assert_non_null(strstr(tk_error(), "different versions"));
    assert_int_equal(tk_module_init(&m->tk, NULL, &d, extents, FAKE_HASH, TK_INTERFACE + 1), TK_MISMATCH);
    d.interface = TK_INTERFACE + 1;
    assert_int_equal(tk_module_init(&m->tk, NULL, &d, extents, FAKE_HASH, TK_INTERFACE + 1), TK_MISMATCH);
    extents[1] = -1;
    assert_int_equal(tk_module_init(&m->tk, NULL, &fake_desc, extents, FAKE_HASH, TK_INTERFACE), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_error(), "extent 0 of field 'y'"));
    extents[1] = INT64_MAX / 2;
    assert_int_equal(tk_module_init(&m->tk, NULL, &fake_desc, extents, FAKE_HASH, TK_INTERFACE), TK_BAD_ARGUMENT);
    tk_module_free(NULL, m, sizeof *m);
}

static void test_fields(void **state)
{
    (void)state;
    fake *m = fake_create(NULL, 5000);
    const tk_field *x = &m->tk.fields[F_X];
    assert_string_equal(tk_field_name(x), "x");
    assert_int_equal(tk_field_ndim(x), 1);
    assert_int_equal(tk_field_extent(x, 0), 5000);
    assert_int_equal(tk_field_extent(x, 1), 0);
    assert_int_equal(tk_field_bytes(x), 40000);
    assert_int_equal(tk_field_bytes(m->U.field), 8);
    assert_null(tk_field_grad(m->s.field));
    for (int i = 0; i < F_COUNT; i++)
        for (int p = 0; p < 3; p++)
            assert_int_equal((uintptr_t)m->tk.fields[i].plane[p] % 64, 0);
    for (int i = 0; i < 5000; i++)
        assert_true(m->y.data[i] == 0 && m->y.grad[i] == 0 && m->y.dual[i] == 0);
    fake_destroy(m);
    m = fake_create(NULL, 0);
    assert_int_equal(tk_field_bytes(m->y.field), 0);
    assert_non_null(m->y.data);
    assert_int_equal(tk_module_clear_grad(&m->tk), TK_OK);
    fake_destroy(m);
}

static void test_clear(void **state)
{
    (void)state;
    fake *m = fake_create(NULL, 1 << 20);
    m->y.grad[0] = m->y.grad[(1 << 20) - 1] = 1;
    m->y.dual[7] = 1;
    assert_int_equal(tk_field_clear_grad(m->y.field), TK_OK);
    assert_true(m->y.grad[0] == 0 && m->y.grad[(1 << 20) - 1] == 0 && m->y.dual[7] == 1);
    assert_int_equal(tk_session_clear_dual(m->tk.session), TK_OK);
    assert_true(m->y.dual[7] == 0);
    assert_int_equal(tk_field_clear_grad(m->s.field), TK_NO_DERIVATIVE);
    m->y.grad[3] = 1;
    assert_int_equal(tk_module_clear_grad(&m->tk), TK_OK); /* also after a failure */
    assert_true(m->y.grad[3] == 0);
    expect(m->tk.session, TK_NO_DERIVATIVE, "'s' has no gradient");
    assert_int_equal(tk_module_need_grad_dual(&m->tk), TK_OK);
    double *gd = m->tk.fields[F_Y].plane[TK_GRAD_DUAL];
    gd[5] = 2;
    assert_int_equal(tk_module_clear_dual(&m->tk), TK_OK);
    assert_true(gd[5] == 0);
    assert_int_equal(tk_field_clear_dual(NULL), TK_BAD_ARGUMENT);
    fake_destroy(m);
}

/* ---- launches ---- */

static void test_launch(void **state)
{
    (void)state;
    assert_int_equal(fake_square(NULL, 1), TK_BAD_ARGUMENT);
    assert_non_null(strstr(tk_error(), "'square': the module is NULL"));
    fake *m = new_fake();
    assert_string_equal(tk_error(), "");
    assert_int_equal(fake_square(m, 2), TK_OK);
    assert_true(m->U.data[0] == 60);
    assert_int_equal(fake_launch(m, K_FAIL), TK_BOUNDS);
    assert_int_equal(fake_square(m, 2), TK_BOUNDS); /* skipped */
    assert_true(m->U.data[0] == 60);
    CHECK_LOG(m, K_SQUARE, K_FAIL);
    expect(m->tk.session, TK_BOUNDS, "index 7");
    assert_int_equal(fake_launch(m, K_NEST), TK_BAD_STATE);
    expect(m->tk.session, TK_BAD_STATE, "'zero' of module 'fake' was launched while");
    m->nlog = 0;
    assert_int_equal(fake_launch_grad(m, K_RECORD), TK_BAD_STATE);
    expect(m->tk.session, TK_BAD_STATE, "needs the record");
    assert_int_equal(fake_launch(m, K_RECORD), TK_OK);
    assert_int_equal(fake_launch(m, K_RECORD), TK_OK);
    assert_int_equal(fake_launch_grad(m, K_RECORD), TK_OK);
    CHECK_LOG(m, K_RECORD, K_RECORD, 1002);
    assert_int_equal(fake_launch_grad(m, K_UNDIFF), TK_NO_DERIVATIVE);
    expect(m->tk.session, TK_NO_DERIVATIVE, "reads x.grad");
    fake_destroy(m);
}

static void test_hvp(void **state)
{
    (void)state;
    fake *m = new_fake();
    const scale_args a = {3};
    m->U.grad[0] = 1;
    m->y.dual[2] = 1;
    assert_int_equal(tk_launch_hvp(&m->tk, &fake_desc.kernels[K_SQUARE], &a, NULL), TK_OK);
    assert_true(((double *)m->tk.fields[F_Y].plane[TK_GRAD_DUAL])[2] == 6 && m->y.grad[2] == 18);
    assert_int_equal(tk_launch_hvp(&m->tk, &fake_desc.kernels[K_SCALE], &a, NULL), TK_NO_DERIVATIVE);
    fake_destroy(m);
}

/* ---- the tape ---- */

static void test_tape(void **state)
{
    (void)state;
    fake *m = new_fake();
    m->U.data[0] = 99;
    m->y.grad[0] = 99;
    assert_int_equal(tk_tape_begin(m->U.field, 0), TK_OK);
    assert_true(tk_tape_is_open(m->tk.session));
    assert_int_equal(fake_scale(m, 2), TK_OK);
    assert_int_equal(fake_launch(m, K_ZERO), TK_OK);
    assert_int_equal(fake_square(m, 3), TK_OK);
    assert_int_equal(fake_launch(m, K_RECORD), TK_OK);
    assert_int_equal(fake_launch(m, K_RECORD), TK_OK);
    const size_t bytes = tk_tape_bytes(m->tk.session);
    assert_true(bytes > 0);
    assert_int_equal(tk_tape_end(m->U.field), TK_OK);
    assert_int_equal(tk_tape_bytes(m->tk.session), bytes);
    CHECK_LOG(m, K_SCALE, K_ZERO, K_SQUARE, K_RECORD, K_RECORD, 1005, 1004, 100 + K_SQUARE, 100 + K_SCALE);
    assert_true(m->U.data[0] == 360 && m->U.grad[0] == 1);
    for (int i = 0; i < 4; i++)
        assert_true(m->y.grad[i] == 2 * 3 * 2 * m->y.data[i]); /* d/dy of 3 (2 y)^2 with y scaled already */
    assert_int_equal(tk_tape_begin(m->U.field, TK_TAPE_CONTINUE), TK_OK);
    fake_square(m, 0);
    assert_int_equal(tk_tape_end_with(m->U.field, 5), TK_OK);
    assert_true(m->U.grad[0] == 5 && m->y.grad[0] == 24);
    assert_int_equal(tk_tape_begin(m->U.field, 0), TK_OK);
    fake_square(m, 1);
    assert_int_equal(tk_tape_drop(m->tk.session), TK_OK);
    assert_int_equal(tk_tape_drop(m->tk.session), TK_OK);
    assert_false(tk_tape_is_open(m->tk.session));
    assert_true(m->y.grad[0] == 0);
    fake_destroy(m);
}

static void test_tape_refusals(void **state)
{
    (void)state;
    fake *m = new_fake(), *other = new_fake();
    tk_session *s = m->tk.session;
    assert_int_equal(tk_tape_begin(NULL, 0), TK_BAD_ARGUMENT);
    assert_int_equal(tk_tape_end(m->U.field), TK_BAD_STATE);
    expect(s, TK_BAD_STATE, "no tape is open");
    assert_int_equal(tk_tape_begin(m->y.field, 0), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "'y'");
    assert_int_equal(tk_tape_begin(m->s.field, 0), TK_NO_DERIVATIVE);
    expect(s, TK_NO_DERIVATIVE, "not declared needs_grad");
    assert_int_equal(tk_tape_begin(m->U.field, TK_TAPE_VALIDATE), TK_OK);
    assert_int_equal(fake_square(m, 1), TK_BAD_STATE);
    expect(s, TK_BAD_STATE, "was not built with --debug");
    assert_int_equal(tk_tape_end(m->U.field), TK_BAD_STATE);
    tk_session_clear_error(s);
    assert_int_equal(tk_tape_begin(m->U.field, 16), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "0x10");

    const struct {
        int kernel;
        const char *text;
    } refused[] = {{K_UNDIFF, "no adjoint, which a tape needs: it reads x.grad"}, {K_GRAD_ARGS, "make them fields"}};
    for (int i = 0; i < 2; i++) {
        tk_tape_begin(m->U.field, 0);
        assert_int_equal(fake_launch(m, refused[i].kernel), TK_NO_DERIVATIVE);
        assert_int_equal(tk_tape_end(m->U.field), TK_NO_DERIVATIVE);
        expect(s, TK_NO_DERIVATIVE, refused[i].text);
    }
    tk_tape_begin(m->U.field, 0);
    assert_int_equal(fake_launch_grad(m, K_ZERO), TK_NO_DERIVATIVE);
    tk_session_clear_error(s);
    m->nlog = 0;
    assert_int_equal(fake_square(m, 1), TK_OK);
    assert_int_equal(tk_tape_end(m->U.field), TK_NO_DERIVATIVE); /* a failure since opening, though forgotten */
    CHECK_LOG(m, K_SQUARE);
    expect(s, TK_NO_DERIVATIVE, "something failed since the tape was opened");

    tk_tape_begin(m->U.field, 0);
    assert_int_equal(tk_tape_begin(m->U.field, 0), TK_BAD_STATE);
    tk_session_clear_error(s);
    assert_int_equal(tk_session_clear_grad(s), TK_BAD_STATE);
    tk_session_clear_error(s);
    assert_int_equal(tk_tape_end(m->s.field), TK_BAD_STATE); /* doubled opening is a failure of the tape */
    assert_false(tk_tape_is_open(s));
    expect(s, TK_BAD_STATE, "something failed since the tape was opened");
    tk_tape_begin(m->U.field, 0);
    assert_int_equal(tk_tape_end(m->s.field), TK_BAD_ARGUMENT);
    assert_false(tk_tape_is_open(s));
    expect(s, TK_BAD_ARGUMENT, "opened on field 'U', not 's'");
    assert_int_equal(tk_tape_end(other->U.field), TK_BAD_STATE);

    tk_tape_begin(m->U.field, 0);
    assert_int_equal(fake_launch(m, K_BAD_ADJOINT), TK_OK);
    assert_int_equal(tk_tape_end(m->U.field), TK_ASSERT);
    assert_false(tk_tape_is_open(s));
    expect(s, TK_ASSERT, "'bad_adjoint' of module 'fake' failed");
    fake_destroy(m);
    fake_destroy(other);
}

static void test_tape_of_two_modules(void **state)
{
    (void)state;
    tk_session *s = tk_session_create(NULL);
    fake *a = fake_create(s, 1), *b = fake_create(s, 1);
    a->y.data[0] = b->y.data[0] = 3;
    b->y.grad[0] = 7;
    assert_int_equal(tk_tape_begin(a->U.field, 0), TK_OK);
    fake_square(a, 1);
    b->U.grad[0] = 1;
    fake_square(b, 1);
    assert_int_equal(tk_tape_end(a->U.field), TK_OK);
    assert_true(a->y.grad[0] == 6 && b->y.grad[0] == 6);
    assert_int_equal(tk_tape_begin(a->U.field, 0), TK_OK);
    fake_square(b, 1);
    fake_destroy(b);
    assert_false(tk_tape_is_open(s));
    assert_int_equal(fake_square(a, 1), TK_BAD_STATE);
    expect(s, TK_BAD_STATE, "was destroyed while a tape");
    fake_destroy(a);
    tk_session_destroy(s);
}

static void leave_by_return(fake *m)
{
    TK_TAPE(m, m->U) {
        fake_square(m, 1);
        return;
    }
}

static void test_tape_macro(void **state)
{
    (void)state;
    fake *m = new_fake();
    tk_session *s = m->tk.session;
    TK_TAPE(m, m->U) {
        assert_true(tk_tape_is_open(s));
        fake_square(m, 1);
    }
    assert_false(tk_tape_is_open(s));
    assert_true(m->U.data[0] == 30 && m->y.grad[3] == 8);
    TK_TAPE(m, m->U) {
        fake_square(m, 1);
        break;
    }
    assert_false(tk_tape_is_open(s));
    assert_true(m->y.grad[3] == 0);
    expect(s, TK_BAD_STATE, "left by break");
    leave_by_return(m);
    assert_false(tk_tape_is_open(s));
    expect(s, TK_BAD_STATE, "left by break");
    TK_TAPE(m, m->U) {
        fake_square(m, 1);
        tk_tape_drop(s);
        break;
    }
    assert_int_equal(tk_session_status(s), TK_OK);
    TK_TAPE(m, m->U) {
        fake_square(m, 1);
        if (m->n == 4)
            continue; /* ends the block as usual */
        fail();
    }
    assert_true(m->y.grad[3] == 8);
    int inner = 0;
    TK_TAPE(m, m->U) {
        TK_TAPE(m, m->U) inner++;
        fake_square(m, 1);
    }
    assert_int_equal(inner, 0);
    assert_false(tk_tape_is_open(s));
    assert_true(m->y.grad[3] == 0);
    expect(s, TK_BAD_STATE, "opening a tape is not possible while a tape is open");
    fake *other = new_fake();
    TK_TAPE(m, other->U) inner++;
    assert_int_equal(inner, 0);
    expect(s, TK_BAD_ARGUMENT, "another session");
    fake_destroy(other);
    fake_destroy(m);
}

static void test_many_tapes(void **state)
{
    (void)state;
    counting c;
    tk_session *s = counted_session(&c);
    fake *m = fake_create(s, 4);
    long calls = 0;
    for (int t = 0; t < 10000; t++) {
        TK_TAPE(m, m->U) {
            for (int k = 0; k < 100; k++)
                fake_square(m, k);
        }
        if (t == 10)
            calls = c.calls;
    }
    assert_int_equal(c.calls, calls); /* nothing is allocated once the tape has its size */
    assert_int_equal(tk_session_status(s), TK_OK);
    TK_TAPE(m, m->U) {
        for (int k = 0; k < 50000; k++)
            fake_scale(m, 1);
    }
    assert_int_equal(tk_session_status(s), TK_OK);
    fake_destroy(m);
    tk_session_destroy(s);
    assert_int_equal(c.live, 0);
}

/* ---- the forward scope ---- */

static void test_forward(void **state)
{
    (void)state;
    fake *m = new_fake();
    tk_session *s = m->tk.session;
    tk_field *const outputs[] = {m->U.field};
    const double seed[] = {0, 0, 1, 0};
    m->y.dual[0] = 5;
    assert_int_equal(tk_forward_begin(outputs, 1, m->y.field, seed, 4), TK_OK);
    assert_true(m->y.dual[0] == 0 && m->y.dual[2] == 1 && tk_forward_is_open(s));
    assert_int_equal(fake_square(m, 2), TK_OK);
    assert_true(m->U.dual[0] == 12 && m->U.data[0] == 60);
    const scale_jvp_args a = {{0}, 1};
    assert_int_equal(tk_launch_jvp(&m->tk, &fake_desc.kernels[K_SQUARE], &a), TK_OK);
    assert_true(m->U.dual[0] == 42);
    assert_int_equal(tk_forward_end(s), TK_OK);
    assert_true(m->y.dual[2] == 0 && m->U.dual[0] == 42);
    assert_int_equal(tk_forward_begin(outputs, 1, m->U.field, NULL, 0), TK_OK);
    assert_true(m->U.dual[0] == 1);
    assert_int_equal(tk_forward_end(s), TK_OK);
    fake_destroy(m);
}

static void test_forward_refusals(void **state)
{
    (void)state;
    fake *m = new_fake();
    tk_session *s = m->tk.session;
    tk_field *const outputs[] = {m->U.field}, *const bad[] = {m->s.field}, *const none[] = {NULL};
    const double seed[4] = {1};
    assert_int_equal(tk_forward_begin(outputs, 1, NULL, seed, 4), TK_BAD_ARGUMENT);
    assert_int_equal(tk_forward_end(s), TK_BAD_STATE);
    expect(s, TK_BAD_STATE, "no forward scope");
    assert_int_equal(tk_forward_begin(outputs, 1, m->y.field, seed, 3), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "has 3 values, 4 are needed");
    assert_int_equal(tk_forward_begin(outputs, 1, m->y.field, NULL, 0), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "needs a seed");
    assert_int_equal(tk_forward_begin(bad, 1, m->y.field, seed, 4), TK_NO_DERIVATIVE);
    expect(s, TK_NO_DERIVATIVE, "'s' cannot be an output");
    assert_int_equal(tk_forward_begin(none, 1, m->y.field, seed, 4), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "output 0 is NULL");
    assert_int_equal(tk_forward_begin(NULL, 0, m->y.field, seed, 4), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "at least one");
    assert_int_equal(tk_forward_begin(outputs, 1, &m->tk.fields[F_C], seed, 4), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "holds no floats");

    assert_int_equal(tk_forward_begin(outputs, 1, m->y.field, seed, 4), TK_OK);
    assert_int_equal(tk_forward_begin(outputs, 1, m->y.field, seed, 4), TK_BAD_STATE);
    tk_session_clear_error(s);
    assert_int_equal(tk_tape_begin(m->U.field, 0), TK_OK); /* second order */
    assert_int_equal(tk_forward_end(s), TK_BAD_STATE);     /* not before the tape */
    expect(s, TK_BAD_STATE, "the tape inside the scope");
    tk_session_clear_error(s);
    assert_true(tk_forward_is_open(s) && tk_tape_is_open(s));
    tk_tape_drop(s);
    assert_int_equal(tk_forward_end(s), TK_BAD_STATE);
    expect(s, TK_BAD_STATE, "something failed since the scope was opened");
    assert_true(m->y.dual[0] == 0);

    tk_forward_begin(outputs, 1, m->y.field, seed, 4);
    assert_int_equal(fake_scale(m, 2), TK_NO_DERIVATIVE);
    assert_int_equal(tk_forward_end(s), TK_NO_DERIVATIVE);
    expect(s, TK_NO_DERIVATIVE, "derive(grad) leaves it out");
    tk_forward_begin(outputs, 1, m->y.field, seed, 4);
    assert_int_equal(fake_launch(m, K_ZERO), TK_NO_DERIVATIVE);
    tk_session_clear_error(s);
    assert_int_equal(fake_launch_grad(m, K_FAIL), TK_NO_DERIVATIVE);
    expect(s, TK_NO_DERIVATIVE, "does not carry duals");
    tk_session *keep = tk_module_session(&m->tk);
    fake *more = fake_create(keep, 1);
    fake_destroy(m); /* the scope's field goes */
    expect(keep, TK_BAD_STATE, "forward scope of its field");
    assert_false(tk_forward_is_open(keep));
    fake_destroy(more);
}

/* ---- binding ---- */

static void test_bind(void **state)
{
    (void)state;
    fake *m = new_fake();
    tk_session *s = m->tk.session;
    static double mem[64];
    memset(mem, 0, sizeof mem);
    tk_field *y = m->y.field, *r = &m->tk.fields[F_R];
    assert_int_equal(tk_field_bind(y, mem, mem + 8, mem + 16), TK_OK);
    assert_int_equal(tk_field_bind(y, mem, mem + 8, mem + 16), TK_OK); /* again the same */
    fake_refresh(m);
    mem[1] = 2;
    TK_TAPE(m, m->U) fake_square(m, 1);
    assert_true(m->U.data[0] == 4 && mem[9] == 4);

    assert_int_equal(tk_field_bind(y, mem, mem + 8, NULL), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "its dual is NULL");
    assert_int_equal(tk_field_bind(r, mem + 40, mem + 50, NULL), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "'r': it has no gradient");
    assert_int_equal(tk_field_bind(r, (char *)mem + 321, NULL, NULL), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "not aligned to 8");
    assert_int_equal(tk_field_bind(y, mem, mem + 3, mem + 16), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "its gradient overlaps its data");
    assert_int_equal(tk_field_bind(r, mem + 19, NULL, NULL), TK_BAD_ARGUMENT);
    expect(s, TK_BAD_ARGUMENT, "overlaps the dual of field 'fake.y'");
    assert_int_equal(tk_field_bind(r, r->plane[TK_DATA], NULL, NULL), TK_BAD_ARGUMENT); /* its own memory would be freed */
    tk_session_clear_error(s);
    assert_int_equal(tk_field_bind(r, mem + 20, NULL, NULL), TK_OK);
    fake *other = fake_create(s, 4);
    assert_int_equal(tk_field_bind(&other->tk.fields[F_R], mem + 20, NULL, NULL), TK_OK); /* both only read */
    assert_int_equal(tk_field_bind(other->y.field, mem + 21, mem + 30, mem + 40), TK_BAD_ARGUMENT);
    tk_session_clear_error(s);
    fake_destroy(other);

    tk_tape_begin(m->U.field, 0);
    assert_int_equal(tk_field_bind(y, mem, mem + 8, mem + 16), TK_BAD_STATE);
    tk_tape_drop(s);
    expect(s, TK_BAD_STATE, "while a tape is open");
    assert_int_equal(tk_field_bind(NULL, mem, NULL, NULL), TK_BAD_ARGUMENT);
    fake_destroy(m);
}

/* ---- memory ---- */

static void keep_failure(tk_status *first, tk_status st)
{
    if (*first == TK_OK)
        *first = st;
}

static void run_square(void *user)
{
    fake_square(user, 1);
}

/* All that allocates; returns the first failure. */
static tk_status scenario(counting *c, bool deterministic)
{
    tk_session_options opt = tk_session_defaults();
    opt.alloc = counting_alloc;
    opt.alloc_user = c;
    opt.threads = 4;
    opt.parallel = pthread_hook;
    opt.deterministic = deterministic;
    tk_session *s = tk_session_create(&opt);
    if (!s)
        return TK_NO_MEMORY;
    fake *m = fake_create(s, 4096);
    if (!m) {
        assert_true(strlen(tk_error()) > 0);
        tk_session_destroy(s);
        return TK_NO_MEMORY;
    }
    tk_status st = TK_OK;
    keep_failure(&st, tk_tape_begin(m->U.field, 0));
    for (int i = 0; i < 100; i++)
        keep_failure(&st, fake_scale(m, 1));
    keep_failure(&st, fake_launch(m, K_RECORD));
    keep_failure(&st, fake_launch(m, K_WORK));
    keep_failure(&st, tk_tape_end(m->U.field));
    keep_failure(&st, fake_launch(m, K_RECORD));
    tk_field *const outputs[] = {m->U.field};
    keep_failure(&st, tk_forward_begin(outputs, 1, m->U.field, NULL, 0));
    keep_failure(&st, fake_square(m, 1));
    keep_failure(&st, tk_forward_end(s));
    keep_failure(&st, tk_module_need_grad_dual(&m->tk));
    tk_field *const inputs[] = {m->U.field};
    static double jacobian[4096];
    keep_failure(&st, tk_gradcheck(m->U.field, inputs, 0, run_square, m, 1e6, NULL));
    keep_failure(&st, tk_jacobian_forward(m->U.field, m->U.field, run_square, m, jacobian));
    keep_failure(&st, tk_jacobian_reverse(m->U.field, m->y.field, run_square, m, jacobian));
    assert_int_equal(st, tk_session_status(s));
    assert_int_equal(strlen(tk_session_error(s)) > 0, st != TK_OK);
    tk_session_clear_error(s);
    assert_false(tk_tape_is_open(s) || tk_forward_is_open(s));
    assert_int_equal(fake_square(m, 1), TK_OK); /* usable again */
    tk_session_destroy(s);
    fake_destroy(m);
    return st;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (int deterministic = 0; deterministic < 2; deterministic++) {
        int failed = 0;
        for (long at = 0;; at++) {
            counting c = {.countdown = at};
            const tk_status st = scenario(&c, deterministic);
            assert_int_equal(c.live, 0);
            if (st == TK_OK && c.countdown >= 0)
                break; /* it made fewer allocations than that */
            if (st != TK_OK)
                assert_int_equal(st, TK_NO_MEMORY);
            failed += st != TK_OK;
        }
        assert_true(failed >= 20);
    }
}

/* ---- prints ---- */

static void collect(void *user, const char *text)
{
    char *out = user;
    strncat(out, text, 63 - strlen(out));
}

typedef struct pile {
    _Alignas(64) unsigned char data[1 << 14];
    size_t used;
} pile;

/* What is never freed. */
static void *pile_alloc(void *user, void *old, size_t old_size, size_t size)
{
    (void)old_size;
    pile *p = user;
    if (old || p->used + size > sizeof p->data)
        return NULL;
    p->used += (size + 63) / 64 * 64;
    return p->data + p->used - (size + 63) / 64 * 64;
}

/* A log of old values grows over several parts. Values that are not there are a failure. */
static void test_log(void **state)
{
    (void)state;
    static pile p;
    tk_session_options opt = tk_session_defaults();
    opt.alloc = pile_alloc;
    opt.alloc_user = &p;
    tk_session *s = tk_session_create(&opt);
    tk_log log = {0};
    for (int i = 0; i < 100; i++) {
        double *at = tk_log_add(s, &log, i, sizeof *at);
        assert_non_null(at);
        *at = i;
    }
    for (int i = 0; i < 100; i++)
        assert_true(*(const double *)tk_log_get(s, &log, i, sizeof(double)) == i);
    assert_int_equal(tk_session_status(s), TK_OK);
    assert_true(*(const double *)tk_log_get(s, &log, 100, sizeof(double)) == 0.0);
    assert_int_equal(tk_session_status(s), TK_BAD_STATE);
    tk_session_destroy(s);
}

static void test_print(void **state)
{
    (void)state;
    char out[64] = "";
    tk_session_options opt = tk_session_defaults();
    opt.on_print = collect;
    opt.print_user = out;
    tk_session *s = tk_session_create(&opt);
    tk_print(s, "x = 1\n");
    tk_print(s, "y\n");
    assert_string_equal(out, "x = 1\ny\n");
    tk_session_destroy(s);
}

static void test_flush(void **state)
{
    (void)state;
    for (int flush = 0; flush < 2; flush++) {
        for (int hook = 0; hook < 2; hook++) {
            tk_session_options opt = tk_session_defaults();
            opt.flush_denormals = flush;
            opt.threads = 4;
            opt.parallel = hook ? pthread_hook : NULL;
            tk_session *s = tk_session_create(&opt);
            fake *m = fake_create(s, 1);
            assert_int_equal(fake_launch(m, K_MODE), TK_OK);
#if defined(__x86_64__) || defined(__aarch64__)
            assert_true(flush ? m->flushed == 0 : m->flushed > 0);
#endif
            volatile double tiny = 2.2250738585072014e-308;
            assert_true(tiny * 0.5 > 0); /* the caller's mode is back */
            fake_destroy(m);
            tk_session_destroy(s);
        }
    }
}

/* What a profile holds comes from the session's allocator, and is not counted as held by launches. */
static void test_profile_memory(void **state)
{
    (void)state;
    counting c;
    tk_session *s = counted_session(&c);
    fake *m = fake_create(s, 4);
    c.countdown = 0;
    assert_int_equal(tk_session_profile(s, true), TK_NO_MEMORY);
    tk_session_clear_error(s);
    const size_t before = c.live;
    assert_int_equal(tk_session_profile(s, true), TK_OK);
    assert_true(c.live > before);
    for (int i = 0; i < 200; i++)
        assert_int_equal(fake_scale(m, 1.0), TK_OK);
    c.countdown = 0;
    assert_int_equal(fake_launch(m, K_ZERO), TK_OK); /* not listed */
    assert_int_equal(tk_session_profile_write(s, "/dev/null", "/dev/null"), TK_OK);
    fake_destroy(m);
    tk_session_destroy(s);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile_memory),
        cmocka_unit_test(test_session),
        cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_module_refused),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_hvp),
        cmocka_unit_test(test_tape),
        cmocka_unit_test(test_tape_refusals),
        cmocka_unit_test(test_tape_of_two_modules),
        cmocka_unit_test(test_tape_macro),
        cmocka_unit_test(test_many_tapes),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_forward_refusals),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_flush),
    };
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
