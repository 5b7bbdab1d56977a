// SPDX-License-Identifier: Apache-2.0
// position.c: where a thread is. The kernel's last parameters (abi/cuda_kernel.h) say what the grid
// is; lower.c puts them in the place of ingot_grid, and the kind of the kernel in that of
// ingot_in_line and ingot_in_bands. A threadgroup at the grid's edge is a block whose last threads
// leave at once.
#include "abi/cuda_kernel.h"
#include "abi/reflect.h"
#include "compiler/codegen/nvptx/library/instructions.h"

__attribute__((const)) u32 ingot_grid(u32 word);  // CUDA_GRID_*, a constant
__attribute__((const)) _Bool ingot_in_line(void); // CUDA_KERNEL_LINE
__attribute__((const)) _Bool ingot_in_bands(void);
__attribute__((const)) u32 ingot_constant(u32 parameter);

#define WORD(name, first)                                                                          \
    INLINE u32 name(u32 d) {                                                                       \
        return d == 0   ? ingot_grid(first)                                                        \
               : d == 1 ? ingot_grid(first + 1)                                                    \
                        : ingot_grid(first + 2);                                                   \
    }
WORD(grid_threads, CUDA_GRID_THREADS)
WORD(grid_groups, CUDA_GRID_GROUPS)
WORD(first_group, CUDA_GRID_FIRST)
WORD(group_size, CUDA_GRID_SIZE)
WORD(grid_origin, CUDA_GRID_ORIGIN)
WORD(grid_region, CUDA_GRID_REGION)

// Blocks start in rows. Where threadgroups of a row or a column read the same (products), those
// that run at the same time had better be a square: if rows are long they go down in columns of a
// band of rows.
INLINE u32 group_at(u32 d) {
    enum { BAND = 16, LEAST = 24, MOST = 1 << 27 };
    if (!ingot_in_bands() || d == 2) return first_group(d) + block_at(d);
    u32 w = blocks_at(0), most = w < LEAST || w > MOST ? 1 : BAND, y = block_at(1);
    u32 first = y & ~(most - 1), rows = blocks_at(1) - first;
    rows = rows < most ? rows : most;
    u32 at = (y - first) * w + block_at(0);
    return first_group(d) + (d == 0 ? at / rows : first + at % rows);
}
INLINE u32 start_of_group(u32 d) { return group_at(d) * group_size(d); }
// Most grids are whole: threads then need not know where its edge is.
INLINE _Bool is_whole(void) { return ingot_grid(CUDA_GRID_WHOLE) != 0; }
INLINE u32 cut_size(u32 d) { // threads that the group really has
    if (is_whole()) return group_size(d);
    u32 left = grid_threads(d) - start_of_group(d);
    return left < group_size(d) ? left : group_size(d);
}
INLINE u32 n_threads(void) { return cut_size(0) * cut_size(1) * cut_size(2); }
INLINE u32 n_dispatched(void) { return group_size(0) * group_size(1) * group_size(2); }

INLINE u32 position_in_group(u32 d) {
    if (!ingot_in_line()) return thread_at(d);
    u32 i = thread_at(0), w = cut_size(0), h = cut_size(1);
    if (i < w) return d == 0 ? i : 0; // and all of a line
    return d == 0 ? i % w : d == 1 ? i / w % h : i / (w * h);
}
INLINE u32 index_in_group(void) {
    if (ingot_in_line()) return thread_at(0);
    return (thread_at(2) * cut_size(1) + thread_at(1)) * cut_size(0) + thread_at(0);
}

API u32 ingot_position(u32 builtin, u32 d) {
    switch ((RfBuiltin)builtin) {
    case RF_THREAD_POSITION_IN_GRID: return start_of_group(d) + position_in_group(d);
    case RF_THREAD_POSITION_IN_THREADGROUP: return position_in_group(d);
    case RF_THREAD_INDEX_IN_THREADGROUP: return index_in_group();
    case RF_THREADGROUP_POSITION_IN_GRID: return group_at(d);
    case RF_THREADS_PER_THREADGROUP: return cut_size(d);
    case RF_DISPATCH_THREADS_PER_THREADGROUP: return group_size(d);
    case RF_THREADS_PER_GRID: return grid_threads(d);
    case RF_THREADGROUPS_PER_GRID: return grid_groups(d);
    case RF_GRID_ORIGIN: return grid_origin(d);
    case RF_GRID_SIZE: return grid_region(d);
    case RF_THREAD_INDEX_IN_SIMDGROUP: return lane();
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP: return index_in_group() / 32;
    case RF_THREADS_PER_SIMDGROUP:
    case RF_THREAD_EXECUTION_WIDTH: return 32;
    case RF_SIMDGROUPS_PER_THREADGROUP: return (n_threads() + 31) / 32;
    case RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP: return (n_dispatched() + 31) / 32;
    case RF_THREAD_INDEX_IN_QUADGROUP: return lane() % 4;
    case RF_QUADGROUP_INDEX_IN_THREADGROUP: return index_in_group() / 4;
    case RF_QUADGROUPS_PER_THREADGROUP: return (n_threads() + 3) / 4;
    case RF_DISPATCH_QUADGROUPS_PER_THREADGROUP: return (n_dispatched() + 3) / 4;
    case RF_VIEW:
    case RF_N_VIEWS:
    case RF_N_BUILTINS: break;
    }
    return 0;
}

// The thread is beyond the grid's edge.
API _Bool ingot_outside(void) {
    if (is_whole()) return 0;
    if (ingot_in_line()) return thread_at(0) >= n_threads();
    return thread_at(0) >= cut_size(0) || thread_at(1) >= cut_size(1) ||
           thread_at(2) >= cut_size(2);
}

// The threads of the SIMD-group: all 32, but for the last of a threadgroup. In a line alone.
API u32 ingot_all_lanes(void) {
    u32 left = n_threads() - (thread_at(0) & ~31u);
    return left >= 32 ? ALL_LANES : (1u << left) - 1;
}

// Of the threadgroup, as the grid's edge leaves it.
API u32 ingot_group_threads(void) { return n_threads(); }

// A word of a constant: the parameter, if the host gave it, else what lies there.
API u32 ingot_constant_word(u32 parameter, u32 slot, const u32 *at) {
    return word_or(ingot_constant(parameter), ingot_grid(CUDA_GRID_GIVEN) & 1u << slot, at);
}

// A texture's handle as the address of its record: one of a pool is in the table of all views; 0:
// nothing is there. The question whether texels have memory stays with it. (It is a lookup to the
// analysis of divergence, by its name.)
API u64 ingot_live_view(u64 handle) {
    if ((handle & ~(ABI_TEXTURE_RESIDENCY | (ABI_VIEW_POOL_SLOTS - 1))) != ABI_TEXTURE_POOLED)
        return handle;
    const u64 *table =
        (const u64 *)((u64)ingot_grid(CUDA_GRID_VIEWS + 1) << 32 | ingot_grid(CUDA_GRID_VIEWS));
    u64 record = table ? table[handle & (ABI_VIEW_POOL_SLOTS - 1)] : 0;
    return record ? record | (handle & ABI_TEXTURE_RESIDENCY) : 0;
}

// Orders all memory among the threads of the threadgroup.
API void ingot_barrier(u32 flags) {
    (void)flags;
    barrier();
}
