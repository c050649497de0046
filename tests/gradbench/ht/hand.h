/* The Jacobian of ht.tk by hand. */
#ifndef HT_HAND_H
#define HT_HAND_H

#include <stdbool.h>

enum { HT_BONES = 22, HT_FINGERS = 5, HT_THETA = 26 };

typedef struct ht_input {
    int vertices, points;
    bool mirrored;
    const double *theta;
    const double *us; /* 2 a point; NULL: points belong to vertices */
    const int *parent;
    const double (*base_relative)[4][4], (*inverse_base)[4][4];
    const double (*base_position)[4];
    const double *weight;     /* bones x vertices */
    const int (*triangle)[3]; /* of each point, with us */
    const int *vertex;        /* of each point, without */
    const double (*point)[3];
} ht_input;

/* The errors, 3 a point, and their Jacobian column by column: with us, two columns by these; then one for each theta.
 */
typedef struct ht_output {
    double *error, *jacobian;
} ht_output;

/* Doubles of work. */
long ht_hand_work(const ht_input *in);
/* As the known program does it: the derivatives of the bones' matrices by their own angles and those before them; all
 * vertices by each of these matrices; the rotation of all. */
void ht_hand_jacobian(const ht_input *in, ht_output *out, double *work);

#endif
