#include "hand.h"

#include "by_hand.h"

enum { EACH = 4, FINGER_ANGLES = HT_FINGERS * EACH };

typedef double mat4[4][4];

static inline void multiply(const mat4 a, const mat4 b, mat4 c)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + a[i][3] * b[3][j];
}

/* A bone's own turn by its two angles, or its derivative by the first or the second. */
static void turn(double ax, double az, int by, mat4 m)
{
    const double sx = sin(ax), cx = cos(ax), sz = sin(az), cz = cos(az);
    const double z[2][2] = {{by == 1 ? -sz : cz, by == 1 ? -cz : -sz}, {by == 1 ? cz : sz, by == 1 ? -sz : cz}};
    const double one = by == 0 ? 0.0 : 1.0, s = by == 0 ? cx : sx, c = by == 0 ? -sx : cx;
    memset(m, 0, sizeof(mat4));
    m[0][0] = z[0][0] * one;
    m[0][1] = z[0][1] * c;
    m[0][2] = -z[0][1] * s;
    m[1][0] = z[1][0] * one;
    m[1][1] = z[1][1] * c;
    m[1][2] = -z[1][1] * s;
    m[2][1] = by == 1 ? 0.0 : s;
    m[2][2] = by == 1 ? 0.0 : c;
    m[3][3] = by < 0;
}

/* The matrices of all bones, and of each bone of a finger those by the finger's four angles, as far as they matter. */
typedef struct skeleton {
    mat4 transform[HT_BONES], by_angle[HT_BONES][EACH];
    int angles[HT_BONES]; /* how many of the four matter */
} skeleton;

static void pose(const ht_input *in, skeleton *s)
{
    mat4 absolute[HT_BONES], by[HT_BONES][EACH];
    for (int b = 0; b < HT_BONES; b++) {
        const int finger = (b - 1) / EACH, joint = b > 0 && finger < HT_FINGERS ? (b - 1) % EACH : 0,
                  up = in->parent[b];
        const double *angle = in->theta + 6 + EACH * finger + (joint > 1 ? joint : 0);
        const double ax = joint ? angle[0] : 0.0, az = joint == 1 ? angle[1] : 0.0;
        mat4 own, relative, own_by;
        turn(ax, az, -1, own);
        multiply(in->base_relative[b], own, relative);
        if (up < 0)
            memcpy(absolute[b], relative, sizeof relative);
        else
            multiply((const double(*)[4])absolute[up], (const double(*)[4])relative, absolute[b]);
        const int inherited = joint > 1 ? joint : 0;
        s->angles[b] = joint ? joint + 1 : 0;
        for (int k = 0; k < inherited; k++)
            multiply((const double(*)[4])by[up][k], (const double(*)[4])relative, by[b][k]);
        for (int k = inherited; k < s->angles[b]; k++) {
            turn(ax, az, joint == 1 ? k : 0, own);
            multiply(in->base_relative[b], (const double(*)[4])own, own_by);
            multiply((const double(*)[4])absolute[up], (const double(*)[4])own_by, by[b][k]);
        }
        multiply((const double(*)[4])absolute[b], in->inverse_base[b], s->transform[b]);
        for (int k = 0; k < s->angles[b]; k++)
            multiply((const double(*)[4])by[b][k], in->inverse_base[b], s->by_angle[b][k]);
    }
}

/* The rotation of all, and its derivatives by the three numbers. */
static void rotation(const double *a, double R[3][3], double by[3][3][3])
{
    const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], angle = sqrt(square);
    memset(by, 0, 27 * sizeof(double));
    memset(R, 0, 9 * sizeof(double));
    if (angle < 0.0001) {
        for (int i = 0; i < 3; i++)
            R[i][i] = 1.0;
        return;
    }
    const double s = sin(angle), c = cos(angle), n[3] = {a[0] / angle, a[1] / angle, a[2] / angle};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[i][i] = n[i] * n[i] + (1.0 - n[i] * n[i]) * c;
        R[i][j] = n[i] * n[j] * (1.0 - c) - n[k] * s;
        R[j][i] = n[i] * n[j] * (1.0 - c) + n[k] * s;
    }
    for (int p = 0; p < 3; p++) {
        double d[3]; /* of n */
        const double of_s = c * n[p], of_c = -s * n[p];
        for (int i = 0; i < 3; i++)
            d[i] = ((i == p) - n[i] * n[p]) / angle;
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const double both = (d[i] * n[j] + n[i] * d[j]) * (1.0 - c) - n[i] * n[j] * of_c,
                         across = d[k] * s + n[k] * of_s;
            by[p][i][i] = 2.0 * n[i] * d[i] * (1.0 - c) + (1.0 - n[i] * n[i]) * of_c;
            by[p][i][j] = both - across;
            by[p][j][i] = both + across;
        }
    }
}

/* to[k][v], of all vertices, gets the weighted images by one matrix added. */
static void skin(const ht_input *in, const mat4 T, const double *restrict weight, const double *restrict base,
                 double *restrict to)
{
    const int n = in->vertices;
    const double *restrict x = base, *restrict y = base + n, *restrict z = base + 2L * n, *restrict w = base + 3L * n;
    for (int k = 0; k < 3; k++) {
        const double a = T[k][0], b = T[k][1], c = T[k][2], d = T[k][3];
        double *restrict out = to + (long)k * n;
        for (int v = 0; v < n; v++)
            out[v] += weight[v] * (a * x[v] + b * y[v] + c * z[v] + d * w[v]);
    }
}

/* The place of point i among vertices, or in its triangle. */
static inline void place(const ht_input *in, const double *restrict of, int i, double *p)
{
    const int n = in->vertices;
    if (!in->us) {
        for (int k = 0; k < 3; k++)
            p[k] = of[k * n + in->vertex[i]];
        return;
    }
    const int *t = in->triangle[i];
    const double u = in->us[2 * i], v = in->us[2 * i + 1], w = 1.0 - u - v;
    for (int k = 0; k < 3; k++)
        p[k] = u * of[k * n + t[0]] + v * of[k * n + t[1]] + w * of[k * n + t[2]];
}

/* A column: the places of all points, turned, with the other sign. */
static void turned_column(const ht_input *in, double R[3][3], const double *of, double *restrict column)
{
    for (int i = 0; i < in->points; i++) {
        double p[3];
        place(in, of, i, p);
        for (int k = 0; k < 3; k++)
            column[3 * i + k] = -(R[k][0] * p[0] + R[k][1] * p[1] + R[k][2] * p[2]);
    }
}

/* Two columns, of the edges of each point's triangle. */
static void edge_columns(const ht_input *in, double R[3][3], const double *of, double *restrict column)
{
    const int n = in->vertices;
    for (int e = 0; e < 2; e++) {
        for (int i = 0; i < in->points; i++, column += 3) {
            const int *t = in->triangle[i];
            double d[3];
            for (int k = 0; k < 3; k++)
                d[k] = of[k * n + t[2]] - of[k * n + t[e]];
            for (int k = 0; k < 3; k++)
                column[k] = R[k][0] * d[0] + R[k][1] * d[1] + R[k][2] * d[2];
        }
    }
}

long ht_hand_work(const ht_input *in)
{
    return (4L + 3L * (1 + FINGER_ANGLES)) * in->vertices;
}

/* Positions before the rotation of all, and their derivatives by the angles of the fingers. */
static void skin_all(const ht_input *in, double *base, double *positions, double *by)
{
    const long n = in->vertices;
    skeleton s;
    pose(in, &s);
    for (long v = 0; v < n; v++)
        for (int k = 0; k < 4; k++)
            base[k * n + v] = in->base_position[v][k];
    memset(positions, 0, 3 * (1 + FINGER_ANGLES) * (size_t)n * sizeof(double));
    for (int b = 0; b < HT_BONES; b++) {
        skin(in, (const double(*)[4])s.transform[b], in->weight + b * n, base, positions);
        for (int k = 0; k < s.angles[b]; k++)
            skin(in, (const double(*)[4])s.by_angle[b][k], in->weight + b * n, base,
                 by + 3 * n * (EACH * ((b - 1) / EACH) + k));
    }
    for (long k = 0; in->mirrored && k < 1 + FINGER_ANGLES; k++)
        for (long v = 0; v < n; v++)
            positions[3 * n * k + v] *= -1.0;
}

void ht_hand_jacobian(const ht_input *in, ht_output *out, double *work)
{
    const long n = in->vertices, each = 3L * in->points;
    double *base = work, *positions = base + 4 * n, *by = positions + 3 * n, R[3][3], R_by[3][3][3];
    double *column = out->jacobian;
    skin_all(in, base, positions, by);
    rotation(in->theta, R, R_by);
    if (in->us) {
        edge_columns(in, R, positions, column);
        column += 2 * each;
    }
    for (int p = 0; p < 3; p++, column += each)
        turned_column(in, R_by[p], positions, column);
    for (int p = 0; p < 3; p++, column += each)
        for (long i = 0; i < each; i++)
            column[i] = i % 3 == p ? -1.0 : 0.0;
    for (int p = 0; p < FINGER_ANGLES; p++, column += each)
        turned_column(in, R, by + 3 * n * p, column);
    turned_column(in, R, positions, out->error);
    for (int i = 0; i < in->points; i++)
        for (int k = 0; k < 3; k++)
            out->error[3 * i + k] += in->point[i][k] - in->theta[3 + k];
}
