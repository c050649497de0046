/* Plans in CSV files: a line for each interval, and one for the goal. */
#ifndef CSV_H
#define CSV_H

#include "swingup.h"

/* time,position,angle,speed,rate,force and the four components of the gain. False after a message. */
bool csv_write(const char *path, const plan *p, const task *t, const double (*gain)[STATE]);

/* Fills a plan from a file whose lines begin as above and may stand at other times: states between them, forces of the line before.
   The times of the file are stretched to those of the plan. Lines that start with # or a letter are skipped. False after a message. */
bool csv_read(const char *path, plan *p, const task *t);

#endif
