/* tk_gradcheck on all processes together: inputs of each in turn; a wrong derivative, and a loss that they do not
 * share. */
#define G 6
#include "part.h"

static bool is_wrong;

static tk_status wrong(void *args)
{
    const part *p = args;
    *p->m->gain.grad += is_wrong && rank == ranks - 1 ? 0.5 : 0;
    return TK_OK;
}

static tk_status nothing(void *args)
{
    (void)args;
    return TK_OK;
}

static void checked(void *user)
{
    part *p = user;
    const tk_triple t = {"wrong", nothing, wrong, nothing, 0};
    tk_call_with(p->s, &t, p, 0, NULL, 0);
    tk_halo_exchange(p->both);
    stencil_step(p->m);
    stencil_move(p->m);
    stencil_weigh(p->m);
    stencil_total(p->m);
    tk_allsum(p->s, p->m->loss.field);
}

static void alone(void *user)
{
    part *p = user;
    tk_halo_exchange(p->both);
    stencil_total(p->m);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    part p = make(MPI_COMM_WORLD, 1);
    *p.m->gain.data = 0.5 + rank;
    tk_field *const inputs[] = {p.m->u.field, p.m->c.field, p.m->gain.field};
    tk_gradcheck_result r;
    CHECK_OK(p.m, tk_gradcheck(p.m->loss.field, inputs + 2, 1, checked, &p, 1e-6, &r));
    CHECK(r.compared == ranks && r.has_forward && r.undecided == 0);
    const tk_gradcheck_options along = {.inputs = inputs, .ninputs = 3, .tolerance = 1e-6, .directions = 1};
    CHECK_OK(p.m, tk_gradcheck_with(p.m->loss.field, &along, checked, &p, &r));
    CHECK(r.compared == ranks && r.has_forward);
    is_wrong = true;
    char text[80];
    snprintf(text, sizeof text, "by 'gain' of process %d is", ranks - 1);
    CHECK_STATUS(p.m, tk_gradcheck(p.m->loss.field, inputs + 2, 1, checked, &p, 1e-6, &r), TK_WRONG_GRADIENT, text);
    if (ranks > 1) {
        CHECK_STATUS(p.m, tk_gradcheck(p.m->loss.field, inputs, 2, alone, &p, 1e-6, &r), TK_BAD_ARGUMENT,
                     "differs between processes");
        CHECK_STATUS(p.m, tk_gradcheck(p.m->loss.field, inputs, rank ? 2 : -1, checked, &p, 1e-6, &r),
                     TK_BAD_ARGUMENT, rank ? "another" : "inputs are NULL");
    }
    destroy(&p);
    return end();
}
