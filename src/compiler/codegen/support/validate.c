// SPDX-License-Identifier: Apache-2.0
// validate.c: what code compiled with shader validation calls (codegen/validate.c writes the
// calls): once for each thread, on the slow path only, except for the search of what a pointer that
// was read from memory points to. Linked only into such kernels.
#include "abi/cpu_kernel.h"

#ifdef INGOT_NOTE_REPORT   // for GPUs: nvptx/device/notes.c
#define HAS_POOL(launch) 1 // where there is none they are no textures (position.c)
#else
#define INGOT_NOTE_REPORT(launch, r) (launch)->report(launch, r)
#define HAS_POOL(launch) ((launch)->textures->pool != 0)
typedef uint32_t u32;
typedef uint64_t u64;
#endif

// Provided by codegen/validate_module.c.
extern const u32 ingot_n_slots, ingot_n_constants;
extern const struct Constant {
    const void *start;
    u64 n_bytes;
} ingot_constants[];

void ingot_report(const CpuLaunch *launch, u32 access, u32 space, u32 slot, u32 n_bytes, u64 offset,
                  u64 length, u32 x, u32 y, u32 z, u32 line, u32 column);
u64 ingot_span_start(const CpuLaunch *launch, const void *pointer);
u64 ingot_span_bytes(const CpuLaunch *launch, const void *pointer);
u32 ingot_known(const CpuLaunch *launch, const void *pointer, u64 n_bytes);
u64 ingot_live(const CpuLaunch *launch, u64 handle, u32 kind);

__attribute__((noinline, cold)) void ingot_report(const CpuLaunch *launch, u32 access, u32 space,
                                                  u32 slot, u32 n_bytes, u64 offset, u64 length,
                                                  u32 x, u32 y, u32 z, u32 line, u32 column) {
    AbiReport r = {.access = access,
                   .space = space,
                   .slot = slot,
                   .n_bytes = n_bytes,
                   .offset = (int64_t)offset,
                   .length = length,
                   .thread = {x, y, z},
                   .line = line,
                   .column = column};
    INGOT_NOTE_REPORT(launch, &r);
}

// The live resource that holds `at`; without one start and end are 0. Arguments that are no
// resources (set_bytes) come last: pointers to them are rare.
static AbiSpan find_span(const CpuLaunch *launch, u64 at) {
    const AbiSpan *spans = launch->live->spans;
    u64 low = 0, high = launch->live->n_spans;
    while (low < high) { // the first one that starts behind it
        u64 middle = low + (high - low) / 2;
        if (spans[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && at < spans[low - 1].end) return spans[low - 1];
    for (u32 i = 0; i < ingot_n_slots; i++) {
        u64 start = (u64)launch->args[i];
        if (at >= start && at - start < launch->lengths[i])
            return (AbiSpan){start, start + launch->lengths[i]};
    }
    for (u32 i = 0; i < ingot_n_constants; i++) {
        u64 start = (u64)ingot_constants[i].start;
        if (at >= start && at - start < ingot_constants[i].n_bytes)
            return (AbiSpan){start, start + ingot_constants[i].n_bytes};
    }
    return (AbiSpan){0, 0};
}

__attribute__((noinline)) u64 ingot_span_start(const CpuLaunch *launch, const void *pointer) {
    return find_span(launch, (u64)pointer).start;
}

__attribute__((noinline)) u64 ingot_span_bytes(const CpuLaunch *launch, const void *pointer) {
    AbiSpan s = find_span(launch, (u64)pointer);
    return s.end - s.start;
}

// Whether an access lies in one live resource, whatever its address was made from.
__attribute__((noinline, cold)) u32 ingot_known(const CpuLaunch *launch, const void *pointer,
                                                u64 n_bytes) {
    AbiSpan s = find_span(launch, (u64)pointer);
    return s.end && n_bytes <= s.end - (u64)pointer;
}

static u32 is_live(const AbiLive *live, u64 handle, u32 kind) {
    for (u64 at = abi_live_place(handle);; at++) {
        const AbiLiveHandle *h = &live->handles[at & live->mask];
        if (h->value == handle && h->kind == kind) return 1;
        if (!h->value) return 0;
    }
}

// The handle, if it stands for a live object of this kind; else 0.
__attribute__((noinline)) u64 ingot_live(const CpuLaunch *launch, u64 handle, u32 kind) {
    u64 value = handle;
    if (kind == ABI_LIVE_SAMPLER && handle & 1) return handle; // all of it: any bits will do
    if (kind == ABI_LIVE_TEXTURE) {
        value &= ~ABI_TEXTURE_RESIDENCY;
        // Slots of the pool are the device's own, and hold a view or nothing.
        if ((value & ~(ABI_VIEW_POOL_SLOTS - 1)) == ABI_TEXTURE_POOLED)
            return HAS_POOL(launch) ? handle : 0;
    }
    return value && is_live(launch->live, value, kind) ? handle : 0;
}
