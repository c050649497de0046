#include "bench.h"

extern const bench_case bench_gmm, bench_gmm_flushed, bench_gmm_fused, bench_gmm_arrays, bench_ba, bench_ba_rows,
    bench_ba_kernel, bench_ba_kernel_rows, bench_lstm, bench_lstm_reverse, bench_ht, bench_ht_complicated, bench_kmeans,
    bench_lse, bench_llsq, bench_llsq_kept, bench_ode, bench_det, bench_det_walk;

const bench_case *const bench_cases[] = {&bench_gmm,    &bench_gmm_flushed,  &bench_gmm_fused, &bench_gmm_arrays,
                                         &bench_ba,     &bench_ba_rows,      &bench_ba_kernel, &bench_ba_kernel_rows,
                                         &bench_lstm,   &bench_lstm_reverse, &bench_ht,        &bench_ht_complicated,
                                         &bench_kmeans, &bench_lse,          &bench_llsq,      &bench_llsq_kept,
                                         &bench_ode,    &bench_det,          &bench_det_walk,  NULL};
