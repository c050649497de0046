/* Printing lines: indentation, the comment that names the source line, #line directives. */
#include "emit/emit_int.h"

#include <string.h>

/* Deeper blocks are not indented further: a chain of `else if`s would grow with the square of its length. */
enum { MAX_INDENT = 16 };

static void line_directive(cfn *c, src_loc loc)
{
    emitter *e = c->e;
    if (!e->opt->line_directives || !loc.line)
        return;
    const char *path = loc.file && e->m->diag ? diag_file_path(e->m->diag, loc.file) : e->m->source;
    sb_printf(c->out, "#line %u %s\n", loc.line, c_string(e->mem, path ? path : source_base(e)));
}

void stmt(cfn *c, src_loc loc, const char *fmt, ...)
{
    line_directive(c, loc);
    for (int i = 0; i < c->indent && i < MAX_INDENT; i++)
        sb_add(c->out, "    ");
    va_list ap;
    va_start(ap, fmt);
    sb_vprintf(c->out, fmt, ap);
    va_end(ap);
    if (loc.line && (loc.line != c->last.line || loc.file != c->last.file)) {
        sb_printf(c->out, " /* %s */", place_of(c->e, loc));
        c->last = loc;
    }
    sb_addc(c->out, '\n');
}

void close_block(cfn *c)
{
    c->indent--;
    stmt(c, (src_loc){0, 0, 0}, "}");
}

const char *stack_release(const cfn *c)
{
    return arena_printf(c->e->mem, "tk_stack_release(%s);", c->st);
}

void emit_leave(cfn *c)
{
    if (c->release)
        stmt(c, (src_loc){0, 0, 0}, "%s", c->release);
    stmt(c, (src_loc){0, 0, 0}, "%s", c->fail);
    c->fails = true;
}

void emit_fail_if(cfn *c, src_loc loc, const char *condition)
{
    stmt(c, loc, "if (%s)%s", condition, c->release ? " {" : "");
    c->indent++;
    emit_leave(c);
    if (c->release)
        close_block(c);
    else
        c->indent--;
}

/* emit_c replaces the mark by the number of the line that follows. */
void reset_line(emitter *e, strbuf *out)
{
    if (e->opt->line_directives)
        sb_add(out, "#line @\n");
}
