/* Atomic operations for code that tcc compiles, by the number of bytes. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void random_load(unsigned long n, const void *p, void *old);
void random_store(unsigned long n, void *p, const void *v);
int64_t random_get(const int64_t *p);
void random_put(int64_t *p, int64_t v);
bool random_exchange(unsigned long n, void *p, void *old, const void *now);
long long random_add(unsigned long n, void *p, long long v);

#define FOR_SIZE(n, DO)       \
    switch (n) {              \
    case 1: DO(uint8_t)       \
    case 2: DO(uint16_t)      \
    case 4: DO(uint32_t)      \
    case 8: DO(uint64_t)      \
    default: abort();         \
    }

void random_load(unsigned long n, const void *p, void *old)
{
#define LOAD(T) *(T *)old = __atomic_load_n((const T *)p, __ATOMIC_ACQUIRE); return;
    FOR_SIZE(n, LOAD)
}

void random_store(unsigned long n, void *p, const void *v)
{
#define STORE(T) __atomic_store_n((T *)p, *(const T *)v, __ATOMIC_RELEASE); return;
    FOR_SIZE(n, STORE)
}

int64_t random_get(const int64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

void random_put(int64_t *p, int64_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

bool random_exchange(unsigned long n, void *p, void *old, const void *now)
{
#define EXCHANGE(T) return __atomic_compare_exchange_n((T *)p, (T *)old, *(const T *)now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    FOR_SIZE(n, EXCHANGE)
}

long long random_add(unsigned long n, void *p, long long v)
{
#define ADD(T) return (long long)__atomic_fetch_add((T *)p, (T)v, __ATOMIC_RELAXED);
    FOR_SIZE(n, ADD)
}
