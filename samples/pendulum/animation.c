#include "animation.h"

#include <fcntl.h>
#include <gif_lib.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The colours of frames: those of a cube, and greys. */
enum { LEVELS = 6, CUBE = LEVELS * LEVELS * LEVELS, COLOURS = 256, GREYS = COLOURS - CUBE };

struct animation {
    int width, height, frames;
    double seconds;
    GifFileType *gif;
    GifByteType *line;
};

static bool failed(int error)
{
    fprintf(stderr, "GIF: %s\n", GifErrorString(error));
    return false;
}

static int nearest(int byte, int levels)
{
    return (byte * (levels - 1) + 127) / 255;
}

static GifByteType colour_of(uint32_t pixel)
{
    const int r = pixel >> 16 & 255, g = pixel >> 8 & 255, b = pixel & 255, nearly = 16;
    if (abs(r - g) < nearly && abs(g - b) < nearly)
        return (GifByteType)(CUBE + nearest((r + g + b) / 3, GREYS));
    return (GifByteType)((nearest(r, LEVELS) * LEVELS + nearest(g, LEVELS)) * LEVELS + nearest(b, LEVELS));
}

static ColorMapObject *palette(void)
{
    ColorMapObject *map = GifMakeMapObject(COLOURS, NULL);
    for (int k = 0; map && k < COLOURS; k++) {
        const int step = 255 / (LEVELS - 1), grey = 255 * (k - CUBE) / (GREYS - 1);
        const int r = k / (LEVELS * LEVELS) * step, g = k / LEVELS % LEVELS * step, b = k % LEVELS * step;
        map->Colors[k] = k < CUBE ? (GifColorType){(GifByteType)r, (GifByteType)g, (GifByteType)b}
                                  : (GifColorType){(GifByteType)grey, (GifByteType)grey, (GifByteType)grey};
    }
    return map;
}

static bool start(animation *a)
{
    static const char forever[] = {1, 0, 0};
    ColorMapObject *map = palette();
    if (!map)
        return failed(E_GIF_ERR_NOT_ENOUGH_MEM);
    EGifSetGifVersion(a->gif, true);
    const bool ok = EGifPutScreenDesc(a->gif, a->width, a->height, 8, 0, map) == GIF_OK &&
                    EGifPutExtensionLeader(a->gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
                    EGifPutExtensionBlock(a->gif, 11, "NETSCAPE2.0") == GIF_OK && EGifPutExtensionBlock(a->gif, sizeof forever, forever) == GIF_OK &&
                    EGifPutExtensionTrailer(a->gif) == GIF_OK;
    GifFreeMapObject(map);
    return ok || failed(a->gif->Error);
}

/* giflib's own way to create a file makes it unreadable for others. */
static bool open_gif(animation *a, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        perror(path);
        return false;
    }
    int error = 0;
    a->gif = EGifOpenFileHandle(fd, &error);
    if (a->gif)
        return true;
    close(fd);
    return failed(error);
}

animation *animation_create(const char *path, int width, int height, double seconds)
{
    animation *a = calloc(1, sizeof *a);
    GifByteType *line = malloc((size_t)width);
    if (!a || !line) {
        failed(E_GIF_ERR_NOT_ENOUGH_MEM);
        free(line);
        free(a);
        return NULL;
    }
    *a = (animation){.width = width, .height = height, .seconds = seconds, .line = line};
    if (open_gif(a, path) && start(a))
        return a;
    animation_close(a);
    return NULL;
}

/* Frames last for whole hundredths of a second: what is missing is made up for by later ones. */
static int delay(const animation *a)
{
    return (int)(lround(100.0 * a->seconds * (a->frames + 1)) - lround(100.0 * a->seconds * a->frames));
}

bool animation_frame(animation *a, cairo_surface_t *picture)
{
    cairo_surface_flush(picture);
    const cairo_status_t status = cairo_surface_status(picture);
    if (status != CAIRO_STATUS_SUCCESS) {
        fprintf(stderr, "GIF: %s\n", cairo_status_to_string(status));
        return false;
    }
    const GraphicsControlBlock control = {.DelayTime = delay(a), .TransparentColor = NO_TRANSPARENT_COLOR};
    GifByteType bytes[4];
    EGifGCBToExtension(&control, bytes);
    if (EGifPutExtension(a->gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes) != GIF_OK ||
        EGifPutImageDesc(a->gif, 0, 0, a->width, a->height, false, NULL) != GIF_OK)
        return failed(a->gif->Error);
    for (int y = 0; y < a->height; y++) {
        const uint32_t *const pixel = (const uint32_t *)(cairo_image_surface_get_data(picture) + y * cairo_image_surface_get_stride(picture));
        for (int x = 0; x < a->width; x++)
            a->line[x] = colour_of(pixel[x]);
        if (EGifPutLine(a->gif, a->line, a->width) != GIF_OK)
            return failed(a->gif->Error);
    }
    a->frames++;
    return true;
}

bool animation_close(animation *a)
{
    if (!a)
        return false;
    int error = 0;
    const bool ok = a->gif && (EGifCloseFile(a->gif, &error) == GIF_OK || failed(error));
    free(a->line);
    free(a);
    return ok;
}
