#include "hand.h"

#include "by_hand.h"

/* Rows and columns that are left are chains: `next` of n is the first. */
typedef struct chains {
    int n, row[DET_MOST + 1], column[DET_MOST + 1];
} chains;

static void chain_all(chains *c, int n)
{
    c->n = n;
    for (int i = 0; i < n; i++)
        c->row[i] = c->column[i] = i + 1;
    c->row[n] = c->column[n] = 0;
}

static double minor_of(const double *A, chains *c, int size)
{
    const int n = c->n, first = c->row[n];
    const double *row = A + first * n;
    if (size == 1)
        return row[c->column[n]];
    double s = 0.0, sign = 1.0;
    c->row[n] = c->row[first];
    for (int j = c->column[n], before = n; j < n; before = j, j = c->column[j]) {
        c->column[before] = c->column[j];
        s += sign * row[j] * minor_of(A, c, size - 1);
        c->column[before] = j;
        sign = -sign;
    }
    c->row[n] = first;
    return s;
}

double det_hand_cofactors(int n, const double *A, double *gradient)
{
    chains c;
    double value = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            chain_all(&c, n);
            c.row[i == 0 ? n : i - 1] = i + 1;
            c.column[j == 0 ? n : j - 1] = j + 1;
            gradient[i * n + j] = ((i + j) % 2 == 0 ? 1.0 : -1.0) * minor_of(A, &c, n - 1);
        }
    }
    for (int j = 0; j < n; j++)
        value += A[j] * gradient[j];
    return value;
}

/* The minor of the last `size` rows in the columns that are left; `lead` is the derivative of the whole by it. */
static double walk(const double *A, double *gradient, chains *c, int size, double lead)
{
    const int n = c->n;
    const double *row = A + (n - size) * n;
    double *out = gradient + (n - size) * n;
    if (size == 2) {
        const int p = c->column[n], q = c->column[p];
        out[p] += lead * row[n + q];
        out[q] -= lead * row[n + p];
        out[n + p] -= lead * row[q];
        out[n + q] += lead * row[p];
        return row[p] * row[n + q] - row[q] * row[n + p];
    }
    double s = 0.0, sign = 1.0;
    for (int j = c->column[n], before = n; j < n; before = j, j = c->column[j]) {
        c->column[before] = c->column[j];
        const double below = sign * walk(A, gradient, c, size - 1, sign * lead * row[j]);
        c->column[before] = j;
        out[j] += lead * below;
        s += row[j] * below;
        sign = -sign;
    }
    return s;
}

double det_hand_walk(int n, const double *A, double *gradient)
{
    chains c;
    chain_all(&c, n);
    memset(gradient, 0, (size_t)n * (size_t)n * sizeof(double));
    return walk(A, gradient, &c, n, 1.0);
}
