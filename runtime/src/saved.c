/* Saved fields: copies of what launches overwrite, and their way back. compiler/passes/derive/reverse/plan/saved.c has
 * the other half of the scheme. */
#include "rt.h"

enum { LINE = 64 };

static size_t round_line(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

static bool is_kept(const tk_module *m, const tk_part *a, bool on_tape)
{
    return (a->what & TK_BEFORE_WANTED) != 0 || (on_tape && (a->what & TK_SAVED) != 0 && m->fields[a->field].current);
}

/* What a copy of a field takes: its data, and with duals these behind it. */
static size_t copy_size(const tk_field *f, bool duals)
{
    const size_t bytes = round_line(tk_field_bytes(f));
    return duals && f->plane[TK_DUAL] ? 2 * bytes : bytes;
}

static void copy_in(const tk_field *f, unsigned char *copy, bool duals)
{
    tk_rt_plane_read(f, TK_DATA, copy);
    if (duals && f->plane[TK_DUAL])
        tk_rt_plane_read(f, TK_DUAL, copy + round_line(tk_field_bytes(f)));
}

static void copy_out(const tk_field *f, const unsigned char *copy, bool duals)
{
    tk_rt_plane_write(f, TK_DATA, copy);
    if (duals && f->plane[TK_DUAL])
        tk_rt_plane_write(f, TK_DUAL, copy + round_line(tk_field_bytes(f)));
}

/* Bytes of the block, or 0 where nothing is to be kept; SIZE_MAX if they cannot be counted. */
static size_t block_size(const tk_module *m, const tk_kernel *k, bool on_tape, bool duals)
{
    const size_t head = round_line((size_t)k->nparts * sizeof(size_t));
    size_t size = head;
    bool any = false;
    for (int i = 0; i < k->nparts; i++) {
        if (!is_kept(m, &k->parts[i], on_tape))
            continue;
        const size_t bytes = copy_size(&m->fields[k->parts[i].field], duals);
        if (bytes > SIZE_MAX / 4 - size)
            return SIZE_MAX;
        size += bytes;
        any = true;
    }
    return any ? size : 0;
}

static unsigned char *copy_of(size_t *block, int i)
{
    return (unsigned char *)block + block[i];
}

tk_status tk_rt_saved_keep(tk_module *m, const tk_kernel *k, tk_record *rec, bool on_tape, bool duals)
{
    tk_session *s = m->session;
    if (!k->saves)
        return TK_OK;
    const size_t size = block_size(m, k, on_tape, duals);
    if (rec->before_size != size)
        tk_rt_saved_free(s, rec);
    rec->duals = duals;
    if (size == 0)
        return TK_OK;
    if (!rec->before) {
        rec->before = size == SIZE_MAX ? NULL : tk_rt_alloc(s, size, false);
        if (!rec->before)
            return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields that kernel '%s' overwrites", k->name);
        rec->before_size = size;
    }
    size_t at = round_line((size_t)k->nparts * sizeof(size_t));
    for (int i = 0; i < k->nparts; i++) {
        const tk_field *f = &m->fields[k->parts[i].field];
        rec->before[i] = 0;
        if (!is_kept(m, &k->parts[i], on_tape))
            continue;
        rec->before[i] = at;
        copy_in(f, copy_of(rec->before, i), duals);
        at += copy_size(f, duals);
    }
    return TK_OK;
}

void tk_rt_saved_free(tk_session *s, tk_record *rec)
{
    tk_rt_free(s, rec->before);
    rec->before = NULL;
    rec->before_size = 0;
}

void tk_rt_saved_begin(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            m->fields[i].current = false;
}

/* A state that no adjoint reads is not kept when it is overwritten: a field that is cleared and then filled costs one
 * copy, not two. */
void tk_rt_saved_launched(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; k->saves && i < k->nparts; i++) {
        const tk_part *a = &k->parts[i];
        bool *current = &m->fields[a->field].current;
        if ((m->fields[a->field].desc->flags & TK_FIELD_SAVED) == 0 || a->plane != TK_DATA)
            continue;
        if ((a->what & RT_WRITES) != 0)
            *current = false;
        if (k->grad && (a->what & TK_NEEDED) != 0 && (tk_rt_touches(k, a->field) & TK_BEFORE_WANTED) == 0)
            *current = true;
    }
}

void tk_rt_saved_restore(const rt_entry *e, bool wanted)
{
    const tk_kernel *k = e->kernel;
    for (int i = 0; e->record.before && i < k->nparts; i++) {
        const unsigned what = k->parts[i].what;
        const bool first = (what & TK_BEFORE_WANTED) != 0, again = !first || (what & TK_BEFORE_REPLAYED) != 0;
        if (e->record.before[i] != 0 && (wanted ? first : again))
            copy_out(&e->module->fields[k->parts[i].field], copy_of(e->record.before, i), e->record.duals);
    }
}

/* ---- the end of a tape ---- */

static void drop_final(tk_session *s, bool put)
{
    for (tk_module *m = s->modules; m; m = m->next) {
        for (int i = 0; i < m->desc->nfields; i++) {
            tk_field *f = &m->fields[i];
            if (f->kept && put)
                copy_out(f, f->kept, s->tape.kept_duals);
            tk_rt_free(s, f->kept);
            f->kept = NULL;
        }
    }
}

tk_status tk_rt_saved_keep_final(tk_session *s)
{
    s->tape.kept_duals = s->forward.open;
    for (size_t n = 0; n < s->tape.count; n++) {
        const rt_entry *e = &s->tape.entries[n];
        for (int i = 0; e->kernel && e->kernel->saves && i < e->kernel->nparts; i++) {
            const tk_part *a = &e->kernel->parts[i];
            tk_field *f = &e->module->fields[a->field];
            const bool changes = (e->record.before && e->record.before[i] != 0) || (a->what & TK_BEFORE_REPLAYED) != 0;
            if (!changes || f->kept)
                continue;
            const size_t bytes = copy_size(f, s->tape.kept_duals);
            f->kept = tk_rt_alloc(s, bytes ? bytes : LINE, false);
            if (!f->kept) {
                drop_final(s, false);
                return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved field '%s' while a tape is closed",
                               f->desc->name);
            }
            copy_in(f, f->kept, s->tape.kept_duals);
        }
    }
    return TK_OK;
}

void tk_rt_saved_put_final(tk_session *s)
{
    drop_final(s, true);
}

/* ---- adjoints called directly, launches inside functions of the host ---- */

tk_status tk_rt_saved_check_call(tk_module *m, const tk_kernel *k)
{
    const rt_tape *t = &m->session->tape;
    const rt_call *call = tk_rt_tape_call(m->session);
    for (int i = 0; call && i < k->nparts; i++) {
        const tk_part *a = &k->parts[i];
        const tk_field *f = &m->fields[a->field];
        const bool kept = tk_rt_footprint_has(call, f, TK_STORES | TK_ACCUMULATES) &&
                          (!t->replaying || call->nlines < 0);
        if ((a->what & TK_SAVED) != 0 && (t->replaying || f->current) && !kept)
            return tk_fail(m->session, TK_NO_DERIVATIVE,
                           "kernel '%s' overwrites the saved field '%s' inside the function '%s' of the host, whose "
                           "footprint does not say so",
                           k->name, f->desc->name, tk_rt_call_name(call));
    }
    return TK_OK;
}

bool tk_rt_saved_writes(const tk_kernel *k)
{
    for (int i = 0; i < k->nparts; i++)
        if ((k->parts[i].what & TK_SAVED) != 0)
            return true;
    return false;
}

bool tk_rt_saved_lacks(const tk_module *m, const tk_kernel *k, const tk_record *rec, bool duals)
{
    for (int i = 0; i < k->nparts; i++) {
        if ((k->parts[i].what & TK_BEFORE_WANTED) == 0)
            continue;
        if (!rec->before || rec->before[i] == 0 ||
            (duals && !rec->duals && m->fields[k->parts[i].field].plane[TK_DUAL]))
            return true;
    }
    return false;
}

tk_status tk_rt_saved_run(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args, void *out,
                          tk_record *rec)
{
    tk_session *s = m->session;
    if (!rec->before)
        return tk_rt_run(m, k, fn, args, out, rec);
    size_t *now = tk_rt_alloc(s, rec->before_size, false);
    if (!now)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the saved fields that kernel '%s' overwrites", k->name);
    for (int i = 0; i < k->nparts; i++) {
        const tk_field *f = &m->fields[k->parts[i].field];
        if (rec->before[i] == 0)
            continue;
        now[i] = rec->before[i];
        copy_in(f, copy_of(now, i), rec->duals);
        copy_out(f, copy_of(rec->before, i), rec->duals);
    }
    const tk_status st = tk_rt_run(m, k, fn, args, out, rec);
    for (int i = 0; i < k->nparts; i++)
        if (rec->before[i] != 0)
            copy_out(&m->fields[k->parts[i].field], copy_of(now, i), rec->duals);
    tk_rt_free(s, now);
    return st;
}
