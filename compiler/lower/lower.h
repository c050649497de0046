/* Typed tree to IR. Aggregates of up to 16 components become scalars, larger ones local arrays with loops; break,
 * continue and early return become carried flags and guards (tails are guarded, never duplicated); ?: && || become
 * `if`.
 */
#ifndef TKC_LOWER_H
#define TKC_LOWER_H

#include "check/base/typed.h"

/* Fills tx->ir with a function for every tx_func. Cannot fail: whatever cannot be lowered was refused by the checker.
 */
void lower_module(tx_module *tx);

#endif
