#include "csv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool csv_write(const char *path, const plan *p, const task *t, const double (*gain)[STATE])
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return false;
    }
    fputs("time,position,angle,speed,rate,force,gain_position,gain_angle,gain_speed,gain_rate\n", f);
    for (int k = 0; k <= t->intervals; k++) {
        fprintf(f, "%.9g", k * t->interval.time);
        for (int i = 0; i < INPUTS; i++)
            fprintf(f, ",%.12g", p->z[k][i]);
        for (int i = 0; i < STATE; i++)
            fprintf(f, ",%.9g", gain[k][i]);
        fputc('\n', f);
    }
    const bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed) {
        perror(path);
        return false;
    }
    return true;
}

/* ---- reading ---- */

typedef struct row {
    double time, z[INPUTS];
} row;

static bool parse(const char *line, row *r)
{
    double *const z = r->z;
    if (sscanf(line, "%lf ,%lf ,%lf ,%lf ,%lf ,%lf", &r->time, &z[0], &z[1], &z[2], &z[3], &z[4]) != 1 + INPUTS || !isfinite(r->time))
        return false;
    for (int i = 0; i < INPUTS; i++)
        if (!isfinite(z[i]))
            return false;
    return true;
}

/* Returns the number of rows, or -1 after a message. */
static int read_rows(FILE *f, const char *path, row **rows)
{
    char line[512];
    int n = 0, room = 0;
    *rows = NULL;
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        const char first = line[strspn(line, " \t\r\n")];
        if (first == '\0' || first == '#' || isalpha((unsigned char)first))
            continue;
        if (n == room) {
            room = room ? 2 * room : 128;
            row *more = realloc(*rows, (size_t)room * sizeof **rows);
            if (!more) {
                perror(path);
                return -1;
            }
            *rows = more;
        }
        if (!parse(line, &(*rows)[n]) || (n > 0 && !((*rows)[n].time > (*rows)[n - 1].time))) {
            fprintf(stderr, "%s:%d: not time, position, angle, speed, rate and force with commas between them, later than the line before\n", path,
                    number);
            return -1;
        }
        n++;
    }
    if (ferror(f)) {
        perror(path);
        return -1;
    }
    if (n < 2)
        fprintf(stderr, "%s: a plan has two lines or more\n", path);
    return n < 2 ? -1 : n;
}

static void interpolate(const row *rows, int n, plan *p, const task *t)
{
    const double first = rows[0].time, length = rows[n - 1].time - first;
    for (int k = 0, r = 0; k <= t->intervals; k++) {
        const double time = first + length * k / t->intervals;
        while (r < n - 2 && rows[r + 1].time <= time)
            r++;
        const double part = (time - rows[r].time) / (rows[r + 1].time - rows[r].time);
        for (int i = 0; i < STATE; i++)
            p->z[k][i] = (1.0 - part) * rows[r].z[i] + part * rows[r + 1].z[i];
        p->z[k][STATE] = k < t->intervals ? rows[r].z[STATE] : 0.0;
    }
}

bool csv_read(const char *path, plan *p, const task *t)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return false;
    }
    row *rows;
    const int n = read_rows(f, path, &rows);
    fclose(f);
    if (n > 0)
        interpolate(rows, n, p, t);
    free(rows);
    return n > 0;
}
