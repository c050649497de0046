#include "distinct.h"
#include "host.h"

static distinct *create(tk_session *s, int n, int cols)
{
    distinct_params p = distinct_defaults();
    p.N = n;
    p.M = cols;
    distinct *m = distinct_create(s, &p);
    if (!m) {
        printf("%s\n", tk_error());
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        m->order.data[i] = (i * 3 + 1) % n;
        m->wide.data[i] = m->order.data[i];
        m->large.data[i] = (uint64_t)m->order.data[i];
        m->tiny.data[i] = (int8_t)(n - 1 - i);
        m->shorts.data[i] = (uint16_t)(n - 1 - i);
        m->x.data[i] = 0.5 + i;
    }
    return m;
}

/* ---- launches and their derivatives ---- */

static void forms(void)
{
    distinct *m = create(NULL, 8, 1);
    CHECK_OK(m, distinct_put(m));
    CHECK_OK(m, distinct_add(m));
    for (int i = 0; i < 8; i++)
        CHECK(m->y.data[m->order.data[i]] == 2.0 * m->x.data[i] * m->x.data[i]);
    m->order.data[6] = m->order.data[2];
    static const char text[] = "field 'order' is declared distinct, but order[2] and order[6] are both 7";
    CHECK_REFUSED(m, distinct_put(m), text);
    CHECK_REFUSED(m, distinct_add(m), text);
    CHECK_REFUSED(m, distinct_all(m), text);
    CHECK_REFUSED(m, distinct_put_jvp(m), text);
    CHECK_REFUSED(m, distinct_add_jvp(m), text);
    CHECK_REFUSED(m, distinct_put_grad(m), text);
    CHECK_REFUSED(m, distinct_put_hvp(m), text);
    CHECK_REFUSED(m, distinct_sided(m), text);
    CHECK_REFUSED(m, distinct_sided_grad(m), text);
    CHECK_REFUSED(m, distinct_sided_hvp(m), text);
    CHECK_REFUSED(m, distinct_get_grad(m), text);
    CHECK_REFUSED(m, distinct_get_hvp(m), text);
    for (int i = 0; i < 8; i++) /* nothing was written */
        CHECK(m->y.data[(i * 3 + 1) % 8] == 2.0 * m->x.data[i] * m->x.data[i] && m->x.grad[i] == 0.0);
    CHECK_OK(m, distinct_get(m)); /* each element is read, whoever else reads it */
    CHECK_OK(m, distinct_twice(m));
    CHECK_REFUSED(m, distinct_twice_grad(m), text);
    m->order.data[6] = 3;
    CHECK_OK(m, distinct_put(m));
    m->order.data[0] = 3;
    CHECK_REFUSED(m, distinct_put(m), "order[0] and order[6] are both 3");
    distinct_destroy(m);
}

/* The host writes between a launch and its adjoint. */
static void tapes(void)
{
    distinct *m = create(NULL, 8, 1);
    tk_session *s = m->tk.session;
    CHECK_OK(m, tk_tape_begin(m->loss.field, 0));
    CHECK_OK(m, distinct_put(m));
    CHECK_OK(m, distinct_total(m));
    m->order.data[1] = m->order.data[0];
    CHECK_REFUSED(m, tk_tape_end(m->loss.field), "order[0] and order[1] are both 1");
    m->order.data[1] = 4;
    CHECK_OK(m, tk_tape_begin(m->loss.field, 0));
    m->order.data[1] = m->order.data[0];
    CHECK_REFUSED(m, distinct_put(m), "order[0] and order[1] are both 1");
    (void)tk_tape_end(m->loss.field);
    tk_session_clear_error(s);
    m->order.data[1] = 4;
    memset(m->x.grad, 0, 8 * sizeof *m->x.grad);
    m->loss.data[0] = 0.0;
    CHECK_OK(m, tk_tape_begin(m->loss.field, 0));
    CHECK_OK(m, distinct_all(m));
    CHECK_OK(m, tk_tape_end(m->loss.field));
    for (int i = 0; i < 8; i++)
        CHECK(m->x.grad[i] == 4.0 * m->x.data[i] * m->x.data[i] * m->x.data[i]);
    const double seed[8] = {1.0};
    CHECK_OK(m, tk_forward_begin((tk_field *const[]){m->y.field}, 1, m->x.field, seed, 8));
    m->order.data[7] = m->order.data[0];
    CHECK_REFUSED(m, distinct_add(m), "order[0] and order[7] are both 1");
    (void)tk_forward_end(s);
    distinct_destroy(m);
}

/* ---- numbers ---- */

static void numbers(void)
{
    distinct *m = create(NULL, 8, 1);
    static const int64_t wide[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT64_MIN + 1, 5, INT64_MAX - 1};
    static const uint64_t large[] = {UINT64_MAX, 0, 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, 4, UINT64_C(1) << 32, 5};
    memcpy(m->wide.data, wide, sizeof wide);
    memcpy(m->large.data, large, sizeof large);
    for (int i = 0; i < 8; i++) {
        m->tiny.data[i] = (int8_t)(i % 2 ? -128 + i : 127 - i);
        m->shorts.data[i] = (uint16_t)(i % 2 ? i : 65535 - i);
    }
    CHECK_OK(m, distinct_by_wide(m));
    CHECK_OK(m, distinct_by_large(m));
    CHECK_OK(m, distinct_by_tiny(m));
    CHECK_OK(m, distinct_by_shorts(m));
    CHECK(m->y.data[5] == m->x.data[6] + m->x.data[7] + m->x.data[5]);
    m->wide.data[7] = INT64_MIN;
    CHECK_REFUSED(m, distinct_by_wide(m), "wide[0] and wide[7] are both -9223372036854775808");
    m->wide.data[7] = INT64_MAX;
    CHECK_REFUSED(m, distinct_by_wide(m), "wide[1] and wide[7] are both 9223372036854775807");
    m->large.data[6] = UINT64_MAX;
    CHECK_REFUSED(m, distinct_by_large(m), "large[0] and large[6] are both 18446744073709551615");
    m->tiny.data[5] = -125;
    CHECK_REFUSED(m, distinct_by_tiny(m), "tiny[3] and tiny[5] are both -125");
    m->shorts.data[4] = 65535;
    CHECK_REFUSED(m, distinct_by_shorts(m), "shorts[0] and shorts[4] are both 65535");
    for (int i = 0; i < 8; i++)
        m->order.data[i] = -1;
    CHECK_REFUSED(m, distinct_add(m), "order[0] and order[1] are both -1");
    distinct_destroy(m);
}

static void sizes(void)
{
    for (int n = 0; n < 2; n++) {
        distinct *m = create(NULL, n, 1);
        if (n)
            m->order.data[0] = 0;
        CHECK_OK(m, distinct_put(m));
        CHECK_OK(m, distinct_put_grad(m));
        distinct_destroy(m);
    }
    enum { MANY = 100000 };
    distinct *m = create(NULL, MANY, 1);
    for (int i = 0; i < MANY; i++) {
        m->order.data[i] = MANY - 1 - i;
        m->wide.data[i] = (int64_t)i * 1000003 * 1000003 - i;
    }
    CHECK_OK(m, distinct_add(m));
    CHECK_OK(m, distinct_by_wide(m));
    CHECK_OK(m, distinct_add(m));
    m->order.data[70000] = 0;
    CHECK_REFUSED(m, distinct_add(m), "order[70000] and order[99999] are both 0");
    m->wide.data[99999] = m->wide.data[500];
    CHECK_REFUSED(m, distinct_by_wide(m), "wide[500] and wide[99999] are both");
    distinct_destroy(m);
}

/* Elements with others between them, two of which need not stand at multiples of their size. */
static void strided(void)
{
    static unsigned char memory[24 * 12 + 16]; /* zeros between the elements */
    distinct *m = create(NULL, 8, 3);
    for (int k = 0; k < 24; k++) {
        const int32_t v = 24 - k;
        memcpy(memory + 1 + (size_t)k * 12, &v, sizeof v);
    }
    const int64_t strides[] = {12, 96};
    CHECK_OK(m, distinct_bind_grid_strided(m, memory + 1, strides));
    memcpy(memory + 1 + 12, memory + 1 + 12 * 10, 4);
    CHECK_REFUSED(m, distinct_by_grid(m), "grid[1, 0] and grid[2, 1] are both 14");
    distinct_destroy(m);
}

/* ---- memory ---- */

static void no_memory(void)
{
    heap h = {0};
    tk_session_options o = {.alloc = heap_alloc, .alloc_user = &h, .threads = 1};
    tk_session *s = tk_session_create(&o);
    distinct *m = create(s, 8, 1);
    h.limit = 1;
    CHECK_STATUS(m, distinct_by_wide(m), TK_NO_MEMORY, "'wide'");
    h.limit = 0;
    CHECK_OK(m, distinct_by_wide(m));
    distinct_destroy(m);
    tk_session_destroy(s);
}

int main(void)
{
    forms();
    tapes();
    numbers();
    sizes();
    strided();
    no_memory();
    return failures != 0;
}
