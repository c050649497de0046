/* The module object: descriptors, creation, binding, parameters. */
#include "host/host.h"
#include "host/host_int.h"

#include <string.h>

static void print_field(emitter *e, const ir_field *f)
{
    strbuf flags = {0};
    for (int p = IR_DATA + 1; p < IR_PLANES; p++)
        if (field_has_plane(e->m, f, (ir_plane)p))
            sb_printf(&flags, " | %s", ir_plane_get((ir_plane)p)->flag);
    if (f->saved)
        sb_add(&flags, " | TK_FIELD_SAVED");
    if (f->scratch)
        sb_add(&flags, " | TK_FIELD_SCRATCH");
    if (f->distinct)
        sb_add(&flags, " | TK_FIELD_DISTINCT");
    if (f->wide_of)
        sb_add(&flags, " | TK_FIELD_TANGENTS");
    if (*layout_flag(f))
        sb_printf(&flags, " | %s", layout_flag(f));
    const char *which = flags.len ? sb_str(&flags) + 3 : "0";
    const char *name = c_string(e->mem, f->name), *elem = scalar_enum(f->elem);
    sb_printf(e->out, "    {%s, %s, %d, %d, %s},\n", name, elem, ir_field_ncomp(f), f->ndim, which);
    sb_free(&flags);
}

static void print_fields(emitter *e)
{
    const size_t n = e->m->nfields + e->m->narrays;
    if (!n)
        return;
    sb_printf(e->out, "static const tk_field_desc %s[] = {\n", e->fields);
    for (size_t i = 0; i < n; i++)
        print_field(e, e->m->fields.at[i]);
    sb_add(e->out, "};\n\n");
}

/* Those that share memory as members of structs; returns how many. */
static int print_members(emitter *e)
{
    int n = 0;
    for (size_t i = 0; i < e->m->nfields + e->m->narrays; i++) {
        const char *row = layout_member_row(e->mem, e->m->fields.at[i]);
        if (!row)
            continue;
        if (n++ == 0)
            sb_printf(e->out, "static const tk_member %s[] = {\n", e->members);
        sb_printf(e->out, "    %s,\n", row);
    }
    if (n)
        sb_add(e->out, "};\n\n");
    return n;
}

static void print_desc(emitter *e, int nmembers, int nkernels)
{
    const size_t nfields = e->m->nfields;
    sb_printf(
        e->out,
        "static const tk_module_desc %s = {\n    .name = %s,\n    .interface = %d,\n    .hash = UINT64_C(0x%016llx),\n",
        e->desc, c_string(e->mem, e->m->name), EMIT_INTERFACE, (unsigned long long)emit_interface_hash(e->m));
    if (nfields + e->m->narrays)
        sb_printf(e->out, "    .fields = %s,\n    .nfields = %zu,\n", e->fields, nfields);
    if (e->m->narrays)
        sb_printf(e->out, "    .narrays = %zu,\n", e->m->narrays);
    if (nmembers)
        sb_printf(e->out, "    .members = %s,\n    .nmembers = %d,\n", e->members, nmembers);
    if (nkernels)
        sb_printf(e->out, "    .kernels = %s,\n    .nkernels = %d,\n", e->kernels, nkernels);
    if (e->nsites)
        sb_printf(e->out, "    .sites = %s,\n    .nsites = %d,\n", e->sites_name, e->nsites);
    if (e->m->places.len)
        sb_printf(e->out, "    .decisions = %s,\n    .ndecisions = %zu,\n", e->places_name, e->m->places.len);
    sb_add(e->out, "};\n\n");
}

static const char *member_of(emitter *e, const ir_mparam *p)
{
    return ptrmap_get(&e->params, p);
}

static void print_defaults(emitter *e)
{
    const ir_module *m = e->m;
    strbuf *b = e->out;
    sb_printf(b, "%s_params %s_defaults(void)\n{\n", m->name, m->name);
    if (m->params.len) {
        sb_printf(b, "    const %s_params params = {", m->name);
        for (size_t i = 0; i < m->params.len; i++) {
            const ir_mparam *p = m->params.at[i];
            int prec;
            sb_printf(b, "%s.%s = %s", i ? ", " : "", member_of(e, p),
                      const_text(e->mem, p->type, p->idefault, p->fdefault, &prec));
        }
        sb_add(b, "};\n");
    } else {
        sb_printf(b, "    const %s_params params = {0};\n", m->name);
    }
    sb_add(b, "    return params;\n}\n\n");
}

/* The view of one field, after creation and after binding. */
static void print_view(emitter *e, const ir_field *f)
{
    for (int p = IR_DATA; p < IR_PLANES; p++) {
        const ir_field *leaf = plane_leaf(e->m, f, (ir_plane)p);
        if (leaf)
            layout_fill_view(e->mem, e->out, e->field_names[f->index], f, (ir_plane)p, leaf);
    }
    for (int p = IR_DATA; p < IR_PLANES; p++)
        if (f->wide[p])
            layout_fill_wide(e->mem, e->out, e->field_names[f->index], f, (ir_plane)p);
}

/* For hosts they are constant: a size that was changed by an assignment would let loops leave the fields. */
static void put_params(const emitter *e)
{
    const char *name = e->m->name;
    sb_printf(e->out, "    *(%s_params *)(void *)((char *)m + offsetof(struct %s, params)) = chosen;\n", name, name);
}

static void print_create(emitter *e)
{
    const ir_module *m = e->m;
    strbuf *b = e->out;
    const int nextents = m->extents ? m->extents->body->last->nargs : 0;
    sb_printf(
        b,
        "%s *%s_create_(tk_session *session, const %s_params *params, uint64_t header_hash, int header_interface)\n{\n",
        m->name, m->name, m->name);
    sb_printf(b, "    const %s_params chosen = params ? *params : %s_defaults();\n    int64_t extents[%d] = {0};\n",
              m->name, m->name, nextents ? nextents : 1);
    if (m->decides)
        sb_printf(b,
                  "    if (!tk_compiled_exactly()) {\n        tk_fail(NULL, TK_MISMATCH, \"module '%s' was compiled "
                  "with a part of -ffast-math: numbers that steer it \"\n"
                  "                \"would differ between launches and derivatives\");\n        return NULL;\n    }\n",
                  m->name);
    if (nextents)
        sb_printf(b, "    %s(&chosen, extents);\n", e->extents);
    sb_printf(b,
              "    struct %s *const m = (struct %s *)tk_module_alloc(session, sizeof *m);\n"
              "    if (!m)\n        return NULL;\n",
              m->name, m->name);
    put_params(e);
    sb_printf(b, "    if (tk_module_init(&m->tk, session, &%s, extents, header_hash, header_interface) != TK_OK) {\n",
              e->desc);
    sb_add(b, "        tk_module_free(session, m, sizeof *m);\n        return NULL;\n    }\n");
    for (size_t i = 0; i < m->nfields; i++) {
        const ir_field *f = m->fields.at[i];
        if (f->wide_of)
            continue;
        sb_printf(b, "    m->%s = &m->tk.fields[%d];\n", layout_object(e->mem, e->field_names[i], f), f->index);
        if (!ir_field_begins(f))
            continue;
        print_view(e, f);
        for (int d = 0; d < f->ndim; d++)
            sb_printf(b, "    m->%s.shape[%d] = m->tk.fields[%d].shape[%d];\n", e->field_names[i], d, f->index, d);
        if (f->ndim == 0)
            sb_printf(b, "    m->%s.shape[0] = 1;\n", e->field_names[i]);
    }
    sb_add(b, "    return m;\n}\n\n");
    sb_printf(b,
              "void %s_destroy(%s *m)\n{\n    if (!m)\n        return;\n    tk_session *const session = "
              "m->tk.session;\n    if (tk_module_done(&m->tk))\n"
              "        tk_module_free(session, m, sizeof *m);\n}\n\n",
              m->name, m->name);
    sb_printf(b,
              "tk_status %s_status(const %s *m)\n{\n    return m ? tk_session_status(m->tk.session) : "
              "TK_BAD_ARGUMENT;\n}\n\n",
              m->name, m->name);
    sb_printf(
        b, "const char *%s_error(const %s *m)\n{\n    return m ? tk_session_error(m->tk.session) : tk_error();\n}\n\n",
        m->name, m->name);
}

static void print_set_params(emitter *e)
{
    const ir_module *m = e->m;
    strbuf *b = e->out;
    sb_printf(b,
              "tk_status %s_set_params(%s *m, const %s_params *params)\n{\n    if (!m)\n"
              "        return tk_fail(NULL, TK_BAD_ARGUMENT, \"%s_set_params: the module is NULL\");\n",
              m->name, m->name, m->name, m->name);
    sb_printf(b,
              "    if (!params)\n        return tk_fail(m->tk.session, TK_BAD_ARGUMENT, \"%s_set_params: params is "
              "NULL\");\n",
              m->name);
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *p = m->params.at[i];
        if (p->sizes)
            sb_printf(b,
                      "    if (params->%s != m->params.%s)\n"
                      "        return tk_fail(m->tk.session, TK_BAD_ARGUMENT, \"%s_set_params: %s sizes a field and is "
                      "fixed at creation\");\n",
                      member_of(e, p), member_of(e, p), m->name, p->name);
    }
    sb_printf(b,
              "    return tk_module_set_params(&m->tk, (char *)m + offsetof(struct %s, params), params, sizeof "
              "*params);\n}\n\n",
              m->name);
}

const char *bind_signature(arena *mem, const ir_module *m, const ir_field *f)
{
    const char *r = arena_printf(mem, "%s *m", m->name);
    for (int p = IR_DATA; p < IR_PLANES; p++)
        if (ir_plane_get((ir_plane)p)->bound && plane_leaf(m, f, (ir_plane)p))
            r = arena_printf(mem, "%s, %s", r, layout_bind_pointer(mem, f, plane_name((ir_plane)p)));
    return r;
}

const char *bind_strided_signature(arena *mem, const ir_module *m, const ir_field *f)
{
    strbuf b = {0};
    sb_printf(&b, "%s *m", m->name);
    for (int p = IR_DATA; p < IR_PLANES; p++)
        if (ir_plane_get((ir_plane)p)->bound && field_has_plane(m, f, (ir_plane)p))
            sb_printf(&b, ", void *%s, const int64_t *%s_strides", plane_name((ir_plane)p), plane_name((ir_plane)p));
    const char *r = wrap_list(mem, arena_strdup(mem, sb_str(&b)),
                              strlen("tk_status _bind__strided()") + strlen(m->name) + strlen(f->name), 2);
    sb_free(&b);
    return r;
}

static void print_bind_null(emitter *e, const ir_field *f, const char *suffix)
{
    sb_printf(e->out,
              "    if (!m)\n        return tk_fail(NULL, TK_BAD_ARGUMENT, \"%s_bind_%s%s: the module is NULL\");\n",
              e->m->name, layout_id(e->mem, f), suffix);
}

/* The host's pointers to what may be bound, by plane: "data, NULL, dual"; those of strides with that behind their
 * names. f: a field, or any of an array of structs. */
static const char *bound_list(const emitter *e, const ir_field *f, const char *behind)
{
    const char *list = "";
    for (int p = IR_DATA; p < IR_PLANES; p++)
        if (ir_plane_get((ir_plane)p)->bound) {
            const bool has = plane_leaf(e->m, f, (ir_plane)p);
            list = arena_printf(e->mem, "%s%s%s%s", list, p ? ", " : "", has ? plane_name((ir_plane)p) : "NULL",
                                has ? behind : "");
        }
    return list;
}

static void print_bind_strided(emitter *e, const ir_field *f)
{
    strbuf *b = e->out;
    sb_printf(b, "tk_status %s_bind_%s_strided(%s)\n{\n", e->m->name, f->name, bind_strided_signature(e->mem, e->m, f));
    print_bind_null(e, f, "_strided");
    sb_printf(b,
              "    void *const planes[] = {%s};\n    const int64_t *const strides[] = {%s};\n"
              "    const tk_status status = tk_field_bind_strided(m->%s.field, planes, strides);\n",
              bound_list(e, f, ""), bound_list(e, f, "_strides"), e->field_names[f->index]);
    sb_add(b, "    if (status != TK_OK)\n        return status;\n");
    print_view(e, f);
    sb_add(b, "    return TK_OK;\n}\n\n");
}

static void print_bind(emitter *e, const ir_field *f)
{
    strbuf *b = e->out;
    sb_printf(b, "tk_status %s_bind_%s(%s)\n{\n", e->m->name, layout_id(e->mem, f), bind_signature(e->mem, e->m, f));
    print_bind_null(e, f, "");
    sb_printf(b, "    const tk_status status = %s(m->%s, %s);\n    if (status != TK_OK)\n        return status;\n",
              layout_bind_function(f), layout_object(e->mem, e->field_names[f->index], f), bound_list(e, f, ""));
    print_view(e, f);
    sb_add(b, "    return TK_OK;\n}\n\n");
}

void emit_module(emitter *e)
{
    sb_add(e->out, "/* ---- the module ---- */\n\n");
    emit_extents(e);
    print_fields(e);
    const int nmembers = print_members(e);
    emit_sites(e);
    emit_places(e);
    const int nkernels = emit_kernel_table(e);
    print_desc(e, nmembers, nkernels);
    print_defaults(e);
    print_create(e);
    print_set_params(e);
    for (size_t i = 0; i < e->m->nfields; i++)
        if (ir_field_begins(e->m->fields.at[i]) && !e->m->fields.at[i]->wide_of)
            print_bind(e, e->m->fields.at[i]);
    for (size_t i = 0; i < e->m->nfields; i++)
        if (layout_takes_strides(e->m->fields.at[i]))
            print_bind_strided(e, e->m->fields.at[i]);
    emit_entries(e);
    emit_elements(e);
}
