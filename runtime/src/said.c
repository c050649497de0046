/* What functions of the host do, held against their footprints, in sessions with modules built with --debug.
 *
 * Data of such modules are copied before a function and compared behind it: elements that changed stand in lines that
 * say so. Launches inside of it are taken out: the copy follows them. On a validated tape all floats that backward does
 * not need are NaN while it runs, and come out in gradients if it reads them.
 */
#include "states.h"

static void drop(tk_session *s, rt_said *w)
{
    tk_rt_states_free(s, &w->expected);
    tk_rt_states_free(s, &w->found);
    *w = (rt_said){0};
}

static bool in_box(const tk_footprint *l, int64_t element)
{
    for (int d = l->field->desc->ndim - 1; l->box && d >= 0; d--) {
        const int64_t i = element % l->field->shape[d];
        element /= l->field->shape[d];
        if (i < l->box[2 * d] || i > l->box[2 * d + 1])
            return false;
    }
    return true;
}

static bool is_said(const rt_said *w, const tk_field *f, int64_t element, unsigned what)
{
    for (int i = 0; i < w->call->nlines; i++) {
        const tk_footprint *l = &w->call->footprint[i];
        if (l->field == f && (l->what & what) != 0 && in_box(l, element))
            return true;
    }
    return false;
}

/* ---- copies ---- */

/* Pieces of fields: the name of one is its number. */
static struct rt_state *take_all(tk_session *s, bool floats)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; m->desc->nsites > 0 && i < m->desc->nfields; i++)
            if ((!floats || tk_rt_is_float(&m->fields[i])) && !tk_rt_has_tangents_of(&m->fields[i]))
                tk_rt_state_want(&m->fields[i], TK_DATA, NULL, (unsigned)i + 1);
    return tk_rt_state_take(s, NULL);
}

static bool check_change(void *ctx, const rt_piece *p, int64_t component, const void *was)
{
    const rt_said *w = ctx;
    int64_t number;
    (void)was;
    if (!w->back && is_said(w, p->field, tk_rt_element(p->field, component, &number), TK_STORES | TK_ACCUMULATES))
        return true;
    tk_fail(p->field->module->session, TK_BAD_ARGUMENT,
            "the %sfunction '%s' of the host changes '%s', which its footprint does not say",
            w->back ? "backward " : "", tk_rt_call_name(w->call), tk_rt_element_text(p->field, TK_DATA, component).s);
    return false;
}

static void compare(rt_said *w)
{
    tk_rt_state_differ(w->expected, check_change, w);
}

/* ---- NaN for what backward does not need ---- */

static bool has_nan(const tk_session *s, const tk_field **of, int64_t *at)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int64_t k = 0; m->fields[i].plane[RT_ADJOINT] && k < (int64_t)tk_rt_scalars(&m->fields[i]); k++)
                if (isnan(tk_rt_scalar_get(&m->fields[i], RT_ADJOINT, k))) {
                    *of = &m->fields[i];
                    *at = k;
                    return true;
                }
    return false;
}

static void poison(const rt_said *w)
{
    for (int i = 0; i < w->found->n; i++) {
        tk_field *f = w->found->piece[i].field;
        for (int64_t k = 0; k < (int64_t)tk_rt_scalars(f); k++) {
            int64_t number;
            if (!is_said(w, f, tk_rt_element(f, k, &number), TK_NEEDED))
                tk_rt_scalar_set(f, TK_DATA, k, NAN);
        }
    }
    tk_rt_state_retake(w->expected);
}

static void check_gradients(tk_session *s, const rt_said *w)
{
    const tk_field *f;
    int64_t at;
    tk_rt_states_put_back(s, &s->tape.scratch); /* what launches changed, NaN among them */
    tk_rt_state_restore(w->found, 0);
    if (w->poisons && tk_session_status(s) == TK_OK && has_nan(s, &f, &at))
        tk_fail(s, TK_BAD_ARGUMENT,
                "the backward function '%s' of the host reads data that its footprint does not say: '%s' is NaN where "
                "data that it does not need are",
                tk_rt_call_name(w->call), tk_rt_element_text(f, RT_ADJOINT, at).s);
}

/* ---- around functions, and launches inside of them ---- */

void tk_rt_said_begin(tk_session *s, const rt_call *c, bool back)
{
    const tk_field *f;
    int64_t at;
    s->said = (rt_said){.call = c, .back = back, .poisons = back && s->tape.validate && !has_nan(s, &f, &at)};
    s->said.expected = take_all(s, false);
    s->said.found = s->said.poisons ? take_all(s, true) : NULL;
    if (!s->said.expected || (s->said.poisons && !s->said.found))
        tk_fail(s, TK_NO_MEMORY, "out of memory for holding the function '%s' of the host against its footprint",
                tk_rt_call_name(c));
    else if (s->said.poisons)
        poison(&s->said);
}

void tk_rt_said_end(tk_session *s)
{
    if (s->said.call && tk_session_status(s) == TK_OK)
        compare(&s->said);
    if (s->said.back)
        check_gradients(s, &s->said);
    drop(s, &s->said);
}

void tk_rt_said_launch(tk_session *s)
{
    compare(&s->said);
}

void tk_rt_said_launched(tk_session *s)
{
    tk_rt_state_retake(s->said.expected);
}

void tk_rt_said_forget(tk_session *s, const tk_module *m)
{
    tk_rt_states_forget(s->said.expected, m);
    tk_rt_states_forget(s->said.found, m);
}
