/* An elastic strip or beam whose ends are held is pressed together: it buckles. Newton's method finds its equilibrium,
 * with the sparse Hessian that tkc made of the energy in newton.tk, and CHOLMOD. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "options.h"
#include "picture.h"
#include "solve.h"
#include "window.h"

typedef struct shown {
    mesh *k;
    window *w; /* NULL: none */
} shown;

static bool tell(void *user, const course *c)
{
    const shown *s = user;
    const iteration *i = &c->at[c->count];
    printf("%9d %16.10f %13.3e", c->count, i->energy, i->gradient);
    if (i->step > 0.0 && i->projected > 0)
        printf(" %9zu %9.3g", i->projected, i->step);
    else if (i->step > 0.0)
        printf(" %9s %9.3g", "", i->step);
    if (i->shift > 0.0)
        printf("   %.1e on the diagonal", i->shift);
    printf("\n");
    return !s->w || window_show(s->w, s->k, c);
}

static bool check_derivatives(mesh *k)
{
    comparison c;
    if (!compare_with_differences(k, &c))
        return false;
    const bool right = c.gradient < 1e-6 && c.hessian < 1e-6;
    printf("gradient and Hessian deviate from central differences by %.1e and %.1e: %s\n", c.gradient, c.hessian,
           right ? "right" : "WRONG");
    return right;
}

static void report(const course *c)
{
    printf("\nequilibrium: %s\n", !c->found    ? "NOT FOUND"
                                  : c->minimum ? "found"
                                               : "A SADDLE: the Hessian is not positive definite");
    printf("energy, gradient and Hessian: %.3f ms; factor of %.0f numbers: %.3f ms\n", 1e3 * c->derive,
           c->factor_numbers, 1e3 * c->factorize);
}

static bool find_equilibrium(mesh *k, const options *o)
{
    course c;
    picture *p = NULL;
    shown s = {k, NULL};
    printf("%d %s, %d points: %d unknowns, %zu numbers in the lower triangle of the Hessian\n", k->elements,
           k->shape.solid ? "tetrahedra" : "triangles", k->points, k->n, tk_sparse_values(k->hessian));
    if (o->check && !check_derivatives(k))
        return false;
    if (o->window && !(s.w = window_open()))
        return false;
    if (*o->png && !(p = picture_create(k))) {
        window_close(s.w);
        return false;
    }
    printf("\n%9s %16s %13s %9s %9s\n", "iteration", "energy", "gradient", "projected", "step");
    bool ok = solve(k, o->iterations, o->bound, tell, &s, &c);
    if (ok) {
        report(&c);
        if (s.w)
            window_wait(s.w, o->linger);
        ok = !p || picture_write(p, k, &c, o->png);
        ok = ok && c.found && c.minimum;
    }
    picture_destroy(p);
    window_close(s.w);
    course_destroy(&c);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, (const char **)argv);
    if (status >= 0)
        return status;
    tk_session_options so = tk_session_defaults();
    so.threads = o.threads;
    tk_session *session = tk_session_create(&so);
    if (!session) {
        fprintf(stderr, "newton: %s\n", tk_error());
        return 1;
    }
    mesh k;
    const bool ok = mesh_create(&k, &o.shape, session) && find_equilibrium(&k, &o);
    mesh_destroy(&k);
    tk_session_destroy(session);
    return !ok;
}
