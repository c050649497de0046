#include "struct_arrays.h"
#include "host.h"

typedef struct_arrays_Mass mass;

static const mass start[3] = {{1, {1, 2}, 3}, {7, {-1, 4}, 0.5f}, {1, {0, 2}, 2}};

static void values(struct_arrays *m)
{
    mass b[3], b_dual[3] = {{0, {1, 0}, 0}, {0, {5, 5}, 5}, {0, {0, 0}, 1}}, g[3] = {{4, {1, 1}, 1}};
    float e, de;
    const float seed = 2.0f;
    memcpy(b, start, sizeof b);
    CHECK(struct_arrays_energy_jvp(m, 3, b, b_dual, 1, &e, &de) == TK_OK && near((double)e, 11.5, 1e-5) &&
          near((double)de, 5.0, 1e-5));
    CHECK(struct_arrays_energy_jvp(m, 3, b, NULL, 1, NULL, &de) == TK_OK && de == 0.0f);
    CHECK(struct_arrays_energy_grad(m, 3, b, 1, &seed, g) == TK_OK);
    CHECK(g[0].id == 4 && near((double)g[0].at[0], 7.0, 1e-5) && near((double)g[0].weight, 6.0, 1e-5) &&
          g[1].weight == 0.0f && near((double)g[2].at[1], 8.0, 1e-5));
    CHECK(struct_arrays_energy_grad(m, 3, b, 1, &seed, NULL) == TK_OK && struct_arrays_energy(m, 0, NULL, 1, &e) == TK_OK && e == 0.0f);

    const mass by[2] = {{10, {0, 0}, 2}, {0, {1, 3}, 0}};
    mass by_dual[2] = {{0, {0, 0}, 1}, {0, {0, 0}, 0}}, by_grad[2] = {{0}}, seeds[3] = {{0, {1, 0}, 5}, {0, {0, 1}, 0}, {0}};
    memset(b_dual, 0, sizeof b_dual);
    CHECK(struct_arrays_drift_jvp(m, 3, b, b_dual, by, by_dual) == TK_OK);
    CHECK(b[0].id == 11 && near((double)b[0].at[1], 8.0, 1e-5) && near((double)b_dual[2].at[1], 3.0, 1e-5) &&
          b[0].weight == 3.0f && b_dual[0].weight == 0.0f);
    CHECK(struct_arrays_drift_grad(m, 3, b, by, seeds, by_grad) == TK_OK);
    CHECK(near((double)by_grad[0].weight, 4.0, 1e-5) && near((double)by_grad[1].at[0], 2.0, 1e-5) &&
          near((double)by_grad[1].at[1], 2.0, 1e-5) && seeds[0].at[0] == 1.0f && seeds[0].weight == 5.0f);
    CHECK(struct_arrays_drift_grad(m, 3, b, by, NULL, by_grad) == TK_OK && struct_arrays_drift_grad(m, 3, b, by, seeds, NULL) == TK_OK);
    CHECK(struct_arrays_drift_jvp(m, 3, b, b_dual, by, NULL) == TK_OK);
}

static void misuse(struct_arrays *m, bool debug)
{
    mass b[4];
    float e;
    memcpy(b, start, sizeof start);
    CHECK_REFUSED(m, struct_arrays_energy(m, 3, NULL, 1, &e), "the array 'b' is NULL");
    CHECK_REFUSED(m, struct_arrays_energy(m, 2, (const mass *)(const void *)((const char *)b + 2), 1, &e),
                  "the array 'b' is not aligned to 4 bytes");
    CHECK_REFUSED(m, struct_arrays_drift(m, 3, b, b + 2), "overlaps");
    CHECK_REFUSED(m, struct_arrays_drift_grad(m, 2, b, start, b + 2, b + 2), "overlaps");
    CHECK(struct_arrays_drift(m, 2, b, b + 2) == TK_OK);
    if (debug)
        CHECK_STATUS(m, struct_arrays_reach(m, 3, b, 3, &e), TK_BOUNDS, "subscript 0 of 'b.at' is 3, outside [0, 3)");
}

static void tape(struct_arrays *m, bool debug)
{
    mass b[3];
    memcpy(b, start, sizeof b);
    m->w.data[0] = 0.5f, m->w.data[1] = 1.0f;
    TK_TAPE(m, m->loss) struct_arrays_fit(m, 3, b);
    CHECK(struct_arrays_status(m) == TK_OK && near((double)m->w.grad[0], 2.0 * (-1.5 * 1.0 + 0.0 * -1.0), 1e-5) &&
          near((double)m->w.grad[1], 2.0 * (-1.5 + 0.0 - 1.0), 1e-5));
    CHECK_STATUS(m, (tk_tape_begin(m->loss.field, 0), struct_arrays_drift(m, 3, b, start)), TK_NO_DERIVATIVE, "");
    tk_tape_drop(tk_module_session(&m->tk));
    tk_session_clear_error(tk_module_session(&m->tk));
    if (!debug)
        return;
    CHECK(tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE) == TK_OK && struct_arrays_fit(m, 3, b) == TK_OK);
    b[2].weight = 9.0f;
    CHECK_STATUS(m, tk_tape_end(m->loss.field), TK_OVERWRITTEN,
                 "an array of the host that kernel 'fit' (launch 1 on the tape) reads was changed");
    CHECK(tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE) == TK_OK && struct_arrays_fit(m, 3, b) == TK_OK &&
          tk_tape_end(m->loss.field) == TK_OK);
}

int main(void)
{
    struct_arrays *m = struct_arrays_create(NULL, NULL);
    if (!m)
        return 1;
    float e;
    const bool debug = struct_arrays_reach(m, 3, start, 0, &e) == TK_OK && tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE) == TK_OK
                       && struct_arrays_fit(m, 3, start) == TK_OK && tk_tape_end(m->loss.field) == TK_OK;
    tk_tape_drop(tk_module_session(&m->tk));
    tk_session_clear_error(tk_module_session(&m->tk));
    values(m);
    misuse(m, debug);
    tape(m, debug);
    struct_arrays_destroy(m);
    return failures != 0;
}
