/* The bottom of a basin is found from the surface of the water above it, observed at a few points: by one process, or
 * by many that have a part of the basin each. */
#include "ocean.h"
#include "sample.h"
#include "processes.h"

enum { PIXELS = 96, FRAMES = 41, GHOSTS = 2, PERIOD = 10, TRUE = 0, FOUND = 1 };

typedef struct basin {
    sample s; /* first */
    char name[20];
    processes p;
    tk_halo_box box;
    ocean *m;
    tk_halo *waves, *bottom;         /* of h, u and v; of b */
    double noise, smooth, errors[2]; /* of the bottom, at first and now: root of the mean square */
    int traffic, side;               /* pixels of a picture */
    float *pictures;                 /* of the basin, TRUE and FOUND: FRAMES surfaces and the bottom */
} basin;

static float *picture(const basin *o, int which, int frame)
{
    return o->pictures + ((which * (FRAMES + 1)) + frame) * o->side * o->side;
}

/* This part's pixels of field a + b, or of b. */
static void paint(const basin *o, const ocean_real *a, const ocean_real *b, float *to)
{
    for (int64_t n = o->side, k = 0; k < n * n; k++) {
        const int64_t i = k / n * o->s.size / n - o->box.lo[0] + GHOSTS,
                      j = k % n * o->s.size / n - o->box.lo[1] + GHOSTS, at = i * o->m->params.NY + j;
        if (i >= GHOSTS && i < o->m->params.NX - GHOSTS && j >= GHOSTS && j < o->m->params.NY - GHOSTS)
            to[k] = (float)(a ? a[at] + b[at] : b[at]);
    }
}

/* The surface of a step, if a frame shows it; of the last one, the bottom too. */
static void record(const basin *o, int step, int which)
{
    for (int f = 0; f < FRAMES && !o->traffic; f++)
        if (step == (int)((int64_t)o->s.steps * f / (FRAMES - 1)))
            paint(o, o->m->h.data, o->m->b.data, picture(o, which, f));
    if (step < o->s.steps || o->traffic)
        return;
    paint(o, NULL, o->m->b.data, picture(o, which, FRAMES));
    processes_gather(&o->p, picture(o, which, 0), (FRAMES + 1) * o->side * o->side);
}

/* Flows far from ghosts are computed while messages travel. */
static void step(const basin *o)
{
    ocean *m = o->m;
    const int w = GHOSTS + 1, nx = m->params.NX, ny = m->params.NY, right = nx - GHOSTS, high = ny - GHOSTS;
    tk_halo_begin(o->waves);
    ocean_flow(m, w, right, w, high);
    tk_halo_end(o->waves);
    ocean_flow(m, 1, w, 1, ny);
    ocean_flow(m, right, nx, 1, ny);
    ocean_flow(m, w, right, 1, w);
    ocean_flow(m, w, right, high, ny);
    ocean_fill(m);
    ocean_push(m);
    ocean_move(m);
}

static void simulate(const basin *o, tk_status (*at)(ocean *, int32_t), int which)
{
    tk_halo_exchange(o->bottom);
    ocean_begin(o->m);
    record(o, 0, which);
    for (int t = 1; t <= o->s.steps; t++) {
        step(o);
        if (t % PERIOD == 0)
            at(o->m, t / PERIOD - 1);
        record(o, t, which);
    }
}

static double error(const basin *o)
{
    *o->m->error.data = 0;
    ocean_differ(o->m);
    tk_allsum(o->s.session, o->m->error.field);
    return sqrt((double)*o->m->error.data) / o->s.size;
}

static double run(sample *s)
{
    basin *o = (basin *)s;
    const processes_mark from = processes_now(s->session);
    TK_TAPE(o->m, o->m->loss)
    {
        simulate(o, ocean_compare, FOUND);
        ocean_smoothen(o->m);
        tk_allsum(s->session, o->m->loss.field);
    }
    if (o->traffic)
        processes_print(&o->p, s->session, &from);
    o->errors[1] = error(o);
    return (double)*o->m->loss.data;
}

/* Water above the true bottom is observed; the search begins with a flat one. */
static bool create(sample *s)
{
    basin *o = (basin *)s;
    o->box = processes_box(&o->p, s->size, GHOSTS);
    const int64_t *lo = o->box.lo, *hi = o->box.hi;
    ocean_params p = ocean_defaults();
    if (s->size < o->p.sides[0] || s->steps < PERIOD)
        return sample_fails(s, "--size, --steps", "less than a cell for a process, or than 10 steps");
    p.N = s->size, p.SEED = s->seed, p.TIMES = s->steps / PERIOD;
    p.I0 = (int32_t)lo[0] - GHOSTS, p.NX = (int32_t)hi[0] + GHOSTS - p.I0;
    p.J0 = (int32_t)lo[1] - GHOSTS, p.NY = (int32_t)hi[1] + GHOSTS - p.J0;
    p.NOISE = (ocean_real)o->noise, p.SMOOTH = (ocean_real)o->smooth;
    o->side = s->size < PIXELS ? s->size : PIXELS;
    o->pictures = calloc((size_t)(o->side * o->side), 2 * (FRAMES + 1) * sizeof *o->pictures);
    ocean *m = o->m = ocean_create(s->session, &p);
    if (!m || !o->pictures || tk_mpi_attach(s->session, MPI_COMM_WORLD) != TK_OK)
        return sample_fails(s, "create", o->pictures ? tk_error() : "out of memory");
    o->waves = tk_halo_create_box(s->session, (tk_field *[]){m->h.field, m->u.field, m->v.field}, 3, &o->box);
    o->bottom = tk_halo_create_box(s->session, &m->b.field, 1, &o->box);
    ocean_raise(m);
    simulate(o, ocean_observe, TRUE);
    ocean_flatten(m);
    o->errors[0] = error(o);
    return tk_session_status(s->session) == TK_OK;
}

/* Above the surfaces, below the bottoms; the true ones are left. */
static void draw(sample *s, cairo_t *c, int step)
{
    const basin *o = (basin *)s;
    const int n = o->side, frame = (int)((int64_t)step * (FRAMES - 1) / s->steps);
    static const char *const names[] = {"true surface", "computed", "true bottom", "found"};
    static float rgb[3 * PIXELS * PIXELS];
    for (int panel = 0; panel < 4; panel++) {
        const float *x = picture(o, panel % 2, panel < 2 ? frame : FRAMES);
        for (int k = 0; k < n * n; k++) { /* rows of an image go down, y goes up */
            const double at = (double)x[k % n * n + n - 1 - k / n];
            const colour ramp = panel < 2 ? draw_ramp(0.5 + 12.0 * (at - 1.0)) : draw_ramp(0.4 + 1.2 * at);
            memcpy(rgb + 3 * k, (float[3]){(float)ramp.r, (float)ramp.g, (float)ramp.b}, 3 * sizeof *rgb);
        }
        cairo_save(c);
        cairo_translate(c, 0.01 + 0.5 * (panel % 2), panel < 2 ? 0.5 : 0.0);
        cairo_scale(c, 0.48, 0.48);
        draw_image(c, n, n, rgb, 1.0);
        draw_text(c, 0.03, 0.03, 0.05, names[panel]);
        cairo_restore(c);
    }
}

static void destroy(sample *s)
{
    basin *o = (basin *)s;
    if (s->draw && o->m && s->curve_length > 1)
        printf("%s: error of the bottom %.6g before, %.6g after\n", s->name, o->errors[0], o->errors[1]);
    tk_halo_destroy(o->waves);
    tk_halo_destroy(o->bottom);
    tk_mpi_detach(s->session);
    ocean_destroy(o->m);
    free(o->pictures);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"b", NULL};
    basin o = {.noise = 0.0005, .smooth = 3e-5, .p = processes_begin(&argc, &argv)};
    const struct poptOption options[] = {
        {"noise", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.noise, 0, "of an observed height", "X"},
        {"smooth", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.smooth, 0, "weight of slopes", "X"},
        {"traffic", 0, POPT_ARG_NONE, &o.traffic, 0, "prints bytes and messages, and draws nothing", NULL},
        POPT_TABLEEND};
    snprintf(o.name, sizeof o.name, o.p.rank == 0 ? "ocean" : "ocean.%d", o.p.rank);
    o.s = (sample){.name = o.name,
                   .about = "the bottom below water, from its surface",
                   .loss = "mean square of what differs from observations",
                   .size = 96,
                   .size_means = "cells along a side",
                   .least_size = 8,
                   .steps = 240,
                   .iterations = 150,
                   .seed = 2,
                   .rate = 0.01,
                   .threads = 1,
                   .budget = 4.0,
                   .options = options,
                   .parameters = parameters,
                   .method = ADAM,
                   .moments = 1,
                   .create = create,
                   .run = run,
                   .draw = o.p.rank == 0 ? draw : NULL,
                   .sum = o.p.count > 1 ? processes_sum : NULL,
                   .destroy = destroy};
    return processes_end(&o.p, sample_main(&o.s, argc, argv));
}
