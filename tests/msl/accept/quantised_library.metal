// A kernel library in the style of inference engines: quantised blocks, typedef'd kernel templates
// instantiated with host names, function-pointer template parameters, macros, packed structs.
#define LIB_COMMON_DECL_METAL
#define LIB_COMMON_IMPL_METAL
#if defined(LIB_METAL_EMBED)
#error "embedded headers are not used here"
#endif
#ifdef __METAL_VERSION__
typedef uint16_t lib_half_bits;
#endif

#include <metal_stdlib>

#if __METAL_VERSION__ < 310
#error "a newer Metal is expected"
#endif

#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define SWAP(x, y) { auto tmp = (x); (x) = (y); (y) = tmp; }
#define PAD2(x, n) (((x) + (n) - 1) & ~((n) - 1))
#define FOR_UNROLL(x) _Pragma("clang loop unroll(full)") for (x)
#define N_SIMDWIDTH 32 // assuming SIMD group size is 32

using namespace metal;

#define QK4_0 32
typedef struct {
    half d;             // delta
    uint8_t qs[QK4_0 / 2]; // nibbles
} block_q4_0;
static_assert(sizeof(block_q4_0) == sizeof(half) + QK4_0 / 2, "wrong q4_0 block size/padding");

#define QK8_0 32
typedef struct {
    half d;
    int8_t qs[QK8_0];
} block_q8_0;

#define QK_K 256
typedef struct {
    union {
        struct {
            half d;
            half dmin;
        };
        half2 dm;
    };
    uint8_t scales[12];
    uint8_t qs[QK_K / 2];
} block_q4_K;
static_assert(sizeof(block_q4_K) == 2 * sizeof(half) + 12 + QK_K / 2, "wrong q4_K block size/padding");

typedef struct {
    int64_t ne00;
    int64_t ne01;
    int32_t ne02;
    uint64_t nb00;
    uint64_t nb01;
    float eps;
    float scale[4];
} lib_kargs_norm;

constant static float kvalues_iq4nl_f[16] = {
    -127.f, -104.f, -83.f, -65.f, -49.f, -35.f, -22.f, -10.f, 1.f, 13.f, 25.f, 38.f, 53.f, 69.f, 89.f, 113.f
};
constexpr constant static uchar kmask_iq2xs[8] = {1, 2, 4, 8, 16, 32, 64, 128};

enum lib_sort_order {
    LIB_SORT_ASC,
    LIB_SORT_DESC,
};

// general-purpose dequantisation, chosen by template parameters that are functions

template <typename type4x4>
void dequantize_f32(device const float4x4 * src, short il, thread type4x4 & reg) {
    reg = (type4x4)(*src);
    (void) il;
}

template <typename type4x4>
void dequantize_f16(device const half4x4 * src, short il, thread type4x4 & reg) {
    reg = (type4x4)(*src);
    (void) il;
}

#if defined(__HAVE_BFLOAT__)
template <typename type4>
void dequantize_bf16_t4(device const bfloat4 * src, short il, thread type4 & reg) {
    reg = (type4)(*src);
    (void) il;
}
#endif

template <typename type4x4>
void dequantize_q4_0(device const block_q4_0 * xb, short il, thread type4x4 & reg) {
    device const uint16_t * qs = ((device const uint16_t *) xb + 1);
    const float d1 = il ? (xb->d / 16.h) : xb->d;
    const float d2 = d1 / 256.f;
    const float md = -8.h * xb->d;
    const ushort mask0 = il ? 0x00F0 : 0x000F;
    const ushort mask1 = mask0 << 8;

    float4x4 reg_f;
    for (int i = 0; i < 8; i++) {
        reg_f[i / 2][2 * (i % 2) + 0] = d1 * (qs[i] & mask0) + md;
        reg_f[i / 2][2 * (i % 2) + 1] = d2 * (qs[i] & mask1) + md;
    }
    reg = (type4x4) reg_f;
}

template <typename type4>
void dequantize_q8_0_t4(device const block_q8_0 * xb, short il, thread type4 & reg) {
    device const int8_t * qs = ((device const int8_t *) xb->qs);
    const float d = xb->d;
    for (int i = 0; i < 4; i++) {
        reg[i] = (qs[4 * (il % 4) + i + 16 * (il / 4)] * d);
    }
}

static inline uchar2 get_scale_min_k4_just2(int j, int k, device const uchar * q) {
    return j < 4 ? uchar2{uchar(q[j + 0 + k] & 63), uchar(q[j + 4 + k] & 63)}
                 : uchar2{uchar((q[j + 4 + k] & 0xF) | ((q[j - 4 + k] & 0xc0) >> 2)), uchar((q[j + 4 + k] >> 4) | ((q[j - 0 + k] & 0xc0) >> 2))};
}

template <typename type4x4>
void dequantize_q4_K(device const block_q4_K * xb, short il, thread type4x4 & reg) {
    device const uchar * q = xb->qs;
    short is = (il / 4) * 2;
    q = q + (il / 4) * 32 + 16 * (il & 1);
    il = il & 3;
    const uchar2 sc = get_scale_min_k4_just2(is, il / 2, xb->scales);
    const float d = il < 2 ? xb->d : xb->d / 16.h;
    const float min = xb->dmin;
    const float dl = d * sc[0];
    const float ml = min * sc[1];
    const ushort mask = il < 2 ? 0x0F : 0xF0;
    for (int i = 0; i < 16; ++i) {
        reg[i / 4][i % 4] = dl * (q[i] & mask) - ml;
    }
}

// element-wise

kernel void kernel_add(
        constant lib_kargs_norm & args,
        device const char * src0,
        device const char * src1,
        device       char * dst,
        uint3   tgpig[[threadgroup_position_in_grid]],
        ushort3 tpitg[[thread_position_in_threadgroup]],
        ushort3   ntg[[threads_per_threadgroup]]) {
    const int i03 = tgpig.z;
    const int i01 = tgpig.x;
    device const char * src0_ptr = src0 + i03*args.nb00 + i01*args.nb01;
    device const char * src1_ptr = src1 + i01*args.nb01;
    device       char * dst_ptr  = dst + i01*args.nb01;
    for (int i0 = tpitg.x; i0 < args.ne00; i0 += ntg.x) {
        *((device float *)(dst_ptr + i0*4)) = *((device float *)(src0_ptr + i0*4)) + *((device float *)(src1_ptr + i0*args.nb00));
    }
}

template<typename T>
kernel void kernel_repeat(
        constant lib_kargs_norm & args,
        device const char * src0,
        device       char * dst,
        uint3   tgpig[[threadgroup_position_in_grid]],
        ushort3 tpitg[[thread_position_in_threadgroup]],
        ushort3   ntg[[threads_per_threadgroup]]) {
    for (int i0 = tpitg.x; i0 < args.ne00; i0 += ntg.x) {
        *((device T *)(dst + i0*sizeof(T) + tgpig.x*args.nb01)) = *((device T *)(src0 + (i0%args.ne01)*args.nb00));
    }
}

typedef decltype(kernel_repeat<float>) kernel_repeat_t;

template [[host_name("kernel_repeat_f32")]] kernel kernel_repeat_t kernel_repeat<float>;
template [[host_name("kernel_repeat_f16")]] kernel kernel_repeat_t kernel_repeat<half>;
template [[host_name("kernel_repeat_i16")]] kernel kernel_repeat_t kernel_repeat<short>;

constant float GELU_COEF_A     = 0.044715f;
constant float SQRT_2_OVER_PI  = 0.79788456080286535587989211986876f;

kernel void kernel_gelu_4(
    device const float4 * src0,
    device       float4 * dst,
    uint tpig[[thread_position_in_grid]]) {
    device const float4 & x = src0[tpig];
    // BEWARE !!! Simply using "tanh" instead of "precise::tanh" will sometimes results in NaNs!
    dst[tpig] = 0.5f*x*(1.0f + precise::tanh(SQRT_2_OVER_PI*x*(1.0f + GELU_COEF_A*x*x)));
}

// normalisation and softmax

template <typename T, short ntypes>
kernel void kernel_soft_max(
        constant lib_kargs_norm & args,
        device const  char * src0,
        device const  char * src1,
        device        char * dst,
        threadgroup  float * buf [[threadgroup(0)]],
        uint3  tgpig[[threadgroup_position_in_grid]],
        uint   tpitg[[thread_position_in_threadgroup]],
        uint   sgitg[[simdgroup_index_in_threadgroup]],
        uint   tiisg[[thread_index_in_simdgroup]],
        uint     ntg[[threads_per_threadgroup]]) {
    device const float * psrc0 = (device const float *) (src0 + tgpig.x*args.nb01);
    device const     T * pmask = src1 != src0 ? (device const T *) src1 : nullptr;
    device       float * pdst  = (device       float *) (dst + tgpig.x*args.nb01);

    float slope = 1.0f;
    if (args.eps > 0.0f) {
        const float base = tgpig.y < 8 ? args.scale[0] : args.scale[1];
        const int exp = tgpig.y < 8 ? tgpig.y + 1 : 2*(tgpig.y - 8) + 1;
        slope = pow(base, exp);
    }
    float lmax = -INFINITY;
    for (int i00 = tpitg; i00 < args.ne00; i00 += ntg) {
        lmax = MAX(lmax, psrc0[i00]*args.eps + (pmask ? slope*pmask[i00] : 0.0f));
    }
    float max_val = simd_max(lmax);
    if (ntg > N_SIMDWIDTH) {
        if (sgitg == 0) {
            buf[tiisg] = -INFINITY;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tiisg == 0) {
            buf[sgitg] = max_val;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        max_val = buf[tiisg];
        max_val = simd_max(max_val);
    }
    float lsum = 0.0f;
    for (int i00 = tpitg; i00 < args.ne00; i00 += ntg) {
        const float exp_psrc0 = exp((psrc0[i00]*args.eps + (pmask ? slope*pmask[i00] : 0.0f)) - max_val);
        lsum += exp_psrc0;
        pdst[i00] = exp_psrc0;
    }
    // This barrier fixes a failing test
    threadgroup_barrier(mem_flags::mem_none);
    float sum = simd_sum(lsum);
    const float inv_sum = 1.0f/sum;
    for (int i00 = tpitg; i00 < args.ne00; i00 += ntg) {
        pdst[i00] *= inv_sum;
    }
}
typedef decltype(kernel_soft_max<float, 1>) kernel_soft_max_t;
template [[host_name("kernel_soft_max_f16")]] kernel kernel_soft_max_t kernel_soft_max<half, 1>;
template [[host_name("kernel_soft_max_f32")]] kernel kernel_soft_max_t kernel_soft_max<float, 1>;

// matrix-vector products

// function for calculate inner product between half a q4_0 block and 16 floats (yl), sumy is SUM(yl[i])
inline float block_q_n_dot_y(device const block_q4_0 * qb_curr, float sumy, thread float * yl, int il) {
    float d = qb_curr->d;
    float acc[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    device const uint16_t * qs = ((device const uint16_t *) qb_curr + 1 + il/2);
    for (int i = 0; i < 8; i += 2) {
        acc[0] += yl[i + 0] * (qs[i / 2] & 0x000F);
        acc[1] += yl[i + 1] * (qs[i / 2] & 0x0F00);
        acc[2] += yl[i + 8] * (qs[i / 2] & 0x00F0);
        acc[3] += yl[i + 9] * (qs[i / 2] & 0xF000);
    }
    return d * (sumy * -8.f + acc[0] + acc[1] + acc[2] + acc[3]);
}

template<typename block_q_type, int nr0, int nsg, int nw, typename args_t>
void mul_vec_q_n_f32_impl(
        args_t args,
        device const char * src0,
        device const char * src1,
        device       char * dst,
        threadgroup  char * shmem,
        uint3  tgpig,
        ushort tiisg,
        ushort sgitg) {
    const int nb = args.ne00/QK4_0;
    const int first_row = (tgpig.x * nsg + sgitg) * nr0;
    device const float * y = (device const float *) src1;
    device const block_q_type * ax[nr0];
    for (int row = 0; row < nr0; ++row) {
        ax[row] = (device const block_q_type *) ((device char *) src0 + (first_row + row)*args.nb01);
    }
    float yl[16];
    float sumf[nr0] = {0.f};
    const short ix = (tiisg/2);
    const short il = (tiisg%2)*8;
    device const float * yb = y + ix*QK4_0 + il;
    for (int ib = ix; ib < nb; ib += nw/2) {
        float sumy[2] = { 0.f, 0.f };
#pragma unroll
        for (short i = 0; i < 8; i += 2) {
            sumy[0]  += yb[i +  0] + yb[i +  1];
            yl[i + 0] = yb[i +  0];
            yl[i + 1] = yb[i +  1]/256.f;
            sumy[1]  += yb[i + 16] + yb[i + 17];
            yl[i + 8] = yb[i + 16]/16.f;
            yl[i + 9] = yb[i + 17]/4096.f;
        }
#pragma unroll
        for (short row = 0; row < nr0; row++) {
            sumf[row] += block_q_n_dot_y(ax[row] + ib, sumy[0] + sumy[1], yl, il);
        }
        yb += QK4_0 * 16;
    }
    device float * dst_f32 = (device float *) dst;
    for (int row = 0; row < nr0; ++row) {
        const float tot = simd_sum(sumf[row]);
        if (tiisg == 0 && first_row + row < args.ne01) {
            dst_f32[first_row + row] = tot;
        }
    }
    (void) shmem;
}

kernel void kernel_mul_mv_q4_0_f32(
        constant lib_kargs_norm & args,
        device const char * src0,
        device const char * src1,
        device       char * dst,
        uint3  tgpig[[threadgroup_position_in_grid]],
        ushort tiisg[[thread_index_in_simdgroup]],
        ushort sgitg[[simdgroup_index_in_threadgroup]]) {
    mul_vec_q_n_f32_impl<block_q4_0, 4, 2, N_SIMDWIDTH, constant lib_kargs_norm &>(args, src0, src1, dst, nullptr, tgpig, tiisg, sgitg);
}

// dequantisation passed as a function

template<typename block_q, short nl, void (*dequantize_func)(device const block_q *, short, thread float4x4 &)>
kernel void kernel_get_rows_q(
        constant lib_kargs_norm & args,
        device const  void * src0,
        device const  void * src1,
        device       float * dst,
        uint3              tgpig[[threadgroup_position_in_grid]],
        uint               tiitg[[thread_index_in_threadgroup]],
        uint3              tptg [[threads_per_threadgroup]]) {
    const int64_t r = ((const device int32_t *) ((const device char *) src1 + tgpig.x*args.nb00))[0];
    for (int64_t ind = tiitg; ind < args.ne00/16; ind += tptg.x) {
        float4x4 temp;
        dequantize_func(((device const block_q *) ((const device char *) src0 + r*args.nb01)) + ind/nl, ind%nl, temp);
        *(((device float4x4 *) ((device char *) dst + tgpig.x*args.nb01)) + ind) = temp;
    }
}

typedef decltype(kernel_get_rows_q<block_q4_0, 2, dequantize_q4_0>) kernel_get_rows_q_t;
template [[host_name("kernel_get_rows_q4_0")]] kernel kernel_get_rows_q_t kernel_get_rows_q<block_q4_0, 2, dequantize_q4_0>;
template [[host_name("kernel_get_rows_q4_K")]] kernel kernel_get_rows_q_t kernel_get_rows_q<block_q4_K, 16, dequantize_q4_K>;

template<typename T, typename T4x4, typename simdgroup_T8x8, typename block_q, short nl, void (*dequantize_func)(device const block_q *, short, thread T4x4 &)>
kernel void kernel_mul_mm(
        constant lib_kargs_norm & args,
        device const char * src0,
        device const char * src1,
        device       char * dst,
        threadgroup  char * shmem [[threadgroup(0)]],
        uint3  tgpig[[threadgroup_position_in_grid]],
        ushort tiitg[[thread_index_in_threadgroup]],
        ushort sgitg[[simdgroup_index_in_threadgroup]]) {
    threadgroup T     * sa = (threadgroup T     *)(shmem);
    threadgroup float * sb = (threadgroup float *)(shmem + 4096);
    simdgroup_T8x8     ma[4];
    simdgroup_float8x8 mb[2];
    simdgroup_float8x8 mc[8];
    for (short i = 0; i < 8; i++) {
        mc[i] = make_filled_simdgroup_matrix<float, 8>(0.f);
    }
    short il = tiitg % 2;
    device const block_q * x = (device const block_q *)(src0 + args.nb01*tgpig.y) + il/nl;
    device const float   * y = (device const float   *)(src1 + args.nb01*tgpig.x);
    for (int loop_k = 0; loop_k < args.ne00; loop_k += 32) {
        T4x4 temp_a;
        dequantize_func(x, il, temp_a);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        FOR_UNROLL (short i = 0; i < 16; i++) {
            *(sa + 64 * ((tiitg/2/8) + (tiitg%2)*16 + (i/8)*8) + (tiitg/2)%8 + (i&7)*8) = temp_a[i/4][i%4];
        }
        *(threadgroup float2x4 *)(sb + 32*8*(tiitg%4) + 8*(tiitg/4)) = *((device float2x4 *) y);
        il = (il + 2 < nl) ? il + 2 : il % 2;
        x  = (il < 2) ? x + (2 + nl - 1)/nl : x;
        y += 32;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup const T     * lsma = (sa + 4*64*(sgitg%2));
        threadgroup const float * lsmb = (sb + 2*64*(sgitg/2));
        #pragma unroll(4)
        for (short ik = 0; ik < 4; ik++) {
            #pragma unroll(4)
            for (short i = 0; i < 4; i++) {
                simdgroup_load(ma[i], lsma + 64*i);
            }
            simdgroup_barrier(mem_flags::mem_none);
            #pragma unroll(2)
            for (short i = 0; i < 2; i++) {
                simdgroup_load(mb[i], lsmb + 64*i, 8, ulong2(0, 0), false);
            }
            for (short i = 0; i < 8; i++) {
                simdgroup_multiply_accumulate(mc[i], mb[i/4], ma[i%4], mc[i]);
            }
            lsma += 8*64;
            lsmb += 4*64;
        }
    }
    device float * C = (device float *) dst + 32*(sgitg & 1);
    for (short i = 0; i < 8; i++) {
        simdgroup_store(mc[i], C + 8*(i%4) + 8*args.ne01*(i/4), args.ne01);
    }
}
typedef decltype(kernel_mul_mm<half, half4x4, simdgroup_half8x8, float4x4, 1, dequantize_f32>) mul_mm_t;
template [[host_name("kernel_mul_mm_f32_f32")]]  kernel mul_mm_t kernel_mul_mm<half, half4x4, simdgroup_half8x8, float4x4, 1, dequantize_f32>;
template [[host_name("kernel_mul_mm_f16_f32")]]  kernel mul_mm_t kernel_mul_mm<half, half4x4, simdgroup_half8x8, half4x4, 1, dequantize_f16>;
template [[host_name("kernel_mul_mm_q4_0_f32")]] kernel mul_mm_t kernel_mul_mm<half, half4x4, simdgroup_half8x8, block_q4_0, 2, dequantize_q4_0>;

// sorting, rope, attention pieces

typedef void (argsort_t)(
        device const float * x,
        device     int32_t * dst,
        constant   int64_t & ncols,
        threadgroup int32_t * shared_values [[threadgroup(0)]],
        uint3 tgpig[[threadgroup_position_in_grid]],
        uint3 tpitg[[thread_position_in_threadgroup]]);

template<lib_sort_order order>
kernel void kernel_argsort_f32_i32(
        device const float * x,
        device     int32_t * dst,
        constant   int64_t & ncols,
        threadgroup int32_t * shared_values [[threadgroup(0)]],
        uint3 tgpig[[threadgroup_position_in_grid]],
        uint3 tpitg[[thread_position_in_threadgroup]]) {
    int col = tpitg[0];
    int row = tgpig[1];
    device const float * x_row = x + row * ncols;
    threadgroup int32_t * dst_row = shared_values;
    dst_row[col] = col;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k = 2; k <= ncols; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int ixj = col ^ j;
            if (ixj > col) {
                if ((col & k) == 0) {
                    if (order == LIB_SORT_ASC ? x_row[dst_row[col]] > x_row[dst_row[ixj]] : x_row[dst_row[col]] < x_row[dst_row[ixj]]) {
                        SWAP(dst_row[col], dst_row[ixj]);
                    }
                }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    if (col < ncols) {
        dst[row * ncols + col] = dst_row[col];
    }
}
template [[host_name("kernel_argsort_f32_i32_asc")]]  kernel argsort_t kernel_argsort_f32_i32<LIB_SORT_ASC>;
template [[host_name("kernel_argsort_f32_i32_desc")]] kernel argsort_t kernel_argsort_f32_i32<LIB_SORT_DESC>;

static float rope_yarn_ramp(const float low, const float high, const int i0) {
    const float y = (i0 / 2 - low) / max(0.001f, high - low);
    return 1.0f - min(1.0f, max(0.0f, y));
}
static void rope_yarn(
    float theta_extrap, float freq_scale, float corr_dims[2], int i0, float ext_factor, float mscale,
    thread float * cos_theta, thread float * sin_theta) {
    float theta_interp = freq_scale * theta_extrap;
    float theta = theta_interp;
    if (ext_factor != 0.0f) {
        float ramp_mix = rope_yarn_ramp(corr_dims[0], corr_dims[1], i0) * ext_factor;
        theta = theta_interp * (1 - ramp_mix) + theta_extrap * ramp_mix;
        mscale *= 1.0f + 0.1f * log(1.0f / freq_scale);
    }
    *cos_theta = cos(theta) * mscale;
    *sin_theta = sin(theta) * mscale;
}
kernel void kernel_rope(device const float * src, device float * dst, constant lib_kargs_norm & args, uint i [[thread_position_in_grid]]) {
    float corr_dims[2] = {1, 2};
    float cos_theta, sin_theta;
    rope_yarn(src[i], args.eps, corr_dims, i, 1, 1, &cos_theta, &sin_theta);
    dst[2*i] = src[2*i]*cos_theta - src[2*i + 1]*sin_theta;
    dst[2*i + 1] = kvalues_iq4nl_f[i & 15] * kmask_iq2xs[i & 7];
}
