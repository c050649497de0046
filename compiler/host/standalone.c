/* --no-runtime: what generated code takes from tkc_math.h stands in the generated file itself, its functions under
 * names of the module, so that several such files, and tkc_math.h, may be one translation unit. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/helpers.h"
#include "util/arena.h"

static size_t word(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static int find(const char *name, size_t n)
{
    if (n < 4 || (strncmp(name, "tk_", 3) != 0 && strncmp(name, "TK_", 3) != 0))
        return -1;
    for (int i = 0; i < emit_nhelpers; i++)
        if (strncmp(emit_helpers[i].name, name, n) == 0 && !emit_helpers[i].name[n])
            return i;
    return -1;
}

static void mark(bool *wanted, const char *code)
{
    for (const char *p = code; *p;) {
        const size_t n = word(p);
        const int i = find(p, n);
        if (i >= 0 && !wanted[i]) {
            wanted[i] = true;
            mark(wanted, emit_helpers[i].text);
        }
        p += n ? n : 1;
    }
}

/* Functions get the prefix; macros need none, as the same definition may come twice. */
static void rename_functions(strbuf *out, const char *code, const char *prefix)
{
    for (const char *p = code; *p;) {
        const size_t n = word(p);
        if (*p == 't' && find(p, n) >= 0)
            sb_add(out, prefix);
        sb_addn(out, p, n ? n : 1);
        p += n ? n : 1;
    }
}

static bool any_names(const bool *wanted, const char *name)
{
    for (int i = 0; i < emit_nhelpers; i++)
        if (wanted[i] && strstr(emit_helpers[i].text, name))
            return true;
    return false;
}

void emit_helpers_of(strbuf *out, strbuf *code, const char *prefix)
{
    bool *wanted = xmalloc((size_t)emit_nhelpers * sizeof *wanted);
    memset(wanted, 0, (size_t)emit_nhelpers * sizeof *wanted);
    mark(wanted, sb_str(code));
    sb_printf(out, "%s#include <math.h>\n%s\n",
              any_names(wanted, "FLT_MAX") || any_names(wanted, "DBL_MAX") ? "#include <float.h>\n" : "",
              any_names(wanted, "memcpy") || strstr(sb_str(code), "memset(") ? "#include <string.h>\n" : "");
    for (int i = 0; i < emit_nhelpers; i++) {
        if (!wanted[i])
            continue;
        if (*emit_helpers[i].name == 't')
            rename_functions(out, emit_helpers[i].text, prefix);
        else
            sb_add(out, emit_helpers[i].text);
        sb_add(out, "\n\n");
    }
    free(wanted);
    strbuf renamed = {0};
    rename_functions(&renamed, sb_str(code), prefix);
    sb_free(code);
    *code = renamed;
}
