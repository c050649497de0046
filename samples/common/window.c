/* For programs built without SDL2. */
#include <stdio.h>

#include "sample.h"

bool window_run(sample *s, sample_state *t, int frames, const char *screenshot)
{
    (void)t, (void)frames, (void)screenshot;
    fprintf(stderr, "%s: --window: this program was built without SDL2\n", s->name);
    return false;
}
