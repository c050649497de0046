/* Tapes, of one kernel or of two: a gradient is right, or what overwrites its needs is reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checker.h"

static tk_field *loss_field(const tk_module *m)
{
    for (int i = 0; i < m->desc->nfields; i++)
        if (ad_in_state(&m->fields[i]) && m->fields[i].desc->ndim == 0 && m->fields[i].desc->ncomp == 1)
            return &m->fields[i];
    return NULL;
}

bool ad_fits_on_tape(const tk_kernel *k)
{
    for (int i = 0; i < k->narrays; i++)
        if (k->arrays[i].what & TK_ARRAY_OUT)
            return false;
    return k->grad && !k->grad_args && !k->result;
}

/* Whether `then` writes to a field that the adjoint of `first` reads. What they do to duals, which kernels without a JVP use, no descriptor tells. */
static bool may_break(const tk_kernel *first, const tk_kernel *then)
{
    if (!first->jvp && !then->jvp)
        return true;
    for (int i = 0; i < first->nparts; i++) {
        const tk_part *read = &first->parts[i];
        if (read->plane == TK_DATA && (read->what & TK_NEEDED) && (ad_touches(then, read->field) & (TK_STORES | TK_ACCUMULATES)))
            return true;
    }
    return false;
}

/* Arguments for a kernel that is not the one being checked. */
static arguments other_arguments(const tk_kernel *k)
{
    arguments a = {{0}};
    int n = 0;
    const adcheck_param *p = adcheck_params ? adcheck_params(k->name, &n) : NULL;
    double halves[MAX_RESULT];
    for (int j = 0; j < MAX_RESULT; j++)
        halves[j] = 0.5;
    for (int i = 0; i < n; i++) {
        if (p[i].ncomp == 0)
            memcpy(a.at + p[i].offset, &p[i].integer, p[i].integer_size);
        else if (!p[i].result)
            ad_put_numbers(a.at + p[i].offset, &p[i], halves);
    }
    return a;
}

static bool same_bits(const state *a, const state *b)
{
    for (int64_t i = 0; i < a->n; i++)
        if (a->at[i] != b->at[i] && !(isnan(a->at[i]) && isnan(b->at[i])))
            return false;
    return true;
}

/* A kernel twice in a row: what a direct call of its adjoint goes by is then of the second launch. */
static bool lost_record(const tk_kernel *k)
{
    bool saved = false;
    for (int i = 0; i < k->nparts; i++)
        saved |= (k->parts[i].what & TK_SAVED) != 0;
    return saved || k->record_size > 0 || k->records || k->draws;
}

/* The gradient of one kernel, or of two in a row, when each adjoint finds the data that its launch left. False if an assert of the second one fails: it
 * holds for data that are drawn, not for what the first one makes of them. */
static bool replayed_gradient(checker *c, const arguments *args, const tk_kernel *then, const arguments *then_args, const state *w, state *g)
{
    arguments out = {{0}};
    *g = ad_make(c->x.n);
    ad_restore(c->m, &c->b);
    ad_copy(c->m, TK_DATA, &c->x, false);
    ad_need(c, tk_session_set_seed(c->m->session, 7));
    ad_need(c, tk_launch(c->m, c->k, args->at));
    const backup between = ad_save(c->m);
    const tk_status s = then ? tk_launch(c->m, then, then_args->at) : TK_OK;
    if (s == TK_ASSERT) {
        tk_session_clear_error(c->m->session);
        return false;
    }
    ad_need(c, s);
    ad_copy(c->m, TK_GRAD, (state *)w, false);
    if (then)
        ad_need(c, tk_launch_grad(c->m, then, then_args->at, out.at));
    ad_restore(c->m, &between);
    ad_need(c, tk_launch_grad(c->m, c->k, args->at, out.at));
    ad_copy(c->m, TK_GRAD, g, true);
    return true;
}

/* validate: TK_TAPE_VALIDATE or 0. */
static tk_status run_tape(checker *c, const arguments *args, const tk_kernel *then, const arguments *then_args, const state *w, unsigned validate)
{
    tk_field *const loss = loss_field(c->m);
    ad_need(c, tk_tape_begin(loss, TK_TAPE_CONTINUE | validate));
    ad_restore(c->m, &c->b);
    ad_copy(c->m, TK_DATA, &c->x, false);
    ad_need(c, tk_session_set_seed(c->m->session, 7));
    tk_launch(c->m, c->k, args->at);
    if (then)
        tk_launch(c->m, then, then_args->at);
    ad_copy(c->m, TK_GRAD, (state *)w, false);
    const double *seed_of_loss = loss->plane[TK_GRAD];
    return tk_tape_end_with(loss, *seed_of_loss);
}

bool ad_is_reported(checker *c, const state *w)
{
    const arguments args = ad_fill_arguments(c, &c->x, NULL);
    ad_set_tail(c, TK_DATA, &c->x);
    const tk_status s = run_tape(c, &args, NULL, NULL, w, TK_TAPE_VALIDATE);
    if (s != TK_OVERWRITTEN)
        ad_need(c, s);
    tk_session_clear_error(c->m->session);
    c->taped += s == TK_OK;
    c->reported += s != TK_OK;
    return s != TK_OK;
}

void ad_check_tape(checker *c, const tk_kernel *then, const state *w, unsigned validate)
{
    if ((validate && !c->m->desc->sites) || !loss_field(c->m) || (adcheck_own_adjoint && adcheck_own_adjoint(c->k->name)) || !ad_fits_on_tape(c->k) || (then && (!ad_fits_on_tape(then) || then->narrays)) ||
        (then == c->k && lost_record(then)))
        return;
    ad_set_tail(c, TK_DATA, &c->x);
    const arguments args = ad_fill_arguments(c, &c->x, NULL), then_args = then ? other_arguments(then) : args;
    state want, got = ad_make(c->x.n);
    if (!replayed_gradient(c, &args, then, &then_args, w, &want))
        return;
    const tk_status s = run_tape(c, &args, then, &then_args, w, validate);
    if (s == TK_OVERWRITTEN && then && may_break(c->k, then)) {
        c->reported++;
        tk_session_clear_error(c->m->session);
        return;
    }
    ad_need(c, s);
    ad_copy(c->m, TK_GRAD, &got, true);
    c->taped++;
    if (same_bits(&got, &want))
        return;
    c->failures++;
    printf("%s%s%s: gradient on a %stape is another one, and nothing is reported\n", c->k->name, then ? ", then " : "", then ? then->name : "", validate ? "validated " : "");
}
