/* Tapes restore saved fields on the way back and leave them as the last launch did; a direct adjoint goes by the record of the last launch; no
 * allocation that fails leaves anything broken. */
#include <stdio.h>
#include <stdlib.h>

#include "saved_rules.h"

static int failures;

static void expect(const char *what, double got, double want)
{
    if (!(got >= want - 1e-4 && got <= want + 1e-4)) {
        printf("%s: %g, expected %g\n", what, got, want);
        failures++;
    }
}

static void expect_status(const char *what, tk_status got, tk_status want)
{
    if (got != want) {
        printf("%s: %s, expected %s\n", what, tk_status_name(got), tk_status_name(want));
        failures++;
    }
}

typedef struct memory {
    long blocks, calls, fail_at; /* the call that fails; 0: none */
} memory;

static void *alloc(void *user, void *old, size_t old_size, size_t size)
{
    memory *m = user;
    (void)old_size;
    if (size == 0) {
        m->blocks -= old != NULL;
        free(old);
        return NULL;
    }
    if (++m->calls == m->fail_at)
        return NULL;
    void *p = malloc(size);
    m->blocks += p != NULL;
    return p;
}

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
    expect("loss", (double)m->loss.data[0], sum * 2);
    expect("x.grad[1]", (double)m->x.grad[1], (2 + 100 + 12100 + 2) * 2);
    expect("x.grad[2]", (double)m->x.grad[2], sum + 4 * 2);
    expect("b after the tape", (double)m->b.data[0], 0);
    expect("n after the tape", m->n.data[0], 2);
}

static void check_page(saved_rules *m)
{
    start(m);
    TK_TAPE(m, m->loss) {
        saved_rules_func_broke_rule_1(m);
    }
    expect("rule 1", (double)m->x.grad[1], 10);
    expect("b", (double)m->b.data[0], 110);

    start(m);
    tk_module_clear_grad(&m->tk);
    saved_rules_func_break_rule_2(m);
    m->loss.grad[0] = 1;
    saved_rules_func_break_rule_2_grad(m);
    expect("rule 2, x[1]", (double)m->x.grad[1], 4);
    expect("rule 2, x[2]", (double)m->x.grad[2], 3);
    expect("loss after its adjoint", (double)m->loss.data[0], 6);
}

static void check_records(saved_rules *m)
{
    start(m);
    tk_module_clear_grad(&m->tk);
    expect_status("first launch", saved_rules_squares(m), TK_OK);  /* 27 */
    expect_status("second launch", saved_rules_squares(m), TK_OK); /* 27^2 * 3 */
    for (int twice = 1; twice <= 2; twice++) {
        m->y.grad[0] = 1;
        m->x.grad[3] = 0;
        expect_status("adjoint", saved_rules_squares_grad(m), TK_OK);
        expect("of the second launch, by y", (double)m->y.grad[0], 2 * 27 * 3);
        expect("of the second launch, by x", (double)m->x.grad[3], 27 * 27);
        expect("y stays", (double)m->y.data[0], 27 * 27 * 3);
    }
    TK_TAPE(m, m->loss) {
        saved_rules_squares(m);
        m->y.grad[0] = 1;
    }
    expect_status("adjoint after a tape", saved_rules_squares_grad(m), TK_BAD_STATE);
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void check_drop(saved_rules *m)
{
    tk_session *s = tk_module_session(&m->tk);
    start(m);
    expect_status("begin", tk_tape_begin(m->loss.field, 0), TK_OK);
    saved_rules_reads_b(m);
    saved_rules_shifts_b(m);
    const size_t bytes = tk_tape_bytes(s);
    saved_rules_shifts_b(m); /* the state between the two is needed by nobody */
    if (tk_tape_bytes(s) - bytes >= bytes) {
        printf("bytes of a tape: %zu, then %zu\n", bytes, tk_tape_bytes(s));
        failures++;
    }
    expect_status("drop", tk_tape_drop(s), TK_OK);
    expect("b after a dropped tape", (double)m->b.data[0], 210);
}

/* Each allocation fails once; after the error is cleared the same tape works. */
static void check_memory(void)
{
    memory mem = {0};
    tk_session_options opt = tk_session_defaults();
    opt.alloc = alloc;
    opt.alloc_user = &mem;
    int failed = 0;
    for (long k = 1; k < 100; k++) {
        tk_session *s = tk_session_create(&opt);
        saved_rules *m = saved_rules_create(s, NULL);
        if (!m)
            break;
        mem.calls = 0;
        mem.fail_at = k;
        tape(m);
        saved_rules_squares(m);
        m->y.grad[0] = 1;
        saved_rules_squares_grad(m);
        const bool all = mem.calls < k;
        mem.fail_at = 0;
        if (!all) {
            expect_status("out of memory", saved_rules_status(m), TK_NO_MEMORY);
            failed++;
            tk_session_clear_error(s);
        }
        tape(m);
        expect_status("afterwards", saved_rules_status(m), TK_OK);
        check_tape(m);
        saved_rules_destroy(m);
        tk_session_destroy(s);
        if (all)
            break;
    }
    expect("blocks left", (double)mem.blocks, 0);
    if (failed < 6) {
        printf("only %d allocations failed\n", failed);
        failures++;
    }
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
    expect_status("at the end", saved_rules_status(m), TK_OK);
    saved_rules_destroy(m);
    check_memory();
    return failures;
}
