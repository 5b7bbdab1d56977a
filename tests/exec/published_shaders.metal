// What shaders of public repositories write and Apple's compiler takes, with its values.
#include <metal_stdlib>
using namespace metal;

// Random numbers as many projects copy them: a field and a constructor in thread space.
class Seeded {
    thread float seed;

  public:
    thread Seeded(unsigned a);
    thread float next();
};
thread Seeded::Seeded(unsigned a) { this->seed = a; }
thread float Seeded::next() { return seed += 1; }

// A specialisation inside a class template.
template <int N> struct Sized {
    template <int D> int size(uint lod) { return 0; }
    template <> int size<1>(uint lod) { return int(lod) + 1; }
    int all() { return size<N>(3); }
};

// run: members grid=8 group=8
// arg 0 = np.zeros(8, f32)
// expect 0 = iota(8) + 1 + 4
kernel void members(device float *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    Seeded s(i);
    Sized<1> one;
    Sized<2> two;
    o[i] = s.next() + one.all() + two.all();
}

// The space of the variable beside that of what it points to.
struct Light { float x; };
float lit(constant Light *l) {
    const constant thread Light &a = l[0];
    return a.x;
}
// run: spaces grid=8 group=8
// arg 0 = iota(8) * f32(2)
// arg 1 = np.array([3], f32)
// arg 2 = np.zeros(8, f32)
// expect 2 = a0 * 3 + 3
kernel void spaces(device const float *a [[buffer(0)]], constant Light *l [[buffer(1)]], device float *o [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    thread const device float *p[2];
    p[0] = a, p[1] = a + i;
    thread float device *t = o;
    float device *thread *q = &t;
    (*q)[i] = p[0][i] + p[1][0] * 2 + lit(l);
}

// Threadgroup variables: the space behind the type, pointers in them.
template <typename T> struct Box { T v; };
// run: shared grid=4 group=4
// arg 0 = np.zeros(4, i32)
// expect 0 = np.array([3 + 3 + 40, 2 + 2 + 40, 1 + 1 + 40, 0 + 0 + 40], i32)
kernel void shared(device int *o [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    float threadgroup b[4];
    device int *threadgroup s[4];
    threadgroup array<device int *, 4> t;
    threadgroup array<int device *, 4> u;
    threadgroup Box<device int *> box;
    b[i] = i, s[i] = o + i, t[i] = o + i, u[i] = o + i;
    if (i == 0) box.v = o;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *s[i] = int(b[3 - i]);
    *t[i] += *u[i];
    box.v[i] += 40;
}

enum class Slot { in = 0, out };
// run: scoped_slots grid=4 group=4
// arg 0 = iota(4)
// arg 1 = np.zeros(4, f32)
// expect 1 = a0 + 1
kernel void scoped_slots(device const float *a [[buffer(Slot::in)]], device float *o [[buffer(Slot::out)]],
                         uint i [[thread_position_in_grid]]) {
    assert(i < 4);
    o[i] = a[i] + 1;
}

// 64-bit literals.
// run: long_literals grid=1 group=1
// arg 0 = np.array([7, 0, 0, 0, 0], i64)
// expect 0 = np.array([7, 5, 23, 1, 0], i64)
kernel void long_literals(device long *o [[buffer(0)]]) {
    long x = o[0];
    o[1] = abs(x - 12LL), o[2] = clamp(x * 10LL, 11LL, 23LL), o[3] = popcount(4294967296LL);
    o[4] = reverse_bits(0ULL);
}

// Fewer components than a vector has: the others are 0 (with a warning).
// run: too_few grid=1 group=1
// arg 0 = np.zeros(4, f32)
// expect 0 = np.array([5, 5, 1, 0], f32)
kernel void too_few(device float4 *o [[buffer(0)]]) {
    float2 a = 5;
    o[0] = float4(a, 1.0);
}

struct Painted { float4 c[2]; };
// run: volatiles grid=1 group=1
// arg 0 = np.arange(8).astype(f32)
// expect 0 = np.array([1, 3, 5, 7, 4, 5, 6, 7], f32)
kernel void volatiles(volatile device Painted *s [[buffer(0)]]) { s->c[0] += float4(1, 2, 3, 4); }

// Names that are no built-ins, one's own select, matrices of simd.
int to_local(int n, int x) { return n + x; }
int to_global(int n) { return n; }
struct D { float3 val; };
template <class M> D select(const M m, const D a, const D b) { return m.x ? a : b; }
// run: own_names grid=1 group=1
// arg 0 = np.zeros(4, f32)
// expect 0 = np.array([7, 1, 2, 6], f32)
kernel void own_names(device float *o [[buffer(0)]]) {
    D a = {float3(1)}, b = {float3(2)};
    vector_float2 v = 1;
    simd_uint2 u = 2;
    simd::float2x2 m = simd::float2x2(3);
    o[0] = to_local(3, to_global(4));
    o[1] = select(a.val < b.val, a, b).val.x * v.x;
    o[2] = u.y;
    o[3] = m[0][0] + m[1][1];
}

// Records that the host's commands read.
// run: records grid=1 group=1
// arg 0 = np.zeros(24, u32)
// expect 0 = np.array([3, 2, 1, 0] + [0] * 13 + [5] + [0] * 6, u32)
kernel void records(device uint *o [[buffer(0)]]) {
    device auto *draw = (device MTLDrawPrimitivesIndirectArguments *)o;
    draw->vertexCount = 3, draw->instanceCount = 2, draw->vertexStart = 1;
    device auto *instance = (device MTLAccelerationStructureInstanceDescriptor *)(o + 4);
    instance->mask = 5;
    instance->transformationMatrix[0][1] = 0;
}

// Structures of one member within each other, as translators make them.
template <int N> struct Nest {
    Nest<N - 1> in;
    device int &leaf() device { return in.leaf(); }
};
template <> struct Nest<0> {
    int a;
    device int &leaf() device { return a; }
};
// run: nested grid=3 group=3
// arg 0 = np.zeros(3, i32)
// expect 0 = np.arange(3, dtype=i32) + 7
kernel void nested(device Nest<90> *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i].leaf() = i + 7; }
