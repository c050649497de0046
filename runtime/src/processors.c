/* How many threads a session has by default: the processors that this process may use, or what the environment says. */
#include "rt.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- what control groups grant: in a container, often less than there is ---- */

#ifndef O_CLOEXEC /* Windows, where processes inherit nothing by themselves */
#define O_CLOEXEC 0
#endif

/* A small file as text; false if there is none. By hand: stdio would allocate past the session's hook. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t n = 0;
    for (ssize_t got; n + 1 < size && (got = read(file, text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    close(file);
    text[n] = '\0';
    return n > 0;
}

/* Whole processors that do for so much time out of a period; INT_MAX: no bound. */
static int whole(long long quota, long long period)
{
    if (quota <= 0 || period <= 0 || quota / period >= INT_MAX)
        return INT_MAX;
    return (int)(quota / period + (quota % period != 0));
}

enum { PATH = 1024 };

static int quota_of(const char *folder)
{
    char path[PATH + 32], text[64];
    long long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder); /* "max 100000" has no bound */
    if (read_text(path, text, sizeof text))
        return sscanf(text, "%lld %lld", &quota, &period) == 2 ? whole(quota, period) : INT_MAX;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder); /* version 1; -1: no bound */
    if (!read_text(path, text, sizeof text) || sscanf(text, "%lld", &quota) != 1)
        return INT_MAX;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_text(path, text, sizeof text) && sscanf(text, "%lld", &period) == 1 ? whole(quota, period) : INT_MAX;
}

/* The least of a group and those around it. Inside a container the group may have a name that only the outside knows;
 * then its folder is missing, and the one on top is the container's. */
static int quota_up(const char *root, const char *group)
{
    char folder[PATH];
    const size_t top = strlen(root);
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder)
        return INT_MAX;
    int least = INT_MAX;
    for (;;) {
        const int here = quota_of(folder);
        least = here < least ? here : least;
        char *slash = strrchr(folder + top, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Whether "cpu" is among names with commas. */
static bool has_cpu(const char *names, size_t length)
{
    for (const char *p = names; p < names + length; p += strcspn(p, ",:") + 1)
        if (strncmp(p, "cpu", 3) == 0 && (p[3] == ',' || p[3] == ':'))
            return true;
    return false;
}

int tk_rt_quota(const char *groups, const char *root)
{
    char text[4096], below[PATH];
    if (!read_text(groups, text, sizeof text))
        return INT_MAX;
    int least = INT_MAX;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        const char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL; /* "4:cpu,cpuacct:/a" */
        if (!group)
            continue;
        const bool second = group == names + 1; /* "0::/a": version 2 */
        if (!second && !has_cpu(names + 1, (size_t)(group - names)))
            continue;
        snprintf(below, sizeof below, "%.900s%s", root, second ? "" : "/cpu");
        const int here = quota_up(below, strcmp(group + 1, "/") == 0 ? "" : group + 1);
        least = here < least ? here : least;
    }
    return least;
}

/* ---- processors ---- */

static int quota;

static void find_quota(void)
{
    quota = tk_rt_quota("/proc/self/cgroup", "/sys/fs/cgroup");
}

/* Those that the calling thread may run on. */
static int allowed(void)
{
#ifdef __linux__
    cpu_set_t set[16]; /* 16384 */
    const int here = sched_getaffinity(0, sizeof set, set) == 0 ? CPU_COUNT_S(sizeof set, set) : 0;
    if (here > 0)
        return here;
#endif
#ifdef _WIN32
    const int n = pthread_num_processors_np(); /* of winpthreads: those that the process may run on */
#else
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return n < 1 ? 1 : n > RT_MAX_THREADS ? RT_MAX_THREADS : (int)n;
}

int tk_rt_processors(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_quota);
    const int n = allowed();
    return quota < n ? quota : n;
}

int tk_rt_all_threads(const tk_session_options *opt)
{
    int n = tk_rt_processors();
    const char *asked = getenv("OMP_NUM_THREADS"); /* "4", or for nested regions "4,2" */
    if (asked && !opt->parallel) {                 /* what the host's pool has is not known */
        char *end;
        const long number = strtol(asked, &end, 10);
        if (end != asked && number > 0)
            n = number > RT_MAX_THREADS ? RT_MAX_THREADS : (int)number;
    }
    return n > RT_MAX_THREADS ? RT_MAX_THREADS : n;
}
