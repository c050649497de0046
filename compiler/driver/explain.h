/* `tkc explain`: the entries of docs/errors/, which texts/explain.py makes a table of. */
#ifndef TKC_EXPLAIN_H
#define TKC_EXPLAIN_H

typedef struct explain_entry {
    const char *code, *title, *text, *page; /* page: where it stands, "names.md#e0201-..." */
} explain_entry;

extern const explain_entry explain_entries[]; /* by their numbers */
extern const int explain_nentries;

/* Prints the entries of the codes, or the list of all where there are none. Returns the exit status. */
int explain_main(int ncodes, const char **codes);

/* The address of the page that has the entry of a code, where tkc is installed or built with its pages: to be freed.
 * NULL: there is none. */
char *explain_page(const char *code);

#endif
