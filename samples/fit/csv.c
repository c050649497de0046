#include "csv.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *line, measurement *m)
{
    char rest;
    return sscanf(line, "%lf ,%lf ,%lf %c", &m->t, &m->y, &m->sigma, &rest) == 3 &&
           isfinite(m->t) && isfinite(m->y) && isfinite(m->sigma) && m->sigma > 0.0;
}

int csv_read(const char *path, measurement **all)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    char line[256];
    int n = 0, room = 0;
    bool ok = true;
    *all = NULL;
    for (int number = 1; ok && fgets(line, sizeof line, f); number++) {
        const char first = line[strspn(line, " \t\r\n")];
        if (first == '\0' || first == '#' || isalpha((unsigned char)first))
            continue;
        if (n == room) {
            room = room ? 2 * room : 64;
            measurement *more = realloc(*all, (size_t)room * sizeof **all);
            if (!more) {
                perror(path);
                ok = false;
                break;
            }
            *all = more;
        }
        ok = parse(line, &(*all)[n++]);
        if (!ok)
            fprintf(stderr, "%s:%d: not time, value and standard error with commas between them\n", path, number);
    }
    if (ferror(f)) {
        perror(path);
        ok = false;
    }
    fclose(f);
    if (ok)
        return n;
    free(*all);
    *all = NULL;
    return -1;
}
