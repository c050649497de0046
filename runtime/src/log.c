/* The log of a tape under a budget. Launches that repeat themselves, with the same arguments, take no memory: a loop of
 * time steps is one run, of as many lines as a step has launches. So do calls that may run again, without arguments of
 * a size, in which no launch has a number. */
#include "budget.h"

enum { LINES = 256 /* of a run that does not repeat itself */, MOST = 64 /* of a period */ };

/* Lines one after the other; period: the first so many repeat themselves, 0: none does. */
struct rt_run {
    size_t first, n;
    size_t period, cap;
    uint64_t seed, draws, launches; /* of a period: how many numbers it takes */
    rt_logged *line;
};

static tk_status out_of_memory(tk_session *s)
{
    return tk_fail(s, TK_NO_MEMORY, "out of memory for launch %zu of a tape", s->tape.budget->n + 1);
}

static struct rt_run *last_run(const struct rt_budget *u)
{
    return u->nruns > 0 ? &u->runs[u->nruns - 1] : NULL;
}

static bool has_number(const tk_kernel *k)
{
    return k && (k->draws || k->records);
}

static bool has_draws(const rt_logged *l)
{
    return l->kernel && l->kernel->draws;
}

/* ---- lines ---- */

static const struct rt_run *run_of(const struct rt_budget *u, size_t i)
{
    size_t lo = 0, hi = u->nruns;
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        *(u->runs[mid].first <= i ? &lo : &hi) = mid;
    }
    return &u->runs[lo];
}

rt_logged tk_rt_log_line(const struct rt_budget *u, size_t i)
{
    const struct rt_run *r = run_of(u, i);
    const size_t at = i - r->first, turn = r->period ? at / r->period : 0;
    rt_logged l = r->line[r->period ? at % r->period : at];
    l.key += turn * r->draws;
    l.launch += turn * r->launches;
    l.last += turn * r->launches;
    if (l.call)
        return l;
    l.key = l.kernel->draws ? tk_random_u64(r->seed, l.key, 0) : 0;
    l.launch = has_number(l.kernel) ? l.launch : 0;
    return l;
}

tk_status tk_rt_line_make(tk_module *m, const tk_kernel *k, const void *args, const rt_logged *same, rt_logged *line)
{
    tk_session *s = m->session;
    const size_t size = s->forward.open ? k->jvp_args_size : k->args_size;
    tk_record rec = {0};
    *line = (rt_logged){.module = m, .kernel = k, .args = same ? same->args : NULL};
    if (!same && size > 0) {
        void *copy = tk_stack_alloc(&s->tape.args, 1, size);
        if (!copy)
            return tk_session_status(s);
        memset(copy, 0, size); /* tangents */
        memcpy(copy, args, k->args_size);
        line->args = copy;
        tk_rt_tape_count(s, size);
    }
    tk_rt_record_number(s, k, &rec);
    line->key = rec.key;
    line->launch = rec.launch;
    return TK_OK;
}

static bool same_args(const tk_kernel *k, const void *a, const void *b)
{
    return k->args_size == 0 || memcmp(a, b, k->args_size) == 0;
}

static bool same_box(const tk_footprint *a, const tk_footprint *b)
{
    const size_t size = 2 * (size_t)a->field->desc->ndim * sizeof *a->box;
    return a->box == b->box || (a->box && b->box && memcmp(a->box, b->box, size) == 0);
}

static bool same_call(const rt_call *a, const rt_call *b)
{
    const tk_triple *x = &a->triple, *y = &b->triple;
    bool same = a->again_size + b->again_size == 0 && a->nlines == b->nlines && x->name == y->name &&
                x->forward == y->forward && x->backward == y->backward && x->jvp == y->jvp && x->flags == y->flags;
    for (int i = 0; i < a->nlines && same; i++)
        same = a->footprint[i].field == b->footprint[i].field && a->footprint[i].what == b->footprint[i].what &&
               same_box(&a->footprint[i], &b->footprint[i]);
    return same;
}

/* ---- periods ---- */

/* The numbers that n lines take. */
static void count_numbers(const rt_logged *l, size_t n, uint64_t *draws, uint64_t *launches)
{
    *draws = *launches = 0;
    for (size_t i = 0; i < n; i++) {
        *draws += l[i].kernel ? l[i].kernel->draws : 0;
        *launches += has_number(l[i].kernel);
    }
}

static bool same_line(const rt_logged *a, const rt_logged *b)
{
    if (a->call && b->call)
        return tk_rt_call_runs_again(b->call) && b->last == b->launch && a->args == b->args &&
               same_call(a->call, b->call);
    return a->kernel && a->module == b->module && a->kernel == b->kernel && same_args(b->kernel, a->args, b->args);
}

/* The last n lines of the run are the n lines before them once more. */
static bool repeats(const struct rt_run *r, size_t n)
{
    const rt_logged *b = r->line + r->n - n, *a = b - n;
    uint64_t numbers, launches;
    for (size_t i = n; i-- > 0;)
        if (!same_line(&a[i], &b[i]))
            return false;
    count_numbers(b, n, &numbers, &launches);
    for (size_t i = 0; i < n; i++)
        if (((has_draws(&b[i]) || b[i].call) && b[i].key != a[i].key + numbers) ||
            ((has_number(b[i].kernel) || b[i].call) && b[i].launch != a[i].launch + launches))
            return false;
    return true;
}

static bool add_run(tk_session *s, struct rt_run run)
{
    struct rt_budget *u = s->tape.budget;
    if (u->nruns == u->runs_cap) {
        const size_t cap = u->runs_cap ? 2 * u->runs_cap : 4;
        struct rt_run *runs = tk_rt_alloc(s, cap * sizeof *runs, false);
        if (!runs)
            return false;
        if (u->nruns > 0)
            memcpy(runs, u->runs, u->nruns * sizeof *runs);
        tk_rt_free(s, u->runs);
        u->used += (cap - u->runs_cap) * sizeof *runs;
        u->runs = runs;
        u->runs_cap = cap;
    }
    u->runs[u->nruns++] = run;
    return true;
}

/* The last two periods become a run of their own. False: no memory. */
static bool fold(tk_session *s, size_t period)
{
    struct rt_budget *u = s->tape.budget;
    struct rt_run *r = last_run(u);
    struct rt_run run = {
        .first = r->first + r->n - 2 * period, .n = 2 * period, .period = period, .cap = period, .seed = r->seed};
    run.line = tk_rt_alloc(s, period * sizeof *run.line, false);
    if (!run.line)
        return false;
    memcpy(run.line, r->line + r->n - 2 * period, period * sizeof *run.line);
    count_numbers(run.line, period, &run.draws, &run.launches);
    u->used += period * sizeof *run.line;
    r->n -= 2 * period;
    if (r->n > 0) {
        const bool added = add_run(s, run);
        if (!added)
            tk_rt_free(s, run.line);
        return added;
    }
    u->used -= r->cap * sizeof *r->line;
    tk_rt_free(s, r->line);
    *r = run;
    return true;
}

/* ---- adding ---- */

static bool grow(tk_session *s, struct rt_run *r)
{
    const size_t cap = r->cap + 16;
    rt_logged *line = tk_rt_alloc(s, cap * sizeof *line, false);
    if (!line)
        return false;
    if (r->n > 0)
        memcpy(line, r->line, r->n * sizeof *line);
    tk_rt_free(s, r->line);
    s->tape.budget->used += (cap - r->cap) * sizeof *line;
    r->line = line;
    r->cap = cap;
    return true;
}

tk_status tk_rt_log_add(tk_session *s, rt_logged line)
{
    struct rt_budget *u = s->tape.budget;
    struct rt_run *r = last_run(u);
    if (!r || r->period || r->n == LINES || r->seed != s->opt.seed) {
        if (!add_run(s, (struct rt_run){.first = u->n, .seed = s->opt.seed}))
            return out_of_memory(s);
        r = last_run(u);
    }
    if (r->n == r->cap && !grow(s, r))
        return out_of_memory(s);
    r->line[r->n++] = line;
    u->n++;
    for (size_t p = 1; p <= MOST && 2 * p <= r->n; p++)
        if (repeats(r, p))
            return fold(s, p) ? TK_OK : out_of_memory(s);
    return TK_OK;
}

/* The line that comes next if the last run goes on; NULL: none. turn: how often its period has run. */
static const rt_logged *next_line(const tk_session *s, size_t *turn)
{
    const struct rt_run *r = last_run(s->tape.budget);
    if (!r || !r->period || r->seed != s->opt.seed)
        return NULL;
    *turn = r->n / r->period;
    return &r->line[r->n % r->period];
}

/* The line that would repeat the last run; NULL: the launch is another one. */
static const rt_logged *repeated(const tk_session *s, const tk_module *m, const tk_kernel *k, const void *args)
{
    const struct rt_run *r = last_run(s->tape.budget);
    size_t turn = 0;
    const rt_logged *l = next_line(s, &turn);
    if (!l || l->module != m || l->kernel != k || !same_args(k, l->args, args))
        return NULL;
    const bool numbers = (!k->draws || s->draws == l->key + turn * r->draws) &&
                         (!has_number(k) || s->launches + 1 == l->launch + turn * r->launches);
    return numbers ? l : NULL;
}

const rt_logged *tk_rt_log_repeated(const tk_session *s, const rt_call *c, const void *args)
{
    const struct rt_run *r = last_run(s->tape.budget);
    size_t turn = 0;
    const rt_logged *l = next_line(s, &turn);
    if (!l || !l->call || l->args != args || !same_call(l->call, c))
        return NULL;
    return s->draws == l->key + turn * r->draws && s->launches == l->launch + turn * r->launches ? l : NULL;
}

tk_status tk_rt_log_call(tk_session *s, rt_logged line)
{
    size_t turn = 0;
    const rt_logged *l = next_line(s, &turn);
    if (!l || l->call != line.call || line.launch != line.last)
        return tk_rt_log_add(s, line);
    last_run(s->tape.budget)->n++;
    s->tape.budget->n++;
    return TK_OK;
}

tk_status tk_rt_log_launch(tk_module *m, const tk_kernel *k, const void *args, rt_logged *line)
{
    tk_session *s = m->session;
    struct rt_budget *u = s->tape.budget;
    const rt_logged *l = repeated(s, m, k, args);
    const uint64_t draws = s->draws;
    tk_status st = tk_rt_line_make(m, k, args, l, line);
    if (st != TK_OK)
        return st;
    if (!l) {
        rt_logged logged = *line;
        logged.key = draws;
        return tk_rt_log_add(s, logged);
    }
    last_run(u)->n++;
    u->n++;
    return TK_OK;
}

void tk_rt_log_free(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    for (size_t i = 0; i < u->nruns; i++)
        tk_rt_free(s, u->runs[i].line);
    tk_rt_free(s, u->runs);
}

bool tk_rt_log_any(const struct rt_budget *u, bool (*is)(const rt_logged *l, const void *ctx), const void *ctx)
{
    for (size_t i = 0; i < u->nruns; i++)
        for (size_t k = 0; k < (u->runs[i].period ? u->runs[i].period : u->runs[i].n); k++)
            if (is(&u->runs[i].line[k], ctx))
                return true;
    return false;
}
