/* Parameters that change while a tape is open. Each launch keeps the version that it ran with; its adjoint, its boxes
 * and a further run find the module with these. A program that goes to and fro between values takes no memory for that:
 * a version that was there before is found again. */
#include "params.h"

#include "budget.h"

enum { AGAIN = 64 /* versions, of which one is found again */ };

static rt_changed *changed_of(rt_changed *list, const tk_module *m)
{
    while (list && list->module != m)
        list = list->next;
    return list;
}

static const unsigned char *values_of(const rt_version *v, const rt_changed *c)
{
    return v && c->at < v->size ? v->values + c->at : c->first;
}

void tk_rt_params_use(tk_session *s, const rt_version *v)
{
    rt_tape *t = &s->tape;
    if (v == t->in_force)
        return;
    for (const rt_changed *c = t->changed; c; c = c->next)
        if (c->module)
            memcpy(c->own, values_of(v, c), c->size);
    t->in_force = v;
}

static void forget_versions(rt_tape *t)
{
    t->changed = NULL;
    t->versions = NULL;
    t->params = t->in_force = NULL;
}

void tk_rt_params_close(tk_session *s)
{
    tk_rt_params_use(s, s->tape.params);
    forget_versions(&s->tape);
}

void tk_rt_params_forget(const tk_module *m)
{
    rt_changed *c = changed_of(m->session->tape.changed, m);
    if (c)
        c->module = NULL;
}

/* ---- a change on a tape ---- */

/* A change that a module is about to make. */
typedef struct change {
    tk_module *module;
    void *own;
    const void *given;
    size_t size;
} change;

static rt_changed *fill(rt_changed *c, const change *of, rt_changed *next)
{
    if (!c)
        return NULL;
    *c = (rt_changed){.next = next, .module = of->module, .own = of->own, .size = of->size};
    memcpy(c->first, of->own, of->size);
    return c;
}

static bool add_changed(tk_session *s, const change *of)
{
    rt_tape *t = &s->tape;
    rt_changed *c = fill(tk_stack_alloc(&t->args, 1, sizeof *c + of->size), of, t->changed);
    if (!c)
        return false;
    c->at = t->changed ? t->changed->at + t->changed->size : 0;
    t->changed = c;
    tk_rt_tape_count(s, sizeof *c + of->size);
    return true;
}

/* After the change. */
static const void *wanted(const rt_changed *c, const change *of)
{
    return c->module == of->module ? of->given : c->own;
}

static bool is_wanted(const rt_tape *t, const rt_version *v, const change *of)
{
    for (const rt_changed *c = t->changed; c; c = c->next)
        if (c->module && memcmp(values_of(v, c), wanted(c, of), c->size) != 0)
            return false;
    return true;
}

static const rt_version *add_version(tk_session *s, const change *of)
{
    rt_tape *t = &s->tape;
    const size_t size = t->changed->at + t->changed->size;
    rt_version *v = tk_stack_alloc(&t->args, 1, sizeof *v + size);
    if (!v)
        return NULL;
    *v = (rt_version){.before = t->versions, .size = size};
    for (const rt_changed *c = t->changed; c; c = c->next)
        memcpy(v->values + c->at, c->module ? wanted(c, of) : c->first, c->size);
    t->versions = v;
    tk_rt_tape_count(s, sizeof *v + size);
    return v;
}

/* False after failing the session. */
static bool keep_for_tape(tk_session *s, const change *of)
{
    rt_tape *t = &s->tape;
    if (tk_failed(s) || t->failed) { /* no adjoint will run */
        forget_versions(t);
        return true;
    }
    if (memcmp(of->own, of->given, of->size) == 0)
        return true;
    if (!changed_of(t->changed, of->module) && !add_changed(s, of))
        return false;
    const rt_version *v = t->versions;
    for (int i = 0; v && !is_wanted(t, v, of); i++)
        v = i < AGAIN ? v->before : NULL;
    if (!is_wanted(t, v, of) && !(v = add_version(s, of))) /* NULL: as the tape found them */
        return false;
    t->params = t->in_force = v;
    return true;
}

/* ---- programs of gradient checks and Jacobians ---- */

static bool keep_for_program(tk_session *s, const change *of)
{
    if (changed_of(s->tape.of_program, of->module))
        return true;
    rt_changed *c = fill(tk_rt_alloc(s, sizeof *c + of->size, false), of, s->tape.of_program);
    if (!c) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the parameters of module '%s'", of->module->desc->name);
        return false;
    }
    s->tape.of_program = c;
    return true;
}

void tk_rt_params_restore(tk_session *s)
{
    for (const rt_changed *c = s->tape.of_program; c; c = c->next)
        memcpy(c->own, c->first, c->size);
}

void tk_rt_params_free(tk_session *s)
{
    for (rt_changed *c = s->tape.of_program, *next; c; c = next) {
        next = c->next;
        tk_rt_free(s, c);
    }
    s->tape.of_program = NULL;
}

/* ---- the interface ---- */

tk_status tk_module_set_params(tk_module *m, void *own, const void *params, size_t size)
{
    tk_session *s = m->session;
    RT_ENTER(s, "set_params", TK_BAD_STATE);
    const tk_status st = tk_rt_check_idle(s, "changing parameters");
    if (st != TK_OK)
        return st;
    if (s->tape.open && s->in_call)
        return tk_fail(
            s, TK_BAD_STATE,
            "changing parameters of module '%s' is not possible inside a function of tk_call while a tape is "
            "open: change them between launches",
            m->desc->name);
    const change of = {m, own, params, size};
    if ((s->in_program && !keep_for_program(s, &of)) || (s->tape.open && !keep_for_tape(s, &of)))
        return tk_session_status(s);
    memcpy(own, params, size);
    return TK_OK;
}
