#include <math.h>
#include <stdio.h>
#include <string.h>

#include "struct_fields.h"

static int failures;

#define EXPECT(condition)                                     \
    do {                                                      \
        if (!(condition)) {                                   \
            printf("line %d: %s\n", __LINE__, #condition);    \
            failures++;                                       \
        }                                                     \
    } while (0)

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

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
    EXPECT(m->v.data[1] == m->v.data[0] + 4 && m->A.data[1][0] == m->A.data[0][0] + 8);
    EXPECT(m->p.shape[0] == 4 && m->s.rest.shape[1] == 2 && m->s.to.shape[0] == 4);
    EXPECT(!strcmp(tk_field_name(m->p.field.link.to), "p.link.to") && tk_field_data(m->p.field.link.to) == m->p.data[0].link.to);
    EXPECT(tk_field_grad(m->p.field.tag) == NULL && tk_field_grad(m->p.field.pos) == m->p.grad[0].pos);
    EXPECT(tk_field_data_stride(m->p.field.pos, 0) == (int64_t)sizeof *m->p.data);
    struct_fields_set(m);
    EXPECT(m->A.data[0][1][3] == 2 && m->A.data[1][1][2] == 2 && m->A.data[1][0][1] == 3);
    EXPECT(m->s.to.data[0][struct_fields_idx_s(m, 3, 1)] == 3 && m->s.to.data[1][struct_fields_idx_s(m, 3, 1)] == 1);
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
        EXPECT(near(g->link.rest, b->fixed ? 0 : n * 1.5));
        EXPECT(near(g->pos[0], b->fixed ? 0 : 2 * b->pos[0] * b->link.rest * 1.5));
        EXPECT(near((double)g->mass, b->fixed ? 0 : b->link.rest * n));
        EXPECT(near(m->v.grad[2][i], b->fixed ? 0 : 2 * b->tag * m->v.data[2][i]));
        EXPECT(near(m->s.to.grad[1][struct_fields_idx_s(m, i, 1)], (2 + i) * m->v.data[0][i]));
        EXPECT(m->v.grad[1][i] == 0 && g->tag == 0);
    }
    EXPECT(near(*m->U.data, u) && near(m->anchor.grad->rest, 4) && near(m->anchor.grad->to[0], 28));
    tk_module_clear_grad(&m->tk);
    EXPECT(m->p.grad[1].pos[0] == 0 && m->p.data[1].pos[0] == 2 && m->v.grad[2][0] == 0);
    EXPECT(tk_gradcheck(m->U.field, NULL, 0, run, m, 0, NULL) == TK_OK);
    tk_field *inputs[] = {m->state.field.rest, m->state.field.to};
    EXPECT(tk_gradcheck(m->U.field, inputs, 2, steps, m, 0, NULL) == TK_OK);
}

static void forward(struct_fields *m)
{
    fill(m);
    double seed[8] = {0}, jacobian[8];
    seed[2] = 1; /* p[1].pos[0] */
    *m->U.data = 0;
    EXPECT(struct_fields_forward_p_pos(m, &m->U.field, 1, seed, 8) == TK_OK);
    EXPECT(m->p.dual[1].pos[0] == 1 && m->p.dual[0].pos[0] == 0);
    struct_fields_energy(m);
    EXPECT(near(*m->U.dual, 2 * 2 * 1.5 * 1.5));
    tk_forward_end(m->tk.session);
    EXPECT(m->p.dual[1].pos[0] == 0);
    EXPECT(tk_jacobian_forward(m->U.field, m->p.field.pos, run, m, jacobian) == TK_OK);
    EXPECT(near(jacobian[2], 2 * 2 * 1.5 * 1.5) && jacobian[4] == 0);
    EXPECT(tk_jacobian_reverse(m->U.field, m->p.field.pos, run, m, jacobian) == TK_OK);
    EXPECT(near(jacobian[2], 2 * 2 * 1.5 * 1.5) && jacobian[4] == 0);
}

static void stopped(struct_fields *m)
{
    fill(m);
    tk_module_clear_grad(&m->tk);
    TK_TAPE(m, m->U) struct_fields_constant(m);
    EXPECT(m->p.grad[3].pos[0] == 0 && m->p.grad[3].link.rest == 0 && near(m->v.grad[0][3], 4 * 3.5));
}

static void arguments(struct_fields *m)
{
    fill(m);
    const struct_fields_Body b = {.tag = 2, .pos = {1, 2}, .link = {.to = {0, 3}}, .mass = 0.5f};
    struct_fields_Body b_dual = {.pos = {1, 0}}, b_grad = {.pos = {100, 0}};
    const struct_fields_Link how = {.rest = 2, .to = {1, 0}}, how_dual = {.to = {5, 0}};
    *m->U.data = 0;
    struct_fields_pull(m, b, 3, how);
    EXPECT(near(*m->U.data, 2 * (10 + 16) * 3 + 4 * 3 * 2 * 0.5));
    *m->U.grad = 1;
    struct_fields_pull_grad(m, b, 3, how, &b_grad);
    EXPECT(near(b_grad.pos[0], 100 + 2 * 10 * 3) && near(b_grad.link.to[1], 2 * 26) && near((double)b_grad.mass, 4 * 3 * 2) && b_grad.tag == 0);
    struct_fields_pull_grad(m, b, 3, how, NULL);
    tk_module_clear_dual(&m->tk);
    struct_fields_pull_jvp(m, b, &b_dual, 3, how, NULL);
    EXPECT(near(*m->U.dual, 2 * 10 * 3));
    tk_module_clear_dual(&m->tk);
    b_dual.pos[0] = 0;
    struct_fields_pull_jvp(m, b, NULL, 3, how, &how_dual);
    EXPECT(near(*m->U.dual, 4 * 3 * 2 * 0.5 * 5));
}

static void binding(struct_fields *m)
{
    struct_fields_Body data[4] = {0}, grad[4] = {0}, dual[4] = {0};
    EXPECT(struct_fields_bind_p(m, data, data, dual) == TK_BAD_ARGUMENT);
    printf("%s\n", struct_fields_error(m));
    tk_session_clear_error(m->tk.session);
    EXPECT(struct_fields_bind_p(m, data, NULL, dual) == TK_BAD_ARGUMENT);
    printf("%s\n", struct_fields_error(m));
    tk_session_clear_error(m->tk.session);
    EXPECT(tk_field_data(m->p.field.pos) != data[0].pos);
    EXPECT(struct_fields_bind_p(m, data, grad, dual) == TK_OK && m->p.data == data && m->p.grad == grad);
    EXPECT(tk_field_data(m->p.field.pos) == data[0].pos && tk_field_grad(m->p.field.pos) == grad[0].pos);
    double block[12], block_grad[12] = {0}, block_dual[12];
    EXPECT(struct_fields_bind_v(m, block, block_grad, block_dual) == TK_OK && m->v.data[2] == block + 8 && m->v.grad[1] == block_grad + 4);
    fill(m);
    EXPECT(block[9] == 21 && data[3].pos[0] == 4);
    TK_TAPE(m, m->U) struct_fields_energy(m);
    EXPECT(near(grad[1].pos[0], 2 * 2 * 1.5 * 1.5) && near(block_grad[3], 5 * 0.5 * 3));
    EXPECT(struct_fields_bind_p(m, data, grad, dual) == TK_OK);
    double *const more = (double *)(void *)data;
    EXPECT(struct_fields_bind_v(m, block, more, block_dual) == TK_BAD_ARGUMENT);
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
    EXPECT(struct_fields_status(m) == TK_OK);
    puts(struct_fields_error(m));
    binding(m);
    struct_fields_destroy(m);
    return failures;
}
