/* The data of all fields, and which random numbers come next, kept and put back: what lets a program run again on the
 * same state. */
#include "rt.h"

static size_t data_bytes(tk_session *s)
{
    size_t n = 0;
    for (const tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            n += tk_field_bytes(&m->fields[i]);
    return n;
}

/* Copies between the fields and the snapshot. */
static void copy_all(tk_session *s, unsigned char *snapshot, bool put_back)
{
    for (const tk_module *m = s->modules; m; m = m->next) {
        for (int i = 0; i < m->desc->nfields; i++) {
            const tk_field *f = &m->fields[i];
            const size_t n = tk_field_bytes(f);
            if (put_back)
                tk_rt_plane_write(f, TK_DATA, snapshot);
            else
                tk_rt_plane_read(f, TK_DATA, snapshot);
            snapshot += n;
        }
    }
}

rt_snapshot tk_rt_snapshot_take(tk_session *s)
{
    const size_t n = data_bytes(s);
    rt_snapshot snapshot = {s, NULL, s->opt.seed, s->draws};
    if (s->in_program) {
        tk_fail(s, TK_BAD_STATE, "a gradient check or Jacobian is running in this session already");
        return snapshot;
    }
    snapshot.data = tk_rt_alloc(s, n ? n : 1, false);
    if (!snapshot.data) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for a copy of all fields (%zu bytes)", n);
        return snapshot;
    }
    copy_all(s, snapshot.data, false);
    s->in_program = true;
    return snapshot;
}

void tk_rt_snapshot_restore(const rt_snapshot *snapshot)
{
    snapshot->session->opt.seed = snapshot->seed;
    snapshot->session->draws = snapshot->draws;
    copy_all(snapshot->session, snapshot->data, true);
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
    tk_rt_free(snapshot->session, snapshot->data);
    snapshot->data = NULL;
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
