#include "lane_calls.h"
#include "host.h"

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

static void expect(const char *what, double got, double want)
{
    if (!near(got, want, 1e-9))
        FAIL("%s: %.17g, and by hand %.17g", what, got, want);
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
    double z = stepped(m, m->x.data[0]);
    lane_calls_stored(m);
    expect("stored", m->o.data[0], look(0.5, z) + look(0.25, z));
    lane_calls_added(m);
    expect("added", m->o.data[0], look(z, z) + look(0.25 * z, z));
    lane_calls_in_rows(m);
    for (int i = 0; i < 3; i++) {
        z = stepped(m, m->x.data[i]);
        expect("in_rows", m->p.data[i], look(0.5, z) + look(0.25, z));
    }
    CHECK_OK(m, lane_calls_status(m));
    lane_calls_destroy(m);
    return failures != 0;
}
