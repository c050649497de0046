/* Full Jacobians of a program, column by column or row by row. */
#include "rt.h"

static tk_status check(tk_field *output, tk_field *input, tk_program_fn run, const double *jacobian, tk_plane plane,
                       const char *what)
{
    if (!output || !input)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "%s: the %s is NULL", what, output ? "input" : "output");
    tk_session *s = output->module->session;
    tk_field *const both[] = {output, input};
    const tk_status st = tk_rt_check_closed(s, what);
    if (st != TK_OK)
        return st;
    if (!run || !jacobian)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: the %s is NULL", what, run ? "array for the Jacobian" : "program");
    if (input->module->session != s)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: input '%s' belongs to another session", what, input->desc->name);
    for (int i = 0; i < 2; i++) {
        if (!tk_rt_is_float(both[i]))
            return tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' holds no floats", what, both[i]->desc->name);
        if (plane != RT_TANGENT && tk_rt_wide(both[i], plane))
            return tk_fail(s, TK_NO_DERIVATIVE, "%s: the gradient of field '%s' has several directions", what,
                           both[i]->desc->name);
        if (!both[i]->plane[plane] && !tk_rt_wide(both[i], plane))
            return tk_fail(s, TK_NO_DERIVATIVE, "%s: field '%s' is not declared %s", what, both[i]->desc->name,
                           tk_rt_plane(plane)->attribute);
    }
    return TK_OK;
}

/* The seed of column k in a direction becomes x. */
static void set_seed(const tk_field *input, unsigned char *seed, int64_t k, int64_t direction, double x)
{
    const size_t at = (size_t)(tk_rt_wide(input, RT_TANGENT) ? tk_rt_wide_number(input, k, direction) : k);
    if (input->desc->elem == TK_F32)
        ((float *)(void *)seed)[at] = (float)x;
    else
        ((double *)(void *)seed)[at] = x;
}

static double tangent_of(const tk_field *output, int64_t i, int64_t direction)
{
    const tk_field *wide = tk_rt_wide(output, RT_TANGENT);
    return wide ? tk_rt_scalar_get(wide, TK_DATA, tk_rt_wide_number(output, i, direction))
                : tk_rt_scalar_get(output, RT_TANGENT, i);
}

tk_status tk_jacobian_forward(tk_field *output, tk_field *input, tk_program_fn run, void *user, double *jacobian)
{
    tk_status st = check(output, input, run, jacobian, RT_TANGENT, "tk_jacobian_forward");
    if (st != TK_OK)
        return st;
    tk_session *s = output->module->session;
    RT_ENTER(s, "tk_jacobian_forward", TK_BAD_STATE);
    const int64_t rows = (int64_t)tk_rt_scalars(output), cols = (int64_t)tk_rt_scalars(input),
                  width = tk_rt_width(input);
    if (tk_rt_width(output) != width)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_jacobian_forward: '%s' and '%s' have not the same number of directions",
                       output->desc->name, input->desc->name);
    const size_t values = (size_t)(cols * width), size = tk_rt_scalar_bytes(input->desc->elem);
    RT_SNAPSHOT snapshot = tk_rt_snapshot_take(s);
    unsigned char *seed = snapshot.data ? tk_rt_alloc(s, values * size + 1, true) : NULL;
    if (snapshot.data && !seed)
        tk_fail(s, TK_NO_MEMORY, "out of memory for the seed of field '%s'", input->desc->name);
    st = tk_session_status(s);
    for (int64_t k = 0; k < cols && st == TK_OK; k += width) {
        const int64_t n = cols - k < width ? cols - k : width; /* columns at once */
        for (int64_t d = 0; d < n; d++)
            set_seed(input, seed, k + d, d, 1);
        st = tk_forward_begin(&output, 1, input, seed, values);
        for (int64_t d = 0; d < n; d++)
            set_seed(input, seed, k + d, d, 0);
        if (st != TK_OK)
            break;
        tk_rt_snapshot_run(&snapshot, run, user);
        for (int64_t i = 0; i < rows; i++) /* before closing: output may be the input */
            for (int64_t d = 0; d < n; d++)
                jacobian[i * cols + k + d] = tangent_of(output, i, d);
        st = tk_forward_end(s);
        tk_rt_snapshot_restore(&snapshot);
    }
    tk_rt_free(s, seed);
    return st;
}

tk_status tk_jacobian_reverse(tk_field *output, tk_field *input, tk_program_fn run, void *user, double *jacobian)
{
    tk_status st = check(output, input, run, jacobian, RT_ADJOINT, "tk_jacobian_reverse");
    if (st != TK_OK)
        return st;
    tk_session *s = output->module->session;
    RT_ENTER(s, "tk_jacobian_reverse", TK_BAD_STATE);
    const size_t rows = tk_rt_scalars(output), cols = tk_rt_scalars(input);
    RT_SNAPSHOT snapshot = tk_rt_snapshot_take(s);
    st = tk_session_status(s);
    for (size_t i = 0; i < rows && st == TK_OK; i++) {
        st = tk_rt_tape_record(output);
        if (st != TK_OK)
            break;
        tk_rt_snapshot_run(&snapshot, run, user);
        tk_rt_scalar_set(output, RT_ADJOINT, (int64_t)i, 1.0);
        st = tk_rt_tape_play(s, tk_session_status(s), NULL);
        for (size_t k = 0; k < cols && st == TK_OK; k++)
            jacobian[i * cols + k] = tk_rt_scalar_get(input, RT_ADJOINT, (int64_t)k);
        tk_rt_snapshot_restore(&snapshot);
    }
    return st;
}
