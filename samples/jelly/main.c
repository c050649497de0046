/* An elastic body is thrown so that it reaches a target: gradient descent through a particle-and-grid simulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "picture.h"
#include "simulate.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(const char *what, int done, int all)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%d of %d %s%s", done, all, what, done == all ? "\n" : "");
}

static size size_of(const options *o)
{
    return (size){o->side, o->steps, o->cells};
}

/* ---- the three ways ---- */

typedef struct result {
    double loss, seconds, module_mb, tape_mb;
    float *gradient; /* of the throw, of all positions, of all deformations */
    size_t n;
} result;

static bool keep_gradient(result *r, const jelly *m)
{
    const size_t particles = (size_t)m->params.N;
    r->n = 2 + 6 * particles;
    r->gradient = malloc(r->n * sizeof *r->gradient);
    if (!r->gradient)
        return false;
    memcpy(r->gradient, m->throw_.grad, 2 * sizeof(float));
    memcpy(r->gradient + 2, m->x.grad, 2 * particles * sizeof(float));
    memcpy(r->gradient + 2 + 2 * particles, m->F.grad, 4 * particles * sizeof(float));
    return true;
}

static bool measure(tk_session *session, const options *o, enum way way, result *r)
{
    enum { RUNS = 3 };
    jelly *m = body_create(session, size_of(o), way);
    bool ok = m != NULL;
    r->seconds = INFINITY;
    for (int k = 0; ok && k < RUNS; k++) {
        progress("runs", (int)way * RUNS + k, WAYS * RUNS);
        const double start = now();
        ok = body_gradient(m, way) == TK_OK;
        r->seconds = fmin(r->seconds, now() - start);
    }
    if (m && !ok)
        fprintf(stderr, "jelly: %s\n", jelly_error(m));
    if (ok) {
        r->loss = (double)m->loss.data[0];
        r->module_mb = 1e-6 * (double)body_bytes(m);
        r->tape_mb = 1e-6 * (double)tk_tape_bytes(session);
        ok = keep_gradient(r, m);
    }
    jelly_destroy(m);
    return ok;
}

/* The largest difference of each part of two gradients, against the largest number in it. */
static double deviation(const result *a, const result *b)
{
    const size_t particles = (a->n - 2) / 6, begin[] = {0, 2, 2 + 2 * particles, a->n};
    double worst = 0.0;
    for (int part = 0; part < 3; part++) {
        double difference = 0.0, largest = 0.0;
        for (size_t i = begin[part]; i < begin[part + 1]; i++) {
            const double d = fabs((double)a->gradient[i] - (double)b->gradient[i]);
            difference = d <= difference ? difference : d; /* keeps a NaN */
            largest = fmax(largest, fabs((double)a->gradient[i]));
        }
        const double ratio = difference == 0.0 ? 0.0 : difference / largest;
        worst = ratio <= worst ? worst : ratio;
    }
    return worst;
}

/* The gradient of the throw against central differences of the loss. */
static bool check_by_differences(tk_session *session, const options *o, const result *r)
{
    const float h = 1e-2f;
    double worst = 0.0;
    jelly *m = body_create(session, size_of(o), RECOMPUTED);
    if (!m)
        return false;
    for (int k = 0; k < 2; k++) {
        const float from = m->throw_.data[0][k];
        double loss[2] = {0.0, 0.0};
        for (int side = 0; side < 2; side++) {
            m->throw_.data[0][k] = side ? from + h : from - h;
            body_gradient(m, RECOMPUTED);
            loss[side] = (double)m->loss.data[0];
        }
        m->throw_.data[0][k] = from;
        const double difference = (loss[1] - loss[0]) / (2.0 * (double)h), size = hypot((double)r->gradient[0], (double)r->gradient[1]);
        worst = fmax(worst, fabs(difference - (double)r->gradient[k]) / size);
    }
    const bool ok = jelly_status(m) == TK_OK && worst < 0.02;
    jelly_destroy(m);
    printf("the gradient of the throw, (%.4f, %.4f), deviates from differences by %.1e of its size\n",
           (double)r->gradient[0], (double)r->gradient[1], worst);
    return ok;
}

static bool compare(tk_session *session, const options *o)
{
    result r[WAYS] = {{0}};
    bool ok = true;
    for (int w = 0; ok && w < WAYS; w++)
        ok = measure(session, o, (enum way)w, &r[w]);
    if (ok) {
        progress("runs", 1, 1);
        printf("%d particles, %d steps, grid of %d x %d cells, %d threads\n\n",
               o->side * o->side, o->steps, o->cells, o->cells, tk_session_threads(session));
        printf("%-12s %12s %12s %12s %14s %12s\n", "grids", "module, MB", "tape, MB", "sum, MB", "gradient, ms", "deviation");
        for (int w = 0; w < WAYS; w++)
            printf("%-12s %12.2f %12.2f %12.2f %14.1f %12.1e\n", way_names[w], r[w].module_mb, r[w].tape_mb,
                   r[w].module_mb + r[w].tape_mb, 1e3 * r[w].seconds, deviation(&r[STORED], &r[w]));
        for (int w = 0; w < WAYS; w++)
            ok = ok && deviation(&r[STORED], &r[w]) < 1e-3 && fabs(r[STORED].loss - r[w].loss) < 1e-5;
        printf("\ngradients are %s\n", ok ? "equal to rounding" : "NOT EQUAL");
        ok = check_by_differences(session, o, &r[STORED]) && ok;
    }
    for (int w = 0; w < WAYS; w++)
        free(r[w].gradient);
    return ok;
}

/* ---- the optimisation ---- */

static bool optimise(jelly *m, const options *o, cairo_t *picture, double *losses)
{
    const double start = now();
    for (int k = 0; k <= o->iterations; k++) {
        if (body_gradient(m, o->way) != TK_OK)
            return false;
        losses[k] = (double)m->loss.data[0];
        if (picture && k == 0)
            picture_first_throw(picture, m, o->side);
        if (k < o->iterations)
            jelly_improve(m, body_rate());
        progress("iterations", k, o->iterations);
    }
    float centre[2];
    body_centre(m, o->steps, centre);
    printf("thrown with (%.4f, %.4f), the body comes to (%.4f, %.4f); the target is (%g, %g)\n",
           (double)m->throw_.data[0][0], (double)m->throw_.data[0][1],
           (double)centre[0], (double)centre[1], (double)m->target.data[0][0], (double)m->target.data[0][1]);
    printf("loss %.3g before, %.3g after %d iterations, %.3g s\n", losses[0], losses[o->iterations], o->iterations, now() - start);
    if (picture) {
        picture_last_throw(picture, m, o->side);
        picture_losses(picture, losses, o->iterations);
    }
    return losses[o->iterations] <= losses[0];
}

static bool throw_at_target(tk_session *session, const options *o)
{
    double *losses = calloc((size_t)o->iterations + 1, sizeof *losses);
    cairo_t *picture = *o->png ? picture_create() : NULL;
    jelly *m = losses ? body_create(session, size_of(o), o->way) : NULL;
    bool ok = m && optimise(m, o, picture, losses);
    if (m && jelly_status(m) != TK_OK) {
        fprintf(stderr, "jelly: %s\n", jelly_error(m));
        ok = false;
    }
    if (ok && picture && (ok = picture_write(picture, o->png)))
        printf("picture: %s\n", o->png);
    jelly_destroy(m);
    cairo_destroy(picture);
    free(losses);
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
        fprintf(stderr, "jelly: %s\n", tk_error());
        return 1;
    }
    const bool ok = o.compare ? compare(session, &o) : throw_at_target(session, &o);
    tk_session_destroy(session);
    return !ok;
}
