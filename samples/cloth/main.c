/* The velocity and the spin of a throw after which a cloth lies over a ball, its corners at four places. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cloth.h"
#include "sample.h"

typedef struct thrown {
    sample s; /* first */
    cloth *m;
    double goal[2];        /* its middle, in the frame */
    double turn, friction; /* turn: of the goal, in degrees */
} thrown;

static const double BALL = 0.55, CORNER = 0.24, FIRST[3] = {1.0, 2.0, 0.0};
static const double CA = 0.88, SA = 0.475, CE = 0.9, SE = 0.436, SCALE = 0.47, LEFT = 0.64, LOW = 0.2; /* the eye's */

static bool create(sample *s)
{
    cloth_params p = cloth_defaults();
    p.N = s->size;
    p.STEPS = s->steps;
    cloth *m = ((thrown *)s)->m = cloth_create(s->session, &p);
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, tk_error());
        return false;
    }
    return tk_field_set(m->throw_.field, TK_DATA, 0, 3, FIRST) == TK_OK;
}

static double run(sample *s)
{
    thrown *h = (thrown *)s;
    cloth *m = h->m;
    cloth_params p = m->params;
    p.FRICTION = (cloth_real)h->friction;
    cloth_set_params(m, &p);
    const double along = (h->goal[0] - LEFT) / SCALE, away = (h->goal[1] - LOW) / (SCALE * SE);
    for (int k = 0; k < 4; k++) {
        const double turn = h->turn * M_PI / 180.0, a = k / 2 ? CORNER : -CORNER, b = k % 2 ? CORNER : -CORNER;
        m->goal.data[k][0] = (cloth_real)(a * cos(turn) - b * sin(turn) + CA * along - SA * away);
        m->goal.data[k][1] = (cloth_real)(a * sin(turn) + b * cos(turn) - SA * along - CA * away);
    }
    TK_TAPE(m, m->loss)
    {
        cloth_start(m);
        for (int t = 0; t < s->steps; t++) {
            cloth_sort(m, t);
            cloth_step(m, t);
        }
        cloth_measure(m);
    }
    return (double)m->loss.data[0];
}

/* Parallel projection, from above and the side. */
typedef struct point {
    double x, y, z; /* in the frame; z away from the eye */
} point;

static point seen(double x, double y, double z)
{
    const double along = CA * x - SA * z, away = -SA * x - CA * z;
    return (point){LEFT + SCALE * along, LOW + SCALE * (CE * y + SE * away), SCALE * (CE * away - SE * y)};
}

typedef struct patch {
    point p[4];
    double z;
    bool dark;
} patch;

static int farther(const void *a, const void *b)
{
    const double d = ((const patch *)b)->z - ((const patch *)a)->z;
    return (d > 0.0) - (d < 0.0);
}

static patch patch_of(const cloth *m, int step, int i, int j, double height)
{
    patch q = {.dark = (i / 4 + j / 4) % 2};
    for (int k = 0; k < 4; k++) {
        const cloth_real *x = m->x.data[cloth_idx_x(m, step, i + (k == 1 || k == 2), j + k / 2)];
        q.p[k] = seen((double)x[0], height * (double)x[1], (double)x[2]);
        q.z += 0.25 * q.p[k].z;
    }
    return q;
}

static void fill(cairo_t *c, const patch *q, colour k, double light)
{
    for (int i = 0; i < 4; i++)
        cairo_line_to(c, q->p[i].x, q->p[i].y);
    draw_colour(c, (colour){light * k.r, light * k.g, light * k.b}, 1.0);
    cairo_set_line_width(c, 0.001); /* covers the seams */
    cairo_fill_preserve(c);
    cairo_stroke(c);
}

/* One side is red, the other one blue. */
static void fill_lit(cairo_t *c, const patch *q)
{
    const point *p = q->p;
    const double a[] = {p[2].x - p[0].x, p[2].y - p[0].y, p[2].z - p[0].z};
    const double b[] = {p[3].x - p[1].x, p[3].y - p[1].y, p[3].z - p[1].z};
    const double n[] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    const colour front = q->dark ? RED : (colour){0.93, 0.72, 0.66}, back = q->dark ? BLUE : (colour){0.6, 0.7, 0.85};
    fill(c, q, n[2] < 0.0 ? front : back,
         0.45 + 0.6 * fabs(0.55 * n[0] + 0.65 * n[1] - 0.52 * n[2]) / hypot(n[0], hypot(n[1], n[2] + 1e-12)));
}

static void draw_ball(cairo_t *c)
{
    const point at = seen(0.0, BALL, 0.0);
    const double r = SCALE * 0.185;
    draw_colour(c, GREY, 1.0);
    draw_line(c, at.x, at.y, LEFT, LOW, 0.012);
    cairo_pattern_t *p = cairo_pattern_create_radial(at.x - 0.3 * r, at.y + 0.4 * r, 0.1 * r, at.x, at.y, r);
    cairo_pattern_add_color_stop_rgb(p, 0.0, 0.95, 0.95, 0.92);
    cairo_pattern_add_color_stop_rgb(p, 1.0, 0.45, 0.47, 0.50);
    cairo_set_source(c, p);
    cairo_pattern_destroy(p);
    draw_disc(c, at.x, at.y, r);
}

static void draw(sample *s, cairo_t *c, int step)
{
    const cloth *m = ((thrown *)s)->m;
    const int n = s->size - 1, patches = n * n;
    patch *q = malloc(sizeof *q * (size_t)patches);
    if (!q)
        return;
    draw_colour(c, GREY, 0.25);
    for (int k = 0; k < 10; k++) { /* the ground */
        const double at = 0.6 * (k / 2) - 1.2;
        const point a = k % 2 ? seen(at, 0.0, -1.2) : seen(-1.2, 0.0, at);
        const point b = k % 2 ? seen(at, 0.0, 1.2) : seen(1.2, 0.0, at);
        draw_line(c, a.x, a.y, b.x, b.y, 0.003);
    }
    for (int i = 0; i < patches; i++) {
        const patch shadow = patch_of(m, step, i / n, i % n, 0.0);
        fill(c, &shadow, (colour){0.8, 0.8, 0.8}, 1.0);
        q[i] = patch_of(m, step, i / n, i % n, 1.0);
    }
    for (int k = 0; k < 4; k++) {
        const point at = seen((double)m->goal.data[k][0], 0.0, (double)m->goal.data[k][1]);
        draw_target(c, (const double[]){at.x, at.y});
    }
    qsort(q, (size_t)patches, sizeof *q, farther);
    int i = 0;
    for (; i < patches && q[i].z > seen(0.0, BALL, 0.0).z; i++)
        fill_lit(c, &q[i]);
    draw_ball(c);
    for (; i < patches; i++)
        fill_lit(c, &q[i]);
    free(q);
    if (s->show_gradient) { /* of the velocity */
        const cloth_real *x = m->x.data[cloth_idx_x(m, 0, n / 2, n / 2)], *g = m->throw_.grad[0];
        const point a = seen((double)x[0], (double)x[1], (double)x[2]);
        const point b = seen((double)(x[0] - g[0]), (double)(x[1] - g[1]), (double)(x[2] - g[2]));
        draw_colour(c, INK, 1.0);
        draw_arrow(c, a.x, a.y, b.x, b.y, 0.006);
    }
}

static void destroy(sample *s)
{
    cloth_destroy(((thrown *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"throw_", "spin", NULL};
    static thrown h = {.s = {.name = "cloth",
                             .about = "a throw that lays a cloth over a ball",
                             .loss = "mean square of the corners' distances from their places",
                             .size = 24,
                             .size_means = "points along each side of the cloth",
                             .least_size = 4,
                             .steps = 560,
                             .iterations = 35,
                             .rate = 0.05,
                             .threads = 1,
                             .parameters = parameters,
                             .method = ADAM,
                             .aspect = 0.9,
                             .create = create,
                             .run = run,
                             .draw = draw,
                             .destroy = destroy},
                       .goal = {0.64, 0.2},
                       .turn = 30.0,
                       .friction = 0.5};
    static const sample_knob knobs[] = {
        {"goal's turn", &h.turn, 0.0, 90.0}, {"friction", &h.friction, 0.0, 1.0}, {NULL, NULL, 0.0, 0.0}};
    h.s.knobs = knobs;
    h.s.target = h.goal;
    return sample_main(&h.s, argc, argv);
}
