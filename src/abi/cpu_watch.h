// SPDX-License-Identifier: Apache-2.0
// cpu_watch.h: what code compiled with MSL_WATCH_RACES tells the CPU device while it runs: each
// access to memory that threads share, barriers, SIMD-group functions. The compiler writes a call
// per vector step (codegen/watch.c, passes/emit_observe.c), src/devices/cpu/watch.c has the
// functions. Change anything: raise ABI_VERSION.
#ifndef INGOT_ABI_CPU_WATCH_H
#define INGOT_ABI_CPU_WATCH_H
#include <stddef.h>
#include <stdint.h>

#define CPU_SITES_SYMBOL "ingot_sites" // CpuSite [n]; the first one's id is n, ids begin with 1

typedef enum CpuSiteKind { // what the value of each lane is
    CPU_SITE_HEAD = 0,     // the first one
    CPU_SITE_READ,         // an address
    CPU_SITE_WRITE,
    CPU_SITE_ATOMIC,        // an address that is read and written at once
    CPU_SITE_SIZE,          // bytes of the access that follows
    CPU_SITE_BARRIER,       // mem_flags
    CPU_SITE_SIMD_BARRIER,  // mem_flags
    CPU_SITE_FENCE,         // nothing: orders this thread's accesses for others
    CPU_SITE_LANE,          // of a thread of the SIMD-group or quad whose value is taken
    CPU_SITE_UP,            // so many lanes above it,
    CPU_SITE_DOWN,          // below it,
    CPU_SITE_XOR,           // at the lane with these bits turned,
    CPU_SITE_ROTATE_UP,     // or above, around the end
    CPU_SITE_ROTATE_DOWN,   //
    CPU_SITE_FILL_UP,       // low half: so many lanes; high half: of how many
    CPU_SITE_FILL_DOWN,     //
    CPU_SITE_WHOLE,         // nothing: all threads of the SIMD-group must be there
    CPU_SITE_SAME,          // an argument that must be the same for all of them
    CPU_SITE_TEXTURE,       // a handle, for the texel that follows
    CPU_SITE_TEXEL_XY,      // x, and y in the high half
    CPU_SITE_TEXEL_READ,    // z or slice, the level or sample from bit 32 on
    CPU_SITE_TEXEL_WRITE,   //
    CPU_SITE_TEXEL_ATOMIC,  //
    CPU_SITE_TEXTURE_FENCE, // a handle
    CPU_SITE_UNWRITTEN,     // nothing: a variable of the thread is read that was never written
    CPU_N_SITE_KINDS
} CpuSiteKind;

enum {                    // CpuSite.flags
    CPU_SITE_RELAXED = 1, // an access by an atomic function
    CPU_SITE_QUAD = 2,    // of four lanes
    CPU_SITE_UNIFORM = 4, // the value must be the same for all that take part
    CPU_SITE_BOUNDS = 8,  // of texels: nobody writes textures here, only the place is looked at
};
typedef struct CpuSite { // a place in the program
    uint32_t id;         // its number
    uint16_t kind, flags;
    uint32_t space, slot;  // AbiSpace; slot: UINT32_MAX if it is none
    uint32_t n_bytes;      // of the access; 0: as CPU_SITE_SIZE said
    uint32_t at;           // variables in threadgroup memory: their first byte there
    uint32_t type;         // of texels: the operation (abi/cpu_texture.h)
    uint32_t repeat;       // reads of threadgroup memory: so many more follow,
    uint32_t pitch;        // each so many bytes behind the one before
    uint32_t line, column; // 0: not known
    char name[32];         // of the variable, or the function called
} CpuSite;
enum { CPU_MAX_SITES = 1 << 15 };

struct CpuLaunch;
// Thread first + l of the threadgroup has the value values[l], or base + l * stride, where bit l of
// the mask is set.
typedef void CpuObserveFn(const struct CpuLaunch *launch, uint32_t site, uint32_t first,
                          uint32_t mask, const uint64_t *values);
typedef void CpuObserveLineFn(const struct CpuLaunch *launch, uint32_t site, uint32_t first,
                              uint32_t mask, uint64_t base, int64_t stride);
// Lines of `lanes` lanes each, the first at bases[0], and so on: rows of a threadgroup that is
// narrower than a SIMD-group.
typedef void CpuObserveRowsFn(const struct CpuLaunch *launch, uint32_t site, uint32_t first,
                              uint32_t mask, const uint64_t *bases, uint64_t stride_and_lanes);
enum { CPU_ROWS_LANES = 32 }; // the bit from which on they stand, above the stride
// One thread, by its position in the grid.
typedef void CpuObserveOneFn(const struct CpuLaunch *launch, uint32_t site, uint64_t value,
                             uint32_t x, uint32_t y, uint32_t z);
typedef struct CpuWatch {
    CpuObserveFn *lanes;
    CpuObserveLineFn *line; // of any kind; the next two know theirs
    CpuObserveOneFn *one;
    // [n_slots + 1] whether reads of a slot, or of what pointers point to (the last), are told of:
    // nobody needs to know where nobody writes.
    const uint8_t *reads;
    CpuObserveLineFn *group;   // accesses to threadgroup memory
    CpuObserveRowsFn *rows;    // the same, more than one line
    CpuObserveLineFn *barrier; // CPU_SITE_BARRIER
} CpuWatch;
// __ingot_observe's first argument: the site, and from this bit on which of the functions.
enum { CPU_TELL_SHIFT = 16, CPU_TELL_ANY = 0, CPU_TELL_GROUP, CPU_TELL_BARRIER };
_Static_assert(offsetof(CpuWatch, line) == 8 && offsetof(CpuWatch, one) == 16 &&
                   offsetof(CpuWatch, reads) == 24 && offsetof(CpuWatch, group) == 32 &&
                   offsetof(CpuWatch, barrier) == 48 && sizeof(CpuSite) == 76,
               "codegen knows this layout");
#endif
