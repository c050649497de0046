#include <stdio.h>
#include <string.h>

#include "lost_tangent.h"

static int failures;

static void check(lost_tangent *m, const char *what, tk_status got, const char *part)
{
    const tk_status want = part ? TK_NO_DERIVATIVE : TK_OK;
    if (got != want || lost_tangent_status(m) != want || (part && !strstr(lost_tangent_error(m), part))) {
        failures++;
        printf("%s: %s %s\n", what, tk_status_name(got), lost_tangent_error(m));
    }
    tk_session_clear_error(tk_module_session(&m->tk));
}

int main(void)
{
    lost_tangent *m = lost_tangent_create(NULL, NULL);
    const float one = 1, pair[2] = {1, 1};
    if (!m)
        return 1;
    check(m, "direct", lost_tangent_direct_jvp(m, 1, NULL, 1, &one), NULL);
    check(m, "direct", lost_tangent_direct_jvp(m, 1, &one, 1, NULL), "direct_jvp: the tangent of 'a' would be lost in 'y'");
    check(m, "called", lost_tangent_called_jvp(m, pair, NULL, 1, &one), NULL);
    check(m, "called", lost_tangent_called_jvp(m, pair, pair, 1, &one), "called_jvp: the tangent of 'a'");
    check(m, "rounded", lost_tangent_rounded_jvp(m, 1, &one), NULL);
    check(m, "unread", lost_tangent_unread_jvp(m, 1, &one), NULL);
    check(m, "second", lost_tangent_second_jvp(m, 1, &one), "second_jvp: the tangent of 'a'");
    check(m, "second", lost_tangent_second_hvp(m, 1, &one), "second_hvp: the tangent of 'a'");
    check(m, "read", lost_tangent_read_jvp(m), NULL);
    if (lost_tangent_direct_jvp(NULL, 1, &one, 1, NULL) != TK_NO_DERIVATIVE || !strstr(tk_error(), "would be lost"))
        failures++;
    tk_field *const outputs[] = {m->s.field};
    static const float seed[4] = {1};
    check(m, "scope", lost_tangent_forward_z(m, outputs, 1, seed, 4), NULL);
    check(m, "in a scope", lost_tangent_direct(m, 1, 1), NULL); /* arguments have no tangent there */
    check(m, "scope", tk_forward_end(tk_module_session(&m->tk)), NULL);
    lost_tangent_destroy(m);
    return failures > 0;
}
