/* Checks the derivatives of every kernel of a module, seen through its descriptor alone:
 *   - the JVP along a random direction against Richardson-extrapolated central differences of the primal,
 *   - reverse against forward, <J v, w> = <v, J^T w>, over the whole state (all float fields with gradient and dual),
 *   - the second-order product, where the kernel has one, against differences of the gradient,
 *   - the same with several threads,
 *   - of code compiled with --debug, that a validated tape gives the same gradient or reports what it cannot know (tapes.c).
 * usage: adcheck [LO HI]   the range that float data are drawn from (default 0.3 1.2); integer fields are filled with 0..4.
 *        adcheck --table FIRST THREADS LO HI   for random programs, from kernel FIRST on: a line for each kernel, components at kinks (where differences of
 *        several steps disagree) are left out and counted; so are the inputs whose gradient is zero. Then, with data at ties (ties.h), that all forms of a kernel decide alike:
 *        integers that a launch and a JVP write, reverse against forward without excuse, the symmetry of second-order products, differences to both sides;
 *        and that nothing was written beside a field
 *        adcheck --broken ...  the same for programs that may break the data-access rule: what a validated tape reports is not compared
 *        adcheck --values FILE LO HI   checks nothing, and writes what the kernels compute from fixed data: random/compare.py compares it between compilers
 *        adcheck --algorithm THREADS LO HI [NAME LO HI]... [random NAME...] [decides NAME...] [within NAME...]   data by the names of fields (addata.c), random and then on lattices, where kinks
 *        are no accident: what slopes to both sides do not tell is left out, but fails where it is all; directions along one field at a time as well
 * Linked with a stub that defines adcheck_create, and adcheck_params where kernels have parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addata.h"
#include "checker.h"

enum { TIES = 3 /* rounds */ };

/* ---- the values alone ---- */

/* Which of a kernel's functions, how many numbers, and the numbers. */
static void put_state(FILE *out, int kernel, int what, const state *s)
{
    const int64_t head[] = {kernel, what, s->n};
    if (fwrite(head, sizeof head, 1, out) != 1 || fwrite(s->at, sizeof *s->at, (size_t)s->n, out) != (size_t)s->n)
        exit(2);
}

static void put_values(checker *c, FILE *out, int kernel, double lo, double hi)
{
    enum { VALUE, GRADIENT, TANGENT, VALUE_OF_JVP, SECOND };
    c->x = ad_random_state(c->nfield + ad_tail_size(c), lo, hi);
    const state d = ad_random_state(c->x.n, -1.0, 1.0), all = ad_random_state(c->x.n, -1.0, 1.0);
    c->planes = all;
    const state w = ad_only_with_gradient(c, &all, true);
    state s = ad_primal_at(c, &d, 0.0);
    put_state(out, kernel, VALUE, &s);
    if (c->k->grad) {
        s = ad_gradient_at(c, &d, 0.0, &w);
        put_state(out, kernel, GRADIENT, &s);
    }
    if (c->k->jvp) {
        s = ad_jvp(c, &d);
        put_state(out, kernel, TANGENT, &s);
        ad_copy(c->m, TK_DATA, &s, true);
        ad_take_tail(c, TK_DATA, &s);
        put_state(out, kernel, VALUE_OF_JVP, &s);
    }
    if (c->k->hvp) {
        s = ad_second_product(c, &d, &w);
        put_state(out, kernel, SECOND, &s);
    }
}

/* ---- all kernels ---- */

/* What is not in the state: tables and constants. */
static void fill_rest(tk_module *m, double lo, double hi)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        for (int64_t j = 0; j < ad_components(f); j++) {
            const int64_t small = (j * 7 + 3) % 5;
            if (f->desc->elem >= TK_I8 && f->desc->elem <= TK_U64)
                memcpy(ad_component(f, TK_DATA, j), &small, ad_scalar_bytes(f)); /* little-endian */
            else if (f->desc->elem == TK_BOOL)
                *(bool *)ad_component(f, TK_DATA, j) = j * 5 % 3 == 1;
            else if (f->desc->elem == TK_F64 && !ad_in_state(f))
                *(double *)ad_component(f, TK_DATA, j) = lo + (hi - lo) * ad_uniform();
        }
    }
}

int main(int argc, char **argv)
{
    const bool algorithm = argc > 2 && !strcmp(argv[1], "--algorithm");
    const bool broken = argc == 6 && !strcmp(argv[1], "--broken"), table = broken || (argc == 6 && !strcmp(argv[1], "--table"));
    const bool only_values = argc == 5 && !strcmp(argv[1], "--values");
    const int range = table ? 4 : only_values ? 3 : 1;
    const double lo = argc > range + 1 ? atof(argv[range]) : 0.3, hi = argc > range + 1 ? atof(argv[range + 1]) : 1.2;
    const int first = table ? atoi(argv[2]) : 0, threads = table ? atoi(argv[3]) : 0, rounds = table ? 2 : 3;
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    o.on_print = ad_count_print;
    tk_session *s = tk_session_create(&o);
    tk_module *m = s ? adcheck_create(s) : NULL;
    if (!m) {
        printf("%s\n", tk_error());
        return 2;
    }
    if (algorithm && (!addata_parse || !addata_parse(argc - 3, argv + 3)))
        return 2;
    if (table && adcheck_bind)
        ad_bind_guarded(m);
    fill_rest(m, lo, hi);
    FILE *out = only_values ? fopen(argv[2], "wb") : NULL;
    if (only_values && !out)
        return 2;
    int failures = algorithm ? ad_check_algorithm(m, atoi(argv[2])) : 0, checked = algorithm;
    for (int k = first; k < m->desc->nkernels && !algorithm; k++) {
        if (table || only_values)
            ad_reseed(424243); /* so that a kernel alone is checked with the same data, none of it equal to the constants */
        checker c = {.m = m, .k = &m->desc->kernels[k], .b = ad_save(m), .nfield = ad_state_size(m), .table = table,
                     .nonzero = ad_new((size_t)m->desc->nfields, sizeof(bool))};
        if (adcheck_params)
            c.params = adcheck_params(c.k->name, &c.nparams);
        if (c.k->args_size > MAX_ARGS || c.k->jvp_args_size > MAX_ARGS)
            return 2;
        c.arrays = ad_make_arrays(m, c.k);
        if (only_values)
            put_values(&c, out, k, lo, hi);
        for (int round = 0; round < rounds && !only_values; round++) {
            c.x = ad_random_state(c.nfield + ad_tail_size(&c), lo, hi);
            state d = ad_random_state(c.x.n, -1.0, 1.0), w = ad_random_state(c.x.n, -1.0, 1.0);
            c.single = ad_singles(&c, &c.x, &d, &w);
            c.planes = w;
            w = ad_only_with_gradient(&c, &w, true);
            if (broken && (!ad_fits_on_tape(c.k) || ad_is_reported(&c, &w)))
                continue;
            ad_check_first(&c, &d, &w, threads);
            if (broken)
                continue;
            ad_check_second(&c, &d, &w);
            for (int validate = 0; validate <= TK_TAPE_VALIDATE; validate += TK_TAPE_VALIDATE) {
                ad_check_tape(&c, NULL, &w, (unsigned)validate);
                for (int j = 0; table && j < m->desc->nkernels; j += 1 + m->desc->nkernels / 8)
                    ad_check_tape(&c, &m->desc->kernels[(k + j) % m->desc->nkernels], &w, (unsigned)validate);
            }
        }
        for (int round = 0; round < TIES && table && !broken; round++) {
            state d = ad_random_direction(&c), w = ad_random_direction(&c);
            c.planes = w;
            w = ad_only_with_gradient(&c, &w, true);
            c.x = ad_state_at_ties(&c, &c.x, round, lo, hi);
            ad_check_at_ties(&c, &d, &w, threads);
            ad_check_tape(&c, NULL, &w, TK_TAPE_VALIDATE);
        }
        if (table)
            ad_check_guards(&c);
        ad_restore(m, &c.b);
        failures += c.failures;
        checked += (c.k->grad != NULL) + (c.k->jvp != NULL) + (c.k->hvp != NULL);
        if (table) {
            printf("kernel %d %s %s compared %ld skipped %ld inputs %d zero %d taped %ld reported %ld\n", k, c.k->name, c.failures ? "FAILED" : "ok", c.compared,
                   c.skipped, c.inputs, c.zero, c.taped, c.reported);
            fflush(stdout);
        }
    }
    if (!checked && !table && !only_values) {
        printf("no derivative to check\n");
        failures++;
    }
    if (out && fclose(out) != 0)
        return 2;
    adcheck_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
