#include "checks.h"

#include <stdio.h>
#include <string.h>

static int failed;
static char printed[1000];

static void on_print(void *user, const char *text)
{
    (void)user;
    strncat(printed, text, sizeof printed - strlen(printed) - 1);
    strncat(printed, "|", sizeof printed - strlen(printed) - 1);
}

static void expect(checks *m, tk_status got, tk_status want, const char *message)
{
    if (got != want || checks_status(m) != want || strstr(checks_error(m), message) == NULL) {
        printf("%s: '%s' instead of %s: '%s'\n", tk_status_name(got), checks_error(m), tk_status_name(want), message);
        failed = 1;
    }
    tk_session_clear_error(tk_module_session(&m->tk));
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
    expect(m, checks_positive(m), TK_OK, "");
    m->a.data[checks_idx_a(m, 2, 1)] = -1.0f;
    expect(m, checks_positive(m), TK_ASSERT, "checks.tk:9: assertion failed: 100% \"positive\"");
    expect(m, checks_element(m, 3, 2), TK_OK, "");
    expect(m, checks_element(m, 4, 0), TK_BOUNDS, "subscript 0 of 'a' is 4, outside [0, 4)");
    expect(m, checks_element(m, 0, -1), TK_BOUNDS, "subscript 1 of 'a' is -1, outside [0, 3)");
    expect(m, checks_wide(m, 2, 2), TK_OK, "");
    expect(m, checks_wide(m, 100000, 100000), TK_BOUNDS, "subscript 0 of 'a' is 9999999999, outside [0, 4)");
    expect(m, checks_wide_sum(m, 2000000000), TK_BOUNDS, "subscript 0 of 'a' is 4000000000, outside [0, 4)");
    expect(m, checks_wide_let(m, 100000), TK_BOUNDS, "subscript 0 of 'a' is -9999800000, outside [0, 4)");
    expect(m, checks_in_task(m, 2), TK_OK, "");
    expect(m, checks_in_task(m, 3), TK_BOUNDS, "subscript 1 of 'a' is 3, outside [0, 3)");
    expect(m, checks_component(m, 2), TK_OK, "");
    expect(m, checks_component(m, 3), TK_BOUNDS, "component of 'v' is 3, outside [0, 3)");
    expect(m, checks_array(m, 4), TK_OK, "");
    expect(m, checks_array(m, 5), TK_BOUNDS, "subscript of 'w' is 5, outside [0, 5)");
    expect(m, checks_in_function(m, 3), TK_OK, "");
    expect(m, checks_in_function(m, 5), TK_BOUNDS, "subscript 0 of 'v' is 4, outside [0, 4)");
    expect(m, checks_limit(m, 5), TK_OK, "");
    expect(m, checks_limit(m, 4), TK_ASSERT, "checks.tk:43: assertion failed: 'while' is not done after its limit of trips");
    expect(m, checks_limit_in_task(m, 5), TK_OK, "");
    expect(m, checks_limit_in_task(m, 3), TK_ASSERT, "checks.tk:49: assertion failed: 'while' is not done after its limit of trips");
    expect(m, checks_limit_of_effects(m, 9), TK_OK, "");
    expect(m, checks_limit_of_effects(m, 8), TK_OK, "");
    expect(m, checks_sized(m, 3), TK_OK, "");
    expect(m, checks_sized(m, 4), TK_BOUNDS, "subscript 0 of 'w' is 4, outside [0, 4)");
    expect(m, checks_third(m), TK_OK, "");
    expect(few, checks_third(few), TK_BOUNDS, "subscript of 'w' is 2, outside [0, 2)");
    expect(m, checks_table(m, 2, 3), TK_OK, "");
    expect(m, checks_table(m, 0, 4), TK_BOUNDS, "checks.tk:90:10: subscript 1 of 'w' is 4, outside [0, 4)");
    expect(m, checks_table(m, 3, 0), TK_BOUNDS, "checks.tk:90:7: subscript 0 of 'w' is 3, outside [0, 3)");
    expect(m, checks_of_vectors(m, 2, 1), TK_OK, "");
    expect(m, checks_of_vectors(m, 1, -1), TK_BOUNDS, "component of 'w' is -1, outside [0, 2)");
    expect(m, checks_of_vectors(m, -1, 1), TK_BOUNDS, "subscript of 'w' is -1, outside [0, 3)");
    expect(m, checks_matrix(m, 1, 1), TK_OK, "");
    expect(m, checks_matrix(m, 0, 2), TK_BOUNDS, "column of 'A' is 2, outside [0, 2)");
    expect(m, checks_matrix(m, -1, 2), TK_BOUNDS, "row of 'A' is -1, outside [0, 2)");
    expect(m, checks_of_field(m, 1, 2), TK_OK, "");
    expect(m, checks_of_field(m, 0, 3), TK_BOUNDS, "checks.tk:103:26: column of 'm' is 3, outside [0, 3)");
    expect(m, checks_of_field(m, 2, 0), TK_BOUNDS, "row of 'm' is 2, outside [0, 2)");
    expect(m, checks_vector(m, 2, 2), TK_OK, "");
    expect(m, checks_vector(m, 0, -5), TK_OK, "");
    expect(m, checks_vector(m, 3, 0), TK_BOUNDS, "component of 'w' is 3, outside [0, 3)");
    expect(m, checks_vector(m, 0, 3), TK_BOUNDS, "checks.tk:109:20: component of 'w' is 3, outside [0, 3)");
    expect(m, checks_divide(m, 7, 2), TK_OK, "");
    expect(m, checks_divide(m, 7, 0), TK_ASSERT, "checks.tk:69:40: integer division by zero");
    expect(m, checks_remainder(m, -1), TK_OK, "");
    expect(m, checks_remainder(m, 3), TK_ASSERT, "checks.tk:71:40: integer division by zero");
    expect(m, checks_remainder(m, 0), TK_ASSERT, "integer division by zero");
    expect(m, checks_guarded(m, 9, 3), TK_OK, "");
    if (m->at.data[0] != 3 + 100 + 4)
        return 1;
    expect(m, checks_guarded(m, 9, 0), TK_OK, "");
    if (m->at.data[0] != -1 + 4)
        return 1;
    expect(m, checks_vectors(m, 1), TK_OK, "");
    expect(m, checks_vectors(m, 0), TK_ASSERT, "checks.tk:81:5: integer division by zero");
    expect(m, checks_talk(m, 0.5f, 200, true), TK_OK, "");
    if (!strstr(printed, "plain 5%\n|") || !strstr(printed, "0.5") || !strstr(printed, "200") || !strstr(printed, "true") || !strstr(printed, "50%\n|") ||
        strstr(printed, "%%")) {
        printf("printed: %s\n", printed);
        failed = 1;
    }
    checks_destroy(few);
    checks_destroy(m);
    tk_session_destroy(s);
    return failed;
}
