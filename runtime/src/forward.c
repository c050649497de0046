/* The forward scope: duals are seeded, and launches carry them along. */
#include "rt.h"

static tk_status check_outputs(tk_session *s, tk_field *const *outputs, int n)
{
    if (n < 1 || !outputs)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_forward_begin: at least one output is needed");
    for (int i = 0; i < n; i++) {
        if (!outputs[i])
            return tk_fail(s, TK_BAD_ARGUMENT, "tk_forward_begin: output %d is NULL", i);
        if (outputs[i]->module->session != s)
            return tk_fail(s, TK_BAD_ARGUMENT, "tk_forward_begin: output '%s' belongs to another session",
                           outputs[i]->desc->name);
        if (!tk_rt_width(outputs[i]))
            return tk_fail(s, TK_NO_DERIVATIVE,
                           "field '%s' cannot be an output of a forward scope: it is not declared needs_dual",
                           outputs[i]->desc->name);
    }
    return TK_OK;
}

static tk_status check_param(tk_session *s, const tk_field *param, const void *seed, size_t count)
{
    const tk_field_desc *d = param->desc;
    if (!tk_rt_is_float(param))
        return tk_fail(s, TK_BAD_ARGUMENT, "field '%s' cannot be the parameter of a forward scope: it holds no floats",
                       d->name);
    if (!tk_rt_width(param))
        return tk_fail(s, TK_NO_DERIVATIVE,
                       "field '%s' cannot be the parameter of a forward scope: it is not declared needs_dual", d->name);
    const bool wide = tk_rt_wide(param, RT_TANGENT) != NULL;
    const size_t needed = tk_rt_scalars(wide ? tk_rt_wide(param, RT_TANGENT) : param);
    if (!seed && (d->ndim != 0 || d->ncomp != 1 || wide))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_forward_begin: field '%s' %s, so it needs a seed", d->name,
                       wide ? "has several directions" : "is no 0-D scalar");
    if (seed ? count != needed : count > 1)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_forward_begin: the seed of field '%s' has %zu values, %zu are needed",
                       d->name, count, needed);
    return TK_OK;
}

tk_status tk_forward_begin(tk_field *const *outputs, int noutputs, tk_field *param, const void *seed, size_t count)
{
    if (!param)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_forward_begin: the parameter is NULL");
    tk_session *s = param->module->session;
    RT_ENTER(s, "tk_forward_begin", TK_BAD_STATE);
    tk_status st = tk_rt_check_closed(s, "opening a forward scope");
    if (st == TK_OK)
        st = check_outputs(s, outputs, noutputs);
    if (st == TK_OK)
        st = check_param(s, param, seed, count);
    if (st != TK_OK)
        return st;
    tk_rt_clear_session(s, RT_TANGENT);
    const float one_f32 = 1.0f;
    const double one_f64 = 1.0;
    if (!seed)
        seed = param->desc->elem == TK_F32 ? (const void *)&one_f32 : (const void *)&one_f64;
    if (tk_rt_wide(param, RT_TANGENT))
        tk_rt_plane_write(tk_rt_wide(param, RT_TANGENT), TK_DATA, seed);
    else
        tk_rt_plane_write(param, RT_TANGENT, seed);
    s->forward = (rt_forward){.open = true, .param = param};
    for (int i = 0; i < noutputs; i++)
        s->forward.is_output = s->forward.is_output || outputs[i] == param;
    return TK_OK;
}

/* Not grad_dual, a result of tapes in the scope. */
static void clear_param(tk_field *param)
{
    tk_field *wide = tk_rt_wide(param, RT_TANGENT);
    tk_rt_clear_plane(wide ? wide : param, wide ? TK_DATA : RT_TANGENT);
}

tk_status tk_forward_end(tk_session *s)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_forward_end: the session is NULL");
    RT_ENTER(s, "tk_forward_end", TK_BAD_STATE);
    tk_status st = tk_rt_check_outside(s, "closing a forward scope");
    if (st != TK_OK)
        return st;
    st = tk_session_status(s);
    if (s->tape.open && s->forward.open)
        return tk_fail(s, TK_BAD_STATE, "tk_forward_end: the tape inside the scope (on field '%s') is still open",
                       s->tape.loss->desc->name);
    if (!s->forward.open)
        return st != TK_OK ? st : tk_fail(s, TK_BAD_STATE, "tk_forward_end: no forward scope is open");
    if (st == TK_OK && s->forward.failed)
        st = tk_fail(
            s, s->forward.failed,
            "tk_forward_end: something failed since the scope was opened (%s, cleared since): duals are incomplete",
            tk_status_name(s->forward.failed));
    if (!s->forward.is_output)
        clear_param(s->forward.param);
    s->forward = (rt_forward){0};
    return st;
}

bool tk_forward_is_open(const tk_session *s)
{
    return s && s->forward.open;
}
