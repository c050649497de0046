/* The function of a task: its struct of arguments, the loop over its range of flattened iterations, partial results of
 * reductions. */
#include <string.h>

#include "emit/task.h"

static const src_loc nowhere = {0, 0, 0};

/* ---- the function's inside ---- */

static const char *scalar_decl(cfn *c, const ir_value *v, const char *name)
{
    return declare(c, v, false, name);
}

void combine_parts(cfn *c, const task *t, const char *(*other)(cfn *, const task *, int), const char *const *vars)
{
    for (int k = 0; k < t->plan.nparts; k++) {
        const task_part *p = &t->plan.parts[k];
        if (!p->wanted || (p->leader >= 0 && p->leader != k))
            continue;
        const scalar type = p->result->type;
        const char *y = other(c, t, k);
        if (p->leader < 0) {
            if (scalar_is_float(type))
                stmt(c, nowhere, "%s += %s;", vars[k], y);
            else
                stmt(c, nowhere, "%s = tk_add_%s(%s, %s);", vars[k], scalar_name(type), vars[k], y);
            continue;
        }
        const char sign = ir_reduce_is_max(p->kind) ? '>' : '<';
        if (ir_reduce_is_last(p->kind))
            stmt(c, nowhere, "if (%s && %s %c= %s) {", other(c, t, k + 1), y, sign, vars[k]);
        else
            stmt(c, nowhere, "if (%s %c %s) {", y, sign, vars[k]);
        c->indent++;
        stmt(c, nowhere, "%s = %s;", vars[k], y);
        for (int i = k + 1; i < t->plan.nparts && t->plan.parts[i].leader == k; i++)
            if (vars[i])
                stmt(c, nowhere, "%s = %s;", vars[i], other(c, t, i));
        close_block(c);
    }
}

static const char *yielded(cfn *c, const task *t, int k)
{
    const task_part *p = &t->plan.parts[k];
    const bool decides = p->leader == k || (ir_reduce_is_last(p->kind) && p->leader == k - 1);
    const expr e = decides ? val_simple(c, p->yield) : val(c, p->yield); /* the deciding ones are read twice */
    return decides ? paren(c, e, PREC_ADD) : e.text;
}

const char *part_hint(const task *t, int k)
{
    const task_part *p = &t->plan.parts[k];
    if (p->result->name)
        return p->result->name;
    return p->leader < 0 ? "sum" : p->leader != k ? NULL : ir_reduce_is_max(p->kind) ? "most" : "least";
}

static void declare_parts(cfn *c, task *t)
{
    names *members = names_create(c->e->mem, NULL); /* of the partial struct, where there are no variables */
    for (int k = 0; k < t->plan.nparts; k++) {
        const task_part *p = &t->plan.parts[k];
        if (!p->wanted)
            continue;
        t->part_names[k] = names_unique(t->plan.once ? members : c->names, part_hint(t, k));
        if (t->plan.once)
            continue;
        const char *init = p->leader < 0 ? zero_text(p->result->type) : val(c, p->init).text;
        stmt(c, nowhere, "%s = %s;", scalar_decl(c, p->result, t->part_names[k]), init);
    }
    names_free(members);
}

void print_initialiser(cfn *c, const char *before, strbuf *items)
{
    enum { LINE = 130 };
    const bool wide = strlen(before) + items->len + 4 * (size_t)c->indent > LINE;
    strbuf b = {0};
    for (const char *p = sb_str(items); *p; p++) {
        if (*p != '\n')
            sb_addc(&b, *p);
        else if (wide)
            sb_printf(&b, ",\n%*s", 4 * (c->indent + 1), "");
        else
            sb_add(&b, ", ");
    }
    if (wide)
        stmt(c, nowhere, "%s{\n%*s%s,\n%*s};", before, 4 * (c->indent + 1), "", sb_str(&b), 4 * c->indent, "");
    else
        stmt(c, nowhere, "%s{%s};", before, sb_str(&b));
    sb_free(&b);
    sb_free(items);
}

/* The struct of arguments, where the body reads it. */
static const char *args_of(cfn *c)
{
    c->uses_a = true;
    return c->a;
}

static void store_parts(cfn *c, const task *t)
{
    const char **vars = ARENA_ARRAY(c->e->mem, const char *, t->plan.nparts + 1);
    strbuf b = {0};
    for (int k = 0; k < t->plan.nparts; k++) {
        vars[k] = t->part_names[k];
        if (!t->plan.parts[k].wanted)
            continue;
        const char *value = t->plan.once ? val(c, t->plan.parts[k].yield).text : vars[k];
        if (t->partial_is_struct)
            sb_printf(&b, "%s.%s = %s", b.len ? "\n" : "", vars[k], value);
        else
            sb_add(&b, value);
    }
    const char *at = arena_printf(c->e->mem, "%s->%s[%s / %s->%s]", args_of(c), t->partial, t->lo, args_of(c),
                                  t->chunk);
    if (t->partial_is_struct) {
        print_initialiser(c, arena_printf(c->e->mem, "%s = (%s)", at, t->partial_type), &b);
    } else {
        stmt(c, nowhere, "%s = %s;", at, sb_str(&b));
        sb_free(&b);
    }
}

static void run_body(cfn *c, const task *t)
{
    const char **vars = ARENA_ARRAY(c->e->mem, const char *, t->plan.nparts + 1);
    for (int k = 0; k < t->plan.nparts; k++)
        vars[k] = t->part_names[k];
    emit_ops(c, t->op->regions[0]);
    if (!t->plan.once)
        combine_parts(c, t, yielded, vars);
    vec_clear(&c->loads);
}

static bool is_read(const cfn *c, const ir_value *v)
{
    return c->use[v->id].uses > 0;
}

/* "lo1 + " or nothing */
static const char *plus_low(cfn *c, const task *t, int d)
{
    return t->lows[d] ? arena_printf(c->e->mem, "%s->%s + ", args_of(c), t->lows[d]) : "";
}

static const char *low_text(cfn *c, const task *t, int d)
{
    return t->lows[d] ? arena_printf(c->e->mem, "%s->%s", args_of(c), t->lows[d]) : "0";
}

/* Names for the leading subscripts, from the position `at` among flattened iterations: divided by the extents from the
 * last dimension on. */
static void decode(cfn *c, const task *t, const char *at, int last)
{
    const ir_region *body = t->op->regions[0];
    const char *rest = at;
    for (int d = last; d >= 0; d--) {
        const ir_value *p = body->params[d];
        const bool named = is_read(c, p);
        const char *name = named ? names_unique(c->names, p->name ? p->name : "i") : NULL;
        if (d == 0) {
            if (named)
                stmt(c, nowhere, "const int64_t %s = %s%s;", name, plus_low(c, t, d), rest);
        } else {
            if (named)
                stmt(c, nowhere, "const int64_t %s = %s%s %% %s->%s;", name, plus_low(c, t, d), rest, args_of(c),
                     t->members[d]);
            bool more = false;
            for (int k = 0; k < d; k++)
                more |= is_read(c, body->params[k]);
            if (d > 1 && more) {
                const char *next = names_unique(c->names, "rest");
                stmt(c, nowhere, "const int64_t %s = %s / %s->%s;", next, rest, args_of(c), t->members[d]);
                rest = next;
            } else if (more) {
                rest = arena_printf(c->e->mem, "%s / %s->%s", rest, args_of(c), t->members[d]);
            }
        }
        if (named)
            define_name(c, p, name);
    }
}

static void loop_over_iterations(cfn *c, const task *t)
{
    const ir_region *body = t->op->regions[0];
    const int nd = ir_task_attr(t->op)->ndim;
    if (nd == 1) {
        const char *i = names_unique(c->names, body->params[0]->name ? body->params[0]->name : "i");
        define_name(c, body->params[0], i);
        stmt(c, t->op->loc, "for (int64_t %s = %s%s; %s < %s%s; %s++) {", i, plus_low(c, t, 0), t->lo, i,
             plus_low(c, t, 0), t->hi, i);
        c->indent++;
    } else {
        const char *at = names_unique(c->names, "at");
        stmt(c, t->op->loc, "for (int64_t %s = %s; %s < %s; %s++) {", at, t->lo, at, t->hi, at);
        c->indent++;
        decode(c, t, at, nd - 1);
    }
    emit_watch_iteration(c);
    run_body(c, t);
    close_block(c);
}

/* Variables for the subscripts `top` to nd - 2 of the first row, whose number is `row`. */
static void first_row(cfn *c, const task *t, const char *row, int top)
{
    const ir_region *body = t->op->regions[0];
    const int last = ir_task_attr(t->op)->ndim - 2;
    if (last - top > 0) {
        const char *name = names_unique(c->names, "row");
        stmt(c, nowhere, "const int64_t %s = %s;", name, row);
        row = name;
    }
    for (int d = last; d >= top; d--) {
        const char *name = names_unique(c->names, body->params[d]->name ? body->params[d]->name : "i");
        define_name(c, body->params[d], name);
        if (d == 0) {
            stmt(c, nowhere, "int64_t %s = %s%s;", name, plus_low(c, t, d), row);
            return;
        }
        stmt(c, nowhere, "int64_t %s = %s%s %% %s->%s;", name, plus_low(c, t, d), row, args_of(c), t->members[d]);
        row = arena_printf(c->e->mem, "%s / %s->%s", row, args_of(c), t->members[d]);
    }
}

/* Counts them on. */
static void next_row(cfn *c, const task *t, int d, int top)
{
    if (d < top)
        return;
    const char *name = c->v[t->op->regions[0]->params[d]->id].e.text;
    if (d == 0) {
        stmt(c, nowhere, "%s++;", name);
        return;
    }
    stmt(c, nowhere, "if (++%s == %s%s->%s) {", name, plus_low(c, t, d), args_of(c), t->members[d]);
    c->indent++;
    stmt(c, nowhere, "%s = %s;", name, low_text(c, t, d));
    next_row(c, t, d - 1, top);
    close_block(c);
}

/* The body holds the loop over a row segment and gets its bounds. */
static void loop_over_rows(cfn *c, const task *t)
{
    const ir_region *body = t->op->regions[0];
    const int nd = ir_task_attr(t->op)->ndim;
    const ir_value *seg_lo = body->params[nd - 1], *seg_hi = body->params[nd];
    const char *lo_hint = seg_lo->name ? seg_lo->name : "from", *hi_hint = seg_hi->name ? seg_hi->name : "to";
    if (nd == 1) {
        define_name(c, seg_lo, t->lows[0] ? names_unique(c->names, lo_hint) : t->lo);
        define_name(c, seg_hi, t->lows[0] ? names_unique(c->names, hi_hint) : t->hi);
        for (int k = 0; k < 2; k++)
            if (!is_read(c, body->params[k]))
                stmt(c, nowhere, "(void)%s;", k ? t->hi : t->lo);
        if (t->lows[0] && is_read(c, seg_lo))
            stmt(c, nowhere, "const int64_t %s = %s%s;", c->v[seg_lo->id].e.text, plus_low(c, t, 0), t->lo);
        if (t->lows[0] && is_read(c, seg_hi))
            stmt(c, nowhere, "const int64_t %s = %s%s;", c->v[seg_hi->id].e.text, plus_low(c, t, 0), t->hi);
        run_body(c, t);
        return;
    }
    const char *n = names_unique(c->names, "row_n");
    stmt(c, nowhere, "const int64_t %s = %s->%s;", n, args_of(c), t->members[nd - 1]);
    int top = 0; /* first subscript that the body asks for */
    while (top < nd - 1 && !is_read(c, body->params[top]))
        top++;
    first_row(c, t, arena_printf(c->e->mem, "%s / %s", t->lo, n), top);
    const char *from = names_unique(c->names, lo_hint), *to = names_unique(c->names, hi_hint),
               *left = names_unique(c->names, "left");
    stmt(c, nowhere, "int64_t %s = %s%s %% %s;", from, plus_low(c, t, nd - 1), t->lo, n);
    stmt(c, t->op->loc, "for (int64_t %s = %s - %s; %s > 0;) {", left, t->hi, t->lo, left);
    c->indent++;
    stmt(c, nowhere, "const int64_t %s = tk_min_i64(%s%s, %s + %s);", to, plus_low(c, t, nd - 1), n, from, left);
    stmt(c, nowhere, "%s -= %s - %s;", left, to, from);
    define_name(c, seg_lo, from);
    define_name(c, seg_hi, to);
    run_body(c, t);
    stmt(c, nowhere, "%s = %s;", from, low_text(c, t, nd - 1));
    next_row(c, t, nd - 2, top);
    close_block(c);
}

/* ---- the function and its struct ---- */

static const char *capture_hint(const task *t, size_t i)
{
    const ir_value *v = t->captures.at[i].value;
    const char *hint = t->fn->v[v->id].hint;
    return v->name ? v->name : hint ? hint : "outer";
}

static void take_members(task *t)
{
    emitter *e = t->fn->e;
    names *n = names_create(e->mem, NULL);
    t->m = names_unique_function(n, "m");
    t->chunk = names_unique_function(n, "chunk");
    t->partial = names_unique_function(n, "partial");
    for (int d = 0; d < ir_task_attr(t->op)->ndim; d++) {
        t->members[d] = names_unique_function(n, arena_printf(e->mem, "n%d", d));
        const ir_value *lo = t->op->args[2 * d];
        if (!ir_is_const(lo) || ir_int(lo) != 0)
            t->lows[d] = names_unique_function(n, arena_printf(e->mem, "lo%d", d));
    }
    for (size_t i = 0; i < t->captures.len; i++)
        t->captures.at[i].member = names_unique_function(n, capture_hint(t, i));
    t->scatter_members = ARENA_ARRAY(e->mem, const char *, t->plan.scatters.len + 1);
    for (size_t i = 0; i < t->plan.scatters.len; i++)
        t->scatter_members[i] = names_unique_function(n, t->fn->planes[t->plan.scatters.at[i]].acc_name);
    names_free(n);
}

static void take_partial_type(task *t)
{
    int wanted = 0, last = 0;
    for (int k = 0; k < t->plan.nparts; k++)
        if (t->plan.parts[k].wanted) {
            wanted++;
            last = k;
        }
    t->partial_is_struct = wanted > 1;
    if (wanted == 1)
        t->partial_type = c_type_of(t->fn, t->plan.parts[last].result);
    else if (wanted > 1)
        t->partial_type = arena_printf(t->fn->e->mem, "struct %s_partial", t->name);
}

static const char *capture_decl(cfn *c, const ir_value *v, bool constant, const char *name)
{
    const value_use *s = &c->use[v->id];
    if (v->type == SC_PTR && s->elem != SC_NONE && !s->layout) /* a kernel's array: tasks read it, or add to it */
        return arena_printf(c->e->mem, "%s%s *%s%s", s->added ? "" : "const ", scalar_c_type(s->elem),
                            constant ? "const " : "", name);
    return declare(c, v, constant, name);
}

static void print_structs(const task *t, strbuf *out)
{
    cfn *c = t->fn;
    emitter *e = c->e;
    if (t->partial_is_struct) {
        sb_printf(out, "%s {\n", t->partial_type);
        for (int k = 0; k < t->plan.nparts; k++)
            if (t->plan.parts[k].wanted)
                sb_printf(out, "    %s;\n", scalar_decl(c, t->plan.parts[k].result, t->part_names[k]));
        sb_add(out, "};\n\n");
    }
    sb_printf(out, "struct %s_args {\n    %s *%s;\n", t->name, e->m->name, t->m);
    if (t->partial_type)
        sb_printf(out, "    int64_t %s;\n", t->chunk);
    for (int d = 0; d < ir_task_attr(t->op)->ndim; d++) {
        if (d > 0)
            sb_printf(out, "    int64_t %s;\n", t->members[d]);
        if (t->lows[d])
            sb_printf(out, "    int64_t %s;\n", t->lows[d]);
    }
    for (size_t i = 0; i < t->captures.len; i++)
        sb_printf(out, "    %s;\n", capture_decl(c, t->captures.at[i].value, false, t->captures.at[i].member));
    for (size_t i = 0; i < t->plan.scatters.len; i++) {
        const ir_storage key = t->plan.scatters.at[i];
        sb_printf(out, "    %s;\n",
                  layout_pointer(e->mem, ir_storage_field(e->m, key), false, "", t->scatter_members[i],
                                 c->plan->planes[key].flat));
    }
    if (t->partial_type)
        sb_printf(out, "    %s *%s;\n", t->partial_type, t->partial);
    sb_add(out, "};\n\n");
}

static void print_function(task *t, const strbuf *body, strbuf *out)
{
    cfn *c = t->fn;
    emitter *e = c->e;
    strbuf hoists = {0};
    print_structs(t, out);
    cfn_hoists(c, &hoists);
    const bool scatter = c->atomic != NULL;
    const char *args = names_internal(c->names, c->fs->hints, "args");
    const char *whole = task_needs_whole_loops(&e->facts, t->op) ? "TK_WHOLE_LOOPS\n" : "";
    if (scatter)
        sb_printf(out, "TK_BODY void %s_body(const struct %s_args *%s, int64_t %s, int64_t %s, const bool %s)\n{\n",
                  t->name, t->name, c->a, t->lo, t->hi, c->atomic);
    else
        sb_printf(out,
                  "%sstatic void %s(const void *%s, int64_t %s, int64_t %s)\n{\n    const struct %s_args *const %s = "
                  "(const struct "
                  "%s_args *)%s;\n",
                  whole, t->name, args, t->lo, t->hi, t->name, c->a, t->name, args);
    if (c->uses_m || t->plan.stack)
        sb_printf(out, "    %s *const %s = %s->%s;\n", e->m->name, c->m, c->a, t->m);
    for (size_t i = 0; i < t->captures.len; i++) {
        const capture *k = &t->captures.at[i];
        sb_printf(out, "    %s = %s->%s;\n", capture_decl(c, k->value, true, c->v[k->value->id].e.text), c->a,
                  k->member);
    }
    sb_add(out, sb_str(&hoists));
    for (size_t i = 0; i < t->plan.scatters.len; i++) {
        const ir_storage key = t->plan.scatters.at[i];
        const plane_use *use = &c->plan->planes[key];
        if (!use->target)
            continue;
        const ir_field *f = ir_storage_field(e->m, key);
        const char *quals = !use->separate && !e->m->debug ? "restrict const " : "const ";
        sb_printf(out, "    %s = %s->%s;\n",
                  layout_pointer(e->mem, f, false, quals, c->planes[key].acc_name, use->flat), c->a,
                  t->scatter_members[i]);
    }
    if (t->plan.stack) {
        sb_printf(out, "    tk_stack *const %s = tk_stack_acquire(%s->tk.session);\n    if (!%s)\n        return;\n",
                  c->st, c->m, c->st);
    } else if (!c->uses_m && !t->captures.len && !c->uses_a && !scatter) {
        sb_printf(out, "    (void)%s;\n", c->a);
    }
    sb_addn(out, sb_str(body), body->len);
    if (t->plan.stack)
        sb_printf(out, "    %s\n", c->release);
    sb_add(out, "}\n");
    reset_line(e, out);
    sb_addc(out, '\n');
    for (int k = 0; k < 2 && scatter; k++)
        sb_printf(out,
                  "%sstatic void %s%s(const void *args, int64_t lo, int64_t hi)\n{\n    %s_body((const struct "
                  "%s_args *)args, lo, hi, %s);\n}\n\n",
                  whole, t->name, k ? "_atomic" : "", t->name, t->name, k ? "true" : "false");
    sb_free(&hoists);
}

bool is_array_target(const task *t, const capture *k)
{
    return t->fn->use[k->value->id].added;
}

/* A kernel that is a part of others has the same loops in each: they are printed once. */
static void print_once(task *t, const strbuf *body)
{
    strbuf text = {0};
    print_function(t, body, &text);
    const char *name = shared_name(t->fn->e, sb_str(&text), t->name);
    if (name == t->name)
        sb_addn(&t->run->tasks, sb_str(&text), text.len);
    t->name = name;
    take_partial_type(t);
    sb_free(&text);
}

/* Prints the task's function. The kernel's own expressions of captured values come back afterwards. */
void emit_task_function(task *t)
{
    cfn *c = t->fn;
    strbuf body = {0};
    c->out = &body;
    cfn_take_names(c, &t->plan.body);
    t->lo = names_internal(c->names, c->fs->hints, "lo");
    t->hi = names_internal(c->names, c->fs->hints, "hi");
    if (t->plan.scatters.len || t->plan.adds_to_arrays)
        c->atomic = names_internal(c->names, c->fs->hints, "atomic");
    take_members(t);
    take_partial_type(t);
    for (size_t i = 0; i < t->captures.len; i++) {
        capture *k = &t->captures.at[i];
        k->outside = c->v[k->value->id].e;
        define_name(c, k->value, names_unique_function(c->names, capture_hint(t, i)));
    }
    c->fail = "return;";
    c->release = t->plan.stack ? stack_release(c) : NULL;
    declare_parts(c, t);
    if (ir_task_attr(t->op)->rows)
        loop_over_rows(c, t);
    else
        loop_over_iterations(c, t);
    if (t->partial_type)
        store_parts(c, t);
    print_once(t, &body);
    for (size_t i = 0; i < t->captures.len; i++)
        c->v[t->captures.at[i].value->id].e = t->captures.at[i].outside;
    sb_free(&body);
}
