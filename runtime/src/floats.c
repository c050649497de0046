/* The mode of floating-point arithmetic: rounding, and what becomes of denormals. */
#include <fenv.h>

#include "rt.h"

#if (defined(__SSE__) || defined(__x86_64__)) && !defined(TK_FENV_ONLY)
unsigned tk_rt_float_mode(void)
{
    return __builtin_ia32_stmxcsr();
}
void tk_rt_float_mode_set(unsigned mode)
{
    __builtin_ia32_ldmxcsr(mode);
}
enum { FLUSH = 0x8040 }; /* flush to zero, denormals are zero */
#elif defined(__aarch64__) && !defined(TK_FENV_ONLY)
unsigned tk_rt_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
void tk_rt_float_mode_set(unsigned mode)
{
    const uint64_t wide = mode;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
}
enum { FLUSH = 1 << 24 };
#else
/* Rounding alone: C knows of no denormals. */
unsigned tk_rt_float_mode(void)
{
    const int mode = fegetround();
    return mode < 0 ? (unsigned)FE_TONEAREST : (unsigned)mode;
}
void tk_rt_float_mode_set(unsigned mode)
{
    fesetround((int)mode);
}
enum { FLUSH = 0 };
#endif

unsigned tk_rt_float_mode_enter(const tk_session *s)
{
    if (!s->opt.flush_denormals)
        return 0;
    const unsigned saved = tk_rt_float_mode();
    tk_rt_float_mode_set(saved | FLUSH);
    return saved;
}

void tk_rt_float_mode_leave(const tk_session *s, unsigned saved)
{
    if (s->opt.flush_denormals)
        tk_rt_float_mode_set(saved);
}
