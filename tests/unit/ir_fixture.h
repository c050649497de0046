/* A module with one function that is built by hand. */
#ifndef IR_FIXTURE_H
#define IR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ops.h"

typedef struct fixture {
    arena *mem;
    intern_pool *names;
    ir_module *m;
    ir_func *f;
    ir_builder b;
    ir_value *u, *v; /* parameters of the function, where a test has some */
    ir_field *x, *y; /* fields of the module, where a test has some */
} fixture;

fixture *fixture_create(ir_func_kind kind, const char *name);
int teardown(void **state);
/* Ends the function with the results v[0..n). */
void finish(fixture *t, int n, ir_value *const *v);
/* ir_verify_gone with its message thrown away: the function may be wrong. */
bool verifies_gone(const ir_func *f, unsigned gone);
bool verifies(const ir_func *f);

#endif
