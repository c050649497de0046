#include "meet.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- counts ---- */

enum { WAIT_PRIVATE = 128, WAKE_PRIVATE = 129 }; /* as in linux/futex.h */

void meet_count(atomic_int *n)
{
    atomic_fetch_add(n, 1);
    syscall(SYS_futex, n, WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void meet_await(atomic_int *n, int value)
{
    for (int now; (now = atomic_load(n)) < value;)
        syscall(SYS_futex, n, WAIT_PRIVATE, now, NULL, NULL, 0);
}

/* ---- what the system says of threads ---- */

pid_t meet_self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* A file of the thread's in /proc; false if the thread is gone. */
static bool read_file(const char *thread, const char *name, char text[static 4096])
{
    char path[512];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, name);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, 4095, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    return n > 0;
}

/* How often threads went to sleep or were sent off their processor; what differs if other threads are there. */
typedef struct look {
    int awake;
    unsigned long long switches;
} look;

static unsigned long long number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void look_at(look *l, const char *thread)
{
    char text[4096];
    if (!read_file(thread, "status", text))
        return;
    const char *state = strstr(text, "\nState:\t");
    if (!state || state[8] == 'Z' || state[8] == 'X')
        return;
    l->awake += state[8] != 'S';
    l->switches += number_behind(text, "\nvoluntary_ctxt_switches:") +
                   number_behind(text, "\nnonvoluntary_ctxt_switches:");
    l->switches += strtoull(thread, NULL, 10) << 32;
}

static look look_at_others(void)
{
    look l = {0};
    const pid_t self = meet_self();
    DIR *d = opendir("/proc/self/task");
    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && atol(e->d_name) != self)
            look_at(&l, e->d_name);
    if (d)
        closedir(d);
    return l;
}

int meet_threads(bool all)
{
    enum { EXITING = 4 }; /* PF_EXITING of the kernel: whoever has joined the thread may still find it here */
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (const struct dirent *e; d && (e = readdir(d));) {
        char text[4096], state;
        unsigned flags = EXITING;
        if (e->d_name[0] != '.' && read_file(e->d_name, "stat", text) && strrchr(text, ')'))
            sscanf(strrchr(text, ')'), ") %c %*d %*d %*d %*d %*d %u", &state, &flags);
        n += all ? e->d_name[0] != '.' : !(flags & EXITING);
    }
    if (d)
        closedir(d);
    return n;
}

/* ---- waits ---- */

static void nap(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double others_seconds(void)
{
    return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* A nap, so that others run; ends the program if they have had a long time of processors since then. */
static void let_run(double before, const char *what)
{
    enum { MOST_SECONDS = 20 };
    if (others_seconds() - before > MOST_SECONDS) {
        fprintf(stderr, "%s, in %d s of processor time\n", what, MOST_SECONDS);
        abort();
    }
    nap(50);
}

/* Two looks with the same switches: whoever slept in both has not run between them, so all slept at one time. */
void meet_rest(void)
{
    const double before = others_seconds();
    look last = look_at_others();
    for (;;) {
        const look now = look_at_others();
        if (now.awake + last.awake == 0 && now.switches == last.switches)
            return;
        last = now;
        let_run(before, "the other threads do not come to rest");
    }
}

void meet_sleep(pid_t thread)
{
    const double before = others_seconds();
    char name[32];
    snprintf(name, sizeof name, "%d", (int)thread);
    for (look last = {.awake = 1};;) {
        look now = {0};
        look_at(&now, name);
        if (now.awake + last.awake == 0 && now.switches == last.switches)
            return;
        last = now;
        let_run(before, "a thread that waits does not sleep");
    }
}

bool meet_stillness(void)
{
    for (int k = 0; k < 100; k++) {
        const look before = look_at_others();
        nap(20000);
        const look now = look_at_others();
        if (now.awake + before.awake == 0 && now.switches == before.switches)
            return true;
    }
    return false;
}

/* ---- limits ---- */

void meet_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_CPU, &r) == 0 && r.rlim_cur > 60) {
        r.rlim_cur = 60;
        setrlimit(RLIMIT_CPU, &r);
    }
}
