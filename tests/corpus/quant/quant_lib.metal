// SPDX-License-Identifier: Apache-2.0
// quant_lib.metal: inference kernels in one file, in the manner of C-like ML runtimes: argument structs
// by constant reference, byte strides, block-quantised weights behind char pointers, templates that are
// instantiated through typedef and host_name, function parameters of templates. test_quant.py checks it.

#include <metal_stdlib>

using namespace metal;

#define UPTO(x, y) ((x) < (y) ? (x) : (y))
#define ATLEAST(x, y) ((x) > (y) ? (x) : (y))
#define EXCHANGE(x, y) { auto keep = (x); (x) = (y); (y) = keep; }
#define UNROLLED(x) _Pragma("clang loop unroll(full)") for (x)

#define LANES 32
#define BLK 32   // weights in a small block
#define SUPER 256 // weights in a super-block

// ------------------------------------------------------------------------------------- blocks

// w[2i] = scale * (low nibble - 8), w[2i + 1] = scale * (high nibble - 8)
typedef struct {
    half    scale;
    uint8_t q[BLK/2];
} block_s4;
static_assert(sizeof(block_s4) == 18, "s4 has no padding");

// w = scale * nibble + bias
typedef struct {
    union {
        struct {
            half scale;
            half bias;
        };
        half2 both;
    };
    uint8_t q[BLK/2];
} block_a4;
static_assert(sizeof(block_a4) == 20, "a4 has no padding");

// five bits: the fifth of weight i is bit i of hi
typedef struct {
    half    scale;
    uint8_t hi[4];
    uint8_t lo[BLK/2];
} block_s5;
static_assert(sizeof(block_s5) == 22, "s5 has no padding");

typedef struct {
    half   scale;
    int8_t q[BLK];
} block_s8;
static_assert(sizeof(block_s8) == 34, "s8 has no padding");

// 8 sub-blocks of 32: w = d * (sc & 15) * nibble - m * (sc >> 4)
typedef struct {
    half    d;
    half    m;
    uint8_t sc[8];
    uint8_t q[SUPER/2];
} block_k4;
static_assert(sizeof(block_k4) == 140, "k4 has no padding");

// nibble through a table
typedef struct {
    half    scale;
    uint8_t q[BLK/2];
} block_t4;

constexpr constant static float table4[16] = {
    -120.f, -97.f, -76.f, -59.f, -45.f, -31.f, -19.f, -8.f, 2.f, 12.f, 23.f, 36.f, 51.f, 68.f, 88.f, 114.f
};

constant int8_t table4_i8[16] = { -120, -97, -76, -59, -45, -31, -19, -8, 2, 12, 23, 36, 51, 68, 88, 114 };

// ---------------------------------------------------------------------------- argument structs

typedef struct {
    int32_t  n[4];    // extent of the result
    uint64_t sd[4];   // its strides in bytes
    int32_t  na[4];
    uint64_t sa[4];
    int32_t  nb[4];
    uint64_t sb[4];
} args_binary;

typedef struct {
    int32_t  cols;
    int32_t  rows;
    uint64_t row_bytes;
    int32_t  vecs;
    uint64_t vec_bytes;
    int32_t  ld_out;
} args_mv;

typedef struct {
    int32_t  k;
    int32_t  m;
    int32_t  n;
    uint64_t row_bytes;
    uint64_t col_bytes;
    uint64_t batch_a;
    uint64_t batch_b;
    int16_t  share;  // batches of b that use one batch of a
} args_mm;

typedef struct {
    int32_t  n;
    uint64_t row_bytes;
    float    eps;
} args_norm;

typedef struct {
    int32_t n;
    int32_t rows;      // rows of the mask
    float   scale;
    float   slope;
    int32_t has_mask;
} args_softmax;

typedef struct {
    int32_t  head_dim;
    int32_t  heads;
    int32_t  rot;
    uint64_t s_head;
    uint64_t s_pos;
    float    base;
    float    scale;
} args_rope;

typedef struct {
    int32_t iw, ih, channels;
    int32_t kw, kh;
    int32_t sx, sy, px, py, dx, dy;
    int32_t ow, oh;
} args_conv;

typedef struct {
    int32_t  n_q;
    int32_t  n_kv;
    int32_t  heads_per_kv;
    uint64_t q_head, q_row;
    uint64_t k_head, k_row;
    uint64_t v_head, v_row;
    uint64_t m_row;
    float    scale;
    float    cap;
} args_attn;

// ------------------------------------------------------------------------------ dequantisation
// 16 consecutive weights, number `part` of the block, go into a 4x4 tile.

template <typename tile_t>
void unpack_f32(device const float4x4 * src, short part, thread tile_t & w) {
    w = (tile_t)(src[part]);
}

template <typename tile_t>
void unpack_f16(device const half4x4 * src, short part, thread tile_t & w) {
    w = (tile_t)(src[part]);
}

template <typename tile_t>
void unpack_s4(device const block_s4 * b, short part, thread tile_t & w) {
    device const uint16_t * pairs = (device const uint16_t *) b + 1 + 4*part;
    const float s = b->scale;
    for (short i = 0; i < 4; i++) {
        const ushort p = pairs[i];
        w[i] = { decltype(w[0][0] + 0)(s*((p & 15) - 8)), decltype(w[0][0] + 0)(s*(((p >> 4) & 15) - 8)),
                 decltype(w[0][0] + 0)(s*(((p >> 8) & 15) - 8)), decltype(w[0][0] + 0)(s*((p >> 12) - 8)) };
    }
}

template <typename tile_t>
void unpack_a4(device const block_a4 * b, short part, thread tile_t & w) {
    const half2 sb = b->both;
    const float s = sb[0];
    const float z = sb[1];
    for (int i = 0; i < 8; i++) {
        const uint8_t byte = b->q[8*part + i];
        w[i/2][2*(i%2) + 0] = s*(byte & 0xF) + z;
        w[i/2][2*(i%2) + 1] = s*(byte >> 4) + z;
    }
}

template <typename tile_t>
void unpack_s5(device const block_s5 * b, short part, thread tile_t & w) {
    uint32_t hi = 0;
    for (int k = 0; k < 4; ++k) {
        hi |= (uint32_t) b->hi[k] << (8*k);
    }
    const float s = b->scale;
    for (int i = 0; i < 16; ++i) {
        const int at = 16*part + i;
        const uint8_t nibble = at & 1 ? b->lo[at/2] >> 4 : b->lo[at/2] & 0x0F;
        const int32_t v = nibble | (((hi >> at) & 1) << 4);
        w[i/4][i%4] = s*(v - 16);
    }
}

template <typename tile_t>
void unpack_s8(device const block_s8 * b, short part, thread tile_t & w) {
    device const packed_char4 * q = (device const packed_char4 *)(b->q + 16*part);
    const float s = b->scale;
    float4x4 t;
    for (int i = 0; i < 4; i++) {
        t[i] = s*float4(char4(q[i]));
    }
    w = (tile_t) t;
}

static inline float2 k4_scales(device const block_k4 * b, int sub) {
    const uchar sc = b->sc[sub];
    return { (float) b->d * (sc & 15), (float) b->m * (sc >> 4) };
}

template <typename tile_t>
void unpack_k4(device const block_k4 * b, short part, thread tile_t & w) {
    const float2 dm = k4_scales(b, part/2);
    device const uchar * q = b->q + 8*part;
    for (int i = 0; i < 16; ++i) {
        const ushort mask = i & 1 ? 0xF0 : 0x0F;
        const float f = i & 1 ? dm[0]/16.f : dm[0];
        w[i/4][i%4] = f*(q[i/2] & mask) - dm.y;
    }
}

template <typename tile_t>
void unpack_t4(device const block_t4 * b, short part, thread tile_t & w) {
    device const uint16_t * q = (device const uint16_t *) b->q + 4*part;
    const float s = b->scale;
    uint32_t word[2];
    thread const uint8_t * bytes = (thread const uint8_t *) word;
    for (int i = 0; i < 2; ++i) {
        const uint32_t both = q[2*i] | ((uint32_t) q[2*i + 1] << 16);
        word[0] = both & 0x0f0f0f0f;
        word[1] = (both >> 4) & 0x0f0f0f0f;
        for (int k = 0; k < 4; ++k) {
            w[2*i + k/2][2*(k%2) + 0] = s*table4[bytes[k]];
            w[2*i + k/2][2*(k%2) + 1] = s*table4[bytes[4 + k]];
        }
    }
}

// -------------------------------------------------------------------------------- quantisation

void pack_block(device const float * x, device block_s8 & b) {
    float top = 0.0f;
    for (int i = 0; i < BLK; i++) {
        top = ATLEAST(top, fabs(x[i]));
    }
    const float s = top / 127;
    const float inv = s ? 1.0f/s : 0.0f;
    b.scale = s;
    for (int i = 0; i < BLK; ++i) {
        b.q[i] = rint(x[i]*inv);
    }
}

void pack_block(device const float * x, device block_s4 & b) {
#pragma METAL fp math_mode(safe)
    float top = 0.0f, signed_top = 0.0f;
    for (int i = 0; i < BLK; i++) {
        const float v = x[i];
        if (fabs(v) > top) {
            top = fabs(v);
            signed_top = v;
        }
    }
    const float s = signed_top / -8;
    const float inv = s ? 1.0f/s : 0.0f;
    b.scale = s;
    for (int i = 0; i < BLK/2; ++i) {
        const uint8_t a = UPTO(15, (int8_t)(x[2*i + 0]*inv + 8.5f));
        const uint8_t c = UPTO(15, (int8_t)(x[2*i + 1]*inv + 8.5f));
        b.q[i]  = a;
        b.q[i] |= c << 4;
    }
}

void pack_block(device const float * x, device block_a4 & b) {
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (int i = 0; i < BLK; i++) {
        if (lo > x[i]) lo = x[i];
        if (hi < x[i]) hi = x[i];
    }
    const float s = (hi - lo)/15;
    const float inv = s ? 1.0f/s : 0.0f;
    b.both = half2(s, lo);
    for (int i = 0; i < BLK/2; ++i) {
        const uchar2 n = uchar2(clamp((float2(x[2*i], x[2*i + 1]) - lo)*inv + 0.5f, 0.0f, 15.0f));
        b.q[i] = n.x | (n.y << 4);
    }
}

static inline int nearest_in_table(int n, constant float * table, float x) {
    if (x <= table[0]) return 0;
    if (x >= table[n - 1]) return n - 1;
    int below = 0, above = n - 1;
    while (above - below > 1) {
        const int middle = (below + above)/2;
        if (x < table[middle]) above = middle; else below = middle;
    }
    return x - table[below] < table[above] - x ? below : above;
}

void pack_block(device const float * x, device block_t4 & b) {
    float top = 0.0f, signed_top = 0.0f;
    for (int i = 0; i < BLK; i++) {
        if (fabs(x[i]) > top) {
            top = fabs(x[i]);
            signed_top = x[i];
        }
    }
    const float s = signed_top / table4[0];
    const float inv = s ? 1.0f/s : 0.0f;
    for (int i = 0; i < BLK/2; ++i) {
        const uint8_t a = nearest_in_table(16, table4, x[2*i]*inv);
        const uint8_t c = nearest_in_table(16, table4, x[2*i + 1]*inv);
        b.q[i] = a | (c << 4);
    }
    b.scale = s;
}

template <typename block_t>
kernel void kernel_pack(
        device const float   * src [[buffer(0)]],
        device       block_t * dst [[buffer(1)]],
        constant     int     & n   [[buffer(2)]],
        uint i [[thread_position_in_grid]]) {
    if (i >= (uint) n) {
        return;
    }
    pack_block(src + BLK*i, dst[i]);
}

typedef decltype(kernel_pack<block_s8>) kernel_pack_s8_t;
template [[host_name("kernel_pack_s8")]] kernel kernel_pack_s8_t kernel_pack<block_s8>;
template [[host_name("kernel_pack_s4")]] kernel decltype(kernel_pack<block_s4>) kernel_pack<block_s4>;
template [[host_name("kernel_pack_a4")]] kernel decltype(kernel_pack<block_a4>) kernel_pack<block_a4>;
template [[host_name("kernel_pack_t4")]] kernel decltype(kernel_pack<block_t4>) kernel_pack<block_t4>;

template <typename T4, typename block_t, short parts, void (*unpack)(device const block_t *, short, thread float4x4 &)>
kernel void kernel_unpack(
        device const block_t * src [[buffer(0)]],
        device       T4      * dst [[buffer(1)]],
        constant     int     & n16 [[buffer(2)]],
        uint i [[thread_position_in_grid]]) {
    if ((int) i >= n16) {
        return;
    }
    float4x4 w;
    unpack(src + i/parts, i%parts, w);
    UNROLLED (short k = 0; k < 4; ++k) {
        dst[4*i + k] = (T4) w[k];
    }
}

#define UNPACK(NAME, T4, BLOCK, PARTS, FN) \
    template [[host_name("kernel_unpack_" NAME)]] kernel decltype(kernel_unpack<T4, BLOCK, PARTS, FN>) kernel_unpack<T4, BLOCK, PARTS, FN>;

UNPACK("s4_f32", float4, block_s4, 2, unpack_s4)
UNPACK("a4_f32", float4, block_a4, 2, unpack_a4)
UNPACK("s5_f32", float4, block_s5, 2, unpack_s5)
UNPACK("s8_f32", float4, block_s8, 2, unpack_s8)
UNPACK("k4_f32", float4, block_k4, 16, unpack_k4)
UNPACK("t4_f32", float4, block_t4, 2, unpack_t4)
UNPACK("s4_f16", half4, block_s4, 2, unpack_s4)
UNPACK("s8_f16", half4, block_s8, 2, unpack_s8)

// ------------------------------------------------------------------------ element-wise kernels

// strided, broadcast in every dimension; a threadgroup is a row
kernel void kernel_add(
        constant args_binary & args,
        device const char * a,
        device const char * b,
        device       char * d,
        uint3   group[[threadgroup_position_in_grid]],
        ushort3 local[[thread_position_in_threadgroup]],
        ushort3 size[[threads_per_threadgroup]]) {
    device const char * pa = a;
    device const char * pb = b;
    device       char * pd = d;
    for (int k = 0; k < 3; ++k) {
        pa += (group[k] % args.na[k + 1])*args.sa[k + 1];
        pb += (group[k] % args.nb[k + 1])*args.sb[k + 1];
        pd += group[k]*args.sd[k + 1];
    }
    for (int i = local.x; i < args.n[0]; i += size.x) {
        const int ia = i % args.na[0];
        const int ib = i % args.nb[0];
        *((device float *)(pd + i*args.sd[0])) = *((device const float *)(pa + ia*args.sa[0])) + *((device const float *)(pb + ib*args.sb[0]));
    }
}

enum binary_op { OP_SUB = 1, OP_MUL, OP_DIV, OP_MIN };

template <binary_op op, typename T>
kernel void kernel_binary(
        constant args_binary & args,
        device const char * a,
        device const char * b,
        device       char * d,
        uint3   group[[threadgroup_position_in_grid]],
        ushort3 local[[thread_position_in_threadgroup]],
        ushort3 size[[threads_per_threadgroup]]) {
    device const T * pa = (device const T *) (a + (group.z%args.na[3])*args.sa[3] + (group.y%args.na[2])*args.sa[2] + (group.x%args.na[1])*args.sa[1]);
    device const T * pb = (device const T *) (b + (group.z%args.nb[3])*args.sb[3] + (group.y%args.nb[2])*args.sb[2] + (group.x%args.nb[1])*args.sb[1]);
    device       T * pd = (device       T *) (d + group.z*args.sd[3] + group.y*args.sd[2] + group.x*args.sd[1]);
    for (int i = local.x; i < args.n[0]; i += size.x) {
        const T x = pa[i % args.na[0]];
        const T y = pb[i % args.nb[0]];
        switch (op) {
            case OP_SUB: pd[i] = x - y; break;
            case OP_MUL: pd[i] = x * y; break;
            case OP_DIV: pd[i] = x / y; break;
            case OP_MIN: pd[i] = x < y ? x : y; break;
        }
    }
}

typedef decltype(kernel_binary<OP_SUB, float>) kernel_binary_t;

template [[host_name("kernel_sub_f32")]] kernel kernel_binary_t kernel_binary<OP_SUB, float>;
template [[host_name("kernel_mul_f32")]] kernel kernel_binary_t kernel_binary<OP_MUL, float>;
template [[host_name("kernel_div_f32")]] kernel kernel_binary_t kernel_binary<OP_DIV, float>;
template [[host_name("kernel_min_f32")]] kernel kernel_binary_t kernel_binary<OP_MIN, float>;
template [[host_name("kernel_sub_f16")]] kernel kernel_binary_t kernel_binary<OP_SUB, half>;
template [[host_name("kernel_mul_f16")]] kernel kernel_binary_t kernel_binary<OP_MUL, half>;
template [[host_name("kernel_mul_i32")]] kernel kernel_binary_t kernel_binary<OP_MUL, int>;
template [[host_name("kernel_div_i16")]] kernel kernel_binary_t kernel_binary<OP_DIV, short>;
template [[host_name("kernel_min_i64")]] kernel kernel_binary_t kernel_binary<OP_MIN, long>;

kernel void kernel_scale_4(
        device const float4 * src,
        device       float4 * dst,
        constant     float  & scale,
        constant     float  & bias,
        uint i[[thread_position_in_grid]]) {
    dst[i] = src[i]*scale + bias;
}

constant float CUBIC = 0.044715f;
constant float ROOT_2_PI = 0.79788456080286535587989211986876f;
constant float ROOT_HALF = 0.70710678118654752440084436210484f;

static inline float gelu_tanh(float x) {
    return 0.5f*x*(1.0f + precise::tanh(ROOT_2_PI*x*(1.0f + CUBIC*x*x)));
}

// Abramowitz and Stegun 7.1.26
template <typename T>
T erf_7_1_26(T x) {
    const T s = sign(x);
    x = fabs(x);
    const T t = 1.0f/(1.0f + 0.3275911f*x);
    T p = 1.061405429f;
    p = p*t - 1.453152027f;
    p = p*t + 1.421413741f;
    p = p*t - 0.284496736f;
    p = p*t + 0.254829592f;
    return s*(1.0f - p*t*exp(-x*x));
}

kernel void kernel_gelu_4(device const float4 * src, device float4 * dst, uint i[[thread_position_in_grid]]) {
    device const float4 & x = src[i];
    dst[i] = 0.5f*x*(1.0f + precise::tanh(ROOT_2_PI*x*(1.0f + CUBIC*x*x)));
}

kernel void kernel_gelu_erf_4(device const float4 * src, device float4 * dst, uint i[[thread_position_in_grid]]) {
    device const float4 & x = src[i];
    dst[i] = 0.5f*x*(1.0f + erf_7_1_26<float4>(x*ROOT_HALF));
}

kernel void kernel_silu_4(device const float4 * src, device float4 * dst, uint i[[thread_position_in_grid]]) {
    device const float4 & x = src[i];
    dst[i] = x/(1.0f + exp(-x));
}

#define UNARY(NAME, EXPR)                                                                  \
    kernel void kernel_##NAME(                                                             \
            device const float * src,                                                      \
            device       float * dst,                                                      \
            uint i[[thread_position_in_grid]]) {                                           \
        const float x = src[i];                                                            \
        dst[i] = EXPR;                                                                     \
    }

UNARY(relu, max(0.0f, x))
UNARY(sigmoid, 1.0f/(1.0f + exp(-x)))
UNARY(tanh, precise::tanh(x))
UNARY(gelu, gelu_tanh(x))
UNARY(gelu_erf, 0.5f*x*(1.0f + erf_7_1_26<float>(x*ROOT_HALF)))
UNARY(elu, x > 0.0f ? x : exp(x) - 1.0f)
UNARY(sqr, x*x)
UNARY(sqrt, sqrt(fabs(x)))
UNARY(sin, sin(x))
UNARY(cos, cos(x))
UNARY(log, log(fabs(x)))
UNARY(neg, -x)
UNARY(abs, fabs(x))
UNARY(sgn, sign(x))
UNARY(step, x > 0.0f ? 1.0f : 0.0f)
UNARY(hardswish, x*fmin(1.0f, fmax(0.0f, (x + 3.0f)/6.0f)))
UNARY(exp, exp(x))
UNARY(leaky_relu, (x > 0.0f ? x : 0.0f) + 0.1f*(x < 0.0f ? x : 0.0f))

#undef UNARY

struct gate_relu { float operator()(float a, float b) const { return a*b*(a > 0.0f); } };
struct gate_gelu { float operator()(float a, float b) const { return gelu_tanh(a)*b; } };
struct gate_silu { float operator()(float a, float b) const { return a/(1.0f + exp(-a))*b; } };

// a row holds the gate, then the value
template <typename Gate>
kernel void kernel_gated(
        device const char * src,
        device       char * dst,
        constant uint64_t & src_row,
        constant uint64_t & dst_row,
        constant int32_t  & n,
        uint row[[threadgroup_position_in_grid]],
        uint local[[thread_position_in_threadgroup]],
        uint size[[threads_per_threadgroup]]) {
    device const float * a = (device const float *) (src + row*src_row);
    device const float * b = a + n;
    device       float * d = (device float *) ((device char *) dst + row*dst_row);
    Gate gate;
    for (int i = local; i < n; i += size) {
        d[i] = gate(a[i], b[i]);
    }
}

typedef decltype(kernel_gated<gate_relu>) kernel_gated_t;
template [[host_name("kernel_reglu")]]  kernel kernel_gated_t kernel_gated<gate_relu>;
template [[host_name("kernel_geglu")]]  kernel kernel_gated_t kernel_gated<gate_gelu>;
template [[host_name("kernel_swiglu")]] kernel kernel_gated_t kernel_gated<gate_silu>;

// ---------------------------------------------------------------------------- row reductions

// one value from the whole threadgroup; `part` has a place for each SIMD-group
static inline float group_sum(float v, threadgroup float * part, ushort lane, ushort sg, ushort n_sg) {
    v = simd_sum(v);
    if (n_sg > 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) {
            part[sg] = v;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v = simd_sum(lane < n_sg ? part[lane] : 0.0f);
    }
    return v;
}

static inline float group_max(float v, threadgroup float * part, ushort lane, ushort sg, ushort n_sg) {
    v = simd_max(v);
    if (n_sg > 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) {
            part[sg] = v;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v = simd_max(lane < n_sg ? part[lane] : -INFINITY);
    }
    return v;
}

#define ROW_ARGS \
        uint   row[[threadgroup_position_in_grid]],          \
        ushort local[[thread_position_in_threadgroup]],      \
        ushort sg[[simdgroup_index_in_threadgroup]],         \
        ushort lane[[thread_index_in_simdgroup]],            \
        ushort n_sg[[simdgroups_per_threadgroup]],           \
        ushort size[[threads_per_threadgroup]]

template <bool mean>
kernel void kernel_sum_rows(
        constant args_norm & args,
        device const char * src,
        device       float * dst,
        threadgroup  float * part [[threadgroup(0)]],
        ROW_ARGS) {
    device const float * x = (device const float *) (src + row*args.row_bytes);
    float s = 0;
    for (int i = local; i < args.n; i += size) {
        s += x[i];
    }
    s = group_sum(s, part, lane, sg, n_sg);
    if (local == 0) {
        dst[row] = mean ? s/args.n : s;
    }
}

typedef decltype(kernel_sum_rows<false>) kernel_sum_rows_t;
template [[host_name("kernel_sum_rows")]] kernel kernel_sum_rows_t kernel_sum_rows<false>;
template [[host_name("kernel_mean_rows")]] kernel kernel_sum_rows_t kernel_sum_rows<true>;

template <typename mask_t>
kernel void kernel_softmax(
        constant args_softmax & args,
        device const char * src,
        device const char * mask,
        device       char * dst,
        threadgroup float * part [[threadgroup(0)]],
        ROW_ARGS) {
    device const float  * x = (device const float *) src + (int64_t) row*args.n;
    device       float  * y = (device       float *) dst + (int64_t) row*args.n;
    device const mask_t * m = args.has_mask ? (device const mask_t *) mask + (row % args.rows)*args.n : nullptr;

    float top = -INFINITY;
    for (int i = local; i < args.n; i += size) {
        top = ATLEAST(top, x[i]*args.scale + (m ? args.slope*m[i] : 0.0f));
    }
    top = group_max(top, part, lane, sg, n_sg);

    float s = 0.0f;
    for (int i = local; i < args.n; i += size) {
        const float e = exp(x[i]*args.scale + (m ? args.slope*m[i] : 0.0f) - top);
        s += e;
        y[i] = e;
    }
    threadgroup_barrier(mem_flags::mem_none);
    s = group_sum(s, part, lane, sg, n_sg);

    const float inv = 1.0f/s;
    for (int i = local; i < args.n; i += size) {
        y[i] *= inv;
    }
}

typedef decltype(kernel_softmax<float>) kernel_softmax_t;
template [[host_name("kernel_softmax_f32")]] kernel kernel_softmax_t kernel_softmax<float>;
template [[host_name("kernel_softmax_f16")]] kernel kernel_softmax_t kernel_softmax<half>;

template <typename mask4_t>
kernel void kernel_softmax_4(
        constant args_softmax & args,
        device const char * src,
        device const char * mask,
        device       char * dst,
        threadgroup float * part [[threadgroup(0)]],
        ROW_ARGS) {
    const int n4 = args.n/4;
    device const float4  * x = (device const float4 *) src + (int64_t) row*n4;
    device       float4  * y = (device       float4 *) dst + (int64_t) row*n4;
    device const mask4_t * m = args.has_mask ? (device const mask4_t *) mask + (row % args.rows)*n4 : nullptr;

    float4 top4 = -INFINITY;
    for (int i = local; i < n4; i += size) {
        top4 = fmax(top4, x[i]*args.scale + (m ? args.slope*(float4) m[i] : float4(0.0f)));
    }
    const float top = group_max(max(max(top4.x, top4.y), max(top4.z, top4.w)), part, lane, sg, n_sg);

    float4 s4 = 0.0f;
    for (int i = local; i < n4; i += size) {
        y[i] = exp(x[i]*args.scale + (m ? args.slope*(float4) m[i] : float4(0.0f)) - top);
        s4 += y[i];
    }
    const float s = group_sum(s4[0] + s4[1] + s4[2] + s4[3], part, lane, sg, n_sg);
    for (int i = local; i < n4; i += size) {
        y[i] /= s;
    }
}

typedef decltype(kernel_softmax_4<float4>) kernel_softmax_4_t;
template [[host_name("kernel_softmax_f32_4")]] kernel kernel_softmax_4_t kernel_softmax_4<float4>;
template [[host_name("kernel_softmax_f16_4")]] kernel kernel_softmax_4_t kernel_softmax_4<half4>;

kernel void kernel_layer_norm(
        constant args_norm & args,
        device const char * src,
        device       char * dst,
        threadgroup float * part [[threadgroup(0)]],
        ROW_ARGS) {
    const int n4 = args.n/4;
    device const float4 * x = (device const float4 *) (src + row*args.row_bytes);
    device       float4 * y = (device       float4 *) dst + row*n4;

    float4 s4(0.0f);
    for (int i = local; i < n4; i += size) {
        s4 += x[i];
    }
    const float mean = group_sum(s4.x + s4.y + s4.z + s4.w, part, lane, sg, n_sg)/args.n;

    float q = 0.0f;
    for (int i = local; i < n4; i += size) {
        y[i] = x[i] - mean;
        q += dot(y[i], y[i]);
    }
    const float inv = rsqrt(group_sum(q, part, lane, sg, n_sg)/args.n + args.eps);
    for (int i = local; i < n4; i += size) {
        y[i] *= inv;
    }
}

// fused: 1 plain, 2 times weight, 3 times weight plus bias
template <short fused>
kernel void kernel_rms(
        constant args_norm & args,
        device const char * src,
        device const char * weight,
        device const char * bias,
        device       char * dst,
        threadgroup float * part [[threadgroup(0)]],
        ROW_ARGS) {
    const int n4 = args.n/4;
    device const float4 * x = (device const float4 *) (src + row*args.row_bytes);
    device const float4 * w = (device const float4 *) weight;
    device const float4 * b = (device const float4 *) bias;
    device       float4 * y = (device       float4 *) dst + row*n4;

    float q = 0.0f;
    for (int i = local; i < n4; i += size) {
        q += dot(x[i], x[i]);
    }
    const float inv = 1.0f/sqrt(group_sum(q, part, lane, sg, n_sg)/args.n + args.eps);
    for (int i = local; i < n4; i += size) {
        if (fused == 1) { y[i] = x[i]*inv; }
        if (fused == 2) { y[i] = x[i]*inv*w[i]; }
        if (fused == 3) { y[i] = x[i]*inv*w[i] + b[i]; }
    }
}

typedef decltype(kernel_rms<1>) kernel_rms_t;
template [[host_name("kernel_rms")]]         kernel kernel_rms_t kernel_rms<1>;
template [[host_name("kernel_rms_mul")]]     kernel kernel_rms_t kernel_rms<2>;
template [[host_name("kernel_rms_mul_add")]] kernel kernel_rms_t kernel_rms<3>;

kernel void kernel_argmax(
        constant args_norm & args,
        device const char * src,
        device    int32_t * dst,
        threadgroup float   * part_v [[threadgroup(0)]],
        threadgroup int32_t * part_i [[threadgroup(1)]],
        ROW_ARGS) {
    device const float * x = (device const float *) (src + row*args.row_bytes);
    float best = -INFINITY;
    int32_t at = -1;
    for (int i = local; i < args.n; i += size) {
        if (x[i] > best) {
            best = x[i];
            at = i;
        }
    }
    const float top = simd_max(best);
    at = simd_min(best == top && at >= 0 ? at : INT_MAX);
    if (n_sg > 1) {
        if (lane == 0) {
            part_v[sg] = top;
            part_i[sg] = at;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        best = lane < n_sg ? part_v[lane] : -INFINITY;
        at   = lane < n_sg ? part_i[lane] : INT_MAX;
        const float top2 = simd_max(best);
        at = simd_min(select(INT_MAX, at, best == top2));
    }
    if (local == 0) {
        dst[row] = at;
    }
}

// running sum along a row: 32 at a time, the carry goes from lane 31 to all
kernel void kernel_cumsum(
        constant args_norm & args,
        device const char * src,
        device       float * dst,
        uint row[[threadgroup_position_in_grid]],
        ushort lane[[thread_index_in_simdgroup]]) {
    device const float * x = (device const float *) (src + row*args.row_bytes);
    float carry = 0.0f;
    for (int base = 0; base < args.n; base += LANES) {
        const int i = base + lane;
        const float v = i < args.n ? x[i] : 0.0f;
        const float s = simd_prefix_inclusive_sum(v) + carry;
        if (i < args.n) {
            dst[row*args.n + i] = s;
        }
        carry = simd_broadcast(s, 31);
    }
}

// ----------------------------------------------------------------------- matrix times vector

inline float block_dot(device const block_s4 * b, thread const float * y) {
    float even = 0.f, odd = 0.f, all = 0.f;
    for (int i = 0; i < BLK/2; ++i) {
        even += y[2*i]*(b->q[i] & 0x0F);
        odd  += y[2*i + 1]*(b->q[i] & 0xF0);
        all  += y[2*i] + y[2*i + 1];
    }
    return b->scale*(even + odd*(1.f/16.f) - 8.f*all);
}

inline float block_dot(device const block_a4 * b, thread const float * y) {
    float acc[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    float all = 0.f;
    for (int i = 0; i < BLK/2; ++i) {
        acc[2*(i&1)]     += y[2*i]*(b->q[i] & 15);
        acc[2*(i&1) + 1] += y[2*i + 1]*(b->q[i] >> 4);
        all += y[2*i] + y[2*i + 1];
    }
    return b->scale*(acc[0] + acc[1] + acc[2] + acc[3]) + all*b->bias;
}

inline float block_dot(device const block_s8 * b, thread const float * y) {
    float acc = 0.f;
    for (int i = 0; i < BLK; ++i) {
        acc += b->q[i]*y[i];
    }
    return acc*b->scale;
}

template<short ROWS>
static inline void finish_rows(
        device float * out,
        float sum[ROWS],
        const int first,
        const int rows,
        ushort lane,
        ushort sg,
        ushort n_sg,
        threadgroup char * shared) {
    threadgroup float * slot[ROWS];
    for (short r = 0; r < ROWS; ++r) {
        slot[r] = (threadgroup float *) shared + LANES*r;
        sum[r] = simd_sum(sum[r]);
        if (lane == 0) {
            slot[r][sg] = sum[r];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short r = 0; r < ROWS && first + r < rows; ++r) {
        const float total = simd_sum(lane < n_sg ? slot[r][lane] : 0.f);
        if (lane == 0 && sg == 0) {
            out[first + r] = total;
        }
    }
}

// a threadgroup makes ROWS rows; its SIMD-groups share the columns, each lane a block at a time
template<typename block_t, short ROWS, typename args_t>
void mv_block_impl(
        args_t args,
        device const char * weights,
        device const char * vectors,
        device       char * dst,
        threadgroup  char * shared,
        uint3  group,
        ushort lane,
        ushort sg,
        ushort n_sg) {
    const int n_blocks = args.cols/BLK;
    const int first = group.x*ROWS;
    device const float * y = (device const float *) (vectors + group.y*args.vec_bytes);

    device const block_t * w[ROWS];
    UNROLLED (short r = 0; r < ROWS; ++r) {
        const int row = UPTO(first + r, args.rows - 1);
        w[r] = (device const block_t *) (weights + row*args.row_bytes);
    }

    float sum[ROWS] = { 0.f };
    for (int ib = sg*LANES + lane; ib < n_blocks; ib += n_sg*LANES) {
        float cached[BLK];
        UNROLLED (short i = 0; i < BLK/4; ++i) {
            const float4 four = ((device const float4 *) (y + ib*BLK))[i];
            cached[4*i] = four.x; cached[4*i + 1] = four.y; cached[4*i + 2] = four.z; cached[4*i + 3] = four.w;
        }
        UNROLLED (short r = 0; r < ROWS; ++r) {
            sum[r] += block_dot(w[r] + ib, cached);
        }
    }
    finish_rows<ROWS>((device float *) dst + (uint64_t) group.y*args.ld_out, sum, first, args.rows, lane, sg, n_sg, shared);
}

// SIMD-group per row, no shared memory
template<typename block_t, short parts, void (*unpack)(device const block_t *, short, thread float4x4 &), typename args_t>
void mv_unpack_impl(
        args_t args,
        device const char * weights,
        device const char * vectors,
        device       char * dst,
        uint3  group,
        ushort lane,
        ushort sg,
        ushort n_sg) {
    const int row = group.x*n_sg + sg;
    if (row >= args.rows) {
        return;
    }
    device const block_t * w = (device const block_t *) (weights + row*args.row_bytes);
    device const float4  * y = (device const float4 *) (vectors + group.y*args.vec_bytes);
    float acc = 0.0f;
    for (int i = lane; i < args.cols/16; i += LANES) {
        float4x4 tile;
        unpack(w + i/parts, i%parts, tile);
        for (short k = 0; k < 4; ++k) {
            acc += dot(tile[k], y[4*i + k]);
        }
    }
    acc = simd_sum(acc);
    if (simd_is_first()) {
        ((device float *) dst)[group.y*args.ld_out + row] = acc;
    }
}

// plain element types; short rows take a scalar loop
template<typename T0, typename T04, typename T1, typename T14, typename args_t>
void mv_plain_impl(
        args_t args,
        device const char * weights,
        device const char * vectors,
        device       char * dst,
        uint3  group,
        ushort lane,
        ushort sg,
        ushort n_sg) {
    const int row = group.x*n_sg + sg;
    if (row >= args.rows) {
        return;
    }
    device const T0 * x = (device const T0 *) (weights + row*args.row_bytes);
    device const T1 * y = (device const T1 *) (vectors + group.y*args.vec_bytes);
    float acc = 0;
    if (args.cols < 128) {
        for (int i = lane; i < args.cols; i += LANES) {
            acc += (float) x[i]*(float) y[i];
        }
    } else {
        device const T04 * x4 = (device const T04 *) x;
        device const T14 * y4 = (device const T14 *) y;
        for (int i = lane; i < args.cols/4; i += LANES) {
            acc += dot((float4) x4[i], (float4) y4[i]);
        }
        const int i = (args.cols & ~3) + lane;
        if (i < args.cols) {
            acc += (float) x[i]*(float) y[i];
        }
    }
    const float total = simd_sum(acc);
    if (lane == 0) {
        ((device float *) dst)[(uint64_t) group.y*args.ld_out + row] = total;
    }
}

// Two shapes of implementation come to one type, so that kernels can take either as a parameter.
typedef void (mv_impl_t)(constant args_mv & args, device const char * weights, device const char * vectors, device char * dst, uint3 group, ushort lane, ushort sg, ushort n_sg);
typedef void (mv_shared_impl_t)(constant args_mv & args, device const char * weights, device const char * vectors, device char * dst, threadgroup char * shared, uint3 group, ushort lane, ushort sg, ushort n_sg);

template<mv_impl_t impl>
void mv_call(constant args_mv & args, device const char * weights, device const char * vectors, device char * dst, threadgroup char * shared, uint3 group, ushort lane, ushort sg, ushort n_sg) {
    impl(args, weights, vectors, dst, group, lane, sg, n_sg);
}

template<mv_shared_impl_t impl>
void mv_call(constant args_mv & args, device const char * weights, device const char * vectors, device char * dst, threadgroup char * shared, uint3 group, ushort lane, ushort sg, ushort n_sg) {
    impl(args, weights, vectors, dst, shared, group, lane, sg, n_sg);
}

typedef decltype(mv_call<mv_block_impl<block_s4, 4, constant args_mv &>>) mv_call_t;

template<mv_call_t call>
kernel void kernel_mv(
        constant args_mv & args,
        device const char * weights,
        device const char * vectors,
        device       char * dst,
        threadgroup  char * shared [[threadgroup(0)]],
        uint3  group[[threadgroup_position_in_grid]],
        ushort lane[[thread_index_in_simdgroup]],
        ushort sg[[simdgroup_index_in_threadgroup]],
        ushort n_sg[[simdgroups_per_threadgroup]]) {
    call(args, weights, vectors, dst, shared, group, lane, sg, n_sg);
}

typedef decltype(kernel_mv<mv_call<mv_block_impl<block_s4, 4, constant args_mv &>>>) kernel_mv_t;

template [[host_name("kernel_mv_s4_r4")]]    kernel kernel_mv_t kernel_mv<mv_call<mv_block_impl<block_s4, 4, constant args_mv &>>>;
template [[host_name("kernel_mv_s4_r1")]]    kernel kernel_mv_t kernel_mv<mv_call<mv_block_impl<block_s4, 1, constant args_mv &>>>;
template [[host_name("kernel_mv_a4_r4")]]    kernel kernel_mv_t kernel_mv<mv_call<mv_block_impl<block_a4, 4, constant args_mv &>>>;
template [[host_name("kernel_mv_s8_r2")]]    kernel kernel_mv_t kernel_mv<mv_call<mv_block_impl<block_s8, 2, constant args_mv &>>>;
template [[host_name("kernel_mv_s5")]]       kernel kernel_mv_t kernel_mv<mv_call<mv_unpack_impl<block_s5, 2, unpack_s5, constant args_mv &>>>;
template [[host_name("kernel_mv_k4")]]       kernel kernel_mv_t kernel_mv<mv_call<mv_unpack_impl<block_k4, 16, unpack_k4, constant args_mv &>>>;
template [[host_name("kernel_mv_t4")]]       kernel kernel_mv_t kernel_mv<mv_call<mv_unpack_impl<block_t4, 2, unpack_t4, constant args_mv &>>>;
template [[host_name("kernel_mv_f32_f32")]]  kernel kernel_mv_t kernel_mv<mv_call<mv_plain_impl<float, float4, float, float4, constant args_mv &>>>;
template [[host_name("kernel_mv_f16_f32")]]  kernel kernel_mv_t kernel_mv<mv_call<mv_plain_impl<half, half4, float, float4, constant args_mv &>>>;
template [[host_name("kernel_mv_f16_f16")]]  kernel kernel_mv_t kernel_mv<mv_call<mv_plain_impl<half, half4, half, half4, constant args_mv &>>>;
template [[host_name("kernel_mv_bf16_f32")]] kernel kernel_mv_t kernel_mv<mv_call<mv_plain_impl<bfloat, bfloat4, float, float4, constant args_mv &>>>;

// a router picks a matrix for each vector
template<mv_call_t call>
kernel void kernel_mv_routed(
        constant args_mv & args,
        device const char * experts,
        device const char * vectors,
        device       char * dst,
        device const int32_t * route,
        constant uint64_t & expert_bytes,
        threadgroup  char * shared [[threadgroup(0)]],
        uint3  group[[threadgroup_position_in_grid]],
        ushort lane[[thread_index_in_simdgroup]],
        ushort sg[[simdgroup_index_in_threadgroup]],
        ushort n_sg[[simdgroups_per_threadgroup]]) {
    const int32_t expert = route[group.y];
    device const char * weights = experts + expert*expert_bytes;
    call(args, weights, vectors, dst, shared, group, lane, sg, n_sg);
}

typedef decltype(kernel_mv_routed<mv_call<mv_block_impl<block_s4, 4, constant args_mv &>>>) kernel_mv_routed_t;
template [[host_name("kernel_mv_routed_s4")]]  kernel kernel_mv_routed_t kernel_mv_routed<mv_call<mv_block_impl<block_s4, 4, constant args_mv &>>>;
template [[host_name("kernel_mv_routed_k4")]]  kernel kernel_mv_routed_t kernel_mv_routed<mv_call<mv_unpack_impl<block_k4, 16, unpack_k4, constant args_mv &>>>;
template [[host_name("kernel_mv_routed_f16")]] kernel kernel_mv_routed_t kernel_mv_routed<mv_call<mv_plain_impl<half, half4, float, float4, constant args_mv &>>>;

// ----------------------------------------------------------------------- matrix times matrix
// d[n][m] = sum over k of a[m][k] * b[n][k]: a quantised, b float. A threadgroup of four SIMD-groups
// makes a 32 x 32 tile of d; each SIMD-group makes 16 x 16 of it as 2 x 2 matrices of 8 x 8.

#define TM 32
#define TN 32
#define TK 32

template<typename T, typename tile_t, typename simd_t, typename block_t, short parts, void (*unpack)(device const block_t *, short, thread tile_t &)>
kernel void kernel_mm(
        constant args_mm & args,
        device const char * a,
        device const char * b,
        device       char * d,
        threadgroup  char * shared [[threadgroup(0)]],
        uint3  group[[threadgroup_position_in_grid]],
        ushort t[[thread_index_in_threadgroup]],
        ushort sg[[simdgroup_index_in_threadgroup]]) {
    threadgroup T     * as = (threadgroup T *) shared;                             // [m][k]
    threadgroup float * bs = (threadgroup float *) (shared + TM*TK*sizeof(T));     // [n][k]

    const int m0 = group.x*TM;
    const int n0 = group.y*TN;
    device const char * ap = a + (group.z/args.share)*args.batch_a;
    device const char * bp = b + group.z*args.batch_b;

    simdgroup_float8x8 acc[2][2];
    UNROLLED (short i = 0; i < 4; ++i) {
        acc[i/2][i%2] = make_filled_simdgroup_matrix<float, 8>(0.f);
    }

    for (int k0 = 0; k0 < args.k; k0 += TK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        // 64 threads unpack 16 weights each, the other 64 fetch 16 floats each
        const short half_t = t & 63;
        const short line = half_t/2;
        const short off = 16*(half_t & 1);
        if (t < 64) {
            const int row = UPTO(m0 + line, args.m - 1);
            const int part = (k0 + off)/16;
            tile_t w;
            unpack((device const block_t *) (ap + row*args.row_bytes) + part/parts, part%parts, w);
            #pragma unroll
            for (short i = 0; i < 16; ++i) {
                *(as + line*TK + off + i) = w[i/4][i%4];
            }
        } else {
            const int col = UPTO(n0 + line, args.n - 1);
            device const float4 * y = (device const float4 *) (bp + col*args.col_bytes) + (k0 + off)/4;
            *(threadgroup float4x4 *) (bs + line*TK + off) = *(device const float4x4 *) y;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        const short mi = 16*(sg & 1);
        const short ni = 16*(sg >> 1);
        #pragma unroll(4)
        for (short k = 0; k < TK; k += 8) {
            simd_t             am[2];
            simdgroup_float8x8 bm[2];
            #pragma unroll(2)
            for (short i = 0; i < 2; ++i) {
                simdgroup_load(am[i], as + (mi + 8*i)*TK + k, TK, 0, true);
                simdgroup_load(bm[i], bs + (ni + 8*i)*TK + k, TK);
            }
            simdgroup_barrier(mem_flags::mem_none);
            for (short j = 0; j < 2; ++j) {
                for (short i = 0; i < 2; ++i) {
                    simdgroup_multiply_accumulate(acc[j][i], bm[j], am[i], acc[j][i]);
                }
            }
        }
    }

    device float * dp = (device float *) d + (int64_t) group.z*args.m*args.n;
    const short mi = 16*(sg & 1);
    const short ni = 16*(sg >> 1);
    if (m0 + TM <= args.m && n0 + TN <= args.n) {
        for (short j = 0; j < 2; ++j) {
            for (short i = 0; i < 2; ++i) {
                simdgroup_store(acc[j][i], dp + (n0 + ni + 8*j)*args.m + m0 + mi + 8*i, args.m);
            }
        }
    } else {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup float * ds = (threadgroup float *) shared;
        for (short j = 0; j < 2; ++j) {
            for (short i = 0; i < 2; ++i) {
                simdgroup_store(acc[j][i], ds + (ni + 8*j)*TM + mi + 8*i, TM);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = t; i < TM*TN; i += 128) {
            const int m = m0 + i%TM;
            const int n = n0 + i/TM;
            if (m < args.m && n < args.n) {
                dp[n*args.m + m] = ds[i];
            }
        }
    }
}

typedef decltype(kernel_mm<half, half4x4, simdgroup_half8x8, float4x4, 1, unpack_f32>) kernel_mm_t;

template [[host_name("kernel_mm_f32")]]      kernel kernel_mm_t kernel_mm<float, float4x4, simdgroup_float8x8, float4x4, 1, unpack_f32>;
template [[host_name("kernel_mm_f32_half")]] kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  float4x4, 1, unpack_f32>;
template [[host_name("kernel_mm_f16")]]      kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  half4x4,  1, unpack_f16>;
template [[host_name("kernel_mm_s4")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_s4, 2, unpack_s4>;
template [[host_name("kernel_mm_a4")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_a4, 2, unpack_a4>;
template [[host_name("kernel_mm_s5")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_s5, 2, unpack_s5>;
template [[host_name("kernel_mm_s8")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_s8, 2, unpack_s8>;
template [[host_name("kernel_mm_k4")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_k4, 16, unpack_k4>;
template [[host_name("kernel_mm_t4")]]       kernel kernel_mm_t kernel_mm<half,  half4x4,  simdgroup_half8x8,  block_t4, 2, unpack_t4>;
