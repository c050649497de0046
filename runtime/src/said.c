/* What functions of the host do, held against their footprints, in sessions with modules built with --debug.
 *
 * Data of such modules are copied before a function and compared behind it: elements that changed stand in lines that
 * say so. Launches inside of it are taken out: the copy follows them. On a validated tape all floats that backward does
 * not need are NaN while it runs, and come out in gradients if it reads them.
 */
#include "rt.h"

struct rt_copy {
    struct rt_copy *next;
    tk_field *field;
    unsigned char *now;   /* data as they are expected, dense; room for one more copy behind */
    unsigned char *first; /* as backward found them; NULL: not poisoned */
};

static void drop(tk_session *s, rt_said *w)
{
    for (struct rt_copy *c = w->copies, *next; c; c = next) {
        next = c->next;
        tk_rt_free(s, c->now);
        tk_rt_free(s, c->first);
        tk_rt_free(s, c);
    }
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

static bool add_copy(tk_session *s, rt_said *w, tk_field *f)
{
    const size_t bytes = tk_field_bytes(f);
    struct rt_copy *c = tk_rt_alloc(s, sizeof *c, true);
    if (!c)
        return false;
    *c = (struct rt_copy){.next = w->copies, .field = f};
    w->copies = c;
    c->now = tk_rt_alloc(s, 2 * bytes + 1, false);
    c->first = c->now && w->poisons && tk_rt_is_float(f) ? tk_rt_alloc(s, bytes + 1, false) : NULL;
    if (!c->now || (!c->first && w->poisons && tk_rt_is_float(f)))
        return false;
    tk_rt_plane_read(f, TK_DATA, c->now);
    if (c->first)
        memcpy(c->first, c->now, bytes);
    return true;
}

static bool copy_all(tk_session *s, rt_said *w)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; m->desc->nsites > 0 && i < m->desc->nfields; i++)
            if (tk_rt_scalars(&m->fields[i]) > 0 && !add_copy(s, w, &m->fields[i]))
                return false;
    return true;
}

static void compare(tk_session *s, const rt_said *w)
{
    for (struct rt_copy *c = w->copies; c; c = c->next) {
        const tk_field *f = c->field;
        const size_t bytes = tk_field_bytes(f), size = tk_rt_scalar_bytes(f->desc->elem);
        unsigned char *now = c->now + bytes;
        tk_rt_plane_read(f, TK_DATA, now);
        for (size_t k = 0; memcmp(now, c->now, bytes) != 0 && k < bytes / size; k++) {
            const int64_t element = (int64_t)k / f->desc->ncomp, number = (int64_t)k % f->desc->ncomp;
            if (memcmp(now + k * size, c->now + k * size, size) == 0 ||
                (!w->back && is_said(w, f, element, TK_STORES | TK_ACCUMULATES)))
                continue;
            tk_fail(s, TK_BAD_ARGUMENT,
                    "the %sfunction '%s' of the host changes '%s', which its footprint does not say",
                    w->back ? "backward " : "", tk_rt_call_name(w->call),
                    tk_rt_element_text(f, TK_DATA, tk_rt_number(f, element, number)).s);
            return;
        }
    }
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
    for (struct rt_copy *c = w->copies; c; c = c->next) {
        for (int64_t k = 0; c->first && k < (int64_t)tk_rt_scalars(c->field); k++) {
            int64_t number;
            if (!is_said(w, c->field, tk_rt_element(c->field, k, &number), TK_NEEDED))
                tk_rt_scalar_set(c->field, TK_DATA, k, NAN);
        }
        tk_rt_plane_read(c->field, TK_DATA, c->now);
    }
}

static void check_gradients(tk_session *s, const rt_said *w)
{
    const tk_field *f;
    int64_t at;
    tk_rt_changes_put_back(s); /* what launches changed, NaN among them */
    for (const struct rt_copy *c = w->copies; c; c = c->next)
        if (c->first)
            tk_rt_plane_write(c->field, TK_DATA, c->first);
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
    if (!copy_all(s, &s->said))
        tk_fail(s, TK_NO_MEMORY, "out of memory for holding the function '%s' of the host against its footprint",
                tk_rt_call_name(c));
    else if (s->said.poisons)
        poison(&s->said);
}

void tk_rt_said_end(tk_session *s)
{
    if (s->said.call && tk_session_status(s) == TK_OK)
        compare(s, &s->said);
    if (s->said.back)
        check_gradients(s, &s->said);
    drop(s, &s->said);
}

void tk_rt_said_launch(tk_session *s)
{
    compare(s, &s->said);
}

void tk_rt_said_launched(tk_session *s)
{
    for (struct rt_copy *c = s->said.copies; c; c = c->next)
        tk_rt_plane_read(c->field, TK_DATA, c->now);
}

void tk_rt_said_forget(tk_session *s, const tk_module *m)
{
    for (struct rt_copy **at = &s->said.copies, *c = *at; c; c = *at)
        if (c->field->module == m) {
            *at = c->next;
            tk_rt_free(s, c->now);
            tk_rt_free(s, c->first);
            tk_rt_free(s, c);
        } else {
            at = &c->next;
        }
}
