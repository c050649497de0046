/* Threads that wait for each other, however long that takes: tests hold whatever else the machine runs.
 *
 * Counts have a wait without an end: the runner ends programs that hang. The other waits end the program, with a
 * message, when other threads have used much processor time meanwhile. */
#ifndef MEET_H
#define MEET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

void meet_count(atomic_int *n);            /* adds one, and wakes all threads that wait for that */
void meet_await(atomic_int *n, int value); /* waits until *n is that or more */

/* Waits until all other threads of the process sleep at the same time: each has then done all that it can do. */
void meet_rest(void);

/* Waits until that thread sleeps or has ended. */
void meet_sleep(pid_t thread);

/* Whether no other thread has run in one pause of many: those that wake by the clock run in each. */
bool meet_stillness(void);

pid_t meet_self(void);
int meet_threads(bool all); /* of this process; all: also those that are ending */

/* Lets the system end this process behind a minute of processor time: a busy child whose parent died. */
void meet_limit(void);

#endif
