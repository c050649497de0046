/* Values in the IR's text: their definitions, their uses, numbers of operations. */
#include "ir/text/text.h"

#include <inttypes.h>

#include "ir/ops.h"

int64_t text_id(ir_text *t)
{
    int64_t id = 0;
    for (size_t i = 1; i < t->token_len && id < TEXT_MAX_VALUES; i++)
        id = 10 * id + (t->token[i] - '0');
    if (id >= TEXT_MAX_VALUES)
        text_fault(t, "a number beyond %d", TEXT_MAX_VALUES - 1);
    return t->failed ? 0 : id;
}

static void write_use(ir_text *t, const ir_value *v)
{
    if (v)
        text_write_id(t, '%', v->id);
    else
        sb_add(t->out, "%null");
}

/* NULL after a fault. */
static ir_value *read_use(ir_text *t)
{
    if (t->kind != TEXT_VALUE) {
        text_fault(t, "a value expected");
        return NULL;
    }
    const int64_t id = text_id(t);
    ir_value *v = id < (int64_t)t->values.len ? t->values.at[id] : NULL;
    if (!v)
        text_fault(t, "%%%" PRId64 " is not defined before", id);
    text_next(t);
    return v;
}

/* The operand that is next, of number i. */
void text_arg(ir_text *t, ir_op *op, int i)
{
    if (t->out) {
        write_use(t, op->args[i]);
        return;
    }
    ir_value *v = read_use(t);
    if (v)
        ir_add_arg(op, v);
}

int text_args(ir_text *t, ir_op *op, int i, int n)
{
    if (t->out ? i >= n : t->kind != TEXT_VALUE)
        return i;
    text_arg(t, op, i);
    for (i++; text_opt(t, ", ", i < n); i++)
        text_arg(t, op, i);
    return i;
}

void text_write_def(ir_text *t, const ir_value *v)
{
    text_write_id(t, '%', v->id);
    sb_addc(t->out, ':');
    sb_add(t->out, scalar_name(v->type));
    sb_add(t->out, v->exact ? "!" : "");
    sb_add(t->out, v->finite ? "~" : "");
    if (!v->name)
        return;
    sb_addc(t->out, ' ');
    text_name(t, &(const char *){v->name});
}

text_defined text_read_def(ir_text *t)
{
    text_defined d = {0};
    if (t->kind != TEXT_VALUE)
        text_fault(t, "a value expected");
    d.id = text_id(t);
    if (d.id < (int64_t)t->values.len && t->values.at[d.id])
        text_fault(t, "%%%" PRId64 " is defined twice", d.id);
    text_next(t);
    text_lit(t, ":");
    text_scalar(t, &d.type);
    text_flag(t, "!", &d.exact);
    text_flag(t, "~", &d.finite);
    if (text_is_name(t))
        text_name(t, &d.name);
    return d;
}

void text_define_value(ir_text *t, ir_value *v, const text_defined *d)
{
    v->id = (uint32_t)d->id;
    v->exact = d->exact;
    v->finite = d->finite;
    v->name = d->name;
    while ((int64_t)t->values.len <= d->id)
        vec_push(&t->values, NULL);
    if (t->values.at[d->id])
        text_fault(t, "%%%" PRId64 " is defined twice", d->id);
    else
        t->values.at[d->id] = v;
}

void text_params(ir_text *t, ir_region *r)
{
    for (int i = 0; t->out && i < r->nparams; i++) {
        sb_add(t->out, i ? ", " : "");
        text_write_def(t, r->params[i]);
    }
    if (t->out || t->kind != TEXT_VALUE)
        return;
    do {
        const text_defined d = text_read_def(t);
        text_define_value(t, ir_region_param(r, d.type, NULL), &d);
    } while (text_opt(t, ",", true));
}
