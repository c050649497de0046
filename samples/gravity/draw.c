#include "draw.h"

#include <fcntl.h>
#include <gif_lib.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HUES = 12, LEVELS = 21, DELAY = 4 /* hundredths of a second */ };

/* A colour of the circle of hues, its components from 0 to 1. */
static void hue_rgb(int k, int n, float rgb[3])
{
    const float golden = 0.618034f; /* neighbours get hues far apart */
    const float h = 6.2831853f * fmodf(golden * (float)(k % n), 1.0f);
    for (int c = 0; c < 3; c++)
        rgb[c] = 0.55f + 0.45f * cosf(h - 2.0943951f * (float)c);
}

static float to_pixel(float x, float extent, int size)
{
    return (x / extent + 1.0f) * 0.5f * (float)(size - 1);
}

/* ---- the long exposure ---- */

struct picture {
    int size;
    float extent;
    float (*light)[3];
};

picture *picture_create(int size, float extent)
{
    picture *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (picture){size, extent, calloc((size_t)size * (size_t)size, sizeof *p->light)};
    if (p->light)
        return p;
    free(p);
    return NULL;
}

void picture_destroy(picture *p)
{
    if (p)
        free(p->light);
    free(p);
}

static void add_light(picture *p, int x, int y, const float rgb[3], float amount)
{
    if (x < 0 || y < 0 || x >= p->size || y >= p->size)
        return;
    float *at = p->light[(size_t)(p->size - 1 - y) * (size_t)p->size + (size_t)x];
    for (int c = 0; c < 3; c++)
        at[c] += amount * rgb[c];
}

/* Spreads light over the four pixels around a point. */
static void add_point(picture *p, float x, float y, const float rgb[3], float amount)
{
    if (!(x > -2.0f && y > -2.0f && x < (float)p->size + 1.0f && y < (float)p->size + 1.0f))
        return;
    const int ix = (int)floorf(x), iy = (int)floorf(y);
    const float fx = x - (float)ix, fy = y - (float)iy;
    add_light(p, ix, iy, rgb, amount * (1.0f - fx) * (1.0f - fy));
    add_light(p, ix + 1, iy, rgb, amount * fx * (1.0f - fy));
    add_light(p, ix, iy + 1, rgb, amount * (1.0f - fx) * fy);
    add_light(p, ix + 1, iy + 1, rgb, amount * fx * fy);
}

/* A bright core with a faint halo. */
static void add_glow(picture *p, float x, float y, const float rgb[3], float amount)
{
    add_point(p, x, y, rgb, 0.8f * amount);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            add_point(p, x + 1.3f * (float)dx, y + 1.3f * (float)dy, rgb, 0.07f * amount);
}

void picture_move(picture *p, int n, const float (*from)[2], const float (*to)[2])
{
    for (int i = 0; i < n; i++) {
        float rgb[3];
        hue_rgb(i, HUES, rgb);
        const float x0 = to_pixel(from[i][0], p->extent, p->size), y0 = to_pixel(from[i][1], p->extent, p->size);
        const float dx = to_pixel(to[i][0], p->extent, p->size) - x0, dy = to_pixel(to[i][1], p->extent, p->size) - y0;
        const float length = hypotf(dx, dy);
        if (!(length < 4.0f * (float)p->size))
            continue;
        const int points = (int)(2.0f * length) + 1;
        for (int k = 0; k < points; k++) {
            const float t = (float)k / (float)points;
            add_glow(p, x0 + t * dx, y0 + t * dy, rgb, length / (float)points);
        }
    }
}

void picture_bodies(picture *p, int n, const float (*at)[2])
{
    static const float white[3] = {1.0f, 1.0f, 1.0f};
    const int radius = p->size / 90;
    for (int i = 0; i < n; i++) {
        float rgb[3];
        hue_rgb(i, HUES, rgb);
        const float x = to_pixel(at[i][0], p->extent, p->size), y = to_pixel(at[i][1], p->extent, p->size);
        if (!(x > (float)-radius && y > (float)-radius && x < (float)(p->size + radius) && y < (float)(p->size + radius)))
            continue;
        for (int dy = -radius; dy <= radius; dy++)
            for (int dx = -radius; dx <= radius; dx++) {
                const float d = hypotf((float)dx, (float)dy) / (float)radius;
                add_point(p, x + (float)dx, y + (float)dy, rgb, d < 1.0f ? 0.8f * (1.0f - d) : 0.0f);
                add_point(p, x + (float)dx, y + (float)dy, white, d < 0.45f ? 2.0f : 0.0f);
            }
    }
}

/* Light to a byte: bright places saturate softly. */
static png_byte tone(float light, float background)
{
    return (png_byte)(255.0f * (1.0f - (1.0f - background) * expf(-light)) + 0.5f);
}

bool picture_write_png(const picture *p, const char *path)
{
    static const float background[3] = {0.02f, 0.025f, 0.06f};
    const size_t pixels = (size_t)p->size * (size_t)p->size;
    png_byte *rgb = malloc(3 * pixels);
    if (!rgb)
        return false;
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            rgb[3 * i + (size_t)c] = tone(p->light[i][c], background[c]);
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)p->size, .height = (png_uint_32)p->size, .format = PNG_FORMAT_RGB};
    const bool ok = png_image_write_to_file(&image, path, 0, rgb, 0, NULL);
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, image.message);
    free(rgb);
    return ok;
}

/* ---- the animation ---- */

struct animation {
    int size;
    float extent;
    GifFileType *gif;
    GifByteType *trails; /* palette index of each pixel: 0, or 1 + hue * LEVELS + level */
    GifByteType *frame;
};

static bool gif_failed(int error)
{
    fprintf(stderr, "GIF: %s\n", GifErrorString(error));
    return false;
}

static ColorMapObject *palette(void)
{
    ColorMapObject *map = GifMakeMapObject(256, NULL);
    if (!map)
        return NULL;
    memset(map->Colors, 255, 256 * sizeof *map->Colors);
    map->Colors[0] = (GifColorType){5, 6, 15};
    for (int h = 0; h < HUES; h++) {
        float rgb[3];
        hue_rgb(h, HUES, rgb);
        for (int l = 0; l < LEVELS; l++) {
            const float t = (float)(l + 1) / LEVELS;
            map->Colors[1 + h * LEVELS + l] =
                (GifColorType){(GifByteType)(5.0f + 250.0f * t * rgb[0]), (GifByteType)(6.0f + 249.0f * t * rgb[1]), (GifByteType)(15.0f + 240.0f * t * rgb[2])};
        }
    }
    return map;
}

static bool start_gif(animation *a)
{
    static const char forever[] = {1, 0, 0};
    ColorMapObject *map = palette();
    if (!map)
        return gif_failed(E_GIF_ERR_NOT_ENOUGH_MEM);
    EGifSetGifVersion(a->gif, true);
    const bool ok = EGifPutScreenDesc(a->gif, a->size, a->size, 8, 0, map) == GIF_OK && EGifPutExtensionLeader(a->gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
                    EGifPutExtensionBlock(a->gif, 11, "NETSCAPE2.0") == GIF_OK && EGifPutExtensionBlock(a->gif, sizeof forever, forever) == GIF_OK &&
                    EGifPutExtensionTrailer(a->gif) == GIF_OK;
    GifFreeMapObject(map);
    return ok || gif_failed(a->gif->Error);
}

/* giflib's own way to create a file makes it unreadable for others. */
static GifFileType *open_gif(const char *path, int *error)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        *error = E_GIF_ERR_OPEN_FAILED;
        return NULL;
    }
    GifFileType *gif = EGifOpenFileHandle(fd, error);
    if (!gif)
        close(fd);
    return gif;
}

animation *animation_create(const char *path, int size, float extent)
{
    animation *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    const size_t pixels = (size_t)size * (size_t)size;
    *a = (animation){.size = size, .extent = extent, .trails = calloc(pixels, 1), .frame = malloc(pixels)};
    int error = E_GIF_ERR_NOT_ENOUGH_MEM;
    if (a->trails && a->frame)
        a->gif = open_gif(path, &error);
    if (!a->gif)
        gif_failed(error);
    else if (start_gif(a))
        return a;
    animation_close(a);
    return NULL;
}

static void set_pixel(const animation *a, GifByteType *image, int x, int y, int index)
{
    if (x >= 0 && y >= 0 && x < a->size && y < a->size)
        image[(size_t)(a->size - 1 - y) * (size_t)a->size + (size_t)x] = (GifByteType)index;
}

void animation_move(animation *a, int n, const float (*from)[2], const float (*to)[2])
{
    for (int i = 0; i < n; i++) {
        const float x0 = to_pixel(from[i][0], a->extent, a->size), y0 = to_pixel(from[i][1], a->extent, a->size);
        const float dx = to_pixel(to[i][0], a->extent, a->size) - x0, dy = to_pixel(to[i][1], a->extent, a->size) - y0;
        if (!(fabsf(x0) < 4.0f * (float)a->size && fabsf(y0) < 4.0f * (float)a->size && hypotf(dx, dy) < (float)a->size))
            continue;
        const int points = (int)(1.5f * hypotf(dx, dy)) + 1;
        for (int k = 0; k < points; k++) {
            const float t = (float)k / (float)points;
            set_pixel(a, a->trails, (int)lrintf(x0 + t * dx), (int)lrintf(y0 + t * dy), 1 + (i % HUES) * LEVELS + LEVELS - 1);
        }
    }
}

static void fade(animation *a)
{
    for (size_t i = 0; i < (size_t)a->size * (size_t)a->size; i++)
        if (a->trails[i])
            a->trails[i] = (a->trails[i] - 1) % LEVELS == 0 ? 0 : (GifByteType)(a->trails[i] - 1);
}

bool animation_frame(animation *a, int n, const float (*at)[2])
{
    memcpy(a->frame, a->trails, (size_t)a->size * (size_t)a->size);
    for (int i = 0; i < n; i++) {
        const float x = to_pixel(at[i][0], a->extent, a->size), y = to_pixel(at[i][1], a->extent, a->size);
        if (!(fabsf(x) < 4.0f * (float)a->size && fabsf(y) < 4.0f * (float)a->size))
            continue;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                if (dx * dx + dy * dy <= 5)
                    set_pixel(a, a->frame, (int)lrintf(x) + dx, (int)lrintf(y) + dy, 255);
    }
    const GraphicsControlBlock control = {.DelayTime = DELAY, .TransparentColor = NO_TRANSPARENT_COLOR};
    GifByteType bytes[4];
    EGifGCBToExtension(&control, bytes);
    if (EGifPutExtension(a->gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes) != GIF_OK ||
        EGifPutImageDesc(a->gif, 0, 0, a->size, a->size, false, NULL) != GIF_OK)
        return gif_failed(a->gif->Error);
    for (int y = 0; y < a->size; y++)
        if (EGifPutLine(a->gif, a->frame + (size_t)y * (size_t)a->size, a->size) != GIF_OK)
            return gif_failed(a->gif->Error);
    fade(a);
    return true;
}

bool animation_close(animation *a)
{
    int error = 0;
    const bool ok = a->gif && (EGifCloseFile(a->gif, &error) == GIF_OK || gif_failed(error));
    free(a->trails);
    free(a->frame);
    free(a);
    return ok;
}
