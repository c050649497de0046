/* libtkc-mpi, inside. */
#ifndef RANKS_H
#define RANKS_H

#include "tkc/mpi.h"
#include "tkc/tkc_gen.h"

#include <stdlib.h>
#include <string.h>

/* Of a session. */
typedef struct ranks {
    MPI_Comm comm;
    int rank, count, key; /* key: of the attribute by which MPI_Finalize finds it */
    int halos, made;      /* that are there; ever */
    bool ended, alone;    /* the communicator is free; nothing is agreed on any more */
    void *room;           /* for sums */
    size_t bytes;
    tk_mpi_counts counts;
} ranks;

enum { HALO_TAG = 1, LIST_TAG, SUM_TAG };

/* NULL after failing the session: it is not attached. */
ranks *ranks_of(tk_session *s, const char *what);
/* Fails the session if a function of MPI did. */
bool ranks_ok(tk_session *s, int code, const char *what);
/* Fails the session in a forward scope where tangents of the field would not travel. */
void refuse_wide(tk_session *s, const tk_field *f, const char *what);

/* Elements on one side of a halo, rank by rank. */
typedef struct side {
    int n;       /* ranks */
    int *rank;   /* their numbers */
    int64_t *at; /* where their elements begin, and the end */
    int64_t *element;
    unsigned char *buffer;
} side;

struct tk_halo {
    tk_session *session;
    ranks *ranks;
    char name[48], exchanges[64], begins[64], ends[64]; /* the halo, and what processes agree on */
    tk_field **field;
    int nfields;
    side ghosts, owned;
    MPI_Request *request;
    bool begun, checks, ending; /* messages are under way; what they have is compared at the end, which is now */
    bool in_tape, duals;        /* as it has begun; duals: in a forward scope */
    uint64_t sent;              /* hash of what messages have */
    tk_footprint *line;
    int64_t *box; /* of the lines */
    int nlines;
};

/* create.c: room for lines of boxes, which callers fill. */
tk_halo *halo_create(tk_session *s, ranks *r, tk_field *const *fields, int nfields, const tk_ghost *ghosts, int64_t n,
                     const int64_t *boxes, int nboxes);
bool halo_check_fields(tk_session *s, tk_field *const *fields, int nfields);
/* exchange.c */
void halo_wait(tk_halo *h);
size_t halo_bytes(const tk_halo *h, bool gradients, bool duals); /* of an element, all fields */

#endif
