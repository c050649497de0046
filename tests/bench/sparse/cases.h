/* Cases of the suite in files of their own. */
#ifndef BENCH_SPARSE_CASES
#define BENCH_SPARSE_CASES

#include "bench.h"

extern const bench_case cases_of_diffusion[];
void print_diffusion(const bench_row *r);

#endif
