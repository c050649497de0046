// The bytes of an array of the host are those of its structs: each member's could be counted where theirs cannot.
#include "wide_structs.h"
#include "host.h"

int main(void)
{
    wide_structs *m = wide_structs_create(NULL, NULL);
    CHECK(m);
    const wide_structs_Block block = {.a = {.a = 1}, .h = {.h = 2}};
    CHECK(wide_structs_first(m, 1, &block) == TK_OK && m->sum.data[0] == 3);
    CHECK(sizeof block == 256 && wide_structs_first(m, INT64_C(1) << 56, NULL) == TK_BAD_ARGUMENT);
    CHECK(strstr(wide_structs_error(m), "'blocks.a.a' has too many elements"));
    wide_structs_destroy(m);
    return failures != 0;
}
