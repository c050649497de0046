/* Bundle adjustment: cameras and points are found from where the cameras saw the points, by Levenberg-Marquardt. tkc
 * made the Jacobian of bundle.tk. */
#include <math.h>
#include <stdio.h>

#include "bal.h"
#include "check.h"
#include "options.h"
#include "picture.h"
#include "solve.h"

static void tell(int number, const iteration *i)
{
    printf("%9d %18.8f %13.3e", number, i->cost, i->gradient);
    if (i->damping > 0.0)
        printf(" %9.1e", i->damping);
    printf("\n");
}

static bool check_jacobians(const scene *s)
{
    const double deviation = compare_with_differences(s);
    const bool right = deviation < 1e-6;
    printf("Jacobians deviate from central differences by %.1e: %s\n", deviation, right ? "right" : "WRONG");
    return right;
}

static void report(const scene *s, const course *c)
{
    printf("\nadjustment: %s\n", c->converged ? "converged" : "NOT CONVERGED");
    printf("standard deviation of a residual: %.4f pixels\n", scene_deviation(s));
    if (c->residuals < INFINITY)
        printf("Jacobians and their products: %.3f ms, %.0f ns a sight; Schur complement and its solution: %.3f ms\n",
               1e3 * c->residuals, 1e9 * c->residuals / s->sights, 1e3 * c->equations);
}

static bool adjust(const options *o, const scene *before, scene *after)
{
    course c;
    printf("%d cameras, %d points, %d sights: %d unknowns, %d residuals\n", after->cameras, after->points,
           after->sights, after->cameras * CAMERA + after->points * POINT, after->sights * SEEN);
    if (o->check && !check_jacobians(after))
        return false;
    printf("\n%9s %18s %13s %9s\n", "iteration", "cost", "gradient", "damping");
    bool ok = solve(after, o->iterations, tell, &c);
    if (ok) {
        report(after, &c);
        ok = (!*o->save || bal_write(o->save, after)) && (!*o->png || picture_write(o->png, before, after, &c)) &&
             c.converged;
    }
    course_destroy(&c);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, (const char **)argv);
    if (status >= 0)
        return status;
    scene before = {0}, after = {0};
    const bool ok = (o.input ? bal_read(o.input, &before) : scene_synthetic(&before, &o.synthetic)) &&
                    scene_copy(&after, &before) && adjust(&o, &before, &after);
    scene_destroy(&before);
    scene_destroy(&after);
    return !ok;
}
