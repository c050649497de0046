/* A module as tkc would generate it, written by hand, with kernels that can do what the tests of libtkc need: fail, log, nest, keep records. */
#ifndef RUNTIME_FAKE_H
#define RUNTIME_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <tkc/tkc_gen.h>

enum { F_X, F_U, F_Y, F_C, F_R, F_S, F_COUNT };
enum { K_SQUARE, K_SCALE, K_FAIL, K_UNDIFF, K_ZERO, K_GRAD_ARGS, K_RECORD, K_NEST, K_BAD_ADJOINT, K_WORK, K_MODE, K_COUNT };

typedef struct view {
    double *data, *grad, *dual;
    tk_field *field;
} view;

typedef struct fake {
    tk_module tk;
    int64_t n;
    view U, y, s;
    int log[64]; /* what ran: kernel index, or 100 + index for an adjoint, 200 + index for a JVP */
    int nlog;
    double flushed; /* by K_MODE */
} fake;

typedef struct scale_args {
    double a;
} scale_args;
typedef struct scale_jvp_args {
    scale_args primal;
    double a_dual;
} scale_jvp_args;

extern const tk_module_desc fake_desc;

enum { FAKE_HASH = 42 };

/* x: f32 vec2[n] grad dual; U: f64 grad dual, 0-D; y: f64[n] grad dual; c: i32[n]; r: f64[n], never written; s: f64, 0-D, no grad. NULL on
 * failure. */
fake *fake_create(tk_session *s, int64_t n);
void fake_destroy(fake *m);
/* Puts the views right after a bind. */
void fake_refresh(fake *m);
tk_status fake_square(fake *m, double a); /* U += a * sum y^2 */
tk_status fake_scale(fake *m, double a);  /* y *= a */
tk_status fake_launch(fake *m, int kernel); /* one without arguments */
tk_status fake_launch_grad(fake *m, int kernel);

/* An allocator hook that fails at the countdown-th allocation (never below 0) and checks sizes. */
typedef struct counting {
    long countdown, calls;
    size_t live;
} counting;
void *counting_alloc(void *user, void *old, size_t old_size, size_t size);
/* A session with that hook, whose countdown does not run yet. */
tk_session *counted_session(counting *c);

/* A parallel hook of four threads of its own; user: NULL, or an atomic counter of its calls. */
void pthread_hook(void *user, int64_t n, tk_task_fn fn, const void *args);

#endif
