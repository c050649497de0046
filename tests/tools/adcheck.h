/* What the stub of a module gives to adcheck.c. */
#ifndef ADCHECK_H
#define ADCHECK_H

#include "tk_gen.h"

/* A by-value parameter of a kernel: an f64 or a vector of them (ncomp > 0), or an i32 of fixed value (ncomp 0). */
typedef struct adcheck_param {
    size_t offset;           /* in the kernel's argument struct */
    size_t tangent;          /* in the JVP's */
    long gradient;           /* in the gradient struct; -1: none */
    int ncomp;
    int32_t integer;
} adcheck_param;

tk_module *adcheck_create(tk_session *s);
void adcheck_destroy(tk_module *m);
__attribute__((weak)) const adcheck_param *adcheck_params(const char *kernel, int *n);

#endif
