#include "bal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *path;
    FILE *from;
    int line;
    char word[64]; /* the last one */
} reader;

static bool wrong(const reader *r, const char *what)
{
    fprintf(stderr, "bundle: %s:%d: %s\n", r->path, r->line, what);
    return false;
}

/* False at the end of the file. A word that is too long is cut: it is no number then. */
static bool next_word(reader *r)
{
    size_t n = 0;
    int c;
    while ((c = getc(r->from)) != EOF && isspace(c))
        r->line += c == '\n';
    for (; c != EOF && !isspace(c); c = getc(r->from)) {
        if (n < sizeof r->word - 1)
            r->word[n++] = (char)c;
        else
            r->word[0] = '?';
    }
    ungetc(c, r->from);
    r->word[n] = '\0';
    return n > 0;
}

static bool expected(const reader *r, const char *what)
{
    char text[192];
    snprintf(text, sizeof text, "%s is expected, and there is %s%s%s", what, *r->word ? "'" : "the end of the file",
             r->word, *r->word ? "'" : "");
    return wrong(r, text);
}

/* From low to high. */
static bool read_count(reader *r, const char *what, long low, long high, int *n)
{
    char *end = r->word, text[128];
    errno = 0;
    const long value = next_word(r) ? strtol(r->word, &end, 10) : 0;
    if (end == r->word || *end)
        return expected(r, what);
    if (errno || value < low || value > high) {
        snprintf(text, sizeof text, "%s is %ld to %ld, not %s", what, low, high, r->word);
        return wrong(r, text);
    }
    *n = (int)value;
    return true;
}

static bool read_number(reader *r, const char *what, double *x)
{
    char *end = r->word;
    *x = next_word(r) ? strtod(r->word, &end) : NAN;
    return (end != r->word && !*end && isfinite(*x)) || expected(r, what);
}

static bool read_numbers(reader *r, const char *what, double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!read_number(r, what, &x[i]))
            return false;
    return true;
}

static bool read_scene(reader *r, scene *s)
{
    enum { MOST_CAMERAS = 100000, MOST = 100000000 };
    int cameras, points, sights;
    if (!read_count(r, "the number of cameras", 1, MOST_CAMERAS, &cameras) ||
        !read_count(r, "the number of points", 1, MOST, &points) ||
        !read_count(r, "the number of sights", 1, MOST, &sights) || !scene_create(s, cameras, points, sights))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < sights; i++) {
        sight *t = &s->sight[i];
        ok = read_count(r, "the camera of a sight", 0, cameras - 1, &t->camera) &&
             read_count(r, "the point of a sight", 0, points - 1, &t->point) &&
             read_numbers(r, "a place that was seen", t->at, SEEN);
    }
    ok = ok && read_numbers(r, "a number of a camera", s->camera[0], cameras * CAMERA) &&
         read_numbers(r, "a number of a point", s->point[0], points * POINT);
    ok = ok && (!next_word(r) || expected(r, "the end of the file"));
    if (!ok)
        scene_destroy(s);
    return ok;
}

bool bal_read(const char *path, scene *s)
{
    reader r = {.path = path, .from = fopen(path, "r"), .line = 1};
    if (!r.from) {
        fprintf(stderr, "bundle: %s: %s\n", path, strerror(errno));
        return false;
    }
    const bool ok = read_scene(&r, s);
    if (ok)
        scene_sort(s);
    fclose(r.from);
    return ok;
}

bool bal_write(const char *path, const scene *s)
{
    FILE *to = fopen(path, "w");
    bool ok = to && fprintf(to, "%d %d %d\n", s->cameras, s->points, s->sights) > 0;
    for (int i = 0; ok && i < s->sights; i++)
        ok = fprintf(to, "%d %d %.9e %.9e\n", s->sight[i].camera, s->sight[i].point, s->sight[i].at[0],
                     s->sight[i].at[1]) > 0;
    for (int i = 0; ok && i < s->cameras * CAMERA; i++)
        ok = fprintf(to, "%.17e\n", s->camera[i / CAMERA][i % CAMERA]) > 0;
    for (int i = 0; ok && i < s->points * POINT; i++)
        ok = fprintf(to, "%.17e\n", s->point[i / POINT][i % POINT]) > 0;
    ok = (!to || fclose(to) == 0) && ok;
    if (!ok)
        fprintf(stderr, "bundle: %s: %s\n", path, strerror(errno));
    return ok;
}
