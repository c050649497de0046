#include "nonfinite.h"
#include "host.h"

#include <tkc/tkc_gen.h>

static void reset(nonfinite *m)
{
    for (int i = 0; i < 4; i++) {
        m->x.data[i] = 1;
        m->y.data[i][0] = m->y.data[i][1] = 1;
        m->table.data[i] = 1;
        for (int k = 0; k < 9; k++)
            m->A.data[i][k / 3][k % 3] = (k % 4 == 0) * (1 + k / 4) + (k == 1) * 0.125f;
    }
    m->loss.data[0] = 0;
    tk_session_clear_error(tk_module_session(&m->tk));
}

/* Only code compiled with --debug stops. */
static void expect(nonfinite *m, const char *what, const char *message)
{
    const bool debug = m->tk.desc->nsites > 0;
    const tk_status want = debug && message ? TK_NOT_FINITE : TK_OK;
    if (nonfinite_status(m) != want || (debug && message && !strstr(nonfinite_error(m), message)))
        FAIL("%s: %s '%s'", what, tk_status_name(nonfinite_status(m)), nonfinite_error(m));
    reset(m);
}

static void primals(nonfinite *m)
{
    nonfinite_in_kernel(m);
    nonfinite_by_function(m);
    nonfinite_in_function(m);
    nonfinite_in_a_sum(m);
    expect(m, "all finite", NULL);
    m->x.data[2] = 0;
    nonfinite_in_kernel(m);
    expect(m, "in a kernel",
           "nonfinite.tk:23:35: 'y[2] component 1' is infinite from here on, in the kernel 'in_kernel'");
    m->x.data[1] = 0;
    nonfinite_by_function(m);
    expect(m, "by a function", "'y[1] component 0' is minus infinite from here on, in the kernel 'by_function'");
    m->x.data[3] = -1;
    nonfinite_in_function(m);
    expect(m, "in a function",
           "nonfinite.tk:19:5: 'y[3] component 0' is NaN from here on, in the kernel 'in_function'");
    m->x.data[3] = 1000;
    nonfinite_in_a_sum(m);
    expect(m, "in a sum", "'loss' is infinite from here on, in the kernel 'in_a_sum'");
    m->table.data[1] = NAN;
    nonfinite_from_table(m);
    expect(m, "by the host", "'table[1]' is NaN when it is read, put there by the host, in the kernel 'from_table'");
}

static void adjoints(nonfinite *m)
{
    m->x.data[3] = 0;
    TK_TAPE(m, m->loss) nonfinite_roots(m);
    expect(m, "adjoint", "'x.grad[3]' is infinite from here on, in the adjoint of kernel 'roots'");
    m->x.data[2] = 0;
    TK_TAPE(m, m->loss) nonfinite_powers(m);
    expect(m, "adjoint in a kernel",
           "nonfinite.tk:28:39: 'x.grad[2]' is infinite from here on, in the adjoint of kernel 'powers'");
    m->x.data[2] = 0; /* finite on the way forward; the square root's derivative is not */
    TK_TAPE(m, m->loss)
    {
        nonfinite_inside(m);
        nonfinite_heads(m);
    }
    expect(m, "adjoint of a function",
           "nonfinite.tk:16:13: 'x.grad[2]' is infinite from here on, in the adjoint of kernel 'inside'");
    m->y.grad[1][1] = INFINITY;
    m->x.data[1] = 2;
    nonfinite_in_kernel_grad(m);
    expect(m, "a seed of the host", "'x.grad[1]' is minus infinite from here on, in the adjoint of kernel 'in_kernel'");
}

/* Two values of element 1 are equal, or two of element 2 zero. */
static void vectors(nonfinite *m)
{
    for (int equal = 0; equal < 3; equal++) {
        tk_status (*const kernels[])(nonfinite *) = {nonfinite_alone, nonfinite_eigenvectors, nonfinite_singular,
                                                     nonfinite_rotated, nonfinite_turned};
        const char *const messages[] = {"values alone",
                                        "nonfinite.tk:38:49: eigenvalues are equal where a derivative of their vectors "
                                        "is taken, in the adjoint of kernel 'eigenvectors'",
                                        "nonfinite.tk:39:48: singular values are equal where a derivative of their "
                                        "vectors is taken, in the adjoint of kernel 'singular'",
                                        "nonfinite.tk:40:47: singular values are equal where",
                                        "nonfinite.tk:42:46: singular values are equal where"};
        for (int k = 0; k < 5; k++) {
            for (int i = 0; i < 9 && equal == 1; i++)
                m->A.data[1][i / 3][i % 3] = i % 4 == 0 ? 2 : 0;
            for (int i = 0; i < 9 && equal == 2 && k != 0; i++)
                m->A.data[2][i / 3][i % 3] = i == 0;
            const bool none = equal == 1 ? k > 0 && k < 4 : equal == 2 && k > 2;
            TK_TAPE(m, m->loss) kernels[k](m);
            expect(m, messages[k], none ? messages[k] : NULL);
        }
    }
}

int main(void)
{
    nonfinite *m = nonfinite_create(NULL, NULL);
    if (!m)
        return 1;
    reset(m);
    m->x.data[2] = 0;
    nonfinite_in_kernel(m);
    reset(m); /* not asked for: nobody looks */
    tk_session_stop_at_nonfinite(tk_module_session(&m->tk), true);
    primals(m);
    adjoints(m);
    vectors(m);
    nonfinite_destroy(m);
    return failures != 0;
}
