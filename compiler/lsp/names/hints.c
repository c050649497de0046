/* Inlay hints: the types that `let` and `var` leave out, whether derivatives flow through the local, and the extents
 * that constants stand for. */
#include <stdio.h>
#include <string.h>

#include "lsp/features.h"

enum { KIND_TYPE = 1, KIND_PARAMETER = 2 };

typedef struct hints {
    const unit *u;
    const ast_item *in;
    name_uses names;
    const text_index *then, *now;
    text_change change;
    size_t from, to; /* of the text as it is now */
    json_t *list;
} hints;

/* At the end of what stands before the offset of the unit's text. */
static void add(hints *h, size_t offset, const char *label, int kind)
{
    size_t at;
    if (!text_map(&h->change, offset, &at) || at < h->from || at > h->to)
        return;
    json_t *j = json_pack("{s:o,s:s,s:i}", "position", json_pos(h->now, at), "label", label, "kind", kind);
    if (j)
        json_array_append_new(h->list, j);
}

/* ---- extents ---- */

static void add_extents(hints *h, const ast_type *t, const long *extents, int n)
{
    const ast_expr *e = t->extents;
    for (int k = 0; e && k < n; k++, e = e->next) {
        char label[32];
        size_t from, to;
        if (e->kind == AST_EXPR_INT || extents[k] < 0)
            continue;
        span_offsets(h->then, e->span, &from, &to);
        snprintf(label, sizeof label, " = %ld", extents[k]);
        add(h, to, label, KIND_PARAMETER);
    }
}

static int count(const ast_expr *e)
{
    int n = 0;
    for (; e; e = e->next)
        n++;
    return n;
}

static void hint_field(hints *h, const ast_item *it)
{
    size_t from, to;
    span_offsets(h->then, it->name_span, &from, &to);
    const name_use *found = names_find(&h->names, from);
    if (it->type && it->type->kind == AST_TYPE_ARRAY && found && found->use->extents)
        add_extents(h, it->type, found->use->extents, count(it->type->extents));
}

/* ---- locals ---- */

static bool same_types(const hints *h, const name_use *first)
{
    for (const name_use *u = first; u < h->names.at + h->names.len && u->at == first->at; u++)
        if (u->use->type != first->use->type)
            return false;
    return true;
}

/* The line of the next name in the item that is the same; 0: there is none. */
static unsigned next_line(const hints *h, const check_use *use)
{
    unsigned next = 0;
    for (size_t i = 0; i < h->names.len; i++) {
        const check_use *o = h->names.at[i].use;
        const unsigned line = o->declared.begin.line;
        if (o->name == use->name && o->declared.begin.file == use->declared.begin.file &&
            line > use->declared.begin.line && line <= h->in->span.end.line && (!next || line < next))
            next = line;
    }
    return next;
}

static void hint_local(hints *h, const ast_stmt *st, const ast_name *name)
{
    size_t from, to;
    src_span at = name->span;
    at.end = (src_loc){0, 0, 0};
    span_offsets(h->then, at, &from, &to);
    const name_use *found = names_find(&h->names, from);
    const check_use *use = found ? found->use : NULL;
    if (!use || !use->type || !same_types(h, found))
        return;
    const bool array = st->type && st->type->kind == AST_TYPE_ARRAY;
    if (array && use->type->kind == TY_ARRAY)
        add_extents(h, st->type, use->type->extents, use->type->ndim);
    strbuf label = {0};
    if (!st->type)
        sb_printf(&label, ": %s", ty_name(h->u->log.types, use->type));
    if (h->in->kind == AST_ITEM_KERNEL &&
        unit_is_active(h->u, h->in->name, use->name, use->declared.begin.line, next_line(h, use)))
        sb_add(&label, label.len ? ", active" : " active");
    if (label.len)
        add(h, to, sb_str(&label), KIND_TYPE);
    sb_free(&label);
}

static void hint_statements(hints *h, const ast_stmt *st)
{
    for (; st; st = st->next) {
        for (const ast_name *n = st->kind == AST_STMT_LET || st->kind == AST_STMT_VAR ? st->names : NULL; n;
             n = n->next)
            hint_local(h, st, n);
        hint_statements(h, st->body);
        hint_statements(h, st->else_body);
    }
}

json_t *feature_hints(store *s, doc *d, size_t from, size_t to)
{
    const unit *u = doc_names(d);
    TEXT_INDEX(then, &u->text, s->wide);
    TEXT_INDEX(now, &d->text, s->wide);
    hints h = {.u = u,
               .then = &then,
               .now = &now,
               .change = text_compare(&u->text, &d->text),
               .from = from,
               .to = to,
               .list = json_array()};
    if (!u->asked || u->reached < UNIT_CHECKED)
        return h.list;
    h.names = unit_names(u, u->ast->file);
    for (const ast_item *it = u->ast->items; it; it = it->next) {
        h.in = it;
        if (it->span.begin.file != u->ast->file)
            continue;
        if (it->kind == AST_ITEM_FIELD)
            hint_field(&h, it);
        else if (it->kind == AST_ITEM_FUNC || it->kind == AST_ITEM_KERNEL)
            hint_statements(&h, it->body);
    }
    vec_free(&h.names);
    return h.list;
}
