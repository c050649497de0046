#include "custom_needs.h"
#include "host.h"

#include <tkc/tkc_gen.h>

enum { N = 8 };

typedef tk_status (*kernel_fn)(custom_needs *, int32_t);
static const struct {
    const char *name;
    kernel_fn run;
    int n, lo, hi;
    bool keeps; /* what is spoiled is needed, and kept or refused */
} cases[] = {
    {"all again", custom_needs_part, N, 0, N, false},
    {"a part again, and spoiled", custom_needs_part, 3, 0, 3, true},
    {"a part again, the rest spoiled", custom_needs_part, 3, 4, 6, true},
    {"a part again, and more spoiled", custom_needs_part, 3, 2, 4, true},
    {"none again", custom_needs_part, 0, 0, 1, true},
    {"under a condition", custom_needs_under, 1, 0, N, false},
    {"under a condition that fails", custom_needs_under, 0, 2, 4, true},
    {"under a condition inside", custom_needs_inside, 1, 0, N, false},
    {"under a condition inside that fails", custom_needs_inside, 0, 2, 4, true},
    {"one of two components", custom_needs_half, 0, 2, 4, true},
    {"stored behind", custom_needs_behind, 0, 2, 4, true},
    {"stored by a later iteration", custom_needs_later, 0, N - 1, N, true},
    {"what an atomic found", custom_needs_counted, 0, 2, 4, true},
    {"a single element", custom_needs_single, 1, 0, 0, true}, /* the condition is not held against an element without subscripts */
    {"a single element, under a condition that fails", custom_needs_single, 0, 0, 0, true},
};
enum { LEN = sizeof cases / sizeof *cases };

/* Gradients of g, pair and one; the bytes of the tape. */
static tk_status play(custom_needs *m, int k, bool spoil, unsigned flags, double got[3 * N + 1], size_t *bytes)
{
    for (int i = 0; i < N; i++)
        m->x.data[i] = 0.5 + 0.25 * i;
    custom_needs_start(m);
    tk_tape_begin(m->loss.field, flags);
    cases[k].run(m, cases[k].n);
    if (spoil)
        custom_needs_spoil(m, cases[k].lo, cases[k].hi);
    custom_needs_total(m);
    const tk_status st = tk_tape_end(m->loss.field);
    *bytes = tk_tape_bytes(tk_module_session(&m->tk));
    memcpy(got, m->g.grad, N * sizeof *got);
    memcpy(got + N, m->pair.grad, 2 * N * sizeof *got);
    got[3 * N] = m->one.grad[0];
    return st;
}

int main(void)
{
    custom_needs *m = custom_needs_create(NULL, NULL);
    if (!m)
        return 1;
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < LEN; k++) {
            double want[3 * N + 1], got[3 * N + 1];
            size_t least, bytes;
            const unsigned flags = f && m->tk.desc->nsites > 0 ? TK_TAPE_VALIDATE : 0;
            CHECK_OK(m, play(m, k, false, flags, want, &least));
            const tk_status st = play(m, k, true, flags, got, &bytes);
            if (st != TK_OK && !(st == TK_OVERWRITTEN && cases[k].keeps))
                FAIL("%s: %s", cases[k].name, custom_needs_error(m));
            if (st == TK_OK && memcmp(got, want, sizeof got) != 0)
                FAIL("%s: wrong gradients", cases[k].name);
            if (st == TK_OK && !cases[k].keeps && bytes > least + 200)
                FAIL("%s: %zu bytes are kept", cases[k].name, bytes - least);
            tk_session_clear_error(tk_module_session(&m->tk));
        }
    custom_needs_destroy(m);
    return failures != 0;
}
