/* Bodies under their gravity, with forces that nobody derived: the tape differentiates the potential energy. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "csv.h"
#include "draw.h"
#include "gravity.h"
#include "options.h"

enum { CSV, GIF, PNG, FILES };

typedef struct output {
    FILE *csv;
    animation *gif;
    picture *png;
    char *part[FILES]; /* names until all of them are written: what stands there stays whole until then */
    float (*drawn)[2]; /* positions at the last drawing */
} output;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the initial state ---- */

static float uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(*state >> 40) * 0x1p-24f;
}

/* A disc of bodies that circle its centre. */
static body *random_bodies(int n, uint64_t seed)
{
    body *bodies = malloc((size_t)n * sizeof *bodies);
    for (int i = 0; bodies && i < n; i++) {
        const float r = sqrtf(0.02f + 0.98f * uniform(&seed)), angle = 6.2831853f * uniform(&seed);
        const float speed = 0.9f * sqrtf(2.0f * (float)n * r);
        bodies[i] = (body){r * cosf(angle), r * sinf(angle), -speed * sinf(angle), speed * cosf(angle)};
    }
    return bodies;
}

static body *initial_bodies(const options *o, int *n)
{
    body *bodies = NULL;
    *n = o->n;
    if (!o->input)
        bodies = random_bodies(o->n, o->seed);
    else if ((*n = csv_read(o->input, o->n, &bodies)) >= 0 && (*n == 0 || *n < o->n)) {
        fprintf(stderr, "%s: %d bodies are too few\n", o->input, *n);
        free(bodies);
        bodies = NULL;
    }
    return bodies;
}

static gravity *create(const options *o, tk_session *session, float *extent)
{
    gravity_params p = gravity_defaults();
    body *bodies = initial_bodies(o, &p.N);
    if (!bodies)
        return NULL;
    gravity *g = gravity_create(session, &p);
    if (!g)
        fprintf(stderr, "gravity: %s\n", tk_error());
    *extent = 0.0f;
    for (int i = 0; g && i < p.N; i++) {
        g->x.data[i][0] = bodies[i].x;
        g->x.data[i][1] = bodies[i].y;
        g->v.data[i][0] = bodies[i].vx;
        g->v.data[i][1] = bodies[i].vy;
        *extent = fmaxf(*extent, hypotf(bodies[i].x, bodies[i].y));
    }
    *extent = *extent > 0.0f ? 1.2f * *extent : 1.0f;
    free(bodies);
    return g;
}

/* ---- figures ---- */

static double kinetic_energy(const gravity *g)
{
    double sum = 0.0;
    for (int i = 0; i < g->params.N; i++)
        sum += 0.5 * ((double)g->v.data[i][0] * (double)g->v.data[i][0] + (double)g->v.data[i][1] * (double)g->v.data[i][1]);
    return sum;
}

/* Leaves dU/dx in x.grad. */
static tk_status differentiate(gravity *g)
{
    TK_TAPE(g, g->U) {
        gravity_compute_U(g);
    }
    return gravity_status(g);
}

/* Compares dU/dx with the formula by hand: each pair stands in the sum twice, once as (i, j) and once as (j, i).
 * The bound is the usual one for a sum of n rounded terms. */
static bool check_forces(gravity *g)
{
    const int n = g->params.N;
    double worst = 0.0;
    if (differentiate(g) != TK_OK)
        return false;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) {
            double sum = 0.0, size = 0.0;
            for (int j = 0; j < n; j++) {
                const double rx = (double)g->x.data[i][0] - (double)g->x.data[j][0], ry = (double)g->x.data[i][1] - (double)g->x.data[j][1];
                const double term = 2.0 * (c ? ry : rx) / pow(rx * rx + ry * ry + 1e-3, 1.5);
                sum += term;
                size += fabs(term);
            }
            const double bound = (n + 16) * 0.5 * FLT_EPSILON * size;
            const double error = fabs((double)g->x.grad[i][c] - sum);
            worst = fmax(worst, error == 0.0 ? 0.0 : error / bound);
        }
    printf("forces against the formula by hand: %s (largest error %.2g of the bound for rounding)\n", worst <= 1.0 ? "equal to rounding" : "WRONG", worst);
    return worst <= 1.0;
}

static void progress(int step, int steps)
{
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    const int full = steps ? (int)((long)step * WIDTH / steps) : WIDTH;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(WIDTH - full));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %d of %d steps%s", bar, step, steps, step == steps ? "\n" : "");
}

/* ---- outputs ---- */

/* A device or a pipe is written itself. */
static char *part_of(const char *path)
{
    static const char ending[] = ".part";
    struct stat st;
    const bool file = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    char *part = malloc(strlen(path) + sizeof ending);
    if (part)
        sprintf(part, "%s%s", path, file ? ending : "");
    return part;
}

static void list_paths(const options *o, const char **path)
{
    path[CSV] = o->trajectory;
    path[GIF] = o->gif;
    path[PNG] = o->png;
}

/* All get their names, or none does. */
static bool finish_files(output *out, const options *o, bool ok)
{
    const char *path[FILES];
    list_paths(o, path);
    for (int i = 0; i < FILES; i++) {
        if (*path[i] && out->part[i] && strcmp(out->part[i], path[i]) != 0) {
            if (!ok)
                unlink(out->part[i]);
            else if (rename(out->part[i], path[i]) != 0) {
                perror(path[i]);
                ok = false;
            }
        }
        free(out->part[i]);
    }
    return ok;
}

static bool open_outputs(output *out, const options *o, int n, float extent)
{
    const char *path[FILES];
    list_paths(o, path);
    for (int i = 0; i < FILES; i++)
        if (!(out->part[i] = part_of(path[i])))
            return false;
    out->drawn = calloc((size_t)n, sizeof *out->drawn);
    if (*o->trajectory)
        out->csv = csv_create(out->part[CSV]);
    if (*o->gif)
        out->gif = animation_create(out->part[GIF], 400, extent);
    if (*o->png)
        out->png = picture_create(900, extent);
    return out->drawn && (!*o->trajectory || out->csv) && (!*o->gif || out->gif) && (!*o->png || out->png);
}

/* Draws the way since the last call; writes a row and a frame now and then. */
static bool record(output *out, const gravity *g, int step, bool frame)
{
    const int n = g->params.N;
    const float (*x)[2] = (const float (*)[2])g->x.data, (*from)[2] = (const float (*)[2])out->drawn;
    if (step > 0 && out->gif)
        animation_move(out->gif, n, from, x);
    if (step > 0 && out->png)
        picture_move(out->png, n, from, x);
    memcpy(out->drawn, x, (size_t)n * sizeof *x);
    if (frame && out->csv)
        csv_write(out->csv, step, n, x, (const float (*)[2])g->v.data);
    return !frame || !out->gif || animation_frame(out->gif, n, x);
}

static bool close_outputs(output *out, const options *o, const gravity *g, bool ok)
{
    if (out->csv && (ferror(out->csv) | fclose(out->csv)) != 0) {
        perror(o->trajectory);
        ok = false;
    }
    if (out->gif)
        ok = animation_close(out->gif) && ok;
    if (out->png) {
        picture_bodies(out->png, g->params.N, (const float (*)[2])g->x.data);
        ok = picture_write_png(out->png, out->part[PNG]) && ok;
        picture_destroy(out->png);
    }
    free(out->drawn);
    return finish_files(out, o, ok);
}

/* ---- the run ---- */

static bool simulate(gravity *g, const options *o, output *out)
{
    const bool terminal = isatty(STDERR_FILENO);
    double first = 0.0, largest = 0.0, last = 0.0, seconds = 0.0;
    for (int step = 0; step <= o->steps; step++) {
        if (!record(out, g, step, step % o->every == 0))
            return false;
        if (terminal && (step % o->every == 0 || step == o->steps))
            progress(step, o->steps);
        const double start = now();
        if (differentiate(g) != TK_OK)
            return false;
        const double between = now();
        const double energy = kinetic_energy(g) + (double)g->U.data[0];
        if (step == 0)
            first = energy;
        last = energy - first;
        largest = fmax(largest, fabs(last));
        const double resume = now();
        if (step < o->steps && gravity_advance(g, o->dt) != TK_OK)
            return false;
        seconds += (between - start) + (now() - resume);
    }
    printf("%d bodies, %d steps of %g, %d thread%s\n", g->params.N, o->steps, (double)o->dt, tk_session_threads(tk_module_session(&g->tk)),
           tk_session_threads(tk_module_session(&g->tk)) == 1 ? "" : "s");
    printf("energy %.6g; drift at the end %.2e, at most %.2e of it\n", first, fabs(last / first), largest / fabs(first));
    printf("%.3g microseconds per step\n", 1e6 * seconds / (o->steps + 1));
    return true;
}

static bool run(gravity *g, const options *o, float extent)
{
    output out = {0};
    bool ok = open_outputs(&out, o, g->params.N, extent);
    if (ok && o->check)
        ok = check_forces(g);
    ok = ok && simulate(g, o, &out);
    if (ok && o->check)
        ok = check_forces(g);
    return close_outputs(&out, o, g, ok);
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, argv);
    if (status >= 0)
        return status;
    tk_session_options so = tk_session_defaults();
    so.threads = o.threads;
    tk_session *session = tk_session_create(&so);
    if (!session) {
        fprintf(stderr, "gravity: %s\n", tk_error());
        return 1;
    }
    float extent;
    gravity *g = create(&o, session, &extent);
    bool ok = g && run(g, &o, extent);
    if (g && gravity_status(g) != TK_OK) {
        fprintf(stderr, "gravity: %s\n", gravity_error(g));
        ok = false;
    }
    gravity_destroy(g);
    tk_session_destroy(session);
    if (ok && *o.png)
        printf("picture: %s\n", o.png);
    if (ok && *o.gif)
        printf("animation: %s\n", o.gif);
    return !ok;
}
