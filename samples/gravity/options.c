#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: gravity [OPTION...]\n"
    "Bodies under their gravity; the forces are the derivative of the potential energy.\n"
    "\n"
    "  -i, --input=FILE       initial state: lines x,y,vx,vy (initial.csv)\n"
    "  -n, --bodies=N         the first N bodies of the input; without --input, N bodies at random\n"
    "  -s, --steps=N          steps to take (3000)\n"
    "  -d, --dt=T             time step (0.00025)\n"
    "      --seed=N           seed of the random bodies (1)\n"
    "  -t, --threads=N        threads (all processors)\n"
    "  -e, --every=N          steps between frames and rows (steps / 160)\n"
    "  -o, --trajectory=FILE  positions and velocities (trajectory.csv)\n"
    "  -g, --gif=FILE         animation (gravity.gif)\n"
    "  -p, --png=FILE         picture of the whole run (gravity.png); an empty name writes no file\n"
    "  -c, --check            compare the forces with a formula written by hand\n"
    "  -h, --help             this text\n";

static bool parse_long(const char *text, long lo, long hi, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    return !errno && end != text && *end == '\0' && *out >= lo && *out <= hi;
}

static bool parse_int(const char *text, int lo, int *out)
{
    long value;
    const bool ok = parse_long(text, lo, INT_MAX / 2, &value);
    *out = (int)value;
    return ok;
}

static bool parse_time(const char *text, float *out)
{
    char *end;
    *out = strtof(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out > 0.0f;
}

int options_parse(options *o, int argc, char **argv)
{
    enum { SEED = 256 };
    static const struct option known[] = {
        {"input", required_argument, NULL, 'i'}, {"bodies", required_argument, NULL, 'n'},     {"steps", required_argument, NULL, 's'},
        {"dt", required_argument, NULL, 'd'},    {"seed", required_argument, NULL, SEED},      {"threads", required_argument, NULL, 't'},
        {"every", required_argument, NULL, 'e'}, {"trajectory", required_argument, NULL, 'o'}, {"gif", required_argument, NULL, 'g'},
        {"png", required_argument, NULL, 'p'},   {"check", no_argument, NULL, 'c'},            {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *o = (options){.trajectory = "trajectory.csv", .gif = "gravity.gif", .png = "gravity.png", .steps = 3000, .dt = 2.5e-4f, .seed = 1};
    for (int c; (c = getopt_long(argc, argv, "i:n:s:d:t:e:o:g:p:ch", known, NULL)) != -1;) {
        bool ok = true;
        long seed = 0;
        switch (c) {
        case 'i': o->input = optarg; break;
        case 'n': ok = parse_int(optarg, 1, &o->n); break;
        case 's': ok = parse_int(optarg, 0, &o->steps); break;
        case 'd': ok = parse_time(optarg, &o->dt); break;
        case SEED: ok = parse_long(optarg, 0, LONG_MAX, &seed), o->seed = (unsigned long)seed; break;
        case 't': ok = parse_int(optarg, 1, &o->threads); break;
        case 'e': ok = parse_int(optarg, 1, &o->every); break;
        case 'o': o->trajectory = optarg; break;
        case 'g': o->gif = optarg; break;
        case 'p': o->png = optarg; break;
        case 'c': o->check = true; break;
        case 'h': fputs(help, stdout); return 0;
        default: return 2;
        }
        if (!ok) {
            fprintf(stderr, "gravity: '%s' is not a value for this option ('gravity --help')\n", optarg);
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "gravity: what is '%s'? ('gravity --help')\n", argv[optind]);
        return 2;
    }
    if (!o->input && o->n == 0)
        o->input = "initial.csv";
    if (o->every == 0)
        o->every = o->steps < 160 ? 1 : o->steps / 160;
    return -1;
}
