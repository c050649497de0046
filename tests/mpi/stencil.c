/* Gradients, tangents and data of a program on several processes are those of one, with and without launches beside
 * messages, twice with the same bits, and with so many messages and bytes. */
#include "part.h"

enum { STEPS = 7 };

static void run(part *p)
{
    fill(p);
    TK_TAPE(p->m, p->m->loss) {
        program(p);
    }
    CHECK_OK(p->m, stencil_status(p->m));
}

/* The largest difference to the part of the whole. */
static double differ(const part *p, const part *whole)
{
    double most = fabs(*p->m->loss.data - *whole->m->loss.data) / (1 + fabs(*whole->m->loss.data));
    for (int64_t i = p->box.lo[0]; i < p->box.hi[0]; i++)
        for (int64_t j = p->box.lo[1]; j < p->box.hi[1]; j++) {
            const int64_t a = number(p, i, j), b = number(whole, i, j);
            most = fmax(most, fabs(p->m->u.data[a] - whole->m->u.data[b]));
            most = fmax(most, fabs(p->m->u.grad[a] - whole->m->u.grad[b]));
            most = fmax(most, fabs(p->m->c.grad[a] - whole->m->c.grad[b]));
            most = fmax(most, fabs(p->m->u.dual[a] - whole->m->u.dual[b]));
        }
    return most;
}

static double forward(part *p)
{
    double *seed = calloc((size_t)tk_field_count(p->m->c.field), sizeof *seed);
    fill(p);
    for (int64_t i = p->box.lo[0]; i < p->box.hi[0]; i++)
        for (int64_t j = p->box.lo[1]; j < p->box.hi[1]; j++)
            seed[number(p, i, j)] = sin((double)(i + 3 * j));
    tk_field *const outputs[] = {p->m->loss.field};
    *p->m->loss.data = 0;
    tk_forward_begin(outputs, 1, p->m->c.field, seed, (size_t)tk_field_count(p->m->c.field));
    program(p);
    CHECK_OK(p->m, tk_forward_end(p->s));
    free(seed);
    return *p->m->loss.dual;
}

static void same_bits(part *p)
{
    const size_t n = tk_field_bytes(p->m->u.field);
    void *first = malloc(2 * n);
    run(p);
    memcpy(first, p->m->u.grad, n);
    memcpy((char *)first + n, p->m->c.grad, n);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        p->overlaps = overlaps;
        run(p);
        CHECK(memcmp(first, p->m->u.grad, n) == 0 && memcmp((char *)first + n, p->m->c.grad, n) == 0);
    }
    p->overlaps = false;
    free(first);
}

/* Exchanges of the first step have both fields. Parts along the first dimension are around its end, too: two rows in
 * one message of two processes, else in two. Of 2 x 2 parts, each sends two rows, a column and two corners. */
static void count(part *p)
{
    tk_mpi_counts a, b;
    CHECK_OK(p->m, tk_mpi_count(p->s, &a));
    run(p);
    CHECK_OK(p->m, tk_mpi_count(p->s, &b));
    const int64_t rows = p->box.hi[0] - p->box.lo[0], columns = p->box.hi[1] - p->box.lo[1];
    const int64_t elements = ranks == 1 ? 0 : ranks < 4 ? 2 * G : 2 * columns + rows + 2;
    const uint64_t bytes = (uint64_t)elements * sizeof(double) * (STEPS + 1), messages = (uint64_t)(ranks - 1) * STEPS;
    const tk_mpi_traffic *to[] = {&b.primal, &b.adjoint}, *from[] = {&a.primal, &a.adjoint};
    for (int i = 0; i < 2; i++) {
        CHECK(to[i]->exchanges - from[i]->exchanges == STEPS && to[i]->messages - from[i]->messages == messages);
        CHECK(to[i]->bytes - from[i]->bytes == bytes && to[i]->sums - from[i]->sums == 1);
        CHECK(to[i]->summed - from[i]->summed == (i ? 2 : 1) * sizeof(double));
    }
    /* the tape's three, one for each exchange and sum, there and back, and one on the sizes of a sum */
    CHECK(b.agreements - a.agreements == 4 + 2 * (STEPS + 1));
}

/* Duals travel too. */
static void count_duals(part *p)
{
    tk_mpi_counts a, b, c;
    tk_mpi_count(p->s, &a);
    run(p);
    tk_mpi_count(p->s, &b);
    forward(p);
    tk_mpi_count(p->s, &c);
    CHECK(c.primal.bytes - b.primal.bytes == 2 * (b.primal.bytes - a.primal.bytes));
    CHECK(c.adjoint.exchanges == b.adjoint.exchanges && c.primal.sums - b.primal.sums == 2);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    part p = make(MPI_COMM_WORLD, STEPS), whole = make(MPI_COMM_SELF, STEPS);
    same_bits(&p);
    run(&whole);
    const double gradients = differ(&p, &whole);
    if (!(gradients < 1e-15))
        FAIL("rank %d of %d: gradients differ by %g", rank, ranks, gradients);
    CHECK(*p.m->loss.data > 1 && fabs(p.m->c.grad[number(&p, p.box.lo[0] + 1, p.box.lo[1] + 1)]) > 1e-6);
    double along = 0;
    for (int64_t i = 0; i < G; i++)
        for (int64_t j = 0; j < G; j++)
            along += whole.m->c.grad[number(&whole, i, j)] * sin((double)(i + 3 * j));
    CHECK_NEAR(forward(&p), along, 1e-14);
    CHECK_NEAR(forward(&p), forward(&whole), 1e-15);
    CHECK(differ(&p, &whole) < 1e-15);
    count(&p);
    count_duals(&p);
    destroy(&p);
    destroy(&whole);
    return end();
}
