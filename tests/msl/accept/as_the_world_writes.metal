// Constructs of public libraries and of translators that Clang's dialect does not take by itself.
#include <metal/metal_stdlib>
#include <metal/metal_simdgroup_matrix>
#include <metal/metal_atomic>
#pragma METAL internals : enable
using namespace metal;

// Names that Apple's headers leave free.
namespace metal {
template <typename T> struct is_empty : bool_constant<__is_empty(T)> {};
constexpr constant thread_scope thread_scope_system = static_cast<thread_scope>(3);
template <typename... Ts> struct make_void { typedef void type; };
template <typename... Ts> using void_t = typename make_void<Ts...>::type;
METAL_FUNC bfloat sum_of(bfloat v) { return bfloat(__metal_simd_sum(float(v))); }
METAL_FUNC bfloat xor_of(bfloat v) { return bfloat(__metal_simd_xor(float(v))); }
METAL_FUNC bfloat other(bfloat v, ushort m) { return bfloat(__metal_simd_shuffle_xor(float(v), m)); }
METAL_FUNC bfloat from(bfloat v, ushort m) { return bfloat(__metal_simd_broadcast(float(v), m)); }
} // namespace metal

// A literal in a dependent expression is a float, too.
template <typename T> T hard_sigmoid(T x) { return fmax(0, fmin(1, x / 6 + 0.5)); }
template <typename T> T mixed(T x) { return x * .5 + clamp(x, 0.0, 1.0) + pow(x, 2.) + 1e-3 + 0x1.8p1; }

// Sizes of vectors and matrices as parameters of any integer type.
template <typename T, uint V> T first(vec<T, V> v) { return v[0]; }
template <typename T, int V> T second(vec<T, V> v) { return v[1]; }
template <typename T, size_t V> vec<T, V> twice(vec<T, V> v) { return v + v; }
template <typename T, uint C, uint R> T corner(matrix<T, C, R> m) { return m[C - 1][R - 1]; }
template <typename T, size_t C, size_t R = C> T trace(matrix<T, C, R> m) { return m[0][0]; }

// An address space in front of a result that has none.
thread bool operator==(const float2x2 a, const float2x2 b);
thread bool operator==(const float2x2 a, const float2x2 b) { return all(a[0] == b[0]) && all(a[1] == b[1]); }

// Arrays as translators wrap them: a member for each space there is.
template <typename T, size_t N> struct wrapped {
    T elements[N ? N : 1];
    thread T &operator[](size_t i) thread { return elements[i]; }
    constexpr const thread T &operator[](size_t i) const thread { return elements[i]; }
    device T &operator[](size_t i) device { return elements[i]; }
    constexpr const device T &operator[](size_t i) const device { return elements[i]; }
    constexpr const constant T &operator[](size_t i) const constant { return elements[i]; }
    threadgroup T &operator[](size_t i) threadgroup { return elements[i]; }
    constexpr const threadgroup T &operator[](size_t i) const threadgroup { return elements[i]; }
    object_data T &operator[](size_t i) object_data { return elements[i]; }
    constexpr const object_data T &operator[](size_t i) const object_data { return elements[i]; }
    threadgroup_imageblock T &operator[](size_t i) threadgroup_imageblock { return elements[i]; }
    ray_data T &operator[](size_t i) ray_data { return elements[i]; }
    T last() const thread { return elements[N - 1]; }
    T last() const device { return elements[N - 1]; }
    T last() const constant { return elements[N - 1]; }
};
struct only_payload {
    float x;
    float get() const object_data { return x; }
};
wrapped<float, 4> make(float x) {
    wrapped<float, 4> w;
    for (int i = 0; i < 4; i++) w[i] = x + i;
    return w;
}

// References to pointers lie in thread memory.
static void advance(const device uint *&w) { w += 2; }
template <typename T> void advance_by(const device T *&w, thread int &n) { w += n; }
static float both(device float *(&p)[2]) { return p[0][0] + p[1][0]; }
static float held(device float *constant (&p)[2]) { return p[0][0] + p[1][0]; }

template <typename T> struct Tile {
    static constant constexpr const short kN = 4;
    T v[4];
};
template <typename T> T sum(Tile<T> tile) {
    T s = 0;
    for (short i = 0; i < decltype(tile)::kN; i++) s += tile.v[i];
    return s;
}

// A last act that is a call of oneself is a loop.
struct Walk {
    int at;
    void next(int extra, thread wrapped<int, 4> &shape) {
        at += shape[extra & 3];
        if (extra > 0) next(extra - 1, shape);
    }
};
int factorial(int n, int product) { return n <= 1 ? product : factorial(n - 1, product * n); }

struct Pair { float2 a, b; };
struct Blend { float4 a [[color(0)]]; float4 b [[color(0) index(1)]]; };
struct Varying { float4 p [[position]]; float c [[user(x) flat]]; };
fragment Blend blend(Varying v [[stage_in]]) {
    Blend o;
    o.a = v.p;
    o.b = float4(v.c);
    return o;
}
struct Point { float4 p [[position]]; };
[[patch(quad, 0)]] vertex Point quads(float2 uv [[position_in_patch]], uint id [[patch_id]]) {
    return Point{float4(uv, float(id), 1)};
}
[[patch(triangle, 0)]] vertex Point triangles(float3 uv [[position_in_patch]]) { return Point{float4(uv, 1)}; }

kernel void all_of_it(device float *a [[buffer(0)]], device uint *u [[buffer(1)]], const device uint *w [[buffer(2)]],
                      device bfloat *b [[buffer(3)]], device float4 *f [[buffer(4)]], constant wrapped<float, 4> &c [[buffer(5)]],
                      uint i [[thread_position_in_threadgroup]]) {
    threadgroup float t[32] = {0}; // expect-warning: is ignored
    threadgroup Pair s{{}, {}}; // expect-warning: is ignored
    t[i & 31] = hard_sigmoid<float>(a[i]) + mixed<float>(a[i]) + hard_sigmoid<half>(half(a[i]));
    s.a = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = t[31 - (i & 31)] + s.a.x + first(float3(1, 2, 3)) + second(float2(1)) + twice(float4(2)).x;
    a[1] = corner(float2x3(1)) + trace(float4x4(2)) + float(float2x2(1) == float2x2(2));
    a[2] = make(3)[0u] + make(4).last() + c.last();
    int n = 1;
    advance(w);
    advance_by(w, n);
    device float *p[2] = {a, a + 1};
    a[3] = both(p) + *w;
    Tile<float> tile = {{1, 2, 3, 4}};
    a[4] = sum(tile);
    Walk walk = {0};
    wrapped<int, 4> shape = {{1, 2, 3, 4}};
    walk.next(i, shape);
    a[5] = walk.at + factorial(int(u[5]), 1);
    float3 cut = float3(f[0]);
    float2 shorter = float2(f[1]);
    uint4 ks = {u[0], 2, 3};
    float4 rest = {cut.x, 1};
    float4 pieces = {shorter, 5};
    u[1] = ks.w + ks.z + uint(rest.z + pieces.w);
    b[i] = sum_of(b[i]) + other(b[i], 1) + from(b[i], 2) + xor_of(b[i]);
    simdgroup_float8x8 m;
    simdgroup_float8x8::storage_type e = m.thread_elements();
    m.thread_elements()[0] = e[1];
    thread auto &elements = m.thread_elements();
    elements[1] = 3;
    reinterpret_cast<thread simdgroup_matrix<float, 8, 8>::storage_type &>(m.thread_elements()) = float2(1, 2);
    simdgroup_bfloat8x8 mb;
    mb.thread_elements()[0] = b[0];
    simdgroup_store(m, a + 64, 8);
}

kernel void texture_atomics(texturecube<uint, access::read_write> c [[texture(0)]],
                            texture_buffer<uint, access::read_write> b [[texture(1)]],
                            texture2d_array<int, access::read_write> a [[texture(2)]],
                            texturecube_array<uint, access::read_write> ca [[texture(5)]],
                            texture1d_array<uint, access::read_write> a1 [[texture(6)]]) {
    c.atomic_fetch_add(uint2(0), 1u, uint4(1));
    c.atomic_fetch_or(ushort2(0), ushort(1), uint4(1));
    b.atomic_fetch_add(0u, uint4(1));
    a.atomic_fetch_max(uint2(0), 1u, int4(1));
    ca.atomic_fetch_xor(uint2(0), 1u, 0u, uint4(1));
    a1.atomic_fetch_and(0u, 1u, uint4(1));
    b.atomic_store(c.atomic_load(uint2(0), 0u), 0u);
}

kernel void atomics_by_their_inner_name(device _atomic<int> *sum [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(sum, int(i), memory_order_relaxed);
}
