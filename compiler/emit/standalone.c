/* --no-runtime: what generated code takes from tk_math.h stands in the generated file itself. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "emit/helpers.h"
#include "util/arena.h"

static int find(const char *name, size_t n)
{
    for (int i = 0; i < emit_nhelpers; i++)
        if (strncmp(emit_helpers[i].name, name, n) == 0 && !emit_helpers[i].name[n])
            return i;
    return -1;
}

static void mark(bool *wanted, const char *code)
{
    for (const char *p = code; *p;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
        const bool helper = n > 3 && (strncmp(p, "tk_", 3) == 0 || strncmp(p, "TK_", 3) == 0);
        const int i = helper ? find(p, n) : -1;
        if (i >= 0 && !wanted[i]) {
            wanted[i] = true;
            mark(wanted, emit_helpers[i].text);
        }
        p += n ? n : 1;
    }
}

void emit_helpers_of(strbuf *out, const char *code)
{
    bool *wanted = xmalloc((size_t)emit_nhelpers * sizeof *wanted), limits = false;
    memset(wanted, 0, (size_t)emit_nhelpers * sizeof *wanted);
    mark(wanted, code);
    for (int i = 0; i < emit_nhelpers; i++)
        limits |= wanted[i] && (strstr(emit_helpers[i].text, "FLT_MAX") || strstr(emit_helpers[i].text, "DBL_MAX"));
    sb_printf(out, "%s#include <math.h>\n\n", limits ? "#include <float.h>\n" : "");
    for (int i = 0; i < emit_nhelpers; i++)
        if (wanted[i])
            sb_printf(out, "%s\n\n", emit_helpers[i].text);
    free(wanted);
}
