#include "simulate.h"

#include <stdio.h>

const char *const way_names[WAYS] = {"stored", "recomputed", "saved"};

static const float corner[2] = {0.10f, 0.40f}, width = 0.16f, duration = 0.8f;

int least_steps(int cells)
{
    const float sound = 5.0f; /* of a body of jelly.tk's stiffness */
    return (int)(sound * duration * (float)cells / 0.65f);
}

jelly *body_create(tk_session *session, size s, enum way way)
{
    jelly_params p = jelly_defaults();
    p.N = s.side * s.side;
    p.STEPS = s.steps;
    p.CELLS = s.cells;
    p.GRIDS = way == STORED ? s.steps : way == RECOMPUTED ? 1 : 0;
    p.SAVED = way == SAVED;
    p.DT = duration / (float)s.steps;
    p.VOLUME = width * width / (float)p.N;
    jelly *m = jelly_create(session, &p);
    if (!m) {
        fprintf(stderr, "jelly: %s\n", tk_error());
        return NULL;
    }
    for (int k = 0; k < p.N; k++) {
        m->x.data[k][0] = corner[0] + width * ((float)(k % s.side) + 0.5f) / (float)s.side;
        m->x.data[k][1] = corner[1] + width * ((float)(k / s.side) + 0.5f) / (float)s.side;
        m->F.data[k][0][0] = m->F.data[k][1][1] = 1.0f;
    }
    m->throw_.data[0][0] = 0.4f;
    m->throw_.data[0][1] = -1.0f;
    m->target.data[0][0] = 0.8f;
    m->target.data[0][1] = 0.4f;
    return m;
}

tk_status body_gradient(jelly *m, enum way way)
{
    TK_TAPE(m, m->loss) {
        jelly_begin(m);
        for (int t = 0; t < m->params.STEPS; t++) {
            if (way == RECOMPUTED)
                jelly_frugal_step(m, t);
            else
                jelly_step(m, t);
        }
        jelly_measure(m);
    }
    return jelly_status(m);
}

size_t body_bytes(const jelly *m)
{
    const tk_field *const fields[] = {m->x.field, m->v.field, m->C.field, m->F.field, m->grid.field, m->flow.field, m->saved_grid.field,
                                      m->saved_flow.field, m->throw_.field, m->target.field, m->loss.field};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        bytes += tk_field_bytes(fields[i]) * (tk_field_grad(fields[i]) ? 2 : 1);
    return bytes;
}

float body_rate(void)
{
    return 0.25f / (duration * duration);
}

void body_centre(const jelly *m, int step, float centre[2])
{
    const int n = m->params.N;
    const float (*x)[2] = (const float (*)[2])m->x.data + (size_t)step * (size_t)n;
    double sum[2] = {0.0, 0.0};
    for (int k = 0; k < n; k++) {
        sum[0] += (double)x[k][0];
        sum[1] += (double)x[k][1];
    }
    centre[0] = (float)(sum[0] / n);
    centre[1] = (float)(sum[1] / n);
}
