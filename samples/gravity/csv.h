/* Bodies in CSV files: a line each, `x,y,vx,vy`. */
#ifndef CSV_H
#define CSV_H

#include <stdio.h>

typedef struct body {
    float x, y, vx, vy;
} body;

/* Reads up to max bodies (0: all) to *bodies, for free(). Returns their number, or -1 after a message. Empty lines and
 * those that start with # are skipped, and a first line `x,y,vx,vy`; any other line is four finite numbers. */
int csv_read(const char *path, int max, body **bodies);

FILE *csv_create(const char *path);
void csv_write(FILE *f, int step, int n, const float (*x)[2], const float (*v)[2]);

#endif
