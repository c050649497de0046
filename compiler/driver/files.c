#include "driver/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool report(diag_sink *d, diag_code code, const char *path)
{
    return diag(d, span_at((src_loc){0, 0, 0}), code, path, strerror(errno));
}

bool file_read(strbuf *out, const char *path, diag_sink *d)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return report(d, DIAG_FILE_READ, path);
    char buf[65536];
    size_t n;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        sb_addn(out, buf, n);
    const bool ok = !ferror(f) || report(d, DIAG_FILE_READ, path);
    fclose(f);
    return ok;
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

const char *outputs_add(outputs *o, const char *target)
{
    /* A rename would replace a link or a device, not what it stands for. */
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
    char *real = realpath(target, NULL);
    const char *name = arena_strdup(o->mem, real ? real : target);
    free(real);
    char *temp = arena_printf(o->mem, "%s.XXXXXX", name);
    const int fd = mkstemp(temp);
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

bool outputs_commit(outputs *o)
{
    while (o->files.len) {
        const output *f = &vec_last(&o->files);
        if (f->temp != f->target && rename(f->temp, f->target) != 0)
            return report(o->diag, DIAG_FILE_WRITE, f->target);
        (void)vec_pop(&o->files);
    }
    return true;
}

void outputs_discard(outputs *o)
{
    for (size_t i = 0; i < o->files.len; i++)
        if (o->files.at[i].temp != o->files.at[i].target)
            unlink(o->files.at[i].temp);
    vec_free(&o->files);
}
