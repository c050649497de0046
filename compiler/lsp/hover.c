/* What stands under the cursor: what it is, of which type, whether derivatives flow through it, and what adjoints need.
 */
#include <stdlib.h>
#include <string.h>

#include "lsp/features.h"

static void add_line(strbuf *b, const char *text)
{
    if (b->len > 0)
        sb_add(b, "\n\n");
    sb_add(b, text);
}

static void add_code(strbuf *b, const char *code)
{
    add_line(b, "```tk\n");
    sb_add(b, code);
    sb_add(b, "\n```");
}

/* ---- fields ---- */

static void add_needed(strbuf *b, const unit *u, const char *field)
{
    unsigned last = 0;
    const char *kernel = NULL;
    int n = 0;
    strbuf list = {0};
    for (size_t i = 0; i < u->facts.len; i++) {
        const unit_fact *f = &u->facts.at[i];
        const char *name = !f->needed ? NULL : f->needed->whole ? f->needed->whole : f->needed->name;
        if (!name || strcmp(name, field) != 0 || (f->at.line == last && f->kernel == kernel))
            continue;
        sb_printf(&list, "%s`%s` (line %u)", n++ ? ", " : "", f->kernel, (unsigned)f->at.line);
        last = f->at.line;
        kernel = f->kernel;
    }
    if (n > 0) {
        add_line(b, "Adjoints read its values again, as the launch found them: ");
        sb_add(b, sb_str(&list));
        sb_add(b, ".");
    }
    sb_free(&list);
}

static void add_planes(strbuf *b, const check_use *use)
{
    strbuf t = {0};
    if (use->planes[0])
        sb_printf(&t, "**Active**: its gradient is `%s.grad`", use->name);
    if (use->planes[1])
        sb_printf(&t, "%s`%s.dual`", use->planes[0] ? ", its tangent " : "Active in forward mode: its tangent is ",
                  use->name);
    sb_add(&t, t.len ? "." : "Not active: it has neither gradient (`needs_grad`) nor tangent (`needs_dual`).");
    add_line(b, sb_str(&t));
    sb_free(&t);
}

/* ---- places ---- */

/* What is known of the reads and writes that begin there. */
static void add_facts(strbuf *b, const unit *u, src_loc at)
{
    for (size_t i = 0; i < u->facts.len; i++) {
        const unit_fact *f = &u->facts.at[i];
        if (f->at.file != at.file || f->at.line != at.line || f->at.col != at.col)
            continue;
        if (f->needed) {
            add_line(b, "");
            sb_printf(b, "The adjoint of `%s` reads this value of `%s` again.", f->kernel, f->needed->name);
        } else {
            add_line(b, "");
            sb_printf(b, "In `%s`: `%s`", f->kernel, f->text);
        }
    }
}

static void add_kernel(strbuf *b, const unit *u, const check_use *use)
{
    if (u->reached < UNIT_COMPILED || !use->item || use->item->kind != AST_ITEM_KERNEL)
        return;
    for (size_t i = 0; i < u->ir->funcs.len; i++) {
        const ir_func *f = u->ir->funcs.at[i];
        if (f->kind != IR_KERNEL || strcmp(f->name, use->id) != 0)
            continue;
        if (f->ad.grad)
            add_line(b, "It has an adjoint.");
        else if (f->ad.no_grad_why) {
            add_line(b, "It has no adjoint: ");
            sb_printf(b, "%s.", f->ad.no_grad_why);
        }
        if (!f->ad.jvp && f->ad.no_jvp_why) {
            add_line(b, "It has no JVP: ");
            sb_printf(b, "%s.", f->ad.no_jvp_why);
        }
        const size_t n = strlen(use->id);
        for (size_t k = 0; k < u->facts.len; k++) {
            const unit_fact *fact = &u->facts.at[k];
            if (!fact->needed && !strncmp(fact->kernel, use->id, n) &&
                (!fact->kernel[n] || !strcmp(fact->kernel + n, "_grad")))
                sb_printf(b, "\n- `%s`, line %u: `%s`", fact->kernel, (unsigned)fact->at.line, fact->text);
        }
    }
}

/* ---- locals ---- */

/* The item whose text the place is in; NULL: none. */
static const ast_item *item_at(const unit *u, src_loc at)
{
    for (const ast_item *it = u->ast->items; it; it = it->next)
        if (it->span.begin.file == at.file && it->span.begin.line <= at.line && at.line <= it->span.end.line)
            return it;
    return NULL;
}

/* Names that are declared several times in a function are told apart by their lines. */
static unsigned next_declared(const unit *u, const check_use *use, const ast_item *in)
{
    unsigned next = 0;
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *o = &u->log.uses.at[i];
        const unsigned line = o->declared.begin.line;
        if (o->name == use->name && o->declared.begin.file == use->declared.begin.file &&
            line > use->declared.begin.line && line <= in->span.end.line && (!next || line < next))
            next = line;
    }
    return next;
}

static void add_activity(strbuf *b, store *s, doc *d, const unit *u, const check_use *use)
{
    const ast_item *in = item_at(u, use->declared.begin);
    if (!in || u->reached < UNIT_CHECKED || use->declared.begin.file != u->ast->file)
        return;
    const unit_host host = store_host(s);
    if (u != d->known)
        return;
    if (!d->lowered)
        d->lowered = unit_compile(&host, d->path, sb_str(&u->text), u->text.len, UNIT_LOWERED);
    const char *text = unit_activity(d->lowered, in, use->name, use->declared.begin.line, next_declared(u, use, in));
    if (text)
        add_line(b, text);
}

static void add_local(strbuf *b, const unit *u, const check_use *use)
{
    strbuf code = {0};
    const char *what = strncmp(use->what, "a ", 2) == 0 ? use->what + 2 : use->what;
    if (*what == '\'')
        sb_addn(&code, what + 1, strcspn(what + 1, "'"));
    else
        sb_printf(&code, "(%s)", what);
    sb_printf(&code, " %s", use->name);
    if (use->type)
        sb_printf(&code, ": %s", ty_name(u->log.types, use->type));
    add_code(b, sb_str(&code));
    sb_free(&code);
}

/* A generic function is checked once for each set of types: all that the name has there. */
static void add_other_types(strbuf *b, const unit *u, const check_use *use)
{
    strbuf list = {0};
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *o = &u->log.uses.at[i];
        if (o == use || o->name != use->name || o->declared.begin.line != use->declared.begin.line ||
            o->declared.begin.col != use->declared.begin.col || o->declared.begin.file != use->declared.begin.file ||
            !o->type || o->type == use->type)
            continue;
        const char *name = ty_name(u->log.types, o->type);
        if (!list.len || !strstr(list.s, name))
            sb_printf(&list, "%s`%s`", list.len ? ", " : "", name);
    }
    if (list.len) {
        add_line(b, "In other instances: ");
        sb_add(b, sb_str(&list));
    }
    sb_free(&list);
}

static void add_use(strbuf *b, store *s, doc *d, const unit *u, const check_use *use)
{
    if (!use->item) {
        add_local(b, u, use);
        add_other_types(b, u, use);
        add_activity(b, s, d, u, use);
    } else {
        const strbuf *text = unit_text(u, use->item->span.begin.file);
        strbuf head = {0};
        if (text) {
            TEXT_INDEX(ix, text, false);
            item_head(&head, &ix, use->item);
        }
        add_code(b, head.len ? sb_str(&head) : use->name);
        sb_free(&head);
        if (use->item->doc)
            add_line(b, use->item->doc);
        if (use->type && use->item->kind == AST_ITEM_CONST) {
            add_line(b, "Type: ");
            sb_printf(b, "`%s`", ty_name(u->log.types, use->type));
        }
        if (use->item->kind == AST_ITEM_FIELD) {
            add_planes(b, use);
            add_needed(b, u, use->id);
        }
        add_kernel(b, u, use);
    }
    add_facts(b, u, use->at.begin);
}

/* ---- anything else ---- */

/* The smallest expression around the place. */
static const check_typed *expr_at(const unit *u, src_loc at)
{
    const check_typed *best = NULL;
    size_t least = 0;
    for (size_t i = 0; i < u->log.exprs.len; i++) {
        const check_typed *e = &u->log.exprs.at[i];
        if (e->at.begin.file != at.file || e->at.begin.line != at.line || e->at.end.line != at.line ||
            e->at.begin.col > at.col || e->at.end.col < at.col)
            continue;
        const size_t n = (size_t)(e->at.end.col - e->at.begin.col);
        if (!best || n <= least) {
            best = e;
            least = n;
        }
    }
    return best;
}

static void add_expression(strbuf *b, const doc *d, size_t offset)
{
    const unit *u = d->now && d->now->asked ? d->now : d->known;
    size_t mapped;
    if (!u || !doc_offset(d, u, offset, &mapped))
        return;
    const check_typed *e = expr_at(u, text_where(sb_str(&u->text), mapped, u->ast->file));
    if (e) {
        strbuf code = {0};
        size_t from, to;
        TEXT_INDEX(ix, &u->text, false);
        span_offsets(&ix, e->at, &from, &to);
        sb_addn(&code, sb_str(&u->text) + from, to - from);
        sb_printf(&code, ": %s", ty_name(u->log.types, e->type));
        add_code(b, sb_str(&code));
        sb_free(&code);
        add_facts(b, u, e->at.begin);
    }
}

json_t *feature_hover(store *s, doc *d, size_t offset)
{
    strbuf b = {0};
    const unit *u = NULL;
    const check_use *use = doc_use(d, offset, &u);
    size_t begin;
    const size_t n = text_word(sb_str(&d->text), d->text.len, offset, &begin);
    const builtin *known = builtin_find(sb_str(&d->text) + begin, n);
    if (use && use->declared.begin.line > 0)
        add_use(&b, s, d, u, use);
    else if (n > 0 && known) {
        add_code(&b, known->signature);
        add_line(&b, known->text);
    } else {
        add_expression(&b, d, offset);
    }
    TEXT_INDEX(ix, &d->text, s->wide);
    json_t *j = b.len ? json_pack("{s:{s:s,s:s}}", "contents", "kind", "markdown", "value", sb_str(&b)) : NULL;
    if (j && n > 0)
        json_object_set_new(j, "range", json_range(&ix, begin, begin + n));
    sb_free(&b);
    return j;
}
