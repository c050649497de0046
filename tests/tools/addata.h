/* Data for adcheck --algorithm: ranges by the names of fields, random or on a lattice. Only programs with algorithms are linked with it. */
#ifndef ADDATA_H
#define ADDATA_H

#include <stdbool.h>

enum { ADDATA_RANDOM = -1, ADDATA_LATTICES = 4 };

/* words: LO HI of all, then NAME LO HI of single fields, then perhaps `random NAME...`: those are never on a lattice; and
 * `decides NAME...`: those may have no gradient; and `within NAME...`: kernels that are checked only as parts of others. False after saying what is wrong. */
__attribute__((weak)) bool addata_parse(int n, char **words);
/* The number that u in [0, 1) stands for, of field NAME (NULL: of an argument). lattice: its number, or ADDATA_RANDOM. */
__attribute__((weak)) double addata_draw(const char *name, int lattice, double u);
/* The same of an integer: LO and HI are among them. */
__attribute__((weak)) long long addata_draw_integer(const char *name, double u);
/* Whether a field may have no gradient at all. */
__attribute__((weak)) bool addata_decides(const char *name);
/* Whether a kernel makes sense with what another one left only. */
__attribute__((weak)) bool addata_within(const char *kernel);

#endif
