/* Algorithms: data by the names of fields, random and then on lattices, where kinks are no accident. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addata.h"
#include "../distinct.h"
#include "checker.h"

static state draw_state(const checker *c, int lattice)
{
    state x = ad_make(c->x.n);
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; ad_in_state(f) && j < ad_components(f); j++)
            x.at[at++] = addata_draw(f->desc->name, lattice, ad_uniform());
    }
    while (at < x.n)
        x.at[at++] = addata_draw(NULL, lattice, ad_uniform());
    return x;
}

static void draw_rest(tk_module *m, int lattice)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        for (int64_t j = 0; j < ad_components(f) && !ad_in_state(f); j++) {
            const long long drawn = addata_draw_integer(f->desc->name, ad_uniform());
            const long long whole = is_distinct(f) ? (long long)distinct_number(f, j) : drawn;
            if (f->desc->elem == TK_BOOL)
                *(bool *)ad_component(f, TK_DATA, j) = ad_uniform() < 0.5;
            else if (ad_is_float(f))
                ad_set_number(ad_component(f, TK_DATA, j), f->desc->elem == TK_F32, addata_draw(f->desc->name, lattice, ad_uniform()));
            else
                memcpy(ad_component(f, TK_DATA, j), &whole, ad_scalar_bytes(f)); /* little-endian */
        }
    }
}

/* At a kink no difference is known, but Hessians are symmetric: of the branch that was taken. */
static void check_symmetry(checker *c, const state *d, const state *e, const state *w)
{
    if (!c->k->hvp)
        return;
    const state a = ad_only_with_gradient(c, d, false), b = ad_only_with_gradient(c, e, false), p = ad_second_product(c, &a, w), q = ad_second_product(c, &b, w);
    ad_compare_numbers(c, "second-order product both ways", ad_dot(&b, &p), ad_dot(&a, &q), ad_norm(&b) * ad_norm(&p) + ad_norm(&a) * ad_norm(&q) + 1e-300);
}

/* Along one field at a time, so that what jumps or has a kink in one does not hide what is smooth in another. */
static void check_along_fields(checker *c, const state *w)
{
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        if (!ad_in_state(f))
            continue;
        state d = ad_make(c->x.n);
        for (int64_t j = 0; j < ad_components(f); j++)
            d.at[at++] = 2.0 * ad_uniform() - 1.0;
        if (!(ad_touches(c->k, i) & TK_READS))
            continue;
        ad_check_first(c, &d, w, 1);
        ad_check_second(c, &d, w);
    }
}

/* One set of data. */
static void check_data(checker *c, int lattice, int threads)
{
    draw_rest(c->m, lattice);
    c->b = ad_save(c->m);
    c->x = draw_state(c, lattice);
    const state d = ad_random_state(c->x.n, -1.0, 1.0), e = ad_random_state(c->x.n, -1.0, 1.0), all = ad_random_state(c->x.n, -1.0, 1.0);
    c->planes = all;
    const state w = ad_only_with_gradient(c, &all, true);
    ad_check_first(c, &d, &w, threads);
    ad_check_second(c, &d, &w);
    check_symmetry(c, &d, &e, &w);
    if (lattice != ADDATA_RANDOM)
        check_along_fields(c, &w);
    ad_restore(c->m, &c->b);
}

static void fail_unless(checker *c, bool holds, const char *what)
{
    if (holds)
        return;
    c->failures++;
    printf("%s: %s: compared %ld, of which %ld tell something, left out %ld\n", c->k->name, what, c->compared, c->telling, c->skipped);
}

/* A kernel that sorts or counts: nothing that it writes has a derivative. */
static bool decides_only(const checker *c)
{
    for (int i = 0; i < c->m->desc->nfields; i++)
        if (ad_in_state(&c->m->fields[i]) && (ad_touches(c->k, i) & (TK_STORES | TK_ACCUMULATES)))
            return false;
    return !c->k->narrays && !c->k->result;
}

int ad_check_algorithm(tk_module *m, int threads)
{
    int failures = 0, checked = 0;
    for (int k = 0; k < m->desc->nkernels; k++) {
        const tk_kernel *kernel = &m->desc->kernels[k];
        if (!kernel->grad || (adcheck_own_adjoint && adcheck_own_adjoint(kernel->name)) || addata_within(kernel->name))
            continue;
        checker c = ad_checker(m, kernel);
        c.table = c.algorithm = true;
        c.x.n = c.nfield + ad_tail_size(&c);
        ad_reseed(424243);
        for (int round = 0; round < 2; round++)
            check_data(&c, ADDATA_RANDOM, threads);
        const bool idle = decides_only(&c);
        fail_unless(&c, idle || (c.telling > 0 && c.skipped < c.compared), "random data say too little");
        if (getenv("ADCHECK_COUNTS"))
            printf("%s: random: compared %ld, telling %ld, left out %ld\n", c.k->name, c.compared, c.telling, c.skipped);
        c.compared = c.skipped = c.telling = 0;
        for (int lattice = 0; lattice < ADDATA_LATTICES; lattice++)
            check_data(&c, lattice, threads);
        fail_unless(&c, idle || c.telling > 0, "data on lattices say nothing");
        fail_unless(&c, idle || c.zero == 0, "an input has no gradient with any data");
        if (getenv("ADCHECK_COUNTS"))
            printf("%s: lattices: compared %ld, telling %ld, left out %ld; inputs %d, without gradient %d\n", c.k->name, c.compared, c.telling, c.skipped, c.inputs, c.zero);
        failures += c.failures;
        checked++;
    }
    if (!checked)
        printf("no derivative to check\n");
    return failures + !checked;
}
