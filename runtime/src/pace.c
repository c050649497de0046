/* How many workers a loop asks for, by what loops of the same task and size took before.
 *
 * The estimate of a loop's cycles cannot know what its threads gain. They may fight for memory; sums by atomic
 * operations may take longer than plain ones by one thread; and where other programs run, a worker may lose its
 * processor with a chunk in its hands, and the caller waits for a slice of the scheduler, some milliseconds, which a
 * loop of half a millisecond never gains back. So what counts is what loops took: with all workers, with half of them,
 * without. A loop asks for what took least of late, and tries another way so rarely that what trying costs stays a
 * small part of the time; the rarer, the more often trying has shown nothing new.
 *
 * Chunks do not depend on it, so bits do not.
 */
#include "rt.h"

#include <math.h>

enum {
    WORTH = 16, /* a loss is followed by so many times as long without a try, */
    MOST = 256, /* and in the end by so many times */
    CREDIT_NS = 100000000,
    STOP_NS = 1000000000, /* longer than schedulers keep a thread waiting */
    PLACES = 16           /* where a loop may stand: many loops do not drive each other out */
};

rt_pace *tk_rt_pace_of(tk_session *s, tk_task_fn task, double work, int most)
{
    int size;
    (void)frexp(work, &size);
    uint64_t bits = 0;
    memcpy(&bits, &task, sizeof task < sizeof bits ? sizeof task : sizeof bits);
    bits = (bits ^ (uint64_t)(size * 1024 + most)) * 0x9E3779B97F4A7C15u;
    rt_pace *oldest = NULL;
    for (unsigned k = 0; k < PLACES; k++) {
        rt_pace *p = &s->pace[((unsigned)(bits >> 32) + k) & (RT_PACES - 1)];
        if (p->task == task && p->size == size && p->most == most)
            return p;
        if (!oldest || p->asked < oldest->asked)
            oldest = p;
    }
    *oldest = (rt_pace){.task = task, .size = size, .most = most, .best = RT_ALL, .patience = WORTH};
    return oldest;
}

static int workers(const rt_pace *p, int way)
{
    return way == RT_ALL ? p->most : way == RT_HALF ? p->most / 2 : 0;
}

/* The next of the ways that are not the best one. */
static int other_way(const rt_pace *p)
{
    int way = p->tried;
    do
        way = (way + 1) % RT_WAYS;
    while (way == p->best || (way == RT_HALF && p->most < 2));
    return way;
}

int tk_rt_pace_ask(rt_pace *p, int64_t now)
{
    p->way = p->best;
    p->asked = now;
    if (p->due != 0 && now >= p->due)
        p->way = p->tried = other_way(p);
    return workers(p, p->way);
}

/* The best of the other ways that are known, or -1. */
static int second(const rt_pace *p)
{
    int found = -1;
    for (int way = 0; way < RT_WAYS; way++)
        if (way != p->best && p->ns[way] > 0 && (found < 0 || p->ns[way] < p->ns[found]))
            found = way;
    return found;
}

static void take(rt_pace *p, int way)
{
    p->best = way;
    p->patience = WORTH;
    p->credit = 0;
}

/* A loop that went the best way. What it gains pays for what single loops lose, up to a bound, so that a slip that had
 * nothing to do with threads changes nothing. */
static void judge(rt_pace *p, double work, int64_t now, int64_t took)
{
    const int other = second(p);
    if (other < 0)
        return;
    const double instead = p->ns[other] * work, most = CREDIT_NS + 2 * instead;
    p->credit += instead - (double)took;
    p->credit = p->credit < most ? p->credit : most;
    if (p->credit >= 0)
        return;
    p->due = now + (int64_t)(WORTH * -p->credit);
    p->ns[p->best] = 1.25 * p->ns[other];
    take(p, other);
}

/* A process is stopped, by a debugger or by ^Z, and a machine is: what a loop took then tells nothing about threads,
 * and must not decide for 16 times as long. */
static int64_t without_stop(const rt_pace *p, double work, int64_t took)
{
    const double best = p->ns[p->best], own = p->ns[p->way];
    const double usual = (best > own ? best : own) * work, most = WORTH * usual + STOP_NS;
    return usual > 0 && (double)took > most ? (int64_t)most : took;
}

void tk_rt_pace_learn(rt_pace *p, double work, int64_t now, int64_t took, double solo)
{
    took = without_stop(p, work, took);
    double *known = &p->ns[p->way];
    double ns = (double)(took > 0 ? took : 1) / work;
    if (*known > 0) {
        ns = ns < 2 * *known ? ns : 2 * *known; /* slips are judge's */
        *known += (p->way == p->best ? 0.125 : 0.5) * (ns - *known);
    } else {
        *known = ns;
    }
    if (p->due == 0) { /* the first loop: what one thread takes has been seen, too, unless it goes another way alone */
        p->due = now + (int64_t)(WORTH * solo);
        return;
    }
    if (p->way == p->best) {
        judge(p, work, now, took);
        return;
    }
    const double loss = (double)took - p->ns[p->best] * work;
    if (*known < p->ns[p->best]) {
        take(p, p->way);
        p->due = now + WORTH * took;
    } else if (loss <= 0) { /* let it show that again */
        p->due = now;
    } else {
        p->patience = p->patience < MOST ? 2 * p->patience : MOST;
        p->due = now + (int64_t)(p->patience * loss);
    }
}
