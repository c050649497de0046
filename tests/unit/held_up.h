/* Included before all else, this holds threads up before atomic operations, sometimes: what happens between two of them
 * in one case of a million happens in every run. */
#ifndef HELD_UP_H
#define HELD_UP_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static inline void hold_up(void)
{
    static _Thread_local uint32_t r;
    if (r == 0)
        r = (uint32_t)(uintptr_t)&r * 2654435761u | 1;
    r ^= r << 13;
    r ^= r >> 17;
    r ^= r << 5;
    const bool longer = r % 256 == 1;
    if (longer)
        sched_yield(); /* a sleep would look like the end of its work */
    if (longer || r % 32 == 0)
        for (volatile uint32_t k = 0; k < (r >> 11) % (longer ? 200000 : 30000); k++)
            ;
}

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define HELD_UP memory_order_seq_cst
#define atomic_load(p) (hold_up(), atomic_load_explicit(p, HELD_UP))
#define atomic_store(p, v) (hold_up(), atomic_store_explicit(p, v, HELD_UP))
#define atomic_exchange(p, v) (hold_up(), atomic_exchange_explicit(p, v, HELD_UP))
#define atomic_fetch_or(p, v) (hold_up(), atomic_fetch_or_explicit(p, v, HELD_UP))
#define atomic_fetch_and(p, v) (hold_up(), atomic_fetch_and_explicit(p, v, HELD_UP))
#define atomic_fetch_add(p, v) (hold_up(), atomic_fetch_add_explicit(p, v, HELD_UP))
#define atomic_fetch_sub(p, v) (hold_up(), atomic_fetch_sub_explicit(p, v, HELD_UP))
#define atomic_compare_exchange_strong(p, e, v) \
    (hold_up(), atomic_compare_exchange_strong_explicit(p, e, v, HELD_UP, HELD_UP))
#define atomic_compare_exchange_weak(p, e, v) \
    (hold_up(), atomic_compare_exchange_weak_explicit(p, e, v, HELD_UP, HELD_UP))

#endif
