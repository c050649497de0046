// libtkc from C++17: TK_TAPE around a block that is left by an exception. The fake module's C view is enough: its kernels are C.
#include <tkc/tkc.h>

#include <cstdio>
#include <stdexcept>

extern "C" {
struct guard_module;
struct guard_view {
    tk_field *field;
};
guard_module *guard_create(void);
void guard_destroy(guard_module *m);
tk_module *guard_module_of(guard_module *m);
tk_field *guard_loss(guard_module *m);
tk_status guard_square(guard_module *m);
double guard_gradient(guard_module *m);
}

namespace {

// What TK_TAPE expects of a generated module.
struct handle {
    tk_module &tk;
    guard_view U;
};

int failures = 0;

void check(bool ok, const char *what)
{
    if (!ok) {
        std::printf("failed: %s\n", what);
        failures++;
    }
}

void throwing(handle *h, guard_module *m)
{
    TK_TAPE(h, h->U) {
        guard_square(m);
        throw std::runtime_error("left");
    }
}

} // namespace

int main()
{
    guard_module *m = guard_create();
    handle storage{*guard_module_of(m), {guard_loss(m)}}, *h = &storage;
    tk_session *s = tk_module_session(&h->tk);
    TK_TAPE(h, h->U) guard_square(m);
    check(guard_gradient(m) == 6.0, "gradient of a tape");
    bool caught = false;
    try {
        throwing(h, m);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    check(caught, "the exception passes");
    check(!tk_tape_is_open(s), "the tape is dropped by an exception");
    check(guard_gradient(m) == 0.0, "no adjoint ran");
    TK_TAPE(h, h->U) {
        guard_square(m);
        break;
    }
    check(!tk_tape_is_open(s) && guard_gradient(m) == 0.0, "the tape is dropped by break");
    TK_TAPE(h, h->U) {
        TK_TAPE(h, h->U) check(false, "a doubled tape's block does not run");
    }
    check(tk_session_status(s) == TK_BAD_STATE, "doubled opening");
    tk_session_clear_error(s);
    TK_TAPE(h, h->U) guard_square(m);
    check(guard_gradient(m) == 6.0 && tk_session_status(s) == TK_OK, "usable afterwards");
    guard_destroy(m);
    return failures != 0;
}
