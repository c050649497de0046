/* Three ways to the same derivative, compared: of one variable. */
#ifndef RT_GRADCHECK_H
#define RT_GRADCHECK_H

#include "rt.h"
#include "slopes.h"

typedef struct gradcheck {
    tk_session *s; /* NULL: of functions of the host */
    tk_field *loss;
    tk_program_fn run;
    void *user;
    tk_gradcheck_options o; /* with the inputs that are checked */
    const rt_snapshot *snapshot;
    int64_t scalars; /* of all inputs */
    int owner;       /* of several processes: whose inputs are checked */
    int worst_owner; /* the owner of the worst */
    double *reverse; /* of the field being checked, or by direction */
    double *slopes;  /* by forward mode, of the last run: one for each direction that the fields' tangents have */
    double largest;  /* of them */
    double worst;    /* largest ratio of a difference to what is tolerated */
    tk_gradcheck_result result;
} gradcheck;

/* What reverse and forward mode say of one variable; forward is NaN where it was not asked. */
typedef struct modes {
    double reverse, forward;
    bool has_forward;
} modes;

/* Compares the derivatives by a variable, the k-th of f (NULL: of no field), with differences on a line through the
 * point. */
void tk_rt_compare(gradcheck *g, const rt_line *l, const modes *m, tk_field *f, int64_t k);
/* No variable was decided. */
bool tk_rt_told_nothing(const tk_gradcheck_result *r);
rt_text tk_rt_text_of_modes(const tk_gradcheck_result *r);
/* Of a number that is not finite: which. */
const char *tk_rt_not_finite(double x);
/* What differences do that decide nothing, and what helps; module: tkc has the option. */
const char *tk_rt_undecided(const tk_gradcheck_result *r);
const char *tk_rt_remedy(const tk_gradcheck_result *r, bool module);

#endif
