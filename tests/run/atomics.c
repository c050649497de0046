#include "atomics.h"
#include "host.h"

static heap memory;

static void fill(atomics *m)
{
    for (int i = 0; i < m->params.N; i++)
        m->x.data[i] = (double)((i * 37 + 11) % 101) / 101;
}

static void values(atomics *m)
{
    const int n = m->params.N;
    int chosen = 0;
    fill(m);
    for (int i = 0; i < n; i++)
        chosen += m->x.data[i] > 0.5;
    atomics_compact(m);
    CHECK(m->count.data[0] == chosen);
    static char seen[30000];
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < chosen; k++) {
        const int i = m->order.data[k];
        CHECK(i >= 0 && i < n && !seen[i] && m->x.data[i] > 0.5 && m->y.data[k] == m->x.data[i] * m->x.data[i]);
        seen[i] = 1;
    }
    memset(m->hits.data, 0, tk_field_bytes(m->hits.field));
    memset(m->small.data, 0, 4);
    m->ors.data[0] = 0;
    m->ors.data[1] = ~0u;
    atomics_all(m);
    CHECK((double)m->most.data[0] == n - 1 && (double)m->least.data[0] == 0);
    CHECK(m->ors.data[0] == ~0u && m->ors.data[1] == 0x80000000u);
    int64_t sum = 0;
    for (int i = 1; i < 10; i++)
        sum += m->hits.data[i];
    CHECK(sum == (int64_t)n * (n - 1) / 2);
    CHECK(m->small.data[0] == n / 4 % 2);
}

/* Several launches on one tape; each adjoint goes by the order of its own launch. */
static void tapes(atomics *m)
{
    const int n = m->params.N;
    for (int round = 0; round < 3; round++) {
        fill(m);
        TK_TAPE(m, m->loss) {
            atomics_compact(m);
            atomics_scatter(m);
            atomics_gather(m);
        }
        CHECK(atomics_status(m) == TK_OK);
        double worst = 0;
        for (int i = 0; i < n; i++) {
            const double x = m->x.data[i], want = (x > 0.5 ? x : 0) + 3 * x * x * cos(x * x * x);
            worst = fmax(worst, fabs(m->x.grad[i] - want));
        }
        CHECK(worst < 1e-12);
        CHECK(tk_tape_bytes(m->tk.session) > 2 * (size_t)n * sizeof(int32_t));
    }
    tk_tape_begin(m->loss.field, 0);
    atomics_compact(m);
    tk_tape_drop(m->tk.session);
    CHECK(atomics_compact_grad(m) == TK_BAD_STATE); /* the record went with the tape */
    tk_session_clear_error(m->tk.session);
}

static void direct(atomics *m)
{
    fill(m);
    tk_session_clear_grad(m->tk.session);
    atomics_scatter(m);
    for (int i = 0; i < m->params.N; i++)
        m->z.grad[i] = m->z.data[i];
    double want = 0, got = 0;
    atomics_scatter_grad(m);
    for (int i = 0; i < m->params.N; i++) {
        const double x = m->x.data[i];
        want = fmax(want, fabs(m->x.grad[i] - 3 * x * x * x * x * x));
        got = fmax(got, fabs(m->z.grad[i]));
    }
    CHECK(want < 1e-12 && got == 0);
    /* a JVP is a launch as well */
    for (int i = 0; i < m->params.N; i++)
        m->x.dual[i] = 1;
    tk_session_clear_grad(m->tk.session);
    atomics_scatter_jvp(m);
    double dual = 0, grad = 0;
    for (int i = 0; i < m->params.N; i++) {
        dual += m->z.dual[i];
        m->z.grad[i] = 1;
    }
    atomics_scatter_grad(m);
    for (int i = 0; i < m->params.N; i++)
        grad += m->x.grad[i];
    CHECK(fabs(dual - grad) < 1e-8);
}

static tk_status forward(void *args)
{
    atomics *m = *(atomics **)args;
    atomics_scatter(m);
    return atomics_gather(m);
}

static tk_status backward(void *args)
{
    atomics *m = *(atomics **)args;
    atomics_gather_grad(m);
    return atomics_scatter_grad(m);
}

static void nested(atomics *m)
{
    const int n = m->params.N;
    fill(m);
    tk_session_clear_grad(m->tk.session);
    atomics_nested(m);
    for (int i = 0; i < n; i++)
        m->z.grad[i] = m->z.data[i];
    const int many = m->count.data[0];
    atomics_nested_grad(m);
    double worst = 0, left_over = 0;
    int found = 0;
    for (int i = 0; i < n; i++) {
        double want = 0;
        for (int j = 0; j < i % 4 && i % 4 < 3; j++) {
            const bool taken = (i + j) % 3 != 0;
            want += taken ? pow(m->x.data[i], j + 1) * (j + 1) * pow(m->x.data[i], j) : 0;
            found += taken;
        }
        worst = fmax(worst, fabs(m->x.grad[i] - want));
        left_over = fmax(left_over, i < many ? fabs(m->z.grad[i]) : 0);
    }
    CHECK(found == many && worst < 1e-12 && left_over == 0);
}

/* At kernel level: a million values, of which the record keeps little more. */
static void walk(atomics *m)
{
    enum { TRIPS = 1000000 };
    fill(m);
    double want[7] = {0};
    for (int t = 0, count = 0; t < TRIPS; count++) {
        t += 1 + count % 2;
        want[(count + 3) % 7] += 1;
    }
    TK_TAPE(m, m->loss) atomics_walk(m, TRIPS);
    CHECK(atomics_status(m) == TK_OK);
    for (int i = 0; i < 7; i++)
        CHECK(m->x.grad[i] == want[i]);
    const size_t bytes = tk_tape_bytes(m->tk.session);
    CHECK(bytes > 2 * 4 * 660000 && bytes < 20 * 1000000);
    heap_fails_after(&memory, 12);
    tk_tape_begin(m->loss.field, 0);
    CHECK(atomics_walk(m, TRIPS) == TK_NO_MEMORY);
    memory.fails_at = 0;
    tk_tape_drop(m->tk.session);
    tk_session_clear_error(m->tk.session);
}

static void in_calls(atomics *m)
{
    static const tk_triple t = {"host", forward, backward, NULL, 0};
    fill(m);
    tk_tape_begin(m->loss.field, 0);
    tk_call(m->tk.session, &t, &m, sizeof m);
    CHECK(tk_tape_end(m->loss.field) == TK_OK);
    const double x = m->x.data[5];
    CHECK(fabs(m->x.grad[5] - 3 * x * x * cos(x * x * x)) < 1e-12);
    tk_tape_begin(m->loss.field, 0);
    tk_call(m->tk.session, &t, &m, sizeof m);
    tk_call(m->tk.session, &t, &m, sizeof m);
    CHECK(tk_tape_end(m->loss.field) == TK_BAD_STATE);
    CHECK(strstr(atomics_error(m), "'scatter' inside a function of tk_call would not go by its launch") != NULL);
    tk_session_clear_error(m->tk.session);
}

/* Some of the logs' allocations fail. */
static void logs(atomics *m)
{
    static const int64_t fails[] = {0, 1, 2, 3, 4, 5, 20, 1000};
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        heap_fails_after(&memory, fails[i]);
        tk_tape_begin(m->loss.field, 0);
        const tk_status st = atomics_nested(m);
        memory.fails_at = 0;
        CHECK(st == TK_NO_MEMORY);
        tk_tape_drop(m->tk.session);
        tk_session_clear_error(m->tk.session);
    }
    nested(m);
}

/* Any allocation may fail: a status, and everything works again afterwards. */
static void any_allocation(atomics *m)
{
    for (int64_t n = 0;; n++) {
        fill(m);
        heap_fails_after(&memory, n);
        tk_tape_begin(m->loss.field, 0);
        atomics_scatter(m);
        atomics_gather(m);
        const tk_status st = tk_tape_end(m->loss.field);
        const bool hit = memory.calls > n;
        memory.fails_at = 0;
        CHECK(st == (hit ? TK_NO_MEMORY : TK_OK));
        tk_session_clear_error(m->tk.session);
        if (!hit)
            return;
    }
}

int main(void)
{
    tk_session *s = heap_session(&memory);
    atomics *m = atomics_create(s, NULL);
    if (!m)
        return 2;
    values(m);
    tapes(m);
    direct(m);
    nested(m);
    walk(m);
    in_calls(m);
    any_allocation(m);
    logs(m);
    atomics *fresh = atomics_create(s, NULL);
    CHECK(atomics_scatter_grad(fresh) == TK_BAD_STATE);
    tk_session_clear_error(s);
    atomics_destroy(fresh);
    CHECK_OK(m, atomics_status(m));
    atomics_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
