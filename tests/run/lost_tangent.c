#include "lost_tangent.h"
#include "host.h"

int main(void)
{
    lost_tangent *m = lost_tangent_create(NULL, NULL);
    const float one = 1, pair[2] = {1, 1};
    if (!m)
        return 1;
    CHECK_OK(m, lost_tangent_direct_jvp(m, 1, NULL, 1, &one));
    CHECK_STATUS(m, lost_tangent_direct_jvp(m, 1, &one, 1, NULL), TK_NO_DERIVATIVE,
                 "direct_jvp: the tangent of 'a' would be lost in 'y'");
    CHECK_OK(m, lost_tangent_called_jvp(m, pair, NULL, 1, &one));
    CHECK_STATUS(m, lost_tangent_called_jvp(m, pair, pair, 1, &one), TK_NO_DERIVATIVE,
                 "called_jvp: the tangent of 'a'");
    CHECK_OK(m, lost_tangent_rounded_jvp(m, 1, &one));
    CHECK_OK(m, lost_tangent_unread_jvp(m, 1, &one));
    CHECK_STATUS(m, lost_tangent_second_jvp(m, 1, &one), TK_NO_DERIVATIVE, "second_jvp: the tangent of 'a'");
    CHECK_STATUS(m, lost_tangent_second_hvp(m, 1, &one), TK_NO_DERIVATIVE, "second_hvp: the tangent of 'a'");
    CHECK_OK(m, lost_tangent_read_jvp(m));
    CHECK(lost_tangent_direct_jvp(NULL, 1, &one, 1, NULL) == TK_NO_DERIVATIVE && strstr(tk_error(), "would be lost"));
    tk_field *const outputs[] = {m->s.field};
    static const float seed[4] = {1};
    CHECK_OK(m, lost_tangent_forward_z(m, outputs, 1, seed, 4));
    CHECK_OK(m, lost_tangent_direct(m, 1, 1)); /* arguments have no tangent there */
    CHECK_OK(m, tk_forward_end(tk_module_session(&m->tk)));
    lost_tangent_destroy(m);
    return failures != 0;
}
