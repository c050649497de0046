#include <SDL.h>
#include "sample.h"

/* Pixels. The frame is above, centred; below it buttons, sliders with the losses beside them, a line of help. */
enum { WIDTH = 760, HEIGHT = 560, EDGE = 12, ROW = 28, BUTTON = 104, TRACK = 130, LENGTH = 200 };
enum { PLOT = 330, TALL = 180 };
enum { NOTHING = -2, TARGET = -1, MOST_SLIDERS = 16 }; /* what the mouse holds, beside sliders */
enum { PLAY, OPTIMISE, GRADIENT, RESTART, BUTTONS };
static const SDL_Keycode button_key[] = {SDLK_SPACE, SDLK_o, SDLK_g, SDLK_r};
static const char *const button_text[] = {"play (space)", "optimise (o)", "gradient (g)", "restart (r)"};

typedef struct window {
    sample *s;
    sample_state *t;
    double scale, left, panel, height; /* of the frame, where it begins and ends; of all */
    double step, speed;
    sample_knob slider[MOST_SLIDERS]; /* the first is the step of time, those behind it are the sample's */
    int sliders, held;
    bool on[BUTTONS], stale, open;
} window;

/* What goes wrong ends the optimisation; all, if the session has failed. */
static void episode(window *w, bool step)
{
    if ((step && !state_step(w->t, w->s)) || !state_episode(w->t, w->s)) {
        w->on[OPTIMISE] = false;
        w->open = w->open && tk_session_status(w->s->session) == TK_OK;
    }
    w->stale = false;
}

static void advance(window *w)
{
    const double end = 1.1 * w->s->steps; /* the last step stands for a while */
    if (w->stale)
        episode(w, false);
    if (w->on[OPTIMISE] && (w->held == TARGET || (w->on[PLAY] && w->step >= end)) && w->t->done < MOST_ITERATIONS)
        episode(w, true);
    if (w->held == TARGET)
        w->step = w->s->steps;
    else if (w->on[PLAY])
        w->step = w->step >= end ? 0.0 : fmin(w->step + w->speed * w->s->steps / 240.0, end);
}

static void press_button(window *w, int k)
{
    w->on[k] = !w->on[k] && k != RESTART && (k != OPTIMISE || w->t->n > 0);
    w->s->show_gradient = w->on[GRADIENT];
    if (k == RESTART) {
        state_restart(w->t, w->s);
        w->step = 0.0;
        w->stale = true;
    }
}

static void press_key(window *w, SDL_Keycode key)
{
    const int by = (key == SDLK_RIGHT) - (key == SDLK_LEFT);
    for (int k = 0; k < BUTTONS; k++)
        if (key == button_key[k])
            press_button(w, k);
    if (by != 0)
        w->step = fmin(fmax(floor(fmin(w->step, w->s->steps)) + by, 0.0), w->s->steps);
    w->on[PLAY] = w->on[PLAY] && by == 0;
    if (key == SDLK_UP || key == SDLK_PLUS || key == SDLK_KP_PLUS || key == SDLK_EQUALS)
        w->speed = fmin(2.0 * w->speed, 512.0);
    else if (key == SDLK_DOWN || key == SDLK_MINUS || key == SDLK_KP_MINUS)
        w->speed = fmax(0.5 * w->speed, 1.0 / 64.0);
    else if (key == SDLK_q || key == SDLK_ESCAPE)
        w->open = false;
}

/* The mouse is at x, y with what it holds. */
static void drag(window *w, double x, double y)
{
    if (w->held == TARGET) {
        w->s->target[0] = fmin(fmax((x - w->left) / w->scale, 0.0), 1.0);
        w->s->target[1] = fmin(fmax(w->s->aspect - y / w->scale, 0.0), w->s->aspect);
    } else if (w->held != NOTHING) {
        const sample_knob *k = &w->slider[w->held];
        *k->value = k->low + (k->high - k->low) * fmin(fmax((x - TRACK) / LENGTH, 0.0), 1.0);
    }
    w->on[PLAY] = w->on[PLAY] && w->held != 0;
    w->stale = w->stale || w->held == TARGET || w->held > 0;
}

static void press_mouse(window *w, double x, double y)
{
    const double *at = w->s->target;
    const int row = (int)floor((y - w->panel) / ROW), k = (int)floor((x - EDGE) / BUTTON);
    if (row == 0 && k >= 0 && k < BUTTONS)
        press_button(w, k);
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
    for (int k = 0; k < BUTTONS; k++) {
        const bool on = w->on[k];
        cairo_rectangle(c, EDGE + k * BUTTON, 2.0, BUTTON - 8, ROW - 4);
        draw_colour(c, on ? BLUE : GREY, on ? 1.0 : 0.25);
        cairo_fill(c);
        draw_colour(c, on ? (colour){1, 1, 1} : INK, 1.0);
        text_at(c, EDGE - 4 + (k + 0.5) * BUTTON, 18.0, 0.5, BUTTON - 12, button_text[k]);
    }
    for (int k = 0; k < w->sliders; k++) {
        const sample_knob a = w->slider[k];
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
    plot(c, PLOT, TALL, w->s->curve, w->s->curve_length, text);
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
    window w = {.s = s, .t = t, .speed = 2.0, .held = NOTHING, .on = {[PLAY] = true, [OPTIMISE] = t->n > 0}};
    w.slider[w.sliders++] = (sample_knob){"step", &w.step, 0.0, s->steps};
    for (const sample_knob *k = s->knobs; k && k->name; w.slider[w.sliders++] = *k++)
        if (w.sliders == MOST_SLIDERS)
            return sample_fails(s, "--window", "there are more knobs than sliders");
    w.scale = fmin(WIDTH, HEIGHT / s->aspect);
    w.left = 0.5 * (WIDTH - w.scale);
    w.panel = ceil(s->aspect * w.scale) + 8.0;
    w.height = w.panel + fmax(TALL, ROW * (w.sliders + 1)) + ROW;
    const int height = (int)w.height, middle = SDL_WINDOWPOS_CENTERED, streaming = SDL_TEXTUREACCESS_STREAMING;
    SDL_Window *at = SDL_Init(SDL_INIT_VIDEO)
                         ? NULL
                         : SDL_CreateWindow(s->name, middle, middle, WIDTH, height, SDL_WINDOW_RESIZABLE);
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
