/* Robots of points and springs learn to walk; robot 0 is a triangle whose springs' lengths are optimised instead. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mass_spring.h"
#include "sample.h"

/* Boxes that share corners and sides, from the bottom row up: springs along sides and diagonals; / lacks a diagonal. */
static const char *const robots[][4] = {
    {NULL}, {"XX"}, {"X../", "XXXX"}, {"X...X", "XXXXX", "X...X"}, {"X.X.X.X", "XXXXXXX", "......X"}};
enum { KINDS = sizeof robots / sizeof robots[0], MOST = 64 };

typedef mass_spring_real number;
typedef struct robot {
    sample s; /* first */
    mass_spring *m;
    int kind, points, springs, boxes, ends[MOST][2], corners[MOST][4];
    double at[MOST][2], goal[2], gravity, friction, strength;
} robot;

static int point(robot *r, double x, double y)
{
    for (int i = 0; i < r->points; i++)
        if (hypot(r->at[i][0] - x, r->at[i][1] - y) < 1e-6)
            return i;
    r->at[r->points][0] = x;
    r->at[r->points][1] = y;
    return r->points++;
}

static void join(robot *r, int a, int b)
{
    for (int k = 0; k < r->springs; k++)
        if ((r->ends[k][0] == a && r->ends[k][1] == b) || (r->ends[k][0] == b && r->ends[k][1] == a))
            return;
    r->ends[r->springs][0] = a;
    r->ends[r->springs++][1] = b;
}

static void build(robot *r, double left, double ground, double side)
{
    for (int row = 0; robots[r->kind][row]; row++)
        for (const char *b = robots[r->kind][row]; *b; b++) {
            const double x = left + side * (double)(b - robots[r->kind][row]), y = ground + side * row;
            int *p = r->corners[r->boxes];
            for (int k = 0; *b != '.' && k < 4; k++) /* around */
                p[k] = point(r, k == 1 || k == 2 ? x + side : x, k > 1 ? y + side : y);
            for (int k = 0; *b != '.' && k < (*b == 'X' ? 6 : 5); k++)
                join(r, p[k % 4], p[k < 4 ? (k + 1) % 4 : k - 2]);
            r->boxes += *b != '.';
        }
}

static bool create(sample *s)
{
    static const char *const lengths[] = {"rest", NULL};
    robot *r = (robot *)s;
    mass_spring_params p = mass_spring_defaults();
    if (r->kind == 0) {
        s->parameters = lengths, s->method = DESCENT, s->loss = "squared error of the area", s->aspect = 1.0;
        for (int k = 0; k < 3; k++) {
            point(r, k < 2 ? 0.3 : 0.4, k < 1 ? 0.5 : 0.4);
            join(r, k, (k + 1) % 3);
            r->corners[0][k + 1] = k;
        }
        p.DT = (number)1e-3, p.STIFFNESS = 10, p.DAMPING = 0, p.DRAG = 20, p.GROUND = -100, p.HIDDEN = 0;
        r->goal[0] = 0.1, r->gravity = 0.0, r->boxes = 1, s->target = NULL; /* goal: the area */
    } else if (r->kind > 0 && r->kind < KINDS)
        build(r, 0.05, (double)p.GROUND, 0.06);
    p.POINTS = r->points, p.SPRINGS = r->springs, p.STEPS = s->steps;
    mass_spring *m = r->m = r->points ? mass_spring_create(s->session, &p) : NULL;
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, r->points ? tk_error() : "--robot is 0 to 4");
        return false;
    }
    tk_field_set(m->x.field, TK_DATA, 0, 2 * r->points, &r->at[0][0]);
    for (int k = 0; k < r->springs; k++) {
        const double *a = r->at[r->ends[k][0]], *b = r->at[r->ends[k][1]];
        m->rest.data[k] = (number)hypot(a[0] - b[0], a[1] - b[1]);
    }
    memcpy(m->ends.data, r->ends, (size_t)r->springs * sizeof r->ends[0]);
    tk_field *const layers[] = {m->of_time.field, m->of_point.field, m->of_goal.field, m->out_weight.field};
    uint64_t seed = (uint64_t)s->seed;
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < tk_field_count(layers[k]); i++) {
            const int ends = p.HIDDEN + (k < 3 ? 12 + 4 * r->points : r->springs);
            const double w = sqrt(2.0 / ends) * random_normal(&seed);
            tk_field_set(layers[k], TK_DATA, i, 1, &w);
        }
    return true;
}

static double run(sample *s)
{
    robot *r = (robot *)s;
    mass_spring *m = r->m;
    mass_spring_params p = m->params;
    p.GRAVITY = (number)r->gravity, p.FRICTION = (number)r->friction, p.STRENGTH = (number)r->strength;
    mass_spring_set_params(m, &p);
    tk_field_set(m->goal.field, TK_DATA, 0, 2, r->goal);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < s->steps; t++)
            mass_spring_advance(m, t);
        mass_spring_measure(m);
    }
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    const robot *r = (const robot *)s;
    mass_spring *m = r->m;
    const int past = step > 0 ? step - 1 : 0;
    char text[64];
    double at[MOST][2], g[MOST][2], moved = 0.0;
    tk_field_get(m->x.field, TK_DATA, 2 * mass_spring_idx_x(m, step, 0), 2 * r->points, &at[0][0]);
    tk_field_get(m->kick.field, TK_GRAD, 2 * mass_spring_idx_kick(m, past, 0), 2 * r->points, &g[0][0]);
    draw_colour(c, GREY, 0.3);
    cairo_rectangle(c, 0.0, 0.0, 1.0, (double)m->params.GROUND);
    cairo_fill(c);
    for (int k = 0; k < 2 * r->boxes; k++) { /* where it began, then where it is */
        const double(*box)[2] = k < r->boxes ? r->at : (const double(*)[2])at;
        for (int i = 0; i < 4; i++)
            cairo_line_to(c, box[r->corners[k % r->boxes][i]][0], box[r->corners[k % r->boxes][i]][1]);
        cairo_close_path(c);
        draw_colour(c, k < r->boxes ? GREY : GOLD, 0.25);
        cairo_fill(c);
    }
    for (int k = 0; k < r->springs; k++) {
        const double *a = at[r->ends[k][0]], *b = at[r->ends[k][1]];
        const double act = (double)m->act.data[mass_spring_idx_act(m, past, k)];
        draw_colour(c, GREY, 1.0);
        draw_line(c, a[0], a[1], b[0], b[1], 0.004);
        draw_colour(c, act < 0.0 ? RED : BLUE, fabs(act)); /* short, long */
        draw_line(c, a[0], a[1], b[0], b[1], 0.006);
    }
    draw_colour(c, INK, 1.0);
    for (int i = 0; i < r->points; i++) {
        moved += (at[i][0] - r->at[i][0]) / r->points;
        draw_disc(c, at[i][0], at[i][1], 0.008);
        const double reach = 0.1 / (hypot(g[i][0], g[i][1]) + 5e-3); /* a great one: 0.1 long */
        if (s->show_gradient)
            draw_arrow(c, at[i][0], at[i][1], at[i][0] - reach * g[i][0], at[i][1] - reach * g[i][1], 0.004);
    }
    if (r->kind)
        draw_target(c, r->goal);
    const double area = 0.5 *
                        ((at[1][0] - at[0][0]) * (at[2][1] - at[0][1]) - (at[1][1] - at[0][1]) * (at[2][0] - at[0][0]));
    snprintf(text, sizeof text, r->kind ? "moved by %.3f" : "area %.4f",
             r->kind ? round(1e3 * moved) / 1e3 + 0.0 : fabs(area));
    draw_text(c, 0.03, s->aspect - 0.07, 0.05, text);
}

static void destroy(sample *s)
{
    mass_spring_destroy(((robot *)s)->m);
}

/* What --robot=0 wants; options behind it replace that. */
static void chosen(poptContext c, enum poptCallbackReason why, const struct poptOption *o, const char *arg, void *data)
{
    robot *r = data;
    (void)c, (void)why, (void)o, (void)arg;
    if (r->kind == 0)
        r->s.steps = 1024, r->s.iterations = 25, r->s.rate = 5.0;
}

int main(int argc, char **argv)
{
    static const char *const weights[] = {"of_time", "of_point", "of_goal", "bias", "out_weight", "out_bias", NULL};
    static robot r = {.s = {.name = "mass_spring",
                            .about = "a network that makes a robot of springs walk",
                            .loss = "minus the distance travelled",
                            .steps = 682,
                            .iterations = 100,
                            .rate = 0.2,
                            .threads = 1,
                            .aspect = 0.4,
                            .parameters = weights,
                            .method = NORMALISED,
                            .create = create,
                            .run = run,
                            .draw = draw,
                            .destroy = destroy},
                      .kind = 4,
                      .goal = {0.9, 0.2},
                      .gravity = 2.0,
                      .friction = 1.0,
                      .strength = 0.15};
    static const sample_knob knobs[4] = {
        {"gravity", &r.gravity, 0.0, 6.0}, {"friction", &r.friction, 0.0, 2.0}, {"strength", &r.strength, 0.0, 0.4}};
    const struct poptOption options[] = {
        {NULL, 0, POPT_ARG_CALLBACK, (void *)(uintptr_t)chosen, 0, (const char *)&r, NULL},
        {"robot", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &r.kind, 0, "0: a triangle; 1 to 4: walkers", "K"},
        POPT_TABLEEND};
    r.s.options = options, r.s.knobs = knobs, r.s.target = r.goal;
    return sample_main(&r.s, argc, argv);
}
