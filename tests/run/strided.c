#include "strided.h"
#include "host.h"

#include <tkc/tkc_gen.h>

/* The header knows the precision only by the type of a seed. */
#define REAL_IS_DOUBLE _Generic(&strided_forward_loss, tk_status (*)(strided *, tk_field *const *, int, const double *, size_t): 1, default: 0)

/* A plane of a field as doubles, whatever its strides. */
static double *values(tk_field *f, void *plane, int64_t (*stride)(const tk_field *, int), size_t *n, int ncomp, bool wide)
{
    int64_t extent[2] = {1, 1}, s[2] = {0, 0};
    for (int d = 0; d < tk_field_ndim(f); d++) {
        extent[d] = tk_field_extent(f, d);
        s[d] = stride(f, d);
    }
    *n = (size_t)(extent[0] * extent[1] * ncomp);
    double *v = malloc(*n * sizeof *v);
    size_t at = 0;
    for (int64_t i = 0; v && i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++)
            for (int c = 0; c < ncomp; c++) {
                const unsigned char *p = (const unsigned char *)plane + i * s[0] + j * s[1] + c * (wide ? 8 : 4);
                float x;
                if (wide) {
                    memcpy(&v[at++], p, 8);
                } else {
                    memcpy(&x, p, 4);
                    v[at++] = (double)x;
                }
            }
    return v;
}

static void compare(const char *what, tk_field *a, void *pa, tk_field *b, void *pb, int64_t (*stride)(const tk_field *, int), int ncomp, bool wide)
{
    size_t n, m;
    double *x = values(a, pa, stride, &n, ncomp, wide), *y = values(b, pb, stride, &m, ncomp, wide), worst = 0, size = 0;
    for (size_t i = 0; x && y && i < n && i < m; i++) {
        worst = fmax(worst, fabs(x[i] - y[i]));
        size = fmax(size, fabs(x[i]));
    }
    if (n != m || !(worst <= 1e-5 * size) || size == 0)
        FAIL("%s: differs by %g of %g", what, worst, size);
    free(x);
    free(y);
}

static void compare_field(const char *name, tk_field *a, tk_field *b, int ncomp, bool wide)
{
    char what[64];
    snprintf(what, sizeof what, "%s data", name);
    compare(what, a, tk_field_data(a), b, tk_field_data(b), tk_field_data_stride, ncomp, wide);
    snprintf(what, sizeof what, "%s grad", name);
    compare(what, a, tk_field_grad(a), b, tk_field_grad(b), tk_field_grad_stride, ncomp, wide);
}

static void run(strided *m)
{
    strided_fill(m);
    strided_count(m);
    tk_tape_begin(m->loss.field, 0);
    strided_scatter(m);
    strided_step(m);
    strided_step(m);
    strided_total(m);
    tk_tape_end(m->loss.field);
}

static void clear_grid(strided *m)
{
    for (int64_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < m->grid.shape[1]; i++)
            memset((char *)m->grid.data + k * m->grid.data_strides[0] + i * m->grid.data_strides[1], 0, REAL_IS_DOUBLE ? 16 : 8);
}

static void forward(strided *m)
{
    const size_t n = 3 * (size_t)m->pos.shape[0], size = REAL_IS_DOUBLE ? 8 : 4;
    void *seed = calloc(n, size);
    for (size_t i = 0; seed && i < n; i++) {
        const double x = 1 + (double)(i % 2);
        const float y = (float)x;
        memcpy((char *)seed + i * size, size == 8 ? (const void *)&x : (const void *)&y, size);
    }
    tk_field *const outputs[] = {m->loss.field};
    strided_fill(m);
    strided_count(m);
    clear_grid(m);
    memset(m->loss.data, 0, size);
    CHECK(tk_forward_begin(outputs, 1, m->pos.field, seed, n) == TK_OK);
    strided_scatter(m);
    strided_step(m);
    strided_total(m);
    CHECK(tk_forward_end(tk_module_session(&m->tk)) == TK_OK);
    free(seed);
}

int main(void)
{
    const bool wide = REAL_IS_DOUBLE;
    const size_t size = wide ? 8 : 4;
    strided *a = strided_create(NULL, NULL), *b = strided_create(NULL, NULL);
    if (!a || !b)
        return 1;
    const int64_t n = b->params.N;

    /* struct { pos, mass, kind, alive } at an odd stride and an odd address; the grid's rows are those of a picture with padding, its second row first */
    const int64_t record[] = {(int64_t)(4 * size) + 2 + 1 + 4}, row = (int64_t)(2 * size) * n + 24;
    const int64_t rows[] = {-row, (int64_t)(2 * size)}, pairs[] = {(int64_t)(2 * size), (int64_t)(4 * size)}, aligned[] = {(int64_t)(4 * size)};
    unsigned char *particles = malloc((size_t)(n * record[0]) + 1), *gradients = calloc((size_t)n, 4 * size), *duals = calloc((size_t)n, 4 * size);
    unsigned char *picture = calloc(2, (size_t)row), *slopes = calloc((size_t)n, 4 * size), *tangents = calloc(2, (size_t)row);
    if (!particles || !gradients || !duals || !picture || !slopes || !tangents)
        return 1;
    memset(particles, 0x5a, (size_t)(n * record[0]) + 1);
    unsigned char *first = particles + 1;
    CHECK(strided_bind_pos_strided(b, first, record, gradients, aligned, duals, aligned) == TK_OK);
    CHECK(strided_bind_mass_strided(b, first + 3 * size, record, gradients + 3 * size, aligned, duals + 3 * size, aligned) == TK_OK);
    CHECK(strided_bind_kind_strided(b, first + 4 * size, record) == TK_OK);
    CHECK(strided_bind_alive_strided(b, first + 4 * size + 2, record) == TK_OK);
    CHECK(strided_bind_grid_strided(b, picture + row, rows, slopes, pairs, tangents, NULL) == TK_OK);
    CHECK(b->pos.data == first && b->pos.data_strides[0] == record[0] && b->grid.grad_strides[1] == pairs[1]);
    CHECK(b->grid.dual_strides[0] == (int64_t)(2 * size) * n && b->grid.data_strides[0] == -row);

    run(a);
    run(b);
    compare_field("pos", a->pos.field, b->pos.field, 3, wide);
    compare_field("mass", a->mass.field, b->mass.field, 1, wide);
    compare_field("grid", a->grid.field, b->grid.field, 2, wide);
    compare_field("loss", a->loss.field, b->loss.field, 1, wide);
    for (int64_t i = 0; i < n; i++) {
        int16_t ka, kb;
        memcpy(&ka, (char *)a->kind.data + i * a->kind.data_strides[0], 2);
        memcpy(&kb, (char *)b->kind.data + i * b->kind.data_strides[0], 2);
        if (ka != kb || memcmp(first + i * record[0] + 4 * size + 3, "\x5a\x5a\x5a\x5a", 4) != 0) { /* padding is nobody's */
            FAIL("kind or padding of %d", (int)i);
            break;
        }
    }
    forward(a);
    forward(b);
    compare("loss dual", a->loss.field, a->loss.dual, b->loss.field, b->loss.dual, tk_field_dual_stride, 1, wide);
    compare("grid dual", a->grid.field, a->grid.dual, b->grid.field, b->grid.dual, tk_field_dual_stride, 2, wide);
    tk_module_clear_grad(&b->tk);
    tk_module_clear_dual(&b->tk);
    for (size_t i = 0; i < 4 * size * (size_t)n; i++)
        if (gradients[i] || duals[i] || slopes[i]) {
            FAIL("byte %zu is not cleared", i);
            break;
        }

    /* what is refused; the binding stays */
    const int64_t still[] = {0}, small[] = {4}, huge[] = {INT64_MAX / 2}, apart[] = {(int64_t)(4 * size)};
    CHECK_REFUSED(b, strided_bind_mass_strided(b, first + 2 * size, record, NULL, NULL, NULL, NULL),
                  "its gradient is NULL");
    CHECK_REFUSED(b,
                  strided_bind_mass_strided(b, first + 2 * size, record, gradients + 3 * size, aligned,
                                            duals + 3 * size, aligned),
                  "its data overlaps the data of field 'strided.pos'");
    CHECK_REFUSED(b,
                  strided_bind_mass_strided(b, first + 3 * size, record, gradients + 3 * size, aligned,
                                            gradients + 3 * size, aligned),
                  "its dual overlaps its gradient");
    CHECK_REFUSED(b, strided_bind_pos_strided(b, first, small, gradients, apart, duals, apart), "overlap each other");
    CHECK_REFUSED(b, strided_bind_pos_strided(b, first, record, gradients, still, duals, apart),
                  "elements of its gradient overlap each other");
    CHECK_REFUSED(b, strided_bind_pos_strided(b, first, huge, gradients, apart, duals, apart),
                  "leave the address space");
    const int64_t both[] = {-(INT64_C(1) << 60), INT64_MAX / (20000 * 2)};
    CHECK_REFUSED(b, strided_bind_grid_strided(b, picture + row, both, slopes, pairs, tangents, NULL),
                  "leave the address space");
    CHECK_REFUSED(b,
                  tk_field_bind_strided(b->loss.field, (void *[]){first, gradients, duals},
                                        (const int64_t *[]){NULL, NULL, NULL}),
                  "not declared strided");
    CHECK(b->pos.data == first && strided_fill(b) == TK_OK && strided_status(b) == TK_OK);
    CHECK(strided_bind_pos(b, gradients, slopes, tangents) == TK_BAD_ARGUMENT);
    tk_session_clear_error(tk_module_session(&b->tk));

    strided_destroy(a);
    strided_destroy(b);
    free(particles);
    free(gradients);
    free(duals);
    free(picture);
    free(slopes);
    free(tangents);
    return failures != 0;
}
