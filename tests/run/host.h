/* Shared by host programs. A host includes the header of its module in front of this one. It ends with
 * `return failures != 0`; one that returns 0 in spite of failures ends with status 1 all the same. */
#ifndef TESTS_RUN_HOST
#define TESTS_RUN_HOST

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkc/tkc.h>

static int failures;

__attribute__((destructor)) static void end_with_failures(void)
{
    fflush(stdout);
    if (failures)
        _Exit(1);
}

/* Counts a failure and prints the place and a message, as printf does. */
#define FAIL(...) ((void)(failures++, printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n")))

#define CHECK(condition) ((condition) ? (void)0 : FAIL("%s is false", #condition))

/* |got - want| is at most tolerance * (1 + |want|). */
#define CHECK_NEAR(got, want, tolerance) check_near(__FILE__, __LINE__, #got, (double)(got), (double)(want), tolerance)

/* The status of a call and of the session is the wanted one, and the session's message contains the text. Clears it. */
#define CHECK_STATUS(m, got, want, text) check_status(__FILE__, __LINE__, (m)->tk.session, got, want, text)
#define CHECK_OK(m, got) CHECK_STATUS(m, got, TK_OK, "")
#define CHECK_REFUSED(m, got, text) CHECK_STATUS(m, got, TK_BAD_ARGUMENT, text)

static inline bool near(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

static inline void check_near(const char *file, int line, const char *what, double got, double want, double tolerance)
{
    if (near(got, want, tolerance))
        return;
    printf("%s:%d: %s is %.17g, not %.17g\n", file, line, what, got, want);
    failures++;
}

static inline void check_status(const char *file, int line, tk_session *s, tk_status got, tk_status want,
                                const char *text)
{
    if (got != want || tk_session_status(s) != want || !strstr(tk_session_error(s), text)) {
        printf("%s:%d: %s '%s' instead of %s '%s'\n", file, line, tk_status_name(got), tk_session_error(s),
               tk_status_name(want), text);
        failures++;
    }
    tk_session_clear_error(s);
}

/* Memory of a session, counted and limited. */
typedef struct heap {
    int64_t calls, fails_at;   /* allocations so far; the one that fails, 0 for none */
    size_t bytes, most, limit; /* held now; the most so far; allowed, 0 for any number */
} heap;

static inline void *heap_alloc(void *user, void *old, size_t old_size, size_t size)
{
    heap *const h = (heap *)user;
    if (size == 0) {
        h->bytes -= old ? old_size : 0;
        free(old);
        return NULL;
    }
    if (++h->calls == h->fails_at || (h->limit && h->bytes + size > h->limit))
        return NULL;
    h->bytes += size;
    h->most = h->bytes > h->most ? h->bytes : h->most;
    return malloc(size);
}

static inline tk_session *heap_session(heap *h)
{
    tk_session_options o = tk_session_defaults();
    o.alloc = heap_alloc;
    o.alloc_user = h;
    return tk_session_create(&o);
}

/* The next n allocations succeed, and the one behind them fails. */
static inline void heap_fails_after(heap *h, int64_t n)
{
    h->calls = 0;
    h->fails_at = n + 1;
}

#endif
