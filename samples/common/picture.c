#include "sample.h"

void frame_paint(sample *s, cairo_t *c, double width, int step)
{
    cairo_save(c);
    cairo_scale(c, width, -width);
    cairo_translate(c, 0.0, -s->aspect);
    cairo_rectangle(c, 0.0, 0.0, 1.0, s->aspect);
    cairo_clip(c);
    draw_colour(c, (colour){0.98, 0.975, 0.96}, 1.0);
    cairo_paint(c);
    draw_colour(c, INK, 1.0);
    s->draw(s, c, step);
    cairo_restore(c);
    cairo_new_path(c);
}

/* The k-th of n steps from the first to the last. */
static int moment(const sample *s, int k, int n)
{
    return n > 1 ? (int)((int64_t)s->steps * k / (n - 1)) : s->steps;
}

void text_at(cairo_t *c, double x, double y, double before, double most, const char *text)
{
    cairo_text_extents_t size;
    cairo_text_extents(c, text, &size);
    const double narrow = fmin(1.0, most / fmax(size.x_advance, 1.0));
    cairo_save(c);
    cairo_translate(c, x - before * narrow * size.x_advance, y);
    cairo_scale(c, narrow, 1.0);
    cairo_move_to(c, 0.0, 0.0);
    cairo_show_text(c, text);
    cairo_restore(c);
    cairo_new_path(c);
}

/* ---- the curve ---- */

#define LARGE 1e300 /* no more is plotted, so that sums are finite */

/* Values, or their decimal logarithms, from low to high at places from `from` to `to`, with a tick at each step. */
typedef struct axis {
    double low, high, from, to, step;
    bool logarithms;
} axis;

static double place(const axis *a, double value)
{
    return a->from + (a->to - a->from) * ((a->logarithms ? log10(value) : value) - a->low) / (a->high - a->low);
}

/* 1, 2 or 5 times a power of ten: at most `most` of them fit. */
static double tick_step(double length, double most)
{
    double step = pow(10.0, floor(log10(length / most)));
    for (int k = 0; length / step > most; k++)
        step *= k % 3 == 1 ? 2.5 : 2.0;
    return step;
}

static axis axis_of(const double *values, int n, double from, double to)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < n; k++)
        if (fabs(values[k]) < LARGE) {
            low = fmin(low, values[k]);
            high = fmax(high, values[k]);
        }
    const bool logarithms = low > 0.0 && high > 30.0 * low;
    low = !(low <= high) ? 0.0 : logarithms ? log10(low) : low;
    high = !(low <= high) ? 0.0 : logarithms ? log10(high) : high;
    const double least = 1e-5 * fmax(fabs(low), fabs(high)); /* what labels can show */
    const double wider = high - low > least ? 0.0 : least > 0.0 ? 0.5 * least : 0.5;
    const double step = fmax(tick_step(high - low + 2.0 * wider, fmax((from - to) / 30.0, 2.0)),
                             logarithms ? 1.0 : 0.0);
    low = step * floor((low - wider) / step);
    return (axis){low, step * ceil((high + wider) / step), from, to, step, logarithms};
}

void plot(cairo_t *c, double width, double height, const double *values, int n, const char *title)
{
    enum { LEFT = 76, RIGHT = 24, TOP = 40, BOTTOM = 26 };
    char text[32];
    const axis y = axis_of(values, n, height - BOTTOM, TOP), x = {0.0, fmax(n - 1, 1), LEFT, width - RIGHT, 0.0, false};
    draw_colour(c, INK, 1.0);
    cairo_set_font_size(c, 14.0);
    text_at(c, 12.0, 18.0, 0.0, width - RIGHT, title);
    cairo_set_font_size(c, 12.0);
    for (int k = 0; k <= lround((y.high - y.low) / y.step); k++) {
        const double v = y.low + k * y.step, at = y.from + (y.to - y.from) * (v - y.low) / (y.high - y.low);
        snprintf(text, sizeof text, "%.7g", y.logarithms ? pow(10.0, v) : fabs(v) < 1e-9 * y.step ? 0.0 : v);
        text_at(c, x.from - 6.0, at + 4.0, 1.0, LEFT - 10, text);
        draw_colour(c, INK, 0.15);
        draw_line(c, x.from, at, x.to, at, 1.0);
        draw_colour(c, INK, 1.0);
    }
    const double across = fmax(tick_step(x.high, fmax((x.to - x.from) / 50.0, 1.0)), 1.0);
    for (double k = 0.0; k <= x.high; k += across) {
        snprintf(text, sizeof text, "%g", k);
        text_at(c, place(&x, k), y.from + 18.0, 0.5, 48.0, text);
    }
    draw_colour(c, RED, 1.0);
    for (int k = 0; k < n; k++)
        if (!(fabs(values[k]) < LARGE))
            cairo_new_sub_path(c);
        else if (n == 1)
            draw_disc(c, x.from, place(&y, values[k]), 3.0);
        else
            cairo_line_to(c, place(&x, k), place(&y, values[k]));
    cairo_set_line_width(c, 1.8);
    cairo_stroke(c);
}

/* ---- the picture of a run ---- */

enum { GAP = 12, HEAD = 26, PLOT = 246, LEAST = 600 };

cairo_t *picture_row(cairo_t *c, int rows, sample *s, const char *label)
{
    const int n = s->steps > 0 ? s->moments : 1, column = n > 1 ? 240 : 480; /* a frame alone is larger */
    const int width = GAP + n * (column + GAP), row = HEAD + (int)ceil(column * s->aspect);
    char text[128];
    if (!c) {
        const int height = rows * row + GAP + (s->curve_length > 0 ? PLOT : 0);
        cairo_surface_t *all = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width < LEAST ? LEAST : width, height);
        c = cairo_create(all);
        cairo_surface_destroy(all); /* c keeps it */
        draw_colour(c, (colour){1, 1, 1}, 1.0);
        cairo_paint(c);
        cairo_set_font_size(c, 14.0);
    }
    for (int k = 0; k < n; k++) {
        const int step = moment(s, k, n), length = k > 0 ? 0 : snprintf(text, sizeof text, label, s->iteration);
        if (s->steps > 0)
            snprintf(text + length, sizeof text - (size_t)length, "%sstep %d", k > 0 ? "" : ": ", step);
        cairo_save(c);
        cairo_translate(c, GAP + k * (column + GAP), HEAD);
        draw_colour(c, INK, 1.0);
        text_at(c, 0.0, -8.0, 0.0, column, text);
        frame_paint(s, c, column, step);
        cairo_restore(c);
    }
    cairo_translate(c, 0.0, row);
    return c;
}

bool picture_finish(cairo_t *c, const sample *s, const char *path)
{
    char title[160];
    cairo_surface_t *all = cairo_get_target(c);
    cairo_translate(c, 0.0, GAP);
    snprintf(title, sizeof title, s->parameters ? "%s, by iterations" : "%s", s->loss ? s->loss : "loss");
    if (s->curve_length > 0)
        plot(c, cairo_image_surface_get_width(all), PLOT, s->curve, s->curve_length, title);
    const cairo_status_t status = cairo_surface_write_to_png(all, path);
    cairo_destroy(c);
    if (status != CAIRO_STATUS_SUCCESS)
        return sample_fails(s, path, cairo_status_to_string(status));
    printf("%s: picture %s\n", s->name, path);
    return true;
}

/* ---- films: ffmpeg reads raw frames from us; the name of its file goes through the shell in a variable ---- */

bool film_write(sample *s, const char *path)
{
    enum { WIDTH = 480 };
    const char *end = strrchr(path, '.');
    const bool gif = end && !strcmp(end, ".gif"); /* of 256 colours: the best for all frames */
    const int height = 2 * (int)fmax(round(0.5 * s->aspect * WIDTH), 1.0);
    const int n = s->steps < s->film_frames ? s->steps + 1 : s->film_frames;
    char command[512];
    snprintf(command, sizeof command,
             "exec ffmpeg -loglevel error -y -f rawvideo -pixel_format bgr0 -video_size %dx%d -framerate 25 -i - "
             "-filter_complex '%s' \"file:$SAMPLE_FILM\"",
             WIDTH, height, gif ? "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=bayer" : "format=yuv420p");
    signal(SIGPIPE, SIG_IGN); /* it may end early: then fwrite says so */
    FILE *to = setenv("SAMPLE_FILM", path, 1) == 0 ? popen(command, "w") : NULL;
    cairo_surface_t *frame = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, height);
    cairo_t *c = cairo_create(frame);
    const size_t bytes = (size_t)cairo_image_surface_get_stride(frame) * (size_t)height;
    bool ok = to && cairo_status(c) == CAIRO_STATUS_SUCCESS;
    for (int k = 0; ok && k < n; k++) {
        frame_paint(s, c, WIDTH, moment(s, k, n));
        cairo_surface_flush(frame);
        ok = fwrite(cairo_image_surface_get_data(frame), 1, bytes, to) == bytes;
    }
    cairo_destroy(c);
    cairo_surface_destroy(frame);
    const int status = to ? pclose(to) : -1;
    const bool none = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    if (!ok || status != 0)
        return sample_fails(s, path, none ? "films need ffmpeg, which is not installed" : "ffmpeg failed");
    printf("%s: film %s\n", s->name, path);
    return true;
}
