/* The Jacobian of ba.tk by hand. */
#ifndef BA_HAND_H
#define BA_HAND_H

enum { BA_CAMERA = 11, BA_ROW = BA_CAMERA + 3 + 1 };

typedef struct ba_input {
    int n, m, p;           /* cameras, points, observations */
    const double *cameras; /* of each: rotation, centre, focal length, principal point, radial distortion */
    const double *points, *weights, *features;
    const int *seen; /* of each observation: camera, point */
} ba_input;

/* The errors, and the values of a sparse matrix row by row: for each observation two rows of BA_ROW derivatives, by its
 * camera, its point, its weight; then one of the weight's own error for each. */
typedef struct ba_output {
    double *errors, *off, *values;
} ba_output;

/* As the known program does it: matrices of the derivatives of each step, multiplied. */
void ba_hand_matrices(const ba_input *in, ba_output *out);
/* Each row goes backwards through the steps. */
void ba_hand_rows(const ba_input *in, ba_output *out);

#endif
