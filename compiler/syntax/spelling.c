#include "syntax/spelling.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char lower_case(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool alike(char a, char b)
{
    return lower_case(a) == lower_case(b);
}

/* Insertions, deletions, substitutions and swaps of neighbours that lead from a to b, but for the case; more than limit
 * if there are more. */
static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 40 };
    const int n = (int)strlen(a), m = (int)strlen(b);
    int row[3][LONGEST + 1]; /* row i % 3: distances of the first i characters of a */
    if (n > LONGEST || m > LONGEST || abs(n - m) > limit)
        return limit + 1;
    for (int i = 0; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        for (int j = 0; j <= m; j++) {
            int least = i == 0 ? j : before[j] + 1;
            if (j > 0 && now[j - 1] + 1 < least)
                least = now[j - 1] + 1;
            if (i > 0 && j > 0 && before[j - 1] + !alike(a[i - 1], b[j - 1]) < least)
                least = before[j - 1] + !alike(a[i - 1], b[j - 1]);
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]) && earlier[j - 2] + 1 < least)
                least = earlier[j - 2] + 1;
            now[j] = least;
        }
    }
    return row[n % 3][m];
}

static int common_prefix(const char *a, const char *b)
{
    int n = 0;
    while (a[n] && alike(a[n], b[n]))
        n++;
    return n;
}

void spelling_consider(spelling_search *s, const char *known)
{
    const int d = edit_distance(s->name, known, s->limit);
    if (d > s->limit || d > s->least)
        return;
    if (d == s->least && s->best) {
        const int longer = common_prefix(s->name, known) - common_prefix(s->name, s->best);
        if (longer < 0 || (longer == 0 && strcmp(known, s->best) >= 0))
            return;
    }
    s->least = d;
    s->best = known;
}

int spelling_limit(const char *name)
{
    const size_t n = strlen(name);
    return n <= 2 ? 0 : n <= 5 ? 1 : 2;
}

spelling_search spelling_begin(const char *name, int limit)
{
    return (spelling_search){.name = name, .limit = limit, .least = limit};
}
