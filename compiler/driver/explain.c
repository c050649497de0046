#include "driver/explain.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"
#include "driver/options.h"

/* A code as it is typed: E0505, e505, 505. The letter is 0 where there is none. Returns false if it is nothing like a
 * code. */
static bool read_code(const char *name, char *letter, int *number)
{
    const char first = *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
    *letter = first == 'E' || first == 'W' ? first : 0;
    const char *digits = *letter ? name + 1 : name;
    const size_t n = strspn(digits, "0123456789");
    *number = atoi(n && n <= 8 ? digits : "0");
    return n && n <= 8 && !digits[n];
}

static int number_of(const explain_entry *e)
{
    return atoi(e->code + 1);
}

static const explain_entry *find(const char *name)
{
    char letter;
    int number;
    if (!read_code(name, &letter, &number))
        return NULL;
    for (const explain_entry *e = explain_entries; e < explain_entries + explain_nentries; e++)
        if (number_of(e) == number && (!letter || *e->code == letter))
            return e;
    return NULL;
}

static void add_title(strbuf *b, const explain_entry *e)
{
    sb_printf(b, "%s: %s\n", e->code, e->title);
}

/* The entries whose numbers are nearest: they are in order, so these stand side by side. */
static void add_nearest(strbuf *b, int number)
{
    enum { NEAREST = 3 };
    const explain_entry *from = explain_entries, *end = explain_entries + explain_nentries;
    while (end - from > NEAREST && abs(number_of(from) - number) > abs(number_of(from + NEAREST) - number))
        from++;
    for (int i = 0; i < NEAREST && from + i < end; i++) {
        sb_add(b, "  ");
        add_title(b, from + i);
    }
}

static int unknown(const char *name)
{
    char letter;
    int number;
    strbuf near = {0};
    if (read_code(name, &letter, &number)) {
        sb_add(&near, "the nearest are\n");
        add_nearest(&near, number);
    }
    fprintf(stderr, "tkc: error: explain: '%s' is not the code of a message\n%s'tkc explain' lists the codes\n", name,
            sb_str(&near));
    sb_free(&near);
    return TKC_USAGE;
}

static int print(const strbuf *text)
{
    diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
    const bool ok = stdout_write(text, d);
    diag_flush(d);
    diag_destroy(d);
    return ok ? TKC_OK : TKC_ERRORS;
}

char *explain_page(const char *code)
{
    static const char *const folders[] = {"../share/doc/tkc/errors", "../../docs/errors"};
    const explain_entry *e = find(code);
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *found = NULL;
    for (size_t k = 0; e && n > 0 && !found && k < sizeof folders / sizeof *folders; k++) {
        exe[n] = '\0';
        strbuf path = {0};
        sb_printf(&path, "%.*s/%s/%.*s", (int)(strrchr(exe, '/') - exe), exe, folders[k], (int)strcspn(e->page, "#"),
                  e->page);
        char *real = realpath(path.s, NULL);
        sb_clear(&path);
        if (real) {
            sb_add(&path, "file://");
            for (const char *p = real; *p; p++)
                if (strchr(" %#?\"<>[]\\^`{|}", *p) || (unsigned char)*p > 0x7e)
                    sb_printf(&path, "%%%02X", (unsigned)(unsigned char)*p);
                else
                    sb_addc(&path, *p);
            sb_add(&path, strchr(e->page, '#'));
            found = path.s;
        } else {
            sb_free(&path);
        }
        free(real);
    }
    return found;
}

int explain_main(int ncodes, const char **codes)
{
    for (int i = 0; i < ncodes; i++)
        if (!find(codes[i]))
            return unknown(codes[i]);
    strbuf b = {0};
    for (int i = 0; i < ncodes; i++) {
        const explain_entry *e = find(codes[i]);
        sb_add(&b, i ? "\n" : "");
        add_title(&b, e);
        sb_printf(&b, "\n%s", e->text);
    }
    for (int i = 0; i < explain_nentries && !ncodes; i++)
        add_title(&b, &explain_entries[i]);
    const int status = print(&b);
    sb_free(&b);
    return status;
}
