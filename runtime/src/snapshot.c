/* The data of all fields, kept and put back: what lets a program run again on the same state. */
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
            if (n > 0 && put_back)
                memcpy(f->plane[TK_DATA], snapshot, n);
            else if (n > 0)
                memcpy(snapshot, f->plane[TK_DATA], n);
            snapshot += n;
        }
    }
}

void *rt_snapshot_take(tk_session *s)
{
    const size_t n = data_bytes(s);
    void *snapshot = rt_alloc(s, n ? n : 1, false);
    if (!snapshot)
        tk_fail(s, TK_NO_MEMORY, "out of memory for a copy of all fields (%zu bytes)", n);
    else
        copy_all(s, snapshot, false);
    return snapshot;
}

void rt_snapshot_restore(tk_session *s, const void *snapshot)
{
    copy_all(s, (unsigned char *)snapshot, true);
}

double rt_scalar_get(const tk_field *f, tk_plane plane, int64_t component)
{
    return f->desc->elem == TK_F32 ? (double)((const float *)f->plane[plane])[component] : ((const double *)f->plane[plane])[component];
}

void rt_scalar_set(tk_field *f, tk_plane plane, int64_t component, double value)
{
    if (f->desc->elem == TK_F32)
        ((float *)f->plane[plane])[component] = (float)value;
    else
        ((double *)f->plane[plane])[component] = value;
}
