#include "files/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/arena.h"

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { NENDING = sizeof ending / sizeof *ending };

/* The last one first: files before the folder that they are in. Changed with the signals blocked. */
typedef struct leftover {
    const char *path;
    bool folder;
    struct leftover *next;
} leftover;

static leftover *leftovers;
static volatile pid_t child; /* 0: none */
static bool limit_was_ignored = true;

extern char **environ;

static void end(int number)
{
    if (child > 0) { /* it would write once more */
        kill(child, SIGTERM);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    for (const leftover *l = leftovers; l; l = l->next)
        (void)(l->folder ? rmdir(l->path) : unlink(l->path));
    raise(number); /* the handler was for once */
}

static void ending_signals(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < NENDING; i++)
        sigaddset(set, ending[i]);
}

void cleanup_begin(void)
{
    struct sigaction act = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND}, before;
    ending_signals(&act.sa_mask);
    for (int i = 0; i < NENDING; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &act, NULL);
    limit_was_ignored = signal(SIGXFSZ, SIG_IGN) == SIG_IGN;
}

static sigset_t block(void)
{
    sigset_t set, before;
    ending_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    return before;
}

/* Keeps errno. */
static void unblock(const sigset_t *before)
{
    const int error = errno;
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static void remember(const char *path, bool folder)
{
    leftover *l = xmalloc(sizeof *l);
    *l = (leftover){path, folder, leftovers};
    leftovers = l;
}

int cleanup_file(char *path)
{
    const sigset_t before = block();
    const int fd = mkstemp(path);
    if (fd >= 0)
        remember(path, false);
    unblock(&before);
    return fd;
}

int cleanup_folder(char *path)
{
    const sigset_t before = block();
    const int status = mkdtemp(path) ? 0 : -1;
    if (status == 0)
        remember(path, true);
    unblock(&before);
    return status;
}

void cleanup_name(const char *path)
{
    const sigset_t before = block();
    remember(path, false);
    unblock(&before);
}

void cleanup_forget(const char *path)
{
    const sigset_t before = block();
    for (leftover **link = &leftovers; *link; link = &(*link)->next)
        if (!strcmp((*link)->path, path)) {
            leftover *gone = *link;
            *link = gone->next;
            free(gone);
            break;
        }
    unblock(&before);
}

int cleanup_spawn(pid_t *pid, const posix_spawn_file_actions_t *act, char *const *args)
{
    posix_spawnattr_t attr;
    int error = posix_spawnattr_init(&attr);
    if (error)
        return error;
    const sigset_t before = block();
    sigset_t limit;
    sigemptyset(&limit);
    if (!limit_was_ignored)
        sigaddset(&limit, SIGXFSZ);
    posix_spawnattr_setsigmask(&attr, &before);
    posix_spawnattr_setsigdefault(&attr, &limit);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawnp(pid, args[0], act, &attr, args, environ);
    if (!error)
        child = *pid;
    unblock(&before);
    posix_spawnattr_destroy(&attr);
    return error;
}

int cleanup_wait(pid_t pid, int *status)
{
    /* Nobody is to signal a number that may be another process's by then. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
        if (errno != EINTR)
            return -1;
    child = 0;
    return waitpid(pid, status, 0) < 0 ? -1 : 0;
}
