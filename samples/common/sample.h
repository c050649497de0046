/* Options, optimiser, pictures, films and the window of the simulators. README.md describes their use. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <popt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tkc/tkc.h>

/** How parameters p follow their gradient g, with the rate r. */
typedef enum sample_method {
    DESCENT,    /**< p -= r g */
    NORMALISED, /**< p -= r g / |g|, of all parameters together */
    ADAM        /**< Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015; beta .9 and .999 */
} sample_method;

/** A number that a slider of the window changes. A table of them ends with name NULL. */
typedef struct sample_knob {
    const char *name;
    double *value, low, high;
} sample_knob;

typedef struct sample sample;
struct sample {
    const char *name;  /**< of the program and its files */
    const char *about; /**< for --help: what is optimised */
    const char *loss;  /**< what the loss is, for the axis of its curve */
    /* Defaults, which the options replace. */
    int size;                         /**< what it counts is the sample's own: points, cells along a side, ... */
    const char *size_means;           /**< for --help; NULL: it has one size only */
    int least_size;                   /**< 0: 1 */
    int steps;                        /**< of time; 0: it knows none, and has one frame, 0 */
    int iterations, seed, threads;    /**< threads 0: all processors */
    double rate, budget;              /**< budget: of the tape, in megabytes; 0: none */
    const struct poptOption *options; /**< its own; NULL: none */
    /* What is optimised: fields of s->session with gradients, by name, then NULL. NULL: nothing, it runs once. */
    const char *const *parameters;
    sample_method method;
    double clip; /**< each number of a gradient is kept within this; 0: as it is */
    /* How it looks. */
    double aspect;            /**< height of a frame over its width; 0: 1 */
    int moments;              /**< frames in a row of the picture, from the first step to the last; 0: 4 */
    int film_frames;          /**< frames of a film; 0: 100 */
    const sample_knob *knobs; /**< NULL: none */
    double *target;           /**< two numbers, x and y in a frame, that the mouse drags; NULL: none */
    /** Makes the module with its first data in s->session. False on failure; only the session's own lacks a message. */
    bool (*create)(sample *s);
    /** One episode with its tape. Returns the loss; gradients are in the fields, failures in s->session. */
    double (*run)(sample *s);
    /** Draws a step of the last episode, x from 0 to 1, y upwards to s->aspect; s->show_gradient adds derivatives. */
    void (*draw)(sample *s, cairo_t *c, int step); /**< NULL: no pictures */
    double (*sum)(double x);                       /**< over all processes with a part of the parameters; NULL: one */
    void (*destroy)(sample *s);                    /**< also after create failed */
    /* For the sample to read. */
    tk_session *session;
    int iteration; /**< number of the episode that runs, from 0 */
    bool show_gradient;
    /* What the picture plots: losses; set by run, if nothing is optimised. */
    double *curve;
    int curve_length;
};

/** Runs the program. Exit status: 0; 1 on failure or a loss above --expect; 2 for wrong options; 130 after Ctrl-C. */
int sample_main(sample *s, int argc, char **argv);
bool sample_fails(const sample *s, const char *what, const char *why); /**< "NAME: what: why" on stderr; false */

/* ---- draw.c: for the samples' draw ---- */
typedef struct colour {
    double r, g, b;
} colour;
extern const colour INK, GREY, RED, BLUE, GREEN, GOLD;
void draw_colour(cairo_t *c, colour k, double opacity);
colour draw_ramp(double t); /**< of t from 0 to 1, dark to bright, of growing lightness */
void draw_disc(cairo_t *c, double x, double y, double radius);
void draw_line(cairo_t *c, double x0, double y0, double x1, double y1, double width);
void draw_arrow(cairo_t *c, double x0, double y0, double x1, double y1, double width);
void draw_target(cairo_t *c, const double at[2]); /**< a ring with a point in its middle */
/** An image of w by h pixels over the frame, of its first row at the top: rgb holds 3 numbers from 0 to 1 a pixel. */
void draw_image(cairo_t *c, int w, int h, const float *rgb, double aspect);
void draw_text(cairo_t *c, double x, double y, double size, const char *text); /**< size: part of a frame's width */
/** Uniform numbers from 0 to 1 and normal ones, the same on every machine: splitmix64 (Steele, Lea, Flood, 2014). */
double random_uniform(uint64_t *state);
double random_normal(uint64_t *state);

/* ---- what these files have for each other. A bool that is false: after a message, or where the session has failed. */
extern volatile sig_atomic_t sample_interrupted; /* by Ctrl-C; a second one ends the program */
enum { MOST_ITERATIONS = 1000000 };
typedef struct sample_state {
    size_t n;                       /* numbers of all parameters */
    double *start;                  /* they in the beginning; behind them in memory: */
    double *p, *g, *m, *v, *losses; /* they, their gradients, moments of Adam; losses of 0 to `done` iterations */
    int done, episodes;             /* iterations, episodes */
    double seconds;                 /* of these */
} sample_state;

bool state_create(sample_state *t, sample *s);  /**< finds the parameters, and reads them */
bool state_episode(sample_state *t, sample *s); /**< runs one, and notes its loss */
bool state_step(sample_state *t, sample *s);    /**< of the optimiser, by the gradients that the episode left */
void state_restart(sample_state *t, sample *s); /**< from the parameters of the beginning, with 0 iterations */
bool state_save(const sample_state *t, const sample *s, const char *path);
bool state_load(sample_state *t, sample *s, const char *path); /**< if of this size, number of steps, and method */
/** --check: the derivative along a direction, by the tape and by central differences. Prints both with the loss. */
bool state_check(sample_state *t, sample *s);
void frame_paint(sample *s, cairo_t *c, double width, int step); /**< upper left corner at 0, 0; y grows downwards */
/** Text at x, y, `before` of it (0 to 1) to the left, narrower where it is longer than `most`. */
void text_at(cairo_t *c, double x, double y, double before, double most, const char *text);
/** The curve of n values, of this size. Values of more than 1e300, and NaNs, are left out. */
void plot(cairo_t *c, double width, double height, const double *values, int n, const char *title);
/** Adds a row of frames to a picture; c NULL: a new picture. `label` formats the number of iterations. */
cairo_t *picture_row(cairo_t *c, int rows, sample *s, const char *label);
/** Adds s->curve below the rows, writes the picture and frees c. */
bool picture_finish(cairo_t *c, const sample *s, const char *path);
bool film_write(sample *s, const char *path); /**< of the last episode, by an installed ffmpeg: .gif, .mp4, .webm */
/** Optimises and plays in a window until it is closed, or frames were shown (0: no end); the last is the screenshot. */
#ifdef HAVE_SDL
bool window_run(sample *s, sample_state *t, int frames, const char *screenshot);
#else
#define window_run(s, t, frames, screenshot) sample_fails(s, "--window", "this program was built without SDL2")
#endif
#endif
