/* Pictures of orbits: one long exposure as PNG, and an animation with fading trails as GIF. Both show the square [-extent, extent]^2. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>

typedef struct picture picture;
picture *picture_create(int size, float extent);
void picture_destroy(picture *p);
/* Light along the way of n bodies from one position to the next. */
void picture_move(picture *p, int n, const float (*from)[2], const float (*to)[2]);
/* Bright discs where the bodies are at the end. */
void picture_bodies(picture *p, int n, const float (*at)[2]);
bool picture_write_png(const picture *p, const char *path);

typedef struct animation animation;
animation *animation_create(const char *path, int size, float extent);
void animation_move(animation *a, int n, const float (*from)[2], const float (*to)[2]);
/* Adds a frame that shows the bodies and their trails. */
bool animation_frame(animation *a, int n, const float (*at)[2]);
/* Finishes the file and frees a. */
bool animation_close(animation *a);

#endif
