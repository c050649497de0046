/* The log of a tape under a budget: its launches and calls, whose numbers follow from those before. */
#include "loops.h"

static tk_status out_of_memory(tk_session *s)
{
    return tk_fail(s, TK_NO_MEMORY, "out of memory for launch %zu of a tape", s->tape.budget->n + 1);
}

static bool has_number(const tk_kernel *k)
{
    return k->draws || k->records;
}

/* ---- arguments as integers: bytes between members of structs may be any ---- */

typedef struct packing {
    unsigned char *args;
    uint64_t *words; /* NULL: they are counted */
    size_t n;
    bool back; /* from words to arguments */
} packing;

static uint64_t load(const void *at, size_t size)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (size) {
    case sizeof i8:
        memcpy(&i8, at, size);
        return (uint64_t)i8;
    case sizeof i16:
        memcpy(&i16, at, size);
        return (uint64_t)i16;
    case sizeof i32:
        memcpy(&i32, at, size);
        return (uint64_t)i32;
    default:
        memcpy(&i64, at, size);
        return (uint64_t)i64;
    }
}

static void store(void *at, size_t size, uint64_t w)
{
    const uint8_t u8 = (uint8_t)w;
    const uint16_t u16 = (uint16_t)w;
    const uint32_t u32 = (uint32_t)w;
    const void *const from[] = {&u8, &u16, &u32, &w};
    memcpy(at, from[size == sizeof w ? 3 : size / 2], size);
}

static void pack_member(packing *p, size_t at, size_t size)
{
    if (p->words && p->back)
        store(p->args + at, size, p->words[p->n]);
    else if (p->words)
        p->words[p->n] = load(p->args + at, size);
    p->n++;
}

static void pack(const tk_module *m, const tk_kernel *k, packing *p)
{
    for (int i = 0; i < k->nparameters; i++) {
        const tk_parameter *x = &k->parameters[i];
        const size_t size = tk_rt_scalar_bytes(x->type);
        for (int c = 0; c < x->ncomp; c++)
            pack_member(p, x->at + (size_t)c * size, size);
    }
    for (int i = 0; i < k->narrays; i++) {
        const tk_array_desc *a = &k->arrays[i];
        for (size_t c = 0; c < TK_PLANE_COUNT; c++)
            pack_member(p, a->at + c * sizeof(void *), sizeof(void *));
        for (int d = 0; d < m->desc->fields[a->field].ndim; d++)
            if (a->extents[d].kind == TK_EXTENT_ARGUMENT)
                pack_member(p, a->extents[d].at, sizeof(int64_t));
    }
}

static size_t count_words(const tk_module *m, const tk_kernel *k)
{
    packing p = {0};
    pack(m, k, &p);
    return p.n;
}

/* ---- lines ---- */

tk_status tk_rt_log_line(tk_session *s, size_t i, rt_logged *l, size_t *taken)
{
    struct rt_budget *u = s->tape.budget;
    tk_rt_nodes_line(&u->log, i, l, u->words);
    *taken = 0;
    if (!l->kernel)
        return TK_OK;
    l->key = l->kernel->draws ? tk_random_u64(l->seed, l->key, 0) : 0;
    *taken = tk_rt_args_size(s, l->kernel);
    if (*taken == 0)
        return TK_OK;
    packing p = {tk_stack_alloc(&s->tape.args, 1, *taken), u->words, 0, true};
    l->args = p.args;
    if (!p.args)
        return tk_session_status(s);
    memset(p.args, 0, *taken); /* tangents */
    pack(l->module, l->kernel, &p);
    return TK_OK;
}

tk_status tk_rt_line_make(tk_module *m, const tk_kernel *k, const void *args, rt_logged *line)
{
    tk_session *s = m->session;
    const size_t size = tk_rt_args_size(s, k);
    tk_record rec = {0};
    *line = (rt_logged){.module = m, .kernel = k, .params = s->tape.params};
    if (size > 0) {
        void *copy = tk_stack_alloc(&s->tape.args, 1, size);
        if (!copy)
            return tk_session_status(s);
        memset(copy, 0, size); /* tangents */
        memcpy(copy, args, k->args_size);
        line->args = copy;
    }
    tk_rt_record_number(s, k, &rec);
    line->key = rec.key;
    line->launch = rec.launch;
    return TK_OK;
}

/* Room for the arguments of a line that is found in the log. */
static bool reserve_words(tk_session *s, size_t n)
{
    struct rt_budget *u = s->tape.budget;
    if (n <= u->nwords)
        return true;
    uint64_t *words = tk_rt_alloc(s, n * sizeof *words, false);
    if (!words)
        return false;
    tk_rt_free(s, u->words);
    u->used += (n - u->nwords) * sizeof *words;
    u->words = words;
    u->nwords = n;
    return true;
}

static tk_status add(tk_session *s, const rt_logged *line, uint64_t *words, size_t nwords)
{
    if (!tk_rt_nodes_add(s, &s->tape.budget->log, line, words, nwords))
        return out_of_memory(s);
    s->tape.budget->n++;
    return TK_OK;
}

tk_status tk_rt_log_launch(tk_module *m, const tk_kernel *k, const void *args, rt_logged *line)
{
    tk_session *s = m->session;
    const uint64_t draws = s->draws;
    const tk_status st = tk_rt_line_make(m, k, args, line);
    if (st != TK_OK)
        return st;
    rt_logged logged = *line;
    logged.args = NULL;
    logged.key = k->draws ? draws : 0;
    logged.seed = k->draws ? s->opt.seed : 0;
    logged.launch = has_number(k) ? line->launch : 0;
    packing p = {(unsigned char *)args, NULL, 0, false};
    const size_t n = count_words(m, k);
    if (n > 0) {
        p.words = reserve_words(s, n) ? tk_rt_alloc(s, n * sizeof *p.words, false) : NULL;
        if (!p.words)
            return out_of_memory(s);
        pack(m, k, &p);
    }
    return add(s, &logged, p.words, n);
}

/* ---- calls ---- */

const rt_call *tk_rt_log_call_of(const tk_session *s, const rt_call *c)
{
    const struct rt_budget *u = s->tape.budget;
    for (size_t i = 0; i < u->ncalls && i < RT_CALLS; i++)
        if (tk_rt_same_call(u->calls[i], c))
            return u->calls[i];
    return NULL;
}

tk_status tk_rt_log_call(tk_session *s, const rt_logged *line)
{
    struct rt_budget *u = s->tape.budget;
    if (line->call->again_size == 0 && !tk_rt_log_call_of(s, line->call))
        u->calls[u->ncalls++ % RT_CALLS] = line->call;
    return add(s, line, NULL, 0);
}

void tk_rt_log_spent(tk_session *s, int64_t began)
{
    tk_rt_nodes_spend(&s->tape.budget->log, (double)(tk_rt_now() - began));
}
