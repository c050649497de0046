/* Included before generated C that tcc compiles: what tcc 0.9.27 lacks of gcc's and clang's language. The functions are in tcc.c. */
#define _Pragma(x)
#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __atomic_load(p, old, order) random_load(sizeof *(p), p, old)
#define __atomic_store(p, v, order) random_store(sizeof *(p), p, v)
#define __atomic_load_n(p, order) random_get(p)
#define __atomic_store_n(p, v, order) random_put(p, v)
#define __atomic_compare_exchange(p, old, now, weak, a, b) random_exchange(sizeof *(p), p, old, now)
#define __atomic_fetch_add(p, v, order) random_add(sizeof *(p), p, (long long)(v))

void random_load(unsigned long n, const void *p, void *old);
void random_store(unsigned long n, void *p, const void *v);
long random_get(const long *p);
void random_put(long *p, long v);
_Bool random_exchange(unsigned long n, void *p, void *old, const void *now);
long long random_add(unsigned long n, void *p, long long v);
