#include "struct_fields.h"
#include "host.h"

static void fill(struct_fields *m)
{
    for (int i = 0; i < 4; i++) {
        m->p.data[i] = (struct_fields_Body){.tag = (int8_t)(i - 1), .pos = {1 + i, 2}, .fixed = i == 2, .link = {.rest = 0.5 + i, .to = {3, 4}}, .mass = 1.5f};
        for (int k = 0; k < 3; k++)
            m->v.data[k][i] = i + 10 * k;
        m->s.rest.data[struct_fields_idx_s(m, i, 1)] = 2 + i;
        m->s.to.data[1][struct_fields_idx_s(m, i, 1)] = 0.5 * i;
        m->state.data[i] = (struct_fields_Link){.rest = 0.5 + 0.25 * i, .to = {i, 1}};
    }
    *m->anchor.data = (struct_fields_Link){.rest = 7, .to = {1, 0}};
}

static void run(void *user)
{
    struct_fields_energy(user);
}

static void steps(void *user)
{
    for (int i = 0; i < 3; i++)
        struct_fields_step(user);
    struct_fields_finish(user);
}

static void views(struct_fields *m)
{
    CHECK(m->v.data[1] == m->v.data[0] + 4 && m->A.data[1][0] == m->A.data[0][0] + 8);
    CHECK(m->p.shape[0] == 4 && m->s.rest.shape[1] == 2 && m->s.to.shape[0] == 4);
    CHECK(!strcmp(tk_field_name(m->p.field.link.to), "p.link.to") &&
          tk_field_data(m->p.field.link.to) == m->p.data[0].link.to);
    CHECK(tk_field_grad(m->p.field.tag) == NULL && tk_field_grad(m->p.field.pos) == m->p.grad[0].pos);
    CHECK(tk_field_data_stride(m->p.field.pos, 0) == (int64_t)sizeof *m->p.data);
    struct_fields_set(m);
    CHECK(m->A.data[0][1][3] == 2 && m->A.data[1][1][2] == 2 && m->A.data[1][0][1] == 3);
    CHECK(m->s.to.data[0][struct_fields_idx_s(m, 3, 1)] == 3 && m->s.to.data[1][struct_fields_idx_s(m, 3, 1)] == 1);
}

static void gradients(struct_fields *m)
{
    fill(m);
    TK_TAPE(m, m->U) struct_fields_energy(m);
    double u = 0;
    for (int i = 0; i < 4; i++) {
        const struct_fields_Body *b = &m->p.data[i], *g = &m->p.grad[i];
        const double n = b->pos[0] * b->pos[0] + b->pos[1] * b->pos[1];
        u += (b->fixed ? 0 : b->link.rest * n * 1.5 + b->tag * m->v.data[2][i] * m->v.data[2][i]) + (2 + i) * 0.5 * i * m->v.data[0][i] + 7;
        CHECK(near(g->link.rest, b->fixed ? 0 : n * 1.5, 1e-9));
        CHECK(near(g->pos[0], b->fixed ? 0 : 2 * b->pos[0] * b->link.rest * 1.5, 1e-9));
        CHECK(near((double)g->mass, b->fixed ? 0 : b->link.rest * n, 1e-9));
        CHECK(near(m->v.grad[2][i], b->fixed ? 0 : 2 * b->tag * m->v.data[2][i], 1e-9));
        CHECK(near(m->s.to.grad[1][struct_fields_idx_s(m, i, 1)], (2 + i) * m->v.data[0][i], 1e-9));
        CHECK(m->v.grad[1][i] == 0 && g->tag == 0);
    }
    CHECK(near(*m->U.data, u, 1e-9) && near(m->anchor.grad->rest, 4, 1e-9) && near(m->anchor.grad->to[0], 28, 1e-9));
    tk_module_clear_grad(&m->tk);
    CHECK(m->p.grad[1].pos[0] == 0 && m->p.data[1].pos[0] == 2 && m->v.grad[2][0] == 0);
    CHECK(tk_gradcheck(m->U.field, NULL, 0, run, m, 0, NULL) == TK_OK);
    tk_field *inputs[] = {m->state.field.rest, m->state.field.to};
    CHECK(tk_gradcheck(m->U.field, inputs, 2, steps, m, 0, NULL) == TK_OK);
}

static void forward(struct_fields *m)
{
    fill(m);
    double seed[8] = {0}, jacobian[8];
    seed[2] = 1; /* p[1].pos[0] */
    *m->U.data = 0;
    CHECK(struct_fields_forward_p_pos(m, &m->U.field, 1, seed, 8) == TK_OK);
    CHECK(m->p.dual[1].pos[0] == 1 && m->p.dual[0].pos[0] == 0);
    struct_fields_energy(m);
    CHECK(near(*m->U.dual, 2 * 2 * 1.5 * 1.5, 1e-9));
    tk_forward_end(m->tk.session);
    CHECK(m->p.dual[1].pos[0] == 0);
    CHECK(tk_jacobian_forward(m->U.field, m->p.field.pos, run, m, jacobian) == TK_OK);
    CHECK(near(jacobian[2], 2 * 2 * 1.5 * 1.5, 1e-9) && jacobian[4] == 0);
    CHECK(tk_jacobian_reverse(m->U.field, m->p.field.pos, run, m, jacobian) == TK_OK);
    CHECK(near(jacobian[2], 2 * 2 * 1.5 * 1.5, 1e-9) && jacobian[4] == 0);
}

static void stopped(struct_fields *m)
{
    fill(m);
    tk_module_clear_grad(&m->tk);
    TK_TAPE(m, m->U) struct_fields_constant(m);
    CHECK(m->p.grad[3].pos[0] == 0 && m->p.grad[3].link.rest == 0 && near(m->v.grad[0][3], 4 * 3.5, 1e-9));
}

static void arguments(struct_fields *m)
{
    fill(m);
    const struct_fields_Body b = {.tag = 2, .pos = {1, 2}, .link = {.to = {0, 3}}, .mass = 0.5f};
    struct_fields_Body b_dual = {.pos = {1, 0}}, b_grad = {.pos = {100, 0}};
    const struct_fields_Link how = {.rest = 2, .to = {1, 0}}, how_dual = {.to = {5, 0}};
    *m->U.data = 0;
    struct_fields_pull(m, b, 3, how);
    CHECK(near(*m->U.data, 2 * (10 + 16) * 3 + 4 * 3 * 2 * 0.5, 1e-9));
    *m->U.grad = 1;
    struct_fields_pull_grad(m, b, 3, how, &b_grad);
    CHECK(near(b_grad.pos[0], 100 + 2 * 10 * 3, 1e-9) && near(b_grad.link.to[1], 2 * 26, 1e-9) &&
          near((double)b_grad.mass, 4 * 3 * 2, 1e-9) && b_grad.tag == 0);
    struct_fields_pull_grad(m, b, 3, how, NULL);
    tk_module_clear_dual(&m->tk);
    struct_fields_pull_jvp(m, b, &b_dual, 3, how, NULL);
    CHECK(near(*m->U.dual, 2 * 10 * 3, 1e-9));
    tk_module_clear_dual(&m->tk);
    b_dual.pos[0] = 0;
    struct_fields_pull_jvp(m, b, NULL, 3, how, &how_dual);
    CHECK(near(*m->U.dual, 4 * 3 * 2 * 0.5 * 5, 1e-9));
}

static void binding(struct_fields *m)
{
    struct_fields_Body data[4] = {0}, grad[4] = {0}, dual[4] = {0};
    CHECK(struct_fields_bind_p(m, data, data, dual) == TK_BAD_ARGUMENT);
    printf("%s\n", struct_fields_error(m));
    tk_session_clear_error(m->tk.session);
    CHECK(struct_fields_bind_p(m, data, NULL, dual) == TK_BAD_ARGUMENT);
    printf("%s\n", struct_fields_error(m));
    tk_session_clear_error(m->tk.session);
    CHECK(tk_field_data(m->p.field.pos) != data[0].pos);
    CHECK(struct_fields_bind_p(m, data, grad, dual) == TK_OK && m->p.data == data && m->p.grad == grad);
    CHECK(tk_field_data(m->p.field.pos) == data[0].pos && tk_field_grad(m->p.field.pos) == grad[0].pos);
    double block[12], block_grad[12] = {0}, block_dual[12];
    CHECK(struct_fields_bind_v(m, block, block_grad, block_dual) == TK_OK && m->v.data[2] == block + 8 &&
          m->v.grad[1] == block_grad + 4);
    fill(m);
    CHECK(block[9] == 21 && data[3].pos[0] == 4);
    TK_TAPE(m, m->U) struct_fields_energy(m);
    CHECK(near(grad[1].pos[0], 2 * 2 * 1.5 * 1.5, 1e-9) && near(block_grad[3], 5 * 0.5 * 3, 1e-9));
    CHECK(struct_fields_bind_p(m, data, grad, dual) == TK_OK);
    double *const more = (double *)(void *)data;
    CHECK(struct_fields_bind_v(m, block, more, block_dual) == TK_BAD_ARGUMENT);
    printf("%s\n", struct_fields_error(m));
    tk_session_clear_error(m->tk.session);
}

int main(void)
{
    struct_fields *m = struct_fields_create(NULL, NULL);
    if (!m)
        return 2;
    views(m);
    gradients(m);
    forward(m);
    stopped(m);
    arguments(m);
    CHECK(struct_fields_status(m) == TK_OK);
    puts(struct_fields_error(m));
    binding(m);
    struct_fields_destroy(m);
    return failures != 0;
}
