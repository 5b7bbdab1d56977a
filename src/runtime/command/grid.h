// SPDX-License-Identifier: Apache-2.0
// grid.h: the sizes of a dispatch. They come from calls, from memory that a kernel wrote and from
// indirect commands; here they are checked against the pipeline and converted, for all of them.
#ifndef INGOT_RUNTIME_GRID_H
#define INGOT_RUNTIME_GRID_H
#include "runtime/object/validation.h"
#include "runtime/program/pipeline.h"

typedef struct RtGrid {
    uint32_t threads[3], groups[3], group_size[3];
} RtGrid;

static inline MTLSize rt_size_of(const uint32_t n[3]) { return mtl_size_make(n[0], n[1], n[2]); }

// The first rule that a threadgroup of this size breaks; RT_N_RULES: none.
static inline RtRule rt_group_misfit(const MTLComputePipelineState *p, MTLSize size) {
    const size_t most = RT_MAX_THREADS;
    const uint32_t *required = p->stage->required;
    if (!size.width || !size.height || !size.depth) return RT_RULE_dispatch_empty_threadgroup;
    if (size.width > most || size.height > most || size.depth > most ||
        size.width * size.height * size.depth > p->max_threads)
        return RT_RULE_dispatch_threadgroup_limit;
    if (required[0] &&
        (size.width != required[0] || size.height != required[1] || size.depth != required[2]))
        return RT_RULE_dispatch_required_threadgroup;
    if (p->width_multiple && size.width * size.height * size.depth % ABI_SIMD_WIDTH != 0)
        return RT_RULE_dispatch_width_multiple;
    return RT_N_RULES;
}

typedef enum RtGridFit { RT_GRID_FITS, RT_GRID_EMPTY, RT_GRID_TOO_LARGE } RtGridFit;

// n: threads or threadgroups. A size of the group was checked. Devices count threads of a dimension
// in 32 bits and threadgroups in 63.
static inline RtGridFit rt_grid_set(RtGrid *to, MTLSize n, MTLSize group, bool in_threads) {
    const size_t count[3] = {n.width, n.height, n.depth},
                 size[3] = {group.width, group.height, group.depth};
    int64_t total = 1;
    for (int i = 0; i < 3; i++)
        if (!count[i] || !size[i]) return RT_GRID_EMPTY;
    for (int i = 0; i < 3; i++) {
        if (count[i] > UINT32_MAX) return RT_GRID_TOO_LARGE;
        // Most are 1 in y and z, and a division takes as long as all the rest.
        size_t groups = !in_threads || size[i] == 1 ? count[i] : (count[i] + size[i] - 1) / size[i];
        size_t threads = in_threads ? count[i] : count[i] * size[i];
        if (threads > UINT32_MAX || __builtin_mul_overflow(total, (int64_t)groups, &total))
            return RT_GRID_TOO_LARGE;
        to->threads[i] = (uint32_t)threads;
        to->groups[i] = (uint32_t)groups;
        to->group_size[i] = (uint32_t)size[i];
    }
    return RT_GRID_FITS;
}

// Into the dispatch of a device.
static inline void rt_grid_put(const RtGrid *grid, DevDispatch *d) {
    for (int i = 0; i < 3; i++) {
        d->threads_per_grid[i] = d->grid_size[i] = grid->threads[i];
        d->groups_per_grid[i] = grid->groups[i];
        d->group_size[i] = grid->group_size[i];
    }
}
#endif
