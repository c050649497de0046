#include "language.h"

#include <stdio.h>
#include <string.h>

static void on_print(void *user, const char *text)
{
    if (!strncmp(text, "tab", 3))
        *(int *)user = !strcmp(text, "tab\t \"quoted\" 'one' back\\slash\n");
    else
        fputs(text, stdout);
}

int main(void)
{
    int said = 0;
    tk_session_options opt = tk_session_defaults();
    opt.on_print = on_print;
    opt.print_user = &said;
    tk_session *s = tk_session_create(&opt);
    language *m = language_create(s, NULL);
    if (!m)
        return 1;
    language_text(m, 1);
    language_operators(m, 3, 2, 7, 2, true, false);
    language_conversions(m, 7, 0.25f);
    language_aggregates(m, 2);
    language_structures(m, 2, (language_Pair){2, {3, 4}});
    language_locals(m, 4);
    language_loops(m, 5);
    language_arrays(m, 3);
    language_order(m, 2);
    const int wrong = !said || m->wrong.data[0] != 0 || language_status(m) != TK_OK;
    printf("%s", language_error(m));
    language_destroy(m);
    tk_session_destroy(s);
    return wrong;
}
