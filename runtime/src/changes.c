/* What launches changed of data that earlier adjoints may need: put back on the way back, and made anew behind it. */
#include "needs.h"

static void swap(struct rt_changes *c, size_t i)
{
    uint64_t now = 0;
    memcpy(&now, c->item[i].at, c->bytes);
    memcpy(c->item[i].at, &c->item[i].value, c->bytes);
    c->item[i].value = now;
}

static void undo(struct rt_changes *c)
{
    for (; c; c = c->next) {
        for (size_t i = c->n; i-- > 0;)
            swap(c, i);
        c->undone = true;
    }
}

void tk_rt_changes_undo(tk_session *s, rt_entry *e)
{
    undo(e->changes);
    s->tape.undone = s->tape.undone || e->changes;
}

static void free_changes(tk_session *s, struct rt_changes **list)
{
    for (struct rt_changes *c = *list, *next; c; c = next) {
        next = c->next;
        tk_rt_free(s, c);
    }
    *list = NULL;
}

void tk_rt_changes_put_back(tk_session *s)
{
    undo(s->tape.scratch);
    free_changes(s, &s->tape.scratch);
}

static struct rt_changes *reversed(struct rt_changes *c)
{
    struct rt_changes *done = NULL;
    for (struct rt_changes *next; c; c = next) {
        next = c->next;
        c->next = done;
        done = c;
    }
    return done;
}

/* The list has the last change first, and may be long: a function of the host's launches as it likes. */
static void redo(struct rt_changes **list)
{
    struct rt_changes *first = reversed(*list);
    for (struct rt_changes *c = first; c; c = c->next) {
        for (size_t i = 0; i < c->n && c->undone; i++)
            swap(c, i);
        c->undone = false;
    }
    *list = reversed(first);
}

void tk_rt_changes_redo(tk_session *s)
{
    for (size_t i = 0; i < s->tape.count && s->tape.undone; i++)
        redo(&s->tape.entries[i].changes);
    s->tape.undone = false;
}

void tk_rt_changes_free(tk_session *s, rt_entry *e)
{
    free_changes(s, &e->changes);
}

void tk_rt_changes_forget(tk_session *s, struct rt_changes **list, const tk_module *m)
{
    for (struct rt_changes *c = *list; c; c = *list)
        if (c->field->module == m) {
            *list = c->next;
            tk_rt_free(s, c);
        } else {
            list = &c->next;
        }
}
