#include "window.h"

#include <stdio.h>

#ifndef HAVE_SDL

window *window_open(void)
{
    fprintf(stderr, "newton: --window: this program was built without SDL2\n");
    return NULL;
}

bool window_show(window *w, mesh *k, const course *c)
{
    (void)w, (void)k, (void)c;
    return false;
}

void window_wait(window *w, double seconds)
{
    (void)w, (void)seconds;
}

void window_close(window *w)
{
    (void)w;
}

#else

#include <SDL.h>
#include <stdlib.h>

#include "picture.h"

enum { MOMENT = 150 }; /* of an iteration, in ms */

struct window {
    SDL_Window *at;
    SDL_Renderer *to;
    SDL_Texture *texture;
    bool closed;
};

window *window_open(void)
{
    const int middle = SDL_WINDOWPOS_CENTERED, streaming = SDL_TEXTUREACCESS_STREAMING;
    window *w = calloc(1, sizeof *w);
    if (w && !SDL_Init(SDL_INIT_VIDEO)) {
        w->at = SDL_CreateWindow("newton", middle, middle, PAGE_WIDTH, PAGE_HEIGHT, SDL_WINDOW_RESIZABLE);
        w->to = w->at ? SDL_CreateRenderer(w->at, -1, SDL_RENDERER_SOFTWARE) : NULL;
        w->texture = w->to ? SDL_CreateTexture(w->to, SDL_PIXELFORMAT_RGB888, streaming, PAGE_WIDTH, PAGE_HEIGHT)
                           : NULL;
    }
    if (w && w->texture && SDL_RenderSetLogicalSize(w->to, PAGE_WIDTH, PAGE_HEIGHT) == 0)
        return w;
    fprintf(stderr, "newton: --window: %s\n", w ? SDL_GetError() : "out of memory");
    window_close(w);
    return NULL;
}

/* Handles what comes within so many milliseconds. */
static void listen(window *w, Uint32 ms)
{
    const Uint32 end = SDL_GetTicks() + ms;
    SDL_Event e;
    for (Uint32 now = end - ms; !w->closed && now <= end; now = SDL_GetTicks())
        if (SDL_WaitEventTimeout(&e, (int)(end - now)))
            w->closed = e.type == SDL_QUIT ||
                        (e.type == SDL_KEYDOWN && (e.key.keysym.sym == SDLK_q || e.key.keysym.sym == SDLK_ESCAPE));
        else
            return;
}

bool window_show(window *w, mesh *k, const course *c)
{
    cairo_surface_t *page = picture_page(k, c);
    if (!page)
        return false;
    SDL_UpdateTexture(w->texture, NULL, cairo_image_surface_get_data(page), cairo_image_surface_get_stride(page));
    SDL_RenderClear(w->to);
    SDL_RenderCopy(w->to, w->texture, NULL, NULL);
    SDL_RenderPresent(w->to);
    cairo_surface_destroy(page);
    listen(w, MOMENT);
    return !w->closed;
}

void window_wait(window *w, double seconds)
{
    do
        listen(w, seconds < 0.0 ? MOMENT : (Uint32)(1e3 * seconds));
    while (seconds < 0.0 && !w->closed);
}

void window_close(window *w)
{
    if (!w)
        return;
    SDL_Quit(); /* and all that it made */
    free(w);
}

#endif
