#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/cleanup.h"

static bool report(diag_sink *d, diag_code code, const char *path)
{
    return diag(d, span_at((src_loc){0, 0, 0}), code, path, strerror(errno));
}

bool file_read(strbuf *out, const char *path, size_t most, diag_sink *d)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return report(d, DIAG_FILE_READ, path);
    char buf[65536];
    size_t n;
    while (out->len <= most && (n = fread(buf, 1, sizeof buf, f)) > 0)
        sb_addn(out, buf, n);
    const bool ok = !ferror(f) || report(d, DIAG_FILE_READ, path);
    fclose(f);
    return ok;
}

bool stdout_write(const strbuf *text, diag_sink *d)
{
    return (fwrite(sb_str(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0 && !ferror(stdout)) ||
           report(d, DIAG_FILE_WRITE, "standard output");
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_dir(arena *mem, const char *path)
{
    return arena_strndup(mem, path, (size_t)(path_base(path) - path));
}

char *path_with_extension(arena *mem, const char *path, const char *extension)
{
    const char *base = path_base(path), *dot = strrchr(base, '.');
    const size_t n = dot && dot != base ? (size_t)(dot - path) : strlen(path);
    return arena_printf(mem, "%.*s%s", (int)n, path, extension);
}

bool path_is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* Permissions of a new file, or those the target has. */
static mode_t mode_for(const char *target)
{
    struct stat st;
    if (stat(target, &st) == 0)
        return st.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* What a path that may not exist yet stands for: links are followed, one that leads nowhere to what it names. NULL
 * with errno where they lead around. */
static const char *resolved(arena *mem, const char *path)
{
    enum { LINKS = 40 };
    char link[PATH_MAX];
    ssize_t n;
    for (int i = 0; (n = readlink(path, link, sizeof link - 1)) >= 0; i++) {
        if (i == LINKS) {
            errno = ELOOP;
            return NULL;
        }
        link[n] = '\0';
        path = link[0] == '/' ? arena_strdup(mem, link) : arena_printf(mem, "%s%s", path_dir(mem, path), link);
    }
    const char *dir = path_dir(mem, path);
    char *real = realpath(*dir ? dir : ".", NULL);
    const char *name = real ? arena_printf(mem, "%s/%s", real, path_base(path)) : path;
    free(real);
    return name;
}

static bool is_same(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* A file that this run reads, or writes something else to. Names may be links, and not only symbolic ones. */
static bool is_taken(const outputs *o, const char *target, const char *name)
{
    struct stat st;
    const bool exists = stat(name, &st) == 0;
    for (size_t i = 0; i < o->files.len; i++)
        if (!strcmp(o->files.at[i].target, name) || (exists && is_same(&st, o->files.at[i].target)))
            return !diag(o->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_SAME, target, "another output");
    for (size_t i = 0; i < o->inputs.len && exists; i++)
        if (is_same(&st, o->inputs.at[i]))
            return !diag(o->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_SAME, target, "a source");
    return false;
}

void outputs_spare(outputs *o, const char *input)
{
    vec_push(&o->inputs, input);
}

const char *outputs_add(outputs *o, const char *target)
{
    /* A rename would replace a device, not what it stands for. */
    if (!path_is_regular(target)) {
        struct stat st;
        if (stat(target, &st) == 0 && S_ISDIR(st.st_mode)) {
            errno = EISDIR;
            report(o->diag, DIAG_FILE_WRITE, target);
            return NULL;
        }
        vec_push(&o->files, ((output){target, target}));
        return target;
    }
    const char *name = resolved(o->mem, target);
    if (!name) {
        report(o->diag, DIAG_FILE_WRITE, target);
        return NULL;
    }
    if (is_taken(o, target, name))
        return NULL;
    char *temp = arena_printf(o->mem, "%s.XXXXXX", name);
    const int fd = cleanup_file(temp);
    if (fd < 0) {
        report(o->diag, DIAG_FILE_WRITE, target);
        return NULL;
    }
    vec_push(&o->files, ((output){name, temp}));
    const bool ok = fchmod(fd, mode_for(name)) == 0;
    if (close(fd) != 0 || !ok) {
        report(o->diag, DIAG_FILE_WRITE, target);
        return NULL;
    }
    return temp;
}

/* Generated C begins with a line that says so: anything else under that name is somebody's work, `tkc osc.tk` beside a
 * hand-written osc.c. */
static bool may_replace(const char *target)
{
    static const char mark[] = "Generated by tkc";
    char head[sizeof mark + 8] = {0};
    FILE *f = path_is_regular(target) ? fopen(target, "rb") : NULL;
    if (!f)
        return true;
    const size_t n = fread(head, 1, sizeof head - 1, f);
    fclose(f);
    return n == 0 || strstr(head, mark);
}

bool outputs_add_generated(outputs *o, const char *target, const strbuf *text)
{
    return may_replace(target) ? outputs_add_text(o, target, text)
                               : diag(o->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_KEPT, target);
}

bool outputs_add_text(outputs *o, const char *target, const strbuf *text)
{
    const char *temp = outputs_add(o, target);
    if (!temp)
        return false;
    FILE *f = fopen(temp, "wb");
    if (!f)
        return report(o->diag, DIAG_FILE_WRITE, target);
    const bool written = fwrite(sb_str(text), 1, text->len, f) == text->len;
    if (fclose(f) != 0 || !written)
        return report(o->diag, DIAG_FILE_WRITE, target);
    return true;
}

/* What a name stands for is complete even where the machine stops. */
static bool sync_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && fsync(fd) == 0;
    return (fd < 0 || close(fd) == 0) && ok;
}

bool outputs_commit(outputs *o)
{
    for (size_t i = 0; i < o->files.len; i++) {
        const output *f = &o->files.at[i];
        if (f->temp != f->target && !sync_file(f->temp))
            return report(o->diag, DIAG_FILE_WRITE, f->target);
    }
    while (o->files.len) {
        const output *f = &vec_last(&o->files);
        if (f->temp != f->target) {
            if (rename(f->temp, f->target) != 0)
                return report(o->diag, DIAG_FILE_WRITE, f->target);
            cleanup_forget(f->temp);
        }
        (void)vec_pop(&o->files);
    }
    return true;
}

void outputs_discard(outputs *o)
{
    for (size_t i = 0; i < o->files.len; i++)
        if (o->files.at[i].temp != o->files.at[i].target) {
            unlink(o->files.at[i].temp);
            cleanup_forget(o->files.at[i].temp);
        }
    vec_free(&o->files);
    vec_free(&o->inputs);
}
