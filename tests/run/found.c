#include "found.h"
#include "host.h"

static void names(tk_session *s, found *m)
{
    static const char *const expected[] = {"x", "p.inner.a", "p.inner.b", "p.k", "s.inner.a", "s.inner.b", "s.k", "g", "t", "i", "b", "l", "h", "U"};
    size_t n = 0;
    for (tk_field *f = tk_field_next(s, NULL); f; f = tk_field_next(s, f), n++)
        CHECK(n < sizeof expected / sizeof *expected && !strcmp(tk_field_name(f), expected[n]) &&
              !strcmp(tk_field_module(f), "found"));
    CHECK(n == sizeof expected / sizeof *expected);
    CHECK(tk_field_find(s, "x") == m->x.field && tk_field_find(s, "found.x") == m->x.field);
    CHECK(tk_field_find(s, "p.inner.b") == m->p.field.inner.b &&
          tk_field_find(s, "found.p.inner.b") == m->p.field.inner.b);
    CHECK(!tk_field_find(s, "p") && strstr(tk_error(), "no module of the session has a field 'p'"));
    CHECK(!tk_field_find(s, "foun.x") && !tk_field_find(s, "found") && !tk_field_find(s, "") &&
          !tk_field_find(s, NULL) && !tk_field_find(NULL, "x"));
    CHECK(!tk_field_next(NULL, NULL) && !*tk_field_module(NULL));
    CHECK(tk_field_scalar(m->i.field) == TK_U8 && tk_field_scalar(m->h.field) == TK_F64 &&
          tk_field_scalar(NULL) == TK_BOOL);
    CHECK(tk_field_components(m->g.field) == 6 && tk_field_components(NULL) == 0);
    CHECK(tk_field_count(m->g.field) == 36 && tk_field_count(m->U.field) == 1 && tk_field_count(NULL) == 0);
}

/* Each field counts its numbers, row-major, whatever its layout. */
static void all_numbers(tk_session *s)
{
    double in[36], out[36];
    for (tk_field *f = tk_field_next(s, NULL); f; f = tk_field_next(s, f)) {
        const int64_t n = tk_field_count(f);
        for (int64_t k = 0; k < n; k++)
            in[k] = tk_field_scalar(f) == TK_BOOL ? (double)(k % 2) : (double)(k + 1);
        CHECK(tk_field_set(f, TK_DATA, 0, n, in) == TK_OK && tk_field_get(f, TK_DATA, 0, n, out) == TK_OK &&
              !memcmp(in, out, (size_t)n * sizeof *in));
    }
}

static void layouts(tk_session *s, found *m)
{
    double v[3];
    all_numbers(s);
    CHECK(m->x.data[2] == 3 && m->p.data[1].inner.b[1] == 4 && m->p.data[2].k == 3 && m->s.inner.b.data[1][1] == 4 &&
          m->i.data[3] == 4 && m->b.data[1]);
    CHECK(m->g.data[1][0][found_idx_g(m, 1, 2)] == 34);
    CHECK(tk_field_get(m->g.field, TK_DATA, 33, 3, v) == TK_OK && v[0] == 34 && v[2] == 36);
    struct {
        char gap;
        float at[2];
    } __attribute__((packed)) odd[3];
    const int64_t step = -(int64_t)sizeof *odd;
    found_bind_t_strided(m, odd[2].at, &step);
    CHECK(tk_field_set(m->t.field, TK_DATA, 2, 2, (double[]){7.0, 8.0}) == TK_OK);
    float seen[2];
    memcpy(seen, odd[1].at, sizeof seen);
    CHECK(seen[0] == 7 && seen[1] == 8);
    CHECK(tk_field_get(m->t.field, TK_DATA, 3, 1, v) == TK_OK && v[0] == 8);
    CHECK(tk_field_set(m->h.field, TK_GRAD, 1, 1, (double[]){0.1}) == TK_OK && m->h.grad[1] == 0.1);
}

static void misused(found *m)
{
    double v[4] = {0};
    CHECK_REFUSED(m, tk_field_get(m->x.field, TK_DATA, 1, 3, v),
                  "3 numbers from 1 on are not in field 'x', which has 3");
    CHECK_REFUSED(m, tk_field_get(m->x.field, TK_DATA, -1, 1, v), "are not in field");
    CHECK_REFUSED(m, tk_field_get(m->x.field, TK_DATA, 4, 0, v), "are not in field");
    CHECK_REFUSED(m, tk_field_set(m->x.field, TK_DATA, 1, -1, v), "are not in field");
    CHECK_REFUSED(m, tk_field_get(m->x.field, TK_DATA, 1, INT64_MAX, v), "are not in field");
    CHECK_REFUSED(m, tk_field_get(m->i.field, TK_GRAD, 0, 1, v), "field 'i' has no such memory");
    CHECK_REFUSED(m, tk_field_get(m->i.field, (tk_plane)17, 0, 1, v), "no such memory");
    CHECK(tk_field_get(NULL, TK_DATA, 0, 0, v) == TK_BAD_ARGUMENT &&
          tk_field_set(m->x.field, TK_DATA, 0, 1, NULL) == TK_BAD_ARGUMENT);
    CHECK(tk_field_get(m->x.field, TK_DATA, 3, 0, v) == TK_OK);
    m->i.data[0] = 9;
    CHECK_REFUSED(m, tk_field_set(m->i.field, TK_DATA, 0, 2, (double[]){1.0, 256.0}), "256 is no value");
    CHECK(m->i.data[0] == 9);
    CHECK_REFUSED(m, tk_field_set(m->i.field, TK_DATA, 0, 1, (double[]){0.5}), "0.5 is no value");
    CHECK_REFUSED(m, tk_field_set(m->i.field, TK_DATA, 0, 1, (double[]){(double)NAN}), "no value");
    CHECK_REFUSED(m, tk_field_set(m->b.field, TK_DATA, 0, 1, (double[]){2.0}), "no value");
    CHECK_REFUSED(m, tk_field_set(m->l.field, TK_DATA, 0, 1, (double[]){0x1p63}), "no value");
    CHECK(tk_field_set(m->l.field, TK_DATA, 0, 1, (double[]){-0x1p63}) == TK_OK && m->l.data[0] == INT64_MIN);
    CHECK(tk_field_set(m->x.field, TK_DATA, 0, 1, (double[]){1e300}) == TK_OK && isinf(m->x.data[0]));
    m->x.data[0] = 1;
    m->l.data[0] = 0;
}

static void launches(tk_session *s, found *m)
{
    tk_module *of = NULL;
    const tk_kernel *add = tk_kernel_find(s, "add", &of), *square = tk_kernel_find(s, "found.square", NULL), *plain = tk_kernel_find(s, "plain", NULL);
    CHECK(of == &m->tk && add == tk_kernel_at(of, 0) && square == tk_kernel_at(of, 1) &&
          !strcmp(tk_kernel_name(plain), "plain") && !tk_kernel_at(of, 5) && !tk_kernel_at(of, -1) &&
          !tk_kernel_at(NULL, 0));
    CHECK(!tk_kernel_find(s, "none", &of) && strstr(tk_error(), "no module of the session has a kernel 'none'") &&
          !tk_kernel_find(s, NULL, NULL) && !tk_kernel_find(NULL, "add", NULL));
    CHECK(tk_kernel_numbers(add) == 13 && tk_kernel_numbers(plain) == 0 &&
          tk_kernel_numbers(tk_kernel_at(&m->tk, 3)) == -1 && tk_kernel_numbers(NULL) == 0 && !*tk_kernel_name(NULL));
    CHECK(!strcmp(tk_kernel_number_name(add, 0), "dt") && !strcmp(tk_kernel_number_name(add, 2), "v") &&
          !strcmp(tk_kernel_number_name(add, 5), "body.inner.b") && !strcmp(tk_kernel_number_name(add, 12), "w"));
    CHECK(!*tk_kernel_number_name(add, 13) && !*tk_kernel_number_name(add, -1) && !*tk_kernel_number_name(NULL, 0));
    const double numbers[] = {1, 0, 2, 9, 9, 3, 6, 9, 9, 4, 9, 5, 0.5};
    CHECK(tk_kernel_launch(&m->tk, add, numbers, 13) == TK_OK && fabs((double)m->x.data[1] - 654321.5) < 0.1);
    CHECK(tk_kernel_launch(&m->tk, plain, NULL, 0) == TK_OK && m->l.data[0] == 1);
    CHECK(tk_kernel_launch(&m->tk, tk_kernel_find(s, "sum", NULL), (double[]){4}, 1) == TK_OK && m->l.data[0] == 5);
    for (int k = 0; k < 3; k++)
        m->x.data[k] = (found_real)k;
    TK_TAPE_WITH(m, m->U, 0) tk_kernel_launch(&m->tk, square, (double[]){3.0}, 1);
    CHECK(m->U.data[0] == 15 && m->x.grad[2] == 12);
    TK_TAPE_WITH(m, m->U, TK_TAPE_SUM) tk_kernel_launch(&m->tk, square, (double[]){1.0}, 1);
    CHECK(m->x.grad[2] == 16);
    const double bad[] = {1, 0, 2, 9, 9, 3, 6.5, 9, 9, 4, 9, 5, 0.5};
    CHECK_REFUSED(m, tk_kernel_launch(&m->tk, add, bad, 13), "6.5 is no value of 'body.k' of kernel 'add'");
    CHECK_REFUSED(m, tk_kernel_launch(&m->tk, add, numbers, 12), "takes 13 numbers, not 12");
    CHECK_REFUSED(m, tk_kernel_launch(&m->tk, square, NULL, 1), "takes 1 number, not 0");
    CHECK_REFUSED(m, tk_kernel_launch(&m->tk, tk_kernel_at(&m->tk, 3), numbers, 1), "kernel 'on_array' takes arrays");
    CHECK(tk_kernel_launch(NULL, add, numbers, 13) == TK_BAD_ARGUMENT &&
          tk_kernel_launch(&m->tk, NULL, NULL, 0) == TK_BAD_ARGUMENT);
}

static void twice(tk_session *s)
{
    found *other = found_create(s, NULL);
    CHECK(!tk_field_find(s, "x") && strstr(tk_error(), "'x' is a field of module 'found' and of module 'found'") &&
          !tk_field_find(s, "found.x"));
    CHECK(!tk_kernel_find(s, "add", NULL) && strstr(tk_error(), "'add' is a kernel of"));
    CHECK(tk_field_next(s, NULL) == other->x.field);
    found_destroy(other);
    CHECK(tk_field_find(s, "x"));
}

int main(void)
{
    tk_session *s = tk_session_create(NULL);
    found *m = found_create(s, NULL);
    CHECK(m && sizeof(found_real) == sizeof *m->x.data);
    names(s, m);
    layouts(s, m);
    misused(m);
    launches(s, m);
    twice(s);
    CHECK_OK(m, found_status(m));
    found_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
