/* What launches take: for each kernel and pass a row of a table, and each launch as an event of a trace, in the format
 * that Perfetto and Chrome read ("Trace Event Format", complete events and counters).
 *
 * Memory is what the session and its modules hold while the kernel runs: fields, tapes, records, saved values, scratch.
 */
#include "rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct profile_row {
    const tk_kernel *kernel;
    tk_kernel_fn fn;
    char *name; /* with its module's; a copy: the module may be gone, and its code unloaded, when it is printed */
    const char *pass;
    uint64_t launches;
    int64_t ns, most_ns;
    size_t most_held;
} profile_row;

typedef struct event {
    uint32_t at; /* its row */
    int64_t began, ended;
    size_t held;
} event;

struct rt_profile {
    bool on;
    int64_t began, lasted; /* lasted: in spans that are over */
    profile_row *rows;
    size_t nrows, rows_room;
    event *events;
    size_t nevents, events_room;
    uint64_t lost;    /* launches that there was no memory for */
    const char *path; /* of the environment: written when the session ends */
};

static const char *pass_of(const tk_kernel *k, tk_kernel_fn fn)
{
    return fn == k->run ? "launch" : fn == k->grad ? "grad" : fn == k->jvp ? "jvp" : fn == k->hvp ? "hvp" : "other";
}

static bool grow(tk_session *s, void **at, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    const size_t more = *room ? 2 * *room : 64;
    void *p = more > SIZE_MAX / 2 / size ? NULL : tk_rt_uncounted_alloc(s, more * size, false);
    if (!p)
        return false;
    if (n > 0)
        memcpy(p, *at, n * size);
    tk_rt_uncounted_free(s, *at);
    *at = p;
    *room = more;
    return true;
}

static char *full_name(const tk_module *m, const tk_kernel *k)
{
    const size_t room = strlen(m->desc->name) + strlen(k->name) + 2;
    char *name = tk_rt_uncounted_alloc(m->session, room, false);
    if (name)
        snprintf(name, room, "%s.%s", m->desc->name, k->name);
    return name;
}

static bool is_of(const profile_row *r, const tk_module *m, const tk_kernel *k, tk_kernel_fn fn)
{
    const size_t n = strlen(m->desc->name);
    return r->kernel == k && r->fn == fn && strncmp(r->name, m->desc->name, n) == 0 && r->name[n] == '.' &&
           strcmp(r->name + n + 1, k->name) == 0;
}

static profile_row *row_of(struct rt_profile *p, const tk_module *m, const tk_kernel *k, tk_kernel_fn fn)
{
    for (size_t i = 0; i < p->nrows; i++)
        if (is_of(&p->rows[i], m, k, fn))
            return &p->rows[i];
    char *name = full_name(m, k);
    if (!name || !grow(m->session, (void **)&p->rows, p->nrows, &p->rows_room, sizeof *p->rows)) {
        tk_rt_uncounted_free(m->session, name);
        return NULL;
    }
    p->rows[p->nrows] = (profile_row){.kernel = k, .fn = fn, .name = name, .pass = pass_of(k, fn)};
    return &p->rows[p->nrows++];
}

int64_t tk_rt_profile_enter(tk_session *s)
{
    if (!s->profile || !s->profile->on)
        return 0;
    atomic_store(&s->most_held, atomic_load(&s->held));
    return tk_rt_now();
}

void tk_rt_profile_leave(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, int64_t began)
{
    struct rt_profile *p = m->session->profile;
    if (began == 0)
        return;
    const int64_t ended = tk_rt_now();
    const size_t held = atomic_load(&m->session->most_held);
    profile_row *r = row_of(p, m, k, fn);
    if (!r) {
        p->lost++;
        return;
    }
    r->launches++;
    r->ns += ended - began;
    r->most_ns = ended - began > r->most_ns ? ended - began : r->most_ns;
    r->most_held = held > r->most_held ? held : r->most_held;
    if (grow(m->session, (void **)&p->events, p->nevents, &p->events_room, sizeof *p->events))
        p->events[p->nevents++] = (event){(uint32_t)(r - p->rows), began, ended, held};
    else
        p->lost++;
}

/* ---- the table ---- */

static int by_time(const void *a, const void *b)
{
    const profile_row *x = *(const profile_row *const *)a, *y = *(const profile_row *const *)b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : (x > y) - (x < y);
}

static int64_t lasted(const struct rt_profile *p)
{
    return p->lasted + (p->on ? tk_rt_now() - p->began : 0);
}

static bool print_table(tk_session *s, FILE *f)
{
    const struct rt_profile *p = s->profile;
    const profile_row **sorted = tk_rt_uncounted_alloc(s, (p->nrows + 1) * sizeof *sorted, false);
    if (!sorted)
        return false;
    int64_t all = 0;
    int width = 6;
    for (size_t i = 0; i < p->nrows; i++) {
        const int n = (int)strlen(p->rows[i].name);
        sorted[i] = &p->rows[i];
        all += p->rows[i].ns;
        width = n > width ? n : width;
    }
    qsort(sorted, p->nrows, sizeof *sorted, by_time);
    const double span = (double)lasted(p);
    fprintf(f, "tkc: %.3f s, %.1f %% of it in kernels; up to %d thread%s\n", span / 1e9,
            span > 0 ? 100 * (double)all / span : 0, s->threads, s->threads == 1 ? "" : "s");
    fprintf(f, "%-*s  pass    launches    total ms  share %%     mean us      max us   memory MB\n", width, "kernel");
    for (size_t i = 0; i < p->nrows; i++) {
        const profile_row *r = sorted[i];
        fprintf(f, "%-*s  %-6s %9llu %11.3f %8.1f %11.3f %11.3f %11.3f\n", width, r->name, r->pass,
                (unsigned long long)r->launches, (double)r->ns / 1e6, 100 * (double)r->ns / (double)(all > 0 ? all : 1),
                (double)r->ns / 1e3 / (double)r->launches, (double)r->most_ns / 1e3, (double)r->most_held / 1e6);
    }
    const tk_tape_report *t = &s->report;
    if (t->budget > 0)
        fprintf(f,
                "last tape: %zu launches, %zu again (%zu planned); %zu slots, %zu images, %.3f of %.3f MB; closed in "
                "%.3f s (%.3f s predicted)\n",
                t->launches, t->again, t->planned, t->slots, t->images, (double)t->bytes / 1e6, (double)t->budget / 1e6,
                t->seconds, t->predicted);
    if (p->lost > 0)
        fprintf(f, "%llu launches are not listed: out of memory\n", (unsigned long long)p->lost);
    tk_rt_uncounted_free(s, sorted);
    return fflush(f) == 0 && !ferror(f);
}

/* ---- the trace ---- */

static bool print_trace(tk_session *s, FILE *f)
{
    const struct rt_profile *p = s->profile;
    const int process = (int)getpid();
    fprintf(f,
            "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
            "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": 1, \"args\": {\"name\": \"tkc\"}}",
            process);
    for (size_t i = 0; i < p->nevents; i++) {
        const event *e = &p->events[i];
        const profile_row *r = &p->rows[e->at];
        const double from = (double)(e->began - p->events[0].began) / 1e3;
        fprintf(f,
                ",\n{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": 1, \"ts\": %.3f, "
                "\"dur\": %.3f, \"args\": {\"pass\": \"%s\"}}"
                ",\n{\"ph\": \"C\", \"name\": \"memory\", \"pid\": %d, \"ts\": %.3f, \"args\": {\"bytes\": %zu}}",
                r->name, r->pass, process, from, (double)(e->ended - e->began) / 1e3, r->pass, process, from, e->held);
    }
    fprintf(f, "\n]}\n");
    return fflush(f) == 0 && !ferror(f);
}

static tk_status write_to(tk_session *s, const char *path, bool (*print)(tk_session *, FILE *))
{
    if (!path)
        return TK_OK;
    const bool console = strcmp(path, "-") == 0;
    FILE *f = console ? stderr : fopen(path, "w");
    bool ok = f && print(s, f);
    const int error = errno;
    if (f && !console)
        ok = fclose(f) == 0 && ok;
    return ok ? TK_OK : tk_fail(s, TK_BAD_ARGUMENT, "the profile cannot be written to '%s': %s", path, strerror(error));
}

/* ---- sessions ---- */

tk_status tk_session_profile(tk_session *s, bool on)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_profile: the session is NULL");
    RT_ENTER(s, "tk_session_profile", TK_BAD_STATE);
    const tk_status st = tk_rt_check_idle(s, "profiling");
    if (st != TK_OK)
        return st;
    if (!s->profile && on) {
        s->profile = tk_rt_uncounted_alloc(s, sizeof *s->profile, true);
        if (!s->profile)
            return tk_fail(s, TK_NO_MEMORY, "out of memory for a profile");
    }
    struct rt_profile *p = s->profile;
    if (p && p->on != on) {
        const int64_t now = tk_rt_now();
        if (on)
            p->began = now;
        else
            p->lasted += now - p->began;
        p->on = on;
    }
    return TK_OK;
}

tk_status tk_session_profile_write(tk_session *s, const char *table, const char *trace)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_profile_write: the session is NULL");
    RT_ENTER(s, "tk_session_profile_write", TK_BAD_STATE);
    tk_status st = tk_rt_check_idle(s, "writing a profile");
    if (st == TK_OK && !s->profile)
        st = tk_fail(s, TK_BAD_STATE, "there is no profile to write: tk_session_profile begins one");
    if (st == TK_OK)
        st = write_to(s, table, print_table);
    return st == TK_OK ? write_to(s, trace, print_trace) : st;
}

/* Whoever starts a program with the rights of somebody else does not name the files that it writes. */
static const char *from_environment(const char *name)
{
#ifdef __linux__
    return secure_getenv(name);
#else
    return getenv(name);
#endif
}

void tk_rt_profile_begin(tk_session *s)
{
    const char *asked = from_environment("TKC_PROFILE");
    if (asked && *asked && strcmp(asked, "0") != 0 && tk_session_profile(s, true) == TK_OK)
        s->profile->path = asked;
}

/* Files of further sessions are numbered. */
static void write_asked(tk_session *s, const char *asked)
{
    static atomic_int sessions;
    const int number = atomic_fetch_add(&sessions, 1) + 1;
    (void)print_table(s, stderr);
    if (strcmp(asked, "1") != 0) {
        const char *dot = strrchr(asked, '.'), *slash = strrchr(asked, '/');
        const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - asked) : strlen(asked);
        const size_t room = strlen(asked) + 16;
        char suffix[16] = "", *path = tk_rt_uncounted_alloc(s, room, false);
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        if (path)
            snprintf(path, room, "%.*s%s%s", (int)stem, asked, suffix, asked + stem);
        FILE *f = path ? fopen(path, "w") : NULL;
        bool ok = f && print_trace(s, f);
        if (f)
            ok = fclose(f) == 0 && ok;
        if (!ok)
            fprintf(stderr, "tkc: the profile cannot be written to '%s': %s\n", path ? path : asked, strerror(errno));
        tk_rt_uncounted_free(s, path);
    }
}

void tk_rt_profile_end(tk_session *s)
{
    struct rt_profile *p = s->profile;
    if (!p)
        return;
    if (p->path)
        write_asked(s, p->path);
    for (size_t i = 0; i < p->nrows; i++)
        tk_rt_uncounted_free(s, p->rows[i].name);
    tk_rt_uncounted_free(s, p->rows);
    tk_rt_uncounted_free(s, p->events);
    tk_rt_uncounted_free(s, p);
}
