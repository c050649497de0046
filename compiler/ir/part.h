/* Parts of fields that launches touch. */
#ifndef TKC_IR_PART_H
#define TKC_IR_PART_H

#include <stdbool.h>

#include "ir/plane.h"

typedef struct ir_field ir_field;

/* Flags of a part, by their names in libtkc (TK_READS, ..., tkc_gen.h) and in printed IR. The first three are OP_READS,
 * OP_STORES and OP_ADDS. */
#define IR_PART_FLAGS(X) \
    X(READS, "reads") \
    X(STORES, "stores") \
    X(ACCUMULATES, "adds") \
    X(NEEDED, "needed") \
    X(NEEDED_BY_PRODUCT, "product") \
    X(ALL, "all") \
    X(PERHAPS, "perhaps") \
    X(CUSTOM, "custom") \
    X(SAVED, "saved") \
    X(BEFORE_WANTED, "wanted") \
    X(BEFORE_REPLAYED, "replayed")
#define IR_PART_BIT_(id, word) IR_PART_BIT_##id,
#define IR_PART_FLAG_(id, word) IR_PART_##id = 1 << IR_PART_BIT_##id,
enum { IR_PART_FLAGS(IR_PART_BIT_) IR_PART_BITS };
enum { IR_PART_FLAGS(IR_PART_FLAG_) IR_PART_WRITES = IR_PART_STORES | IR_PART_ACCUMULATES };
#undef IR_PART_BIT_
#undef IR_PART_FLAG_

/* A part of a field that launches of a kernel touch: a row of their footprint. */
typedef struct ir_part {
    ir_field *field;
    ir_plane plane;
    unsigned what;   /* IR_PART_* */
    bool compared;   /* by tapes, from launch to launch */
    int first, last; /* components */
} ir_part;

#endif
