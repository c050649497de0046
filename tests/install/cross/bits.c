/* The bits of results and derivatives, with several threads: the same on every machine. */
#include "bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t hash = 1469598103934665603u;

static void add(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
}

int main(void)
{
    tk_session_options o = tk_session_defaults();
    o.threads = 3;
    o.deterministic = true;
    tk_session *s = tk_session_create(&o);
    bits *m = bits_create(s, NULL);
    if (!m) {
        fprintf(stderr, "%s\n", tk_error());
        return 1;
    }
    for (int i = 0; i < m->params.N; i++)
        m->x.data[i] = (i * 37 % 101 - 50) / 64.0;
    for (int round = 0; round < 20; round++) {
        memset(m->bins.data, 0, 16 * sizeof *m->bins.data);
        TK_TAPE(m, m->loss)
        {
            bits_mix(m);
        }
        add(m->y.data, m->params.N);
        add(m->x.grad, m->params.N);
        add(m->loss.data, 1);
        for (int i = 0; i < m->params.N; i++)
            m->x.data[i] -= 1e-6 * m->x.grad[i];
    }
    bits_say(m);
    const tk_status status = tk_session_status(s);
    fprintf(status == TK_OK ? stdout : stderr, "%016" PRIx64 "\n%s", hash, tk_session_error(s));
    bits_destroy(m);
    tk_session_destroy(s);
    return status != TK_OK;
}
