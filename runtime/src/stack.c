/* Stacks whose memory never moves: saved values of reverse mode, scratch memory, arguments on the tape. */
#include "rt.h"

/* Data follows at DATA bytes. Segments are blocks of the session's allocator, so both are aligned to 64. */
struct tk_segment {
    tk_segment *prev;
    size_t cap;
    size_t below; /* top of prev when this one was begun */
};

enum { DATA = 64, FIRST = 64 * 1024 };
_Static_assert(sizeof(tk_segment) <= DATA, "a segment's head fits before its data");

static void enter_segment(tk_stack *st, tk_segment *seg, size_t top)
{
    st->segment = seg;
    st->mem = seg ? (unsigned char *)seg + DATA : NULL;
    st->cap = seg ? seg->cap : 0;
    st->top = top;
}

/* A segment with room for bytes becomes the current one. */
static bool push_segment(tk_stack *st, size_t bytes)
{
    tk_segment *seg = st->spare;
    st->spare = NULL;
    if (seg && seg->cap < bytes) {
        tk_rt_free(st->session, seg);
        seg = NULL;
    }
    if (!seg) {
        const size_t doubled = st->cap ? 2 * st->cap : FIRST; /* cap was allocated: no overflow */
        const size_t cap = bytes > doubled ? bytes : doubled;
        if (cap > SIZE_MAX / 4)
            return false;
        seg = tk_rt_alloc(st->session, DATA + cap, false);
        if (!seg)
            return false;
        seg->cap = cap;
    }
    seg->prev = st->segment;
    seg->below = st->top;
    enter_segment(st, seg, 0);
    return true;
}

void *tk_stack_grow(tk_stack *st, size_t bytes)
{
    if (!push_segment(st, bytes)) {
        tk_fail(st->session, TK_NO_MEMORY, "out of memory for values that a launch keeps");
        return NULL;
    }
    st->top = bytes;
    return st->mem;
}

/* Of the segments that go, the largest stays as the spare: a task that needs much in each iteration allocates once. */
void tk_stack_unwind(tk_stack *st, tk_mark m)
{
    while (st->segment && st->segment != m.segment) {
        tk_segment *seg = st->segment;
        enter_segment(st, seg->prev, seg->below);
        if (!st->spare || st->spare->cap < seg->cap) {
            tk_rt_free(st->session, st->spare);
            st->spare = seg;
        } else {
            tk_rt_free(st->session, seg);
        }
    }
    st->top = m.top;
}

void tk_rt_stack_clear(tk_stack *st)
{
    const tk_mark bottom = {NULL, 0};
    tk_stack_reset(st, bottom);
}

void tk_rt_stack_free(tk_stack *st)
{
    tk_rt_stack_clear(st);
    tk_rt_free(st->session, st->spare);
    st->spare = NULL;
}

/* ---- the pool ---- */

static rt_pooled *create_stack(tk_session *s)
{
    rt_pooled *p = tk_rt_alloc(s, sizeof *p, true);
    if (!p)
        return NULL;
    p->stack.session = s;
    if (!push_segment(&p->stack, 0)) {
        tk_rt_free(s, p);
        return NULL;
    }
    p->bottom = tk_stack_mark(&p->stack);
    return p;
}

tk_stack *tk_stack_acquire(tk_session *s)
{
    pthread_mutex_lock(&s->stack_lock);
    rt_pooled *p = (rt_pooled *)s->idle;
    if (p) {
        s->idle = p->stack.next;
    } else {
        p = create_stack(s);
        if (p) {
            p->all_next = s->stacks;
            s->stacks = p;
        }
    }
    if (p)
        p->in_use = true;
    pthread_mutex_unlock(&s->stack_lock);
    if (!p) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for values that a launch keeps");
        return NULL;
    }
    return &p->stack;
}

void tk_stack_release(tk_stack *st)
{
    if (!st)
        return;
    rt_pooled *p = (rt_pooled *)st;
    tk_session *s = st->session;
    tk_stack_reset(st, p->bottom);
    pthread_mutex_lock(&s->stack_lock);
    p->in_use = false;
    st->next = s->idle;
    s->idle = st;
    pthread_mutex_unlock(&s->stack_lock);
}

void tk_rt_stacks_reclaim(tk_session *s)
{
    for (rt_pooled *p = s->stacks; p; p = p->all_next)
        if (p->in_use)
            tk_stack_release(&p->stack);
}

void tk_rt_stacks_free(tk_session *s)
{
    while (s->stacks) {
        rt_pooled *p = s->stacks;
        s->stacks = p->all_next;
        tk_rt_stack_free(&p->stack);
        tk_rt_free(s, p);
    }
    s->idle = NULL;
}

/* ---- scratch memory: one stack, allocated from in multiples of 64 so that all of it stays aligned to that ---- */

void *tk_scratch(tk_session *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for partial results");
        return NULL;
    }
    const size_t rounded = bytes ? (bytes + 63u) & ~(size_t)63u : 64;
    return tk_stack_alloc(&s->scratch, 1, rounded);
}

tk_mark tk_scratch_mark(const tk_session *s)
{
    return tk_stack_mark(&s->scratch);
}

void tk_scratch_reset(tk_session *s, tk_mark m)
{
    tk_stack_reset(&s->scratch, m);
}
