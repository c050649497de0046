/* The mode of floating-point arithmetic: rounding, and what becomes of denormals. */
#include "rt.h"

#if defined(__SSE__) || defined(__x86_64__)
unsigned rt_float_mode(void)
{
    return __builtin_ia32_stmxcsr();
}
void rt_float_mode_set(unsigned mode)
{
    __builtin_ia32_ldmxcsr(mode);
}
enum { FLUSH = 0x8040 }; /* flush to zero, denormals are zero */
#elif defined(__aarch64__)
unsigned rt_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
void rt_float_mode_set(unsigned mode)
{
    const uint64_t wide = mode;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
}
enum { FLUSH = 1 << 24 };
#else
unsigned rt_float_mode(void)
{
    return 0;
}
void rt_float_mode_set(unsigned mode)
{
    (void)mode;
}
enum { FLUSH = 0 };
#endif

unsigned rt_float_mode_enter(const tk_session *s)
{
    if (!s->opt.flush_denormals)
        return 0;
    const unsigned saved = rt_float_mode();
    rt_float_mode_set(saved | FLUSH);
    return saved;
}

void rt_float_mode_leave(const tk_session *s, unsigned saved)
{
    if (s->opt.flush_denormals)
        rt_float_mode_set(saved);
}
