#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle.h"

static const double pi = 3.14159265358979323846;

bool scene_create(scene *s, int cameras, int points, int sights)
{
    *s = (scene){cameras,
                 points,
                 sights,
                 calloc((size_t)cameras, sizeof *s->camera),
                 calloc((size_t)points, sizeof *s->point),
                 calloc((size_t)sights, sizeof *s->sight)};
    if (s->camera && s->point && s->sight)
        return true;
    perror("bundle");
    scene_destroy(s);
    return false;
}

void scene_destroy(scene *s)
{
    free(s->camera);
    free(s->point);
    free(s->sight);
    *s = (scene){0};
}

bool scene_copy(scene *to, const scene *from)
{
    if (!scene_create(to, from->cameras, from->points, from->sights))
        return false;
    memcpy(to->camera, from->camera, sizeof *to->camera * (size_t)to->cameras);
    memcpy(to->point, from->point, sizeof *to->point * (size_t)to->points);
    memcpy(to->sight, from->sight, sizeof *to->sight * (size_t)to->sights);
    return true;
}

static int by_point(const void *a, const void *b)
{
    const sight *s = a, *t = b;
    return s->point != t->point ? (s->point > t->point) - (s->point < t->point)
                                : (s->camera > t->camera) - (s->camera < t->camera);
}

void scene_sort(scene *s)
{
    qsort(s->sight, (size_t)s->sights, sizeof *s->sight, by_point);
}

/* Rodrigues' formula backwards: the transposed rotation of v. */
static void turn_back(const double axis[3], const double v[3], double to[3])
{
    const double angle = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double scale = angle > 0.0 ? 1.0 / angle : 0.0, n[3] = {scale * axis[0], scale * axis[1], scale * axis[2]};
    const double along = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
    for (int i = 0; i < 3; i++) {
        const double cross = n[(i + 1) % 3] * v[(i + 2) % 3] - n[(i + 2) % 3] * v[(i + 1) % 3];
        to[i] = cos(angle) * v[i] - sin(angle) * cross + (1.0 - cos(angle)) * along * n[i];
    }
}

void camera_centre(const double camera[CAMERA], double centre[3])
{
    turn_back(camera, &camera[3], centre);
    for (int i = 0; i < 3; i++)
        centre[i] = -centre[i];
}

/* ---- random scenes ---- */

/* From 0 to 1, the same on every machine: splitmix64 (Steele, Lea, Flood, 2014). */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double u = 1.0 - uniform(state), v = uniform(state);
    return sqrt(-2.0 * log(u)) * cos(2.0 * pi * v);
}

/* The rotation of a matrix, as its axis by its angle, which is less than pi. */
static void axis_of(double R[3][3], double axis[3])
{
    const double cosine = 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1.0), angle = acos(fmin(fmax(cosine, -1.0), 1.0));
    const double scale = angle > 0.0 ? angle / (2.0 * sin(angle)) : 0.5;
    for (int i = 0; i < 3; i++)
        axis[i] = scale * (R[(i + 2) % 3][(i + 1) % 3] - R[(i + 1) % 3][(i + 2) % 3]);
}

/* A camera at `eye` that looks at the origin, along its negative z axis, and whose y axis is as high as can be. */
static void look_at_origin(const double eye[3], double camera[CAMERA])
{
    const double r = sqrt(eye[0] * eye[0] + eye[1] * eye[1] + eye[2] * eye[2]), flat = hypot(eye[0], eye[2]);
    double R[3][3] = {{eye[2] / flat, 0.0, -eye[0] / flat}, {0}, {eye[0] / r, eye[1] / r, eye[2] / r}};
    for (int i = 0; i < 3; i++) /* y = z x x */
        R[1][i] = R[2][(i + 1) % 3] * R[0][(i + 2) % 3] - R[2][(i + 2) % 3] * R[0][(i + 1) % 3];
    axis_of(R, camera);
    for (int i = 0; i < 3; i++)
        camera[3 + i] = -(R[i][0] * eye[0] + R[i][1] * eye[1] + R[i][2] * eye[2]);
}

/* Points near a trefoil knot of size 1; cameras on a ring of radius 4. Each camera misses a third of the points. */
static void make_truth(scene *s, const synthetic *y, uint64_t *random)
{
    for (int p = 0; p < s->points; p++) {
        const double t = 2.0 * pi * (p + 0.5) / s->points;
        const double knot[3] = {sin(t) + 2.0 * sin(2.0 * t), -sin(3.0 * t), cos(t) - 2.0 * cos(2.0 * t)};
        for (int i = 0; i < 3; i++)
            s->point[p][i] = 0.4 * knot[i] + 0.03 * normal(random);
    }
    for (int c = 0; c < s->cameras;
         c++) { /* not all the way around: half a turn is where the axis of a rotation has two senses */
        const double t = 1.7 * pi * ((c + 0.5) / s->cameras - 0.5), r = 4.0 + 0.3 * normal(random);
        const double eye[3] = {r * sin(t), 1.2 + 0.5 * normal(random), r * cos(t)};
        look_at_origin(eye, s->camera[c]);
        s->camera[c][6] = 800.0 + 20.0 * normal(random);
        s->camera[c][7] = -0.05 + 0.01 * normal(random);
        s->camera[c][8] = 0.01 * normal(random);
    }
    int n = 0;
    for (int p = 0; p < s->points; p++)
        for (int c = 0; c < s->cameras; c++)
            if (uniform(random) < 0.67 || c < 2) {
                sight *at = &s->sight[n++];
                const double nowhere[SEEN] = {0.0, 0.0};
                *at = (sight){.camera = c, .point = p};
                bundle_residual(s->camera[c], s->point[p], nowhere, at->at);
                for (int i = 0; i < SEEN; i++)
                    at->at[i] += y->noise * normal(random);
            }
    s->sights = n;
}

bool scene_synthetic(scene *guess, const synthetic *y)
{
    uint64_t random = (uint64_t)y->seed;
    if (!scene_create(guess, y->cameras, y->points, y->cameras * y->points))
        return false;
    make_truth(guess, y, &random);
    for (int p = 0; p < guess->points; p++)
        for (int i = 0; i < POINT; i++)
            guess->point[p][i] += y->off * normal(&random);
    for (int c = 0; c < guess->cameras; c++) {
        for (int i = 0; i < 3; i++) {
            guess->camera[c][i] += 0.25 * y->off * normal(&random);
            guess->camera[c][3 + i] += y->off * normal(&random);
        }
        guess->camera[c][6] = 800.0;
        guess->camera[c][7] = guess->camera[c][8] = 0.0;
    }
    return true;
}
