#include "animation.h"

#include <fcntl.h>
#include <gif_lib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Frames have the colours of a cube. */
enum { REDS = 6, GREENS = 7, BLUES = 6, COLOURS = 256 };

struct animation {
    int size, frames;
    double seconds;
    GifFileType *gif;
    unsigned char *rgb;
    GifByteType *line;
};

static bool failed(int error)
{
    fprintf(stderr, "GIF: %s\n", GifErrorString(error));
    return false;
}

static int level(int byte, int levels)
{
    return (byte * (levels - 1) + 127) / 255;
}

static ColorMapObject *cube(void)
{
    ColorMapObject *map = GifMakeMapObject(COLOURS, NULL);
    for (int r = 0; map && r < REDS; r++)
        for (int g = 0; g < GREENS; g++)
            for (int b = 0; b < BLUES; b++)
                map->Colors[(r * GREENS + g) * BLUES + b] =
                    (GifColorType){(GifByteType)(255 * r / (REDS - 1)), (GifByteType)(255 * g / (GREENS - 1)), (GifByteType)(255 * b / (BLUES - 1))};
    return map;
}

static bool start(animation *a)
{
    static const char forever[] = {1, 0, 0};
    ColorMapObject *map = cube();
    if (!map)
        return failed(E_GIF_ERR_NOT_ENOUGH_MEM);
    EGifSetGifVersion(a->gif, true);
    const bool ok = EGifPutScreenDesc(a->gif, a->size, a->size, 8, 0, map) == GIF_OK &&
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

animation *animation_create(const char *path, int size, double seconds)
{
    animation *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (animation){.size = size, .seconds = seconds, .rgb = malloc(3 * (size_t)size * (size_t)size), .line = malloc((size_t)size)};
    if (a->rgb && a->line && open_gif(a, path) && start(a))
        return a;
    animation_close(a);
    return NULL;
}

/* Frames last for whole hundredths of a second: what is missing is made up for by later ones. */
static int delay(const animation *a)
{
    return (int)(lround(100.0 * a->seconds * (a->frames + 1)) - lround(100.0 * a->seconds * a->frames));
}

bool animation_frame(animation *a, const picture *p)
{
    const GraphicsControlBlock control = {.DelayTime = delay(a), .TransparentColor = NO_TRANSPARENT_COLOR};
    GifByteType bytes[4];
    EGifGCBToExtension(&control, bytes);
    if (EGifPutExtension(a->gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes) != GIF_OK ||
        EGifPutImageDesc(a->gif, 0, 0, a->size, a->size, false, NULL) != GIF_OK)
        return failed(a->gif->Error);
    picture_bytes(p, a->rgb);
    for (int y = 0; y < a->size; y++) {
        const unsigned char *const rgb = a->rgb + 3 * (size_t)y * (size_t)a->size;
        for (int x = 0; x < a->size; x++)
            a->line[x] = (GifByteType)((level(rgb[3 * x], REDS) * GREENS + level(rgb[3 * x + 1], GREENS)) * BLUES + level(rgb[3 * x + 2], BLUES));
        if (EGifPutLine(a->gif, a->line, a->size) != GIF_OK)
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
    free(a->rgb);
    free(a->line);
    free(a);
    return ok;
}
