#include "too_many.h"
#include "host.h"

#define REFUSED(call) CHECK_REFUSED(m, call, "more iterations than")

int main(void)
{
    tk_session *s = tk_session_create(NULL);
    too_many_params p = too_many_defaults();
    too_many *m = too_many_create(s, &p);
    if (!m)
        return 1;
    REFUSED(too_many_count(m)); /* 2^68, of which 64 bits are 0 */
    REFUSED(too_many_scatter(m));
    REFUSED(too_many_shifted(m));
    REFUSED(too_many_shifted_grad(m));
    REFUSED(too_many_between(m, INT64_MIN, INT64_MAX));
    REFUSED(too_many_between(m, -2, INT64_MAX));
    CHECK(*m->hits.data == 0 && m->bins.data[0] == 0);
    CHECK(too_many_between(m, INT64_MAX - 5, INT64_MAX) == TK_OK);
    CHECK(too_many_between(m, INT64_MIN, INT64_MIN + 2) == TK_OK);
    CHECK(*m->hits.data == 7);
    p.C = 0; /* none at all */
    too_many_set_params(m, &p);
    CHECK(too_many_count(m) == TK_OK && *m->hits.data == 7);
    too_many_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
