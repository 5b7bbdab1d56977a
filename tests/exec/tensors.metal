// Tensors: every address space, rank and kind; slices of slices; handles in structs.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;

// ---- handles as arguments
kernel void transpose(tensor<device const float, dextents<int, 2>> a [[buffer(0)]],
                      tensor<device float, dextents<int, 2>> b [[buffer(1)]],
                      uint2 p [[thread_position_in_grid]]) {
    if (int(p.x) < a.get_extent(0) && int(p.y) < a.get_extent(1)) b[p.y, p.x] = a[p.x, p.y];
}
// run: transpose grid=40,9 group=32,4
// arg 100 = f32s(np.arange(45*9))
// arg 101 = f32s(np.zeros(40*12))
// tensor 0 = 100, f32, (37, 9), (1, 45)
// tensor 1 = 101, f32, (9, 37), (1, 12)
// expect 101 = np.pad(np.arange(45*9).reshape(9, 45)[:, :37].T, ((0, 3), (0, 3))).ravel()

kernel void sizes(tensor<device half, dextents<uint, 4>> t [[buffer(3)]], device int *o [[buffer(4)]],
                  uint i [[thread_position_in_grid]]) {
    o[i * 8 + 0] = t.get_extent(0), o[i * 8 + 1] = t.get_extent(1);
    o[i * 8 + 2] = t.get_extent(2), o[i * 8 + 3] = t.extents().extent(3);
    o[i * 8 + 4] = t.get_stride(0), o[i * 8 + 5] = t.get_stride(1);
    o[i * 8 + 6] = t.get_stride(2), o[i * 8 + 7] = t.get_stride(3);
    static_assert(t.get_rank() == 4 && t.get_static_extent(1) == dynamic_extent);
}
// run: sizes grid=3 group=3
// arg 100 = f16s(np.zeros(2*3*4*5*2))
// tensor 3 = 100, f16, (2, 3, 4, 5), (1, 2, 8, 32)
// arg 4 = i32s(np.zeros(24))
// expect 4 = np.tile([2, 3, 4, 5, 1, 2, 8, 32], 3)

// every thread has an element of its own of a tensor of rank 3 and a copy of it of rank 1
kernel void cube(tensor<device uint, dextents<long, 3>> c [[buffer(0)]],
                 tensor<constant uint, dextents<short, 1>> v [[buffer(1)]],
                 uint3 p [[thread_position_in_grid]]) {
    c[p.x, p.y, p.z] = v[p.x] * 100 + c[array<long, 3>{long(p.x), long(p.y), long(p.z)}];
}
// run: cube grid=5,4,3 group=5,2,3
// arg 100 = u32s(np.arange(5*4*3))
// arg 101 = u32s([1, 2, 3, 4, 5])
// tensor 0 = 100, u32, (5, 4, 3), (1, 5, 20)
// tensor 1 = 101, u32, (5,), (1,)
// expect 100 = np.arange(60) + np.tile([100, 200, 300, 400, 500], 12)

// ---- slices
kernel void slices(tensor<device float, dextents<int, 2>> t [[buffer(0)]], device float *o [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    auto a = t.slice(2, 1);                    // from (2, 1) on
    auto b = a.slice<8, dynamic_extent>(1, 1); // from (3, 2) on, 8 wide
    auto c = b.slice(1, 0);                    // from (4, 2) on
    static_assert(b.get_static_extent(0) == 8 && c.get_static_extent(0) == dynamic_extent);
    static_assert(has_tensor_offset_v<decltype(a)> && is_tensor_handle_v<decltype(a)>);
    static_assert(!has_tensor_offset_v<decltype(t)>);
    o[i] = a[i, 0] * 10000 + b[i & 7, 1] * 100 + c[i & 3, 2];
    if (i == 0) {
        o[16] = a.get_extent(0), o[17] = a.get_extent(1), o[18] = b.get_extent(0);
        o[19] = b.get_extent(1), o[20] = c.get_extent(0), o[21] = c.get_extent(1);
        o[22] = t.slice(100, 3).get_extent(0), o[23] = b.get_stride(1);
    }
}
// run: slices grid=12 group=12
// arg 100 = f32s(np.arange(20*6) % 97)
// tensor 0 = 100, f32, (17, 6), (1, 20)
// arg 1 = f32s(np.zeros(24))
// expect 1 = np.concatenate([(lambda m, i: m[1, 2 + i] * 10000 + m[3, 3 + (i & 7)] * 100 + m[4, 4 + (i & 3)])((np.arange(120) % 97).reshape(6, 20), np.arange(12)), np.zeros(4), [15, 5, 8, 4, 7, 4, 0, 20]])

kernel void write_tiles(tensor<device int, dextents<int, 2>> t [[buffer(0)]],
                        uint2 g [[threadgroup_position_in_grid]], uint2 l [[thread_position_in_threadgroup]]) {
    auto tile = t.slice<8, 4>(g.x * 8, g.y * 4);
    tile[l.x, l.y] = int(g.x * 1000 + g.y * 100 + l.y * 10 + l.x);
}
// run: write_tiles grid=16,8 group=8,4
// arg 100 = i32s(np.zeros(20*8))
// tensor 0 = 100, i32, (16, 8), (1, 20)
// expect 100 = np.pad((tx*1000 + ty*100 + ly*10 + lx).reshape(8, 16), ((0, 0), (0, 4))).ravel()

// ---- tensors of the kernel's own
kernel void in_device(device float *x [[buffer(0)]], constant uint2 &size [[buffer(1)]],
                      uint2 p [[thread_position_in_grid]]) {
    auto t = tensor(x, dextents<int, 2>(size.x, size.y));
    static_assert(is_same_v<decltype(t), tensor<device float, dextents<int, 2>, tensor_inline>>);
    t[p.x, p.y] += t.get_extent(1) * t.get_stride(1);
    device float *first = &t[0, 0];
    if (p.x == 0 && p.y == 0) *first = -1;
}
// run: in_device grid=7,5 group=7,5
// arg 0 = f32s(np.zeros(35))
// arg 1 = u32s([7, 5])
// expect 0 = np.concatenate([[-1], np.full(34, 35)])

kernel void in_threadgroup(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                           uint2 l [[thread_position_in_threadgroup]], uint2 g [[threadgroup_position_in_grid]]) {
    threadgroup float memory[32 * 9];
    tensor<threadgroup float, extents<int, 8, 32>, tensor_inline> t(memory, extents<int, 8, 32>(),
                                                                   array<int, 2>{1, 9});
    auto in = tensor(x + g.y * 256, dextents<int, 2>(8, 32));
    static_assert(is_same_v<decltype(in)::element_type, device const float>);
    t[l.x, l.y] = in[l.x, l.y];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto out = tensor(y + g.y * 256, extents<int, 8, 32>());
    auto rows = t.slice<8, 1>(0, 31 - l.y);
    out[l.x, l.y] = rows[7 - l.x, 0];
}
// run: in_threadgroup grid=8,64 group=8,32
// arg 0 = f32s(np.arange(512))
// arg 1 = f32s(np.zeros(512))
// expect 1 = np.arange(512).reshape(2, 256)[:, ::-1].ravel()

kernel void in_thread(device const half *x [[buffer(0)]], device half *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    half memory[12] = {};
    auto t = tensor(memory, extents<int, 4, 3>());
    for (int r = 0; r < t.get_extent(1); r++)
        for (int c = 0; c < t.get_extent(0); c++) t[c, r] = x[i] * half(r * 4 + c);
    auto s = t.slice(i & 1, 1);
    half sum = 0;
    for (int r = 0; r < s.get_extent(1); r++)
        for (int c = 0; c < s.get_extent(0); c++) sum += s[c, r];
    y[i] = sum;
}
// run: in_thread grid=50 group=32
// arg 0 = f16s(np.arange(50) % 8)
// arg 1 = f16s(np.zeros(50))
// expect 1 = (np.arange(50) % 8) * np.where(np.arange(50) % 2, 48, 60)

constant float table[6] = {1, 2, 3, 4, 5, 6};
kernel void in_constant(device float *y [[buffer(0)]], constant float *x [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    auto t = tensor(x, dextents<ushort, 2>(3, 2));
    y[i] = t[i % 3, i / 3 % 2] * 10 + tensor(table, extents<int, 2, 3>())[i % 2, i / 2 % 3];
}
// run: in_constant grid=6 group=6
// arg 0 = f32s(np.zeros(6))
// arg 1 = f32s([10, 20, 30, 40, 50, 60])
// expect 0 = np.arange(1, 7) * 101

// ---- handles in structs
struct Layers {
    tensor<device half, dextents<int, 2>> weights[3];
    array<tensor<device float, dextents<int, 1>>, 2> biases;
    uint n;
};
template <class W, class B> inline float row(W w, B b, int r) {
    float s = b[r];
    for (int c = 0; c < w.get_extent(0); c++) s += w[c, r];
    return s;
}
kernel void layers(constant Layers &a [[buffer(0)]], device const Layers &b [[buffer(1)]],
                   device float *o [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    static_assert(sizeof(Layers) == 48);
    float s = 0;
    for (uint l = 0; l < a.n; l++) {
        tensor<device half, dextents<int, 2>> w = a.weights[l];
        s += row(w, b.biases[l & 1], i);
    }
    o[i] = s + a.weights[i % 3][0, 1]; // a handle of each thread's own
}
// run: layers grid=5 group=5
// arg 100 = f16s(np.arange(30))
// arg 101 = f32s(np.arange(10) * 100)
// tensor 100 = 100, f16, (2, 5), (1, 2), 0
// tensor 101 = 100, f16, (2, 5), (1, 2), 10
// tensor 102 = 100, f16, (2, 5), (1, 2), 20
// tensor 103 = 101, f32, (5,), (1,), 0
// tensor 104 = 101, f32, (5,), (1,), 5
// arg 0 = u64s([handle(100), handle(101), handle(102), handle(103), handle(104), 3])
// arg 1 = u64s([handle(100), handle(101), handle(102), handle(103), handle(104), 3])
// arg 2 = f32s(np.zeros(5))
// expect 2 = np.arange(30).reshape(3, 5, 2).sum(2).sum(0) + (np.arange(10) * 100).reshape(2, 5)[[0, 1, 0]].sum(0) + np.array([2, 12, 22, 2, 12])

// ---- element types
kernel void types(tensor<device bfloat, dextents<int, 1>> a [[buffer(0)]],
                  tensor<device char, dextents<int, 1>> b [[buffer(1)]],
                  tensor<device ushort, dextents<int, 1>> c [[buffer(2)]],
                  tensor<device int8_t, dextents<int, 1>> d [[buffer(3)]],
                  device long *e [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    auto longs = tensor(e, dextents<int, 1>(8));
    longs[i] = long(float(a[i])) + b[i] + c[i] + d[i] + (1l << 40);
    b[i] = -b[i];
    a[i] = bfloat(float(a[i]) * 2);
}
// run: types grid=8 group=8
// arg 100 = u16s(f32s(np.arange(8)).view(np.uint32) >> 16)
// arg 101 = i8s(np.arange(8) * 10)
// arg 102 = u16s(np.arange(8) * 1000)
// arg 103 = i8s(-np.arange(8))
// tensor 0 = 100, bf16, (8,), (1,)
// tensor 1 = 101, i8, (8,), (1,)
// tensor 2 = 102, u16, (8,), (1,)
// tensor 3 = 103, i8, (8,), (1,)
// arg 4 = i64s(np.zeros(8))
// expect 4 = np.arange(8) * 1010 + 2**40
// expect 101 = -np.arange(8) * 10
// expect 100 = f32s(np.arange(8) * 2).view(np.uint32) >> 16

// four bits: two elements a byte, reached through the bytes
kernel void four_bits(tensor<device int4b_format, dextents<int, 2>> s [[buffer(0)]],
                      tensor<device const uint4b_format, dextents<int, 2>> u [[buffer(1)]],
                      device uchar *bytes [[buffer(2)]], device int *o [[buffer(3)]],
                      uint2 p [[thread_position_in_grid]]) {
    tensor<device uint4b_format, dextents<int, 2>, tensor_inline> t(bytes, dextents<int, 2>(32, 3));
    static_assert(is_same_v<decltype(t)::value_type, uint4b_format>);
    static_assert(is_same_v<decltype(t)::data_handle_type, device uchar *>);
    static_assert(is_same_v<decltype(u)::data_handle_type, device const uchar *>);
    *t.slice(p.x * 2, p.y).data_handle() = *u.slice(p.x * 2, p.y).data_handle();
    auto row = s.slice<32, 1>(0, p.y);
    row.data_handle()[p.x] ^= 255;
    o[p.y * 16 + p.x] = s.get_stride(1) * 100 + t.slice(2, p.y).get_extent(0);
}
// run: four_bits grid=16,3 group=16,3
// arg 100 = u8s(np.arange(3 * 256) * 7)
// arg 101 = u8s(np.arange(3 * 256) * 13)
// tensor 0 = 100, i4, (32, 3), (1, 256)
// tensor 1 = 101, u4, (32, 3), (1, 512)
// arg 2 = u8s(np.zeros(48))
// arg 3 = i32s(np.zeros(48))
// expect 2 = a101.reshape(3, 256)[:, :16].ravel()
// expect 3 = np.full(48, 25630)
// expect 100 = np.where((np.arange(768) % 128 < 16) & (np.arange(768) < 384), a100 ^ 255, a100)

// a handle of nothing
struct Maybe {
    tensor<device float, dextents<int, 1>> t[2];
};
kernel void nothing(constant Maybe &m [[buffer(0)]], device int *o [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    o[i] = is_null_tensor(m.t[i & 1]) ? -1 : m.t[i & 1].get_extent(0);
}
// run: nothing grid=4 group=4
// arg 100 = f32s(np.zeros(9))
// tensor 100 = 100, f32, (9,), (1,)
// arg 0 = u64s([handle(100), 0])
// arg 1 = i32s(np.zeros(4))
// expect 1 = [9, -1, 9, -1]
