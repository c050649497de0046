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
#include "../distinct.h"
#include "checker.h"

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
        const bool distinct = is_distinct(f) || (adcheck_distinct && adcheck_distinct(f->desc->name));
        for (int64_t j = 0; j < ad_components(f); j++) {
            const int64_t small = distinct ? distinct_number(f, j) : (j * 7 + 3) % 5;
            if (f->desc->elem >= TK_I8 && f->desc->elem <= TK_U64)
                memcpy(ad_component(f, TK_DATA, j), &small, ad_scalar_bytes(f)); /* little-endian */
            else if (f->desc->elem == TK_BOOL)
                *(bool *)ad_component(f, TK_DATA, j) = j * 5 % 3 == 1;
            else if (f->desc->elem == TK_F64 && !ad_in_state(f))
                *(double *)ad_component(f, TK_DATA, j) = lo + (hi - lo) * ad_uniform();
        }
    }
}

typedef struct options {
    bool algorithm, only_values, table, broken; /* what to do; broken is a table, too */
    int first, threads;
    double lo, hi;
} options;

static options options_of(int argc, char **argv)
{
    options o = {.algorithm = argc > 2 && !strcmp(argv[1], "--algorithm"), .only_values = argc == 5 && !strcmp(argv[1], "--values")};
    o.broken = argc == 6 && !strcmp(argv[1], "--broken");
    o.table = o.broken || (argc == 6 && !strcmp(argv[1], "--table"));
    const int range = o.table ? 4 : o.only_values ? 3 : 1;
    o.lo = argc > range + 1 ? atof(argv[range]) : 0.3;
    o.hi = argc > range + 1 ? atof(argv[range + 1]) : 1.2;
    o.first = o.table ? atoi(argv[2]) : 0;
    o.threads = o.table ? atoi(argv[3]) : o.algorithm ? atoi(argv[2]) : 0;
    return o;
}

static void check_tapes(checker *c, const options *o, const state *w)
{
    const tk_module_desc *m = c->m->desc;
    for (int validate = 0; validate <= TK_TAPE_VALIDATE; validate += TK_TAPE_VALIDATE) {
        ad_check_tape(c, NULL, w, (unsigned)validate);
        for (int j = 0; o->table && j < m->nkernels; j += 1 + m->nkernels / 8)
            ad_check_tape(c, &m->kernels[(c->k->index + j) % m->nkernels], w, (unsigned)validate);
    }
}

static void check_random(checker *c, const options *o)
{
    c->x = ad_random_state(c->nfield + ad_tail_size(c), o->lo, o->hi);
    state d = ad_random_state(c->x.n, -1.0, 1.0), w = ad_random_state(c->x.n, -1.0, 1.0);
    c->single = ad_singles(c, &c->x, &d, &w);
    c->planes = w;
    w = ad_only_with_gradient(c, &w, true);
    if (o->broken && (!ad_fits_on_tape(c->k) || ad_is_reported(c, &w)))
        return;
    ad_check_first(c, &d, &w, o->threads);
    if (o->broken)
        return;
    ad_check_second(c, &d, &w);
    check_tapes(c, o, &w);
}

static void check_ties(checker *c, const options *o, int round)
{
    state d = ad_random_direction(c), w = ad_random_direction(c);
    c->planes = w;
    w = ad_only_with_gradient(c, &w, true);
    c->x = ad_state_at_ties(c, &c->x, round, o->lo, o->hi);
    ad_check_at_ties(c, &d, &w, o->threads);
    ad_check_tape(c, NULL, &w, TK_TAPE_VALIDATE);
}

static void check_kernel(checker *c, const options *o)
{
    enum { RANDOM_ROUNDS = 3, TABLE_ROUNDS = 2, TIES_ROUNDS = 3 };
    for (int round = 0; round < (o->table ? TABLE_ROUNDS : RANDOM_ROUNDS); round++)
        check_random(c, o);
    for (int round = 0; round < TIES_ROUNDS && o->table && !o->broken; round++)
        check_ties(c, o, round);
    if (o->table)
        ad_check_guards(c);
}

/* Gives the failures. out: for the values alone. */
static int check_kernels(tk_module *m, const options *o, FILE *out)
{
    int failures = 0, checked = 0;
    for (int k = o->first; k < m->desc->nkernels; k++) {
        if (o->table || o->only_values)
            ad_reseed(424243); /* so that a kernel alone is checked with the same data, none of it equal to the constants */
        checker c = ad_checker(m, &m->desc->kernels[k]);
        c.b = ad_save(m);
        c.table = o->table;
        if (o->only_values)
            put_values(&c, out, k, o->lo, o->hi);
        else
            check_kernel(&c, o);
        ad_restore(m, &c.b);
        failures += c.failures;
        checked += (c.k->grad != NULL) + (c.k->jvp != NULL) + (c.k->hvp != NULL);
        if (o->table) {
            printf("kernel %d %s %s compared %ld skipped %ld inputs %d zero %d taped %ld reported %ld\n", k, c.k->name, c.failures ? "FAILED" : "ok", c.compared,
                   c.skipped, c.inputs, c.zero, c.taped, c.reported);
            fflush(stdout);
        }
    }
    if (checked || o->table || o->only_values)
        return failures;
    printf("no derivative to check\n");
    return failures + 1;
}

int main(int argc, char **argv)
{
    const options o = options_of(argc, argv);
    tk_session_options how = tk_session_defaults();
    how.threads = 1;
    how.on_print = ad_count_print;
    tk_session *s = tk_session_create(&how);
    tk_module *m = s ? adcheck_create(s) : NULL;
    if (!m) {
        printf("%s\n", tk_error());
        return 2;
    }
    if (o.algorithm && (!addata_parse || !addata_parse(argc - 3, argv + 3)))
        return 2;
    if (o.table && adcheck_bind)
        ad_bind_guarded(m);
    fill_rest(m, o.lo, o.hi);
    FILE *out = o.only_values ? fopen(argv[2], "wb") : NULL;
    if (o.only_values && !out)
        return 2;
    const int failures = o.algorithm ? ad_check_algorithm(m, o.threads) : check_kernels(m, &o, out);
    if (out && fclose(out) != 0)
        return 2;
    adcheck_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
