#include "driver/cc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/cleanup.h"
#include "files/files.h"

typedef VEC(char *) arguments;

/* A command may bring flags: CC="ccache clang -march=native". */
static void add_words(arena *mem, arguments *args, const char *text)
{
    for (char *copy = arena_strdup(mem, text), *save = NULL, *w = strtok_r(copy, " \t", &save); w;
         w = strtok_r(NULL, " \t", &save))
        vec_push(args, w);
}

static void add(arena *mem, arguments *args, const char *word)
{
    vec_push(args, arena_strdup(mem, word));
}

/* Exit status of a command, -1 with errno if it could not be started. */
static int run_command(arguments *args, bool quiet)
{
    vec_push(args, NULL);
    posix_spawn_file_actions_t act;
    posix_spawn_file_actions_init(&act);
    if (quiet) {
        posix_spawn_file_actions_addopen(&act, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&act, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    pid_t pid;
    const int err = cleanup_spawn(&pid, &act, args->at);
    posix_spawn_file_actions_destroy(&act);
    (void)vec_pop(args);
    if (err) {
        errno = err;
        return -1;
    }
    int status;
    if (cleanup_wait(pid, &status) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* clang on x86-64 with glibc vectorises calls of libm with it; gcc and other targets do not know the flags. Neither
 * without the other: clang 14 and 15 get other numbers where AVX2 is not enabled. */
static bool knows_clang_flags(arena *mem, const char *command)
{
#if defined __GLIBC__ && defined __x86_64__
    if (!__builtin_cpu_supports("avx2"))
        return false;
    arguments args = {0};
    add_words(mem, &args, command);
    add_words(mem, &args, "-Werror " TKC_CLANG_FLAGS " -fsyntax-only -x c /dev/null");
    const bool known = run_command(&args, true) == 0;
    vec_free(&args);
    return known;
#else
    (void)mem, (void)command;
    return false;
#endif
}

/* -I of the system's folder would give a compiler for another machine the headers of this one's C library before its
 * own. */
static char *include_flag(arena *mem, const char *dir)
{
    char *real = realpath(dir, NULL);
    const bool system = real && !strcmp(real, "/usr/include");
    free(real);
    return arena_printf(mem, "%s%s", system ? "-idirafter" : "-I", dir);
}

/* A library that is loaded finds libtkc where the linker did; the loader looks in the system's folders by itself. */
static void add_library(arena *mem, arguments *args, const char *dir)
{
    if (access(arena_printf(mem, "%s/libtkc.so", dir), R_OK) != 0)
        return;
    vec_push(args, arena_printf(mem, "-L%s", dir));
    add(mem, args, "-ltkc");
    char *real = realpath(dir, NULL);
    if (real && strncmp(real, "/usr/lib", 8) != 0 && strncmp(real, "/lib", 4) != 0) {
        const char *const words[] = {"-Xlinker", "-rpath", "-Xlinker", real};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            add(mem, args, words[i]);
    }
    free(real);
}

/* The first line of a file; NULL: it is not there. */
static const char *first_line(arena *mem, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[PATH_MAX];
    const bool read = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    if (!read)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return arena_strdup(mem, line);
}

/* Where tkc/tkc_gen.h and libtkc are: beside this executable when the tree was moved, in the build folder that it was
 * made in (which has a file for that), else where they were installed. */
static void add_runtime_dirs(arena *mem, arguments *args, const options *opt)
{
    const char *include = TKC_INCLUDE_DIR, *lib = TKC_LIB_DIR;
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = '\0';
        const char *up = arena_printf(mem, "%s..", path_dir(mem, exe));
        const char *moved = arena_printf(mem, "%s/include", up);
        if (access(arena_printf(mem, "%s/tkc/tkc_gen.h", moved), R_OK) == 0) {
            include = moved;
            lib = arena_printf(mem, "%s/" TKC_LIB_NAME, up);
        } else {
            const char *built = first_line(mem, arena_printf(mem, "%stkc.include", path_dir(mem, exe)));
            if (built) {
                include = built;
                lib = arena_printf(mem, "%s/runtime", up);
            }
        }
    }
    vec_push(args, include_flag(mem, include));
    if (output_links(opt->kind) && !opt->no_runtime)
        add_library(mem, args, lib);
}

static bool compiler_failed(diag_sink *d, const char *command, int status)
{
    const src_span nowhere = span_at((src_loc){0, 0, 0});
    if (status < 0)
        return diag(d, nowhere, DIAG_CC_START, command, strerror(errno));
    return diag(d, nowhere, DIAG_CC_FAILED, command, status);
}

static bool is_on_path(arena *mem, const char *program)
{
    const char *path = getenv("PATH");
    for (char *copy = arena_strdup(mem, path ? path : "/usr/bin:/bin"), *save = NULL, *dir = strtok_r(copy, ":", &save);
         dir; dir = strtok_r(NULL, ":", &save))
        if (access(arena_printf(mem, "%s/%s", dir, program), X_OK) == 0)
            return true;
    return false;
}

/* --cc, else $TKC_CC, else the first of clang, gcc and cc on the PATH; tkc.compile of Python has the same list. */
static const char *choose_command(arena *mem, const options *opt)
{
    static const char *const known[] = {"clang", "gcc", "cc"};
    const char *command = opt->cc ? opt->cc : getenv("TKC_CC");
    if (command && command[strspn(command, " \t")])
        return command;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_on_path(mem, known[i]))
            return known[i];
    return known[0];
}

bool cc_compile(arena *mem, diag_sink *d, const options *opt, const char *c_path, const char *out_path)
{
    const char *command = choose_command(mem, opt);
    arguments args = {0};
    add_words(mem, &args, command);
    add_words(mem, &args, "-O3 -fPIC " TKC_FLAGS);
    if (knows_clang_flags(mem, command))
        add_words(mem, &args, TKC_CLANG_FLAGS);
    if (opt->line_directives)
        add(mem, &args, "-g");
    for (size_t i = 0; i < opt->include_dirs.len; i++)
        vec_push(&args, arena_printf(mem, "-I%s", opt->include_dirs.at[i]));
    add(mem, &args, output_links(opt->kind) ? "-shared" : "-c");
    add(mem, &args, c_path);
    add(mem, &args, "-o");
    add(mem, &args, out_path);
    add_runtime_dirs(mem, &args, opt);
    if (output_links(opt->kind))
        add(mem, &args, "-lm");
    const int status = run_command(&args, false);
    const bool ok = status == 0 || compiler_failed(d, command, status);
    vec_free(&args);
    return ok;
}
