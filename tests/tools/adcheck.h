/* What the stub of a module gives to adcheck. */
#ifndef ADCHECK_H
#define ADCHECK_H

#include <tkc/tkc_gen.h>

/* A by-value parameter of a kernel, or a member of one: a float or a vector of them (ncomp > 0), or an integer of fixed value. Or a result of floats, or a
 * member of one, whose four pointers stand in the argument struct (tangent 0: there is none). */
typedef struct adcheck_param {
    size_t offset;           /* in the kernel's argument struct */
    size_t tangent;          /* in the JVP's */
    long gradient;           /* in the gradient struct; -1: none */
    long second;             /* in that of the second-order product: the gradient's tangent; -1: none */
    int ncomp;
    size_t integer_size;     /* bytes, where ncomp is 0 */
    int64_t integer;
    bool result;
    size_t inside;           /* of a member of a result: bytes in front of it there */
    bool single;             /* f32, else f64 */
} adcheck_param;

tk_module *adcheck_create(tk_session *s);
void adcheck_destroy(tk_module *m);
__attribute__((weak)) const adcheck_param *adcheck_params(const char *kernel, int *n);
/* Whether its adjoint is the program's own: what that reads, a validated tape does not watch. */
__attribute__((weak)) bool adcheck_own_adjoint(const char *kernel);
/* Gives a field memory of the host, by plane: data, gradient, dual. */
__attribute__((weak)) void adcheck_bind(tk_module *m, const char *field, void *const *given);
/* The step of whose multiples the data at ties are. */
__attribute__((weak)) double adcheck_step(void);

/* Whether the integers of a field that is not declared distinct are to be so all the same. */
__attribute__((weak)) bool adcheck_distinct(const char *field);

#endif
