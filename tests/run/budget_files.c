/* Tapes under a budget whose images go to a file: the bits of a plain tape; files that cannot be made, are full, or
 * have other bytes, at each place where they are used: a status, no leak, and no file that is left. */
#include "budget_files.h"
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkc/tkc_gen.h>

typedef budget_files module;
enum { N = 300, STEPS = 120 };

static char directory[] = "files-XXXXXX";

static int files_in(const char *path, char *last)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            if (last)
                snprintf(last, 300, "%s/%s", path, e->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

/* The descriptor of the tape's file, whose name is gone; -1: there is none. */
static int tape_file(void)
{
    for (int fd = 3; fd < 64; fd++) {
        char link[40], to[400];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        if (strstr(to, directory) && strstr(to, "/tkc-"))
            return fd;
    }
    return -1;
}

static int open_files(void)
{
    return files_in("/proc/self/fd", NULL);
}

/* ---- the program ---- */

typedef struct spoiler {
    module *m;
    off_t length; /* of the file from here on; -1: as it is */
    off_t change; /* a byte of it; -1: none */
} spoiler;

static tk_status forward(void *args)
{
    const spoiler *p = args;
    for (int i = 0; i < N; i++)
        p->m->y.data[i] = 0.1 * p->m->w.data[i % 8];
    return TK_OK;
}

/* The way back begins. */
static tk_status backward(void *args)
{
    const spoiler *p = args;
    const int fd = tape_file();
    struct stat st;
    for (int i = 0; i < N; i++) {
        p->m->w.grad[i % 8] += 0.1 * p->m->y.grad[i];
        p->m->y.grad[i] = 0.0;
    }
    if (fd < 0 || fstat(fd, &st) != 0)
        return TK_OK;
    if (p->length >= 0 && p->length < st.st_size)
        CHECK(ftruncate(fd, p->length) == 0);
    unsigned char byte;
    if (p->change >= 0 && pread(fd, &byte, 1, p->change) == 1) {
        byte ^= 4;
        CHECK(pwrite(fd, &byte, 1, p->change) == 1);
    }
    return TK_OK;
}

static const tk_triple triple = {"spoiler", forward, backward, NULL, 0};

static void program(module *m, const spoiler *spoils)
{
    const tk_footprint lines[] = {{m->w.field, TK_READS, NULL}, {m->y.field, TK_STORES, NULL}};
    for (int t = 0; t < STEPS; t++) {
        if (t / 8 % 3 == 1) { /* images of other sizes */
            budget_files_nudge(m, 30 + 17 * (t / 8));
            budget_files_nudge(m, 40 + 17 * (t / 8));
        } else {
            budget_files_push(m);
            budget_files_move(m);
        }
        if (t % 30 == 7)
            budget_files_keep(m, t / 30);
        if (t == STEPS - 10 && spoils)
            tk_call_with(m->tk.session, &triple, spoils, sizeof *spoils, lines, 2);
        if (t == STEPS - 10 && spoils)
            budget_files_use(m);
    }
    budget_files_total(m);
}

typedef struct result {
    unsigned char *bits;
    size_t n;
    tk_tape_report report;
    tk_status status;
    bool failed; /* an allocation */
    char message[400];
} result;

/* How a tape goes. */
typedef struct how {
    size_t bytes, filed;
    bool along, drops;
    const spoiler *spoils;
    int64_t fails_at;
    const char *directory;
} how;

static void gather(const module *m, result *r)
{
    r->bits = malloc(200000);
    for (int i = 0; i < m->tk.desc->nfields; i++)
        for (int p = 0; p < TK_PLANE_COUNT; p++)
            if (m->tk.fields[i].plane[p]) {
                memcpy(r->bits + r->n, m->tk.fields[i].plane[p], tk_field_bytes(&m->tk.fields[i]));
                r->n += tk_field_bytes(&m->tk.fields[i]);
            }
}

static result run(how h)
{
    heap memory = {0};
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    o.deterministic = true;
    o.alloc = heap_alloc;
    o.alloc_user = &memory;
    tk_session *s = tk_session_create(&o);
    module *m = budget_files_create(s, NULL);
    const int before = open_files();
    for (int i = 0; i < N; i++)
        m->x.data[i] = 0.3 + 0.001 * i;
    for (int i = 0; i < 8; i++)
        m->w.data[i] = 1 + 0.05 * i;
    spoiler spoils = h.spoils ? *h.spoils : (spoiler){NULL, -1, -1};
    spoils.m = m;
    static const double seed[8] = {1, 0.5, 0, -1, 0.25, 0, 0, 2};
    tk_field *const outputs[] = {m->loss.field};
    memory.calls = 0;
    memory.fails_at = h.fails_at;
    tk_tape_budget(s, h.bytes);
    tk_tape_budget_files(s, h.directory ? h.directory : directory, h.filed);
    if (h.along)
        budget_files_forward_w(m, outputs, 1, seed, 8);
    if (tk_tape_begin(m->loss.field, 0) == TK_OK) {
        program(m, h.along ? NULL : &spoils);
        CHECK(files_in(directory, NULL) == 0); /* its name is gone already */
        h.drops ? tk_tape_drop(s) : tk_tape_end(m->loss.field);
    }
    memory.fails_at = 0;
    result r = {.failed = h.fails_at > 0 && memory.calls >= h.fails_at,
                .status = budget_files_status(m),
                .report = tk_tape_last_report(s)};
    snprintf(r.message, sizeof r.message, "%s", budget_files_error(m));
    tk_session_clear_error(s);
    CHECK(!tk_tape_is_open(s) && tape_file() < 0 && open_files() == before);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    gather(m, &r);
    budget_files_destroy(m);
    tk_session_destroy(s);
    CHECK(memory.bytes == 0 && files_in(directory, NULL) == 0);
    return r;
}

/* ---- the same bits ---- */

static void same_bits(bool along)
{
    result plain = run((how){.along = along});
    CHECK(plain.status == TK_OK && plain.report.filed == 0);
    size_t ran = 0, filed = 0, fewer = 0, saved = 0;
    for (size_t bytes = 400000; bytes > 20000; bytes -= bytes / 5) {
        result alone = run((how){.bytes = bytes, .along = along});
        for (size_t room = 1 << 12; room <= 1 << 24; room <<= 3) {
            result r = run((how){.bytes = bytes, .filed = room == 1 << 24 ? SIZE_MAX : room, .along = along});
            if (r.status == TK_BAD_ARGUMENT && strstr(r.message, "is too small")) {
                result less = run((how){.bytes = bytes - bytes / 16, .along = along});
                CHECK(less.status == TK_BAD_ARGUMENT); /* a file takes hardly anything from what suffices */
                const char *at = strstr(r.message, " of a tape: ");
                const size_t least = at ? strtoull(at + strlen(" of a tape: "), NULL, 10) : 0;
                result enough = run((how){.bytes = least, .filed = SIZE_MAX, .along = along});
                if (enough.status != TK_OK || memcmp(enough.bits, plain.bits, plain.n) != 0)
                    FAIL("%zu bytes, which suffice: %s %s", least, tk_status_name(enough.status), enough.message);
                free(enough.bits);
                free(less.bits);
            } else if (r.status != TK_OK) {
                FAIL("%zu bytes, %zu in a file: %s %s", bytes, room, tk_status_name(r.status), r.message);
            } else {
                if (r.n != plain.n || memcmp(r.bits, plain.bits, r.n) != 0)
                    FAIL("%zu bytes, %zu in a file: other bits", bytes, room);
                const size_t first = r.report.filed > 0 ? 8000 : 0; /* the first record of a launch */
                if (r.report.bytes > bytes + first || (room < 1 << 24 && r.report.filed > room))
                    FAIL("%zu bytes, %zu in a file: %zu and %zu", bytes, room, r.report.bytes, r.report.filed);
                ran++;
                filed += r.report.filed > 0;
                fewer += alone.status == TK_OK && r.report.again < alone.report.again;
                saved += alone.status == TK_BAD_ARGUMENT;
            }
            free(r.bits);
        }
        free(alone.bits);
    }
    if (ran < 20 || filed < 10 || fewer < 5)
        FAIL("%zu ran, %zu with files, %zu with fewer launches again, %zu beyond memory", ran, filed, fewer, saved);
    free(plain.bits);
}

/* ---- failures ---- */

static const how with_file = {.bytes = 60000, .filed = SIZE_MAX};

static void out_of_memory(void)
{
    result plain = run((how){.bytes = 0});
    int64_t n = 1;
    for (bool ends = false; !ends && !failures; n += 1 + n / 30) {
        how h = with_file;
        h.fails_at = n;
        result r = run(h);
        ends = !r.failed;
        if (r.status == TK_OK ? memcmp(r.bits, plain.bits, r.n) != 0 || r.report.filed == 0 : r.status != TK_NO_MEMORY)
            FAIL("allocation %d: %s %s", (int)n, tk_status_name(r.status), r.message);
        free(r.bits);
    }
    if (n <= 60)
        FAIL("%d allocations", (int)n);
    free(plain.bits);
}

/* The file may have so many bytes, for each number from none to those that it takes: each write fails once, in part or
 * altogether. */
static void full(void)
{
    struct rlimit was;
    int failed = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    for (rlim_t most = 0;; most += 1500) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, was.rlim_max});
        result r = run(with_file);
        setrlimit(RLIMIT_FSIZE, &was);
        free(r.bits);
        if (r.status == TK_OK)
            break;
        if (r.status != TK_FILE || !strstr(r.message, "cannot write to the file '") || !strstr(r.message, directory) ||
            !strstr(r.message, "it would be too large"))
            FAIL("%d bytes: %s %s", (int)most, tk_status_name(r.status), r.message);
        failed++;
    }
    CHECK(failed > 5);
    how drops = with_file;
    drops.drops = true;
    result r = run(drops);
    if (r.status != TK_OK || r.report.filed == 0)
        FAIL("dropped: %s %s, %zu", tk_status_name(r.status), r.message, r.report.filed);
    free(r.bits);
}

static void spoilt(void)
{
    int lost = 0, changed = 0;
    for (off_t at = 0; at < 60000; at += 1700)
        for (int which = 0; which < 2; which++) {
            how h = with_file;
            const spoiler s = {NULL, which ? at : -1, which ? -1 : at};
            h.spoils = &s;
            result r = run(h);
            const bool right = r.status == TK_OK || (r.status == TK_FILE && strstr(r.message, directory) &&
                                                     strstr(r.message, which ? "has lost" : "has other bytes than"));
            if (!right)
                FAIL("%s at %d: %s %s", which ? "cut" : "changed", (int)at, tk_status_name(r.status), r.message);
            lost += which && r.status == TK_FILE;
            changed += !which && r.status == TK_FILE;
            free(r.bits);
        }
    if (lost < 5 || changed < 5)
        FAIL("%d cut and %d changed files were found", lost, changed);
}

static void misuse(void)
{
    CHECK(tk_tape_budget_files(NULL, ".", 1) == TK_BAD_ARGUMENT);
    how h = with_file;
    h.directory = "not/there";
    result r = run(h);
    CHECK(r.status == TK_FILE && strstr(r.message, "cannot create the file 'not/there/tkc-") &&
          strstr(r.message, "no such directory"));
    free(r.bits);
    struct rlimit was;
    getrlimit(RLIMIT_NOFILE, &was);
    tk_session *s = tk_session_create(NULL);
    module *m = budget_files_create(s, NULL);
    CHECK_STATUS(m, tk_tape_budget_files(s, "", 1), TK_BAD_ARGUMENT, "the directory has no name");
    CHECK_OK(m, tk_tape_budget_files(s, directory, SIZE_MAX));
    tk_tape_budget(s, 60000);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, was.rlim_max});
    CHECK_STATUS(m, tk_tape_begin(m->loss.field, 0), TK_FILE, "too many files are open");
    setrlimit(RLIMIT_NOFILE, &was);
    CHECK(!tk_tape_is_open(s));
    CHECK_OK(m, tk_tape_begin(m->loss.field, 0));
    CHECK_STATUS(m, tk_tape_budget_files(s, NULL, 0), TK_BAD_STATE, "is not possible while a tape is open");
    tk_tape_drop(s);
    CHECK_OK(m, tk_tape_budget_files(s, NULL, 0));
    CHECK_OK(m, tk_tape_begin(m->loss.field, 0));
    CHECK(tape_file() < 0);
    budget_files_destroy(m); /* the tape is open */
    tk_session_destroy(s);
    CHECK(tape_file() < 0);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 2;
    same_bits(false);
    same_bits(true);
    out_of_memory();
    full();
    spoilt();
    misuse();
    CHECK(rmdir(directory) == 0);
    return failures != 0;
}
