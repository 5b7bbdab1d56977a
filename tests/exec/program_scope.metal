// Built-ins at program scope: each thread finds its own, in functions too, and other things may have their names.
#include <metal_stdlib>
using namespace metal;

uint2 gid [[thread_position_in_grid]];
ushort lane [[thread_index_in_simdgroup]];
uint3 group_size [[threads_per_threadgroup]];
namespace places {
constant uint index [[thread_index_in_threadgroup]];
}

static uint at(uint width) { return gid.y * width + gid.x; }
static uint twice(uint gid) { return gid * 2; }
struct Place {
    uint gid;
};
template <typename T> T scaled(T by) { return T(gid.x) * by; }

// run: program_scope grid=20,3 group=10,3
// arg 0 = np.zeros(60, u32)
// expect 0 = [x + 1000 * (x % 10 + y * 10) + 100 * ((x % 10 + y * 10) % 32) + 20 * x + 3 + 100000 * 10 for y in range(3) for x in range(20)]
kernel void program_scope(device uint *out [[buffer(0)]]) {
    Place p = {gid.x};
    uint2 copy = gid;
    out[at(20)] = copy.x + 1000 * places::index + 100 * lane + twice(p.gid) * 5 + uint(scaled(10.0f)) + group_size.y + 100000 * group_size.x;
}

// run: same_names grid=8 group=8
// arg 0 = np.zeros(8, u32)
// expect 0 = [2 * k + 1 for k in range(8)]
kernel void same_names(device uint *out [[buffer(0)]], uint gid [[thread_position_in_grid]]) {
    uint lane = gid + 1;
    out[gid] = gid + lane;
}
