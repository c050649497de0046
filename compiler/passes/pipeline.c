/* The pipeline: one table, run from top to bottom. */
#include "ir/ops.h"
#include "ir/text/io.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/pipeline.h"
#include "passes/rules/rules.h"
#include "passes/schedule/schedule.h"
#include "passes/simplify/simplify.h"

#include <stdlib.h>
#include <string.h>

/* The functions that a row's pass is run on. */
typedef enum target {
    ON_MODULE,
    ON_ALL,      /* functions and kernels, derived ones included */
    ON_PRIMALS,  /* kernels as written */
    ON_SOURCES,  /* kernels and functions as written */
    ON_ADJOINTS, /* of kernels and functions, and the functions that they run again */
    ON_JVPS,
    ON_HVPS,
    ON_JACS,
    ON_GRADIENTS, /* adjoints, second-order products, Jacobians */
    ON_KERNELS    /* kernels of every kind */
} target;

/* With --debug each access of a primal is watched where the user wrote it: from here on none may move or vanish. */
typedef enum exempt { WATCHED = 1, IN_DEBUG = 2 } exempt;

/* By target. C compilers vectorise loops over rows, and one core runs many iterations. */
enum { FOR_C = 1 << TARGET_C };

/* One of check, check_func, run and change is set. A pass that can refuse the program, check, returns false after its
 * diagnostics. */
typedef struct pass_row {
    const char *name, *what;
    target on;
    unsigned not_for; /* exempt: functions that the pass leaves alone */
    bool (*check)(ir_module *m);
    bool (*check_func)(ir_func *f);
    void (*run)(ir_func *f);
    bool (*change)(ir_func *f); /* returns whether it changed f */
    void (*then)(ir_func *f);   /* cleans up what `change` changed */
    void (*behind)(ir_func *f); /* runs on the functions `behind_on` when the row is done */
    target behind_on;
    const char *again; /* the row behind which it runs once more, on what has changed since */
    unsigned only;     /* the targets that it is for; 0: all */
    unsigned gone;     /* ir_gone: what there is none of from here on, also not in what later passes make */
} pass_row;

/* ---- passes in the shape of the table ---- */

static bool is_on(target on, const ir_func *f)
{
    switch (on) {
    case ON_MODULE:
        return false;
    case ON_ALL:
        return f != f->module->extents;
    case ON_PRIMALS:
        return f->kind == IR_KERNEL;
    case ON_SOURCES:
        return f->kind == IR_KERNEL || (f->kind == IR_FUNC && !f->ad.primal && f != f->module->extents);
    case ON_ADJOINTS:
        return f->kind == IR_KERNEL_GRAD ||
               (f->ad.primal && (f->ad.primal->ad.vjp == f || f->ad.primal->ad.replay == f));
    case ON_JVPS:
        return f->kind == IR_KERNEL_JVP;
    case ON_HVPS:
        return f->kind == IR_KERNEL_HVP;
    case ON_JACS:
        return f->kind == IR_KERNEL_JAC;
    case ON_GRADIENTS:
        return is_on(ON_ADJOINTS, f) || is_on(ON_HVPS, f) || is_on(ON_JACS, f);
    case ON_KERNELS:
        return f->kind != IR_FUNC;
    }
    return false;
}

static void simplify(ir_func *f)
{
    pass_simplify(f);
    if (!is_on(ON_ADJOINTS, f))
        return;
    bool changed = pass_unread_stores(f);
    changed |= f->kind == IR_KERNEL_GRAD && pass_sunk_sums(f);
    if (changed)
        pass_simplify(f);
}

static bool run_inline(ir_module *m)
{
    pass_inline(m);
    return true;
}

static bool overwrites_active(const ir_op *op)
{
    return (op->code == OP_STORE || ir_atomic_is_extreme(op)) && ir_access_attr(op)->plane == IR_DATA &&
           ir_field_of(op)->grad;
}

/* Returns the adjoint by the inputs of that kind of derivative, which belongs to the caller; NULL after errors. */
static ir_func *adjoint_by(ir_func *k, int kind)
{
    ir_func *from = k->ad.with_locals ? k->ad.with_locals : k;
    ir_sigparam *sig = from->sig;
    from->sig = signature_by(from, kind);
    ir_func *made = pass_reverse(from) ? from->ad.grad : NULL;
    from->sig = sig;
    from->ad.grad = NULL;
    if (made)
        made->ad.primal = k;
    return made;
}

static const char *derived_name(const ir_func *k, const char *suffix)
{
    return intern(k->module->names, arena_printf(k->module->mem, "%s_%s", k->name, suffix));
}

/* One that is not the program's: what is made of it has other inputs than its gradient. */
static ir_func *adjoint_beside(ir_func *k, int kind, const char *suffix)
{
    ir_func *made = adjoint_by(k, kind);
    if (made)
        made->name = derived_name(k, suffix);
    return made;
}

/* A plain store takes the gradient of what was there, and so does the winner of a minimum, also in a no_grad kernel:
 * that is the whole adjoint of one. */
static bool derive_grad(ir_func *k)
{
    if (k->ad.custom_grad) {
        k->ad.grad = k->ad.custom_grad;
        return true;
    }
    if (k->ad.no_grad ? !ir_has(k->body, overwrites_active)
                      : k->ad.no_grad_why || !(ir_derives(k) & (IR_DERIVE_GRAD | IR_DERIVE_HVP | IR_DERIVE_HESS)))
        return true;
    /* From here on an origin is an operation of the primal: what derived code replays. */
    ir_forget_origins(k->ad.with_locals ? k->ad.with_locals : k);
    const int kinds = ir_derives(k);
    if ((kinds & IR_DERIVE_HESS) && !(k->ad.curved = adjoint_beside(k, IR_DERIVE_HESS, "curved")))
        return false;
    if (needs_bent(k) && !(k->ad.bent = adjoint_beside(k, IR_DERIVE_HVP, "bent")))
        return false;
    if ((kinds & IR_DERIVE_HESS) && !(kinds & (IR_DERIVE_GRAD | IR_DERIVE_HVP)))
        return true;
    k->ad.grad = adjoint_by(k, IR_DERIVE_GRAD);
    return k->ad.grad != NULL;
}

static bool bars_scope(const ir_op *op)
{
    if (!op_accesses_field(op->code))
        return false;
    const ir_plane plane = ir_access_attr(op)->plane;
    return ir_plane_is_tangent(plane) ||
           (ir_atomic_is_extreme(op) && plane == IR_DATA && ir_field_has_tangents(ir_field_of(op)));
}

/* In a forward scope a no_grad kernel does what its adjoint does on the way back: a plain store takes the dual of what
 * was there. What duals are to it, and where a minimum is set, that does not say. */
static bool stands_in_scope(const ir_func *k)
{
    return k->ad.no_grad && !ir_has(k->body, bars_scope);
}

static bool derive_jvp(ir_func *k)
{
    const int errors = diag_error_count(k->module->diag);
    const bool passive = stands_in_scope(k),
               wanted = !k->ad.no_grad && !k->ad.no_jvp_why && (ir_derives(k) & IR_DERIVE_JVP);
    const int width = passive || wanted || k->ad.custom_jvp ? jvp_width(k, passive) : 1;
    if (!width)
        return false;
    if (k->ad.custom_jvp)
        k->ad.jvp = k->ad.custom_jvp;
    else if (passive)
        pass_forward(k, IR_KERNEL_JVP, derived_name(k, "jvp"), width);
    else if (wanted && record_for_tangents(k)) {
        ir_sigparam *sig = k->sig;
        k->sig = signature_by(k, IR_DERIVE_JVP);
        pass_forward(k, IR_KERNEL_JVP, derived_name(k, "jvp"), width);
        k->sig = sig;
        record_forget_tangents(k);
    }
    return diag_error_count(k->module->diag) == errors;
}

static bool derive_hvp(ir_func *k)
{
    const int errors = diag_error_count(k->module->diag);
    if ((k->ad.grad || k->ad.bent) &&
        ((ir_derives(k) & IR_DERIVE_HVP) || (k->ad.no_grad && k->ad.jvp && activity_has_second_order(k->module))))
        if (refuse_wide_product(k))
            pass_forward(k->ad.bent ? k->ad.bent : k->ad.grad, IR_KERNEL_HVP, derived_name(k, "hvp"), 1);
    if (k->ad.bent)
        rev_forget(k->module, k->ad.bent);
    k->ad.bent = NULL;
    return diag_error_count(k->module->diag) == errors;
}

static bool is_wide_adjoint(const ir_op *op)
{
    return op->code == OP_LOAD && ir_field_of(op)->wide_of && ir_field_of(op)->wide_plane == IR_GRAD;
}

static bool wide_grad(ir_module *m)
{
    const bool ok = pass_wide_grad(m);
    for (size_t i = 0; i < m->funcs.len && ok; i++)
        if (is_on(ON_ADJOINTS, m->funcs.at[i]) && ir_has(m->funcs.at[i]->body, is_wide_adjoint))
            simplify(m->funcs.at[i]);
    return ok;
}

/* What the gradient of an export func takes from the function itself it need not compute. */
static void drop_results(ir_func *f)
{
    if (!f->ad.primal || !f->ad.primal->ad.results_separate)
        return;
    ir_op *y = ir_yield_of(f->body);
    ir_builder b = {.func = f, .region = f->body, .before = y, .loc = y->loc};
    for (int i = 0; i < f->ad.primal->nresults; i++)
        y->args[i] = ir_zero(&b, y->args[i]->type);
    pass_simplify(f);
}

static bool has_dual(const ir_op *op)
{
    const bool memory = op->code == OP_LOAD || op->code == OP_STORE || op->code == OP_ACCUM;
    return (memory && (ir_plane_is_tangent(ir_access_attr(op)->plane) ||
                       (ir_field_of(op)->wide_of && ir_plane_is_tangent(ir_field_of(op)->wide_plane)))) ||
           (op->code == OP_ATOMIC && ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT) ||
           op->code == OP_CALL; /* rare enough not to look inside */
}

/* Where no field of a kernel has a dual its JVP does what the primal does: one piece of C serves as both. */
static bool share_jvps(ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *k = m->funcs.at[i];
        if (!k || !ir_is_kernel(k) || !k->ad.jvp || k->ad.custom_jvp || k->nresults ||
            ir_has(k->ad.jvp->body, has_dual))
            continue;
        for (size_t at = 0; at < m->funcs.len; at++)
            if (m->funcs.at[at] == k->ad.jvp)
                m->funcs.at[at] = NULL;
        k->ad.jvp = k;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i])
            m->funcs.at[n++] = m->funcs.at[i];
    m->funcs.len = n;
    return true;
}

static bool is_watched(const ir_func *f)
{
    return f->module->debug && !f->ad.primal && !f->pure;
}

/* The carried values that are left without use go. What an inner loop adds to a counter may then be the same in each
 * trip of the outer one. Behind it, what left two loops is one value: a subscript, by which sums are told to be into
 * one element. */
static bool invariants(ir_func *f)
{
    while (pass_inductions(f))
        pass_simplify(f);
    bool changed = pass_invariants(f);
    if (f->kind == IR_KERNEL) {
        changed |= pass_kept_sums(f);
        changed |= pass_forward_kept(f);
        changed |= pass_spared_stores(f);
    }
    return changed;
}

/* In a module with --debug derivatives, too, keep their writes, which are looked at for NaN. */
static bool forward_stores(ir_func *f)
{
    return !f->module->debug && pass_forward_stores(f);
}

static bool store_once(ir_func *f)
{
    const bool plain = !f->module->debug && f->kind != IR_FUNC && pass_plain_stores(f);
    return forward_stores(f) || plain;
}

/* Constant factors of gathered sums meet. */
static void simplify_gathered(ir_func *f)
{
    if (!is_watched(f))
        pass_simplify(f);
    pass_scale(f);
}

static void clean_up(ir_func *f)
{
    bool again = true;
    for (int i = 0; i < 3 && again; i++) {
        again = pass_licm(f);
        again |= forward_stores(f);
        again |= pass_cse(f);
        again |= pass_dce(f);
    }
}

/* What becomes a sum over a task behind `parallel` is added in f64 as well. */
static void promote(ir_func *f)
{
    pass_promote(f);
    if (f->classed)
        pass_wide_sums(f);
}

static void captures(ir_func *f)
{
    pass_captures(f);
    pass_order(f);
}

static void stages(ir_func *f)
{
    pass_stages(f);
    pass_slabs(f);
}

static void merge_masked(ir_func *f)
{
    forward_stores(f);
    pass_simplify_clones(f);
}

static bool simd(ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (pass_selects(m->funcs.at[i])) {
            pass_cse(m->funcs.at[i]);
            pass_dce(m->funcs.at[i]);
        }
    return pass_simd(m);
}

static bool vectors(ir_module *m)
{
    const bool ok = pass_vectors(m);
    strip_second_order(m);
    return ok;
}

static void merge_equal(ir_func *f)
{
    pass_cse(f);
}

static void parallel(ir_func *f)
{
    if (f->kind != IR_FUNC)
        pass_wide_sums(f);
    pass_parallel(f);
}

static bool strip(ir_module *m)
{
    return pass_strip(m, is_watched);
}

/* ---- the table ---- */

static const pass_row table[] = {
    {"func-grad", "gradients of functions become functions", ON_MODULE, .check = pass_func_grad,
     .gone = IR_GONE_GRADIENT},
    {"scratch", "scratch fields are zero when a launch begins", ON_MODULE, .check = pass_scratch},
    {"lost-gradient", "which kernels have derivatives; lost gradients are errors", ON_MODULE,
     .check = pass_lost_gradient},
    {"inline", "small functions, and functions called once", ON_MODULE, .check = run_inline},
    {"simplify", "folding, common subexpressions, dead code; in adjoints, stores into arrays that nobody reads", ON_ALL,
     .run = simplify},
    {"vectors", "derivatives of singular vectors and eigenvectors: a warning", ON_MODULE, .check = vectors},
    {"unroll", "loops of few trips in parallel loops, and in functions with Jacobians, are written out", ON_PRIMALS,
     .not_for = IN_DEBUG, .change = pass_unroll, .then = pass_simplify},
    {"decisions", "floats that steer, and what they are computed from, are exact; in adjoints what decides there",
     ON_MODULE, .check = pass_decisions, .again = "rules"},
    {"invariants", "counters follow from the index of their loop; invariants leave it, so that adjoints save them once",
     ON_SOURCES, .not_for = IN_DEBUG, .change = invariants, .then = merge_equal},
    {"far-guards", "warnings: conditions too far from the pole that they exclude", ON_MODULE, .check = pass_far_guards},
    {"arrays", "arrays of the host that are written", ON_PRIMALS, .run = pass_arrays},
    {"reverse", "adjoints of kernels", ON_PRIMALS, .check_func = derive_grad, .behind = simplify,
     .behind_on = ON_ADJOINTS, .gone = IR_GONE_OLD},
    {"spectral", "gradients by singular values that second-order products differentiate", ON_MODULE,
     .check = pass_spectral, .gone = IR_GONE_GRADIENT},
    {"rules", "data-access rules: overwritten reads and races are errors", ON_SOURCES, .check_func = pass_rules},
    {"jacobian", "Jacobians and Hessians of export funcs, as straight-line code", ON_PRIMALS,
     .check_func = pass_jacobian, .behind = pass_simplify, .behind_on = ON_JACS},
    {"elements", "sparse Jacobians and Hessians of kernels, as kernels", ON_PRIMALS, .check_func = pass_elements},
    {"forward", "JVPs of kernels", ON_PRIMALS, .check_func = derive_jvp, .behind = pass_simplify, .behind_on = ON_JVPS},
    {"share-jvps", "a JVP without duals is the primal", ON_MODULE, .check = share_jvps},
    {"hvp", "JVPs of adjoints, where asked for", ON_PRIMALS, .check_func = derive_hvp, .behind = pass_simplify,
     .behind_on = ON_HVPS},
    {"wide-grad", "adjoints of fields whose gradients have several directions", ON_MODULE, .check = wide_grad},
    {"results", "gradients, second-order products and Jacobians of export funcs call these for results", ON_GRADIENTS,
     .run = drop_results},
    {"reread", "what launches stored is read by adjoints that need it in any case", ON_PRIMALS, .run = pass_reread},
    {"algebra", "reciprocals, constant factors and common factors, in adjoints", ON_ALL, .run = pass_algebra},
    {"adjoint-calls", "adjoints that kernels launch become a part of them", ON_PRIMALS,
     .check_func = pass_adjoint_calls, .gone = IR_GONE_ADJOINT},
    {"parts", "what launches write and need, for tapes", ON_MODULE, .check = pass_parts, .again = "clean-up"},
    {"strip", "stop_grad has done its work; functions that nobody calls, and arguments that functions do not read",
     ON_MODULE, .check = strip, .gone = IR_GONE_STOP},
    {"forward-stores", "an element that is written several times is written once", ON_ALL, .change = store_once,
     .then = pass_simplify},
    {"symmetry", "what pairs add to their second element they add to the first", ON_KERNELS, .not_for = IN_DEBUG,
     .change = pass_symmetry, .then = pass_simplify},
    {"promote", "sums into one element, of a task or a row, become reductions", ON_KERNELS, .not_for = IN_DEBUG,
     .run = promote, .again = "rows"},
    {"gather", "accumulations into neighbours become gathers", ON_KERNELS, .not_for = WATCHED, .change = pass_gather,
     .behind = simplify_gathered, .behind_on = ON_ALL},
    {"parallel", "class of each write; sums of f32 over parallel loops are added in f64", ON_ALL, .run = parallel,
     .gone = IR_GONE_NARROW_SUM},
    {"rows", "innermost dimension of tasks as a loop", ON_KERNELS, .only = FOR_C, .not_for = WATCHED, .run = pass_rows,
     .gone = IR_GONE_FLAT_TASK},
    {"peel", "subscripts that are periodic or clamped are plain between the ends of a row", ON_KERNELS, .only = FOR_C,
     .not_for = WATCHED, .change = pass_peel, .then = pass_simplify},
    {"clean-up", "invariants out of loops, stored values, common subexpressions, dead code", ON_ALL, .not_for = WATCHED,
     .run = clean_up},
    {"captures", "cheap values are computed in tasks instead of being handed to them", ON_KERNELS, .run = captures},
    {"stages", "gathers run interleaved with the rest of their task; the part of a field that a task scatters into",
     ON_KERNELS, .only = FOR_C, .run = stages},
    {"masks", "small branches in what becomes lanes", ON_KERNELS, .only = FOR_C, .change = pass_masks,
     .then = merge_masked},
    {"lanes", "iterations with inner loops, minima and maxima as lanes of vectors", ON_KERNELS, .only = FOR_C,
     .run = pass_lanes},
    {"frames", "large arrays, and those of sizes known at run time, on the stack of saved values", ON_ALL,
     .run = pass_frames, .gone = IR_GONE_SIZED},
    {"live-order", "operations of Jacobians and Hessians stand by their entries", ON_JACS, .only = FOR_C,
     .run = pass_live_order},
    {"simd",
     "loops that may be vectorised with reordering; branches in them go, and they store what they save by member",
     ON_MODULE, .only = FOR_C, .check = simd},
    {"workspace", "memory that the gradients of export funcs ask their callers for", ON_MODULE,
     .check = pass_workspace},
};

enum { TABLE_LEN = sizeof table / sizeof table[0] };

static void after(ir_module *m, const pipeline_options *opt, const char *name, unsigned gone)
{
    if (opt->dump_after && (strcmp(opt->dump_after, "all") == 0 || strcmp(opt->dump_after, name) == 0)) {
        fprintf(stderr, "; after %s\n", name);
        ir_print_module(stderr, m);
    }
    if (!opt->verify)
        return;
    bool ok = true;
    for (size_t i = 0; i < m->funcs.len; i++)
        ok &= ir_verify_gone(m->funcs.at[i], name, gone);
    if (!ok)
        abort(); /* a fault of the compiler: the verifier has printed it */
}

static bool is_exempt(const pass_row *row, const ir_func *f)
{
    return ((row->not_for & WATCHED) && is_watched(f)) || ((row->not_for & IN_DEBUG) && f->module->debug);
}

static bool run_on(const pass_row *row, ir_func *f)
{
    if (row->check_func)
        return row->check_func(f);
    if (row->run)
        row->run(f);
    else if (row->change(f) && row->then)
        row->then(f);
    return true;
}

static bool run_row(ir_module *m, const pass_row *row)
{
    if (row->check)
        return row->check(m);
    bool ok = true;
    const size_t n = m->funcs.len; /* what a pass adds is for the next row */
    for (size_t i = 0; i < n; i++)
        if (is_on(row->on, m->funcs.at[i]) && !is_exempt(row, m->funcs.at[i]))
            ok &= run_on(row, m->funcs.at[i]);
    return ok;
}

static void run_behind(ir_module *m, const pass_row *row)
{
    for (size_t i = 0; i < m->funcs.len && row->behind; i++)
        if (is_on(row->behind_on, m->funcs.at[i]))
            row->behind(m->funcs.at[i]);
}

static bool run_again(ir_module *m, const char *behind)
{
    bool ok = true;
    for (size_t i = 0; i < TABLE_LEN && ok; i++)
        if (table[i].again && !strcmp(table[i].again, behind))
            ok = run_row(m, &table[i]);
    return ok;
}

static bool is_for(const pass_row *row, pipeline_target to)
{
    return !row->only || (row->only & 1u << to);
}

/* The rows one after the other; with through_text, each gets what is read of the printed IR. */
static bool run_rows(ir_module *m, const pipeline_options *opt, strbuf *text)
{
    const char *last = "lower";
    unsigned gone = 0;
    after(m, opt, last, gone);
    for (size_t i = 0; i < TABLE_LEN; i++) {
        if (opt->through_text && !ir_reread_module(m, last, text, stderr))
            return false;
        if (is_for(&table[i], opt->target)) {
            if (!run_row(m, &table[i]))
                return false;
            run_behind(m, &table[i]);
            gone |= table[i].gone;
        }
        if (!run_again(m, table[i].name))
            return false;
        last = table[i].name;
        after(m, opt, last, gone);
    }
    return !opt->through_text || ir_reread_module(m, last, text, stderr);
}

bool pipeline_run(ir_module *m, const pipeline_options *opt)
{
    strbuf text = {0};
    const bool ok = run_rows(m, opt, &text);
    sb_free(&text);
    for (size_t i = 0; i < m->funcs.len && opt->explain && ok; i++)
        if (m->funcs.at[i]->kind != IR_FUNC)
            explain_kernel(stdout, m->funcs.at[i]);
    return ok;
}

static const pass_row *find_row(const char *name)
{
    for (size_t i = 0; i < TABLE_LEN; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

bool pipeline_has(const char *name)
{
    return !strcmp(name, "lower") || find_row(name);
}

/* What derives runs once: it knows nothing of operations that it or passes behind it make. */
static bool is_derived(const ir_module *m, const char *name)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if ((!strcmp(name, "reverse") && f->ad.grad) || (!strcmp(name, "forward") && f->ad.jvp) ||
            (!strcmp(name, "hvp") && f->ad.hvp)) {
            fprintf(stderr, "tkc: error: --run-pass=%s: kernel '%s' has what this pass makes already\n", name, f->name);
            return true;
        }
    }
    return false;
}

bool pipeline_run_pass(ir_module *m, const char *name)
{
    const pass_row *row = find_row(name);
    bool ok = !row || (!is_derived(m, name) && run_row(m, row));
    for (size_t i = 0; i < m->funcs.len && ok; i++)
        ok = ir_verify_gone(m->funcs.at[i], name, row ? row->gone : 0);
    return ok;
}

void pipeline_list(FILE *out)
{
    fprintf(out, "%-18s %s\n", "lower", "the typed tree as IR");
    for (size_t i = 0; i < TABLE_LEN; i++) {
        const pass_row *row = &table[i];
        fprintf(out, "%-18s %s%s%s\n", row->name, row->what, row->again ? "; again behind " : "",
                row->again ? row->again : "");
    }
}
