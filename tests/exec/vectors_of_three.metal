// A vector of three elements has room for four, and a store of it leaves what lies there alone, as
// on a Mac: programs keep a number of their own in it, or read the array as one of vectors of four.
#include <metal_stdlib>
using namespace metal;

// ---- device memory: every element type, every way to name the place ----

// run: floats grid=200 group=64
// arg 0 = iota(800, u32) + 1000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) * (np.arange(800) % 4 + 1)).astype(f32).view(u32))
kernel void floats(device float3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    o[i] = float3(1, 2, 3) * float(i);
}

// run: copies grid=200 group=64
// arg 0 = iota(800, u32)
// arg 1 = iota(800, u32) + 5000
// expect 1 = np.where(np.arange(800) % 4 == 3, a1, a0)
kernel void copies(device const float3 *a [[buffer(0)]], device float3 *o [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    o[i] = a[i];
}

// run: all_alike grid=200 group=64
// arg 0 = iota(800, u32) + 5000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, 7)
kernel void all_alike(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i] = 7u; }

// run: one_place grid=40 group=40
// arg 0 = iota(8, u32) + 5000
// expect 0 = u32([39, 78, 117, 5003, 5004, 5005, 5006, 5007])
kernel void one_place(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[0] = uint3(1, 2, 3) * i; }

template <class V, class T> void fill(device V *o, uint i) { o[i] = V(T(i & 63), T((i & 63) + 1), T((i & 63) + 2)); }
#define FILL(NAME, T) \
    kernel void NAME(device T##3 * o [[buffer(0)]], uint i [[thread_position_in_grid]]) { fill<T##3, T>(o, i); }

// run: of_half grid=200 group=64
// arg 0 = iota(800, u16) + 9000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(f16).view(u16))
FILL(of_half, half)
// run: of_bfloat grid=200 group=64
// arg 0 = iota(800, u16) + 9000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, (((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(f32).view(u32) >> 16).astype(u16))
FILL(of_bfloat, bfloat)
// run: of_char grid=200 group=64
// arg 0 = (iota(800, u32) % 100 + 100).astype(u8)
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(u8))
FILL(of_char, char)
// run: of_uchar grid=199 group=64
// arg 0 = (iota(800, u32) % 100 + 100).astype(u8)
// expect 0 = np.where((np.arange(800) % 4 == 3) | (np.arange(800) >= 796), a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(u8))
FILL(of_uchar, uchar)
// run: of_short grid=200 group=64
// arg 0 = iota(800, u16) + 9000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(u16))
FILL(of_short, short)
// run: of_int grid=200 group=64
// arg 0 = iota(800, u32) + 9000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(u32))
FILL(of_int, int)
// run: of_long grid=200 group=64
// arg 0 = iota(800, u64) + 9000
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) % 64 + np.arange(800) % 4).astype(u64))
FILL(of_long, long)

// run: of_bool grid=200 group=64
// arg 0 = (iota(800, u32) % 100 + 100).astype(u8)
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, ((np.arange(800) // 4) >> (np.arange(800) % 4) & 1).astype(u8))
kernel void of_bool(device bool3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    o[i] = bool3(i & 1, i & 2, i & 4);
}

// run: scattered grid=200 group=64
// arg 0 = iota(800, u32) + 9000
// arg 1 = np.random.RandomState(1).permutation(200).astype(u32)
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, (np.argsort(a1)[np.arange(800) // 4] * 3 + np.arange(800) % 4).astype(u32))
kernel void scattered(device int3 *o [[buffer(0)]], device const uint *ix [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    o[ix[i]] = int3(0, 1, 2) + int(i) * 3;
}
// run: scattered_bytes grid=200 group=64
// arg 0 = (iota(800, u32) % 100).astype(u8)
// arg 1 = np.random.RandomState(1).permutation(200).astype(u32)
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, (np.argsort(a1)[np.arange(800) // 4] + np.arange(800) % 4).astype(u8))
kernel void scattered_bytes(device uchar3 *o [[buffer(0)]], device const uint *ix [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    o[ix[i]] = uchar3(0, 1, 2) + uchar(i);
}
// run: scattered_halves grid=200 group=64
// arg 0 = iota(800, u16) + 9000
// arg 1 = np.random.RandomState(1).permutation(200).astype(u32)
// expect 0 = np.where(np.arange(800) % 4 == 3, a0, (np.argsort(a1)[np.arange(800) // 4] + np.arange(800) % 4).astype(f16).view(u16))
kernel void scattered_halves(device half3 *o [[buffer(0)]], device const uint *ix [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (ix[i] < 200) o[ix[i]] = half3(0, 1, 2) + half(i);
}

// run: some_lanes grid=200 group=64
// arg 0 = iota(800, u32) + 9000
// expect 0 = np.where((np.arange(800) % 4 == 3) | (np.arange(800) // 4 % 3 == 0), a0, 5)
kernel void some_lanes(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 3) o[i] = uint3(5);
}
// run: some_halves grid=200 group=64
// arg 0 = iota(800, u16) + 9000
// expect 0 = np.where((np.arange(800) % 4 == 3) | (np.arange(800) // 4 % 3 == 0), a0, 5)
kernel void some_halves(device ushort3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 3) o[i] = ushort3(5);
}
// run: rows grid=20,10 group=10,2
// arg 0 = iota(1600, u32) + 9000
// expect 0 = np.where((np.arange(1600) % 4 == 3) | (np.arange(1600) // 4 % 40 >= 20), a0, np.arange(1600) // 160 * 100 + np.arange(1600) // 4 % 40 + np.arange(1600) % 4)
kernel void rows(device uint3 *o [[buffer(0)]], uint2 i [[thread_position_in_grid]]) {
    o[i.y * 40 + i.x] = uint3(0, 1, 2) + i.y * 100 + i.x;
}

void through_reference(device uint3 &to, uint3 v) { to = v; }
void through_pointer(device uint3 *to, uint3 v) { *to = to[0] = v; }
template <class A> void through_template(A to, uint3 v) { to[0] = v; }
struct Setter {
    device uint3 *at;
    void set(uint3 v) { *at = v; }
    friend void set(Setter s, uint3 v) { *s.at = v; }
};
// run: by_reference grid=120 group=40
// arg 0 = iota(480, u32) + 9000
// expect 0 = np.where(np.arange(480) % 4 == 3, a0, np.arange(480) // 4 + np.arange(480) % 4)
kernel void by_reference(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint3 v = uint3(0, 1, 2) + i;
    switch (i % 6) {
    case 0: through_reference(o[i], v); break;
    case 1: through_pointer(o + i, v); break;
    case 2: through_template(o + i, v); break;
    case 3: Setter{o + i}.set(v); break;
    case 4: set(Setter{o + i}, v); break;
    default: [&] { o[i] = v; }();
    }
}
// run: in_place grid=120 group=40
// arg 0 = iota(480, u32) + 9000
// expect 0 = np.where(np.arange(480) % 4 == 3, a0, (a0 * 3 + 1 << 1) + 1)
kernel void in_place(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    o[i] *= 3;
    o[i]++;
    o[i] <<= 1;
    ++o[i];
}
// run: listed grid=120 group=40
// arg 0 = iota(480, u32) + 9000
// expect 0 = np.where(np.arange(480) % 4 == 3, a0, np.arange(480) // 4 + np.arange(480) % 4)
kernel void listed(device uint3 *o [[buffer(0)]], device packed_uint3 *unused [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i & 1) o[i] = {i, i + 1, i + 2};
    else if (i & 2) o[i] = packed_uint3(i, i + 1, i + 2);
    else o[i].xyz = uint3(i, i + 1, i + 2);
}
// run: chosen grid=120 group=40
// arg 0 = iota(480, u32) + 9000
// arg 1 = iota(480, u32) + 20000
// expect 0 = np.where((np.arange(480) % 4 == 3) | (np.arange(480) // 4 % 2 == 0), a0, 1)
// expect 1 = np.where((np.arange(480) % 4 == 3) | (np.arange(480) // 4 % 2 == 1), a1, 1)
kernel void chosen(device uint3 *a [[buffer(0)]], device uint3 *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    (i & 1 ? a[i] : b[i]) = uint3(1);
}

// ---- members of structures ----

struct Particle {
    float3 position;
    float mass;
    float3 speed[2];
};
// run: members grid=100 group=32
// arg 0 = iota(1600, u32) + 9000
// expect 0 = np.where((np.arange(1600) % 16 < 3) | ((np.arange(1600) % 16 >= 12) & (np.arange(1600) % 16 < 15)), f32(2).view(u32), a0)
kernel void members(device Particle *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    static_assert(sizeof(float3) == 16 && sizeof(Particle) == 64, "");
    o[i].position = float3(2);
    o[i].speed[1] = o[i].position;
}
union Both {
    float3 three;
    float4 four;
};
// run: cast grid=100 group=32
// arg 0 = iota(400, f32)
// expect 0 = np.where(np.arange(400) % 4 == 3, a0, a0 * 2)
kernel void cast(device float4 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    *(device float3 *)(o + i) = o[i].xyz * 2;
}
// run: in_union grid=100 group=32
// arg 0 = iota(400, f32)
// expect 0 = np.where(np.arange(400) % 4 == 3, a0, a0 * 2)
kernel void in_union(device Both *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i].three = o[i].three * 2; }
// run: columns grid=50 group=32
// arg 0 = iota(600, u32) + 9000
// expect 0 = np.where((np.arange(600) % 12 < 4) | (np.arange(600) % 4 == 3), a0, f32(3).view(u32))
kernel void columns(device float3x3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    o[i][1] = float3(3);
    o[i].columns[2] = o[i][1];
}
// run: volatile_place grid=100 group=32
// arg 0 = iota(400, u32) + 9000
// expect 0 = np.where(np.arange(400) % 4 == 3, a0, np.arange(400) // 4)
kernel void volatile_place(device volatile uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i] = uint3(i); }

// ---- threadgroup memory ----

// run: shared grid=192 group=96
// arg 0 = iota(768, u32) + 9000
// expect 0 = np.where(np.arange(768) % 4 == 3, np.arange(768) // 4 % 96 + 70, (np.arange(768) // 384 * 96 + (95 - np.arange(768) // 4 % 96)) * (np.arange(768) % 4 + 1))
kernel void shared(device uint4 *o [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint4 t[96];
    t[l] = uint4(1, 2, 3, l + 70);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    ((threadgroup uint3 *)t)[95 - l] = uint3(1, 2, 3) * i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    o[i] = t[l];
}
// run: shared_halves grid=192 group=96
// arg 0 = iota(768, u16) + 9000
// expect 0 = np.where(np.arange(768) % 4 == 3, np.arange(768) // 4 % 96 + 70, np.where(np.arange(768) // 4 % 96 % 5 < 2, np.arange(768) % 4 + 1, (np.arange(768) // 4) * (np.arange(768) % 4 + 1)))
kernel void shared_halves(device ushort4 *o [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup ushort4 t[96];
    t[l] = ushort4(1, 2, 3, l + 70);
    if (l % 5 > 1) ((threadgroup ushort3 *)t)[l] = ushort3(1, 2, 3) * ushort(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    o[i] = t[l];
}
// Two threads have a vector of four between them.
// run: divided grid=192 group=96
// arg 0 = iota(384, u32) + 9000
// expect 0 = np.where(np.arange(384) % 4 == 3, np.arange(384) // 4 * 2 + 1, np.arange(384) // 4 * 2 + np.arange(384) % 4)
kernel void divided(device uint3 *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i & 1) ((device uint *)o)[i / 2 * 4 + 3] = i;
    else o[i / 2] = uint3(0, 1, 2) + i;
}

// ---- thread memory ----

// run: own grid=100 group=32
// arg 0 = iota(800, u32)
// arg 1 = iota(400, u32)
// arg 2 = (iota(100, u32) * 7 % 2).astype(u32)
// expect 1 = np.where(np.arange(400) % 4 == 3, (np.arange(400) // 4) * 8 + a2[np.arange(400) // 4] * 4 + 3, np.arange(400) // 4 + np.arange(400) % 4)
kernel void own(device const uint4 *a [[buffer(0)]], device uint4 *o [[buffer(1)]], device const uint *which [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
    uint4 t[2] = {a[2 * i], a[2 * i + 1]};
    ((thread uint3 *)t)[which[i]] = uint3(0, 1, 2) + i;
    o[i] = t[which[i]];
}
// run: own_halves grid=100 group=32
// arg 0 = iota(800, u16)
// arg 1 = iota(400, u16)
// arg 2 = (iota(100, u32) * 7 % 2).astype(u32)
// expect 1 = np.where(np.arange(400) % 4 == 3, (np.arange(400) // 4) * 8 + a2[np.arange(400) // 4] * 4 + 3, np.arange(400) // 4 + np.arange(400) % 4)
kernel void own_halves(device const ushort4 *a [[buffer(0)]], device ushort4 *o [[buffer(1)]], device const uint *which [[buffer(2)]],
                       uint i [[thread_position_in_grid]]) {
    ushort4 t[2] = {a[2 * i], a[2 * i + 1]};
    ((thread ushort3 *)t)[which[i]] = ushort3(0, 1, 2) + ushort(i);
    o[i] = t[which[i]];
}

// ---- constant expressions ----

constexpr float3 made(float x) {
    float3 a = float3(x), b = float3(2);
    b = a * 2;
    a = b + 1;
    a += b;
    return a;
}
// run: evaluated grid=4 group=4
// arg 0 = np.zeros(4, f32)
// expect 0 = f32([13, 13, 13, 13])
kernel void evaluated(device float *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    constexpr float3 v = made(3);
    static_assert(v.y == 13, "");
    o[i] = v.z;
}
