#include "validate.h"
#include "host.h"

static void open_tape(validate *m)
{
    for (int i = 0; i < 5; i++) {
        m->x.data[i] = (float)i + 1;
        m->at.data[i] = i;
        m->v.data[i][0] = 2.0f;
    }
    m->b.data[0] = 10.0f;
    m->n.data[0] = 3;
    CHECK(tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE) == TK_OK);
}

/* Closes the tape; `message` NULL: it was all legal. */
static void close_tape(validate *m, const char *what, const char *message)
{
    const tk_status st = tk_tape_end(m->loss.field), want = message ? TK_OVERWRITTEN : TK_OK;
    if (st != want || (message && !strstr(validate_error(m), message)))
        FAIL("%s: %s '%s' instead of '%s'", what, tk_status_name(st), validate_error(m), message ? message : "");
    tk_session_clear_error(tk_module_session(&m->tk));
}

static void legal(validate *m)
{
    open_tape(m);
    validate_decay(m);
    validate_square(m, 1);
    validate_set(m, 2, 8.0f);
    validate_square_x(m, 1);
    validate_set_y(m, 1);
    validate_set(m, 1, m->x.data[1]); /* the value stays */
    m->v.data[3][0] = 5.0f;           /* nobody touched that, nor this from here on */
    m->x.data[2] = 8.0f;
    validate_count(m);
    validate_trips(m);
    validate_constant_function(m, 2); /* another kernel's adjoint would need what the function reads */
    validate_set(m, 2, 9.0f);
    close_tape(m, "legal", NULL);

    open_tape(m);
    validate_fill(m);
    validate_func_1(m);
    close_tape(m, "written before read", NULL);
    CHECK(m->b.grad[0] == 10.0f);

    open_tape(m); /* nothing of an earlier tape is left */
    validate_func_2(m);
    validate_chain(m);
    close_tape(m, "later tape", "'x[0]'");

    for (int k = 1; k <= 2; k++) { /* not validated: elements that arguments choose are known all the same */
        TK_TAPE(m, m->loss) {
            validate_square(m, 1);
            validate_set(m, k, m->x.data[k] + 1.0f);
        }
        CHECK_STATUS(m, validate_status(m), k == 1 ? TK_OVERWRITTEN : TK_OK,
                     k == 1 ? "kernel 'set' of module 'validate' changes 'x[1]'" : "");
    }
}

static void between_launches(validate *m)
{
    open_tape(m);
    validate_func_1(m);
    CHECK(validate_func_2(m) == TK_OVERWRITTEN);
    close_tape(m, "func_2",
               "validate.tk:15:19: kernel 'func_2' overwrites 'b', but the adjoint of kernel 'func_1' (launch 1 on the tape) needs the value "
               "that it read at validate.tk:13:33");

    open_tape(m);
    validate_decay(m);
    validate_square(m, 3);
    validate_square(m, 2);
    validate_decay(m);
    close_tape(m, "decay", "kernel 'decay' overwrites 'x[2]', but the adjoint of kernel 'square' (launch 3 on the tape)");

    open_tape(m);
    validate_square(m, 3);
    validate_show(m, 3);
    close_tape(m, "no_grad", "kernel 'show' overwrites 'x[3]'");

    open_tape(m);
    validate_indirect(m);
    validate_move_index(m);
    close_tape(m, "index", "kernel 'move_index' overwrites 'at[1]'");

    open_tape(m);
    validate_trips(m);
    validate_more(m);
    close_tape(m, "trips", "kernel 'more' overwrites 'n'");

    open_tape(m);
    validate_in_function(m, 2);
    validate_set(m, 2, 8.0f);
    close_tape(m, "function", "kernel 'set' overwrites 'x[2]', but the adjoint of kernel 'in_function'");
}

static void inside_a_kernel(validate *m)
{
    open_tape(m);
    m->at.data[1] = 4;
    m->at.data[0] = 2; /* x[2] = 1.5 before it is read: legal; x[4] as well; x[2] = 1.5 again leaves the value */
    for (int i = 2; i < 5; i++)
        m->at.data[i] = 4;
    m->x.data[4] = 1.5f;
    validate_chain(m);
    close_tape(m, "chain, legal", NULL);

    open_tape(m);
    m->at.data[0] = 1;
    m->at.data[1] = 2;
    m->at.data[2] = 3;
    m->at.data[3] = 0;
    validate_chain(m);
    close_tape(m, "chain", "validate.tk:32:9: kernel 'chain' overwrites 'x[0]', but the adjoint of kernel 'chain' (launch 1 on the tape)");

    open_tape(m);
    validate_merged(m, 1);
    close_tape(m, "merged, legal", NULL);
    open_tape(m);
    validate_merged(m, 0);
    close_tape(m, "merged", "validate.tk:37:5: kernel 'merged' overwrites 'x[0]'");
}

static tk_status halve_forward(void *args)
{
    (*(validate **)args)->x.data[3] *= 0.5f;
    return TK_OK;
}

static tk_status halve_backward(void *args)
{
    (*(validate **)args)->x.grad[3] *= 0.5f;
    return TK_OK;
}

static void by_the_host(validate *m)
{
    open_tape(m);
    validate_func_1(m);
    m->x.data[4] += 1.0f;
    close_tape(m, "host", "'x[4]' was changed outside of kernels, but the adjoint of kernel 'func_1' (launch 1 on the tape) needs the value that it read at");

    open_tape(m);
    validate_func_1(m);
    m->x.data[4] += 1.0f;
    validate_func_1(m); /* reads it again */
    close_tape(m, "host, between", "'x[4]' was changed outside of kernels, but the adjoint of kernel 'func_1' (launch 1 on the tape)");

    /* between a launch that leaves a value and one that goes on with it, though neither adjoint needs it */
    open_tape(m);
    m->n.data[0] = 5;
    validate_fill(m);
    m->x.data[3] *= 0.5f;
    validate_trips(m);
    close_tape(m, "host, stored", "'x[3]' was changed outside of kernels after kernel 'fill', and kernel 'trips' (launch 2 on the tape) goes on with it: no derivative passes through what the host does");
    open_tape(m);
    m->n.data[0] = 5;
    validate_fill(m);
    m->x.data[3] *= 0.5f;
    validate_set(m, 3, 1.0f); /* replaced: nothing went on with it */
    validate_trips(m);
    close_tape(m, "host, replaced", NULL);
    open_tape(m);
    m->n.data[0] = 5;
    validate_trips(m);
    m->x.data[0] = 77.0f; /* read once more: two inputs of one gradient */
    validate_trips(m);
    close_tape(m, "host, read", "'x[0]' was changed outside of kernels after kernel 'trips', and kernel 'trips' (launch 2 on the tape)");
    open_tape(m);
    m->n.data[0] = 5;
    validate_trips(m);
    m->loss.data[0] = 0.0f; /* what was added so far is no part of it any more */
    validate_trips(m);
    close_tape(m, "host, added", "'loss' was changed outside of kernels after kernel 'trips', and kernel 'trips' (launch 2 on the tape)");
    open_tape(m);
    validate_largest(m);
    m->top.data[0] = 0.0f;
    validate_largest(m);
    validate_show_top(m);
    close_tape(m, "host, maximum", "'top' was changed outside of kernels after kernel 'largest', and kernel 'largest' (launch 2 on the tape)");

    /* a function of the host that has derivatives is no change by the host */
    const tk_triple halve = {.name = "halve", .forward = halve_forward, .backward = halve_backward};
    open_tape(m);
    m->n.data[0] = 5;
    validate_fill(m);
    tk_call(tk_module_session(&m->tk), &halve, &m, sizeof m);
    validate_trips(m);
    close_tape(m, "tk_call", NULL);

    float buffer[5], gradient[5];
    validate_bind_x(m, buffer, gradient);
    open_tape(m);
    validate_square(m, 1);
    memset(buffer, 0, sizeof buffer); /* used again too early */
    close_tape(m, "buffer", "'x[1]' was changed outside of kernels");
    open_tape(m);
    validate_square(m, 1);
    validate_set(m, 1, 9.0f);
    close_tape(m, "bound", "kernel 'set' overwrites 'x[1]'");
    open_tape(m);
    validate_square(m, 1);
    tk_tape_drop(tk_module_session(&m->tk));
    legal(m);
}

int main(void)
{
    validate *m = validate_create(NULL, NULL);
    if (!m)
        return 1;
    legal(m);
    between_launches(m);
    inside_a_kernel(m);
    by_the_host(m);
    validate_destroy(m);
    return failures != 0;
}
