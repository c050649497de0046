/* A kernel's launch, adjoint, JVP and second-order product, as maps from state to state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"

static long prints;

void ad_count_print(void *user, const char *text)
{
    (void)user;
    (void)text;
    prints++;
}

void ad_need(checker *c, tk_status s)
{
    if (s == TK_OK)
        return;
    printf("%s: %s: %s\n", c->k->name, tk_status_name(s), tk_session_error(c->m->session));
    exit(1);
}

/* Planes that derivatives do not need are memory. Where gradients have a tangent, a JVP takes and a difference follows it, as those of the state. */
static void set_planes(checker *c, const state *d, double h)
{
    if (!c->k->jvp)
        ad_copy(c->m, TK_DUAL, &c->planes, false);
    if (c->k->grad)
        return;
    state at = ad_make(c->nfield);
    int64_t n = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; ad_in_state(f) && j < ad_components(f); j++, n++) {
            at.at[n] = c->planes.at[n];
            if (!(f->desc->flags & TK_FIELD_GRAD_DUAL) || f->desc->elem != TK_F64)
                continue;
            at.at[n] += h * d->at[n];
            *(double *)ad_component(f, TK_GRAD_DUAL, j) = d->at[n];
        }
    }
    ad_copy(c->m, TK_GRAD, &at, false);
}

state ad_primal_at(checker *c, const state *d, double h)
{
    state y = ad_make(c->x.n);
    for (int64_t i = 0; i < y.n; i++)
        y.at[i] = h == 0.0 ? c->x.at[i] : c->x.at[i] + h * d->at[i]; /* -0 stays -0 */
    const arguments args = ad_fill_arguments(c, &y, NULL);
    ad_restore(c->m, &c->b);
    set_planes(c, d, h);
    ad_copy(c->m, TK_DATA, &y, false);
    ad_set_tail(c, TK_DATA, &y);
    ad_need(c, tk_session_set_seed(c->m->session, 7)); /* each launch draws the same random numbers */
    ad_need(c, tk_launch(c->m, c->k, args.at));
    ad_copy(c->m, TK_DATA, &y, true);
    ad_take_tail(c, TK_DATA, &y);
    return y;
}

/* Data and duals are after an adjoint what they were before it, saved fields as well, whose old values it works on. */
static void check_kept(checker *c, const char *what, backup *before)
{
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        const bool data = !memcmp(f->plane[TK_DATA], before->at[i], ad_bytes(f)), dual = !before->dual[i] || !memcmp(f->plane[TK_DUAL], before->dual[i], ad_bytes(f));
        if ((data && dual) || f->member || (f->desc->flags & TK_FIELD_SCRATCH)) /* the bytes of a member are those of its neighbours, too */
            continue;
        c->failures++;
        printf("%s: %s changed the %s of '%s'\n", c->k->name, what, data ? "dual" : "data", f->desc->name);
    }
    ad_drop(c->m, before);
}

state ad_gradient_at(checker *c, const state *d, double h, const state *w)
{
    arguments out = {{0}};
    state x = ad_make(c->x.n);
    for (int64_t i = 0; i < x.n; i++)
        x.at[i] = c->x.at[i] + h * d->at[i];
    const arguments args = ad_fill_arguments(c, &x, NULL);
    state y = ad_primal_at(c, d, h);
    ad_copy(c->m, TK_GRAD, (state *)w, false);
    ad_set_tail(c, TK_GRAD, w);
    const long printed = prints;
    backup before = ad_save(c->m);
    ad_need(c, tk_launch_grad(c->m, c->k, args.at, out.at));
    check_kept(c, "the adjoint", &before);
    if (prints != printed) {
        c->failures++;
        printf("%s: the adjoint prints\n", c->k->name);
    }
    ad_copy(c->m, TK_GRAD, &y, true);
    ad_take_gradients(c, &out, false, &y);
    return y;
}

state ad_jvp(checker *c, const state *d)
{
    const arguments args = ad_fill_arguments(c, &c->x, d);
    state y = ad_make(c->x.n);
    ad_restore(c->m, &c->b);
    set_planes(c, d, 0.0);
    ad_copy(c->m, TK_DATA, &c->x, false);
    ad_copy(c->m, TK_DUAL, (state *)d, false);
    ad_set_tail(c, TK_DATA, &c->x);
    ad_set_tail(c, TK_DUAL, d);
    ad_need(c, tk_session_set_seed(c->m->session, 7));
    ad_need(c, tk_launch_jvp(c->m, c->k, args.at));
    ad_copy(c->m, TK_DUAL, &y, true);
    ad_take_tail(c, TK_DUAL, &y);
    return y;
}

state ad_second_order(checker *c, const state *d, const state *w, state *g)
{
    const arguments args = ad_fill_arguments(c, &c->x, d);
    arguments out = {{0}};
    state zero = ad_make(c->x.n), got = ad_make(c->x.n);
    *g = ad_make(c->x.n);
    ad_need(c, tk_module_need_grad_dual(c->m));
    ad_jvp(c, d);
    ad_copy(c->m, TK_GRAD, (state *)w, false);
    ad_copy(c->m, TK_GRAD_DUAL, &zero, false);
    ad_set_tail(c, TK_GRAD, w);
    ad_set_tail(c, TK_GRAD_DUAL, &zero);
    backup before = ad_save(c->m);
    ad_need(c, tk_launch_hvp(c->m, c->k, args.at, out.at));
    check_kept(c, "the second-order product", &before);
    ad_copy(c->m, TK_GRAD, g, true);
    ad_take_gradients(c, &out, false, g);
    ad_copy(c->m, TK_GRAD_DUAL, &got, true);
    ad_take_gradients(c, &out, true, &got);
    return got;
}

state ad_second_product(checker *c, const state *d, const state *w)
{
    state g;
    return ad_second_order(c, d, w, &g);
}
