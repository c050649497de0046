#include "syntax/habits.h"

#include <string.h>

static const habit habits[] = {
#define WORD(kind, word, here) {HABIT_##kind, word, here},
#include "syntax/habits.def"
};

const habit *habit_find(const char *word, size_t len)
{
    for (size_t k = 0; k < sizeof habits / sizeof *habits; k++)
        if (strlen(habits[k].word) == len && memcmp(habits[k].word, word, len) == 0)
            return &habits[k];
    return NULL;
}
