/* Modules: creation of fields, and what goes when they go. */
#include "rt.h"

enum { MAX_DIMS = 8, LINE = 64, PAGE = 4096 };

void *tk_module_alloc(tk_session *s, size_t size)
{
    void *m = tk_rt_block_alloc(s ? s->opt.alloc : NULL, s ? s->opt.alloc_user : NULL, size, true);
    if (!m)
        tk_rt_thread_fail(TK_NO_MEMORY, "out of memory for a module");
    return m;
}

void tk_module_free(tk_session *s, void *m, size_t size)
{
    (void)s; /* may be gone already: the memory knows its allocator */
    (void)size;
    tk_rt_block_free(m);
}

tk_session *tk_module_session(tk_module *m)
{
    return m ? m->session : NULL;
}

/* ---- field memory ---- */

/* Where a plane begins behind a page boundary. Large blocks come from the system at the same offset in a page; planes
 * that a kernel walks together would then all fall into the same sets of the first-level cache. */
static size_t stagger(size_t bytes, int field, int plane)
{
    return bytes < 4 * PAGE ? 0 : (size_t)(field * TK_PLANE_COUNT + plane) * 3 * LINE % PAGE;
}

static size_t round_line(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

/* A plane of a memory: those of its fields have it that declare it. */
static void place(tk_field *owner, tk_plane plane, unsigned flag, void *memory)
{
    const int n = tk_rt_sharers(owner);
    for (int k = 0; k < n; k++)
        if (flag == 0 || (owner[k].desc->flags & flag) != 0)
            owner[k].plane[plane] = tk_rt_placed(&owner[k], memory);
}

/* What its fields declare. */
static unsigned flags_of(const tk_field *owner)
{
    unsigned flags = 0;
    const int n = tk_rt_sharers(owner);
    for (int k = 0; k < n; k++)
        flags |= owner[k].desc->flags;
    return flags;
}

/* A plane that the host cannot bind. */
static bool alloc_plane(tk_session *s, tk_field *owner, int plane)
{
    void **own = &owner->own[1 + plane - TK_PLANES_BOUND];
    const size_t bytes = tk_rt_memory_bytes(owner), skip = stagger(bytes, (int)(owner - owner->module->fields), plane);
    *own = tk_rt_alloc(s, skip + (bytes ? bytes : LINE), true);
    if (*own)
        place(owner, (tk_plane)plane, tk_rt_plane_needs(plane), (unsigned char *)*own + skip);
    return *own != NULL;
}

/* Those that may be bound in one block. */
static bool alloc_planes(tk_session *s, tk_field *owner)
{
    const unsigned flags = flags_of(owner);
    const size_t bytes = tk_rt_memory_bytes(owner);
    size_t offset[TK_PLANES_BOUND] = {0}, total = 0;
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        const unsigned needs = tk_rt_plane_needs(p);
        if (needs && !(flags & needs))
            continue;
        offset[p] = total + stagger(bytes, (int)(owner - owner->module->fields), p);
        total = offset[p] + round_line(bytes);
    }
    owner->own[0] = tk_rt_alloc(s, total ? total : LINE, true);
    for (int p = TK_DATA; owner->own[0] && p < TK_PLANES_BOUND; p++)
        place(owner, (tk_plane)p, tk_rt_plane_needs(p), (unsigned char *)owner->own[0] + offset[p]);
    bool ok = owner->own[0] != NULL;
    for (int p = TK_PLANES_BOUND; ok && p < TK_PLANE_COUNT; p++)
        ok = (flags & tk_rt_plane(p)->flag) == 0 || alloc_plane(s, owner, p);
    return ok;
}

static tk_status no_memory(const tk_field *f)
{
    return tk_rt_thread_fail(TK_NO_MEMORY, "out of memory for field '%s' of module '%s' (%zu bytes a plane)",
                             f->desc->name, f->module->desc->name, tk_field_bytes(f));
}

static tk_status init_field(tk_module *m, int index, const int64_t *extents)
{
    tk_field *f = &m->fields[index];
    const tk_field_desc *d = &m->desc->fields[index];
    f->desc = d;
    for (int k = 0; k < d->ndim; k++) {
        if (extents[k] < 0)
            return tk_rt_thread_fail(TK_BAD_ARGUMENT, "extent %d of field '%s' of module '%s' is negative (%lld)", k,
                                     d->name, m->desc->name, (long long)extents[k]);
        f->shape[k] = extents[k];
    }
    return tk_rt_set_shape(f) ? TK_OK
                              : tk_rt_thread_fail(TK_BAD_ARGUMENT, "field '%s' of module '%s' has too many elements",
                                                  d->name, m->desc->name);
}

tk_status tk_module_need_grad_dual(tk_module *m)
{
    if (!m || !m->session)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_module_need_grad_dual: the module is NULL");
    RT_ENTER(m->session, "tk_module_need_grad_dual", TK_BAD_STATE);
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        if (f->plane[RT_ADJOINT] && !f->plane[RT_ADJOINT_TANGENT] &&
            !alloc_plane(m->session, tk_rt_owner(f), RT_ADJOINT_TANGENT))
            return tk_fail(m->session, TK_NO_MEMORY, "out of memory for the gradient's dual of field '%s'",
                           f->desc->name);
    }
    return TK_OK;
}

/* ---- creation ---- */

static tk_status check_interface(const tk_module_desc *d, uint64_t header_hash, int header_interface)
{
    if (d->interface != TK_INTERFACE)
        return tk_rt_thread_fail(TK_MISMATCH,
                                 "module '%s' was generated for interface %d, this libtkc has %d: run tkc again",
                                 d->name, d->interface, TK_INTERFACE);
    if (header_interface != d->interface)
        return tk_rt_thread_fail(TK_MISMATCH,
                                 "module '%s': its header was compiled with tkc.h of interface %d, its code with %d",
                                 d->name, header_interface, d->interface);
    if (header_hash != d->hash)
        return tk_rt_thread_fail(
            TK_MISMATCH,
            "module '%s': its header and its code are from different versions of the .tk file, or were made with other "
            "options (--real, -D): build both again",
            d->name);
    for (int i = 0; i < d->nfields + d->narrays; i++)
        if (d->fields[i].ndim < 0 || d->fields[i].ndim > MAX_DIMS || d->fields[i].ncomp < 1)
            return tk_rt_thread_fail(TK_MISMATCH, "module '%s': field '%s' has a shape that this libtkc does not know",
                                     d->name, d->fields[i].name);
    for (int k = 0; k < d->nkernels; k++)
        if (d->kernels[k].index != k || (d->kernels[k].jvp && d->kernels[k].jvp_args_size < d->kernels[k].args_size))
            return tk_rt_thread_fail(TK_MISMATCH, "module '%s': the descriptor of kernel '%s' is inconsistent", d->name,
                                     d->kernels[k].name);
    return TK_OK;
}

static void free_contents(tk_module *m)
{
    tk_session *s = m->session;
    for (int i = 0; m->fields && i < m->desc->nfields; i++) {
        tk_rt_watch_free(&m->fields[i]);
        for (int k = 0; k < 1 + TK_PLANE_COUNT - TK_PLANES_BOUND; k++)
            tk_rt_free(s, m->fields[i].own[k]);
        tk_rt_free(s, m->fields[i].distinct);
        tk_rt_needs_free(s, &m->fields[i]);
    }
    for (int k = 0; m->last && k < m->desc->nkernels; k++)
        tk_rt_record_free(s, &m->last[k]);
    tk_rt_free(s, m->fields);
    tk_rt_free(s, m->last);
    m->fields = NULL;
    m->last = NULL;
    m->session = NULL;
    tk_rt_session_release(s);
}

static tk_status init_contents(tk_module *m, const int64_t *extents)
{
    const tk_module_desc *d = m->desc;
    m->fields = tk_rt_alloc(m->session, ((size_t)d->nfields + (size_t)d->narrays) * sizeof *m->fields, true);
    m->last = tk_rt_alloc(m->session, (size_t)d->nkernels * sizeof *m->last, true);
    if (!m->fields || !m->last)
        return tk_rt_thread_fail(TK_NO_MEMORY, "out of memory for module '%s'", d->name);
    tk_rt_set_members(m);
    const int64_t *own = extents;
    for (int i = 0; i < d->nfields; i++) {
        m->fields[i].module = m;
        const bool begins = tk_rt_owner(&m->fields[i]) == &m->fields[i]; /* the others have its extents */
        if (begins)
            own = extents;
        const tk_status st = init_field(m, i, own);
        if (st != TK_OK)
            return st;
        if (begins)
            extents += d->fields[i].ndim;
    }
    for (int i = d->nfields; i < d->nfields + d->narrays; i++) {
        m->fields[i].desc = &d->fields[i];
        m->fields[i].module = m;
    }
    for (int i = 0; i < d->nfields; i++)
        if (tk_rt_owner(&m->fields[i]) == &m->fields[i] && !alloc_planes(m->session, &m->fields[i]))
            return no_memory(&m->fields[i]);
    return TK_OK;
}

tk_status tk_module_init(tk_module *m, tk_session *s, const tk_module_desc *desc, const int64_t *extents,
                         uint64_t header_hash, int header_interface)
{
    tk_status st = check_interface(desc, header_hash, header_interface);
    if (st != TK_OK)
        return st;
    if (s && !tk_rt_try_enter(s))
        return tk_rt_thread_fail(TK_BAD_STATE,
                                 "module '%s' was created while another thread was inside a call of its "
                                 "session",
                                 desc->name);
    __attribute__((cleanup(tk_rt_leave), unused)) tk_session *const entered = s;
    if (s && (s->running || s->in_program))
        return tk_rt_thread_fail(TK_BAD_STATE, "module '%s' cannot be created while a %s of its session is running",
                                 desc->name, s->running ? "kernel" : "gradient check or Jacobian");
    memset(m, 0, sizeof *m);
    m->owns_session = !s;
    if (!s)
        s = tk_session_create(NULL);
    if (!s)
        return TK_NO_MEMORY; /* the message is tk_session_create's */
    s->refs++;
    m->session = s;
    m->desc = desc;
    if (m->owns_session)
        tk_session_destroy(s); /* the module's hold is the only one */
    st = init_contents(m, extents);
    if (st != TK_OK) {
        free_contents(m);
        return st;
    }
    m->next = s->modules;
    s->modules = m;
    tk_rt_thread_clear();
    return TK_OK;
}

bool tk_module_done(tk_module *m)
{
    if (!m || !m->session)
        return true;
    RT_ENTER(m->session, m->desc->name, false);
    if (m->session->running || m->session->in_program) {
        tk_fail(m->session, TK_BAD_STATE, "module '%s' cannot be destroyed while a %s of its session is running",
                m->desc->name, m->session->running ? "kernel" : "gradient check or Jacobian");
        return false;
    }
    tk_rt_tape_forget(m);
    for (tk_module **at = &m->session->modules; *at; at = &(*at)->next) {
        if (*at == m) {
            *at = m->next;
            break;
        }
    }
    free_contents(m);
    return true;
}
