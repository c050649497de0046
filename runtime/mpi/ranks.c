/* The processes of a session. */
#include "ranks.h"

/* Once one leaves, none waits for it. */
static tk_status agree(void *user, int64_t *words)
{
    ranks *r = user;
    r->counts.agreements++;
    if (r->alone || MPI_Allreduce(MPI_IN_PLACE, words, TK_AGREE_WORDS, MPI_INT64_T, MPI_MAX, r->comm) != MPI_SUCCESS)
        return TK_BAD_STATE;
    r->alone = words[2] >= TK_AGREE_ENDED;
    return TK_OK;
}

ranks *ranks_of(tk_session *s, const char *what)
{
    ranks *r = tk_session_agree_user(s, agree);
    if (!r)
        tk_fail(s, TK_BAD_STATE, "%s: the session is not attached to MPI (tk_mpi_attach)", what);
    return r;
}

bool ranks_ok(tk_session *s, int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &n);
    tk_fail(s, TK_BAD_STATE, "%s: %s", what, text);
    return false;
}

void refuse_wide(tk_session *s, const tk_field *f, const char *what)
{
    const size_t n = strlen(f->desc->name);
    for (int i = 0; tk_forward_is_open(s) && i < f->module->desc->nfields; i++) {
        const tk_field_desc *d = f->module->fields[i].desc;
        if ((d->flags & TK_FIELD_TANGENTS) && !strncmp(d->name, f->desc->name, n) && !strcmp(d->name + n, ".dual"))
            tk_fail(s, TK_NO_DERIVATIVE, "%s: the tangents of field '%s' have several directions, and do not travel",
                    what, f->desc->name);
    }
}

/* MPI_Finalize without tk_mpi_detach: the others, which may be waiting, fail. The memory stays, as the session has it.
 */
static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    ranks *r = value;
    (void)comm, (void)key, (void)extra;
    int64_t words[TK_AGREE_WORDS] = {1, -1, TK_AGREE_ENDED};
    if (r->ended)
        return MPI_SUCCESS;
    agree(r, words);
    MPI_Comm_free(&r->comm);
    r->ended = r->alone = true;
    return MPI_SUCCESS;
}

static bool mpi_runs(void)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

static tk_status check_comm(tk_session *s, MPI_Comm comm)
{
    int inter = 0;
    if (!mpi_runs())
        return tk_fail(s, TK_BAD_STATE, "tk_mpi_attach: MPI is not initialised, or already finalised");
    if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_mpi_attach: the communicator is MPI_COMM_NULL or an intercommunicator");
    return TK_OK;
}

static void end(ranks *r)
{
    const bool was_ended = r->ended; /* by MPI_Finalize: no function of MPI may be called any more */
    r->ended = true;
    if (!was_ended) {
        MPI_Comm_delete_attr(MPI_COMM_SELF, r->key);
        MPI_Comm_free_keyval(&r->key);
        MPI_Comm_free(&r->comm);
    }
    free(r->room);
    free(r);
}

/* In all processes or in none. */
static tk_status attach(tk_session *s, ranks *r)
{
    MPI_Comm_rank(r->comm, &r->rank);
    MPI_Comm_size(r->comm, &r->count);
    if (!ranks_ok(s, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &r->key, NULL), "tk_mpi_attach") ||
        !ranks_ok(s, MPI_Comm_set_attr(MPI_COMM_SELF, r->key, r), "tk_mpi_attach"))
        return tk_session_status(s);
    return tk_session_set_agree(s, r->rank, r->count, agree, r);
}

tk_status tk_mpi_attach(tk_session *s, MPI_Comm comm)
{
    if (!s)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_mpi_attach: the session is NULL");
    if (check_comm(s, comm) != TK_OK)
        return tk_session_status(s);
    if (tk_session_agree_user(s, agree))
        return tk_fail(s, TK_BAD_STATE, "tk_mpi_attach: the session is attached already");
    ranks *r = calloc(1, sizeof *r);
    int worst = r ? (int)tk_session_status(s) : (int)tk_fail(s, TK_NO_MEMORY, "out of memory for tk_mpi_attach");
    if (!ranks_ok(s, MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm), "tk_mpi_attach") ||
        worst != TK_OK || !ranks_ok(s, MPI_Comm_dup(comm, &r->comm), "tk_mpi_attach")) {
        free(r);
        return tk_fail(s, worst != TK_OK ? (tk_status)worst : TK_BAD_STATE, "tk_mpi_attach: another process failed");
    }
    attach(s, r);
    if (tk_session_agree_user(s, agree))
        return tk_session_agree(s, "tk_mpi_attach");
    int64_t words[TK_AGREE_WORDS] = {2, -2, tk_session_status(s)};
    agree(r, words);
    end(r);
    return tk_session_status(s);
}

tk_status tk_mpi_detach(tk_session *s)
{
    if (!s)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_mpi_detach: the session is NULL");
    ranks *r = ranks_of(s, "tk_mpi_detach");
    if (!r)
        return tk_session_status(s);
    if (r->halos > 0)
        return tk_fail(s, TK_BAD_STATE, "tk_mpi_detach: the session has %d halos (tk_halo_destroy)", r->halos);
    tk_session_set_agree(s, 0, 0, NULL, NULL);
    if (!tk_session_agree_user(s, agree))
        end(r);
    return tk_session_status(s);
}

MPI_Comm tk_mpi_comm(const tk_session *s)
{
    const ranks *r = tk_session_agree_user(s, agree);
    return r ? r->comm : MPI_COMM_NULL;
}

tk_status tk_mpi_count(tk_session *s, tk_mpi_counts *counts)
{
    if (!s)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_mpi_count: the session is NULL");
    const ranks *r = ranks_of(s, "tk_mpi_count");
    if (r && !counts)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_mpi_count: the counts are NULL");
    if (r)
        *counts = r->counts;
    return r ? TK_OK : tk_session_status(s);
}
