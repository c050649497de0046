/* What a module has besides functions, in the IR's text, both directions. */
#include "ir/text/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- the module ---- */

/* Files by their number in the text: 0 is the module's source. */
static void number_file(ir_text *t, size_t number, const char *path)
{
    while (t->file_numbers.len <= number)
        vec_push(&t->file_numbers, 0);
    int known = diag_find_file(t->m->diag, path);
    if (known < 0)
        known = diag_add_file(t->m->diag, path, "", 0);
    t->file_numbers.at[number] = (uint16_t)known;
}

void text_heading(ir_text *t)
{
    ir_module *m = t->m;
    if (text_opt(t, "module ", true)) {
        text_name(t, &m->name);
        text_opt_string(t, " source ", &m->source);
        text_lit(t, " real ");
        text_scalar(t, &m->real);
        text_flag(t, " debug", &m->debug);
        text_flag(t, " decides", &m->decides);
        text_flag(t, " decided", &m->decided);
        text_lit(t, "\n");
    }
    if (!t->out)
        number_file(t, 0, m->source);
}

static void file(ir_text *t, int number)
{
    text_lit(t, "file ");
    text_int(t, &number, 1, UINT16_MAX);
    text_lit(t, " ");
    const char *path = t->out ? diag_file_path(t->m->diag, (uint16_t)number) : NULL;
    text_string(t, &path);
    if (!t->out && !t->failed)
        number_file(t, (size_t)number, path);
}

/* ---- structs and params ---- */

static void member(ir_text *t, ir_member *m)
{
    text_name(t, &m->name);
    text_lit(t, ": ");
    void *structure = (void *)m->structure;
    if (text_opt(t, "struct ", structure != NULL)) {
        text_refer(t, &t->structs, "struct", &structure);
        m->structure = structure;
    } else {
        text_type(t, &m->elem, &m->shape, &m->rows, &m->cols);
    }
}

static void structure(ir_text *t, ir_struct *r)
{
    text_lit(t, "struct ");
    text_define(t, &t->structs, &r->name, r);
    text_lit(t, " {");
    VEC(ir_member) members = {0};
    int i = 0;
    do {
        ir_member m = t->out ? r->members[i] : (ir_member){.elem = SC_NONE, .rows = 1, .cols = 1};
        member(t, &m);
        vec_push(&members, m);
        i++;
    } while (text_opt(t, ", ", i < r->nmembers));
    text_lit(t, "}");
    text_opt_string(t, " doc ", &r->doc);
    text_loc(t, &r->loc);
    if (!t->out) {
        r->members = ARENA_ARRAY(t->m->mem, ir_member, i);
        r->nmembers = i;
        memcpy(r->members, members.at, sizeof *members.at * members.len);
    }
    vec_free(&members);
}

static void param(ir_text *t, ir_mparam *p)
{
    text_lit(t, "param ");
    text_define(t, &t->params, &p->name, p);
    text_lit(t, ": ");
    text_scalar(t, &p->type);
    text_lit(t, " = ");
    if (scalar_is_float(p->type))
        text_double(t, &p->fdefault);
    else
        text_i64(t, &p->idefault, INT64_MIN, INT64_MAX);
    text_flag(t, " sizes", &p->sizes);
    text_opt_string(t, " doc ", &p->doc);
    text_loc(t, &p->loc);
}

/* ---- fields ---- */

static void extent(ir_text *t, ir_extent *e)
{
    void *of = e->mparam;
    if (text_opt(t, "arg ", e->param >= 0)) {
        text_int(t, &e->param, 0, INT32_MAX);
        return;
    }
    if (!t->out)
        e->param = -1;
    if (text_opt(t, "param ", e->mparam != NULL)) {
        text_refer(t, &t->params, "param", &of);
        e->mparam = of;
    } else {
        text_i64(t, &e->count, INT64_MIN, INT64_MAX);
    }
    if (!text_opt(t, " = ", e->value != NULL))
        return;
    if (t->out) {
        sb_printf(t->out, "%%%" PRIu32, e->value->id);
        return;
    }
    if (t->kind != TEXT_VALUE)
        text_fault(t, "a value of the extents expected");
    vec_push(&t->pending, ((text_pending){.kind = PENDING_EXTENT, .slot = e, .number = text_id(t), .at = t->place}));
    text_next(t);
}

static void array_extents(ir_text *t, ir_field *f)
{
    if (!t->out)
        f->dims = ARENA_ARRAY(t->m->mem, ir_extent, 8);
    text_lit(t, " extents(");
    for (int i = 0; i < f->ndim; i++) {
        text_lit(t, i ? ", " : "");
        extent(t, &f->dims[i]);
    }
    text_lit(t, ")");
}

/* One field's stand behind the other's, but for members of structs, which have those of the first. */
static void own_extents(ir_text *t, ir_field *f)
{
    if (!t->out)
        f->extent0 = t->extent_next;
    if (text_opt(t, " extents ", f->extent0 != t->extent_next))
        text_int(t, &f->extent0, 0, INT32_MAX - 8);
    t->extent_next = f->extent0 + f->ndim;
}

/* Of a field of structs. */
static void member_of(ir_text *t, ir_field *f)
{
    void *lead = f->lead, *of = (void *)f->structure;
    if (!text_opt(t, " lead ", lead != NULL))
        return;
    text_refer(t, &t->fields, "field", &lead);
    f->lead = lead;
    text_lit(t, " of ");
    text_name(t, &f->whole);
    text_opt_string(t, " path ", &f->path);
    text_lit(t, " struct ");
    text_refer(t, &t->structs, "struct", &of);
    f->structure = of;
}

/* Planes in several directions. */
static void widths(ir_text *t, ir_field *f)
{
    for (int p = IR_DATA; p < IR_PLANES; p++) {
        const char *plane = ir_plane_get((ir_plane)p)->name;
        void *of = f->wide_of;
        if (text_opt(t, arena_printf(t->m->mem, " %s_width ", plane), f->width[p] != 0))
            text_int(t, &f->width[p], 1, IR_MAX_WIDTH);
        if (!text_opt(t, arena_printf(t->m->mem, " wide_%s of ", plane), of && (int)f->wide_plane == p))
            continue;
        text_refer(t, &t->fields, "field", &of);
        f->wide_of = of;
        f->wide_plane = (ir_plane)p;
        if (!t->out && f->wide_of)
            f->wide_of->wide[p] = f;
    }
}

static void field_layout(ir_text *t, ir_field *f)
{
    static const char *const words[] = {
#define FIELD_LAYOUT(id, word, ...) " " word,
#include "ir/field_layout.def"
#undef FIELD_LAYOUT
    };
    for (int k = 0; k < IR_FIELD_LAYOUTS; k++)
        if (words[k][1] && text_opt(t, words[k], f->layout == (ir_field_layout)k))
            f->layout = (ir_field_layout)k;
}

static const struct {
    const char *word;
    size_t at;
} flags[] = {
#define PLANE(id, name, ...) {" " #name, offsetof(ir_field, name)},
    TK_PLANES(PLANE)
#undef PLANE
        {" saved", offsetof(ir_field, saved)},
    {" scratch", offsetof(ir_field, scratch)},
    {" distinct", offsetof(ir_field, distinct)},
    {" launched", offsetof(ir_field, launched)},
    {" in", offsetof(ir_field, in)},
    {" out", offsetof(ir_field, out)},
    {" copied", offsetof(ir_field, copied)},
};

enum { LEN_FLAGS = sizeof flags / sizeof *flags };

static void field(ir_text *t, ir_field *f)
{
    text_lit(t, f->array ? "array " : "field ");
    text_define(t, &t->fields, &f->name, f);
    text_lit(t, ": ");
    text_type(t, &f->elem, &f->shape, &f->rows, &f->cols);
    text_lit(t, ", ");
    text_int(t, &f->ndim, 0, 8);
    text_lit(t, "-D");
    for (int i = 0; i < LEN_FLAGS; i++)
        text_flag(t, flags[i].word, (bool *)((char *)f + flags[i].at));
    field_layout(t, f);
    if (f->array)
        array_extents(t, f);
    else
        own_extents(t, f);
    member_of(t, f);
    void *beside = (void *)f->beside;
    if (text_opt(t, " beside ", beside != NULL)) {
        int plane = (int)f->beside_plane;
        text_refer(t, &t->fields, "field", &beside);
        text_lit(t, " plane ");
        text_int(t, &plane, 0, IR_PLANES - 1);
        f->beside = beside;
        f->beside_plane = (ir_plane)plane;
    }
    widths(t, f);
    if (f->layout == IR_FIELD_DENSE)
        f->layout = ir_field_layout_plain(f);
    text_opt_string(t, " doc ", &f->doc);
    text_loc(t, &f->loc);
}

/* ---- layouts ---- */

static void layout(ir_text *t, ir_layout *l)
{
    const char *name = NULL;
    text_lit(t, "layout ");
    text_define(t, &t->layouts, &name, l);
    text_lit(t, " (");
    VEC(ir_member) members = {0};
    int i = 0;
    while (t->out ? i < l->n : !t->failed && !text_is(t, ")")) {
        text_lit(t, i ? ", " : "");
        ir_member m = t->out ? (ir_member){.elem = l->types[i], .name = l->names[i]} : (ir_member){0};
        text_scalar(t, &m.elem);
        if (t->out ? m.name != NULL : text_is_name(t)) {
            text_lit(t, " ");
            text_name(t, &m.name);
        }
        vec_push(&members, m);
        i++;
    }
    text_lit(t, ")");
    text_flag(t, " log", &l->log);
    text_flag(t, " winners", &l->winners);
    if (!t->out) {
        l->n = i;
        l->types = ARENA_ARRAY(t->m->mem, scalar, i + 1);
        l->names = ARENA_ARRAY(t->m->mem, const char *, i + 1);
    }
    for (int k = 0; !t->out && k < i; k++) {
        l->types[k] = members.at[k].elem;
        l->names[k] = members.at[k].name;
    }
    vec_free(&members);
}

/* ---- all of them ---- */

static void places(ir_text *t)
{
    ir_module *m = t->m;
    text_lit(t, "places");
    for (size_t i = 0; t->out && i < m->places.len; i++)
        text_loc(t, &m->places.at[i]);
    while (!t->out && text_is(t, "@")) {
        src_loc loc = {0};
        text_loc(t, &loc);
        vec_push(&m->places, loc);
    }
}

static void externs(ir_text *t)
{
    ir_module *m = t->m;
    text_lit(t, "externs ");
    for (size_t i = 0; t->out && i < m->externs.len; i++) {
        text_lit(t, i ? ", " : "");
        text_func(t, &m->externs.at[i]);
    }
    if (t->out)
        return;
    /* pointers into the list would not outlive its growth: a link is kept for each, and taken over once all functions
     * are known */
    do {
        ir_func **to = ARENA_NEW(m->mem, ir_func *);
        text_func(t, to);
        vec_push(&t->externs, to);
    } while (text_opt(t, ",", true));
}

static void survey(ir_text *t)
{
    ir_module *m = t->m;
    for (size_t i = 0; i < m->places.len; i++)
        text_survey_file(t, m->places.at[i]);
    for (size_t i = 0; i < m->structs.len; i++)
        text_survey_file(t, m->structs.at[i]->loc);
    for (size_t i = 0; i < m->params.len; i++)
        text_survey_file(t, m->params.at[i]->loc);
    for (size_t i = 0; i < m->fields.len; i++)
        text_survey_file(t, m->fields.at[i]->loc);
}

void text_write_declarations(ir_text *t)
{
    ir_module *m = t->m;
    survey(t);
    for (size_t i = 1; i < t->files.len; i++)
        if (t->files.at[i]) {
            file(t, (int)i);
            text_lit(t, "\n");
        }
    if (m->places.len) {
        places(t);
        text_lit(t, "\n");
    }
    for (size_t i = 0; i < m->structs.len; i++) {
        structure(t, m->structs.at[i]);
        text_lit(t, "\n");
    }
    for (size_t i = 0; i < m->params.len; i++) {
        param(t, m->params.at[i]);
        text_lit(t, "\n");
    }
    for (size_t i = 0; i < m->fields.len; i++) {
        field(t, m->fields.at[i]);
        text_lit(t, "\n");
    }
    for (size_t i = 0; i < t->layouts.len; i++) {
        layout(t, t->layouts.at[i].of);
        text_lit(t, "\n");
    }
    if (m->externs.len) {
        externs(t);
        text_lit(t, "\n");
    }
}

static void read_field(ir_text *t)
{
    ir_module *m = t->m;
    ir_field *f = ARENA_NEW(m->mem, ir_field);
    f->array = text_is(t, "array");
    if (!f->array && m->fields.len > m->nfields)
        text_fault(t, "a field behind an array");
    if (m->fields.len >= TEXT_MAX_FIELDS)
        text_fault(t, "more than %d fields", TEXT_MAX_FIELDS);
    f->index = (int)m->fields.len;
    field(t, f);
    vec_push(&m->fields, f);
    m->nfields += !f->array;
    m->narrays += f->array && f->launched;
}

bool text_read_declaration(ir_text *t)
{
    ir_module *m = t->m;
    if (text_is(t, "file")) {
        file(t, 0);
    } else if (text_is(t, "places")) {
        places(t);
    } else if (text_is(t, "struct")) {
        ir_struct *r = ARENA_NEW(m->mem, ir_struct);
        r->module = m;
        structure(t, r);
        vec_push(&m->structs, r);
    } else if (text_is(t, "param")) {
        ir_mparam *p = ARENA_NEW(m->mem, ir_mparam);
        p->index = (int)m->params.len;
        param(t, p);
        vec_push(&m->params, p);
    } else if (text_is(t, "field") || text_is(t, "array")) {
        read_field(t);
    } else if (text_is(t, "layout")) {
        layout(t, ARENA_NEW(m->mem, ir_layout));
    } else if (text_is(t, "externs")) {
        externs(t);
    } else {
        return false;
    }
    text_lit(t, "\n");
    return true;
}
