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
    tk_rt_image_free(s, &u->own);
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
    const size_t used = budget_used(s) - u->unkept;
    u->report.bytes = used > u->report.bytes ? used : u->report.bytes;
    if (u->measures && u->used + u->final_bytes > u->most)
        u->most = u->used + u->final_bytes;
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

/* What suffices for the way back: what there is, the last data, and the recording of the largest launch. */
static size_t needed(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    return u->used + tk_rt_segments_load(u) + (s->tape.final ? 0 : tk_rt_image_final_bytes(s)) + u->own_bytes +
           u->alone;
}

tk_status tk_rt_budget_refuse(tk_session *s)
{
    enum { SHARE = 32, MORE = 128 }; /* images that became one have more blocks than one from the beginning */
    const struct rt_budget *u = s->tape.budget;
    const size_t last = needed(s), counted = last > u->most ? last : u->most;
    const size_t bytes = counted + counted / SHARE + MORE;
    size_t least = bytes;
    while (least - set_aside(least) < bytes)
        least += bytes - (least - set_aside(least));
    return tk_fail(s, TK_BAD_ARGUMENT,
                   "a budget of %zu bytes is too small for %zu launches of a tape: %zu bytes suffice", s->tape_budget,
                   u->n, least);
}

/* No memory is taken for images from here on. */
static void go_short(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    if (!u->over)
        go_over(s);
    u->measures = true;
    u->stride = SIZE_MAX;
    u->most = u->used + u->final_bytes;
    tk_rt_segments_empty(s);
}

/* What all do if one process wants it; alone, what this one wants. */
typedef struct wishes {
    bool over;
    enum less { AS_MANY, LESS, NO_DATA } less; /* segments */
} wishes;

static tk_status decide(tk_session *s, wishes *w)
{
    enum { LINES, LINES_LESS, OVER, STRIDE, FEWER };
    struct rt_budget *u = s->tape.budget;
    int64_t words[] = {(int64_t)u->n, -(int64_t)u->n, w->over, (int64_t)(s->tape.count / 8 + 1), w->less};
    if (tk_rt_agree(s, "the schedule of a budget", words, 5) != TK_OK)
        return tk_session_status(s);
    if (words[LINES] != -words[LINES_LESS])
        return tk_fail(
            s, TK_BAD_STATE,
            "under a budget, processes launched other numbers of kernels on a tape: this one %zu, others %lld "
            "to %lld",
            u->n, (long long)-words[LINES_LESS], (long long)words[LINES]);
    *w = (wishes){words[OVER], (enum less)words[FEWER]};
    if (!u->over && w->over) {
        go_over(s);
        u->stride = (size_t)words[STRIDE];
    }
    if (!u->measures && w->less == NO_DATA)
        go_short(s);
    return TK_OK;
}

static void measure(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    tk_rt_budget_count(s);
    const size_t bytes = u->over || u->sized > s->tape.bytes - u->before ? u->sized : s->tape.bytes - u->before;
    u->largest = bytes > u->largest ? bytes : u->largest;
    u->alone = u->sized > u->alone ? u->sized : u->alone;
    u->before = s->tape.bytes;
    u->sized = 0;
}

/* The launches to come are too many to measure. */
static bool is_beyond(const struct rt_budget *u)
{
    enum { BEYOND = 256 << 20 };
    return u->measures && u->used - u->unkept > u->bytes + BEYOND;
}

/* One of several processes decides nothing alone: it goes on to the next call that all make. There all measure if one
 * has to. */
static tk_status wait(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    tk_rt_budget_count(s);
    if (is_beyond(u))
        return tk_rt_budget_refuse(s);
    if (!u->measures && tk_rt_image_exceeds(s, u->final_bytes, u->bytes))
        go_short(s);
    return tk_session_status(s);
}

/* Whether images do not fit even with a file. */
static bool wants_joins(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    return !u->measures && (u->over ? tk_rt_image_exceeds(s, 0, limit(u)) : u->used > limit(u));
}

/* Also with one segment alone, or between calls that run once. */
static bool is_short(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    return !u->measures && tk_rt_image_exceeds(s, u->final_bytes, u->bytes);
}

/* No pairs are left: the open segment becomes a part of the one before it. */
static tk_status fit_last(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    wishes w = {.less = is_short(s) ? LESS : AS_MANY};
    const tk_status st = decide(s, &w);
    if (st != TK_OK || w.less == AS_MANY)
        return st;
    if (tk_rt_segment_join_last(s))
        u->stride *= 2;
    w = (wishes){.less = is_short(s) ? NO_DATA : AS_MANY};
    return decide(s, &w);
}

static tk_status fit(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    measure(s);
    if (is_beyond(u))
        return tk_rt_budget_refuse(s);
    for (bool was_over = u->over;; was_over = true) {
        wishes w = {.over = !u->over && budget_used(s) > limit(u),
                    .less = u->measures      ? NO_DATA
                            : wants_joins(s) ? LESS
                                             : AS_MANY};
        const tk_status st = decide(s, &w);
        if (st != TK_OK || !u->over || w.less != LESS)
            return st;
        if (was_over && !join_pairs(s))
            return fit_last(s);
        u->stride *= was_over ? 2 : 1;
    }
}

tk_status tk_rt_budget_check(tk_session *s)
{
    measure(s);
    return s->tape.budget->measures ? tk_rt_budget_refuse(s) : TK_OK;
}

/* For the way back. An image that goes to the file has to come back. */
static bool is_too_small(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    for (;;) {
        const size_t used = u->used;
        const bool exceeds = tk_rt_image_exceeds(s, needed(s) - used, u->bytes);
        if (u->used == used)
            return exceeds;
    }
}

tk_status tk_rt_budget_settle(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    for (bool any = true; any;) {
        const bool exceeds = is_too_small(s);
        wishes w = {.less = exceeds ? LESS : AS_MANY};
        const tk_status st = decide(s, &w);
        if (st != TK_OK)
            return st;
        any = w.less == LESS && (join_pairs(s) || tk_rt_segment_join_last(s));
        if (!any && exceeds)
            return tk_rt_budget_refuse(s);
    }
    if (u->nsegments > 0)
        tk_rt_segment_end(s);
    return tk_rt_image_final(s) ? decide(s, &(wishes){0}) : tk_session_status(s);
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
