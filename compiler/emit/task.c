/* Parallel tasks as the kernel sees them: the plan, the arguments, the run, the results. */
#include <string.h>

#include "emit/task.h"

static const src_loc nowhere = {0, 0, 0};

static const char *extent_text(cfn *c, const ir_op *op, int d)
{
    const expr lo = val_simple(c, op->args[2 * d]), hi = val_simple(c, op->args[2 * d + 1]);
    return arena_printf(c->e->mem, "tk_extent(%s, %s)", lo.bare ? lo.bare : lo.text, hi.bare ? hi.bare : hi.text);
}

static const char *partial_value(cfn *c, const task *t, int k)
{
    return t->partial_is_struct ? arena_printf(c->e->mem, "%s.%s", t->fetched, t->part_names[k]) : t->fetched;
}

/* Extents of the iteration space. */
static void print_extents(cfn *c, const ir_op *op, const char **n)
{
    for (int d = 0; d < ir_task_attr(op)->ndim; d++) {
        n[d] = extent_text(c, op, d);
        if (ir_task_attr(op)->ndim > 1) {
            const char *name = names_unique(c->names, arena_printf(c->e->mem, "n%d", d));
            stmt(c, op->loc, "const int64_t %s = %s;", name, n[d]);
            n[d] = name;
        }
    }
}

/* Of dimensions from .. to-1, none of them: "1". */
static const char *product_text(arena *mem, const char *const *n, int from, int to)
{
    const char *text = from < to ? n[from] : "1";
    for (int d = from + 1; d < to; d++)
        text = arena_printf(mem, "tk_extents(%s, %s)", text, n[d]);
    return text;
}

static void print_plan(cfn *c, const task *t, const char *plan, const char *const *n)
{
    const ir_op *op = t->op;
    const int nd = ir_task_attr(op)->ndim;
    const char *total = product_text(c->e->mem, n, 0, nd);
    if (ir_task_attr(op)->ordered || ir_task_sum_decides(op)) {
        enum { COST = 16 }; /* of any such task, whatever it does */
        stmt(c, op->loc, "const tk_plan %s = tk_plan_make(%s, %s, %d);", plan, total,
             ir_task_attr(op)->ordered ? total : "1", COST);
        return;
    }
    const bool rows = ir_task_attr(op)->unit_dims == 0 &&
                      nd > 1; /* a cut row costs a little, so rows stay whole where there are many */
    const char *unit = product_text(c->e->mem, n, rows ? nd - 1 : nd - ir_task_attr(op)->unit_dims,
                                    nd);                   /* how many iterations must stay in one chunk */
    if (ir_task_attr(op)->lanes && strcmp(unit, "1") == 0) /* whole strips */
        unit = arena_printf(c->e->mem, "tk_strip(%s, %d)", total, ir_task_attr(op)->lanes);
    stmt(c, op->loc, "const tk_plan %s = %s(%s, %s, %lld);", plan, rows ? "tk_plan_rows" : "tk_plan_make", total, unit,
         (long long)task_cost(&c->e->facts, op));
}

static void print_args(cfn *c, const task *t, const char *name, const char *plan, const char *partial,
                       const char *const *n)
{
    emitter *e = c->e;
    strbuf b = {0};
    sb_printf(&b, ".%s = %s", t->m, c->m);
    c->uses_m = true;
    if (t->partial_type)
        sb_printf(&b, "\n.%s = %s.chunk", t->chunk, plan);
    for (int d = 0; d < ir_task_attr(t->op)->ndim; d++) {
        if (d > 0)
            sb_printf(&b, "\n.%s = %s", t->members[d], n[d]);
        if (t->lows[d])
            sb_printf(&b, "\n.%s = %s", t->lows[d], val_simple(c, t->op->args[2 * d]).text);
    }
    for (size_t i = 0; i < t->captures.len; i++)
        sb_printf(&b, "\n.%s = %s", t->captures.at[i].member, val_simple(c, t->captures.at[i].value).text);
    for (size_t i = 0; i < t->plan.scatters.len; i++) {
        const ir_storage key = t->plan.scatters.at[i];
        const ir_field *f = ir_storage_field(e->m, key);
        sb_printf(&b, "\n.%s = %s", t->scatter_members[i],
                  layout_plane(e->mem, c->m, e->field_names[f->index], f, ir_storage_plane(key), false, true));
    }
    if (t->partial_type)
        sb_printf(&b, "\n.%s = %s", t->partial, partial);
    print_initialiser(c, arena_printf(e->mem, "const struct %s_args %s = ", t->name, name), &b);
}

static const ir_scatter *scatter_of(const task *t, ir_storage key, int *first_fixed)
{
    *first_fixed = ir_task_first_fixed(t->op);
    for (int i = 0; i < ir_task_attr(t->op)->nscatters; i++) {
        const ir_scatter *s = &ir_task_attr(t->op)->scatters[i];
        if (ir_storage_of(s->field, s->plane) == key)
            return s;
        *first_fixed += s->nfixed;
    }
    return NULL;
}

/* What the default is not: whether it is shared, how many subscripts are fixed, and which. */
static const char *target_text(cfn *c, const task *t, ir_storage key)
{
    int first;
    const ir_scatter *s = scatter_of(t, key, &first);
    const bool shared = (s && s->shared) || t->plan.body.planes[key].separate;
    const int nfixed = s && !shared ? s->nfixed : 0;
    strbuf b = {0};
    if (shared)
        sb_add(&b, ", .shared = true");
    if (nfixed)
        sb_printf(&b, ", .fixed = %d", nfixed);
    for (int d = 0; d < nfixed; d++)
        sb_printf(&b, "%s%s%s", d ? ", " : ", .at = {", val_simple(c, t->op->args[first + d]).text,
                  d == nfixed - 1 ? "}" : "");
    if (s)
        sb_printf(&b, ", .adds = %lld", (long long)task_adds(t->op, s));
    const char *text = arena_strdup(c->e->mem, sb_str(&b));
    sb_free(&b);
    return text;
}

/* Returns how many there are. */
static int print_targets(cfn *c, const task *t, const char *targets)
{
    emitter *e = c->e;
    strbuf b = {0};
    int n = 0;
    for (size_t i = 0; i < t->plan.scatters.len; i++, n++) {
        const ir_storage key = t->plan.scatters.at[i];
        sb_printf(&b, "%s{.offset = offsetof(struct %s_args, %s), .field = %s, .plane = %s%s}", n ? "\n" : "", t->name,
                  t->scatter_members[i], field_address(e, c->m, ir_storage_field(e->m, key)),
                  plane_enum(ir_storage_plane(key)), target_text(c, t, key));
    }
    for (size_t i = 0; i < t->captures.len; i++) {
        const capture *k = &t->captures.at[i];
        const ir_op *local = k->value->def;
        if (!is_array_target(t, k))
            continue;
        const char *count = local->nargs ? val_simple(c, local->args[0]).text
                                         : arena_printf(e->mem, "%lld", (long long)ir_local_attr(local)->count);
        sb_printf(&b, "%s{.offset = offsetof(struct %s_args, %s), .count = %s, .elem = %s}", n++ ? "\n" : "", t->name,
                  k->member, count, ir_local_attr(local)->elem == SC_F32 ? "TK_F32" : "TK_F64");
    }
    print_initialiser(c, arena_printf(e->mem, "const tk_scatter_target %s[] = ", targets), &b);
    return n;
}

static void print_run(cfn *c, const task *t, const char *args, const char *plan)
{
    emitter *e = c->e;
    const char *session = session_text(c);
    if (!t->fn->atomic) {
        emit_fail_if(c, nowhere,
                     arena_printf(e->mem, "tk_run(%s, &%s, %s, &%s) != TK_OK", session, plan, t->name, args));
        return;
    }
    const char *targets = names_unique(c->names, arena_printf(e->mem, "targets%d", c->ntasks));
    const int ntargets = print_targets(c, t, targets);
    emit_fail_if(c, nowhere,
                 arena_printf(e->mem, "tk_run_scatter(%s, &%s, %s, %s_atomic, &%s, sizeof %s, %s, %d) != TK_OK",
                              session, plan, t->name, t->name, args, args, targets, ntargets));
}

/* Several tasks in one run, the last of which is `rest`. */
static void print_stages(cfn *c, const task *t, const char *args, const char *const *n)
{
    emitter *e = c->e;
    const ir_op *op = t->op;
    const char *one = arena_printf(e->mem, "{%s, &%s, %s, %s, %d}", t->name, args, n[0],
                                   product_text(e->mem, n, 1, ir_task_attr(op)->ndim), ir_task_attr(op)->periodic_halo);
    vec_push(&c->stages, ((stage){one, task_cost(&e->facts, op)}));
    if (ir_task_attr(op)->overlap_next)
        return;
    const char *stages = names_unique(c->names, arena_printf(e->mem, "stages%d", c->ntasks));
    int64_t cost = 0;
    strbuf text = {0};
    for (size_t i = 0; i < c->stages.len; i++) {
        sb_printf(&text, "%s%s", i ? "\n" : "", c->stages.at[i].text);
        cost += c->stages.at[i].cost;
    }
    print_initialiser(c, arena_printf(e->mem, "const tk_stage %s[] = ", stages), &text);
    emit_fail_if(c, nowhere,
                 arena_printf(e->mem, "tk_run_stages(%s, %s, %zu, %lld) != TK_OK", session_text(c), stages,
                              c->stages.len, (long long)cost));
    vec_clear(&c->stages);
}

/* Partial results in the order of the chunks: the same bits for any number of threads. */
static void combine_partials(cfn *c, task *t, const char *plan, const char *partial)
{
    const char **vars = ARENA_ARRAY(c->e->mem, const char *, t->plan.nparts + 1);
    for (int k = 0; k < t->plan.nparts; k++) {
        const task_part *p = &t->plan.parts[k];
        if (!p->wanted || p->only_decides)
            continue;
        vars[k] = names_unique(c->names, part_hint(t, k));
        stmt(c, nowhere, "%s = %s;", declare(c, p->result, false, vars[k]), val(c, p->init).text);
    }
    names_push(c->names);
    const char *k = names_unique(c->names, "k");
    t->fetched = arena_printf(c->e->mem, "%s[%s]", partial, k);
    stmt(c, nowhere, "for (int64_t %s = 0; %s < %s.nchunks; %s++) {", k, k, plan, k);
    c->indent++;
    combine_parts(c, t, partial_value, vars);
    close_block(c);
    names_pop(c->names);
    for (int i = 0; i < t->plan.nparts; i++)
        if (vars[i])
            define_name(c, t->plan.parts[i].result, vars[i]);
}

static bool in_loop(const ir_op *op)
{
    for (const ir_op *p = op->region->parent; p; p = p->region->parent)
        if (p->code == OP_LOOP)
            return true;
    return false;
}

void emit_task(cfn *c, const ir_op *op)
{
    emitter *e = c->e;
    task t = {.op = op,
              .run = c,
              .fn = cfn_create(e, c->f, CFN_TASK, c->fs),
              .name = arena_printf(e->mem, "%s_task%d", e->base, c->ntasks)};
    t.plan = plan_task(&e->facts, op, c->fs->use, (uint32_t)c->ntasks + 1, !e->opt->no_runtime, e->mem);
    t.part_names = ARENA_ARRAY(e->mem, const char *, t.plan.nparts + 1);
    for (size_t i = 0; i < t.plan.captures.len; i++)
        vec_push(&t.captures, ((capture){.value = t.plan.captures.at[i]}));
    for (size_t i = 0; i < t.captures.len; i++) { /* named here: the inside overwrites what they are called */
        const ir_value *v = t.captures.at[i].value;
        if (c->v[v->id].pending)
            materialise(c, v);
    }
    emit_task_function(&t);
    flush_reads(c, -1, 0, NULL);
    const bool staged = ir_task_attr(op)->overlap_next || c->stages.len;
    const char *plan = staged ? NULL : names_unique(c->names, arena_printf(e->mem, "plan%d", c->ntasks));
    const char *partial = NULL, *mark = NULL, *n[MAX_TASK_DIM];
    print_extents(c, op, n);
    if (!staged)
        print_plan(c, &t, plan, n);
    if (t.partial_type && in_loop(op)) { /* iterations must not collect partial results */
        mark = names_unique(c->names, arena_printf(e->mem, "mark%d", c->ntasks));
        stmt(c, nowhere, "const tk_mark %s = tk_scratch_mark(%s);", mark, session_text(c));
    }
    if (t.partial_type) {
        partial = names_unique(c->names, arena_printf(e->mem, "partial%d", c->ntasks));
        stmt(c, nowhere, "%s *const %s = (%s *)tk_scratch(%s, (size_t)%s.nchunks * sizeof *%s);", t.partial_type,
             partial, t.partial_type, session_text(c), plan, partial);
        emit_fail_if(c, nowhere, arena_printf(e->mem, "!%s", partial));
    }
    const char *args = names_unique(c->names, arena_printf(e->mem, "task%d", c->ntasks));
    print_args(c, &t, args, plan, partial, n);
    if (staged)
        print_stages(c, &t, args, n);
    else
        print_run(c, &t, args, plan);
    if (t.partial_type) {
        combine_partials(c, &t, plan, partial);
        if (mark)
            stmt(c, nowhere, "tk_scratch_reset(%s, %s);", session_text(c), mark);
    }
    c->ntasks++;
    cfn_free(t.fn);
    task_plan_free(&t.plan);
    vec_free(&t.captures);
}
