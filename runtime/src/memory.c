/* Blocks aligned to 64 bytes, over malloc or the host's hook. */
#include "rt.h"

#include <stdlib.h>

/* Stands right before the memory that is given out. Modules are freed after their session, so a block knows its
 * allocator. */
typedef struct header {
    void *raw;
    size_t total;
    tk_alloc_fn hook;
    void *user;
} header;

enum { ALIGN = 64 };

void *tk_rt_block_alloc(tk_alloc_fn hook, void *user, size_t bytes, bool zero)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    const size_t total = bytes + sizeof(header) + ALIGN - 1;
    void *raw;
    if (hook)
        raw = hook(user, NULL, 0, total);
    else
        raw = zero ? calloc(1, total)
                   : malloc(total); /* large blocks of calloc are zero pages: nothing is touched twice */
    if (!raw)
        return NULL;
    const uintptr_t start = (uintptr_t)raw + sizeof(header);
    unsigned char *p = (unsigned char *)raw + sizeof(header) + (ALIGN - start % ALIGN) % ALIGN;
    if (hook && zero)
        memset(p, 0, bytes);
    const header h = {raw, total, hook, user};
    memcpy(p - sizeof h, &h, sizeof h);
    return p;
}

void tk_rt_block_free(void *p)
{
    if (!p)
        return;
    header h;
    memcpy(&h, (unsigned char *)p - sizeof h, sizeof h);
    if (h.hook)
        (void)h.hook(h.user, h.raw, h.total, 0);
    else
        free(h.raw);
}

static size_t total_of(const void *p)
{
    header h;
    memcpy(&h, (const unsigned char *)p - sizeof h, sizeof h);
    return h.total;
}

/* For profiles. */
static void count(tk_session *s, const void *p)
{
    if (!p)
        return;
    const size_t bytes = total_of(p), now = atomic_fetch_add(&s->held, bytes) + bytes;
    size_t most = atomic_load(&s->most_held);
    while (now > most && !atomic_compare_exchange_weak(&s->most_held, &most, now))
        ;
}

void *tk_rt_uncounted_alloc(tk_session *s, size_t bytes, bool zero)
{
    const bool hook = s->opt.alloc;
    if (hook)
        pthread_mutex_lock(&s->memory_lock);
    void *p = tk_rt_block_alloc(s->opt.alloc, s->opt.alloc_user, bytes, zero);
    if (hook)
        pthread_mutex_unlock(&s->memory_lock);
    return p;
}

void *tk_rt_alloc(tk_session *s, size_t bytes, bool zero)
{
    void *p = tk_rt_uncounted_alloc(s, bytes, zero);
    count(s, p);
    return p;
}

void tk_rt_free(tk_session *s, void *p)
{
    if (p)
        atomic_fetch_sub(&s->held, total_of(p));
    tk_rt_uncounted_free(s, p);
}

void tk_rt_uncounted_free(tk_session *s, void *p)
{
    if (!s->opt.alloc) {
        tk_rt_block_free(p);
        return;
    }
    pthread_mutex_lock(&s->memory_lock);
    tk_rt_block_free(p);
    pthread_mutex_unlock(&s->memory_lock);
}
