#include "reference_a.h"
#include "host.h"

static int printed;

static void on_print(void *user, const char *text)
{
    (void)user;
    if (!strcmp(text, "a\rb\n"))
        printed++;
    else
        fputs(text, stdout);
}

/* Does not compile where a type is another one. */
static void types(reference_a *m)
{
    bool *b = m->f_bool.data;
    int8_t *i8 = m->f_i8.data;
    int16_t *i16 = m->f_i16.data;
    int32_t *i32 = m->f_i32.data;
    int64_t *i64 = m->f_i64.data;
    uint8_t *u8 = m->f_u8.data;
    uint16_t *u16 = m->f_u16.data;
    uint32_t *u32 = m->f_u32.data;
    uint64_t *u64 = m->f_u64.data;
    float *f32 = m->f_f32.data, *real = m->f_real.data;
    double *f64 = m->f_f64.data;
    float(*vec2)[2] = m->f_vec2.data, (*vec3)[3] = m->f_vec3.data, (*vec4)[4] = m->f_vec4.data;
    int32_t(*ivec2)[2] = m->f_ivec2.data, (*ivec3)[3] = m->f_ivec3.data, (*ivec4)[4] = m->f_ivec4.data;
    uint8_t(*vec)[5] = m->f_vec.data;
    float(*mat2)[2][2] = m->f_mat2.data, (*mat3)[3][3] = m->f_mat3.data, (*mat4)[4][4] = m->f_mat4.data;
    double(*mat)[2][3] = m->f_mat.data;
    (void)b, (void)i8, (void)i16, (void)i32, (void)i64, (void)u8, (void)u16, (void)u32, (void)u64, (void)f32, (void)real, (void)f64;
    (void)vec2, (void)vec3, (void)vec4, (void)ivec2, (void)ivec3, (void)ivec4, (void)vec, (void)mat2, (void)mat3, (void)mat4, (void)mat;
}

int main(void)
{
    tk_session_options opt = tk_session_defaults();
    opt.on_print = on_print;
    tk_session *s = tk_session_create(&opt);
    reference_a *m = reference_a_create(s, NULL);
    if (!m)
        return 1;
    types(m);
    m->x.data[0] = 0.1f;
    m->y.data[0] = 0.1;
    m->x.data[1] = 1.00000005960464477540f;
    m->y.data[1] = 1.00000005960464477540;
    const float table[2][3] = {{1, 2, 3}, {4, 5, 6}}, square[2][2] = {{1, 2}, {3, 4}}, pair[2] = {1, 2};
    reference_a_early(m, 4);
    reference_a_text(m);
    reference_a_types(m, 1);
    reference_a_given(m, 2, 3, 1, 1, 1, 1, 1, 1, 1, 2, *table, *square, pair);
    reference_a_structs(m, 2, 3, (reference_a_Inner){1.5f, {2.5f, 3.5f}});
    reference_a_widens(m, -1, 255, -2, 65535, -3, 4294967295u, 0.25f, -4, 5);
    reference_a_literals(m, 7, 1, true, 1);
    reference_a_mixed(m, 2, 1, 16777217, 1);
    reference_a_integers(m, 7, 100000);
    reference_a_names(m);
    CHECK(m->parts.grad[1].b[0] == 9 && m->parts.data[1].b[1] == 3.5f && m->parts.grad[0].b[0] == 0);
    float sum = 0;
    reference_a_total(2, 3, *table, pair, &sum);
    CHECK(printed == 1 && *m->wrong.data == 0 && m->far.shape[0] == 100000 && sum == 8);
    CHECK_OK(m, reference_a_status(m));
    reference_a_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
