#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const char heading[] = "x,y,vx,vy";

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* A number that a float holds, and what stands behind it: a comma, or for the last one the end. */
static bool read_number(const char **p, bool last, float *x)
{
    char *end;
    *x = strtof(*p, &end);
    if (end == *p || !isfinite(*x))
        return false;
    end = (char *)skip_blanks(end);
    *p = end + !last;
    return last ? *end == '\0' : *end == ',';
}

static bool read_body(const char *line, body *b)
{
    return read_number(&line, false, &b->x) && read_number(&line, false, &b->y) && read_number(&line, false, &b->vx) && read_number(&line, true, &b->vy);
}

static bool is_heading(const char *line)
{
    const size_t n = strlen(heading);
    return strncmp(line, heading, n) == 0 && *skip_blanks(line + n) == '\0';
}

/* Room for one more; false after a message. */
static bool grow(body **bodies, int n, int *room)
{
    if (n < *room)
        return true;
    *room = *room ? 2 * *room : 64;
    body *more = realloc(*bodies, (size_t)*room * sizeof *more);
    if (more)
        *bodies = more;
    else
        perror("bodies");
    return more != NULL;
}

static bool read_lines(FILE *f, const char *path, int max, body **bodies, int *n)
{
    char *line = NULL;
    size_t size = 0;
    int room = 0;
    bool ok = true, begun = false;
    for (long number = 1; ok && (max == 0 || *n < max); number++) {
        errno = 0;
        const ssize_t length = getline(&line, &size, f);
        if (length < 0) {
            if (errno || ferror(f)) {
                perror(path);
                ok = false;
            }
            break;
        }
        const char *text = skip_blanks(line);
        const bool whole = strlen(line) == (size_t)length; /* no zero bytes */
        if (whole && (*text == '\0' || *text == '#' || (!begun && is_heading(text)))) {
            begun |= *text && *text != '#';
            continue;
        }
        begun = true;
        ok = grow(bodies, *n, &room);
        if (ok && !(whole && read_body(text, &(*bodies)[*n]))) {
            fprintf(stderr, "%s:%ld: not four finite numbers with commas between them\n", path, number);
            ok = false;
        }
        *n += ok;
    }
    free(line);
    return ok;
}

int csv_read(const char *path, int max, body **bodies)
{
    *bodies = NULL;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    int n = 0;
    const bool ok = read_lines(f, path, max, bodies, &n);
    fclose(f);
    if (ok)
        return n;
    free(*bodies);
    *bodies = NULL;
    return -1;
}

FILE *csv_create(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        perror(path);
    else
        fputs("step,body,x,y,vx,vy\n", f);
    return f;
}

void csv_write(FILE *f, int step, int n, const float (*x)[2], const float (*v)[2])
{
    for (int i = 0; i < n; i++)
        fprintf(f, "%d,%d,%.9g,%.9g,%.9g,%.9g\n", step, i, (double)x[i][0], (double)x[i][1], (double)v[i][0], (double)v[i][1]);
}
