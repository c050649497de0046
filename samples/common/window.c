#include <math.h>
#include <stdio.h>

#include "sample.h"

#ifdef HAVE_SDL
#include <SDL.h>

/* Pixels: the frame above, centred; below it buttons, on the left sliders, on the right the losses, and a line of help. */
enum { WIDTH = 760, HEIGHT = 560, ROW = 28, BUTTON = 104, NAME = 12, TRACK = 132, TRACK_END = 332, PLOT = 330, TALL = 170 };
enum { NOTHING = -2, TARGET = -1 }; /* what the mouse holds, beside sliders */

static const struct {
    SDL_Keycode key;
    const char *label;
} button[] = {{SDLK_SPACE, "play (space)"}, {SDLK_o, "optimise (o)"}, {SDLK_g, "gradient (g)"}, {SDLK_r, "restart (r)"}};
enum { BUTTONS = sizeof button / sizeof button[0] };

typedef struct window {
    sample *s;
    sample_state *t;
    SDL_Renderer *to;
    SDL_Texture *texture;
    cairo_surface_t *page;
    double scale, left, panel, width, height; /* the frame's width and place, upper edge of the panel, all */
    double step, speed;
    int sliders, held;
    bool playing, optimising, stale, open;
} window;

/* Slider 0 is the step of time, those behind it are the sample's. */
static sample_knob slider(window *w, int k)
{
    return k > 0 ? w->s->knobs[k - 1] : (sample_knob){"step", &w->step, 0.0, w->s->steps};
}

/* ---- what happens ---- */

/* False: what went wrong was told, or the session has failed; a number that is none only ends the optimisation. */
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
    const bool dragged = w->held == TARGET && w->optimising;
    if (w->stale)
        episode(w, false);
    if (dragged) {
        episode(w, true);
        w->step = w->s->steps;
    } else if (w->playing && w->step < end) {
        w->step = fmin(w->step + w->speed * w->s->steps / 240.0, end);
    } else if (w->playing) {
        if (w->optimising)
            episode(w, true);
        w->step = 0.0;
    }
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
    case SDLK_r:
        state_restart(w->t, w->s);
        w->stale = true;
        w->step = 0.0;
        break;
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
        *k.value = k.low + (k.high - k.low) * fmin(fmax((x - TRACK) / (TRACK_END - TRACK), 0.0), 1.0);
    }
    w->playing = w->playing && w->held != 0;
    w->stale = w->stale || w->held == TARGET || w->held > 0;
}

static void press_mouse(window *w, double x, double y)
{
    const double *at = w->s->target;
    const int row = (int)floor((y - w->panel) / ROW) - 1, k = (int)floor((x - NAME) / BUTTON);
    if (row == -1 && k >= 0 && k < BUTTONS)
        press_key(w, button[k].key);
    else if (row >= 0 && row < w->sliders && x < TRACK_END + 20)
        w->held = row;
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
    else if (e->type == SDL_MOUSEBUTTONDOWN && e->button.button == SDL_BUTTON_LEFT)
        press_mouse(w, e->button.x, e->button.y);
    else if (e->type == SDL_MOUSEMOTION)
        drag(w, e->motion.x, e->motion.y);
    else if (e->type == SDL_MOUSEBUTTONUP)
        w->held = NOTHING;
}

/* ---- how it looks ---- */

static void write_text(cairo_t *c, double x, double y, const char *text)
{
    cairo_move_to(c, x, y);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

static void draw_buttons(const window *w, cairo_t *c)
{
    const bool on[BUTTONS] = {w->playing, w->optimising, w->s->show_gradient, false};
    for (int k = 0; k < BUTTONS; k++) {
        cairo_rectangle(c, NAME + k * BUTTON, w->panel + 2, BUTTON - 8, ROW - 4);
        draw_colour(c, on[k] ? BLUE : GREY, on[k] ? 1.0 : 0.25);
        cairo_fill(c);
        draw_colour(c, on[k] ? (colour){1, 1, 1} : INK, 1.0);
        write_text(c, NAME + k * BUTTON + 9, w->panel + 18, button[k].label);
    }
}

static void draw_sliders(window *w, cairo_t *c)
{
    char text[32];
    for (int k = 0; k < w->sliders; k++) {
        const sample_knob a = slider(w, k);
        const double value = fmin(fmax(*a.value, a.low), a.high), y = w->panel + ROW * (k + 1.5);
        const double at = TRACK + (TRACK_END - TRACK) * (a.high > a.low ? (value - a.low) / (a.high - a.low) : 0.0);
        snprintf(text, sizeof text, "%.4g", k == 0 ? floor(value) : value);
        draw_colour(c, GREY, 0.5);
        draw_line(c, TRACK, y, TRACK_END, y, 4.0);
        draw_colour(c, w->held == k ? RED : BLUE, 1.0);
        draw_disc(c, at, y, 8.0);
        draw_colour(c, INK, 1.0);
        write_text(c, NAME, y + 4, a.name);
        write_text(c, TRACK_END + 16, y + 4, text);
    }
}

static void draw_page(window *w)
{
    char text[160];
    cairo_t *c = cairo_create(w->page);
    draw_colour(c, (colour){1, 1, 1}, 1.0);
    cairo_paint(c);
    cairo_save(c);
    cairo_translate(c, w->left, 0.0);
    frame_paint(w->s, c, w->scale, (int)fmin(w->step, w->s->steps));
    cairo_restore(c);
    cairo_set_font_size(c, 12.0);
    draw_buttons(w, c);
    draw_sliders(w, c);
    const double loss = w->t->losses[w->t->done];
    snprintf(text, sizeof text, w->t->n ? "loss %.5g, iteration %d, speed %g" : "value %.5g", loss, w->t->done, w->speed);
    write_text(c, w->width - PLOT + 12, w->panel + 18, text);
    write_text(c, NAME, w->height - 10, w->s->target ? "left, right: a step   up, down: speed   mouse: sliders, the target   q: end"
                                                     : "left, right: a step   up, down: speed   mouse: sliders   q: end");
    cairo_translate(c, w->width - PLOT, w->panel + ROW);
    plot(c, PLOT, TALL, w->t->losses, w->t->done + 1, "");
    cairo_destroy(c);
    cairo_surface_flush(w->page);
    SDL_UpdateTexture(w->texture, NULL, cairo_image_surface_get_data(w->page), cairo_image_surface_get_stride(w->page));
    SDL_RenderClear(w->to);
    SDL_RenderCopy(w->to, w->texture, NULL, NULL);
    SDL_RenderPresent(w->to);
}

static bool open_window(window *w)
{
    SDL_Window *at = NULL;
    const int width = (int)w->width, height = (int)w->height;
    if (SDL_Init(SDL_INIT_VIDEO) == 0)
        at = SDL_CreateWindow(w->s->name, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width, height,
                              SDL_WINDOW_RESIZABLE);
    w->to = at ? SDL_CreateRenderer(at, -1, 0) : NULL;
    w->texture = w->to ? SDL_CreateTexture(w->to, SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING, width, height) : NULL;
    w->open = w->texture && SDL_RenderSetLogicalSize(w->to, width, height) == 0;
    w->page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    if (!w->open)
        fprintf(stderr, "%s: --window: %s\n", w->s->name, SDL_GetError());
    return w->open;
}

bool window_run(sample *s, sample_state *t, int frames, const char *screenshot)
{
    window w = {.s = s, .t = t, .speed = 1.0, .held = NOTHING, .playing = true, .optimising = t->n > 0, .sliders = 1};
    while (s->knobs && s->knobs[w.sliders - 1].name)
        w.sliders++;
    const int rows = w.sliders * ROW;
    w.scale = fmin(WIDTH, HEIGHT / s->aspect);
    w.left = 0.5 * (WIDTH - w.scale);
    w.panel = ceil(s->aspect * w.scale) + 8.0;
    w.width = WIDTH;
    w.height = w.panel + ROW + (rows < TALL ? TALL : rows) + ROW;
    bool ok = open_window(&w);
    if (ok)
        episode(&w, false);
    for (int k = 0; w.open && !sample_interrupted && (frames == 0 || k < frames); k++) {
        const Uint32 next = SDL_GetTicks() + 16;
        SDL_Event e;
        draw_page(&w);
        do {
            const Uint32 now = SDL_GetTicks();
            if (!SDL_WaitEventTimeout(&e, next > now ? (int)(next - now) : 0))
                break;
            handle(&w, &e);
        } while (w.open);
        if (w.open)
            advance(&w);
    }
    if (ok && frames > 0)
        ok = cairo_surface_write_to_png(w.page, screenshot) == CAIRO_STATUS_SUCCESS;
    if (ok && w.stale)
        episode(&w, false);
    cairo_surface_destroy(w.page);
    SDL_Quit();
    return ok && tk_session_status(s->session) == TK_OK && (t->n == 0 || isfinite(t->losses[t->done]));
}

#else

bool window_run(sample *s, sample_state *t, int frames, const char *screenshot)
{
    (void)t, (void)frames, (void)screenshot;
    fprintf(stderr, "%s: --window: this program was built without SDL2\n", s->name);
    return false;
}

#endif
