/* Messages of JSON-RPC, each behind a header with its length, on two descriptors. */
#ifndef TKC_LSP_WIRE_H
#define TKC_LSP_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/strbuf.h"
#include "util/vec.h"

/* Codes of errors, of JSON-RPC and of the protocol. */
enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_NOT_INITIALIZED = -32002,
    RPC_REQUEST_FAILED = -32803,
    RPC_CANCELLED = -32800
};

typedef struct wire {
    int in, out;
    strbuf buffer;       /* what was read and is no message yet, from `begin` on */
    size_t begin, skip;  /* skip: bytes to come of a message that is too large */
    VEC(json_t *) queue; /* messages that nobody took, from `taken` on */
    size_t taken;
    bool ended, broken; /* nothing more comes in; goes out */
} wire;

/* The next message, to be json_decref'd. NULL: nothing came for so many milliseconds (-1: wait), or nothing will come
 * (`ended`). What is there already is read ahead, so that a request can be cancelled that waits still. Broken messages
 * are answered here. */
json_t *wire_next(wire *w, int milliseconds);
/* Whether a message waits. */
bool wire_waiting(const wire *w);
/* Steals the message. */
void wire_send(wire *w, json_t *message);
void wire_reply(wire *w, json_t *id, json_t *result); /* steals the result */
void wire_error(wire *w, json_t *id, int code, const char *text);
void wire_notify(wire *w, const char *method, json_t *params); /* steals params */
void wire_free(wire *w);

#endif
