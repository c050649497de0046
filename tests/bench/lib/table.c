/* The program of a benchmark: times its cases and prints a table, or checks results alone. */
#include "bench.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BUSY = 64 };

typedef enum mode { TABLE, CHECK, ONCE, MEMORY, NAMES } mode;

typedef struct program {
    bench_suite suite; /* changed by options */
    mode mode;
    char **words; /* parts of names of cases; NULL ends the list */
    int processors;
    pid_t busy[MOST_BUSY];
    int busy_now;
} program;

void bench_print_name(FILE *to, const bench_case *c, const bench_size *size)
{
    fprintf(to, "%s %s", c->name, size->name);
    if (c->how)
        fprintf(to, ", %s", c->how);
    if (c->hand)
        fprintf(to, ", %s", c->hand);
}

static bool fails(const bench_case *c, const bench_size *size, const char *why)
{
    bench_print_name(stderr, c, size);
    fprintf(stderr, ": %s\n", why);
    return false;
}

/* ---- busy processes ---- */

/* Starts or ends processes until there are n. */
static void keep_busy(program *p, int n)
{
    while (p->busy_now < n) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile unsigned k = 0;; k++)
                ;
        }
        p->busy[p->busy_now++] = child;
    }
    while (p->busy_now > n)
        if (p->busy[--p->busy_now] > 0) {
            kill(p->busy[p->busy_now], SIGKILL);
            waitpid(p->busy[p->busy_now], NULL, 0);
        }
}

/* ---- cases ---- */

static int sides_of_case(const bench_row *r, bench_side *side)
{
    int n = 0;
    for (; n < BENCH_SIDES && r->of->run[n]; n++)
        side[n] = (bench_side){r->of->run[n], r->data, r->of->prepare};
    return n;
}

/* Runs each side once, and compares their results. */
static bool compare(const bench_suite *b, bench_row *r)
{
    for (int k = 0; k < BENCH_SIDES && r->of->run[k]; k++) {
        if (r->of->prepare)
            r->of->prepare(r->data);
        r->of->run[k](r->data);
    }
    r->difference = r->of->difference ? r->of->difference(r->data) : 0.0;
    if (r->difference <= b->allowed)
        return true;
    char why[64];
    snprintf(why, sizeof why, "the gradients differ by %.1e", r->difference);
    return fails(r->of, r->size, why);
}

static bool run_row(program *p, const bench_case *c, const bench_size *size, int threads)
{
    const bench_suite *b = &p->suite;
    bench_options.threads = threads;
    bench_row r = {.of = c, .size = size, .busy = p->busy_now, .data = c->create(size->n)};
    if (!r.data) {
        fails(c, size, tk_error());
        bench_release();
        return false;
    }
    bool right = compare(b, &r);
    if (p->mode == TABLE) {
        bench_side side[BENCH_SIDES];
        bench_measure(&b->watch, side, (b->sides ? b->sides : sides_of_case)(&r, side), &r.times);
        b->print(&r);
    } else {
        bench_print_name(stdout, c, size);
        puts(right ? ": right" : ": WRONG");
    }
    fflush(stdout);
    if (bench_failure())
        right = fails(c, size, bench_failure());
    bench_release();
    return right;
}

static bool run_case(program *p, const bench_case *c)
{
    const int threads = p->suite.threads ? p->suite.threads : 1;
    if (p->mode == CHECK || p->mode == ONCE)
        return run_row(p, c, c->sizes + (p->mode == ONCE), threads);
    bool right = true;
    for (const bench_size *size = c->sizes + 1; size->name; size++) {
        if (p->mode == MEMORY) {
            right &= p->suite.memory(c, size);
            continue;
        }
        for (int busy = 0; busy <= p->suite.busy; busy++) {
            keep_busy(p, busy);
            right &= run_row(p, c, size, threads);
            if (!p->suite.threads && p->processors > 1)
                right &= run_row(p, c, size, p->processors);
        }
        keep_busy(p, 0);
    }
    return right;
}

/* ---- the program ---- */

static int processors(void)
{
    tk_session *s = tk_session_create(NULL);
    const int n = tk_session_threads(s);
    tk_session_destroy(s);
    return n;
}

static void print_machine(const program *p)
{
    char line[256] = "", load[64] = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f) && strncmp(line, "model name", 10) != 0)
        ;
    if (f)
        fclose(f);
    f = fopen("/proc/loadavg", "r");
    if (f && fgets(load, sizeof load, f))
        load[strcspn(load, "\n")] = 0;
    if (f)
        fclose(f);
    const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    line[strcspn(line, "\n")] = 0;
    printf("%s, %s, %s, %d processors, load %s; medians of %d interleaved runs, ratios taken run by run.\n\n",
           p->suite.about, __VERSION__, colon ? colon + 2 : "unknown processor", p->processors, load,
           p->suite.watch.runs);
}

static bool wanted(const program *p, const char *name)
{
    for (char **w = p->words; *w; w++)
        if (strstr(name, *w))
            return true;
    return !*p->words;
}

static bool number(const char *text, int least, int most, int *to)
{
    char *end;
    const long n = strtol(text, &end, 10);
    *to = (int)n;
    return *text && !*end && n >= least && n <= most;
}

static bool parse(program *p, int argc, char **argv)
{
    static const struct option options[] = {
        {"check", no_argument, NULL, CHECK},    {"once", no_argument, NULL, ONCE},
        {"memory", no_argument, NULL, MEMORY},  {"names", no_argument, NULL, NAMES},
        {"runs", required_argument, NULL, 'r'}, {"threads", required_argument, NULL, 't'},
        {"busy", required_argument, NULL, 'b'}, {0}};
    bool ok = true;
    for (int o; ok && (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'r':
            ok = number(optarg, 1, BENCH_RUNS, &p->suite.watch.runs);
            break;
        case 't':
            ok = number(optarg, 1, 1024, &p->suite.threads);
            break;
        case 'b':
            ok = number(optarg, 0, MOST_BUSY, &p->suite.busy);
            break;
        case '?':
            ok = false;
            break;
        default:
            p->mode = (mode)o;
            break;
        }
    }
    p->words = argv + optind;
    return ok && (p->mode != MEMORY || p->suite.memory);
}

int bench_main(const bench_suite *b, int argc, char **argv)
{
    program p = {.suite = *b, .processors = processors()};
    if (!parse(&p, argc, argv)) {
        fprintf(stderr, "usage: %s [--check | --once | --names%s] [--runs N] [--threads N] [--busy N] [NAME...]\n",
                argv[0], b->memory ? " | --memory" : "");
        return 2;
    }
    if (p.mode == TABLE)
        print_machine(&p);
    if (p.mode == TABLE || p.mode == MEMORY)
        puts(p.mode == TABLE ? b->head : b->memory_head);
    const char *last = NULL;
    bool right = true;
    for (const bench_case *const *list = b->cases; *list; list++)
        for (const bench_case *c = *list; c->name; c++) {
            if (!wanted(&p, c->name))
                continue;
            if (p.mode == NAMES && (!last || strcmp(last, c->name) != 0))
                puts(c->name);
            if (p.mode != NAMES)
                right &= run_case(&p, c);
            last = c->name;
        }
    if (!last)
        fputs("no such case\n", stderr);
    return !right || !last;
}
