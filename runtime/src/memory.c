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

void *tk_rt_alloc(tk_session *s, size_t bytes, bool zero)
{
    if (!s->opt.alloc)
        return tk_rt_block_alloc(NULL, NULL, bytes, zero);
    pthread_mutex_lock(&s->memory_lock);
    void *p = tk_rt_block_alloc(s->opt.alloc, s->opt.alloc_user, bytes, zero);
    pthread_mutex_unlock(&s->memory_lock);
    return p;
}

void tk_rt_free(tk_session *s, void *p)
{
    if (!s->opt.alloc) {
        tk_rt_block_free(p);
        return;
    }
    pthread_mutex_lock(&s->memory_lock);
    tk_rt_block_free(p);
    pthread_mutex_unlock(&s->memory_lock);
}
