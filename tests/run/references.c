#include "references.h"
#include "host.h"

int main(void)
{
    references *m = references_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 300; i++) {
        m->x.data[i] = i % 13;
        for (int k = 0; k < 4; k++)
            m->grid.data[k * 300 + i].a = i + k;
    }
    references_called(m);
    references_written(m);
    CHECK_OK(m, references_status(m));
    for (int i = 0; i < 6 * 300; i++)
        if (m->got.data[i] != m->want.data[i])
            FAIL("%d %d: %g, not %g", i / 300, i % 300, (double)m->got.data[i], (double)m->want.data[i]);
    for (int i = 0; i < 300; i++)
        CHECK(m->counts.data[i] == 2);
    references_destroy(m);
    return failures != 0;
}
