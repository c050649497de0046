#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addata.h"

enum { MAX_RANGES = 64 };

typedef struct range {
    const char *name;            /* NULL: of all others */
    double lo, hi;
    bool off;                    /* never on a lattice */
    bool decides;                /* may have no gradient */
    bool within;                 /* a kernel: not checked alone */
} range;

static range ranges[MAX_RANGES] = {{.lo = 0.3, .hi = 1.2}};
static int nranges = 1;

static bool number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    if (end != word && *end == '\0')
        return true;
    printf("data: '%s' is not a number\n", word);
    return false;
}

static range *find(const char *name)
{
    for (int i = 1; name && i < nranges; i++)
        if (!strcmp(ranges[i].name, name))
            return &ranges[i];
    return &ranges[0];
}

/* Its own range; if it has none yet, that of all. NULL: there are too many. */
static range *own(const char *name)
{
    range *r = find(name);
    if (r != &ranges[0])
        return r;
    if (nranges == MAX_RANGES)
        return NULL;
    r = &ranges[nranges++];
    *r = ranges[0];
    r->name = name;
    return r;
}

static bool is_mark(const char *word)
{
    return !strcmp(word, "random") || !strcmp(word, "decides") || !strcmp(word, "within");
}

/* Reads the names behind the word at i, which must be `word`; gives where they end. */
static int mark(int n, char **words, int i, const char *word, size_t flag)
{
    if (i >= n || strcmp(words[i], word))
        return i;
    for (i++; i < n && !is_mark(words[i]); i++) {
        range *r = own(words[i]);
        if (r)
            *(bool *)((unsigned char *)r + flag) = true;
    }
    return i;
}

bool addata_parse(int n, char **words)
{
    if (n < 2 || !number(words[0], &ranges[0].lo) || !number(words[1], &ranges[0].hi))
        return false;
    int i = 2;
    for (; i < n && !is_mark(words[i]); i += 3) {
        range *r = i + 2 < n ? own(words[i]) : NULL;
        if (!r) {
            printf("data: NAME LO HI is wanted at '%s'\n", words[i]);
            return false;
        }
        if (!number(words[i + 1], &r->lo) || !number(words[i + 2], &r->hi))
            return false;
    }
    i = mark(n, words, i, "random", offsetof(range, off));
    i = mark(n, words, i, "decides", offsetof(range, decides));
    return mark(n, words, i, "within", offsetof(range, within)) == n;
}

/* Products and quotients: 3 * 0.1 is not 3 / 10.0. */
static double on_lattice(int lattice, double lo, double hi, double u)
{
    static const double step[ADDATA_LATTICES] = {0.1, 0.0, 0.25, 0.0}, parts[ADDATA_LATTICES] = {10.0, 10.0, 4.0, 3.0};
    const double first = ceil(lo * parts[lattice] - 1e-9), last = floor(hi * parts[lattice] + 1e-9), k = first + floor(u * (last - first + 1.0));
    if (last < first)
        return lo + (hi - lo) * u;
    return step[lattice] > 0.0 ? k * step[lattice] : k / parts[lattice];
}

double addata_draw(const char *name, int lattice, double u)
{
    const range *r = find(name);
    return lattice == ADDATA_RANDOM || r->off ? r->lo + (r->hi - r->lo) * u : on_lattice(lattice, r->lo, r->hi, u);
}

long long addata_draw_integer(const char *name, double u)
{
    const range *r = find(name);
    const double lo = r->name ? ceil(r->lo) : 0.0, hi = r->name ? floor(r->hi) : 4.0;
    return (long long)(lo + floor(u * (hi - lo + 1.0)));
}

bool addata_within(const char *kernel)
{
    return find(kernel)->within;
}

bool addata_decides(const char *name)
{
    return find(name)->decides;
}
