/* Cameras, points, and where the cameras saw the points. */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stdint.h>

enum { CAMERA = 9, POINT = 3, BOTH = CAMERA + POINT, SEEN = 2 };

typedef struct sight {
    int camera, point;
    double at[SEEN]; /* in pixels */
} sight;

typedef struct scene {
    int cameras, points, sights;
    double (*camera)[CAMERA]; /* rotation, translation, focal length, distortion: see bundle.tk */
    double (*point)[POINT];
    sight *sight; /* those of a point stand together, in the order of points */
} scene;

/* What a scene of random numbers is like. */
typedef struct synthetic {
    int cameras, points, seed;
    double noise; /* of what is seen, in pixels */
    double off;   /* of the first guess: in parts of the scene's size */
} synthetic;

/* Zeros. False behind a message: out of memory. */
bool scene_create(scene *s, int cameras, int points, int sights);
void scene_destroy(scene *s);
bool scene_copy(scene *to, const scene *from);
/* Sorts what is seen by points. */
void scene_sort(scene *s);
/* A ring of cameras around points on a knot, as they are; `guess` is what is known in the beginning. */
bool scene_synthetic(scene *guess, const synthetic *y);
/* Where a camera is. */
void camera_centre(const double camera[CAMERA], double centre[3]);

#endif
