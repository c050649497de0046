/* Preloaded into a program with SDL's window, this gives its frames and events to a test, tests/tools/mouse.py: no clock tells when they come.
 * The program waits here for events, until its frame ends. $FRAMES has two descriptors; the first brings a letter for each of these waits:
 *   e  the next event, however late that comes; a line for it goes to the second: its type, and its place, or its key and 0
 *   f  none: the frame ends, and when the program waits in the next one, "frame" goes to the second, as in the first one
 */
#include <SDL.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tell(int to, const SDL_Event *e)
{
    int a = 0, b = 0;
    if (e->type == SDL_KEYDOWN)
        a = e->key.keysym.sym;
    else if (e->type == SDL_MOUSEMOTION)
        a = e->motion.x, b = e->motion.y;
    dprintf(to, "%x %d %d\n", e->type, a, b);
}

int SDL_WaitEventTimeout(SDL_Event *e, int timeout)
{
    static bool in_frame;
    int from, to;
    char letter;
    const char *frames = getenv("FRAMES");
    (void)timeout;
    if (!frames || sscanf(frames, "%d %d", &from, &to) != 2)
        abort();
    if (!in_frame)
        dprintf(to, "frame\n");
    if (read(from, &letter, 1) != 1)
        exit(1); /* the test is gone */
    in_frame = letter == 'e' && SDL_WaitEvent(e);
    if (in_frame)
        tell(to, e);
    return in_frame;
}
