// SPDX-License-Identifier: Apache-2.0
// projects.metal: what kinds of project write: big integers, error reports with strings, translated HLSL,
// ports of OpenCL by macros, threadgroup arrays in the cases of a switch, captured SIMD-matrix fragments.
#include <metal_stdlib>
#include <metal_texture>
#include <metal_graphics>
using namespace metal;

// ---- 256-bit modular arithmetic
template <const uint32_t LIMBS>
struct BigInt {
    metal::array<uint32_t, LIMBS> limb;
    constexpr BigInt() = default;
    constexpr BigInt(uint32_t n) { limb = {}; limb[0] = n; }
    constexpr explicit operator uint32_t() const { return limb[0]; }
    constexpr BigInt operator+(const BigInt o) const {
        BigInt r{};
        uint64_t carry = 0;
        for (uint32_t i = 0; i < LIMBS; i++) {
            carry += uint64_t(limb[i]) + uint64_t(o.limb[i]);
            r.limb[i] = uint32_t(carry);
            carry >>= 32;
        }
        return r;
    }
    constexpr BigInt operator-(const BigInt o) const {
        BigInt r{};
        int64_t borrow = 0;
        for (uint32_t i = 0; i < LIMBS; i++) {
            borrow += int64_t(limb[i]) - int64_t(o.limb[i]);
            r.limb[i] = uint32_t(borrow);
            borrow >>= 32;
        }
        return r;
    }
    constexpr bool operator>=(const BigInt o) const {
        for (int i = LIMBS - 1; i >= 0; i--) {
            if (limb[i] > o.limb[i]) return true;
            if (limb[i] < o.limb[i]) return false;
        }
        return true;
    }
};
using u256 = BigInt<8>;

template <typename U, uint32_t LOWEST>
struct Field {
    U v;
    static constexpr U modulus() {
        U m{};
        for (uint32_t i = 0; i < 8; i++) m.limb[i] = i == 0 ? LOWEST : 0xFFFFFFFFu;
        m.limb[7] = 0x7FFFFFFF;
        return m;
    }
    Field() = default;
    Field(U x) : v(x) {}
    Field operator+(const Field o) const {
        U s = v + o.v;
        return Field(s >= modulus() ? s - modulus() : s);
    }
    Field operator*(const Field o) const {
        Field acc(U(0));
        for (int i = 255; i >= 0; --i) {
            acc = acc + acc;
            if ((o.v.limb[i / 32] >> (i % 32)) & 1) acc = acc + *this;
        }
        return acc;
    }
    Field pow(uint32_t e) const {
        Field r(U(1)), b = *this;
        while (e) {
            if (e & 1) r = r * b;
            b = b * b;
            e >>= 1;
        }
        return r;
    }
};

template <typename T>
[[kernel]] void field_ops(device const u256 *a [[ buffer(0) ]], constant u256 *b [[ buffer(1) ]], device u256 *c [[ buffer(2) ]],
                          device const uint *e [[ buffer(3) ]], uint i [[ thread_position_in_grid ]]) {
    T x(a[i]), y(b[i]);
    c[i] = (x * y + x.pow(e[i])).v;
}
template [[ host_name("field_25519") ]] [[kernel]] void field_ops<Field<u256, 0xFFFFFFED>>(device const u256 *, constant u256 *, device u256 *, device const uint *, uint);

// schoolbook product through mulhi and carries, 128 x 128 -> 256 bits
kernel void mul128(device const uint4 *a, device const uint4 *b, device uint *out, uint i [[thread_position_in_grid]]) {
    uint r[8] = {};
    for (uint j = 0; j < 4; ++j) {
        uint carry = 0;
        for (uint k = 0; k < 4; ++k) {
            uint lo = a[i][j] * b[i][k], hi = mulhi(a[i][j], b[i][k]);
            uint s = r[j + k] + lo;
            hi += s < lo;
            uint t = s + carry;
            hi += t < carry;
            r[j + k] = t;
            carry = hi;
        }
        r[j + 4] = carry;
    }
    for (uint k = 0; k < 8; ++k) out[8 * i + k] = r[k];
}

// ---- errors reported with the place where they happened
struct Report { uint line; char func[16]; char text[28]; };
struct Reports { atomic<uint> count; Report entry[4]; };

static void copy_text(device char *to, constant const char *from, uint n) {
    uint i = 0;
    for (; from[i] != 0 && i < n - 1; ++i) to[i] = from[i];
    to[i] = 0;
}
static void report(device Reports *all, int line, constant const char *func, constant const char *text) {
    const auto ix = atomic_fetch_add_explicit(&all->count, 1u, memory_order_relaxed);
    if (ix >= 4) return;
    device auto *at = &all->entry[ix];
    at->line = line;
    copy_text(at->func, func, sizeof(at->func));
    copy_text(at->text, text, sizeof(at->text));
}
#define REPORT(to, text) report(to, __LINE__, __func__, text)

kernel void check_index(device Reports *reports, constant int *ix, uint i [[thread_position_in_grid]]) {
    constant const char *limit = "d";
    if (ix[i] < 0) REPORT(reports, "index is negative");
    if (ix[i] > limit[0]) REPORT(reports, "index is beyond the end");
}

// ---- HLSL, translated
#if !(__HAVE_FMA__)
#define fma(a,b,c) ((a) * (b) + (c))
#endif
struct Globals_Type { float4 _Params; uint _Count; };
struct X_Type { uint value[4]; };

kernel void computeMain(constant Globals_Type& Globals [[ buffer(0) ]], device X_Type *X [[ buffer(1) ]],
                        uint3 mtl_ThreadID [[ thread_position_in_grid ]], uint mtl_ThreadIndex [[thread_index_in_threadgroup]])
{
    threadgroup struct {
        uint value[1];
    } TGSM0[32];
    threadgroup struct Slot { float2 value; } TGSM1[32];
    float4 u_xlat0;
    int4 u_xlati0;
    bool4 u_xlatb0;
    uint u_xlatu1 = 0x0u;
    bool u_xlatb1;
    u_xlatb0.xy = (float2(0.0, 1.0) < Globals._Params.xy);
    u_xlati0.xy = int2((uint2(u_xlatb0.xy) * 0xffffffffu));
    u_xlat0 = as_type<float4>(int4(as_type<int2>(uint2(X[mtl_ThreadID.x].value[0], 0x40000000u)), int2(0x0, 0x3f800000)));
    u_xlatb1 = mtl_ThreadID.x<Globals._Count;
    if(u_xlatb1){
        u_xlatu1 = atomic_fetch_add_explicit(reinterpret_cast<device atomic_uint *>(&X[mtl_ThreadID.x].value[(0x8 >> 2)]), 1u, memory_order::memory_order_relaxed);
    }
    TGSM0[mtl_ThreadIndex].value[(0x0 >> 2)] = u_xlatu1;
    TGSM1[mtl_ThreadIndex].value = u_xlat0.xy;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    u_xlat0.z = TGSM1[31u - mtl_ThreadIndex].value.y;
    u_xlat0.x = fma(u_xlat0.x, u_xlat0.y, (-u_xlat0.z));
    X[mtl_ThreadID.x].value[(0x4 >> 2)] = as_type<uint>(u_xlat0.x);
    X[mtl_ThreadID.x].value[(0xc >> 2)] = TGSM0[31u - mtl_ThreadIndex].value[0] + uint(u_xlati0.x & 0x10) + uint(u_xlati0.y & 0x100);
    return;
}

// ---- OpenCL, ported by macros
#define GLOBAL device
#define LOCAL threadgroup
#define PRIVATE thread
#define KERNEL kernel
#define SYNC() threadgroup_barrier(mem_flags::mem_threadgroup)
typedef uchar u8; typedef uint u32; typedef ulong u64;
union conv32 { u64 wide; struct { u8 a; u8 b; u8 c; u8 d; } v8; };

static u32 count_up(volatile GLOBAL u32 *p) {
    volatile const u32 one = 1;
    volatile GLOBAL atomic_int *pd = (volatile GLOBAL atomic_int *) p;
    return atomic_fetch_add_explicit(pd, one, memory_order_relaxed);
}
static u32 turn(const u32 a, const int n) { return (a << n) | (a >> (32 - n)); }
#define STEP(f, a, b, c, d, x, k, s) { a = a + k + x + f(b, c, d); a = turn(a, s); }
#define PICK(x, y, z) (((x) & (y)) | ((~(x)) & (z)))
static void fetch(PRIVATE u32 *w, GLOBAL const u32 *src, const u32 len) { for (u32 i = 0, j = 0; i < len; i += 4, j++) w[j] = src[j]; }

KERNEL void digest(GLOBAL const u32 *words, GLOBAL u32 *out, GLOBAL u32 *hits, constant u64 &limit,
                   uint gid [[ thread_position_in_grid ]], uint lid [[ thread_position_in_threadgroup ]], uint lsz [[threads_per_threadgroup]])
{
    LOCAL u32 table[64];
    for (u32 i = lid; i < 64; i += lsz) table[i] = i * 2654435761u;
    SYNC();
    if (gid >= limit) return;
    u32 w[4] = { 0 };
    fetch(w, words + gid * 4, 16);
    u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    STEP(PICK, a, b, c, d, w[0], 0u, 3);
    STEP(PICK, d, a, b, c, w[1], 0u, 7);
    STEP(PICK, c, d, a, b, w[2], 0x5a827999u, 11);
    STEP(PICK, b, c, d, a, w[3], 0x5a827999u, 19);
    union conv32 v;
    v.wide = a;
    d += v.v8.b;
    if ((a & 7) == 0) count_up(hits);
    out[gid] = a ^ b ^ c ^ d ^ table[a & 63];
}

// ---- the size of shared memory chosen by the case of a switch
template <typename T, uint N>
static void tree_max(device const T *src, device T *dst, constant uint &n, threadgroup T shared[N], uint tid, uint gid) {
    T v = numeric_limits<T>::lowest();
    for (uint i = tid; i < n; i += N) v = max(v, src[gid * n + i]);
    shared[tid] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(full)
    for (ushort s = N / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] = max(shared[tid], shared[tid + s]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tid == 0) dst[gid] = shared[0];
}
#define CASE(T, N) case N: { threadgroup T shared[N]; tree_max<T, N>(src, dst, n, shared, tid, gid); break; }
#define MAX_KERNEL(NAME, T)                                                                        \
    kernel void NAME(device const T *src, device T *dst, constant uint &n,                         \
                     uint tid [[ thread_index_in_threadgroup ]], uint gid [[ threadgroup_position_in_grid ]], \
                     uint size [[ threads_per_threadgroup ]]) {                                    \
        switch (size) { CASE(T, 256) CASE(T, 128) CASE(T, 64) CASE(T, 32) }                        \
    }
MAX_KERNEL(max_f32, float)
MAX_KERNEL(max_i64, int64_t)
MAX_KERNEL(max_u8, uint8_t)

// ---- a fragment type of the project's own around SIMD-group matrices, added to Metal's namespace
namespace metal {
template <typename T>
struct matrix_fragment {
    vec<T, 2> pair;
    METAL_FUNC thread vec<T, 2> *thread_elements() thread { return reinterpret_cast<thread vec<T, 2> *>(&pair); }
    METAL_FUNC matrix_fragment() thread = default;
    METAL_FUNC matrix_fragment(vec<T, 2> p) thread { *(this->thread_elements()) = p; }
    METAL_FUNC static ushort2 offset(ushort lane) {
        return ushort2((lane & 8) / 2 + (lane & 1) * 2, (lane & 16) / 4 + (lane & 6) / 2);
    }
    template <typename U>
    METAL_FUNC void load(const device U *src, uint per_row, ushort2 at) {
        vec<U, 2> m = *((const device vec<U, 2> *)(src + uint(at.y) * per_row + at.x));
        *(thread_elements()) = vec<T, 2>(m);
    }
    template <typename U, typename V>
    METAL_FUNC void multiply(matrix_fragment<U> a, matrix_fragment<V> b, bool accumulate = true) {
        if (!accumulate) *(thread_elements()) = vec<T, 2>(0);
        simdgroup_matrix<U, 8, 8> ma;
        simdgroup_matrix<V, 8, 8> mb;
        simdgroup_matrix<T, 8, 8> mc;
        ma.thread_elements() = *(a.thread_elements());
        mb.thread_elements() = *(b.thread_elements());
        mc.thread_elements() = *(thread_elements());
        simdgroup_multiply_accumulate(mc, ma, mb, mc);
        *(thread_elements()) = mc.thread_elements();
    }
};
} // namespace metal

kernel void fragments(device float *A [[buffer(0)]], device half *B [[buffer(1)]], device float *C [[buffer(2)]],
                      ushort lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]]) {
    const auto at = matrix_fragment<float>::offset(lane);
    matrix_fragment<float> a, c(float2(sg, sg));
    matrix_fragment<half> b;
    a.load(A + 64 * sg, 8, at);
    b.load(B, 8, at);
    c.multiply(a, b);
    c.multiply(a, b, true);
    *((device float2 *)(C + 64 * sg + at.y * 8 + at.x)) = *(c.thread_elements());
}

// ---- a renderer's context object, methods on device memory
struct Params { int n; float scale; };
struct Context {
    constant Params &launch;
    thread uint &steps;
    Context(constant Params &l, thread uint &s) : launch(l), steps(s) {}
    static float square(float x) { return x * x; }
    float3 shade(const int i, thread float *__restrict w) const {
        steps++;
        *w = square(launch.scale);
        return float3({float(i), *w, 1.0f});
    }
};
struct Job {
    int offset;
    float factor;
    void run(thread Context &context, device float *out, const uint gid) device const;
};
void Job::run(thread Context &context, device float *out, const uint gid) device const {
    float w;
    const float3 c = context.shade(gid + offset, &w);
    if (gid < uint(context.launch.n)) out[gid] = (c.x + c.y * w) * factor + float(context.steps);
}
kernel void render(device const Job *job [[buffer(0)]], constant Params &launch [[buffer(1)]], device float *out [[buffer(2)]], const uint gid [[thread_position_in_grid]]) {
    uint steps = 10;
    Context context(launch, steps);
    job->run(context, out, gid);
}
