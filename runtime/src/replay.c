/* The way back of a tape under a budget: launches run again from images, a few of them recorded at a time. */
#include "loops.h"

#include "files.h"
#include "params.h"
#include "schedule.h"

static tk_status run_again(tk_session *s, size_t from, size_t to, bool collects)
{
    struct rt_budget *u = s->tape.budget;
    const int64_t began = tk_rt_now();
    tk_status st = TK_OK;
    s->again = true;
    for (size_t i = from; i < to && st == TK_OK; i++, u->report.again++) {
        const tk_mark mark = tk_stack_mark(&s->tape.args);
        rt_logged l;
        size_t taken;
        st = tk_rt_log_line(s, i, &l, &taken);
        tk_rt_params_use(s, l.params);
        if (st == TK_OK && collects && !tk_rt_image_line(s, &l, i))
            st = tk_session_status(s);
        if (st == TK_OK)
            st = tk_rt_line_run(s, &l);
        tk_stack_reset(&s->tape.args, mark);
    }
    s->again = false;
    u->way.run += tk_rt_now() - began;
    u->way.ran += to - from;
    return st;
}

/* ---- a few launches, as a plain tape ---- */

/* Whether one process wants it. */
static bool any(tk_session *s, bool wants)
{
    return tk_rt_agree_most(s, "the schedule of a budget", wants) != 0;
}

/* Before line i, of which all may be full. One of several processes waits for a call that all make. */
static bool is_full(tk_session *s, const rt_logged *l, bool first, bool *full)
{
    const struct rt_budget *u = s->tape.budget;
    *full = *full || tk_rt_image_exceeds(s, first ? u->alone : u->largest, u->bytes);
    if (s->agree.fn && (first || !l->call || !tk_rt_call_is_together(l->call)))
        return false;
    return any(s, *full);
}

/* Line i is recorded: what it took. */
static void measure(tk_session *s, size_t before, bool *full)
{
    struct rt_budget *u = s->tape.budget;
    tk_rt_budget_count(s);
    u->largest = s->tape.bytes - before > u->largest ? s->tape.bytes - before : u->largest;
    *full = *full || tk_rt_image_exceeds(s, 0, u->bytes);
}

/* *to: how many of them fit. */
static tk_status record_again(tk_session *s, size_t from, size_t *to, bool collects)
{
    struct rt_budget *u = s->tape.budget;
    const bool alone = !s->agree.fn;
    const size_t all = *to;
    tk_status st = TK_OK;
    bool full = false;
    size_t before = 0;
    tk_rt_entries_restart(s, from);
    s->again = true;
    for (size_t i = from; i < *to && st == TK_OK; i++, u->report.again++) {
        rt_logged line, *l = &line;
        size_t taken;
        st = tk_rt_log_line(s, i, l, &taken);
        if (st != TK_OK)
            break;
        tk_rt_params_use(s, l->params);
        if (alone || (l->call && tk_rt_call_is_together(l->call)))
            before = s->tape.bytes;
        if (collects && !tk_rt_image_line(s, l, i))
            st = tk_session_status(s);
        if (is_full(s, l, i == from, &full)) {
            *to = i;
            break;
        }
        s->tape.bytes += taken;
        if (st == TK_OK)
            st = tk_rt_entry_record(s, l);
        measure(s, before, &full);
        if (st == TK_OK && alone && full)
            *to = i;
    }
    if (st == TK_OK && !alone && *to == all && any(s, full))
        *to = from + (all - from) / 2;
    if (st == TK_OK)
        st = tk_session_status(s);
    s->again = false;
    if (s->tape.count > 0) {
        const size_t bytes = s->tape.bytes / s->tape.count + 1;
        u->entry_bytes = bytes > u->entry_bytes ? bytes : u->entry_bytes;
    }
    return st;
}

/* Until the adjoints of one of 20 launches have run. Without launches that ran again, recorded ones took as long. */
static void predict(struct rt_budget *u)
{
    enum { SHARE = 20 };
    const rt_way *w = &u->way;
    if (u->report.predicted > 0 && w->recorded > u->n / SHARE)
        return;
    const double again = (double)u->report.planned - (double)u->report.again, left = (double)(u->n - w->recorded);
    const double recorded = (double)w->record / (double)w->recorded;
    const double ran = w->ran > 0 ? (double)w->run / (double)w->ran : recorded;
    const double ns = again > left ? (again - left) * ran : 0;
    u->report.predicted = 1e-9 * ((double)(tk_rt_now() - w->began) + ns +
                                  left * (recorded + (double)w->adjoints / (double)w->recorded));
}

/* The launches from `from` on, to `end` or less where not all fit: then *end is less, and no adjoint has run. */
static tk_status leaf(tk_session *s, size_t from, size_t *end, bool collects, const rt_segment *check)
{
    struct rt_budget *u = s->tape.budget;
    const size_t all = *end;
    const tk_mark mark = tk_stack_mark(&s->tape.args);
    const int64_t began = tk_rt_now();
    tk_status st = record_again(s, from, end, collects);
    const int64_t recorded = tk_rt_now();
    if (st == TK_OK && *end == all && check)
        st = tk_rt_segment_check(s, check, all);
    if (st == TK_OK && *end == all) {
        st = tk_rt_entries_back(s);
        u->way.record += recorded - began;
        u->way.adjoints += tk_rt_now() - recorded;
        u->way.recorded += all - from;
        predict(u);
    }
    tk_rt_entries_drop(s);
    tk_stack_reset(&s->tape.args, mark);
    return st;
}

/* ---- a segment ---- */

static size_t room(const struct rt_budget *u, size_t used)
{
    return u->bytes > used ? u->bytes - used : 0;
}

/* Bytes of images before the last that can go to the file. */
static size_t movable(const struct rt_budget *u)
{
    const size_t most = tk_rt_file_room(u->file);
    size_t bytes = 0;
    for (size_t i = 0; i + 1 < u->nsegments; i++)
        bytes += u->segment[i].bytes;
    return bytes < most ? bytes : most;
}

/* Of memory and file together. */
static size_t all_room(const struct rt_budget *u, size_t used)
{
    const size_t filed = tk_rt_file_room(u->file);
    return room(u, used) + (filed < SIZE_MAX / 4 ? filed : SIZE_MAX / 4);
}

static double cost(const void *log, size_t first, size_t n)
{
    return tk_rt_nodes_cost(log, first + n) - tk_rt_nodes_cost(log, first);
}

enum { COPY_UNITS = 64 };

/* The time of a copy of an image, a launch of n being COPY_UNITS: a power of two, which clocks hardly change. */
static int64_t copy_share(const struct rt_budget *u, size_t first, size_t n)
{
    enum { MOST = 1 << 30 };
    const double launch = cost(&u->log, first, n) / (double)n;
    const double image = u->way.copied > 0 ? (double)u->way.copy / (double)u->way.copied * (double)u->image_bytes : 0;
    const double share = launch > 0 ? COPY_UNITS * image / launch : 0;
    int64_t power = 1;
    while ((double)power < share && power < MOST)
        power *= 2;
    return share < 1 ? 0 : power;
}

/* Of lines from `first` on, where images and the log take `used` bytes. */
static rt_means means_of(const struct rt_budget *u, size_t first, size_t n, size_t used)
{
    return (rt_means){n,
                      all_room(u, used),
                      room(u, used) + movable(u),
                      u->image_bytes + 1,
                      u->entry_bytes,
                      (double)copy_share(u, first, n) / COPY_UNITS};
}

/* How many of n launches run again before the next image, which is worth it: 0: none. `*few`: the most that are
 * recorded at a time. */
static size_t next_image(tk_session *s, size_t first, size_t n, size_t *few)
{
    enum { LESS_ROOM, LESS_MEMORY, IMAGE, ENTRY, COPY };
    const struct rt_budget *u = s->tape.budget;
    rt_means m = means_of(u, first, n, u->used);
    int64_t words[] = {-(int64_t)m.bytes, -(int64_t)m.memory, (int64_t)m.image, (int64_t)m.entry,
                       copy_share(u, first, n)};
    tk_rt_agree(s, "the schedule of a budget", words, 5);
    m = (rt_means){n,
                   (size_t)-words[LESS_ROOM],
                   (size_t)-words[LESS_MEMORY],
                   (size_t)words[IMAGE],
                   (size_t)words[ENTRY],
                   (double)words[COPY] / COPY_UNITS};
    const rt_plan p = tk_rt_schedule_plan(&m);
    *few = p.few;
    if (p.slots == 0 || p.units < 2)
        return 0;
    const double part = (double)tk_rt_schedule_split(p.units, p.slots) / (double)p.units;
    const size_t at = tk_rt_schedule_cut(first, n, part, cost, &u->log);
    return (size_t)tk_rt_agree_most(s, "the schedule of a budget", (int64_t)at);
}

/* Each launch is recorded once. */
static void plan_all(struct rt_budget *u)
{
    double again = (double)u->n;
    size_t used = u->used, end = u->n;
    for (size_t i = u->nsegments; i-- > 0; end = u->segment[i].first) {
        const rt_segment *g = &u->segment[i];
        const rt_means m = means_of(u, g->first, end - g->first, used);
        if (g->fixed)
            again -= 1.0;
        else if (end > g->first)
            again += tk_rt_schedule_plan(&m).again;
        used -= g->bytes;
    }
    u->report.planned = (size_t)again;
}

typedef struct part {
    size_t from, to; /* launches to reverse; `to` comes down */
    bool collects;   /* the image of the last segment has no copies yet of what they write */
    bool nested;     /* an image before it can serve as well */
    const rt_segment *check;
} part;

static tk_status reverse(tk_session *s, part *p);

/* Launches from `begin` on by an image of their own. Where memory does not suffice for that, some of them are left. */
static tk_status reverse_nested(tk_session *s, size_t begin, part *p, bool *bare)
{
    part rest = {begin, p->to, true, true, p->check};
    if (!tk_rt_segment_push(s, begin, false))
        return tk_session_status(s);
    const tk_status st = reverse(s, &rest);
    tk_rt_segment_pop(s);
    *bare = rest.to > begin;
    p->to = rest.to;
    return st;
}

/* The last of the launches, as many as fit, recorded from `begin` on. */
static tk_status reverse_leaf(tk_session *s, size_t begin, part *p, size_t *most)
{
    size_t end = p->to;
    const tk_status st = leaf(s, begin, &end, p->collects, p->check);
    if (end < p->to)
        *most = end - begin;
    else
        p->to = begin;
    return st;
}

/* Reverses launches from the image of the last segment; the data are those of its time, before and after. Not nested,
 * it reverses all of them, or fails the session. */
static tk_status reverse(tk_session *s, part *p)
{
    const struct rt_budget *u = s->tape.budget;
    size_t most = SIZE_MAX;
    bool bare = false;
    while (p->to > p->from) {
        size_t few = 1, at = next_image(s, p->from, p->to - p->from, &few);
        if (bare || at == 0) {
            at = 0;
            few = few < most ? few : most;
        }
        const size_t begin = at > 0 ? p->from + at : p->to - p->from > few ? p->to - few : p->from, had = p->to;
        tk_status st = run_again(s, p->from, begin, p->collects);
        const bool room = !any(s, tk_rt_image_exceeds(s, u->alone + (at > 0 ? tk_rt_segment_growth(u) : 0), u->bytes));
        st = st == TK_OK ? tk_session_status(s) : st;
        if (st == TK_OK && at > 0 && room)
            st = reverse_nested(s, begin, p, &bare);
        else if (st == TK_OK && room)
            st = reverse_leaf(s, begin, p, &most);
        if (st != TK_OK)
            return st;
        tk_rt_segment_restore(s);
        if (tk_failed(s))
            return tk_session_status(s);
        bare = bare || !room;
        if (p->to < had)
            p->check = NULL;
        else if (most == 0 || (!room && at == 0))
            return p->nested ? TK_OK : tk_rt_budget_refuse(s);
        p->collects = p->collects && p->to > begin;
    }
    return TK_OK;
}

/* A call of the host's that does not run again: its backward finds the data that forward left. */
static tk_status reverse_call(tk_session *s, size_t line)
{
    tk_rt_entries_restart(s, line);
    rt_logged l;
    size_t taken;
    tk_status st = tk_rt_log_line(s, line, &l, &taken);
    if (st == TK_OK)
        st = tk_rt_entry_record(s, &l);
    if (st == TK_OK)
        st = tk_rt_entries_back(s);
    tk_rt_entries_drop(s);
    return st;
}

tk_status tk_rt_budget_back(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    tk_status st = TK_OK;
    u->back = true;
    u->way.began = tk_rt_now();
    if (tk_rt_budget_settle(s) != TK_OK)
        return tk_session_status(s);
    tk_rt_nodes_settle(&u->log);
    plan_all(u);
    for (size_t end = u->n; u->nsegments > 0 && st == TK_OK; u->nsegments > 0 ? tk_rt_segment_pop(s) : (void)0) {
        rt_segment *g = &u->segment[u->nsegments - 1];
        const size_t first = g->first;
        if (g->fixed) {
            st = first < end ? reverse_call(s, first) : TK_OK;
            tk_rt_segment_restore(s);
            st = st == TK_OK ? tk_session_status(s) : st;
        } else {
            const rt_segment check = *g;
            tk_rt_segment_restore(s);
            st = tk_failed(s) ? tk_session_status(s) : reverse(s, &(part){first, end, false, false, &check});
        }
        end = first;
    }
    u->report.seconds = 1e-9 * (double)(tk_rt_now() - u->way.began);
    return st;
}
