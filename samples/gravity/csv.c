#include "csv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int csv_read(const char *path, int max, body **bodies)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    char line[256];
    int n = 0, room = 0;
    *bodies = NULL;
    for (int number = 1; (max == 0 || n < max) && fgets(line, sizeof line, f); number++) {
        const char first = line[strspn(line, " \t\r\n")];
        if (first == '\0' || first == '#' || isalpha((unsigned char)first))
            continue;
        if (n == room) {
            room = room ? 2 * room : 64;
            body *more = realloc(*bodies, (size_t)room * sizeof **bodies);
            if (!more) {
                perror(path);
                goto fail;
            }
            *bodies = more;
        }
        body *b = &(*bodies)[n];
        char rest;
        if (sscanf(line, "%f ,%f ,%f ,%f %c", &b->x, &b->y, &b->vx, &b->vy, &rest) != 4) {
            fprintf(stderr, "%s:%d: not four numbers with commas between them\n", path, number);
            goto fail;
        }
        n++;
    }
    if (ferror(f)) {
        perror(path);
        goto fail;
    }
    fclose(f);
    return n;
fail:
    fclose(f);
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
