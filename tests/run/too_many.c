#include "too_many.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void refused(tk_session *s, tk_status st, int line)
{
    if (st != TK_BAD_ARGUMENT || !strstr(tk_session_error(s), "more iterations than")) {
        printf("line %d: status %d, %s\n", line, (int)st, tk_session_error(s));
        failures++;
    }
    tk_session_clear_error(s);
}
#define REFUSED(call) refused(s, call, __LINE__)
#define CHECK(x) (void)((x) || (printf("line %d: %s\n", __LINE__, #x), failures++))

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
    return failures;
}
