/* irmangle COUNT SEED FILE...: breaks printed IR in COUNT ways and reads each. What is accepted is printed, read and printed once more: the same text.
 * Any other fault of the reader is a crash, a leak or an end of memory, which sanitizers see. Prints how many were accepted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/text/io.h"

static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (size_t)((state >> 33) % n) : 0;
}

/* ---- mutations: each changes the text at a place that is drawn ---- */

static void splice(strbuf *b, size_t at, size_t len, const char *with, size_t n)
{
    strbuf r = {0};
    sb_addn(&r, b->s, at);
    sb_addn(&r, with, n);
    sb_addn(&r, b->s + at + len, b->len - at - len);
    sb_free(b);
    *b = r;
}

typedef struct range {
    size_t at, len;
} range;

static range line_at(const strbuf *b, size_t at)
{
    while (at && b->s[at - 1] != '\n')
        at--;
    const size_t n = strcspn(b->s + at, "\n");
    return (range){at, n + (b->s[at + n] == '\n')};
}

static range token_at(const strbuf *b, size_t at)
{
    static const char blank[] = " \n,()[]{}";
    while (at && !strchr(blank, b->s[at - 1]))
        at--;
    return (range){at, strcspn(b->s + at, blank)};
}

static void mutate(strbuf *b)
{
    static const char signs[] = "%#@.:;(){}[]\"\\-x0519 \n!";
    static const char *const numbers[] = {"0", "-1", "8", "99999999999999999999", "4294967295", "9223372036854775807", "1e999", "nan", "-0", "65536"};
    const size_t at = below(b->len), other = below(b->len);
    const range line = line_at(b, at), token = token_at(b, at), to = line_at(b, other), from = token_at(b, other);
    char *copy = strdup(b->s);
    const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
    switch (below(9)) {
    case 0: splice(b, at, b->len - at, "", 0); break;
    case 1: splice(b, at, 1, &signs[below(sizeof signs - 1)], 1); break;
    case 2: splice(b, at, 0, &signs[below(sizeof signs - 1)], 1); break;
    case 3: splice(b, at, 1, (char[]){(char)below(256)}, 1); break;
    case 4: splice(b, line.at, line.len, "", 0); break;
    case 5: splice(b, to.at, 0, copy + line.at, line.len); break;
    case 6: splice(b, token.at, token.len, copy + from.at, from.len); break;
    case 7: splice(b, token.at, token.len, number, strlen(number)); break;
    default: splice(b, token.at, token.len, "", 0); break;
    }
    free(copy);
}

/* ---- reading ---- */

static bool print_read(const strbuf *in, strbuf *out, FILE *messages)
{
    arena *mem = arena_create();
    intern_pool *names = intern_create();
    diag_sink *d = diag_create(messages, DIAG_FORMAT_TEXT);
    ir_module *m = ir_module_create(mem, names, d, "mangled");
    const bool ok = ir_read_module(m, "mangled.ir", sb_str(in), in->len, messages);
    if (ok)
        ir_print_text(out, m);
    ir_module_destroy(m);
    diag_destroy(d);
    intern_destroy(names);
    arena_destroy(mem);
    return ok;
}

static bool one(const strbuf *text, FILE *messages, bool *accepted)
{
    strbuf first = {0}, second = {0};
    *accepted = print_read(text, &first, messages);
    const bool ok = !*accepted || (print_read(&first, &second, messages) && !strcmp(sb_str(&first), sb_str(&second)));
    if (!ok)
        printf("accepted, but what is printed is read as something else:\n%s", sb_str(text));
    sb_free(&first);
    sb_free(&second);
    return ok;
}

static void load(strbuf *b, const char *path)
{
    FILE *f = fopen(path, "r");
    char part[4096];
    size_t n;
    if (!f)
        exit(2);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        sb_addn(b, part, n);
    fclose(f);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    /* the verifier's messages would be thousands */
    FILE *messages = fopen("/dev/null", "w");
    if (!messages || !freopen("/dev/null", "w", stderr))
        return 2;
    const int count = atoi(argv[1]);
    int accepted = 0;
    state = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < count; i++) {
        strbuf text = {0};
        bool is = false;
        load(&text, argv[3 + i % (argc - 3)]);
        for (size_t k = 1 + below(3); k && text.len; k--)
            mutate(&text);
        const bool ok = one(&text, messages, &is);
        sb_free(&text);
        if (!ok)
            return 1;
        accepted += is;
    }
    fclose(messages);
    printf("%d of %d accepted\n", accepted, count);
    return 0;
}
