/* The second level of a tape under a budget: values of images in a file; files.c. */
#ifndef RT_FILES_H
#define RT_FILES_H

#include "states.h"

/* Where tapes may keep images: tk_tape_budget_files. */
typedef struct rt_files {
    size_t bytes; /* at most */
    char directory[];
} rt_files;

/* The values of a state in the file of its tape. */
typedef struct rt_filed {
    struct rt_filed *next; /* in the file */
    size_t at, bytes;
    uint64_t sum;
    bool only; /* memory has the boxes alone */
} rt_filed;

struct rt_file {
    int fd;
    bool named; /* it has its name still */
    size_t bytes, used, most;
    rt_filed *first;
    char name[];
};

/* A new file; NULL after failing the session, and where no directory is set. */
struct rt_file *tk_rt_file_open(tk_session *s);
void tk_rt_file_close(tk_session *s, struct rt_file *file);
/* Bytes that it may still take. */
size_t tk_rt_file_room(const struct rt_file *file);
/* The most that it had. */
size_t tk_rt_file_most(const struct rt_file *file);
/* The values of *st go to the file, and *st becomes a block without them. False: the file has no room for them, or
 * after failing the session. */
bool tk_rt_file_put(tk_session *s, struct rt_file *file, struct rt_state **st);
/* And back. The file keeps them. False after failing the session. */
bool tk_rt_file_get(tk_session *s, struct rt_file *file, struct rt_state **st);
/* The state is about to be freed. */
void tk_rt_file_forget(tk_session *s, struct rt_file *file, struct rt_state *st);

#endif
