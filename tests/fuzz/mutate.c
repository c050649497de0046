/* Mutations for libFuzzer that keep most of a program intact. Bytes changed at random hardly ever get past the parser; here ranges that mean
 * something, a token, an argument, a bracket with what is in it, a statement, an item, are removed, doubled or replaced by others, of the same program
 * or of another. */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t max, unsigned seed);

static const char *const keywords[] = { /* types are none: they are values of a kind */
#include "keywords.inc"
};

static const char *const words[] = { /* functions, types and operators of the language, and what stands between them in interesting places */
#include "words.inc"
    "0", "1", "2", "3", "-1", "7", "16", "17", "255", "2147483647", "0x80000000", "9223372036854775807", "1e-300", "1e300", "0.0", "-0.0", "0.5",
    "1/0",
    "atomic_max", "x.grad", "x.dual", ".shape[0]", "vec(3, f64)", "mat(2, 3, real)", "mat(5, 5, real)", "vec(40, real)", "derive(grad, jvp, hvp)",
    "stop_grad(x);", "grad_for(f)", "jvp_for(f)", "operator(*)", "break;", "continue;", "return;", "while true", "limit 4", "+ random()", "randn()", "real", "f64(",
};

enum { NKEYWORDS = sizeof keywords / sizeof keywords[0], NWORDS = sizeof words / sizeof words[0], MAX_PIECE = 4096 };

typedef struct text {
    const uint8_t *at;
    size_t n;
} text;

/* Bytes from .. to of a text. */
typedef struct range {
    size_t from, to;
} range;

typedef enum unit { TOKEN, NAME, NUMBER, LINE, ARGUMENT, GROUP, STATEMENT, ITEM, NUNITS } unit;

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)(next(state) % n) : 0;
}

static bool is_word(uint8_t c)
{
    return isalnum(c) || c == '_';
}

static int depth_of(uint8_t c)
{
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* The token around position i: a word or number, blanks, or one character. */
static range token_at(text t, size_t i)
{
    range r = {i, i + 1};
    const bool word = is_word(t.at[i]), blank = isspace(t.at[i]) != 0;
    while ((word || blank) && r.from > 0 && (word ? is_word(t.at[r.from - 1]) : isspace(t.at[r.from - 1]) != 0))
        r.from--;
    while ((word || blank) && r.to < t.n && (word ? is_word(t.at[r.to]) : isspace(t.at[r.to]) != 0))
        r.to++;
    return r;
}

static bool is_keyword(text t, range r)
{
    for (size_t k = 0; k < NKEYWORDS; k++)
        if (strlen(keywords[k]) == r.to - r.from && memcmp(keywords[k], t.at + r.from, r.to - r.from) == 0)
            return true;
    return false;
}

/* Behind the bracket that closes the one at i. */
static size_t closed(text t, size_t i)
{
    int depth = 0;
    for (; i < t.n; i++) {
        depth += depth_of(t.at[i]);
        if (depth <= 0)
            return i + 1;
    }
    return t.n;
}

/* From i outwards to characters of `stop` that are in no bracket of their own; braces end it in any case. */
static range between(text t, size_t i, const char *stop)
{
    range r = {i, i};
    int depth = 0;
    for (; r.from > 0; r.from--) {
        const uint8_t c = t.at[r.from - 1];
        if (depth == 0 && (strchr(stop, c) || depth_of(c) > 0))
            break;
        depth -= depth_of(c);
    }
    for (depth = 0; r.to < t.n; r.to++) {
        const uint8_t c = t.at[r.to];
        if (depth == 0 && (strchr(stop, c) || depth_of(c) < 0))
            break;
        depth += depth_of(c);
    }
    return r;
}

/* From i back to the end of the statement before, and on to a ';' or behind a block. */
static range statement_at(text t, size_t i)
{
    range r = {i, i};
    while (r.from > 0 && !strchr(";{}", t.at[r.from - 1]))
        r.from--;
    for (int depth = 0; r.to < t.n; r.to++) {
        const uint8_t c = t.at[r.to];
        if (depth == 0 && c == '{') {
            r.to = closed(t, r.to);
            break;
        }
        if (depth == 0 && (c == ';' || c == '}')) {
            r.to += c == ';';
            break;
        }
        depth += depth_of(c);
    }
    return r;
}

/* The item that is around i: one whose text begins a line. */
static range item_at(text t, size_t i)
{
    while (i > 0 && !(t.at[i - 1] == '\n' && islower(t.at[i])))
        i--;
    return (range){i, statement_at(t, i).to};
}

/* On a line that is indented: in the body of something. */
static bool is_inside(text t, size_t i)
{
    while (i > 0 && t.at[i - 1] != '\n')
        i--;
    return t.at[i] == ' ';
}

static bool has_unit(text t, size_t i, unit u)
{
    switch (u) {
    case NAME: return is_word(t.at[i]) && !isdigit(t.at[token_at(t, i).from]);
    case NUMBER: return isdigit(t.at[token_at(t, i).from]) != 0;
    case GROUP: return depth_of(t.at[i]) > 0;
    case ARGUMENT: case STATEMENT: return is_inside(t, i) && !isspace(t.at[i]) && depth_of(t.at[i]) >= 0;
    default: return !isspace(t.at[i]);
    }
}

/* A range of the kind, at random; empty if there seems to be none. */
static range pick(text t, unit u, uint64_t *rnd)
{
    size_t i = 0, tries = 200;
    do
        i = below(rnd, t.n);
    while (t.n && !has_unit(t, i, u) && --tries);
    if (!t.n || !tries)
        return (range){0, 0};
    switch (u) {
    case LINE: {
        range r = {i, i};
        while (r.from > 0 && t.at[r.from - 1] != '\n')
            r.from--;
        while (r.to < t.n && t.at[r.to++] != '\n')
            ;
        int depth = 0;
        for (size_t k = r.from; k < r.to; k++)
            depth += depth_of(t.at[k]);
        return depth == 0 ? r : (range){i, i};
    }
    case ARGUMENT: return between(t, i, ",;=?:{}+-*/<>");
    case GROUP: return (range){i, closed(t, i)};
    case STATEMENT: return statement_at(t, i);
    case ITEM: return item_at(t, i);
    default: return token_at(t, i);
    }
}

/* Puts n bytes in the place of a range. The size stays if the result would be too large. */
static size_t splice(uint8_t *data, size_t size, size_t max, range r, const uint8_t *with, size_t n)
{
    uint8_t copy[MAX_PIECE];
    if (n > MAX_PIECE || size - (r.to - r.from) + n > max)
        return size;
    if (n)
        memcpy(copy, with, n); /* it may be a part of data */
    memmove(data + r.from + n, data + r.to, size - r.to);
    if (n)
        memcpy(data + r.from, copy, n);
    return size - (r.to - r.from) + n;
}

static size_t put_word(uint8_t *data, size_t size, size_t max, range r, uint64_t *rnd)
{
    const bool keyword = is_keyword((text){data, size}, r);
    const char *w = keyword ? keywords[below(rnd, NKEYWORDS)] : words[below(rnd, NWORDS)];
    return splice(data, size, max, r, (const uint8_t *)w, strlen(w));
}

/* Puts text in front of a range and behind it: a statement becomes the body of a loop or a branch, an argument that of a function. */
static size_t wrap(uint8_t *data, size_t size, size_t max, uint64_t *rnd)
{
    static const struct {
        unit u;
        const char *before, *behind;
    } forms[] = {
        {STATEMENT, "for zz in range(3) {", "}"}, {STATEMENT, "serial for zz in range(3) {", "}"},
        {STATEMENT, "static for zz in range(2) {", "}"}, {STATEMENT, "if random() < 0.5 {", "}"},
        {STATEMENT, "while random() < 0.5 {", "}"}, {STATEMENT, "while random() < 0.5 limit 9 {", "break;}"}, {STATEMENT, "{", "}"},
        {ARGUMENT, "stop_grad(", ")"}, {ARGUMENT, "(", ")"}, {ARGUMENT, "i32(", ")"}, {ARGUMENT, "f64(", ")"}, {ARGUMENT, "vec2(", ")"},
        {ARGUMENT, "sin(", ")"}, {ARGUMENT, "[", ", 1]"}, {ARGUMENT, "random() < 0.5 ? 0 : ", ""}, {ARGUMENT, "-", ""},
        {ARGUMENT, "min(0.5, ", ")"}, {ARGUMENT, "sum(", ")"}, {ARGUMENT, "", " ** 2"}, {ARGUMENT, "", ".x"}, {ARGUMENT, "", "[0]"},
        {ARGUMENT, "mat2(", ")"}, {ITEM, "", " needs_grad"},
    };
    const size_t f = below(rnd, sizeof forms / sizeof forms[0]);
    const range r = pick((text){data, size}, forms[f].u, rnd);
    if (r.to == r.from || size + strlen(forms[f].before) + strlen(forms[f].behind) > max)
        return size;
    size = splice(data, size, max, (range){r.to, r.to}, (const uint8_t *)forms[f].behind, strlen(forms[f].behind));
    return splice(data, size, max, (range){r.from, r.from}, (const uint8_t *)forms[f].before, strlen(forms[f].before));
}

/* The digit of the options. */
static size_t put_options(uint8_t *data, size_t size, size_t max, uint64_t *rnd)
{
    const uint8_t digit = (uint8_t)('0' + below(rnd, 8));
    return splice(data, size, max, (range){0, size > 0 && isdigit(data[0])}, &digit, 1);
}

/* Whether one range may take the place of another without certain harm to the syntax. */
static bool alike(text t, range r, text u, range s)
{
    if (r.from == r.to || s.from == s.to)
        return false;
    const uint8_t a = t.at[r.from], b = u.at[s.from];
    if (is_word(a) || isspace(a))
        return is_word(a) == is_word(b) && !isdigit(a) == !isdigit(b) && is_keyword(t, r) == is_keyword(u, s);
    return depth_of(a) || depth_of(b) ? a == b : !is_word(b) && !isspace(b);
}

static bool same(text t, range r, text u, range s)
{
    return r.to - r.from == s.to - s.from && memcmp(t.at + r.from, u.at + s.from, r.to - r.from) == 0;
}

static bool knows(text t, text u, range name)
{
    for (range r = {0, 0}; r.to < t.n;) {
        r = token_at(t, r.to);
        if (same(t, r, u, name))
            return true;
    }
    for (size_t k = 0; k < NWORDS; k++)
        if (same((text){(const uint8_t *)words[k], strlen(words[k])}, (range){0, strlen(words[k])}, u, name))
            return true;
    return is_keyword(u, name);
}

/* A piece of another program in names of this one: those that mean nothing here become some that do. Returns its size; 0 if it is too long. */
static size_t translate(text to, text piece, uint8_t out[MAX_PIECE], uint64_t *rnd)
{
    size_t n = 0;
    for (range r = {0, 0}; r.to < piece.n;) {
        r = token_at(piece, r.to);
        text from = piece;
        range s = r;
        if (has_unit(piece, r.from, NAME) && !knows(to, piece, r)) {
            const range mine = pick(to, NAME, rnd);
            if (mine.to > mine.from && !is_keyword(to, mine)) {
                from = to;
                s = mine;
            }
        }
        if (n + (s.to - s.from) > MAX_PIECE)
            return 0;
        memcpy(out + n, from.at + s.from, s.to - s.from);
        n += s.to - s.from;
    }
    return n;
}

/* One change of data, with pieces of `from`, which may be data itself. */
static size_t change(uint8_t *data, size_t size, size_t max, text from, uint64_t *rnd)
{
    static const unit often[] = {TOKEN, NAME, NAME, NAME, NUMBER, NUMBER, ARGUMENT, ARGUMENT, ARGUMENT, GROUP, LINE, STATEMENT, STATEMENT, ITEM};
    const text t = {data, size};
    const bool whole = below(rnd, 3) == 0; /* what stands alone */
    const unit alone = below(rnd, 4) ? STATEMENT : below(rnd, 2) ? ITEM : LINE;
    const unit u = whole ? alone : often[below(rnd, sizeof often / sizeof often[0])];
    range r = pick(t, u, rnd), s = pick(from, u, rnd);
    for (int tries = 20; !whole && tries > 0 && !alike(t, r, from, s); tries--)
        s = pick(from, u, rnd);
    uint8_t translated[MAX_PIECE];
    const uint8_t *piece = from.at + s.from;
    size_t n = s.to - s.from;
    if (from.at != data && below(rnd, 8)) {
        n = translate(t, (text){piece, n}, translated, rnd);
        piece = translated;
    }
    switch (below(rnd, from.at == data ? 16 : 8)) {
    case 8: return put_word(data, size, max, pick(t, below(rnd, 4) ? NAME : TOKEN, rnd), rnd);
    case 9: return put_options(data, size, max, rnd);
    case 10: case 11: case 12: return wrap(data, size, max, rnd);
    default:
        if (!whole)
            return splice(data, size, max, r, piece, n);
        switch (below(rnd, 5)) {
        case 0: return splice(data, size, max, r, NULL, 0);
        case 1: return splice(data, size, max, r, piece, n);
        case 2: return splice(data, size, max, (range){r.from, r.from}, piece, n);
        default: return splice(data, size, max, (range){r.to, r.to}, piece, n);
        }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint64_t rnd = seed;
    if (below(&rnd, 20) == 0)
        return LLVMFuzzerMutate(data, size, max);
    for (size_t n = 1 + below(&rnd, 4) / 3; n > 0; n--)
        size = change(data, size, max, (text){data, size}, &rnd);
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t max, unsigned seed)
{
    uint64_t rnd = seed;
    size_t size = na < max ? na : max;
    memcpy(out, a, size);
    const bool other = below(&rnd, 4) == 0; /* what comes from elsewhere is refused more often */
    for (size_t n = 1 + below(&rnd, 4) / 3; n > 0; n--)
        size = change(out, size, max, other ? (text){b, nb} : (text){out, size}, &rnd);
    return size;
}
