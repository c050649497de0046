#include "struct_tangents.h"
#include "host.h"

int main(void)
{
    struct_tangents *m = struct_tangents_create(NULL, NULL);
    if (!m)
        return 1;
    const struct_tangents_Camera c = {.lens = {.turn = {{1, 2}, {3, 4}}, .power = 5}, .shift = {6, 7}}, c_dual = {.lens = {.power = 1}};
    const struct_tangents_Ray r = {.at = {1, 10}, .length = 2}, r_dual = {.at = {1, 0}};
    double y, y_dual;
    CHECK(struct_tangents_look_jvp(m, c, &c_dual, r, NULL, &y, &y_dual) == TK_OK && y == 770 && y_dual == 154);
    CHECK(struct_tangents_look_jvp(m, c, NULL, r, &r_dual, &y, &y_dual) == TK_OK && y == 770 && y_dual == 40);
    CHECK(struct_tangents_look_jvp(m, c, NULL, r, NULL, &y, &y_dual) == TK_OK && y == 770 && y_dual == 0);
    struct_tangents_destroy(m);
    return failures != 0;
}
