#include "precision.h"
#include "host.h"

static void clear(precision *p)
{
    tk_module_clear_grad(&p->tk);
    tk_module_clear_dual(&p->tk);
    memset(p->y.data, 0, 12 * sizeof *p->y.data);
}

static void casts(precision *p)
{
    for (int i = 0; i < 3; i++) {
        p->s.data[i] = 0.5f + (float)i;
        p->d.data[i] = 1.25 + i;
    }
    clear(p);
    p->y.grad[1] = 2;
    p->z.grad[1] = 4;
    p->y.grad[4] = 1;
    p->y.grad[7] = 1e-300; /* too small for f32: the derivative of a cast is taken in the type of the value that is cast to */
    precision_casts_grad(p);
    CHECK(p->s.grad[1] == 2.0f * 2 * 1.5f * 2.25f + 4 * (2.25f * 2.25f + 0.5f) + 2.25f);
    CHECK(p->d.grad[1] == 2 * 1.5 * 1.5 + 4 * 2 * 2.25 * 1.5 + 1.5);
    CHECK(p->s.grad[0] == 0 && p->d.grad[2] == 0);
    clear(p);
    p->s.dual[2] = 1;
    precision_casts_jvp(p);
    CHECK(p->y.data[2] == 2.5 * 2.5 * 3.25 && p->y.dual[2] == 2 * 2.5 * 3.25 && p->z.dual[2] == 3.25f * 3.25f + 0.5f &&
          p->y.dual[5] == 3.25);
    clear(p);
    p->d.dual[2] = 1e300;
    precision_casts_jvp(p);
    CHECK(p->y.dual[5] == 2.5e300 && p->y.dual[8] > 1e308); /* 1e300 as f32 is infinite */
}

static void integers(precision *p)
{
    p->d.data[0] = 3.75;
    p->d.data[1] = -2.5;
    p->s.data[0] = 5.5f;
    p->s.data[1] = 7.0f;
    p->i8s.data[0] = 127; /* wraps */
    p->i8s.data[1] = 2;
    p->u8s.data[0] = 100;
    p->u8s.data[1] = 3;
    p->i16s.data[0] = -300;
    p->u16s.data[0] = 65535;
    p->i32s.data[0] = -2000000000;
    p->u32s.data[0] = 4000000000u;
    p->i64s.data[0] = INT64_C(-9000000000000000000);
    p->u64s.data[0] = UINT64_C(17000000000000000000);
    clear(p);
    for (int i = 0; i < 12; i++)
        p->y.grad[i] = 1;
    precision_integers_grad(p);
    precision_integers(p);
    const double n = -126, wide = (double)(INT64_C(-9000000000000000000) % 7) + 14;
    CHECK(p->y.data[0] == n * 3.75 + 244 && p->y.data[2] == (-300.0 + 65535) * 3.75);
    CHECK(p->y.data[4] == (-2e9 - 4e9) * 3.75 && p->y.data[6] == wide * 3.75 && p->y.data[8] == 256 * 3.75);
    CHECK(p->y.data[1] == 0 * -2.5 + 21 && p->y.data[9] == 0 && p->y.data[10] == 3.75 * 3.75 &&
          p->y.data[11] == -2.5 * 3.75);
    CHECK(p->d.grad[0] == n + (-300.0 + 65535) - 6e9 + wide + 256 + 2 * 3.75 - 2.5);
    CHECK(p->d.grad[1] == 3.75 && p->s.grad[0] == 0 && p->s.grad[1] == 0);
}

static void members(precision *p)
{
    p->m.data[0] = (precision_Mixed){.a = 1.5f, .n = 200, .b = 0.25, .on = true, .v = {2, 3}};
    p->m.data[1] = (precision_Mixed){.a = 2.5f, .n = 1, .b = 4, .v = {5, 6}};
    clear(p);
    p->y.grad[0] = p->y.grad[1] = 1;
    precision_members_grad(p);
    CHECK(p->m.grad[0].a == 50 && p->m.grad[0].b == 300 && p->m.grad[0].v[0] == 3 && p->m.grad[0].v[1] == 2);
    CHECK(p->m.grad[1].a == 4 && p->m.grad[1].b == 2.5 + 1 && p->m.grad[1].v[0] == 0);
    clear(p);
    p->m.dual[0].v[1] = 2;
    p->m.dual[1].a = 1;
    precision_members_jvp(p);
    CHECK(p->y.data[0] == 1.5 * 0.25 * 200 + 6 && p->y.dual[0] == 4 && p->y.dual[1] == 4);
}

int main(void)
{
    precision *p = precision_create(NULL, NULL);
    if (!p)
        return 2;
    casts(p);
    integers(p);
    members(p);
    CHECK_OK(p, precision_status(p));
    precision_destroy(p);
    return failures != 0;
}
