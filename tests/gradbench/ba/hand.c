#include "hand.h"

#include "by_hand.h"

enum { ROTATION = 0, CENTRE = 3, FOCAL = 6, PRINCIPAL = 7, RADIAL = 9, POINT = BA_CAMERA, WEIGHT = POINT + 3 };

static inline double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* What the rotation of one point is made of. */
typedef struct turn {
    double theta, sine, cosine, axis[3], across[3], along, y[3];
} turn;

static inline turn rotate(const double *r, const double *x)
{
    turn t;
    const double square = dot(r, r);
    t.theta = sqrt(square);
    if (square == 0.0) {
        cross(r, x, t.across);
        for (int i = 0; i < 3; i++)
            t.y[i] = x[i] + t.across[i];
        return t;
    }
    t.sine = sin(t.theta);
    t.cosine = cos(t.theta);
    for (int i = 0; i < 3; i++)
        t.axis[i] = r[i] / t.theta;
    cross(t.axis, x, t.across);
    t.along = dot(t.axis, x);
    for (int i = 0; i < 3; i++)
        t.y[i] = t.cosine * x[i] + t.sine * t.across[i] + (1.0 - t.cosine) * t.along * t.axis[i];
    return t;
}

/* M[i][j] x[j] is the cross product of v and x. */
static inline void cross_matrix(const double *v, double M[3][3])
{
    const double all[3][3] = {{0.0, -v[2], v[1]}, {v[2], 0.0, -v[0]}, {-v[1], v[0], 0.0}};
    memcpy(M, all, sizeof all);
}

/* The derivatives of a rotated point by the rotation and by the point, as matrices. */
static inline void rotation_matrices(const double *r, const double *x, const turn *t, double by_r[3][3],
                                     double by_x[3][3])
{
    double of_x[3][3], of_axis[3][3], axis_by_r[3][3], by_axis[3][3], by_theta[3];
    cross_matrix(x, of_x);
    if (t->theta == 0.0) {
        cross_matrix(r, by_x);
        for (int i = 0; i < 3; i++) {
            by_x[i][i] += 1.0;
            for (int j = 0; j < 3; j++)
                by_r[i][j] = -of_x[i][j];
        }
        return;
    }
    const double rest = 1.0 - t->cosine;
    cross_matrix(t->axis, of_axis);
    for (int i = 0; i < 3; i++) {
        by_theta[i] = -t->sine * x[i] + t->cosine * t->across[i] + t->sine * t->along * t->axis[i];
        for (int j = 0; j < 3; j++) {
            axis_by_r[i][j] = ((i == j) - t->axis[i] * t->axis[j]) / t->theta;
            by_axis[i][j] = -t->sine * of_x[i][j] + rest * (t->axis[i] * x[j] + (i == j) * t->along);
            by_x[i][j] = (i == j) * t->cosine + t->sine * of_axis[i][j] + rest * t->axis[i] * t->axis[j];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double s = by_theta[i] * t->axis[j];
            for (int k = 0; k < 3; k++)
                s += by_axis[i][k] * axis_by_r[k][j];
            by_r[i][j] = s;
        }
    }
}

/* The image of a point: what it is made of, and its derivatives by the distortion. */
typedef struct image {
    double p[2], square, stretch, by_p[2][2], q[2];
} image;

static inline image distort(const double *radial, const double *y)
{
    image m;
    m.p[0] = y[0] / y[2];
    m.p[1] = y[1] / y[2];
    m.square = m.p[0] * m.p[0] + m.p[1] * m.p[1];
    m.stretch = 1.0 + radial[0] * m.square + radial[1] * m.square * m.square;
    const double slope = 2.0 * (radial[0] + 2.0 * radial[1] * m.square);
    for (int i = 0; i < 2; i++) {
        m.q[i] = m.stretch * m.p[i];
        for (int j = 0; j < 2; j++)
            m.by_p[i][j] = (i == j) * m.stretch + slope * m.p[i] * m.p[j];
    }
    return m;
}

/* Derivatives that need no rotation, of one row. */
static inline void simple_parts(const double *camera, const image *m, double w, int i, double *row)
{
    const double f = w * camera[FOCAL] * m->p[i];
    row[FOCAL] = w * m->q[i];
    row[PRINCIPAL + i] = w;
    row[PRINCIPAL + 1 - i] = 0.0;
    row[RADIAL] = f * m->square;
    row[RADIAL + 1] = f * m->square * m->square;
}

static inline void observe_matrices(const double *camera, const double *point, double w, const double *feature,
                                    double *error, double *rows)
{
    double x[3], by_r[3][3], by_x[3][3], by_y[2][3];
    for (int i = 0; i < 3; i++)
        x[i] = point[i] - camera[CENTRE + i];
    const turn t = rotate(camera + ROTATION, x);
    rotation_matrices(camera + ROTATION, x, &t, by_r, by_x);
    const image m = distort(camera + RADIAL, t.y);
    for (int i = 0; i < 2; i++) {
        by_y[i][0] = m.by_p[i][0] / t.y[2];
        by_y[i][1] = m.by_p[i][1] / t.y[2];
        by_y[i][2] = -(m.by_p[i][0] * m.p[0] + m.by_p[i][1] * m.p[1]) / t.y[2];
    }
    const double f = w * camera[FOCAL];
    for (int i = 0; i < 2; i++) {
        double *row = rows + i * BA_ROW;
        for (int j = 0; j < 3; j++) {
            double r = 0.0, p = 0.0;
            for (int k = 0; k < 3; k++) {
                r += by_y[i][k] * by_r[k][j];
                p += by_y[i][k] * by_x[k][j];
            }
            row[ROTATION + j] = f * r;
            row[POINT + j] = f * p;
            row[CENTRE + j] = -f * p;
        }
        simple_parts(camera, &m, w, i, row);
        row[WEIGHT] = camera[FOCAL] * m.q[i] + camera[PRINCIPAL + i] - feature[i];
        error[i] = w * row[WEIGHT];
    }
}

/* The gradient g of the rotated point goes back to the rotation and to the point. */
static inline void rotate_back(const double *r, const double *x, const turn *t, const double *g, double *by_r,
                               double *by_x)
{
    double c[3];
    if (t->theta == 0.0) {
        cross(g, r, c);
        cross(x, g, by_r);
        for (int i = 0; i < 3; i++)
            by_x[i] = g[i] + c[i];
        return;
    }
    const double rest = 1.0 - t->cosine, ga = dot(g, t->axis), gx = dot(g, x);
    const double by_theta = t->cosine * dot(g, t->across) + t->sine * (t->along * ga - gx);
    double by_axis[3];
    cross(x, g, by_axis);
    cross(g, t->axis, c);
    for (int i = 0; i < 3; i++) {
        by_axis[i] = t->sine * by_axis[i] + rest * (ga * x[i] + t->along * g[i]);
        by_x[i] = t->cosine * g[i] + t->sine * c[i] + rest * ga * t->axis[i];
    }
    const double s = by_theta - dot(by_axis, t->axis) / t->theta;
    for (int i = 0; i < 3; i++)
        by_r[i] = s * t->axis[i] + by_axis[i] / t->theta;
}

static inline void observe_rows(const double *camera, const double *point, double w, const double *feature,
                                double *error, double *rows)
{
    double x[3];
    for (int i = 0; i < 3; i++)
        x[i] = point[i] - camera[CENTRE + i];
    const turn t = rotate(camera + ROTATION, x);
    const image m = distort(camera + RADIAL, t.y);
    const double f = w * camera[FOCAL] / t.y[2];
    for (int i = 0; i < 2; i++) {
        double *row = rows + i * BA_ROW;
        const double a = f * m.by_p[i][0], b = f * m.by_p[i][1];
        const double g[3] = {a, b, -(a * m.p[0] + b * m.p[1])};
        rotate_back(camera + ROTATION, x, &t, g, row + ROTATION, row + POINT);
        for (int j = 0; j < 3; j++)
            row[CENTRE + j] = -row[POINT + j];
        simple_parts(camera, &m, w, i, row);
        row[WEIGHT] = camera[FOCAL] * m.q[i] + camera[PRINCIPAL + i] - feature[i];
        error[i] = w * row[WEIGHT];
    }
}

static void weight_errors(const ba_input *in, ba_output *out)
{
    double *restrict values = out->values + 2L * BA_ROW * in->p, *restrict off = out->off;
    for (int i = 0; i < in->p; i++) {
        off[i] = 1.0 - in->weights[i] * in->weights[i];
        values[i] = -2.0 * in->weights[i];
    }
}

void ba_hand_matrices(const ba_input *in, ba_output *out)
{
    for (int i = 0; i < in->p; i++)
        observe_matrices(in->cameras + (long)BA_CAMERA * in->seen[2 * i], in->points + 3L * in->seen[2 * i + 1],
                         in->weights[i], in->features + 2L * i, out->errors + 2L * i, out->values + 2L * BA_ROW * i);
    weight_errors(in, out);
}

void ba_hand_rows(const ba_input *in, ba_output *out)
{
    for (int i = 0; i < in->p; i++)
        observe_rows(in->cameras + (long)BA_CAMERA * in->seen[2 * i], in->points + 3L * in->seen[2 * i + 1],
                     in->weights[i], in->features + 2L * i, out->errors + 2L * i, out->values + 2L * BA_ROW * i);
    weight_errors(in, out);
}
