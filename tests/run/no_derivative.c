#include "no_derivative.h"
#include "host.h"

typedef tk_status launch(no_derivative *);

typedef struct row {
    const char *name;
    launch *run;
    const char *tape, *scope; /* the reason why not; NULL: it works */
} row;

#define ROW(k, tape, scope) {#k, no_derivative_##k, tape, scope}

static const row rows[] = {
    ROW(ordinary, NULL, NULL),
    ROW(grad_only, NULL, "derive(...) does not list jvp"),
    ROW(jvp_only, "derive(...) does not list grad", NULL),
    ROW(all, NULL, NULL),
    ROW(none, "derive(...) does not list grad", "derive(...) does not list jvp"),
    ROW(by_intent, NULL, NULL),
    ROW(by_intent_dual, NULL, "it is marked no_grad, and uses duals"),
    ROW(uses_grad, "it uses x.grad", NULL),
    ROW(uses_dual, NULL, "it uses x.dual"),
};

static void check(no_derivative *m, const char *name, const char *where, const char *reason)
{
    const tk_status want = reason ? TK_NO_DERIVATIVE : TK_OK, got = no_derivative_status(m);
    if (got != want || (reason && !strstr(no_derivative_error(m), reason)))
        FAIL("%s, %s: %s '%s'", name, where, tk_status_name(got), no_derivative_error(m));
    tk_session_clear_error(m->tk.session);
}

int main(void)
{
    no_derivative *m = no_derivative_create(NULL, NULL);
    if (!m) {
        printf("%s\n", tk_error());
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        TK_TAPE(m, m->u) rows[i].run(m);
        check(m, rows[i].name, "tape", rows[i].tape);
        tk_field *const outputs[] = {m->u.field};
        tk_forward_begin(outputs, 1, m->x.field, NULL, 0);
        rows[i].run(m);
        tk_forward_end(tk_module_session(&m->tk));
        check(m, rows[i].name, "forward scope", rows[i].scope);
    }
    no_derivative_destroy(m);
    return failures != 0;
}
