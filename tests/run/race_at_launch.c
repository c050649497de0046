#include "race_at_launch.h"
#include "host.h"

#define RACES(launch, text) CHECK_STATUS(m, launch, TK_RACE, text)

int main(void)
{
    race_at_launch *m = race_at_launch_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 16; i++)
        m->a.data[i] = i;
    CHECK_OK(m, race_at_launch_shifted(m, -1));
    CHECK_OK(m, race_at_launch_shifted(m, 0));
    RACES(race_at_launch_shifted(m, 1),
          "race_at_launch.tk:9:60: in kernel 'shifted' one iteration of a parallel loop stores into 'a', and another "
          "one reads it: arguments or params decide that");
    RACES(race_at_launch_shifted(m, 7), "stores into 'a'");
    CHECK(m->a.data[0] == 0);
    CHECK_OK(m, race_at_launch_shifted(m, 8));
    CHECK(m->a.data[7] == 15);
    CHECK_OK(m, race_at_launch_strided(m, 0));
    CHECK_OK(m, race_at_launch_strided(m, 1));
    RACES(race_at_launch_strided(m, -2), "stores into 'a'");
    CHECK_OK(m, race_at_launch_slabs(m, 0, 1));
    RACES(race_at_launch_slabs(m, 2, 2), "stores into 'b'");
    CHECK_OK(m, race_at_launch_added(m, 0, 1));
    RACES(race_at_launch_added(m, 1, 1), "adds to 'b', and another one reads it");
    CHECK_OK(m, race_at_launch_turned(m, 4));
    RACES(race_at_launch_turned(m, 5), "stores into 'a'");
    CHECK_OK(m, race_at_launch_vouched(m, 1));

    CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
    CHECK_OK(m, race_at_launch_shifted(m, 8));
    RACES(race_at_launch_shifted(m, 1), "stores into 'a'");
    (void)tk_tape_drop(tk_module_session(&m->tk));
    const double seed[16] = {1};
    CHECK(tk_forward_begin(&m->a.field, 1, m->a.field, seed, 16) == TK_OK);
    CHECK_OK(m, race_at_launch_shifted(m, 8));
    RACES(race_at_launch_shifted(m, 1), "stores into 'a'");
    (void)tk_forward_end(tk_module_session(&m->tk));
    race_at_launch_destroy(m);
    return failures != 0;
}
