/* Measurements in CSV files: a line each, `t,y,sigma`. */
#ifndef CSV_H
#define CSV_H

typedef struct measurement {
    double t, y, sigma;
} measurement;

/* Reads a file to *all, for free(). Returns their number, or -1 after a message. Lines that start with # or a letter are skipped. */
int csv_read(const char *path, measurement **all);

#endif
