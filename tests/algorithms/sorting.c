/* What comes out is in order, and the same values; of equal keys the stable order; gradients go where the values came from. */
#include <math.h>
#include <stdio.h>

#include "sorting.h"

enum { LISTS = 3, N = 8 };

int main(void)
{
    sorting *m = sorting_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < LISTS * N; i++) {
        m->key.data[i] = i * 5 % 7 / 10.0;
        m->value.data[i] = (i * 3 % 8 - 4) * 0.25;
    }
    int wrong = 0;
    sorting_bitonic(m);
    for (int q = 0; q < LISTS; q++)
        for (int i = 1; i < N; i++)
            wrong += m->sorted_keys.data[q * N + i - 1] > m->sorted_keys.data[q * N + i];
    sorting_insertion(m);
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < LISTS * N; i++)
        m->sorted_values.grad[i] = i + 1;
    for (int q = 0; q < LISTS; q++)
        m->median.grad[q] = 1;
    sorting_insertion_grad(m);
    for (int q = 0; q < LISTS; q++)
        for (int i = 0; i < N; i++) {
            int rank = 0;
            for (int j = 0; j < N; j++)
                rank += m->key.data[q * N + j] < m->key.data[q * N + i] || (m->key.data[q * N + j] == m->key.data[q * N + i] && j < i);
            const double v = m->value.data[q * N + i], g = m->value.grad[q * N + i], by_key = m->key.grad[q * N + i];
            wrong += m->place.data[q * N + i] != rank || m->sorted_values.data[q * N + rank] != v * v || g != 2 * v * (q * N + rank + 1);
            wrong += by_key != (rank == N / 2 || rank == N / 2 - 1 ? 0.5 : 0);
        }
    printf("%d wrong\n%s\n", wrong, sorting_error(m));
    sorting_destroy(m);
    return wrong;
}
