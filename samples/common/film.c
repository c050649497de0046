#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

enum { RATE = 25 }; /* frames a second */

static bool is_gif(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".gif");
}

/* ffmpeg, which reads raw frames from us; its arguments go by no shell. */
static pid_t ffmpeg_begin(const char *path, int height, int *to)
{
    int ends[2];
    const char *const filter = /* a GIF has 256 colours: the best for all frames */
        is_gif(path) ? "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=bayer" : "format=yuv420p";
    char size[32], rate[16];
    snprintf(size, sizeof size, "%dx%d", FRAME_WIDTH, height);
    snprintf(rate, sizeof rate, "%d", RATE);
    if (pipe(ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "bgr0", "-video_size",
               size, "-framerate", rate, "-i", "-", "-filter_complex", filter, path, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    *to = ends[1];
    return child;
}

static bool write_all(int fd, const unsigned char *data, size_t n)
{
    while (n > 0) {
        const ssize_t k = write(fd, data, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        data += k;
        n -= (size_t)k;
    }
    return true;
}

/* Whether each frame, drawn and handed on, was taken. */
static bool frames(sample *s, int to)
{
    const int n = s->steps == 0 ? 1 : s->steps + 1 < s->film_frames ? s->steps + 1 : s->film_frames;
    bool ok = true;
    for (int k = 0; ok && k < n; k++) {
        cairo_surface_t *frame = frame_create(s, n > 1 ? (int)((long)s->steps * k / (n - 1)) : 0);
        ok = frame &&
             write_all(to, cairo_image_surface_get_data(frame),
                       (size_t)cairo_image_surface_get_stride(frame) * (size_t)cairo_image_surface_get_height(frame));
        cairo_surface_destroy(frame);
    }
    return ok;
}

bool film_write(sample *s, const char *path)
{
    int to = -1, status = -1;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* it may end early: then write says so */
    const pid_t child = ffmpeg_begin(path, 2 * (int)lround(0.5 * s->aspect * FRAME_WIDTH), &to);
    const bool wrote = child > 0 && frames(s, to);
    if (child > 0) {
        close(to);
        waitpid(child, &status, 0);
    }
    signal(SIGPIPE, before);
    const bool none = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    if (!wrote || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "%s: %s: %s\n", s->name, path,
                none ? "films need ffmpeg, which is not installed" : "ffmpeg failed");
        return false;
    }
    printf("%s: film %s\n", s->name, path);
    return true;
}
