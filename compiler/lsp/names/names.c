/* The names of a file in the order of its text, for what shows or changes all of them. */
#include <stdlib.h>
#include <string.h>

#include "lsp/features.h"

static int compare(const void *a, const void *b)
{
    const name_use *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

bool same_place(src_loc a, src_loc b)
{
    return a.line == b.line && a.col == b.col && a.file == b.file;
}

static bool again(const name_use *a, const name_use *b)
{
    return a->at == b->at && a->use->type == b->use->type && a->use->name == b->use->name &&
           same_place(a->use->declared.begin, b->use->declared.begin);
}

name_uses unit_names(const unit *u, unsigned file)
{
    name_uses list = {0};
    const strbuf *text = unit_text(u, file);
    if (!text)
        return list;
    TEXT_INDEX(ix, text, false);
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *use = &u->log.uses.at[i];
        const size_t n = use->name ? strlen(use->name) : 0;
        if (!n || use->at.begin.file != file || use->at.begin.line == 0)
            continue;
        const size_t at = text_offset_of(&ix, use->at.begin);
        if (ix.len - at >= n && !memcmp(ix.text + at, use->name, n))
            vec_push(&list, ((name_use){at, i, use}));
    }
    if (list.len)
        qsort(list.at, list.len, sizeof *list.at, compare);
    size_t kept = 0;
    for (size_t i = 0; i < list.len; i++) {
        bool twice = false;
        for (size_t k = kept; k-- > 0 && list.at[k].at == list.at[i].at && !twice;)
            twice = again(&list.at[k], &list.at[i]);
        if (!twice)
            list.at[kept++] = list.at[i];
    }
    list.len = kept;
    return list;
}

const name_use *names_find(const name_uses *list, size_t at)
{
    size_t lo = 0, hi = list->len;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (list->at[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < list->len && list->at[lo].at == at ? &list->at[lo] : NULL;
}

const unit *doc_names(const doc *d)
{
    return d->now->reached >= UNIT_CHECKED || !d->known ? d->now : d->known;
}
