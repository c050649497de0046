/* Robots of boxes with motors at their joints learn to walk; --ablation: what the time of impact does to a gradient. */
#include <math.h>
#include <stdio.h>

#include "rigid_body.h"
#include "sample.h"

typedef rigid_body_real number;

/* Legs, and boxes of a leg. */
static const int shapes[][2] = {{2, 2}, {2, 1}, {3, 2}, {0, 0}};
enum { MOST = 8, HEIGHTS = 41 };

typedef struct robot {
    sample s; /* first */
    rigid_body *m;
    int kind, ablation, boxes;
    double goal[2], gravity, friction, range;
    double heights[2][HEIGHTS][3]; /* without and with times of impact: in the beginning, in the end, its derivative */
} robot;

/* A box, pinned to another one unless that is negative. */
static int add(robot *r, double x, double y, double w, double h, int to, double pin_y)
{
    rigid_body *m = r->m;
    const int i = r->boxes++;
    m->half.data[i][0] = (number)w, m->half.data[i][1] = (number)h;
    m->x.data[i][0] = (number)x, m->x.data[i][1] = (number)y;
    if (to < 0)
        return i;
    m->joint.data[i - 1][0] = to, m->joint.data[i - 1][1] = i;
    m->pin.data[i - 1][0] = (number)x - m->x.data[to][0], m->pin.data[i - 1][1] = (number)pin_y - m->x.data[to][1];
    m->pin.data[i - 1][3] = (number)(pin_y - y);
    return i;
}

static bool create(sample *s)
{
    robot *r = (robot *)s;
    rigid_body_params p = rigid_body_defaults();
    const int legs = r->ablation ? 0 : shapes[r->kind & 3][0], parts = shapes[r->kind & 3][1];
    if (r->ablation) {
        s->parameters = NULL, s->moments = 2, s->aspect = 1.0, s->steps = 40, s->iterations = 0;
        s->name = "rigid_body_ablation", s->film_frames = 2;
        p.DT = (number)0.02, p.RESTITUTION = 1, p.DRAG = 0, r->gravity = 0.0;
    }
    p.STEPS = s->steps, p.JOINTS = legs * parts, p.BOXES = p.JOINTS + 1;
    const bool known = r->kind >= 0 && r->kind <= 2;
    rigid_body *m = r->m = known ? rigid_body_create(s->session, &p) : NULL;
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, known ? tk_error() : "--robot is 0 to 2");
        return false;
    }
    const double ground = 0.1, part = parts == 1 ? 0.06 : 0.045, hip = ground + 2.0 * part * parts;
    add(r, 0.2, hip + 0.025, r->ablation ? 0.06 : 0.13, r->ablation ? 0.06 : 0.025, -1, 0.0);
    for (int leg = 0; leg < legs; leg++)
        for (int k = 0, on = 0; k < parts; k++) {
            const double top = hip - 2.0 * part * k;
            on = add(r, 0.1 + 0.2 * leg / (legs - 1), top - part, 0.014, part, on, top);
        }
    tk_field *const layers[] = {m->of_time.field, m->of_place.field, m->of_motion.field, m->of_goal.field,
                                m->weight.field};
    uint64_t seed = (uint64_t)s->seed;
    for (int k = 0; k < 5; k++)
        for (int64_t i = 0; i < tk_field_count(layers[k]); i++) {
            const double w = sqrt(0.2 / (p.HIDDEN + (k < 4 ? 12 + 6 * p.BOXES : p.JOINTS))) * random_normal(&seed);
            tk_field_set(layers[k], TK_DATA, i, 1, &w);
        }
    return true;
}

static double episode(robot *r)
{
    rigid_body *m = r->m;
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < r->s.steps; t++)
            rigid_body_advance(m, t);
        (r->ablation ? rigid_body_measure_height : rigid_body_measure)(m);
    }
    return (double)m->loss.data[0];
}

static double run(sample *s)
{
    robot *r = (robot *)s;
    rigid_body *m = r->m;
    rigid_body_params p = m->params;
    p.GRAVITY = (number)r->gravity, p.FRICTION = (number)r->friction, p.RANGE = (number)r->range;
    tk_field_set(m->goal.field, TK_DATA, 0, 2, r->goal);
    double worst = 0.0;
    for (int k = 0; r->ablation && k < 2 * HEIGHTS; k++) {
        double *h = r->heights[k % 2][k / 2];
        p.IMPACT = k % 2;
        rigid_body_set_params(m, &p);
        h[0] = 0.25 + 0.5 * (k / 2) / (HEIGHTS - 1);
        m->x.data[0][1] = (number)h[0], m->v.data[0][1] = -1;
        m->x.data[0][2] = (number)0.78539816339744831; /* onto a corner, and no rotation */
        h[1] = episode(r);
        h[2] = (double)m->x.grad[0][1];
        worst = p.IMPACT ? fmax(worst, fabs(h[2] + 1.0)) : worst;
    }
    rigid_body_set_params(m, &p);
    return r->ablation ? worst : episode(r);
}

/* The final height by the first one: each short line is a value with its derivative. */
static void draw_ablation(const robot *r, cairo_t *c, int with)
{
    const double corner = 0.1 + 0.06 * sqrt(2.0), sum = 2.0 * corner + 0.8, d = 0.022;
    draw_colour(c, GREY, 0.4); /* the truth, in which the centre falls and rises by 0.8 */
    draw_line(c, 0.23, sum - 0.23, 0.77, sum - 0.77, 0.03);
    draw_colour(c, INK, 1.0);
    draw_arrow(c, 0.08, 0.08, 0.95, 0.08, 0.004);
    draw_arrow(c, 0.08, 0.08, 0.08, 0.95, 0.004);
    draw_text(c, 0.5, 0.02, 0.045, "first height");
    draw_text(c, 0.11, 0.15, 0.045, with ? "time of impact: slope -1" : "naive contact: slope +1");
    for (int k = 0; k < HEIGHTS; k++) {
        const double *h = r->heights[with][k];
        draw_colour(c, h[2] < 0.0 ? GREEN : RED, 1.0); /* the sign of the truth, or not */
        draw_line(c, h[0] - d, h[1] - d * h[2], h[0] + d, h[1] + d * h[2], 0.006);
    }
}

static void draw(sample *s, cairo_t *c, int step)
{
    const robot *r = (const robot *)s;
    rigid_body *m = r->m;
    double x[MOST][3], g[MOST][3];
    const int past = step > 0 ? step - 1 : 0;
    if (r->ablation) {
        draw_ablation(r, c, step > 0);
        return;
    }
    draw_colour(c, GREY, 0.3);
    cairo_rectangle(c, 0.0, 0.0, 1.0, 0.1);
    cairo_fill(c);
    tk_field_get(m->x.field, TK_DATA, 3 * rigid_body_idx_x(m, step, 0), 3 * r->boxes, &x[0][0]);
    tk_field_get(m->kick.field, TK_GRAD, 3 * rigid_body_idx_kick(m, past, 0), 3 * r->boxes, &g[0][0]);
    for (int i = 0; i < r->boxes; i++) {
        const double w = (double)m->half.data[i][0], h = (double)m->half.data[i][1];
        const double act = i ? (double)m->act.data[rigid_body_idx_act(m, past, i - 1)] : 0.0;
        cairo_save(c);
        cairo_translate(c, x[i][0], x[i][1]);
        cairo_rotate(c, x[i][2]);
        cairo_rectangle(c, -w, -h, 2.0 * w, 2.0 * h);
        draw_colour(c, GOLD, 0.4);
        cairo_fill_preserve(c);
        draw_colour(c, INK, 1.0);
        cairo_set_line_width(c, 0.004);
        cairo_stroke(c);
        draw_colour(c, act < 0.0 ? RED : BLUE, fabs(act));
        draw_disc(c, 0.0, h, 0.012);
        cairo_restore(c);
        const double reach = 0.15 / (hypot(g[i][0], g[i][1]) + 0.05); /* a great one: 0.15 long */
        draw_colour(c, GREEN, s->show_gradient);
        draw_arrow(c, x[i][0], x[i][1], x[i][0] - reach * g[i][0], x[i][1] - reach * g[i][1], 0.006);
    }
    draw_target(c, r->goal);
}

static void destroy(sample *s)
{
    rigid_body_destroy(((robot *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const weights[] = {"of_time", "of_place", "of_motion", "of_goal",
                                          "bias",    "weight",   "out_bias",  NULL};
    static robot r = {.s = {.name = "rigid_body",
                            .about = "a network that makes a robot of boxes walk",
                            .loss = "minus the distance travelled",
                            .steps = 2048,
                            .iterations = 50,
                            .rate = 0.01,
                            .threads = 1,
                            .aspect = 0.5,
                            .parameters = weights,
                            .method = ADAM,
                            .clip = 0.2,
                            .create = create,
                            .run = run,
                            .draw = draw,
                            .destroy = destroy},
                      .goal = {0.9, 0.2},
                      .gravity = 2.0,
                      .friction = 1.0,
                      .range = 0.5};
    static const sample_knob knobs[4] = {
        {"gravity", &r.gravity, 0.0, 10.0}, {"friction", &r.friction, 0.0, 2.0}, {"range", &r.range, 0.0, 1.5}};
    const struct poptOption options[] = {
        {"robot", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &r.kind, 0, "0 to 2: of 5, 3 or 7 boxes", "K"},
        {"ablation", 0, POPT_ARG_NONE, &r.ablation, 0, "a falling box, with and without its time of impact", NULL},
        POPT_TABLEEND};
    r.s.options = options, r.s.knobs = knobs, r.s.target = r.goal;
    return sample_main(&r.s, argc, argv);
}
