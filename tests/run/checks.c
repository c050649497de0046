#include "checks.h"
#include "host.h"

static char printed[1000];

static void on_print(void *user, const char *text)
{
    (void)user;
    strncat(printed, text, sizeof printed - strlen(printed) - 1);
    strncat(printed, "|", sizeof printed - strlen(printed) - 1);
}

int main(void)
{
    tk_session_options opt = tk_session_defaults();
    opt.on_print = on_print;
    tk_session *s = tk_session_create(&opt);
    checks *m = checks_create(s, NULL);
    if (!m)
        return 1;
    checks_params p = checks_defaults();
    p.N = 3;
    checks *few = checks_create(NULL, &p);
    if (!few)
        return 1;
    CHECK_OK(m, checks_positive(m));
    m->a.data[checks_idx_a(m, 2, 1)] = -1.0f;
    CHECK_STATUS(m, checks_positive(m), TK_ASSERT, "checks.tk:9: assertion failed: 100% \"positive\"");
    CHECK_OK(m, checks_element(m, 3, 2));
    CHECK_STATUS(m, checks_element(m, 4, 0), TK_BOUNDS, "subscript 0 of 'a' is 4, outside [0, 4)");
    CHECK_STATUS(m, checks_element(m, 0, -1), TK_BOUNDS, "subscript 1 of 'a' is -1, outside [0, 3)");
    CHECK_OK(m, checks_wide(m, 2, 2));
    CHECK_STATUS(m, checks_wide(m, 100000, 100000), TK_BOUNDS, "subscript 0 of 'a' is 9999999999, outside [0, 4)");
    CHECK_STATUS(m, checks_wide_sum(m, 2000000000), TK_BOUNDS, "subscript 0 of 'a' is 4000000000, outside [0, 4)");
    CHECK_STATUS(m, checks_wide_let(m, 100000), TK_BOUNDS, "subscript 0 of 'a' is -9999800000, outside [0, 4)");
    CHECK_OK(m, checks_in_task(m, 2));
    CHECK_STATUS(m, checks_in_task(m, 3), TK_BOUNDS, "subscript 1 of 'a' is 3, outside [0, 3)");
    CHECK_OK(m, checks_component(m, 2));
    CHECK_STATUS(m, checks_component(m, 3), TK_BOUNDS, "component of 'v' is 3, outside [0, 3)");
    CHECK_OK(m, checks_array(m, 4));
    CHECK_STATUS(m, checks_array(m, 5), TK_BOUNDS, "subscript of 'w' is 5, outside [0, 5)");
    CHECK_OK(m, checks_in_function(m, 3));
    CHECK_STATUS(m, checks_in_function(m, 5), TK_BOUNDS, "subscript 0 of 'v' is 4, outside [0, 4)");
    CHECK_OK(m, checks_limit(m, 5));
    CHECK_STATUS(m, checks_limit(m, 4), TK_ASSERT,
                 "checks.tk:43: assertion failed: 'while' is not done after its limit of trips");
    CHECK_OK(m, checks_limit_in_task(m, 5));
    CHECK_STATUS(m, checks_limit_in_task(m, 3), TK_ASSERT,
                 "checks.tk:49: assertion failed: 'while' is not done after its limit of trips");
    CHECK_OK(m, checks_limit_of_effects(m, 9));
    CHECK_OK(m, checks_limit_of_effects(m, 8));
    CHECK_OK(m, checks_sized(m, 3));
    CHECK_STATUS(m, checks_sized(m, 4), TK_BOUNDS, "subscript 0 of 'w' is 4, outside [0, 4)");
    CHECK_OK(m, checks_third(m));
    CHECK_STATUS(few, checks_third(few), TK_BOUNDS, "subscript of 'w' is 2, outside [0, 2)");
    CHECK_OK(m, checks_table(m, 2, 3));
    CHECK_STATUS(m, checks_table(m, 0, 4), TK_BOUNDS, "checks.tk:90:10: subscript 1 of 'w' is 4, outside [0, 4)");
    CHECK_STATUS(m, checks_table(m, 3, 0), TK_BOUNDS, "checks.tk:90:7: subscript 0 of 'w' is 3, outside [0, 3)");
    CHECK_OK(m, checks_of_vectors(m, 2, 1));
    CHECK_STATUS(m, checks_of_vectors(m, 1, -1), TK_BOUNDS, "component of 'w' is -1, outside [0, 2)");
    CHECK_STATUS(m, checks_of_vectors(m, -1, 1), TK_BOUNDS, "subscript of 'w' is -1, outside [0, 3)");
    CHECK_OK(m, checks_matrix(m, 1, 1));
    CHECK_STATUS(m, checks_matrix(m, 0, 2), TK_BOUNDS, "column of 'A' is 2, outside [0, 2)");
    CHECK_STATUS(m, checks_matrix(m, -1, 2), TK_BOUNDS, "row of 'A' is -1, outside [0, 2)");
    CHECK_OK(m, checks_of_field(m, 1, 2));
    CHECK_STATUS(m, checks_of_field(m, 0, 3), TK_BOUNDS, "checks.tk:103:26: column of 'm' is 3, outside [0, 3)");
    CHECK_STATUS(m, checks_of_field(m, 2, 0), TK_BOUNDS, "row of 'm' is 2, outside [0, 2)");
    CHECK_OK(m, checks_vector(m, 2, 2));
    CHECK_OK(m, checks_vector(m, 0, -5));
    CHECK_STATUS(m, checks_vector(m, 3, 0), TK_BOUNDS, "component of 'w' is 3, outside [0, 3)");
    CHECK_STATUS(m, checks_vector(m, 0, 3), TK_BOUNDS, "checks.tk:109:20: component of 'w' is 3, outside [0, 3)");
    CHECK_OK(m, checks_divide(m, 7, 2));
    CHECK_STATUS(m, checks_divide(m, 7, 0), TK_ASSERT, "checks.tk:69:40: integer division by zero");
    CHECK_OK(m, checks_remainder(m, -1));
    CHECK_STATUS(m, checks_remainder(m, 3), TK_ASSERT, "checks.tk:71:40: integer division by zero");
    CHECK_STATUS(m, checks_remainder(m, 0), TK_ASSERT, "integer division by zero");
    CHECK_OK(m, checks_guarded(m, 9, 3));
    CHECK(m->at.data[0] == 3 + 100 + 4);
    CHECK_OK(m, checks_guarded(m, 9, 0));
    CHECK(m->at.data[0] == -1 + 4);
    CHECK_OK(m, checks_vectors(m, 1));
    CHECK_STATUS(m, checks_vectors(m, 0), TK_ASSERT, "checks.tk:81:5: integer division by zero");
    CHECK_OK(m, checks_talk(m, 0.5f, 200, true));
    if (!strstr(printed, "plain 5%\n|") || !strstr(printed, "0.5") || !strstr(printed, "200") ||
        !strstr(printed, "true") || !strstr(printed, "50%\n|") || strstr(printed, "%%"))
        FAIL("printed: %s", printed);
    checks_destroy(few);
    checks_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
