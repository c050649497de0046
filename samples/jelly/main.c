/* An elastic body is thrown so that it reaches a target: gradient descent through a particle-and-grid simulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "draw.h"
#include "options.h"
#include "simulate.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(const char *what, int done, int all)
{
    enum { WIDTH = 40 };
    if (!isatty(STDERR_FILENO))
        return;
    char bar[WIDTH + 1];
    const int full = all ? (int)((long)done * WIDTH / all) : WIDTH;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(WIDTH - full));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %d of %d %s%s", bar, done, all, what, done == all ? "\n" : "");
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

static void draw_throw(picture *p, const jelly *m, const colour c, float opacity)
{
    enum { MOMENTS = 5 };
    const int steps = m->params.STEPS, n = m->params.N;
    float from[2], to[2];
    for (int k = 0; k <= MOMENTS; k++) {
        const int t = (int)((long)steps * k / MOMENTS);
        const float (*x)[2] = (const float (*)[2])m->x.data + (size_t)t * (size_t)n;
        for (int i = 0; i < n; i++)
            picture_disc(p, x[i][0], x[i][1], 0.0022f, c, k == MOMENTS ? opacity : 0.35f * opacity);
    }
    body_centre(m, 0, from);
    for (int t = 1; t <= steps; t++) {
        body_centre(m, t, to);
        picture_line(p, from, to, c);
        memcpy(from, to, sizeof to);
    }
}

/* How the loss fell, in the upper left corner. */
static void draw_losses(picture *p, const double *losses, int iterations, const colour c)
{
    chart losses_chart = {.left = 0.075f, .right = 0.36f, .bottom = 0.735f, .top = 0.93f,
                          .x = {0.0, iterations}, .y = {INFINITY, 0.0}, .logarithmic_y = true};
    for (int k = 0; k <= iterations; k++) {
        losses_chart.y[0] = fmin(losses_chart.y[0], fmax(losses[k], 1e-12));
        losses_chart.y[1] = fmax(losses_chart.y[1], fmax(losses[k], 1e-12));
    }
    picture_axes(p, &losses_chart);
    picture_curve(p, &losses_chart, NULL, losses, iterations + 1, c);
    for (int k = 0; k <= iterations; k++)
        picture_point(p, &losses_chart, k, losses[k], c);
}

static bool optimise(jelly *m, const options *o, picture *p, double *losses)
{
    static const colour before = {0.55f, 0.56f, 0.60f}, after = {0.80f, 0.18f, 0.33f}, target = {0.10f, 0.36f, 0.70f};
    const double start = now();
    for (int k = 0; k <= o->iterations; k++) {
        if (body_gradient(m, o->way) != TK_OK)
            return false;
        losses[k] = (double)m->loss.data[0];
        if (p && k == 0)
            draw_throw(p, m, before, 0.6f);
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
    if (p) {
        if (o->iterations > 0)
            draw_throw(p, m, after, 0.9f);
        picture_ring(p, m->target.data[0][0], m->target.data[0][1], 0.02f, target);
        picture_disc(p, m->target.data[0][0], m->target.data[0][1], 0.005f, target, 1.0f);
        draw_losses(p, losses, o->iterations, after);
    }
    return losses[o->iterations] <= losses[0];
}

static bool throw_at_target(tk_session *session, const options *o)
{
    double *losses = calloc((size_t)o->iterations + 1, sizeof *losses);
    picture *p = *o->png ? picture_create(800) : NULL;
    jelly *m = losses && (p || !*o->png) ? body_create(session, size_of(o), o->way) : NULL;
    bool ok = m && optimise(m, o, p, losses);
    if (m && jelly_status(m) != TK_OK) {
        fprintf(stderr, "jelly: %s\n", jelly_error(m));
        ok = false;
    }
    if (ok && p) {
        ok = picture_write_png(p, o->png);
        printf("picture: %s\n", o->png);
    }
    jelly_destroy(m);
    picture_destroy(p);
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
