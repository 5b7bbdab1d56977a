// SPDX-License-Identifier: Apache-2.0
// flat_style.metal: kernels as tensor compilers write them: one function, no helpers, many temporaries,
// unrolled by hand, names that mean nothing.
#include <metal_stdlib>
using namespace metal;

// ---- tinygrad's manner: local and global ids as vectors, vector loads through casts
kernel void r_8_16_4_4_32(device float* data0_8192, device float* data1_2048, device float* data2_4096, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int gidx0 = gid.x; /* 8 */
  int lidx0 = lid.x; /* 16 */
  int alu0 = (lidx0<<2);
  float acc0[16];
  *(acc0+0) = 0.0f; *(acc0+1) = 0.0f; *(acc0+2) = 0.0f; *(acc0+3) = 0.0f;
  *(acc0+4) = 0.0f; *(acc0+5) = 0.0f; *(acc0+6) = 0.0f; *(acc0+7) = 0.0f;
  *(acc0+8) = 0.0f; *(acc0+9) = 0.0f; *(acc0+10) = 0.0f; *(acc0+11) = 0.0f;
  *(acc0+12) = 0.0f; *(acc0+13) = 0.0f; *(acc0+14) = 0.0f; *(acc0+15) = 0.0f;
  for (int ridx0 = 0; ridx0 < 32; ridx0++) {
    float4 val0 = (*((device float4*)((data2_4096+((ridx0<<6)+alu0)))));
    int alu1 = ((gidx0<<7)+ridx0);
    float val1 = (*(data1_2048+alu1));
    float val2 = (*(data1_2048+(alu1+32)));
    float val3 = (*(data1_2048+(alu1+64)));
    float val4 = (*(data1_2048+(alu1+96)));
    *(acc0+0) = ((*(acc0+0))+(val1*val0.x));
    *(acc0+1) = ((*(acc0+1))+(val1*val0.y));
    *(acc0+2) = ((*(acc0+2))+(val1*val0.z));
    *(acc0+3) = ((*(acc0+3))+(val1*val0.w));
    *(acc0+4) = ((*(acc0+4))+(val2*val0.x));
    *(acc0+5) = ((*(acc0+5))+(val2*val0.y));
    *(acc0+6) = ((*(acc0+6))+(val2*val0.z));
    *(acc0+7) = ((*(acc0+7))+(val2*val0.w));
    *(acc0+8) = ((*(acc0+8))+(val3*val0.x));
    *(acc0+9) = ((*(acc0+9))+(val3*val0.y));
    *(acc0+10) = ((*(acc0+10))+(val3*val0.z));
    *(acc0+11) = ((*(acc0+11))+(val3*val0.w));
    *(acc0+12) = ((*(acc0+12))+(val4*val0.x));
    *(acc0+13) = ((*(acc0+13))+(val4*val0.y));
    *(acc0+14) = ((*(acc0+14))+(val4*val0.z));
    *(acc0+15) = ((*(acc0+15))+(val4*val0.w));
  }
  int alu2 = ((gidx0<<8)+alu0);
  *((device float4*)((data0_8192+alu2))) = float4((*(acc0+0)),(*(acc0+1)),(*(acc0+2)),(*(acc0+3)));
  *((device float4*)((data0_8192+(alu2+64)))) = float4((*(acc0+4)),(*(acc0+5)),(*(acc0+6)),(*(acc0+7)));
  *((device float4*)((data0_8192+(alu2+128)))) = float4((*(acc0+8)),(*(acc0+9)),(*(acc0+10)),(*(acc0+11)));
  *((device float4*)((data0_8192+(alu2+192)))) = float4((*(acc0+12)),(*(acc0+13)),(*(acc0+14)),(*(acc0+15)));
}

// ---- the same with a SIMD-group matrix in a helper over float2 pairs
float2 __WMMA_8_8_8_float_float(float2 a, float2 b, float2 c) {
  simdgroup_float8x8 mat_a, mat_b; simdgroup_float8x8 mat_c;
  mat_a.thread_elements()[0] = a[0]; mat_b.thread_elements()[0] = b[0]; mat_c.thread_elements()[0] = c[0];
  mat_a.thread_elements()[1] = a[1]; mat_b.thread_elements()[1] = b[1]; mat_c.thread_elements()[1] = c[1];
  simdgroup_multiply_accumulate(mat_c, mat_a, mat_b, mat_c);
  return float2(mat_c.thread_elements()[0], mat_c.thread_elements()[1]);
}
kernel void r_wmma(device float* data0, device float* data1, device float* data2, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int lidx0 = lid.x; /* 32 */
  int alu0 = (lidx0&1), alu1 = ((lidx0>>1)&3), alu2 = ((lidx0>>3)&1), alu3 = ((lidx0>>4)&1);
  int row = alu1+(alu3<<2), col = (alu0<<1)+(alu2<<2);
  int gx = gid.x, gy = gid.y;
  float2 acc = float2(0.0f,0.0f);
  for (int k = 0; k < 4; k++) {
    float2 a = float2(data1[(gy*8+row)*32+k*8+col], data1[(gy*8+row)*32+k*8+col+1]);
    float2 b = *((device float2*)(data2+((k*8+row)*16+gx*8+col)));
    acc = __WMMA_8_8_8_float_float(a, b, acc);
  }
  *((device float2*)(data0+((gy*8+row)*16+gx*8+col))) = acc;
}

// ---- elementwise with selects, shifts and long multiplications instead of divisions
kernel void E_fused(device half* data0, device int* data1, device unsigned char* data2, constant int& n, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int alu0 = (((int)gid.x)*32)+((int)lid.x);
  if (alu0 < n) {
    int val0 = data1[alu0];
    int alu1 = ((int)(((long)val0*(long)1717986919)>>34))-(val0>>31);
    bool alu2 = ((val0-(alu1*10))<5);
    float cast0 = ((float)((alu2?val0:(-val0))));
    half cast1 = ((half)(exp2((cast0*(-0.01442695f)))*(1.0f/(1.0f+exp2((cast0*0.02f))))));
    unsigned char val1 = data2[(alu0^1)<n?(alu0^1):alu0];
    data0[alu0] = (cast1+((half)(((unsigned int)val1)>>4u)))*((half)((alu2!=true)&1)+1.0h);
  }
}

// ---- Halide's manner: guarded tails, min-shifted last tile, ramps
#define shared threadgroup
inline float float_from_bits(unsigned int x) { return as_type<float>(x); }
kernel void blur_kernel(
    constant int32_t &_extent_x [[buffer(0)]],
    constant int32_t &_extent_y [[buffer(1)]],
    constant int32_t &_stride [[buffer(2)]],
    device const void *_in_buf [[buffer(3)]],
    device void *_out_buf [[buffer(4)]],
    uint3 tgpig [[ threadgroup_position_in_grid ]],
    uint3 tpitg [[ thread_position_in_threadgroup ]])
{
    device const uint16_t *_in = (device const uint16_t *)_in_buf;
    device uint16_t *_out = (device uint16_t *)_out_buf;
    int _out_s0_y___block_id_y = tgpig.y;
    int _out_s0_x___block_id_x = tgpig.x;
    int ___thread_id_y = tpitg.y;
    int ___thread_id_x = tpitg.x;
    int _1 = _out_s0_x___block_id_x * 16;
    int _2 = _extent_x + -16;
    int _3 = min(_1, _2);
    int _4 = _3 + ___thread_id_x;
    int _5 = _out_s0_y___block_id_y * 4;
    int _6 = _extent_y + -4;
    int _7 = min(_5, _6);
    int _8 = _7 + ___thread_id_y;
    int _9 = _8 * _stride;
    int _10 = _9 + _4;
    uint16_t _11 = _in[max(_4 + -1, 0) + _9];
    uint16_t _12 = _in[_10];
    uint16_t _13 = _in[min(_4 + 1, _extent_x + -1) + _9];
    uint32_t _14 = (uint32_t)(_11);
    uint32_t _15 = (uint32_t)(_12);
    uint32_t _16 = (uint32_t)(_13);
    uint32_t _17 = _14 + (_15 << (uint32_t)(1ULL));
    uint32_t _18 = (_17 + _16 + (uint32_t)(2ULL)) >> (uint32_t)(2ULL);
    float _19 = (float)(_18) * float_from_bits(1065353216 /* 1 */);
    uint16_t _20 = (uint16_t)(_19);
    _out[_10] = _20;
}

// ---- TVM's manner: shared arrays, blockIdx as ushort vectors, buffers of arguments in a struct
union __TVMArgUnion {
 int v_int[2];
};
struct dense_kernel_args_t {
  int n;
  int m;
};
kernel void default_function_kernel(  device float* T_dense [[ buffer(0) ]],
  device float* A [[ buffer(1) ]],
  device float* B [[ buffer(2) ]],
  constant dense_kernel_args_t& arg [[ buffer(3) ]],
  uint3 blockIdx [[threadgroup_position_in_grid]],
  uint3 threadIdx [[thread_position_in_threadgroup]]
) {
  threadgroup float A_shared[64];
  threadgroup float B_shared[64];
  thread float T_local[1];
  T_local[0] = 0.000000e+00f;
  for (int k_outer = 0; k_outer < ((arg.m + 7) >> 3); ++k_outer) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    A_shared[((((int)threadIdx.y) * 8) + ((int)threadIdx.x))] = (((((((int)blockIdx.y) * 8) + ((int)threadIdx.y)) < arg.n) && (((k_outer * 8) + ((int)threadIdx.x)) < arg.m)) ? A[(((((((int)blockIdx.y) * 8) + ((int)threadIdx.y)) * arg.m) + (k_outer * 8)) + ((int)threadIdx.x))] : 0.000000e+00f);
    B_shared[((((int)threadIdx.y) * 8) + ((int)threadIdx.x))] = (((((((int)blockIdx.x) * 8) + ((int)threadIdx.y)) < arg.n) && (((k_outer * 8) + ((int)threadIdx.x)) < arg.m)) ? B[(((((((int)blockIdx.x) * 8) + ((int)threadIdx.y)) * arg.m) + (k_outer * 8)) + ((int)threadIdx.x))] : 0.000000e+00f);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k_inner = 0; k_inner < 8; ++k_inner) {
      T_local[0] = (T_local[0] + (A_shared[((((int)threadIdx.y) * 8) + k_inner)] * B_shared[((((int)threadIdx.x) * 8) + k_inner)]));
    }
  }
  if ((((((int)blockIdx.y) * 8) + ((int)threadIdx.y)) < arg.n) && (((((int)blockIdx.x) * 8) + ((int)threadIdx.x)) < arg.n)) {
    T_dense[((((((int)blockIdx.y) * 8) + ((int)threadIdx.y)) * arg.n) + ((((int)blockIdx.x) * 8) + ((int)threadIdx.x)))] = T_local[0];
  }
}

// ---- Slang's manner: numbered structs, swizzle wrappers, a context passed along, entry-point params
struct Vertex_0
{
    packed_float3 p_0;
    float2 uv_0;
};

struct GlobalParams_0
{
    float4x4 transform_0;
    uint count_0;
    array<float4, int(3)> planes_0;
};

struct KernelContext_0
{
    GlobalParams_0 constant* globalParams_0;
    Vertex_0 device* vertices_0;
    uint device* visible_0;
    threadgroup uint* groupCount_0;
};

bool inside_0(float3 p_1, KernelContext_0 thread* kernelContext_0)
{
    int i_0 = int(0);
    for(;;)
    {
        if(i_0 < int(3))
        {
        }
        else
        {
            break;
        }
        if((dot(kernelContext_0->globalParams_0->planes_0[i_0].xyz, p_1) + kernelContext_0->globalParams_0->planes_0[i_0].w) < 0.0)
        {
            return false;
        }
        i_0 = i_0 + int(1);
    }
    return true;
}

[[kernel]] void cull(uint3 tid_0 [[thread_position_in_grid]], uint3 lid_0 [[thread_position_in_threadgroup]], uint3 grp_0 [[threadgroup_position_in_grid]], GlobalParams_0 constant* globalParams_1 [[buffer(0)]], Vertex_0 device* vertices_1 [[buffer(1)]], uint device* visible_1 [[buffer(2)]], uint device* counts_1 [[buffer(3)]])
{
    threadgroup uint groupCount_1;
    KernelContext_0 kernelContext_1;
    (&kernelContext_1)->globalParams_0 = globalParams_1;
    (&kernelContext_1)->vertices_0 = vertices_1;
    (&kernelContext_1)->visible_0 = visible_1;
    (&kernelContext_1)->groupCount_0 = &groupCount_1;
    uint i_1 = tid_0.x;
    if(lid_0.x == 0U)
    {
        *(&kernelContext_1)->groupCount_0 = 0U;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    bool _S1;
    if(i_1 < globalParams_1->count_0)
    {
        float4 _S2 = (((float4(float3(vertices_1[i_1].p_0), 1.0)) * (globalParams_1->transform_0)));
        _S1 = inside_0(_S2.xyz / _S2.www, &kernelContext_1);
    }
    else
    {
        _S1 = false;
    }
    if(_S1)
    {
        uint _S3 = atomic_fetch_add_explicit((threadgroup atomic_uint*)((&kernelContext_1)->groupCount_0), 1U, memory_order_relaxed);
        (void)_S3;
    }
    if(i_1 < globalParams_1->count_0)
    {
        visible_1[i_1] = uint(_S1 ? (int(1)) : int(0));
        vertices_1[i_1].uv_0 = (vertices_1[i_1].uv_0.yx);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if(lid_0.x == 0U)
    {
        counts_1[grp_0.x] = *(&kernelContext_1)->groupCount_0;
    }
    return;
}

// ---- Taichi's manner: byte addresses, casts through reinterpret, ranges as begin and end
namespace {
using byte = char;
using mtl_i32 = int32_t; using mtl_f32 = float;
template <typename T, typename G> T union_cast(G g) { static_assert(sizeof(T) == sizeof(G), "Size mismatch"); return *reinterpret_cast<thread const T *>(&g); }
inline int ifloordiv(int lhs, int rhs) {
  const int intm = (lhs / rhs);
  return (((lhs < 0) != (rhs < 0)) && lhs && (rhs * intm != lhs)) ? intm - 1 : intm;
}
int32_t pow_i32(int32_t x, int32_t n) {
  int32_t tmp = x; int32_t ans = 1;
  while (n) { if (n & 1) ans *= tmp; tmp *= tmp; n >>= 1; }
  return ans;
}
float fatomic_fetch_add(device float *dest, const float operand) {
  bool ok = false;
  float old_val = 0.0f;
  while (!ok) {
    old_val = *dest;
    float new_val = (old_val + operand);
    ok = atomic_compare_exchange_weak_explicit((device atomic_int *)dest, (thread int *)(&old_val), *((thread int *)(&new_val)), metal::memory_order_relaxed, metal::memory_order_relaxed);
  }
  return old_val;
}
class S0_ch { public:
  S0_ch(device byte *a) : addr_(a) {}
  device float *get0() { return reinterpret_cast<device float *>(addr_ + 0); }
  device int32_t *get1() { return reinterpret_cast<device int32_t *>(addr_ + 4); }
  constant static constexpr int elem_stride = 8;
 private:
  device byte *addr_;
};
class S0 { public:
  S0(device byte *addr) : addr_(addr) {}
  S0_ch children(int i) { return {addr_ + i * S0_ch::elem_stride}; }
 private:
  device byte *addr_;
};
} // namespace
kernel void mtl_k0001_fill_c4_0_1(
    device byte *root_addr [[buffer(0)]],
    device byte *global_tmps_addr [[buffer(1)]],
    device byte *ctx_addr [[buffer(2)]],
    const uint ugrid_size_ [[threads_per_grid]],
    const uint utid_ [[thread_position_in_grid]]) {
  const int begin_ = *reinterpret_cast<device int *>(global_tmps_addr + 0);
  const int end_ = *reinterpret_cast<device int *>(global_tmps_addr + 4);
  for (int ii = begin_ + static_cast<int>(utid_); ii < end_; ii += static_cast<int>(ugrid_size_)) {
    const int tmp1 = ii;
    S0 tmp2(root_addr);
    S0_ch tmp3 = tmp2.children(tmp1);
    device float *tmp4 = tmp3.get0();
    const float tmp5 = *(reinterpret_cast<device float *>(ctx_addr) + 0);
    const float tmp6 = tmp5 * static_cast<float>(tmp1);
    *tmp4 = tmp6;
    const int tmp7 = ifloordiv(-tmp1, 3);
    *tmp3.get1() = tmp7 + pow_i32(tmp1, 3) + union_cast<int>(tmp6) % 7;
    fatomic_fetch_add(reinterpret_cast<device float *>(global_tmps_addr + 8), static_cast<float>(tmp1));
  }
}
