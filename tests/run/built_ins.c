#include "built_ins.h"
#include <string.h>

int main(void)
{
    static const double A[2][2] = {{1, 2}, {3, -4}}, B[3][3] = {{2, 1, 0}, {-1, 3, 1}, {1, 0, 1}};
    static const double C[4][4] = {{1, 2, 0, 1}, {0, -1, 3, 2}, {4, 0, 1, 0}, {1, 1, 0, 2}}, u[3] = {0.5, -1, 2}, v[3] = {0.25, 2, 1.5};
    built_ins *m = built_ins_create(NULL, NULL);
    if (!m)
        return 1;
    memcpy(m->A.data, A, sizeof A);
    memcpy(m->B.data, B, sizeof B);
    memcpy(m->C.data, C, sizeof C);
    built_ins_at_run_time(m, 0.5, 2, -1.75, 3.25, 7, -3, u, v);
    built_ins_of_constants(m);
    const int wrong = m->wrong.data[0] != 0 || built_ins_status(m) != TK_OK;
    built_ins_destroy(m);
    return wrong;
}
