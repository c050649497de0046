/* A tape under a budget of bytes: the log of its launches, and when images are taken of the data. */
#include "loops.h"

#include "files.h"

/* ---- opening and closing ---- */

tk_status tk_tape_budget(tk_session *s, size_t bytes)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_tape_budget: the session is NULL");
    RT_ENTER(s, "tk_tape_budget", TK_BAD_STATE);
    const tk_status st = tk_rt_check_no_tape(s, "setting the budget of tapes");
    if (st == TK_OK)
        s->tape_budget = bytes;
    return st;
}

tk_tape_report tk_tape_last_report(const tk_session *s)
{
    return s ? s->report : (tk_tape_report){0};
}

/* Of a budget: memory around what is counted, such as stacks and the array of entries. */
static size_t set_aside(size_t bytes)
{
    enum { SHARE = 12, MOST = 192 << 10 };
    return bytes / SHARE < MOST ? bytes / SHARE : MOST;
}

tk_status tk_rt_budget_open(tk_session *s)
{
    s->report = (tk_tape_report){.budget = s->tape_budget};
    if (s->tape_budget == 0)
        return TK_OK;
    struct rt_budget *u = tk_rt_alloc(s, sizeof *u, true);
    if (!u)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the log of a tape");
    *u = (struct rt_budget){
        .bytes = s->tape_budget - set_aside(s->tape_budget), .used = sizeof *u, .report = s->report};
    u->file = tk_rt_file_open(s);
    if (s->files && !u->file) {
        tk_rt_free(s, u);
        return tk_session_status(s);
    }
    s->tape.budget = u;
    s->epoch++;
    return TK_OK;
}

void tk_rt_budget_close(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    if (!u)
        return;
    while (u->nsegments > 0)
        tk_rt_segment_pop(s);
    tk_rt_image_free(s, &u->touched);
    tk_rt_image_free(s, &u->read);
    tk_rt_image_free(s, &u->born);
    tk_rt_nodes_free(s, &u->log);
    tk_rt_free(s, u->words);
    tk_rt_free(s, u->segment);
    s->report = u->report;
    s->report.launches = u->n;
    s->report.filed = tk_rt_file_most(u->file);
    tk_rt_file_close(s, u->file);
    tk_rt_free(s, u);
    s->tape.budget = NULL;
    s->again = false;
}

/* ---- what fits ---- */

void tk_rt_budget_count(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    const size_t used = budget_used(s);
    u->report.bytes = used > u->report.bytes ? used : u->report.bytes;
}

/* The last data are kept as well while the adjoints run, and a few launches are recorded. */
static size_t limit(const struct rt_budget *u)
{
    const size_t left = u->bytes > u->final_bytes ? u->bytes - u->final_bytes : 0;
    return left - left / 4;
}

/* Entries are lines from here on. */
static void go_over(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    rt_tape *t = &s->tape;
    u->entry_bytes = t->count > 0 ? t->bytes / t->count + 1 : 1;
    u->stride = t->count / 8 + 1;
    u->over = true;
    tk_rt_entries_drop(s);
}

/* Segments in pairs, none of which is a call that runs once. */
static bool join_pairs(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    bool any = false;
    for (size_t i = 0; i + 2 < u->nsegments; i++) /* the last one is open */
        if (!u->segment[i].fixed && !u->segment[i + 1].fixed) {
            tk_rt_segment_join(s, i);
            any = true;
        }
    return any;
}

tk_status tk_rt_budget_refuse(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    const size_t counted = (u->used + u->entry_bytes) / 3 * 4 + 4 + u->final_bytes,
                 least = counted + set_aside(counted + counted / 8);
    return tk_fail(s, TK_BAD_ARGUMENT,
                   "a budget of %zu bytes is too small for %zu launches of a tape: it takes %zu bytes at least",
                   s->tape_budget, u->n, least);
}

/* What all do if one process wants it; alone, what this one wants. */
typedef struct wishes {
    bool over, joins;
} wishes;

static tk_status decide(tk_session *s, wishes *w)
{
    enum { LINES, LINES_LESS, OVER, STRIDE, JOINS };
    struct rt_budget *u = s->tape.budget;
    int64_t words[] = {(int64_t)u->n, -(int64_t)u->n, w->over, (int64_t)(s->tape.count / 8 + 1), w->joins};
    if (tk_rt_agree(s, "the schedule of a budget", words, 5) != TK_OK)
        return tk_session_status(s);
    if (words[LINES] != -words[LINES_LESS])
        return tk_fail(
            s, TK_BAD_STATE,
            "under a budget, processes launched other numbers of kernels on a tape: this one %zu, others %lld "
            "to %lld",
            u->n, (long long)-words[LINES_LESS], (long long)words[LINES]);
    w->over = words[OVER];
    w->joins = words[JOINS];
    if (!u->over && w->over) {
        go_over(s);
        u->stride = (size_t)words[STRIDE];
    }
    return TK_OK;
}

static void measure(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    tk_rt_budget_count(s);
    if (!u->over && s->tape.bytes - u->before > u->largest)
        u->largest = s->tape.bytes - u->before;
    u->before = s->tape.bytes;
}

/* One of several processes decides nothing alone: it goes on to the next call that all make. */
static tk_status wait(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    tk_rt_budget_count(s);
    if (!tk_rt_image_exceeds(s, u->final_bytes, u->bytes))
        return TK_OK;
    if (tk_failed(s))
        return tk_session_status(s);
    return tk_fail(
        s, TK_BAD_ARGUMENT,
        "a budget of %zu bytes is too small for the launches between two calls that all processes make: they "
        "take %zu bytes so far",
        s->tape_budget, budget_used(s) + u->final_bytes);
}

/* Whether images do not fit even with a file. */
static bool wants_joins(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    return u->over ? tk_rt_image_exceeds(s, 0, limit(u)) : u->used > limit(u);
}

static tk_status fit(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    measure(s);
    wishes w = {.over = !u->over && budget_used(s) > limit(u), .joins = wants_joins(s)};
    const bool was_over = u->over;
    tk_status st = decide(s, &w);
    if (st == TK_OK && u->over && !was_over && w.joins) {
        w.joins = wants_joins(s);
        st = decide(s, &w);
    }
    while (st == TK_OK && u->over && w.joins) {
        if (!join_pairs(s))
            return u->used + u->final_bytes > u->bytes ? tk_rt_budget_refuse(s) : TK_OK;
        u->stride *= 2;
        w.joins = wants_joins(s);
        st = decide(s, &w);
    }
    return st;
}

/* ---- launches ---- */

static tk_status refuse(tk_module *m, const tk_kernel *k, const tk_field *f, const char *what)
{
    return tk_fail(m->session, TK_NO_DERIVATIVE,
                   "kernel '%s' of module '%s' accesses %s '%s', so that it cannot run again for a tape under a budget",
                   k->name, m->desc->name, what, f->desc->name);
}

/* Launches run again while gradients are computed, and find no data but those of fields. */
static tk_status check_kernel(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; i < k->nparts; i++)
        if (k->parts[i].plane != TK_DATA && (k->parts[i].what & (RT_WRITES | TK_READS)))
            return refuse(m, k, &m->fields[k->parts[i].field], "derivatives of field");
    for (int i = 0; i < k->narrays; i++)
        if (k->arrays[i].what & TK_ARRAY_OUT)
            return refuse(m, k, &m->fields[k->arrays[i].field], "the written array");
    return TK_OK;
}

static bool next_segment(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    const rt_segment *g = u->nsegments > 0 ? &u->segment[u->nsegments - 1] : NULL;
    if (g && !g->fixed && !(u->over && u->n - g->first >= u->stride))
        return true;
    if (g)
        tk_rt_segment_end(s);
    return tk_rt_segment_push(s, u->n, false);
}

tk_status tk_rt_budget_launch(tk_module *m, const tk_kernel *k, const void *args)
{
    tk_session *s = m->session;
    tk_status st = check_kernel(m, k);
    if (st == TK_OK)
        st = s->agree.fn ? wait(s) : fit(s);
    if (st != TK_OK)
        return st;
    if (!next_segment(s) || !tk_rt_image_launch(m, k, args, s->tape.budget->n))
        return tk_session_status(s);
    return TK_OK;
}

/* ---- calls of the host's ---- */

tk_status tk_rt_budget_call(tk_session *s, const rt_call *c)
{
    struct rt_budget *u = s->tape.budget;
    const tk_status st = s->agree.fn && !tk_rt_call_is_together(c) ? wait(s) : fit(s);
    if (st != TK_OK)
        return st;
    if (tk_rt_call_runs_again(c))
        return next_segment(s) && tk_rt_image_call(s, c) ? TK_OK : tk_session_status(s);
    if (u->nsegments > 0)
        tk_rt_segment_end(s);
    return tk_rt_segment_push(s, u->n, true) && tk_rt_image_call(s, c) ? TK_OK : tk_session_status(s);
}

static bool writes(const rt_logged *l, const void *ctx)
{
    const tk_field *loss = ctx;
    return l->call || (l->module == loss->module &&
                       (tk_rt_touches(l->kernel, (int)(loss - loss->module->fields)) & RT_WRITES) != 0);
}

tk_status tk_rt_budget_meet(tk_session *s)
{
    return decide(s, &(wishes){0});
}

bool tk_rt_budget_writes(const tk_session *s, const tk_field *loss)
{
    return tk_rt_nodes_any(&s->tape.budget->log, writes, loss);
}

static bool uses(const rt_logged *l, const void *ctx)
{
    const tk_module *m = ctx;
    return l->module == m || (l->call && tk_rt_footprint_names(l->call, m));
}

bool tk_rt_budget_forget(const tk_module *m)
{
    tk_rt_image_forget(m->session, m);
    return tk_rt_nodes_any(&m->session->tape.budget->log, uses, m);
}
