#include "lane_calls.h"

#include <math.h>
#include <stdio.h>

static double twisted(double s)
{
    return s + exp(-s) * log(1.0 + s * s) + sqrt(1.0 + s * s) * sin(s) + atan2(s, 3.0) * tanh(s) +
           exp(-s * s) * cos(3.0 * s);
}

static double look(double s, double q)
{
    for (int m = 0; m < 7; m++)
        s += sin(s * q) * exp(-s * s) + cos(s + m) * tanh(s * q) + atan2(s, 2.0 + s * s) + log(1.0 + s * s * q * q);
    for (int m = 0; m < 9; m++)
        s += cos(s * q) * exp(-s * s) + sin(s + m) * tanh(s * q) + atan2(s, 3.0 + s * s) + log(2.0 + s * s * q * q);
    const double r = twisted(s);
    return twisted(r) + q * q + q * s * r;
}

static double stepped(const lane_calls *m, double z)
{
    for (int k = 0; k < 40; k++)
        z += sin(z) * 0.1 * m->w.data[k];
    return z;
}

static int differs(const char *what, double a, double b)
{
    if (fabs(a - b) <= 1e-9 * (1.0 + fabs(b)))
        return 0;
    printf("%s: %.17g, and by hand %.17g\n", what, a, b);
    return 1;
}

int main(void)
{
    lane_calls *m = lane_calls_create(NULL, NULL);
    if (!m)
        return 1;
    for (int k = 0; k < 40; k++)
        m->w.data[k] = 0.25 + k % 5 * 0.125;
    for (int i = 0; i < 3; i++)
        m->x.data[i] = 0.5 * i + 0.25;
    *m->A.data = *m->B.data = 0.0;
    int bad = 0;
    double z = stepped(m, m->x.data[0]);
    lane_calls_stored(m);
    bad += differs("stored", m->o.data[0], look(0.5, z) + look(0.25, z));
    lane_calls_added(m);
    bad += differs("added", m->o.data[0], look(z, z) + look(0.25 * z, z));
    lane_calls_in_rows(m);
    for (int i = 0; i < 3; i++) {
        z = stepped(m, m->x.data[i]);
        bad += differs("in_rows", m->p.data[i], look(0.5, z) + look(0.25, z));
    }
    bad += lane_calls_status(m) != TK_OK;
    lane_calls_destroy(m);
    return bad;
}
