// Resources bound to variables at program scope: buffers of every form, in functions and templates too. Parameters
// come first among the slots, then the variables that the kernel reaches, in the order of the source.
#include <metal_stdlib>
using namespace metal;

struct Params {
    uint n;
    float scale[3];
};
device float *constant out [[buffer(0)]];
constant Params &params [[buffer(1)]];
device const float *in [[buffer(2)]];
namespace more {
constant uint *constant table [[buffer(3)]];
}
device void *constant anything [[buffer(4)]];
static device float *constant rows[2] [[buffer(5)]];
device float (*constant wide)[4] [[buffer(7)]];
constant bool with_offset [[function_constant(0)]];
device float *offset [[buffer(8), function_constant(with_offset)]];
threadgroup float *constant scratch [[threadgroup(0)]];
extern device atomic_uint *constant counter [[buffer(9)]]; // declared twice
// The same buffer under another name.
device float *constant out_again [[buffer(0)]];
device atomic_uint *constant counter [[buffer(9)]];

static float scaled(uint i) { return in[i] * params.scale[i % 3]; }
template <typename T> T looked_up(uint i) { return T(more::table[i % params.n]); }
struct Reader {
    uint at;
    float operator()() const { return ((device float *)anything)[at]; }
};

// run: simple grid=100 group=32
// arg 0 = np.zeros(100, f32)
// arg 1 = np.concatenate([u32s([7]), f32s([1, 10, 100]).view(np.uint32)])
// arg 2 = iota(100, f32)
// expect 0 = f32s([i * [1, 10, 100][i % 3] for i in range(100)])
kernel void simple(uint i [[thread_position_in_grid]]) { out[i] = scaled(i); }

// run: all grid=64 group=64
// arg 0 = np.zeros(64, f32)
// arg 1 = np.concatenate([u32s([7]), f32s([1, 2, 4]).view(np.uint32)])
// arg 2 = iota(64, f32)
// arg 3 = u32s([3, 1, 4, 1, 5, 9, 2])
// arg 4 = iota(64, f32) * 1000
// arg 5 = iota(64, f32)
// arg 6 = iota(64, f32) * 3
// arg 7 = iota(256, f32)
// expect 0 = f32s([i * [1, 2, 4][i % 3] + [3, 1, 4, 1, 5, 9, 2][i % 7] + 1000 * i + (3 * i if i % 2 else i) + 4 * i + 3 for i in range(64)])
kernel void all(uint i [[thread_position_in_grid]]) {
    Reader r = {i};
    out[i] = scaled(i) + looked_up<float>(i) + r() + rows[i & 1][i] + wide[i][3];
}

// run: chosen grid=8 group=8 constant=with_offset=1
// arg 0 = np.zeros(8, f32)
// arg 8 = iota(8, f32) + 5
// expect 0 = iota(8, f32) + 105
// run: chosen grid=8 group=8 constant=with_offset=0
// arg 0 = np.zeros(8, f32)
// arg 8 = np.zeros(1, f32)
// expect 0 = f32s([100] * 8)
kernel void chosen(uint i [[thread_position_in_grid]]) {
    float v = 100;
    if (with_offset) v += offset[i];
    out[i] = v;
}

// run: shared_memory grid=64 group=64
// arg 0 = np.zeros(64, f32)
// threadgroup 0 = 256
// expect 0 = f32s([63 - i for i in range(64)])
static void turn(uint i) {
    scratch[i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
kernel void shared_memory(uint i [[thread_position_in_grid]]) {
    turn(i);
    out[i] = scratch[63 - i];
}

// Both names are one buffer: what is written by one is read by the other.
// run: two_names grid=16 group=16
// arg 0 = iota(16, f32)
// expect 0 = iota(16, f32) * 2 + 1
kernel void two_names(uint i [[thread_position_in_grid]]) {
    out[i] *= 2;
    out_again[i] += 1;
}

// A parameter beside them; what is not reached takes no slot.
// run: beside grid=40 group=8
// arg 0 = u32s([0] * 40)
// arg 9 = u32s([0])
// expect 0 = iota(40, u32) + 7
// expect 9 = u32s([40])
kernel void beside(device uint *mine [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    mine[i] = i + 7;
    atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);
}
