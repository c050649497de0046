/* Parameters that change while a tape is open; params.c. */
#ifndef RT_PARAMS_H
#define RT_PARAMS_H

#include "rt.h"

/* rt_tape.changed: the modules whose parameters changed since it was opened; .versions: of these, the last one first;
 * .params: as the program set them last; .in_force: as they are. NULL: as the tape found them. All stand in .args.
 * .of_program: the modules whose parameters the program of a gradient check or Jacobian changed. */

/* The parameters of the modules that changed theirs since the tape was opened, one module after the other. */
typedef struct rt_version {
    const struct rt_version *before;
    size_t size;
    unsigned char values[];
} rt_version;

/* A module whose parameters changed. */
typedef struct rt_changed {
    struct rt_changed *next;
    tk_module *module;     /* NULL: it is gone */
    void *own;             /* its parameters */
    size_t size, at;       /* bytes; where they begin in a version */
    unsigned char first[]; /* as they were before the first change */
} rt_changed;

/* Gives modules the parameters of that version. */
void tk_rt_params_use(tk_session *s, const rt_version *v);
/* A tape closes: those that the program set last. */
void tk_rt_params_close(tk_session *s);
/* A module is about to go. */
void tk_rt_params_forget(const tk_module *m);
/* Of a program of a gradient check or Jacobian: as it found them; and it is at its end. */
void tk_rt_params_restore(tk_session *s);
void tk_rt_params_free(tk_session *s);

#endif
