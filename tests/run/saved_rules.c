/* Tapes restore saved fields on the way back and leave them as the last launch did; a direct adjoint goes by the record
 * of the last launch; no allocation that fails leaves anything broken. */
#include "saved_rules.h"
#include "host.h"

static void start(saved_rules *m)
{
    for (int i = 0; i < 16; i++)
        m->x.data[i] = (float)i;
    m->b.data[0] = 10;
    m->n.data[0] = 1;
    m->y.data[0] = 3;
    m->loss.data[0] = 2;
}

static void tape(saved_rules *m)
{
    start(m);
    TK_TAPE(m, m->loss) {
        saved_rules_picks(m);          /* x[1]^2 */
        saved_rules_reads_b(m);        /* x[1] b^2 at b = 10 */
        saved_rules_shifts_b(m);
        saved_rules_reads_b(m);        /* b = 110 */
        saved_rules_counts(m);         /* n = 2, b = 0 */
        saved_rules_picks(m);
        saved_rules_func_break_rule_2(m);
    }
}

/* loss = (x1^2 + x1 (10^2 + 110^2) + x2^2 + x1^2) x2 */
static void check_tape(const saved_rules *m)
{
    const double sum = 1 + 100 + 12100 + 4 + 1;
    CHECK_NEAR(m->loss.data[0], sum * 2, 1e-9);
    CHECK_NEAR(m->x.grad[1], (2 + 100 + 12100 + 2) * 2, 1e-9);
    CHECK_NEAR(m->x.grad[2], sum + 4 * 2, 1e-9);
    CHECK_NEAR(m->b.data[0], 0, 1e-9);
    CHECK_NEAR(m->n.data[0], 2, 1e-9);
}

static void check_page(saved_rules *m)
{
    start(m);
    TK_TAPE(m, m->loss) {
        saved_rules_func_broke_rule_1(m);
    }
    CHECK_NEAR(m->x.grad[1], 10, 1e-9);
    CHECK_NEAR(m->b.data[0], 110, 1e-9);

    start(m);
    tk_module_clear_grad(&m->tk);
    saved_rules_func_break_rule_2(m);
    m->loss.grad[0] = 1;
    saved_rules_func_break_rule_2_grad(m);
    CHECK_NEAR(m->x.grad[1], 4, 1e-9);
    CHECK_NEAR(m->x.grad[2], 3, 1e-9);
    CHECK_NEAR(m->loss.data[0], 6, 1e-9);
}

static void check_records(saved_rules *m)
{
    start(m);
    tk_module_clear_grad(&m->tk);
    CHECK(saved_rules_squares(m) == TK_OK); /* 27 */
    CHECK(saved_rules_squares(m) == TK_OK); /* 27^2 * 3 */
    for (int twice = 1; twice <= 2; twice++) {
        m->y.grad[0] = 1;
        m->x.grad[3] = 0;
        CHECK(saved_rules_squares_grad(m) == TK_OK);
        CHECK_NEAR(m->y.grad[0], 2 * 27 * 3, 1e-9);
        CHECK_NEAR(m->x.grad[3], 27 * 27, 1e-9);
        CHECK_NEAR(m->y.data[0], 27 * 27 * 3, 1e-9);
    }
    TK_TAPE(m, m->loss) {
        saved_rules_squares(m);
        m->y.grad[0] = 1;
    }
    CHECK(saved_rules_squares_grad(m) == TK_BAD_STATE);
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void check_drop(saved_rules *m)
{
    tk_session *s = tk_module_session(&m->tk);
    start(m);
    CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
    saved_rules_reads_b(m);
    saved_rules_shifts_b(m);
    const size_t bytes = tk_tape_bytes(s);
    saved_rules_shifts_b(m); /* the state between the two is needed by nobody */
    CHECK(tk_tape_bytes(s) - bytes < bytes);
    CHECK(tk_tape_drop(s) == TK_OK);
    CHECK_NEAR(m->b.data[0], 210, 1e-9);
}

/* Each allocation fails once; after the error is cleared the same tape works. */
static void check_memory(void)
{
    heap mem = {0};
    int failed = 0;
    for (int k = 0; k < 99; k++) {
        tk_session *s = heap_session(&mem);
        saved_rules *m = saved_rules_create(s, NULL);
        if (!m)
            break;
        heap_fails_after(&mem, k);
        tape(m);
        saved_rules_squares(m);
        m->y.grad[0] = 1;
        saved_rules_squares_grad(m);
        const bool all = mem.calls <= k;
        mem.fails_at = 0;
        if (!all) {
            CHECK(saved_rules_status(m) == TK_NO_MEMORY);
            failed++;
            tk_session_clear_error(s);
        }
        tape(m);
        CHECK_OK(m, saved_rules_status(m));
        check_tape(m);
        saved_rules_destroy(m);
        tk_session_destroy(s);
        if (all)
            break;
    }
    CHECK(mem.bytes == 0);
    CHECK(failed >= 6);
}

int main(void)
{
    saved_rules *m = saved_rules_create(NULL, NULL);
    if (!m)
        return 1;
    check_page(m);
    tape(m);
    check_tape(m);
    check_records(m);
    check_drop(m);
    CHECK_OK(m, saved_rules_status(m));
    saved_rules_destroy(m);
    check_memory();
    return failures != 0;
}
