// SPDX-License-Identifier: Apache-2.0
// plan.h: how the group loop will run a kernel, and which versions of it: between plan.c, which
// decides, and wrap.c, which emits each once.
#ifndef INGOT_PLAN_H
#define INGOT_PLAN_H
#include "compiler/codegen/codegen.h"

enum { MSL_FILTER_ROWS = 8 }; // of a step of a filter

typedef struct MslPlan {
    bool shaped; // the threadgroup's size is known
    bool rows;   // not known and of no interest: threads run row by row
    bool loose;  // cut threadgroups keep the arrangement of the shape
    bool suspends, full_suspends;
    bool has_full;       // a version for whole steps; that for some threads runs the rest
    bool serves_edges;   // the rest is of threadgroups that the grid cuts off, no others
    bool shares_slow;    // full's slow copy, if it has one, is also the version for some threads
    unsigned full_width; // threads of a step of `full`
    unsigned full_rows;  // that they are pieces of, above each other; 1: one behind the other
    uint32_t stream_bytes;
    MslVersion full, some;
} MslPlan;

MslPlan msl_make_plan(Cg *cg);
#endif
