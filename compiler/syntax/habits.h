/* Words of other languages, and what to write instead: the rows WORD of habits.def. */
#ifndef TKC_HABITS_H
#define TKC_HABITS_H

#include <stddef.h>

typedef enum habit_kind { HABIT_TYPE, HABIT_NAME, HABIT_SAY, HABIT_VALUE, HABIT_LIBRARY } habit_kind;

typedef struct habit {
    habit_kind kind;
    const char *word, *here;
} habit;

/* The row of a word, NULL if there is none. */
const habit *habit_find(const char *word, size_t len);

#endif
