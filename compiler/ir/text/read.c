/* Reading printed IR: the declarations and functions of a module, what they say of each other, and whether it holds. */
#include <inttypes.h>
#include <string.h>

#include "ir/text/io.h"
#include "ir/text/text.h"

/* ---- functions ---- */

static void read_function(ir_text *t)
{
    ir_module *m = t->m;
    ir_func *f = ir_func_create(m, IR_FUNC, "");
    const bool gone = text_opt(t, "gone", false), aside = text_opt(t, "aside", false);
    if (gone || aside)
        m->funcs.len--;
    if (gone) {
        text_gone(t, f);
        return;
    }
    if (text_is(t, "extents") && m->extents)
        text_fault(t, "a second function of the extents");
    if (text_opt(t, "extents", false))
        m->extents = f;
    text_function(t, f);
    vec_push(&t->read, f);
}

/* ---- what stands behind its use ---- */

static void resolve_func(ir_text *t, const text_pending *p)
{
    ir_func **to = p->slot;
    for (size_t i = 0; i < t->funcs.len; i++)
        if (t->funcs.at[i].nth == p->number && !strcmp(t->funcs.at[i].name, p->name))
            *to = t->funcs.at[i].of;
    if (!*to)
        text_fault_at(t, p->at, "there is no function '%s'", p->name);
}

static void resolve_op(ir_text *t, const text_pending *p)
{
    ir_op *op = p->number < (int64_t)t->labelled.len ? t->labelled.at[p->number] : NULL;
    if (!op)
        text_fault_at(t, p->at, "there is no operation #%" PRId64, p->number);
    else if (p->kind == PENDING_REST)
        *(const ir_op **)p->slot = op;
    else
        *(ir_op **)p->slot = op;
}

typedef struct searched {
    int64_t id;
    ir_value *found;
} searched;

static void find_value(ir_op *op, void *ctx)
{
    searched *s = ctx;
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->id == s->id)
            s->found = op->res[i];
}

static void resolve_extent(ir_text *t, const text_pending *p)
{
    searched s = {p->number, NULL};
    if (t->m->extents)
        ir_walk(t->m->extents->body, find_value, &s);
    if (!s.found)
        text_fault_at(t, p->at, "the extents have no value %%%" PRId64, p->number);
    ((ir_extent *)p->slot)->value = s.found;
}

static void resolve(ir_text *t)
{
    for (size_t i = 0; i < t->pending.len && !t->failed; i++) {
        const text_pending *p = &t->pending.at[i];
        if (p->kind == PENDING_FUNC)
            resolve_func(t, p);
        else if (p->kind == PENDING_EXTENT)
            resolve_extent(t, p);
        else
            resolve_op(t, p);
    }
    /* an origin is the first of a chain, which no circle has */
    for (size_t i = 0; i < t->labelled.len && !t->failed; i++)
        if (t->labelled.at[i] && t->labelled.at[i]->origin)
            text_fault(t, "#%zu has an origin itself", i);
    for (size_t i = 0; i < t->externs.len && !t->failed; i++)
        vec_push(&t->m->externs, *t->externs.at[i]);
}

/* ---- the module ---- */

static void read_all(ir_text *t)
{
    text_next(t);
    if (t->kind == TEXT_LINE)
        text_next(t);
    text_heading(t);
    while (!t->failed && t->kind != TEXT_END)
        if (!text_read_declaration(t))
            read_function(t);
    if (!t->failed)
        resolve(t);
}

/* Values of what decides are followed into callees: all else must be known to be sound before. */
static bool verify(ir_text *t)
{
    ir_module *m = t->m;
    const bool decided = m->decided;
    bool ok = true;
    m->decided = false;
    for (int again = 0; again <= decided; again++) {
        m->decided = again;
        for (size_t i = 0; i < t->read.len && ok; i++)
            ok = ir_verify(t->read.at[i], NULL);
    }
    m->decided = decided;
    return ok;
}

bool ir_read_module(ir_module *m, const char *path, const char *text, size_t len, FILE *errors)
{
    ir_text t = {.m = m, .path = path, .at = text, .end = text + len, .line_begin = text, .line = 1, .errors = errors};
    if (!m->source)
        m->source = path;
    read_all(&t);
    const bool ok = !t.failed && text_check(&t) && verify(&t);
    text_free(&t);
    return ok;
}

/* ---- once through the text ---- */

static void differ(FILE *errors, const char *when, const char *a, const char *b)
{
    size_t line = 1, begin = 0, i = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n') {
            line++;
            begin = i + 1;
        }
    fprintf(errors, "error: IR after '%s' is another one when it was read, line %zu:\n  %.*s\n  %.*s\n", when, line,
            (int)strcspn(a + begin, "\n"), a + begin, (int)strcspn(b + begin, "\n"), b + begin);
}

static void forget(ir_module *m)
{
    vec_clear(&m->structs);
    vec_clear(&m->fields);
    vec_clear(&m->params);
    vec_clear(&m->funcs);
    vec_clear(&m->externs);
    vec_clear(&m->places);
    m->nfields = m->narrays = 0;
    m->extents = NULL;
    m->debug = m->decides = m->decided = false;
}

bool ir_reread_module(ir_module *m, const char *when, strbuf *text, FILE *errors)
{
    strbuf now = {0}, again = {0};
    ir_print_text(&now, m);
    bool ok = true;
    if (strcmp(sb_str(&now), sb_str(text)) != 0) {
        forget(m);
        ok = ir_read_module(m, when, sb_str(&now), now.len, errors);
        if (ok)
            ir_print_text(&again, m);
        if (ok && strcmp(sb_str(&now), sb_str(&again)) != 0) {
            differ(errors, when, sb_str(&now), sb_str(&again));
            ok = false;
        }
    }
    sb_free(&again);
    sb_free(text);
    *text = now;
    return ok;
}
