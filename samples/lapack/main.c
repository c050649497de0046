/* A linear solve of LAPACK between two kernels, differentiated: a triple of host functions on the tape.
 *
 * For move = stiffness^-1 load, with stiffness = A, load = b, move = x:
 *     backward: A^T l = gradient of x;  gradient of b += l;  gradient of A -= l x^T
 *     jvp:      A x' = b' - A' x
 * The factors of A that forward leaves behind serve both. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spring.h"

/* One solve on a tape: it must live until the tape closes, because its address is what the tape keeps. */
typedef struct solve {
    spring *m;
    lapack_int n;
    double *factors;
    lapack_int *pivots;
} solve;

static tk_status lapack_failed(const solve *v, const char *what, lapack_int info)
{
    fprintf(stderr, "%s: %d (order %d)\n", what, (int)info, (int)v->n);
    return info > 0 ? TK_BAD_ARGUMENT : TK_NO_MEMORY;
}

static tk_status forward(void *args)
{
    solve *v = args;
    spring *m = v->m;
    memcpy(v->factors, m->stiffness.data, tk_field_bytes(m->stiffness.field));
    memcpy(m->move.data, m->load.data, tk_field_bytes(m->load.field));
    lapack_int info = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, v->n, v->n, v->factors, v->n, v->pivots);
    if (info != 0)
        return lapack_failed(v, "dgetrf", info);
    info = LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', v->n, 1, v->factors, v->n, v->pivots, m->move.data, 1);
    return info != 0 ? lapack_failed(v, "dgetrs", info) : TK_OK;
}

static tk_status backward(void *args)
{
    solve *v = args;
    spring *m = v->m;
    double *l = m->move.grad; /* becomes A^-T times it; forward stored into move, so its gradient is taken */
    const lapack_int info = LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'T', v->n, 1, v->factors, v->n, v->pivots, l, 1);
    if (info != 0)
        return lapack_failed(v, "dgetrs", info);
    for (lapack_int i = 0; i < v->n; i++) {
        m->load.grad[i] += l[i];
        for (lapack_int j = 0; j < v->n; j++)
            m->stiffness.grad[spring_idx_stiffness(m, i, j)] -= l[i] * m->move.data[j];
    }
    memset(l, 0, tk_field_bytes(m->move.field));
    return TK_OK;
}

static tk_status jvp(void *args)
{
    solve *v = args;
    spring *m = v->m;
    const tk_status s = forward(args);
    if (s != TK_OK)
        return s;
    double *dual = m->move.dual;
    for (lapack_int i = 0; i < v->n; i++) {
        dual[i] = m->load.dual[i];
        for (lapack_int j = 0; j < v->n; j++)
            dual[i] -= m->stiffness.dual[spring_idx_stiffness(m, i, j)] * m->move.data[j];
    }
    const lapack_int info = LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', v->n, 1, v->factors, v->n, v->pivots, dual, 1);
    return info != 0 ? lapack_failed(v, "dgetrs", info) : TK_OK;
}

static const tk_triple solve_triple = {"solve", forward, backward, jvp, 0};

/* The launches: under a tape recorded, in a forward scope with duals. */
static void rest(solve *v)
{
    spring *m = v->m;
    const tk_footprint lines[] = {{m->stiffness.field, TK_READS, NULL},
                                  {m->load.field, TK_READS, NULL},
                                  {m->move.field, TK_STORES | TK_NEEDED, NULL}};
    spring_assemble(m, 1.0);
    tk_call_with(tk_module_session(&m->tk), &solve_triple, v, 0, lines, 3);
    spring_compare(v->m);
}

static double misfit(solve *v)
{
    v->m->misfit.data[0] = 0;
    rest(v);
    return v->m->misfit.data[0];
}

/* Gradient by tape and by forward scopes against differences: the largest deviation. */
static double check(solve *v)
{
    spring *m = v->m;
    const int n = (int)v->n + 1;
    tk_field *const outputs[] = {m->misfit.field};
    double worst = 0, *seed = calloc((size_t)n, sizeof *seed), *gradient = calloc((size_t)n, sizeof *gradient);
    TK_TAPE(m, m->misfit) rest(v);
    for (int i = 0; seed && gradient && i < n; i++)
        gradient[i] = m->soft.grad[i];
    for (int i = 0; seed && gradient && i < n; i++) {
        seed[i] = 1;
        m->misfit.data[0] = 0;
        spring_forward_soft(m, outputs, 1, seed, (size_t)n);
        rest(v);
        tk_forward_end(tk_module_session(&m->tk));
        seed[i] = 0;
        const double dual = m->misfit.dual[0], x = m->soft.data[i], h = 1e-6;
        m->soft.data[i] = x + h;
        const double above = misfit(v);
        m->soft.data[i] = x - h;
        const double difference = (above - misfit(v)) / (2 * h);
        m->soft.data[i] = x;
        worst = fmax(worst, fmax(fabs(gradient[i] - dual) * 1e4, fabs(dual - difference)));
    }
    worst = seed && gradient ? worst : INFINITY;
    free(seed);
    free(gradient);
    return worst;
}

static int run(spring *m)
{
    const size_t n = (size_t)m->load.shape[0];
    solve v = {m, (lapack_int)n, malloc(n * n * sizeof(double)), malloc(n * sizeof(lapack_int))};
    if (v.factors && v.pivots) {
        for (size_t i = 0; i < n; i++)
            m->wanted.data[i] = 0.5 + 0.1 * (double)(i % 3);
        printf("gradients deviate from differences by %s\n", check(&v) < 1e-6 ? "less than 1e-6" : "too much");
        const double first = misfit(&v);
        for (int step = 0; step < 500; step++) {
            TK_TAPE(m, m->misfit) rest(&v);
            spring_descend(m, 0.05);
        }
        const double last = misfit(&v);
        printf("misfit %.4f, after 500 steps of gradient descent %s\n", first, last < 0.01 * first ? "less than 1/100 of it" : "not small");
    }
    const bool ok = v.factors && v.pivots && spring_status(m) == TK_OK;
    if (!ok)
        fprintf(stderr, "%s\n", spring_error(m));
    free(v.factors);
    free(v.pivots);
    return !ok;
}

int main(void)
{
    spring *m = spring_create(NULL, NULL);
    if (!m) {
        fprintf(stderr, "%s\n", tk_error());
        return 1;
    }
    const int status = run(m);
    spring_destroy(m);
    return status;
}
