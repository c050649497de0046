/* What a run leaves behind if a signal ends it: nothing. */
#ifndef TKC_CLEANUP_H
#define TKC_CLEANUP_H

#include <spawn.h>
#include <sys/types.h>

/* From here on SIGHUP, SIGINT, SIGQUIT and SIGTERM end the run as they would, behind the removal of the temporary files
 * and the end of the C compiler. Where a signal was ignored (nohup) it still is. A file that grows beyond what is
 * allowed (SIGXFSZ) is an error of writing. */
void cleanup_begin(void);

/* Creates a temporary file as mkstemp does, or a folder as mkdtemp does (-1: failed, with errno; else a descriptor, and
 * 0). `path` is to live until it is forgotten. */
int cleanup_file(char *path);
int cleanup_folder(char *path);
/* A file that may or may not come to be. */
void cleanup_name(const char *path);
/* It is gone, or has its name. */
void cleanup_forget(const char *path);

/* posix_spawnp with the signals as they were before cleanup_begin; the child is ended with the run, until it is waited
 * for by cleanup_wait. */
int cleanup_spawn(pid_t *pid, const posix_spawn_file_actions_t *act, char *const *args);
/* waitpid of that child. -1: errno. */
int cleanup_wait(pid_t pid, int *status);

#endif
