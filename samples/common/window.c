#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sample.h"

/* Pixels. The frame is above, centred; below it buttons, sliders with the losses beside them, a line of help. */
enum { WIDTH = 760, HEIGHT = 560, EDGE = 12, ROW = 28, BUTTON = 104, TRACK = 130, LENGTH = 200 };
enum { PLOT = 330, TALL = 180 };
enum { NOTHING = -2, TARGET = -1 }; /* what the mouse holds, beside sliders */
static const SDL_Keycode button_key[] = {SDLK_SPACE, SDLK_o, SDLK_g, SDLK_r};
static const char *const button_text[] = {"play (space)", "optimise (o)", "gradient (g)", "restart (r)"};

typedef struct window {
    sample *s;
    sample_state *t;
    double scale, left, panel, height; /* of the frame, where it begins and ends; of all */
    double step, speed;
    int sliders, held;
    bool playing, optimising, stale, open;
} window;

/* Slider 0 is the step of time, those behind it are the sample's. */
static sample_knob slider(window *w, int k)
{
    return k > 0 ? w->s->knobs[k - 1] : (sample_knob){"step", &w->step, 0.0, w->s->steps};
}

/* What goes wrong ends the optimisation; all, if the session has failed. */
static void episode(window *w, bool step)
{
    if ((step && !state_step(w->t, w->s)) || !state_episode(w->t, w->s)) {
        w->optimising = false;
        w->open = w->open && tk_session_status(w->s->session) == TK_OK;
    }
    w->stale = false;
}

static void advance(window *w)
{
    const double end = 1.1 * w->s->steps; /* the last step stands for a while */
    if (w->stale)
        episode(w, false);
    if (w->optimising && (w->held == TARGET || (w->playing && w->step >= end)))
        episode(w, true);
    if (w->held == TARGET)
        w->step = w->s->steps;
    else if (w->playing)
        w->step = w->step >= end ? 0.0 : fmin(w->step + w->speed * w->s->steps / 240.0, end);
}

static void move(window *w, int by)
{
    w->playing = false;
    w->step = fmin(fmax(floor(fmin(w->step, w->s->steps)) + by, 0.0), w->s->steps);
}

static void press_key(window *w, SDL_Keycode key)
{
    switch (key) {
    case SDLK_SPACE: w->playing = !w->playing; break;
    case SDLK_o: w->optimising = !w->optimising && w->t->n > 0; break;
    case SDLK_g: w->s->show_gradient = !w->s->show_gradient; break;
    case SDLK_r: state_restart(w->t, w->s), w->stale = true, w->step = 0.0; break;
    case SDLK_RIGHT: move(w, 1); break;
    case SDLK_LEFT: move(w, -1); break;
    case SDLK_UP: case SDLK_PLUS: case SDLK_KP_PLUS: case SDLK_EQUALS: w->speed = fmin(2.0 * w->speed, 512.0); break;
    case SDLK_DOWN: case SDLK_MINUS: case SDLK_KP_MINUS: w->speed = fmax(0.5 * w->speed, 1.0 / 64.0); break;
    case SDLK_q: case SDLK_ESCAPE: w->open = false; break;
    default: break;
    }
}

/* The mouse is at x, y with what it holds. */
static void drag(window *w, double x, double y)
{
    if (w->held == TARGET) {
        w->s->target[0] = fmin(fmax((x - w->left) / w->scale, 0.0), 1.0);
        w->s->target[1] = fmin(fmax(w->s->aspect - y / w->scale, 0.0), w->s->aspect);
    } else if (w->held != NOTHING) {
        const sample_knob k = slider(w, w->held);
        *k.value = k.low + (k.high - k.low) * fmin(fmax((x - TRACK) / LENGTH, 0.0), 1.0);
    }
    w->playing = w->playing && w->held != 0;
    w->stale = w->stale || w->held == TARGET || w->held > 0;
}

static void press_mouse(window *w, double x, double y)
{
    const double *at = w->s->target;
    const int row = (int)floor((y - w->panel) / ROW), k = (int)floor((x - EDGE) / BUTTON);
    if (row == 0 && k >= 0 && k < 4)
        press_key(w, button_key[k]);
    else if (row > 0 && row <= w->sliders && x < TRACK + LENGTH + EDGE)
        w->held = row - 1;
    else if (at && hypot(x - w->left - at[0] * w->scale, y - (w->s->aspect - at[1]) * w->scale) < 30.0)
        w->held = TARGET;
    drag(w, x, y);
}

static void handle(window *w, const SDL_Event *e)
{
    if (e->type == SDL_QUIT)
        w->open = false;
    else if (e->type == SDL_KEYDOWN)
        press_key(w, e->key.keysym.sym);
    else if (e->type == SDL_MOUSEBUTTONDOWN)
        press_mouse(w, e->button.x, e->button.y);
    else if (e->type == SDL_MOUSEMOTION)
        drag(w, e->motion.x, e->motion.y);
    else if (e->type == SDL_MOUSEBUTTONUP)
        w->held = NOTHING;
}

static void draw_panel(window *w, cairo_t *c)
{
    char text[160];
    const bool on[] = {w->playing, w->optimising, w->s->show_gradient, false};
    for (int k = 0; k < 4; k++) {
        cairo_rectangle(c, EDGE + k * BUTTON, 2.0, BUTTON - 8, ROW - 4);
        draw_colour(c, on[k] ? BLUE : GREY, on[k] ? 1.0 : 0.25);
        cairo_fill(c);
        draw_colour(c, on[k] ? (colour){1, 1, 1} : INK, 1.0);
        text_at(c, EDGE - 4 + (k + 0.5) * BUTTON, 18.0, 0.5, BUTTON - 12, button_text[k]);
    }
    for (int k = 0; k < w->sliders; k++) {
        const sample_knob a = slider(w, k);
        const double value = fmin(fmax(*a.value, a.low), a.high), y = ROW * (k + 1.5);
        draw_colour(c, GREY, 0.5);
        draw_line(c, TRACK, y, TRACK + LENGTH, y, 4.0);
        draw_colour(c, w->held == k ? RED : BLUE, 1.0);
        draw_disc(c, TRACK + LENGTH * (a.high > a.low ? (value - a.low) / (a.high - a.low) : 0.0), y, 8.0);
        draw_colour(c, INK, 1.0);
        snprintf(text, sizeof text, "%.4g", k == 0 ? floor(value) : value);
        text_at(c, EDGE, y + 4.0, 0.0, TRACK - EDGE - 12, a.name);
        text_at(c, TRACK + LENGTH + 16, y + 4.0, 0.0, 70.0, text);
    }
    snprintf(text, sizeof text, "left, right: a step    up, down: speed (%g)    mouse: sliders%s    q: end", w->speed,
             w->s->target ? ", the target" : "");
    text_at(c, EDGE, w->height - w->panel - 10, 0.0, WIDTH - 2 * EDGE, text);
    cairo_translate(c, WIDTH - PLOT, 0.0);
    snprintf(text, sizeof text, "loss %.5g, iteration %d", w->t->losses[w->t->done], w->t->done);
    plot(c, PLOT, TALL, w->t->n ? w->t->losses : w->s->curve, w->t->n ? w->t->done + 1 : w->s->curve_length, text);
}

static void draw_all(window *w, SDL_Renderer *to, SDL_Texture *texture, cairo_surface_t *page)
{
    cairo_t *c = cairo_create(page);
    draw_colour(c, (colour){1, 1, 1}, 1.0);
    cairo_paint(c);
    cairo_translate(c, w->left, 0.0);
    frame_paint(w->s, c, w->scale, (int)fmin(w->step, w->s->steps));
    cairo_translate(c, -w->left, w->panel);
    cairo_set_font_size(c, 12.0);
    draw_panel(w, c);
    cairo_destroy(c);
    cairo_surface_flush(page);
    SDL_UpdateTexture(texture, NULL, cairo_image_surface_get_data(page), cairo_image_surface_get_stride(page));
    SDL_RenderClear(to);
    SDL_RenderCopy(to, texture, NULL, NULL);
    SDL_RenderPresent(to);
}

bool window_run(sample *s, sample_state *t, int frames, const char *screenshot)
{
    window w = {.s = s, .t = t, .speed = 2.0, .held = NOTHING, .playing = true, .optimising = t->n > 0, .sliders = 1};
    while (s->knobs && s->knobs[w.sliders - 1].name)
        w.sliders++;
    w.scale = fmin(WIDTH, HEIGHT / s->aspect);
    w.left = 0.5 * (WIDTH - w.scale);
    w.panel = ceil(s->aspect * w.scale) + 8.0;
    w.height = w.panel + fmax(TALL, ROW * (w.sliders + 1)) + ROW;
    const int height = (int)w.height, middle = SDL_WINDOWPOS_CENTERED, streaming = SDL_TEXTUREACCESS_STREAMING;
    SDL_Window *at = NULL;
    if (SDL_Init(SDL_INIT_VIDEO) == 0)
        at = SDL_CreateWindow(s->name, middle, middle, WIDTH, height, SDL_WINDOW_RESIZABLE);
    SDL_Renderer *to = at ? SDL_CreateRenderer(at, -1, SDL_RENDERER_SOFTWARE) : NULL;
    SDL_Texture *texture = to ? SDL_CreateTexture(to, SDL_PIXELFORMAT_RGB888, streaming, WIDTH, height) : NULL;
    cairo_surface_t *page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, height);
    const bool shown = frames > 0 || !at || strcmp(SDL_GetCurrentVideoDriver(), "offscreen") != 0;
    bool ok = shown && texture && SDL_RenderSetLogicalSize(to, WIDTH, height) == 0;
    w.open = ok || sample_fails(s, "--window", shown ? SDL_GetError() : "there is no display");
    if (ok)
        episode(&w, false);
    for (int k = 0; w.open && !sample_interrupted && (frames == 0 || k < frames); k++) {
        const Uint32 next = SDL_GetTicks() + 16;
        SDL_Event e;
        draw_all(&w, to, texture, page);
        while (w.open && SDL_WaitEventTimeout(&e, (int)fmax((double)next - SDL_GetTicks(), 0.0)))
            handle(&w, &e);
        if (w.open)
            advance(&w);
    }
    if (ok && w.stale)
        episode(&w, false);
    ok = ok && (frames == 0 || cairo_surface_write_to_png(page, screenshot) == CAIRO_STATUS_SUCCESS);
    cairo_surface_destroy(page);
    SDL_HideWindow(at); /* SDL_Quit may end in an X error when keys are still on their way */
    return ok && tk_session_status(s->session) == TK_OK && (t->n == 0 || isfinite(t->losses[t->done]));
}
