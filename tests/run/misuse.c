/* Every function of tkc.h and of a generated header, called where it is not expected: what comes back is in misuse.out.
 * After each call the session computes what it should. */
#include "misuse.h"
#include "host.h"

static misuse *m, *other; /* of two sessions */
static tk_session *s;
static float memory[6][16];

/* ---- what is called ---- */

static tk_status nothing(void *args)
{
    (void)args;
    return TK_OK;
}

static void program(void *user)
{
    (void)user;
    misuse_square(m, 1);
    misuse_total(m);
}

static const tk_triple triple = {"triple", nothing, nothing, nothing, 0}, bare = {"bare", nothing, NULL, NULL, 0}, empty = {NULL, NULL, NULL, NULL, 0};
static double jacobian[16];
static const float seed[4] = {1, 0, 0, 0};

static tk_status set_threads(void) { return tk_session_set_threads(s, 1); }
static tk_status stop(void) { return tk_session_stop_at_nonfinite(s, false); }
static tk_status clear_field_grad(void) { return tk_field_clear_grad(m->x.field); }
static tk_status clear_field_dual(void) { return tk_field_clear_dual(m->x.field); }
static tk_status clear_module_grad(void) { return tk_module_clear_grad(&m->tk); }
static tk_status clear_module_dual(void) { return tk_module_clear_dual(&m->tk); }
static tk_status clear_session_grad(void) { return tk_session_clear_grad(s); }
static tk_status clear_session_dual(void) { return tk_session_clear_dual(s); }
static tk_status tape_begin(void) { return tk_tape_begin(m->loss.field, 0); }
static tk_status tape_end(void) { return tk_tape_end(m->loss.field); }
static tk_status tape_end_wrong(void) { return tk_tape_end_with(m->x.field, 2); }
static tk_status tape_end_other(void) { return tk_tape_end(other->loss.field); }
static tk_status tape_drop(void) { return tk_tape_drop(s); }
static tk_status call(void) { return tk_call(s, &triple, NULL, 0); }
static tk_status call_bare(void) { return tk_call(s, &bare, NULL, 0); }
static tk_status forward_begin(void)
{
    tk_field *const outputs[] = {m->loss.field};
    return misuse_forward_x(m, outputs, 1, seed, 4);
}
static tk_status forward_end(void) { return tk_forward_end(s); }
static tk_status gradcheck(void) { return tk_gradcheck(m->loss.field, NULL, 0, program, NULL, 0, NULL); }
static tk_status jacobian_forward(void) { return tk_jacobian_forward(m->y.field, m->x.field, program, NULL, jacobian); }
static tk_status jacobian_reverse(void) { return tk_jacobian_reverse(m->y.field, m->x.field, program, NULL, jacobian); }
static tk_status launch(void) { return misuse_square(m, 1); }
static tk_status launch_grad(void) { return misuse_square_grad(m, 1); }
static tk_status launch_jvp(void) { return misuse_square_jvp(m, 1, NULL); }
static tk_status launch_hvp(void) { return misuse_square_hvp(m, 1, NULL); }
static tk_status launch_with_gradient(void) { return misuse_turned(m, 1); }
static tk_status launch_without_derivative(void) { return misuse_count(m); }
static tk_status launch_other(void) { return misuse_total(other); }
static tk_status bind(void) { return misuse_bind_x(m, memory[0], memory[1], memory[2]); }
static tk_status bind_strided(void) { return misuse_bind_p_strided(m, memory[3], NULL); }
static tk_status set_params(void)
{
    const misuse_params p = m->params;
    return misuse_set_params(m, &p);
}
static tk_status destroy_while_running(void)
{
    const tk_status before = tk_session_status(s);
    misuse_destroy(m); /* stays */
    return tk_session_status(s) == before ? TK_OK : tk_session_status(s);
}
static void nested_program(void *user)
{
    misuse *third = misuse_create(s, NULL);
    if (third)
        misuse_destroy(third);
    if (!tk_tape_is_open(s) && !tk_forward_is_open(s))
        gradcheck();
    destroy_while_running();
    program(user);
}
static tk_status all_in_a_program(void) { return tk_gradcheck(m->loss.field, NULL, 0, nested_program, NULL, 0, NULL); }
static tk_status all_in_a_jacobian(void) { return tk_jacobian_reverse(m->y.field, m->x.field, nested_program, NULL, jacobian); }
static tk_status create(void)
{
    misuse *third = misuse_create(s, NULL);
    const tk_status st = third ? TK_OK : TK_BAD_STATE;
    misuse_destroy(third);
    return st;
}

/* In the places where they are called, what is wrong with these does not depend on the place. */
static tk_status null_threads(void) { return tk_session_set_threads(NULL, 1); }
static tk_status many_threads(void) { return tk_session_set_threads(s, 100000); }
static tk_status null_stop(void) { return tk_session_stop_at_nonfinite(NULL, true); }
static tk_status null_field_grad(void) { return tk_field_clear_grad(NULL); }
static tk_status null_field_dual(void) { return tk_field_clear_dual(NULL); }
static tk_status no_grad(void) { return tk_field_clear_grad(m->n.field); }
static tk_status null_module_grad(void) { return tk_module_clear_grad(NULL); }
static tk_status null_module_dual(void) { return tk_module_clear_dual(NULL); }
static tk_status null_session_grad(void) { return tk_session_clear_grad(NULL); }
static tk_status null_session_dual(void) { return tk_session_clear_dual(NULL); }
static tk_status null_tape(void) { return tk_tape_begin(NULL, 0); }
static tk_status tape_on_vector(void) { return tk_tape_begin(m->x.field, 0); }
static tk_status tape_on_integers(void) { return tk_tape_begin(m->n.field, 0); }
static tk_status tape_flags(void) { return tk_tape_begin(m->loss.field, 64); }
static tk_status null_tape_end(void) { return tk_tape_end(NULL); }
static tk_status null_drop(void) { return tk_tape_drop(NULL); }
static tk_status null_call(void) { return tk_call(NULL, &triple, NULL, 0); }
static tk_status null_triple(void) { return tk_call(s, NULL, NULL, 0); }
static tk_status null_args(void) { return tk_call(s, &triple, NULL, 8); }
static tk_status huge_args(void) { return tk_call(s, &triple, memory, SIZE_MAX); }
static tk_status empty_triple(void) { return tk_call(s, &empty, NULL, 0); }
static tk_status forward_of(tk_field *output, int n, tk_field *param, const void *values, size_t count)
{
    tk_field *const outputs[] = {output};
    return tk_forward_begin(output ? outputs : NULL, n, param, values, count);
}
static tk_status null_param(void) { return forward_of(m->loss.field, 1, NULL, seed, 4); }
static tk_status null_outputs(void) { return forward_of(NULL, 1, m->x.field, seed, 4); }
static tk_status no_outputs(void) { return forward_of(m->loss.field, 0, m->x.field, seed, 4); }
static tk_status negative_outputs(void) { return forward_of(m->loss.field, -1, m->x.field, seed, 4); }
static tk_status null_output(void)
{
    tk_field *const outputs[] = {NULL};
    return tk_forward_begin(outputs, 1, m->x.field, seed, 4);
}
static tk_status other_output(void) { return forward_of(other->loss.field, 1, m->x.field, seed, 4); }
static tk_status integer_output(void) { return forward_of(m->n.field, 1, m->x.field, seed, 4); }
static tk_status integer_param(void) { return forward_of(m->loss.field, 1, m->n.field, seed, 4); }
static tk_status undual_param(void) { return forward_of(m->loss.field, 1, m->p.field, seed, 4); }
static tk_status null_seed(void) { return forward_of(m->loss.field, 1, m->x.field, NULL, 0); }
static tk_status short_seed(void) { return forward_of(m->loss.field, 1, m->x.field, seed, 3); }
static tk_status scalar_seed(void) { return forward_of(m->loss.field, 1, m->loss.field, NULL, 2); }
static tk_status null_forward_x(void) { return misuse_forward_x(NULL, NULL, 1, seed, 4); }
static tk_status null_forward_end(void) { return tk_forward_end(NULL); }
static tk_status null_gradcheck(void) { return tk_gradcheck(NULL, NULL, 0, program, NULL, 0, NULL); }
static tk_status null_program(void) { return tk_gradcheck(m->loss.field, NULL, 0, NULL, NULL, 0, NULL); }
static tk_status null_inputs(void) { return tk_gradcheck(m->loss.field, NULL, 2, program, NULL, 0, NULL); }
static tk_status vector_loss(void) { return tk_gradcheck(m->x.field, NULL, 0, program, NULL, 0, NULL); }
static tk_status check_by(tk_field *input) { return tk_gradcheck(m->loss.field, &input, 1, program, NULL, 0, NULL); }
static tk_status null_input(void) { return check_by(NULL); }
static tk_status other_input(void) { return check_by(other->x.field); }
static tk_status loss_input(void) { return check_by(m->loss.field); }
static tk_status integer_input(void) { return check_by(m->n.field); }
static tk_status null_jacobian(void) { return tk_jacobian_forward(NULL, m->x.field, program, NULL, jacobian); }
static tk_status null_jacobian_input(void) { return tk_jacobian_reverse(m->y.field, NULL, program, NULL, jacobian); }
static tk_status null_jacobian_program(void) { return tk_jacobian_reverse(m->y.field, m->x.field, NULL, NULL, jacobian); }
static tk_status null_jacobian_array(void) { return tk_jacobian_forward(m->y.field, m->x.field, program, NULL, NULL); }
static tk_status other_jacobian(void) { return tk_jacobian_forward(m->y.field, other->x.field, program, NULL, jacobian); }
static tk_status integer_jacobian(void) { return tk_jacobian_reverse(m->y.field, m->n.field, program, NULL, jacobian); }
static tk_status undual_jacobian(void) { return tk_jacobian_forward(m->p.field, m->x.field, program, NULL, jacobian); }
static tk_status null_launch(void) { return misuse_square(NULL, 1); }
static tk_status null_launch_grad(void) { return misuse_square_grad(NULL, 1); }
static tk_status null_launch_jvp(void) { return misuse_square_jvp(NULL, 1, NULL); }
static tk_status null_launch_hvp(void) { return misuse_square_hvp(NULL, 1, NULL); }
static tk_status null_gradient_out(void) { return misuse_turned_grad(NULL, 1, NULL); }
static tk_status null_bind(void) { return misuse_bind_x(NULL, memory[0], memory[1], memory[2]); }
static tk_status null_bind_strided(void) { return misuse_bind_p_strided(NULL, memory[0], NULL); }
static tk_status bind_nothing(void) { return misuse_bind_x(m, NULL, NULL, NULL); }
static tk_status bind_less(void) { return misuse_bind_x(m, memory[0], memory[1], NULL); }
static tk_status bind_overlap(void) { return misuse_bind_x(m, memory[0], memory[0] + 3, memory[2]); }
static tk_status bind_taken(void) { return misuse_bind_x(m, m->y.data, memory[1], memory[2]); }
static tk_status bind_unaligned(void) { return misuse_bind_n(m, (int32_t *)(void *)((char *)memory[0] + 1)); }
static tk_status null_set_params(void) { return misuse_set_params(NULL, &m->params); }
static tk_status set_null_params(void) { return misuse_set_params(m, NULL); }
static tk_status set_size(void)
{
    misuse_params p = m->params;
    p.N++;
    return misuse_set_params(m, &p);
}
static tk_status create_negative(void)
{
    misuse_params p = misuse_defaults();
    p.N = -1;
    return misuse_create(s, &p) ? TK_OK : TK_BAD_ARGUMENT;
}
static tk_status create_old(void) { return misuse_create_(s, NULL, 1, TK_INTERFACE) ? TK_OK : TK_MISMATCH; }
static tk_status session_threads(void)
{
    tk_session_options o = tk_session_defaults();
    o.threads = -1;
    return tk_session_create(&o) ? TK_OK : TK_BAD_ARGUMENT;
}
static tk_status macro_null(void)
{
    tk_tape_guard g = tk_tape_enter(NULL, m->loss.field, 0);
    const bool step = tk_tape_step(&g);
    tk_tape_leave(&g);
    return step ? TK_OK : TK_BAD_ARGUMENT;
}
static tk_status macro_other(void)
{
    TK_TAPE(m, other->loss) return TK_OK;
    return TK_BAD_ARGUMENT;
}

typedef struct row {
    const char *name;
    tk_status (*call)(void);
    enum { SESSION, THREAD, OTHER } where; /* whose message is it */
} row;

#define ROW(f) {#f, f, SESSION}
#define THREAD(f) {#f, f, THREAD}

/* Called in every place. */
static const row rows[] = {
    ROW(set_threads), ROW(stop), ROW(clear_field_grad), ROW(clear_field_dual), ROW(clear_module_grad), ROW(clear_module_dual), ROW(clear_session_grad),
    ROW(clear_session_dual), ROW(tape_begin), ROW(tape_end), ROW(tape_end_wrong), {"tape_end_other", tape_end_other, OTHER}, ROW(tape_drop), ROW(call), ROW(call_bare),
    ROW(forward_begin), ROW(forward_end), ROW(gradcheck), ROW(jacobian_forward), ROW(jacobian_reverse), ROW(launch), ROW(launch_grad), ROW(launch_jvp),
    ROW(launch_hvp), ROW(launch_with_gradient), ROW(launch_without_derivative), ROW(launch_other), ROW(bind), ROW(bind_strided), ROW(set_params),
    THREAD(create),
};

static const row in_hook_only[] = {ROW(destroy_while_running)};

static const row wrong[] = {
    THREAD(null_threads), ROW(many_threads), THREAD(null_stop), THREAD(null_field_grad), THREAD(null_field_dual), ROW(no_grad), THREAD(null_module_grad),
    THREAD(null_module_dual), THREAD(null_session_grad), THREAD(null_session_dual), THREAD(null_tape), ROW(tape_on_vector), ROW(tape_on_integers),
    ROW(tape_flags), THREAD(null_tape_end), THREAD(null_drop), THREAD(null_call), ROW(null_triple), ROW(null_args), ROW(huge_args), ROW(empty_triple),
    THREAD(null_param), ROW(null_outputs), ROW(no_outputs), ROW(negative_outputs), ROW(null_output), ROW(other_output), ROW(integer_output), ROW(integer_param),
    ROW(undual_param), ROW(null_seed), ROW(short_seed), ROW(scalar_seed), THREAD(null_forward_x), THREAD(null_forward_end), THREAD(null_gradcheck),
    ROW(null_program), ROW(null_inputs), ROW(vector_loss), ROW(null_input), ROW(other_input), ROW(loss_input), ROW(integer_input), THREAD(null_jacobian),
    THREAD(null_jacobian_input), ROW(null_jacobian_program), ROW(null_jacobian_array), ROW(other_jacobian), ROW(integer_jacobian), ROW(undual_jacobian),
    THREAD(null_launch), THREAD(null_launch_grad), THREAD(null_launch_jvp), THREAD(null_launch_hvp), THREAD(null_gradient_out), THREAD(null_bind),
    THREAD(null_bind_strided), ROW(bind_nothing), ROW(bind_less), ROW(bind_overlap), ROW(bind_taken), ROW(bind_unaligned), THREAD(null_set_params),
    ROW(set_null_params), ROW(set_size), THREAD(create_negative), THREAD(create_old), THREAD(session_threads), THREAD(macro_null), ROW(macro_other),
    ROW(all_in_a_program), ROW(all_in_a_jacobian),
};

/* ---- where ---- */

static const row *now;
static const char *place;

static void call_now(void)
{
    const tk_status before = tk_session_status(s), st = now->call();
    const char *text = now->where == THREAD ? tk_error() : now->where == OTHER ? misuse_error(other) : tk_session_error(s);
    printf("%s, %s: %s%s%s\n", place, now->name, tk_status_name(st), st == TK_OK ? "" : " ", st == TK_OK ? "" : text);
    /* what fails has a message, and keeps the session's failure; what does not fail leaves none */
    if ((st != TK_OK && !*text) || (st == TK_OK && tk_session_status(s) != before))
        FAIL("status %s, session %s '%s'", tk_status_name(st), tk_status_name(tk_session_status(s)),
             tk_session_error(s));
}

static tk_status call_in_triple(void *args)
{
    (void)args;
    call_now();
    tk_session_clear_error(s);
    return TK_OK;
}

static void print_hook(void *user, const char *text)
{
    (void)user;
    (void)text;
    call_now();
}

static const tk_triple asks = {"asks", call_in_triple, nothing, call_in_triple, 0}, asks_backward = {"asks_backward", nothing, call_in_triple, nothing, 0};

static void outside(void) { call_now(); }
static void failed(void)
{
    tk_tape_begin(NULL, 0);
    tk_field_clear_grad(m->n.field);
    call_now();
}
static void on_tape(void)
{
    tk_tape_begin(m->loss.field, 0);
    call_now();
}
static void on_failed_tape(void)
{
    tk_tape_begin(m->loss.field, 0);
    tk_field_clear_grad(m->n.field);
    tk_session_clear_error(s);
    call_now();
}
static void in_scope(void)
{
    forward_begin();
    call_now();
}
static void on_tape_in_scope(void)
{
    forward_begin();
    tk_tape_begin(m->loss.field, 0);
    call_now();
}
static void in_hook(void) { misuse_talk(m); }
static void in_forward_on_tape(void)
{
    tk_tape_begin(m->loss.field, 0);
    tk_call(s, &asks, NULL, 0);
}
static void in_backward(void)
{
    tk_tape_begin(m->loss.field, 0);
    tk_call(s, &asks_backward, NULL, 0);
    tk_tape_end(m->loss.field);
}
static void in_jvp(void)
{
    forward_begin();
    tk_call(s, &asks, NULL, 0);
}
static void twice(void)
{
    (void)now->call();
    tk_session_clear_error(s);
    call_now();
}

/* ---- afterwards all is well ---- */

static void check(const char *name)
{
    tk_session_clear_error(s);
    tk_tape_drop(s);
    if (tk_forward_is_open(s))
        tk_forward_end(s);
    tk_session_clear_error(s);
    for (int i = 0; i < 4; i++)
        m->x.data[i] = (float)(i + 1);
    TK_TAPE(m, m->loss) {
        misuse_square(m, 2);
        misuse_total(m);
    }
    const float value = m->loss.data[0], slope = m->x.grad[3];
    m->loss.data[0] = 0;
    forward_begin();
    misuse_square(m, 2);
    misuse_total(m);
    tk_forward_end(s);
    if (misuse_status(m) != TK_OK || value != 60 || slope != 16 || m->loss.dual[0] != 4 || m->n.data[0] < 0)
        FAIL("%s, after %s: %g %g %g, %s", place, name, (double)value, (double)slope, (double)m->loss.dual[0],
             misuse_error(m));
}

static bool make(void)
{
    tk_session_options o = tk_session_defaults();
    o.on_print = print_hook;
    s = tk_session_create(&o);
    m = misuse_create(s, NULL);
    other = misuse_create(NULL, NULL);
    tk_session_destroy(s); /* the module keeps it */
    return m && other;
}

static void in_place(const char *name, void (*enter)(void), const row *list, size_t n)
{
    place = name;
    for (size_t i = 0; i < n; i++) {
        now = &list[i];
        if (!make()) {
            failures++;
            return;
        }
        enter();
        check(now->name);
        misuse_destroy(m);
        misuse_destroy(other);
    }
}

/* Questions have an answer for NULL. */
static void questions(void)
{
    tk_field *f = NULL;
    const bool ok = tk_session_threads(NULL) == 0 && tk_session_status(NULL) == TK_BAD_ARGUMENT && tk_session_error(NULL) && tk_module_session(NULL) == NULL &&
                    !tk_tape_is_open(NULL) && tk_tape_bytes(NULL) == 0 && !tk_forward_is_open(NULL) && !*tk_field_name(f) && tk_field_ndim(f) == 0 &&
                    tk_field_extent(f, 0) == 0 && tk_field_bytes(f) == 0 && !tk_field_data(f) && !tk_field_grad(f) && !tk_field_dual(f) &&
                    tk_field_data_stride(f, 0) == 0 && tk_field_grad_stride(f, 0) == 0 && tk_field_dual_stride(f, 0) == 0 && !tk_tape_step(NULL) &&
                    misuse_status(NULL) == TK_BAD_ARGUMENT && misuse_error(NULL) && !strcmp(tk_status_name((tk_status)1000), "unknown status");
    tk_session_clear_error(NULL);
    tk_session_destroy(NULL);
    misuse_destroy(NULL);
    tk_tape_leave(NULL);
    if (!ok)
        FAIL("a question about NULL");
}

int main(void)
{
    const size_t n = sizeof rows / sizeof rows[0];
    in_place("outside", outside, rows, n);
    in_place("twice", twice, rows, n);
    in_place("after a failure", failed, rows, n);
    in_place("on a tape", on_tape, rows, n);
    in_place("on a tape after a failure", on_failed_tape, rows, n);
    in_place("in a scope", in_scope, rows, n);
    in_place("on a tape in a scope", on_tape_in_scope, rows, n);
    in_place("in a hook", in_hook, rows, n);
    in_place("in a function on a tape", in_forward_on_tape, rows, n);
    in_place("in a backward", in_backward, rows, n);
    in_place("in a jvp", in_jvp, rows, n);
    in_place("wrong arguments", outside, wrong, sizeof wrong / sizeof wrong[0]);
    in_place("wrong arguments in a hook", in_hook, wrong, sizeof wrong / sizeof wrong[0]);
    in_place("in a hook", in_hook, in_hook_only, 1);
    questions();
    return failures != 0;
}
