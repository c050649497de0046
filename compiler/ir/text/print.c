/* The IR as text, for --emit=ir, --dump-after and --run-pass. What it looks like is said in text_*.c, which reads it as
 * well. */
#include <stdio.h>
#include <string.h>

#include "ir/text/io.h"
#include "ir/text/text.h"

/* The functions of a module in the order in which they are printed: its own, those that belong to one of these
 * (`aside`), and those that only links are left to (`gone`). */
typedef struct printed {
    VEC(ir_func *) funcs;
    size_t own, whole; /* how many are the module's, are printed with their bodies */
} printed;

static void add(printed *p, ir_func *f)
{
    for (size_t i = 0; i < p->funcs.len; i++)
        if (p->funcs.at[i] == f)
            return;
    if (f)
        vec_push(&p->funcs, f);
}

static void collect_funcs(printed *p, const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        vec_push(&p->funcs, m->funcs.at[i]);
    p->own = p->funcs.len;
    add(p, m->extents);
    for (size_t i = 0; i < m->externs.len; i++)
        add(p, m->externs.at[i]);
    for (size_t i = 0; i < p->own; i++) {
        add(p, p->funcs.at[i]->ad.with_locals);
        add(p, p->funcs.at[i]->launch.bounds);
        add(p, p->funcs.at[i]->launch.beside);
        add(p, p->funcs.at[i]->ad.workspace);
    }
    p->whole = p->funcs.len;
    for (size_t i = 0; i < p->whole; i++)
        for (int k = 0; k < text_nlinks(); k++)
            add(p, text_linked(p->funcs.at[i], k));
}

static ir_text begin(strbuf *out, const ir_module *m, printed *p)
{
    ir_text t = {.m = (ir_module *)m, .out = out}; /* written by none of the calls while `out` is set */
    collect_funcs(p, m);
    for (size_t i = 0; i < p->funcs.len; i++)
        text_add(&t.funcs, p->funcs.at[i]->name, p->funcs.at[i]);
    for (size_t i = 0; i < m->structs.len; i++)
        text_add(&t.structs, m->structs.at[i]->name, m->structs.at[i]);
    for (size_t i = 0; i < m->params.len; i++)
        text_add(&t.params, m->params.at[i]->name, m->params.at[i]);
    for (size_t i = 0; i < m->fields.len; i++)
        text_add(&t.fields, m->fields.at[i]->name, m->fields.at[i]);
    text_survey(&t, p->funcs.at, p->whole);
    return t;
}

void ir_print_func(FILE *out, const ir_func *f)
{
    printed p = {0};
    strbuf text = {0};
    ir_text t = begin(&text, f->module, &p);
    text_function(&t, (ir_func *)f);
    fputs(sb_str(&text), out);
    sb_free(&text);
    text_free(&t);
    vec_free(&p.funcs);
}

void ir_print_text(strbuf *out, const ir_module *m)
{
    printed p = {0};
    ir_text t = begin(out, m, &p);
    text_heading(&t);
    text_write_declarations(&t);
    for (size_t i = 0; i < p.funcs.len; i++) {
        ir_func *f = p.funcs.at[i];
        sb_add(out, "\n");
        if (i >= p.whole) {
            text_gone(&t, f);
            continue;
        }
        sb_add(out, i >= p.own ? "aside " : "");
        sb_add(out, f == m->extents ? "extents " : "");
        text_function(&t, f);
    }
    text_free(&t);
    vec_free(&p.funcs);
}

void ir_print_module(FILE *out, const ir_module *m)
{
    strbuf text = {0};
    ir_print_text(&text, m);
    fputs(sb_str(&text), out);
    sb_free(&text);
}
