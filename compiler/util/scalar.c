#include "util/scalar.h"

enum kind { KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT, KIND_OTHER };

static const struct {
    const char *name, *c_type;
    int bytes;
    enum kind kind;
} info[] = {
#define SCALAR(id, name, c_type, bytes, kind) {name, c_type, bytes, KIND_##kind},
#include "util/scalar.def"
#undef SCALAR
    {"ptr", "void *", 8, KIND_OTHER},
    {"none", "void", 0, KIND_OTHER},
};

const char *scalar_name(scalar s)
{
    return info[s].name;
}
const char *scalar_c_type(scalar s)
{
    return info[s].c_type;
}
int scalar_bytes(scalar s)
{
    return info[s].bytes;
}
bool scalar_is_float(scalar s)
{
    return info[s].kind == KIND_FLOAT;
}
bool scalar_is_int(scalar s)
{
    return info[s].kind == KIND_INT || info[s].kind == KIND_UINT;
}
bool scalar_is_signed(scalar s)
{
    return info[s].kind == KIND_INT || info[s].kind == KIND_FLOAT;
}
