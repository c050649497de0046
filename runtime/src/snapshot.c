/* The data of all fields, and which random numbers come next, kept and put back: what lets a program run again on the
 * same state. */
#include "params.h"
#include "states.h"

rt_snapshot tk_rt_snapshot_take(tk_session *s)
{
    rt_snapshot snapshot = {s, NULL, s->opt.seed, s->draws};
    if (s->in_program) {
        tk_fail(s, TK_BAD_STATE, "a gradient check or Jacobian is running in this session already");
        return snapshot;
    }
    size_t bytes = 0;
    for (const tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++) {
            if (tk_rt_has_tangents_of(&m->fields[i]))
                continue;
            tk_rt_state_want(&m->fields[i], TK_DATA, NULL, 0);
            bytes += tk_field_bytes(&m->fields[i]);
        }
    snapshot.data = tk_rt_state_take(s, NULL);
    s->in_program = snapshot.data != NULL;
    if (!snapshot.data)
        tk_fail(s, TK_NO_MEMORY, "out of memory for a copy of all fields (%zu bytes)", bytes);
    return snapshot;
}

void tk_rt_snapshot_restore(const rt_snapshot *snapshot)
{
    snapshot->session->opt.seed = snapshot->seed;
    snapshot->session->draws = snapshot->draws;
    tk_rt_state_restore(snapshot->data, 0);
    tk_rt_params_restore(snapshot->session);
}

void tk_rt_snapshot_run(const rt_snapshot *snapshot, tk_program_fn run, void *user)
{
    RT_PAUSE(snapshot->session);
    run(user);
}

void tk_rt_snapshot_free(rt_snapshot *snapshot)
{
    if (!snapshot->data)
        return;
    snapshot->session->in_program = false;
    tk_rt_states_free(snapshot->session, &snapshot->data);
    tk_rt_params_free(snapshot->session);
}

double tk_rt_scalar_get(const tk_field *f, tk_plane plane, int64_t component)
{
    const void *p = tk_rt_component(f, plane, component);
    return f->desc->elem == TK_F32 ? (double)tk_load_f32(p) : tk_load_f64(p);
}

void tk_rt_scalar_set(tk_field *f, tk_plane plane, int64_t component, double value)
{
    void *p = tk_rt_component(f, plane, component);
    if (f->desc->elem == TK_F32)
        tk_store_f32(p, (float)value);
    else
        tk_store_f64(p, value);
}
