/* Images of a tape in a file of its own: values of states, one after the other, each where there is room for it. The
 * file loses its name as soon as it is open, where the system can do that, so that nothing is left of it whatever ends
 * the program. What is read has the size and the sum of what was written, or is an error. */
#include "files.h"

#include "budget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 30 /* bytes of a read or write */ };

/* ---- the file ---- */

static tk_status fail(tk_session *s, const char *what, const char *name, int error)
{
    char text[128];
    snprintf(text, sizeof text, "error %d", error);
    return tk_fail(s, TK_FILE, "%s '%s', which keeps images of a tape: %s", what, name,
                   error == ENOSPC   ? "no space is left"
                   : error == EFBIG  ? "it would be too large"
                   : error == ENOENT ? "there is no such directory"
                   : error == EACCES ? "access is denied"
                   : error == EMFILE ? "too many files are open"
                                     : text);
}

tk_status tk_tape_budget_files(tk_session *s, const char *directory, size_t bytes)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_tape_budget_files: the session is NULL");
    RT_ENTER(s, "tk_tape_budget_files", TK_BAD_STATE);
    const tk_status st = tk_rt_check_no_tape(s, "setting the directory of tapes");
    if (st != TK_OK)
        return st;
    if (directory && !*directory)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_tape_budget_files: the directory has no name");
    rt_files *files = NULL;
    if (directory && bytes > 0) {
        files = tk_rt_alloc(s, sizeof *files + strlen(directory) + 1, false);
        if (!files)
            return tk_fail(s, TK_NO_MEMORY, "out of memory for the name of a directory");
        files->bytes = bytes;
        strcpy(files->directory, directory);
    }
    tk_rt_free(s, s->files);
    s->files = files;
    return TK_OK;
}

struct rt_file *tk_rt_file_open(tk_session *s)
{
    static const char name[] = "/tkc-XXXXXX";
    if (!s->files)
        return NULL;
    struct rt_file *f = tk_rt_alloc(s, sizeof *f + strlen(s->files->directory) + sizeof name, false);
    if (!f) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the file of a tape");
        return NULL;
    }
    *f = (struct rt_file){.bytes = s->files->bytes};
    strcpy(f->name, s->files->directory);
    strcat(f->name, name);
    f->fd = mkstemp(f->name);
    if (f->fd < 0) {
        fail(s, "cannot create the file", f->name, errno);
        tk_rt_free(s, f);
        return NULL;
    }
#ifdef FD_CLOEXEC
    (void)fcntl(f->fd, F_SETFD, FD_CLOEXEC);
#endif
    f->named = unlink(f->name) != 0;
    return f;
}

void tk_rt_file_close(tk_session *s, struct rt_file *f)
{
    if (!f)
        return;
    close(f->fd);
    if (f->named)
        (void)unlink(f->name);
    tk_rt_free(s, f);
}

static bool seek(const struct rt_file *f, size_t at)
{
#ifdef _WIN32
    return _lseeki64(f->fd, (int64_t)at, SEEK_SET) >= 0;
#else
    errno = EFBIG;
    return (off_t)at >= 0 && (size_t)(off_t)at == at && lseek(f->fd, (off_t)at, SEEK_SET) >= 0;
#endif
}

/* How many bytes went; errno says why that is less. */
static size_t transfer(const struct rt_file *f, size_t at, unsigned char *memory, size_t bytes, bool writes)
{
    size_t done = 0;
    if (!seek(f, at))
        return 0;
    while (done < bytes) {
        const size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        errno = 0;
        const int64_t n = (int64_t)(writes ? write(f->fd, memory + done, piece) : read(f->fd, memory + done, piece));
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            break;
    }
    return done;
}

/* ---- room in it ---- */

size_t tk_rt_file_room(const struct rt_file *f)
{
    return f ? f->bytes - f->used : 0;
}

size_t tk_rt_file_most(const struct rt_file *f)
{
    return f ? f->most : 0;
}

/* The first gap that it fits in. */
static void place(struct rt_file *f, rt_filed *d)
{
    rt_filed **link = &f->first;
    size_t at = 0;
    for (; *link && (*link)->at - at < d->bytes; link = &(*link)->next)
        at = (*link)->at + (*link)->bytes;
    d->at = at;
    d->next = *link;
    *link = d;
    f->used += d->bytes;
    f->most = f->used > f->most ? f->used : f->most;
}

static void release(tk_session *s, struct rt_file *f, rt_filed *d)
{
    for (rt_filed **link = &f->first; *link; link = &(*link)->next)
        if (*link == d) {
            *link = d->next;
            f->used -= d->bytes;
            break;
        }
    tk_rt_free(s, d);
}

/* ---- values ---- */

static bool out_of_memory(tk_session *s)
{
    tk_fail(s, TK_NO_MEMORY, "out of memory for an image of a tape that a file keeps");
    return false;
}

/* A copy of the block, with values or without, takes its place. */
static bool replace(tk_session *s, struct rt_state **at, size_t bytes, size_t copied)
{
    struct rt_state *old = *at, *st = tk_rt_alloc(s, bytes, false);
    if (!st)
        return out_of_memory(s);
    memcpy(st, old, copied);
    tk_rt_state_moved(st, old);
    tk_rt_free(s, old);
    *at = st;
    return true;
}

/* The state is in memory alone. */
static bool write_values(tk_session *s, struct rt_file *f, struct rt_state *st)
{
    const size_t bytes = st->bytes - st->head;
    if (bytes > tk_rt_file_room(f))
        return false;
    rt_filed *d = tk_rt_alloc(s, sizeof *d, false);
    if (!d)
        return out_of_memory(s);
    *d = (rt_filed){.bytes = bytes, .sum = tk_rt_bytes_sum((unsigned char *)st + st->head, bytes)};
    place(f, d);
    if (transfer(f, d->at, (unsigned char *)st + st->head, bytes, true) == bytes) {
        st->filed = d;
        return true;
    }
    fail(s, "cannot write to the file", f->name, errno);
    release(s, f, d);
    return false;
}

bool tk_rt_file_put(tk_session *s, struct rt_file *f, struct rt_state **at)
{
    if (!(*at)->filed && !write_values(s, f, *at))
        return false;
    if (!replace(s, at, (*at)->head, (*at)->head))
        return false;
    (*at)->filed->only = true;
    return true;
}

bool tk_rt_file_get(tk_session *s, struct rt_file *f, struct rt_state **at)
{
    rt_filed *d = (*at)->filed;
    if (!d || !d->only)
        return true;
    if (!replace(s, at, (*at)->bytes, (*at)->head))
        return false;
    d->only = false;
    unsigned char *values = (unsigned char *)*at + (*at)->head;
    const size_t n = transfer(f, d->at, values, d->bytes, false);
    if (n < d->bytes && errno != 0)
        fail(s, "cannot read from the file", f->name, errno);
    else if (n < d->bytes)
        tk_fail(s, TK_FILE, "the file '%s', which keeps images of a tape, has lost %zu bytes", f->name, d->bytes - n);
    else if (tk_rt_bytes_sum(values, d->bytes) != d->sum)
        tk_fail(s, TK_FILE, "the file '%s', which keeps images of a tape, has other bytes than were written", f->name);
    return !tk_failed(s);
}

void tk_rt_file_forget(tk_session *s, struct rt_file *f, struct rt_state *st)
{
    if (st->filed)
        release(s, f, st->filed);
    st->filed = NULL;
}
