#include "lsp/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 16,
    MOST_HEADER = 1 << 14,
    MOST_MESSAGE = 160 << 20 /* a source of the greatest size, escaped */
};

/* ---- out ---- */

static void write_all(wire *w, const char *s, size_t n)
{
    while (n > 0 && !w->broken) {
        const ssize_t done = write(w->out, s, n);
        if (done < 0 && errno != EINTR)
            w->broken = true;
        if (done > 0) {
            s += done;
            n -= (size_t)done;
        }
    }
}

void wire_send(wire *w, json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *text = json_dumps(message, JSON_COMPACT);
    if (text) {
        strbuf b = {0};
        sb_printf(&b, "Content-Length: %zu\r\n\r\n", strlen(text));
        sb_add(&b, text);
        write_all(w, b.s, b.len);
        sb_free(&b);
    }
    free(text);
    json_decref(message);
}

void wire_reply(wire *w, json_t *id, json_t *result)
{
    json_t *m = json_object();
    json_object_set(m, "id", id);
    json_object_set_new(m, "result", result ? result : json_null());
    wire_send(w, m);
}

void wire_error(wire *w, json_t *id, int code, const char *text)
{
    json_t *m = json_object();
    json_object_set_new(m, "id", id ? json_incref(id) : json_null());
    json_object_set_new(m, "error", json_pack("{s:i,s:s}", "code", code, "message", text));
    wire_send(w, m);
}

void wire_notify(wire *w, const char *method, json_t *params)
{
    json_t *m = json_object();
    json_object_set_new(m, "method", json_string(method));
    json_object_set_new(m, "params", params);
    wire_send(w, m);
}

/* ---- in ---- */

/* The length that a header tells; -1: none. */
static long long length_of(const char *header, size_t n)
{
    static const char name[] = "Content-Length:";
    for (size_t i = 0; i + sizeof name - 1 <= n; i++) {
        if ((i > 0 && header[i - 1] != '\n') || strncasecmp(header + i, name, sizeof name - 1) != 0)
            continue;
        char digits[24] = "";
        size_t k = 0;
        for (i += sizeof name - 1; i < n && header[i] == ' ';)
            i++;
        while (i < n && header[i] >= '0' && header[i] <= '9' && k + 1 < sizeof digits)
            digits[k++] = header[i++];
        return k > 0 && k < 19 ? strtoll(digits, NULL, 10) : -1;
    }
    return -1;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The unit of UTF-16 that an escape stands for; -1: there is none at s. */
static int escaped_unit(const char *s, size_t n)
{
    int unit = 0;
    if (n < 6 || s[0] != '\\' || s[1] != 'u')
        return -1;
    for (int k = 2; k < 6; k++) {
        if (hex(s[k]) < 0)
            return -1;
        unit = unit * 16 + hex(s[k]);
    }
    return unit;
}

/* Editors may have half of a pair in their text, which no UTF-8 has: it becomes U+FFFD, of the same width. */
static void mend_surrogates(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\\')
            continue;
        const int unit = escaped_unit(s + i, n - i);
        if (unit < 0xd800 || unit > 0xdfff) {
            i += unit < 0 ? 1 : 5;
            continue;
        }
        const int next = escaped_unit(s + i + 6, n - i > 6 ? n - i - 6 : 0);
        if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff)
            i += 11;
        else {
            memcpy(s + i, "\\ufffd", 6);
            i += 5;
        }
    }
}

static void parse_message(wire *w, char *s, size_t n)
{
    mend_surrogates(s, n);
    json_error_t e;
    json_t *m = json_loadb(s, n, JSON_ALLOW_NUL, &e);
    if (json_is_object(m)) {
        vec_push(&w->queue, m);
        return;
    }
    wire_error(w, NULL, m ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR, m ? "a message is an object" : e.text);
    json_decref(m);
}

/* Takes one message, or what cannot be one, out of the buffer. False: more has to come first. */
static bool take_message(wire *w)
{
    char *s = w->buffer.s ? w->buffer.s + w->begin : NULL;
    const size_t n = w->buffer.len - w->begin;
    if (w->skip > 0) {
        const size_t now = n < w->skip ? n : w->skip;
        w->skip -= now;
        w->begin += now;
        return now > 0;
    }
    const char *end = n ? memmem(s, n, "\r\n\r\n", 4) : NULL;
    if (!end && n > MOST_HEADER) {
        wire_error(w, NULL, RPC_PARSE_ERROR, "no header");
        w->begin += n - 3;
        return true;
    }
    if (!end)
        return false;
    const size_t header = (size_t)(end - s) + 4;
    const long long length = length_of(s, header);
    if (length < 0 || length > MOST_MESSAGE) {
        wire_error(w, NULL, RPC_PARSE_ERROR,
                   length < 0 ? "a header without Content-Length" : "the message is too large");
        w->begin += header;
        w->skip = length < 0 ? 0 : (size_t)length;
        return true;
    }
    if (n - header < (size_t)length)
        return false;
    parse_message(w, s + header, (size_t)length);
    w->begin += header + (size_t)length;
    return true;
}

/* Reads once what is there. False: nothing was, for so long. */
static bool read_some(wire *w, int milliseconds)
{
    struct pollfd p = {.fd = w->in, .events = POLLIN};
    const int ready = poll(&p, 1, milliseconds);
    if (ready <= 0)
        return ready < 0 && errno == EINTR;
    char chunk[CHUNK];
    const ssize_t n = read(w->in, chunk, sizeof chunk);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        w->ended = true;
    if (n <= 0)
        return false;
    sb_addn(&w->buffer, chunk, (size_t)n);
    while (take_message(w))
        continue;
    if (w->begin == w->buffer.len) {
        w->begin = 0;
        if (w->buffer.cap > 4 * CHUNK)
            sb_free(&w->buffer);
        else
            sb_clear(&w->buffer);
    } else if (w->begin > w->buffer.len / 2) {
        memmove(w->buffer.s, w->buffer.s + w->begin, w->buffer.len - w->begin);
        w->buffer.len -= w->begin;
        w->begin = 0;
    }
    return true;
}

bool wire_waiting(const wire *w)
{
    return w->taken < w->queue.len;
}

json_t *wire_next(wire *w, int milliseconds)
{
    while (!w->ended && read_some(w, wire_waiting(w) ? 0 : milliseconds))
        continue;
    if (!wire_waiting(w))
        return NULL;
    json_t *m = w->queue.at[w->taken++];
    if (!wire_waiting(w)) {
        vec_clear(&w->queue);
        w->taken = 0;
    }
    return m;
}

void wire_free(wire *w)
{
    while (wire_waiting(w))
        json_decref(w->queue.at[w->taken++]);
    vec_free(&w->queue);
    sb_free(&w->buffer);
}
