// Programs as translators (naga, Tint, SPIRV-Cross, Slang, HLSLcc), engines and array libraries write them, and one
// for each part of the library and the language, from 2.3 to 4.0. Each is compiled alone.
// ==== naga: storage buffer sizes, wrapped arrays, clamp bounds
#include <metal_stdlib>
#include <simd/simd.h>
using metal::uint;
struct _mslBufferSizes { uint size0; uint size1; };
struct DefaultConstructible { template<typename T> operator T() && { return T {}; } };
typedef uint type_1[1];
struct type_3 { metal::float4 inner[2]; };
struct Particle { metal::packed_float3 pos; float w; metal::float3x3 m; char _pad[4]; };
typedef Particle type_5[1];
uint collatz(uint n_base) {
    uint n = {}; uint i = 0u; n = n_base;
    uint2 loop_bound = uint2(4294967295u);
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        uint _e4 = n;
        if (!(_e4 > 1u)) { break; }
        if (metal::bool2(true, false).x) { n = _e4 / 2u; } else { n = (3u * _e4) + 1u; }
        i = i + 1u;
    }
    return i;
}
metal::int2 naga_div(metal::int2 lhs, metal::int2 rhs) { return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0)); }
metal::uint3 naga_mod(metal::uint3 lhs, metal::uint3 rhs) { return lhs % metal::select(rhs, 1u, rhs == 0u); }
int naga_neg(int v) { return as_type<int>(-as_type<uint>(v)); }
metal::int3 naga_f2i32(metal::float3 v) { return static_cast<metal::int3>(metal::clamp(v, -2147483600.0, 2147483500.0)); }
kernel void main_(metal::uint3 gid [[thread_position_in_grid]], device type_1& v_indices [[buffer(0)]], device type_5& parts [[user(fake0), buffer(2)]], constant _mslBufferSizes& _buffer_sizes [[buffer(1)]], threadgroup metal::atomic_uint& wg, metal::uint3 __local_invocation_id [[thread_position_in_threadgroup]]) {
    if (metal::all(__local_invocation_id == metal::uint3(0u))) { metal::atomic_store_explicit(&wg, 0, metal::memory_order_relaxed); }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint idx = gid.x;
    uint _e9 = idx < 1 + (_buffer_sizes.size0 - 0 - 4) / 4 ? v_indices[idx] : DefaultConstructible();
    uint _e11 = collatz(_e9);
    parts[metal::min(unsigned(idx), 3u)].pos = metal::packed_float3(metal::float3(parts[0].pos) + 1.0);
    metal::int2 d = naga_div(metal::int2(4, 5), metal::int2(0, -1));
    metal::uint _e13 = metal::atomic_fetch_add_explicit(&wg, 1u, metal::memory_order_relaxed);
    v_indices[gid.x] = _e11 + uint(d.x) + naga_mod(gid, metal::uint3(2)).x + uint(naga_neg(3)) + uint(naga_f2i32(metal::float3(1)).x) + _e13;
    return;
}
// ==== naga: texture ops, gather, offsets, storage
#include <metal_stdlib>
#include <simd/simd.h>
using metal::uint;
constant metal::int2 const_type_6_ = {3, 1};
struct main_Output { metal::float4 member [[color(0)]]; };
struct main_Input { metal::float2 uv [[user(loc0), center_perspective]]; };
fragment main_Output main_(main_Input varyings [[stage_in]], metal::texture2d<float, metal::access::sample> image_2d [[user(fake0)]], metal::sampler sampler_reg [[user(fake0)]], metal::depth2d<float, metal::access::sample> dtex [[texture(1)]], metal::texture2d_array<uint, metal::access::sample> arr [[texture(2)]], metal::texturecube_array<float, metal::access::sample> cubes [[texture(3)]], metal::texture2d_ms<float, metal::access::read> ms [[texture(4)]], metal::texture1d<int> t1 [[texture(5)]], metal::texture3d<float> t3 [[texture(6)]], metal::sampler cmp [[sampler(1)]]) {
    const auto tc = varyings.uv;
    metal::float4 s2d = image_2d.sample(sampler_reg, tc, const_type_6_);
    metal::float4 s2d_l = image_2d.sample(sampler_reg, tc, metal::level(2.3), const_type_6_);
    metal::float4 s2d_b = image_2d.sample(sampler_reg, tc, metal::bias(2.0), metal::int2(3, 1));
    metal::float4 s2d_g = image_2d.sample(sampler_reg, tc, metal::gradient2d(metal::float2(1), metal::float2(2)));
    metal::float4 g = image_2d.gather(sampler_reg, tc, const_type_6_, metal::component::y);
    metal::float4 gd = dtex.gather_compare(cmp, tc, 0.5);
    float c0 = dtex.sample_compare(cmp, tc, 0.5, metal::level(0));
    float c1 = dtex.sample_compare(cmp, tc, 0.5, const_type_6_);
    metal::uint4 a = arr.read(metal::uint2(1, 2), 3u, 0);
    metal::float4 cu = cubes.sample(sampler_reg, metal::float3(1), 2, metal::level(1.0));
    metal::float4 cg = cubes.sample(sampler_reg, metal::float3(1), 2, metal::gradientcube(metal::float3(1), metal::float3(0)));
    metal::float4 m = ms.read(metal::uint2(0), metal::min(uint(1), ms.get_num_samples() - 1));
    metal::int4 l = (uint(1) < t1.get_width()) ? t1.read(uint(1)) : metal::int4(0);
    uint n = image_2d.get_num_mip_levels() + arr.get_array_size() + metal::uint3(t3.get_width(), t3.get_height(), t3.get_depth()).z;
    return main_Output { s2d + s2d_l + s2d_b + s2d_g + g + gd + c0 + c1 + metal::float4(a) + cu + cg + m + metal::float4(l) + float(n) };
}
// ==== SPIRV-Cross: spvUnsafeArray, matrices, packed, interface
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
template<typename T, size_t Num>
struct spvUnsafeArray
{
    T elements[Num ? Num : 1];
    thread T& operator [] (size_t pos) thread { return elements[pos]; }
    constexpr const thread T& operator [] (size_t pos) const thread { return elements[pos]; }
    device T& operator [] (size_t pos) device { return elements[pos]; }
    constexpr const device T& operator [] (size_t pos) const device { return elements[pos]; }
    constexpr const constant T& operator [] (size_t pos) const constant { return elements[pos]; }
    threadgroup T& operator [] (size_t pos) threadgroup { return elements[pos]; }
    constexpr const threadgroup T& operator [] (size_t pos) const threadgroup { return elements[pos]; }
};
struct Foo { spvUnsafeArray<float4, 3> a; float3x4 m; packed_float3 p; float q; };
struct SSBO { float4 arr[1]; };
constant spvUnsafeArray<float, 4> _20 = spvUnsafeArray<float, 4>({ 1.0, 2.0, 3.0, 4.0 });
constant spvUnsafeArray<spvUnsafeArray<float, 2>, 2> _32 = spvUnsafeArray<spvUnsafeArray<float, 2>, 2>({ spvUnsafeArray<float, 2>({ 1.0, 2.0 }), spvUnsafeArray<float, 2>({ 8.0, 10.0 }) });
template<typename T> inline T spvFMul(T l, T r) { return fma(l, r, T(0)); }
template<typename T, int LCols, int RCols, int LRows> [[clang::optnone]] matrix<T, RCols, LRows> spvFMulMatrixMatrix(matrix<T, LCols, LRows> l, matrix<T, RCols, LCols> r)
{
    matrix<T, RCols, LRows> res;
    for (int i = 0; i < RCols; i++) { vec<T, LRows> tmp(0); for (int j = 0; j < LCols; j++) tmp = fma(vec<T, LRows>(r[i][j]), l[j], tmp); res[i] = tmp; }
    return res;
}
template<typename T> inline T spvFindSMSB(T x) { T v = select(x, T(-1) - x, x < T(0)); return select(clz(T(0)) - (clz(v) + T(1)), T(-1), v == T(0)); }
template<typename T> inline T spvFindULSB(T x) { return select(ctz(x), T(-1), x == T(0)); }
template<typename Tx, typename Ty> inline Tx mod(Tx x, Ty y) { return x - y * floor(x / y); }
static inline __attribute__((always_inline)) float4 f(thread const Foo& x, constant Foo& y, device SSBO& z) { return x.a[1] + y.a[2] + z.arr[0]; }
kernel void main0(constant Foo& _a [[buffer(0)]], device SSBO& ssbo [[buffer(1)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]], uint gl_SubgroupSize [[thread_execution_width]], constant uint* spvBufferSizeConstants [[buffer(25)]])
{
    constant uint& ssboBufferSize = spvBufferSizeConstants[1];
    Foo l; l.a = spvUnsafeArray<float4, 3>({ float4(1), float4(2), float4(3) }); l.m = _a.m; l.p = float3(1); l.q = _20[gl_GlobalInvocationID.x & 3] + _32[1][0];
    float4 r = f(l, _a, ssbo) + spvFMul(l.m[0], float4(2)) + spvFMulMatrixMatrix(float4x4(1), float4x4(2))[1] + float(spvFindSMSB(int(3))) + float(spvFindULSB(8u)) + mod(float4(5), 3.0) + float(int((ssboBufferSize - 0) / 16)) + float(gl_SubgroupSize);
    ssbo.arr[gl_GlobalInvocationID.x] = r;
}
// ==== SPIRV-Cross: argument buffers with descriptor sets and bindless
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
struct spvDescriptorSetBuffer0 { array<texture2d<float>, 4> uTex [[id(0)]]; array<sampler, 4> uTexSmplr [[id(4)]]; device float4* buf [[id(8)]]; constant float4x4* m_9 [[id(9)]]; texture2d<float, access::read_write> img [[id(10)]]; };
struct spvDescriptorSetBuffer1 { device float2* volatile ptrs [[id(0)]][8]; texture2d<float> t [[id(8)]][1]; };
template<typename T> struct spvDescriptor { T value; };
template<typename T> struct spvDescriptorArray { spvDescriptorArray(const device spvDescriptor<T>* ptr) : ptr(&ptr->value) {} const device T& operator [] (size_t i) const { return ptr[i]; } const device T* ptr; };
struct main0_in { float2 vUV [[user(locn0)]]; int idx [[user(locn1), flat]]; };
static inline float4 sample_in_func(constant array<texture2d<float>, 4>& uTex, constant array<sampler, 4>& s, thread float2& vUV, int i) { return uTex[i].sample(s[i], vUV); }
fragment float4 main0(main0_in in [[stage_in]], constant spvDescriptorSetBuffer0& spvDescriptorSet0 [[buffer(0)]], const device spvDescriptor<texture2d<float>>* tt [[buffer(1)]], const device spvDescriptorSetBuffer1& set1 [[buffer(2)]]) {
  spvDescriptorArray<texture2d<float>> arr {tt};
  float4 c = sample_in_func(spvDescriptorSet0.uTex, spvDescriptorSet0.uTexSmplr, in.vUV, in.idx);
  c += arr[in.idx].sample(spvDescriptorSet0.uTexSmplr[0], in.vUV);
  c.xy += set1.ptrs[in.idx][3] + set1.t[in.idx].read(uint2(0)).xy;
  return c * spvDescriptorSet0.m_9[0] + spvDescriptorSet0.buf[in.idx];
}
// ==== SPIRV-Cross: subgroup and quad emulation
#include <metal_stdlib>
using namespace metal;
template<typename T> inline T spvSubgroupBroadcast(T value, ushort lane) { return simd_broadcast(value, lane); }
template<> inline bool spvSubgroupBroadcast(bool value, ushort lane) { return !!simd_broadcast((ushort)value, lane); }
template<uint N> inline vec<bool, N> spvSubgroupBroadcast(vec<bool, N> value, ushort lane) { return (vec<bool, N>)simd_broadcast((vec<ushort, N>)value, lane); }
inline uint4 spvSubgroupBallot(bool value) { simd_vote vote = simd_ballot(value); return uint4(as_type<uint2>((simd_vote::vote_t)vote), 0, 0); }
inline bool spvSubgroupBallotBitExtract(uint4 ballot, uint bit) { return !!extract_bits(ballot[bit / 32], bit % 32, 1); }
inline uint spvSubgroupBallotFindLSB(uint4 ballot, uint gl_SubgroupSize) { uint4 mask = uint4(extract_bits(0xFFFFFFFF, 0, min(gl_SubgroupSize, 32u)), extract_bits(0xFFFFFFFF, 0, (uint)max((int)gl_SubgroupSize - 32, 0)), uint2(0)); ballot &= mask; return select(ctz(ballot.x), select(32 + ctz(ballot.y), select(64 + ctz(ballot.z), select(96 + ctz(ballot.w), uint(-1), ballot.w == 0), ballot.z == 0), ballot.y == 0), ballot.x == 0); }
template<typename T> inline bool spvSubgroupAllEqual(T value) { return simd_all(all(value == simd_broadcast_first(value))); }
template<> inline bool spvSubgroupAllEqual(bool value) { return simd_all(value) || !simd_any(value); }
template<typename T> inline T spvSubgroupShuffle(T value, ushort lane) { return simd_shuffle(value, lane); }
template<typename T> inline T spvSubgroupClusteredAdd4(T v) { return quad_sum(v); }
template<typename T> inline T spvQuadSwap(T value, uint dir) { return quad_shuffle_xor(value, dir + 1); }
kernel void main0(device uint4* o [[buffer(0)]], uint i [[thread_position_in_grid]], uint gl_SubgroupSize [[threads_per_simdgroup]], uint gl_SubgroupInvocationID [[thread_index_in_simdgroup]]) {
  uint4 gl_SubgroupEqMask = gl_SubgroupInvocationID >= 32 ? uint4(0, (1 << (gl_SubgroupInvocationID - 32)), uint2(0)) : uint4(1 << gl_SubgroupInvocationID, uint3(0));
  uint4 b = spvSubgroupBallot((i & 1) != 0);
  bool3 v = spvSubgroupBroadcast(bool3(i & 1, true, false), 3);
  o[i] = b + uint(spvSubgroupBallotBitExtract(b, 3)) + spvSubgroupBallotFindLSB(b, gl_SubgroupSize) + uint(v.x) + gl_SubgroupEqMask + uint(spvSubgroupAllEqual(float2(1))) + spvSubgroupShuffle(i, 2) + spvSubgroupClusteredAdd4(i) + spvQuadSwap(i, 0u) + simd_prefix_exclusive_sum(i) + simd_prefix_inclusive_product(1u) + uint(spvSubgroupAllEqual(true));
}
// ==== Slang: contexts, pointers, static arrays
#include <metal_stdlib>
#include <metal_math>
#include <metal_texture>
using namespace metal;
struct GlobalParams_natural_0 { uint n_0; float4 c_0; };
struct KernelContext_0 { texture2d<float, access::sample> tex_0; sampler s_0; float device* out_0; GlobalParams_natural_0 constant* globalParams_0; array<float, int(16)> threadgroup* shared_0; };
struct Light_0 { float3 pos_0; float intensity_0; };
Light_0 Light_x24init_0(float3 p_0, float i_0) { thread Light_0 l_0; (&l_0)->pos_0 = p_0; (&l_0)->intensity_0 = i_0; return l_0; }
float shade_0(const Light_0 thread* l_1, KernelContext_0 thread* kernelContext_0) { return l_1->intensity_0 * ((kernelContext_0->tex_0).sample((kernelContext_0->s_0), (l_1->pos_0.xy), level((0.0)))).x; }
array<float2, int(3)> verts_0() { return { float2(0.0, 0.5), float2(0.5, -0.5), float2(-0.5, -0.5) }; }
[[kernel]] void computeMain(uint3 tid_0 [[thread_position_in_grid]], texture2d<float, access::sample> tex_1 [[texture(0)]], sampler s_1 [[sampler(0)]], float device* out_1 [[buffer(0)]], GlobalParams_natural_0 constant* globalParams_1 [[buffer(1)]]) {
    threadgroup array<float, int(16)> shared_1;
    thread KernelContext_0 kernelContext_1;
    (&kernelContext_1)->tex_0 = tex_1; (&kernelContext_1)->s_0 = s_1; (&kernelContext_1)->out_0 = out_1; (&kernelContext_1)->globalParams_0 = globalParams_1; (&kernelContext_1)->shared_0 = &shared_1;
    thread Light_0 l_2 = Light_x24init_0(float3(1.0, 2.0, 3.0), 4.0);
    array<float2, int(3)> v_0 = verts_0();
    (*(&kernelContext_1)->shared_0)[tid_0.x & 15U] = shade_0(&l_2, &kernelContext_1);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *((&kernelContext_1)->out_0 + tid_0.x) = (*(&kernelContext_1)->shared_0)[(tid_0.x + 1U) & 15U] + v_0[1].x + (globalParams_1->c_0).x;
}
// ==== MLX: steel gemm fragments, Complex, integral_constant
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
using namespace metal;
#define STEEL_CONST static constant constexpr const
#define STEEL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")
template <typename T, T v> struct fixed { static constexpr constant T value = v; using value_type = T; using type = fixed; METAL_FUNC constexpr operator value_type() const noexcept { return value; } };
template <int val> using Int = fixed<int, val>;
template <typename T, T tv, typename U, U uv> METAL_FUNC constexpr auto operator+(fixed<T, tv>, fixed<U, uv>) { return fixed<decltype(tv + uv), tv + uv>{}; }
struct complex64_t { float real; float imag; constexpr complex64_t(float r, float i) : real(r), imag(i) {} constexpr complex64_t() : real(0), imag(0) {}
  template <typename T, typename = typename enable_if<!is_same_v<T, complex64_t>>::type> constexpr complex64_t(T x) thread : real(x), imag(0) {}
  constexpr operator float() const thread { return real; } constexpr operator float() const device { return real; } };
constexpr complex64_t operator*(complex64_t a, complex64_t b) { return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real}; }
template <typename T, int kFragRows_, int kFragCols_> struct BaseMMAFrag { static_assert(kFragRows_ == 8, "x"); };
template <typename T> struct BaseMMAFrag<T, 8, 8> {
  STEEL_CONST int kFragRows = 8; STEEL_CONST int kFragCols = 8; STEEL_CONST int kElemsPerFrag = (8 * 8) / 32;
  typedef metal::simdgroup_matrix<T, kFragRows, kFragCols> mat_type; typedef metal::vec<T, kElemsPerFrag> frag_type;
  METAL_FUNC static constexpr short2 get_coord(ushort simd_lane_id [[thread_index_in_simdgroup]]) { const short qid = simd_lane_id / 4; const short fm = (qid & 4) + ((simd_lane_id / 2) % 4); const short fn = (qid & 2) * 2 + (simd_lane_id % 2) * 2; return short2{fn, fm}; }
  template <typename SrcPtrType, typename StrX, typename StrY> METAL_FUNC static constexpr void load(thread frag_type& dst, SrcPtrType src, StrX str_x, StrY str_y) { STEEL_PRAGMA_UNROLL for (short i = 0; i < 1; i++) { STEEL_PRAGMA_UNROLL for (short j = 0; j < 2; j++) { dst[i * 2 + j] = static_cast<T>(src[i * str_x + j * str_y]); } } }
  METAL_FUNC static constexpr void mma(thread frag_type& D, thread frag_type& A, thread frag_type& B, thread frag_type& C) { mat_type D_mat, A_mat, B_mat, C_mat; reinterpret_cast<thread frag_type&>(A_mat.thread_elements()) = A; reinterpret_cast<thread frag_type&>(B_mat.thread_elements()) = B; reinterpret_cast<thread frag_type&>(C_mat.thread_elements()) = C; simdgroup_multiply_accumulate(D_mat, A_mat, B_mat, C_mat); D = reinterpret_cast<thread frag_type&>(D_mat.thread_elements()); }
};
template <typename T, int R, int C, class Frag = BaseMMAFrag<T, 8, 8>> struct MMATile { using MMAFrag_t = Frag; using frag_type = typename Frag::frag_type; STEEL_CONST int kNumFrags = R * C; frag_type val_frags[kNumFrags] = {frag_type(0)}; METAL_FUNC MMATile() thread {} METAL_FUNC constexpr void clear() { STEEL_PRAGMA_UNROLL for (short i = 0; i < kNumFrags; ++i) val_frags[i] = frag_type(0); } METAL_FUNC constexpr thread frag_type& frag_at(const short i, const short j) { return val_frags[i * C + j]; } };
template <typename T> [[kernel]] void g(const device T* a [[buffer(0)]], device T* o [[buffer(1)]], ushort lane [[thread_index_in_simdgroup]]) { MMATile<T, 2, 2> A, B, C; C.clear(); auto c = BaseMMAFrag<T, 8, 8>::get_coord(lane); BaseMMAFrag<T, 8, 8>::load(A.frag_at(0, 0), a + c.y * 8 + c.x, Int<8>{}, Int<1>{}); B.frag_at(0, 0) = A.frag_at(0, 0); BaseMMAFrag<T, 8, 8>::mma(C.frag_at(0, 0), A.frag_at(0, 0), B.frag_at(0, 0), C.frag_at(0, 0)); o[c.y * 8 + c.x] = C.frag_at(0, 0)[0]; complex64_t z = complex64_t(1) * complex64_t(0, 1); o[63] += T(z.imag + (Int<2>{} + Int<3>{})); }
template [[host_name("g_f32")]] [[kernel]] decltype(g<float>) g<float>;
template [[host_name("g_f16")]] [[kernel]] decltype(g<half>) g<half>;
// ==== tinygrad style
#include <metal_stdlib>
using namespace metal;
float2 __WMMA_8_8_8_float_float(float2 a, float2 b, float2 c){
  simdgroup_float8x8 mat_a, mat_b; simdgroup_float8x8 mat_c;
  mat_a.thread_elements()[0] = a[0]; mat_b.thread_elements()[0] = b[0]; mat_c.thread_elements()[0] = c[0];
  mat_a.thread_elements()[1] = a[1]; mat_b.thread_elements()[1] = b[1]; mat_c.thread_elements()[1] = c[1];
  simdgroup_multiply_accumulate(mat_c, mat_a, mat_b, mat_c);
  return float2(mat_c.thread_elements()[0], mat_c.thread_elements()[1]);
}
kernel void r_8_8_8(device float* data0, device float* data1, constant int& n, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  threadgroup __attribute__((aligned(16))) float temp0[32];
  int gidx0 = gid.x; int lidx0 = lid.x; float acc0 = 0.0f; float2 w0 = float2(0.0f,0.0f);
  for (int ridx0 = 0; ridx0 < 8; ridx0++) { float val0 = *(data1+((gidx0*8)+ridx0)); acc0 = (acc0+val0); w0 = __WMMA_8_8_8_float_float(float2(val0, val0), float2(val0, 1.0f), w0); }
  *(temp0+lidx0) = acc0; threadgroup_barrier(mem_flags::mem_threadgroup);
  bool alu0 = (lidx0<1); float alu1 = (alu0?(*(temp0+0)):0.0f); float4 v = *((device float4*)((data1+0)));
  *((device float4*)((data0+(gidx0*4)))) = float4(alu1, w0.x, as_type<float>(1065353216), precise::sin(v.x)); 
  *(data0+0) = (float)((bfloat)(2.5f)); *(data0+1) = (float)((half)(alu1)) + (float)((unsigned char)(3)) + (float)(as_type<int>(3.0f));
}
// ==== llama.cpp style dequant with packed struct and macros
#include <metal_stdlib>
using namespace metal;
#define QK_K 256
#define N_SIMDWIDTH 32
typedef struct { uint8_t scales[QK_K/16]; uint8_t qs[QK_K/4]; union { struct { half d; half dmin; }; half2 dm; }; } block_q2_K;
typedef struct __attribute__((packed)) { half d; int8_t qs[32]; } block_q8_0;
static_assert(sizeof(block_q2_K) == 84, "size");
enum : uint32_t { OP_A = 1, OP_B };
constexpr constant static float kvalues_iq4nl_f[16] = { -127.f, -104.f, -83.f, -65.f, -49.f, -35.f, -22.f, -10.f, 1.f, 13.f, 25.f, 38.f, 53.f, 69.f, 89.f, 113.f };
template <typename type4x4> void dequantize_q2_K(device const block_q2_K *xb, short il, thread type4x4 & reg) { const float d = xb->d; const float min = xb->dmin; device const uint8_t * q = (device const uint8_t *)xb->qs; float dl, ml; uint8_t sc = xb->scales[il]; q = q + 32*(il/8) + 16*(il&1); il = (il/2)%4; half coef = il>1 ? (il>2 ? 1/64.h : 1/16.h) : (il>0 ? 1/4.h : 1.h); uchar mask = il>1 ? (il>2 ? 192 : 48) : (il>0 ? 12 : 3); dl = d * (sc & 0xF) * coef, ml = min * (sc >> 4); for (int i = 0; i < 16; ++i) { reg[i/4][i%4] = dl * (q[i] & mask) - ml; } }
template<typename block_q, short nl, void (*dequantize_func)(device const block_q *, short, thread float4x4 &)> kernel void get_rows_q(device const void * src0, device const void * src1, device float * dst, constant int64_t & ne00, uint3 tgpig [[threadgroup_position_in_grid]], uint tiitg [[thread_index_in_threadgroup]], uint3 tptg [[threads_per_threadgroup]]) { const int64_t i10 = tgpig.x; const int64_t r = ((const device int32_t *) ((const device char *) src1 + 4*i10))[0]; for (int64_t ind = tiitg; ind < ne00/16; ind += tptg.x) { float4x4 temp; dequantize_func(((device const block_q *) ((const device char *) src0 + r*84)) + ind/nl, ind%nl, temp); *(((device float4x4 *) ((device char *) dst + i10*1024)) + ind) = temp; } }
typedef decltype(get_rows_q<block_q2_K, 16, dequantize_q2_K>) get_rows_q_t;
template [[host_name("kernel_get_rows_q2_K")]] kernel get_rows_q_t get_rows_q<block_q2_K, 16, dequantize_q2_K>;
kernel void mv(device const block_q8_0 *x, device const float *y, device float *dst, ushort tiisg[[thread_index_in_simdgroup]], ushort sgitg[[simdgroup_index_in_threadgroup]]) { float sumf[4] = {0.f}; for (int row = 0; row < 4; ++row) { float s = 0; FOR_UNROLL: for (short i = tiisg; i < 32; i += N_SIMDWIDTH) s += x[row].qs[i] * y[i]; sumf[row] += s * x[row].d; } for (int row = 0; row < 4; ++row) { const float tot = simd_sum(sumf[row]); if (tiisg == 0) { dst[row] = tot + kvalues_iq4nl_f[row] + OP_B; } } }
// ==== Unity HLSLcc style
#include <metal_stdlib>
#include <metal_texture>
using namespace metal;
#if !(__HAVE_FMA__)
#define fma(a,b,c) ((a) * (b) + (c))
#endif
#ifndef XLT_REMAP_O
#define XLT_REMAP_O {0, 1, 2, 3, 4, 5, 6, 7}
#endif
constexpr constant uint xlt_remap_o[] = XLT_REMAP_O;
struct Globals_Type { float4 hlslcc_mtx4x4unity_MatrixVP[4]; half4 _Color; float4 _MainTex_ST; };
struct Mtl_FragmentIn { float4 TEXCOORD0 [[ user(TEXCOORD0) ]]; half3 NORMAL0 [[ user(NORMAL0) ]] ; };
struct Mtl_FragmentOut { half4 SV_Target0 [[ color(xlt_remap_o[0]) ]]; float d [[ depth(any) ]]; };
constexpr sampler _mtl_xl_shadow_sampler(compare_func::greater_equal, filter::linear, address::clamp_to_edge);
fragment Mtl_FragmentOut xlatMtlMain(constant Globals_Type& Globals [[ buffer(0) ]], sampler sampler_MainTex [[ sampler (0) ]], texture2d<half, access::sample > _MainTex [[ texture(0) ]] , depth2d<float, access::sample > _Shadow [[ texture(1) ]] , bool mtl_FrontFace [[ front_facing ]], Mtl_FragmentIn input [[ stage_in ]]) {
    Mtl_FragmentOut output; half4 u_xlat16_0; float3 u_xlat1; bool2 u_xlatb2; half u_xlat16_3; uint u_xlatu4;
    u_xlat16_0 = _MainTex.sample(sampler_MainTex, input.TEXCOORD0.xy);
    u_xlat1.xyz = fma(input.TEXCOORD0.www, Globals.hlslcc_mtx4x4unity_MatrixVP[3].xyz, float3(u_xlat16_0.xyz));
    u_xlatb2.xy = (float2(0.0, 1.0)<u_xlat1.xy);
    u_xlat16_3 = (u_xlatb2.x) ? half(1.0) : half(0.0);
    u_xlat16_3 = u_xlat16_3 * half(_Shadow.sample_compare(_mtl_xl_shadow_sampler, input.TEXCOORD0.xy, saturate(u_xlat1.z), level(0.0)));
    u_xlatu4 = (mtl_FrontFace ? 0xffffffffu : uint(0));
    u_xlat16_0.xyz = half3(u_xlat1.xyz) * half3(u_xlat16_3);
    output.SV_Target0 = half4(u_xlat16_0.xyz, half(as_type<float>(u_xlatu4 & as_type<uint>(1.0))));
    output.d = 0.5; return output;
}
// ==== Unreal: buffer textures, typed buffers, side tables
#include <metal_stdlib>
#include <metal_compute>
using namespace metal;
template<typename T> struct ue4_typed { T v; };
enum EMetalFormats : uint { Invalid = 0, R8Sint, R8Uint };
struct main0_out { float4 out_var_SV_Target0 [[color(0)]]; };
struct FBufferSizes { uint sz[32]; };
template <typename T> inline T _UELoad(device T* p, uint i, uint n) { return i < n ? p[i] : T(0); }
kernel void Main_00000f2a_cd1d5c2b(texture_buffer<float, access::read> InBuf [[texture(0)]], texture_buffer<uint, access::read_write> OutBuf [[texture(1)]], texture2d_array<half, access::read_write> Arr [[texture(2)]], device atomic_uint *Counter [[buffer(0)]], constant uint *BufferSizes [[buffer(1)]], uint3 gid [[thread_position_in_grid]], uint li [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint SharedCount; threadgroup uint SharedData[64];
  if (li == 0) atomic_store_explicit(&SharedCount, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device | mem_flags::mem_texture);
  uint old = atomic_fetch_max_explicit((threadgroup atomic_uint*)&SharedCount, gid.x, memory_order_relaxed);
  SharedData[li & 63] = old; float4 v = InBuf.read(gid.x);
  OutBuf.write(uint4(as_type<uint>(v.x)), gid.x); OutBuf.fence();
  uint expected = 3; bool ok = atomic_compare_exchange_weak_explicit(Counter, &expected, 5u, memory_order_relaxed, memory_order_relaxed);
  Arr.write(Arr.read(gid.xy, gid.z) + half4(ok), gid.xy, gid.z);
  OutBuf.atomic_fetch_add(gid.x, uint4(1));
}
// ==== C++17 features
#include <metal_stdlib>
using namespace metal;
namespace a::b { inline constexpr constant int kX = 4; }
template <auto N> struct Num { static constexpr constant int value = N; };
template <typename... Ts> constexpr int count(Ts... ts) { return (0 + ... + int(ts)); }
template <typename T> struct Wrap { T v; };
template <typename T> Wrap(T) -> Wrap<T>;
struct P { int x; float y; };
enum class Mode : ushort { a = 1, b = 2 };
constexpr Mode operator|(Mode l, Mode r) { return Mode(ushort(l) | ushort(r)); }
template <int I> constexpr int f() { if constexpr (I > 2) return 1; else return 2; }
kernel void k(device float *o, uint i [[thread_position_in_grid]]) {
  auto [x, y] = P{1, 2.0f};
  if (int n = count(1, 2, 3); n > 3) o[i] = n + x + y;
  switch (Mode m = Mode::a | Mode::b; m) { case Mode::a: o[i] = 0; break; default: o[i] += 1; [[fallthrough]]; case Mode::b: o[i] += 2; }
  Wrap w{3.0f}; int arr[] = {1, 2, 3}; for (auto v : arr) o[i] += v; for (thread int &v : arr) v *= 2;
  static_assert(f<3>() == 1); [[maybe_unused]] int unused = Num<3>::value + a::b::kX;
  auto l = [&](float z) { return z * w.v + arr[1]; }; o[i] += l(2);
  auto g = [](auto q) constexpr -> int { return int(q) + 1; }; o[i] += g(2.5f) + g(3);
  decltype(auto) r = (o[i]); r += 1;
}
// ==== bitfields, unions, alignas, nested types
#include <metal_stdlib>
using namespace metal;
struct alignas(16) Bits { uint a : 5; uint b : 11; int c : 16; };
union U { float f; uint u; uchar4 c; struct { ushort lo, hi; }; };
struct Outer { struct Inner { half3 h; alignas(8) uchar z; } in[2]; enum E { A, B = 7 } e; using T = Inner; static constexpr constant float K[2] = {1, 2}; };
static_assert(sizeof(Bits) == 16 && alignof(Outer::Inner) == 8, "l");
typedef float f4 __attribute__((ext_vector_type(4)));
kernel void k(device Bits *b, device U *u, device Outer *p, constant Outer::T &t [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  b[i].a = 3; b[i].c = -5; u[i].f = b[i].b; u[i].lo ^= 0x5555; u[i].c.w = 9; p[i].in[1] = t; p[i].e = Outer::B; p[i].in[0].h.x = half(Outer::K[i & 1]);
  f4 q = {1, 2, 3, 4}; u[i].f += q.z;
}
// ==== integer functions
#include <metal_stdlib>
using namespace metal;
template <typename T> void all_of(device T *o) { T a = o[0], b = o[1], c = o[2]; o[3] = addsat(a, b) + subsat(a, b) + hadd(a, b) + rhadd(a, b) + rotate(a, b) + popcount(a) + clz(a) + ctz(b) + reverse_bits(c) + extract_bits(a, 2, 3) + insert_bits(a, b, 1, 2) + max3(a, b, c) + min3(a, b, c) + median3(a, b, c) + clamp(a, b, c) + mulhi(a, b) + madhi(a, b, c) + madsat(a, b, c); }
kernel void k(device int *i, device uint4 *u, device short2 *s, device uchar *c, device long *l, device ulong2 *ul) { all_of(i); all_of(u); all_of(s); all_of(c); i[9] = mul24(i[0], i[1]) + mad24(i[0], i[1], i[2]) + int(abs(i[3])); l[0] = abs(l[1]) + max(l[2], l[3]) + popcount(l[4]) + clz(l[5]) + mulhi(l[1], l[2]); ul[0] = min(ul[1], ul[2]) + rotate(ul[0], ul[1]); }
// ==== float functions
#include <metal_stdlib>
using namespace metal;
template <typename T> T all_of(T a, T b, T c) { T q; T r = fract(a) + modf(b, q) + q + ldexp(a, 2) + sincos(a, q) + q + powr(a, b) + pow(a, b) + rint(a) + round(b) + trunc(c) + fmax3(a, b, c) + fmin3(a, b, c) + fmedian3(a, b, c) + fdim(a, b) + copysign(a, b) + step(a, b) + smoothstep(a, b, c) + mix(a, b, c) + sign(a) + saturate(b) + exp10(a) + log10(b) + exp2(a) + log2(b) + cospi(a) + sinpi(b) + tanpi(c) + asinh(a) + acosh(b) + atanh(c) + sinh(a) + cosh(b) + tanh(c) + atan2(a, b) + fmod(a, b) + rsqrt(a) + nextafter(a, b) + select(a, b, isnan(c)) + select(a, b, isinf(c)) + select(a, b, isfinite(c)) + select(a, b, isnormal(c)) + select(a, b, signbit(c)) + select(a, b, isordered(a, c)) + select(a, b, isunordered(a, c)) + ceil(a) + floor(b) + fabs(c) + fma(a, b, c) + sqrt(a) + clamp(a, b, c); return r; }
kernel void k(device float4 *f, device half2 *h, device float *s) { f[0] = all_of(f[0], f[1], f[2]); h[0] = all_of(h[0], h[1], h[2]); int4 e; int2 e2; int e1; f[1] = frexp(f[0], e); h[1] = frexp(h[0], e2); s[0] = frexp(s[1], e1) + e.x + e2.y + e1 + ilogb(s[0]) + all_of(s[0], s[1], s[2]); }
// ==== geometry, matrices
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *o, device half3 *h, constant float3x3 &m, constant half4x2 &n, constant matrix<float, 2, 4> &q) {
  float3 a = o[0].xyz, b = o[1].zyx; o[2] = float4(cross(a, b), dot(a, b)) + distance(a, b) + distance_squared(a, b) + length_squared(a) + float4(faceforward(a, b, a), 0) + float4(reflect(a, b), 0) + float4(refract(a, b, 0.5f), 0) + float4(normalize(a), length(b));
  float3x3 t = transpose(m) * m; o[3] = float4(t[0] * m + m * a, determinant(t)); half2 v = n * half4(1); half4 w = half2(1) * n; h[0] = half3(v, w.x); float4 z = q * float2(1, 2); float2 y = z * q; o[4] = z + y.xyxy; float2x4 s = q * 2.0 + q - q; s += q; s *= 0.5f; s[1].yz = 3; o[5] = s[1]; float4x4 id = float4x4(1.0); id[3] = float4(a, 1); o[6] = (id * id)[2]; bool same = all(id[0] == id[1]); o[7] = same; float2x2 e(1, 2, 3, 4); float2x2 f2(float2(1, 2), float2(3, 4)); o[8] = float4(e * f2[0], determinant(e), 1); float4x4 big(float4(1), float4(2), float4(3), float4(4)); o[9] = big * float4(a, 1) - -big[0]; half3x3 hm = half3x3(m); h[1] = hm[0];
}
// ==== pack/unpack, as_type
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint *u, device float4 *f, device half4 *h, device ulong *l) { f[0] = unpack_unorm4x8_to_float(u[0]) + unpack_snorm4x8_to_float(u[1]) + unpack_unorm4x8_srgb_to_float(u[2]) + unpack_unorm10a2_to_float(u[3]) + float4(unpack_unorm2x16_to_float(u[4]), unpack_snorm2x16_to_float(u[5])) + float4(unpack_unorm565_to_float(ushort(u[6])), 1); u[7] = pack_float_to_unorm4x8(f[1]) + pack_float_to_snorm4x8(f[2]) + pack_float_to_srgb_unorm4x8(f[3]) + pack_float_to_unorm2x16(f[1].xy) + pack_float_to_snorm2x16(f[1].zw) + pack_float_to_unorm10a2(f[2]) + pack_float_to_unorm565(f[2].xyz); h[0] = unpack_unorm4x8_to_half(u[0]) + half4(unpack_snorm2x16_to_half(u[1]), unpack_unorm2x16_to_half(u[2])); u[8] = pack_half_to_unorm4x8(h[1]) + pack_half_to_unorm2x16(h[1].xy) + as_type<uint>(h[1].xy) + as_type<uint>(uchar4(1, 2, 3, 4)); l[0] = as_type<ulong>(h[0]) + as_type<ulong>(float2(1)) + as_type<ulong>(ushort4(1)); f[4] = as_type<float4>(uint4(u[0])) + as_type<float>(as_type<int>(1.0f)); }
// ==== atomics
#include <metal_stdlib>
using namespace metal;
kernel void k(device atomic_int *a, device atomic<float> *f, device atomic_ulong *u, device atomic_bool *b, threadgroup atomic_uint *t [[threadgroup(0)]], device atomic<uint> *w, volatile device atomic_int *v) { int old = atomic_exchange_explicit(a, 3, memory_order_relaxed); atomic_fetch_add_explicit(f, 1.5f, memory_order_relaxed); atomic_fetch_sub_explicit(f, 0.5f, memory_order_relaxed); atomic_max_explicit(u, 5ul, memory_order_relaxed); atomic_min_explicit(u, 5ul, memory_order_relaxed); atomic_store_explicit(b, true, memory_order_relaxed); bool e = false; atomic_compare_exchange_weak_explicit(b, &e, true, memory_order_relaxed, memory_order_relaxed); atomic_fetch_and_explicit(t, 3u, memory_order_relaxed); atomic_fetch_or_explicit(t, uint(old), memory_order_relaxed); atomic_fetch_xor_explicit(w, 3u, memory_order_relaxed); atomic_fetch_min_explicit(a, 3, memory_order_relaxed); atomic_fetch_sub_explicit(v, 1, memory_order_relaxed); float ef = 1; atomic_compare_exchange_weak_explicit(f, &ef, 2.0f, memory_order_relaxed, memory_order_relaxed); atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device); atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_acquire); threadgroup_barrier(mem_flags::mem_device, thread_scope_device); simdgroup_barrier(mem_flags::mem_none); }
// ==== texture atomics, sparse, min_lod_clamp, lod query
#include <metal_stdlib>
using namespace metal;
struct V { float4 p [[position]]; float2 uv; };
fragment float4 f(V in [[stage_in]], texture2d<float> t [[texture(0)]], texture2d<uint, access::read_write> u [[texture(1)]], texture2d<ulong, access::read_write> ul [[texture(2)]], sampler s [[sampler(0)]], texture2d_array<float> ta [[texture(3)]], texture3d<int, access::read_write> t3 [[texture(4)]], texturecube<float> tc [[texture(5)]]) {
  sparse_color<float4> c = t.sparse_sample(s, in.uv); float4 r = c.resident() ? c.value() : float4(0); r += t.sample(s, in.uv, bias(1), min_lod_clamp(2)); r += t.sample(s, in.uv, min_lod_clamp(1.5f)); r += t.sample(s, in.uv, gradient2d(1, 2), min_lod_clamp(1), int2(1)); r.x += t.calculate_unclamped_lod(s, in.uv) + t.calculate_clamped_lod(s, in.uv) + tc.calculate_clamped_lod(s, float3(1)); 
  uint4 o = u.atomic_load(uint2(0)); u.atomic_store(o, uint2(1)); o += u.atomic_fetch_max(uint2(0), uint4(3)); o += u.atomic_exchange(uint2(0), uint4(3)); uint4 ex = 3; bool b = u.atomic_compare_exchange_weak(uint2(0), &ex, uint4(4)); ul.atomic_max(uint2(0), ulong4(9)); t3.atomic_fetch_add(uint3(0), int4(1)); r += float4(o) + b + ta.sample(s, in.uv, 1, level(1), int2(0)) + ta.gather(s, in.uv, 2, int2(1), component::w); return r; }
// ==== simd functions 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *o, device uint *u, uint i [[thread_position_in_grid]], uint2 g [[threadgroup_position_in_grid]], ushort q [[quadgroup_index_in_threadgroup]]) { float4 v = o[i]; o[i] = simd_shuffle_and_fill_up(v, v * 2, 3) + simd_shuffle_and_fill_down(v, v, ushort(2), ushort(8)) + simd_shuffle_rotate_up(v, 1) + simd_shuffle_rotate_down(v, 2) + simd_shuffle_up(v, 1) + simd_shuffle_xor(v, 4) + quad_shuffle(v, 1) + quad_shuffle_rotate_up(v, 1) + quad_broadcast(v, 2) + quad_shuffle_and_fill_down(v, v, 1) + simd_max(v) + simd_min(v) + quad_product(v); u[i] = simd_and(i) | simd_or(i) ^ simd_xor(i) + uint(simd_is_first()) + uint(simd_all(i > 3)) + uint(simd_vote::vote_t(simd_active_threads_mask())) + uint(quad_all(true)) + uint(quad_vote::vote_t(quad_ballot(i & 1))) + simd_prefix_inclusive_sum(i) + quad_and(i) + q; half h = simd_sum(half(i)); bfloat bf = bfloat(h); u[i] += uint(bf) + uint(simd_broadcast_first(short(i))) + uint(simd_shuffle(uchar3(i), ushort(3)).y); }
// ==== function pointers, tables
#include <metal_stdlib>
using namespace metal;
[[visible]] float twice(float x) { return x * 2; }
[[visible]] float thrice(float x) { return x * 3; }
[[stitchable]] float4 mixer(float4 a, float4 b) { return a + b; }
using Fn = float(float);
struct Tables { visible_function_table<Fn> t [[id(0)]]; array<visible_function_table<float(float, device float *)>, 2> more [[id(1)]]; };
kernel void k(visible_function_table<float(float)> t [[buffer(0)]], device float *o [[buffer(1)]], constant Tables &ts [[buffer(2)]], uint i [[thread_position_in_grid]]) { float(*f)(float) = t[i & 1]; o[i] = f ? f(o[i]) : 0; o[i] += ts.t[0](1) + ts.more[1][i](2, o); auto g = ts.t[1]; if (g != nullptr) o[i] += g(3); if (i < t.size()) o[i] += twice(1); }
// ==== ray tracing in a kernel
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;
struct Payload { float3 c; };
struct Res { float d [[distance]]; bool a [[accept_intersection]]; bool g [[continue_search]]; };
[[intersection(bounding_box, triangle_data, instancing, world_space_data)]] Res sphere(float3 o [[origin]], float3 d [[direction]], float m [[min_distance]], ray_data Payload &p [[payload]], uint id [[primitive_id]], const device float4 *s [[buffer(0)]]) { p.c += 1; return {length(o - s[id].xyz), true, false}; }
kernel void k(instance_acceleration_structure as [[buffer(0)]], intersection_function_table<triangle_data, instancing, world_space_data> ft [[buffer(1)]], device float4 *o [[buffer(2)]], primitive_acceleration_structure pas [[buffer(3)]], uint2 i [[thread_position_in_grid]]) {
  intersector<triangle_data, instancing, world_space_data> in; in.assume_geometry_type(geometry_type::triangle | geometry_type::bounding_box); in.force_opacity(forced_opacity::non_opaque); in.accept_any_intersection(false); in.set_triangle_cull_mode(triangle_cull_mode::back); Payload p{}; ray r(float3(0), float3(0, 0, 1), 0.001f, INFINITY); auto hit = in.intersect(r, as, 0xff, ft, p); typename intersector<triangle_data, instancing, world_space_data>::result_type h2 = in.intersect(r, as); if (hit.type == intersection_type::triangle) o[i.x] = float4(hit.triangle_barycentric_coord, hit.distance, hit.primitive_id) + hit.instance_id + hit.triangle_front_facing + float4(hit.world_to_object_transform * float4(p.c, 1), 0) + h2.distance;
  intersection_query<triangle_data> q(r, pas, intersection_params()); while (q.next()) { if (q.get_candidate_intersection_type() == intersection_type::triangle) q.commit_triangle_intersection(); else q.commit_bounding_box_intersection(1.0f); } if (q.get_committed_intersection_type() == intersection_type::triangle) o[1] = q.get_committed_distance() + q.get_committed_triangle_barycentric_coord().x; }
// ==== mesh as a generator writes it
#include <metal_stdlib>
using namespace metal;
struct gl_MeshPerVertexEXT { float4 gl_Position [[position]]; float2 uv [[user(locn0)]]; };
struct gl_MeshPerPrimitiveEXT { uint gl_PrimitiveID [[primitive_id]]; float3 c [[user(locn1), flat]]; bool cull [[primitive_culled]]; uint layer [[render_target_array_index]]; };
using spvMesh_t = mesh<gl_MeshPerVertexEXT, gl_MeshPerPrimitiveEXT, 24, 22, topology::triangle>;
struct TaskPayload { float a; uint b[4]; };
void _4(thread uint3& id, threadgroup gl_MeshPerVertexEXT *verts, threadgroup uint2& n) { if (id.x == 0) n = uint2(24, 22); threadgroup_barrier(mem_flags::mem_threadgroup); }
static inline void helper(spvMesh_t m, uint n) { m.set_primitive_count(n); }
[[mesh]] void main0(spvMesh_t spvMesh, const object_data TaskPayload& payload [[payload]], uint3 lid [[thread_position_in_threadgroup]], uint li [[thread_index_in_threadgroup]]) { threadgroup gl_MeshPerVertexEXT verts[24]; threadgroup gl_MeshPerPrimitiveEXT prims[22]; threadgroup uint3 idx[22]; threadgroup uint2 sizes; if (li == 0) sizes = uint2(24, 22); threadgroup_barrier(mem_flags::mem_threadgroup); verts[li % 24].gl_Position = float4(payload.a); prims[li % 22].c = float3(payload.b[1]); idx[li % 22] = uint3(0, 1, 2); threadgroup_barrier(mem_flags::mem_threadgroup); if (sizes.y == 0) return; helper(spvMesh, sizes.y); if (li < sizes.x) { spvMesh.set_vertex(li, verts[li]); } if (li < sizes.y) { spvMesh.set_primitive(li, prims[li]); spvMesh.set_index(li * 3, idx[li].x); spvMesh.set_indices(0, uchar4(0, 1, 2, 3)); } }
[[object, max_total_threadgroups_per_mesh_grid(8), max_total_threads_per_threadgroup(32)]] void task(mesh_grid_properties spvMgp, object_data TaskPayload *payload [[payload]], uint3 gid [[threadgroup_position_in_grid]]) { payload->a = 1; payload->b[gid.x & 3] = 4; spvMgp.set_threadgroups_per_grid(uint3(1, 2, 3)); }
// ==== tessellation
#include <metal_stdlib>
using namespace metal;
struct CP { float3 p [[attribute(0)]]; float2 uv [[attribute(1)]]; };
struct Patch { float4 c [[attribute(10)]]; patch_control_point<CP> cp; };
struct VO { float4 p [[position]]; float4 c; float clip [[clip_distance]] [2]; float ps [[point_size]]; };
[[patch(quad, 16)]] [[vertex]] VO v(Patch in [[stage_in]], float2 at [[position_in_patch]], uint id [[patch_id]], ushort inst [[instance_id]]) { VO o; o.p = float4(mix(in.cp[0].p, in.cp[15].p, at.x), 1); o.c = in.c + float(in.cp.size()) + id + inst; o.clip[0] = 1; o.clip[1] = at.y; o.ps = 1; return o; }
kernel void factors(device MTLQuadTessellationFactorsHalf *f [[buffer(0)]], device MTLTriangleTessellationFactorsHalf *t [[buffer(1)]], uint i [[thread_position_in_grid]]) { for (int k = 0; k < 4; k++) f[i].edgeTessellationFactor[k] = 3.0h; f[i].insideTessellationFactor[0] = f[i].insideTessellationFactor[1] = half(2); t[i].insideTessellationFactor = 2; t[i].edgeTessellationFactor[2] = 1; }
// ==== fragment extras
#include <metal_stdlib>
using namespace metal;
struct In { float4 p [[position, invariant]]; float3 n [[centroid_no_perspective]]; uint id [[flat]]; half4 c [[sample_perspective]]; };
struct Out { half4 a [[color(0), index(0)]]; half4 b [[color(0), index(1)]]; float d [[depth(less)]]; uint st [[stencil]]; uint m [[sample_mask]]; };
[[early_fragment_tests]] fragment void only(In in [[stage_in]], device atomic_uint *n [[buffer(0), raster_order_group(1)]]) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }
fragment Out f(In in [[stage_in]], bool ff [[front_facing]], float3 bc [[barycentric_coord, center_no_perspective]], uint pid [[primitive_id]], uint sid [[sample_id]], uint sm [[sample_mask, post_depth_coverage]], float2 pc [[point_coord]], ushort view [[amplification_id]], uint layer [[render_target_array_index]]) { if (dfdx(in.n.x) + fwidth(in.n.y) > 1 && !simd_is_helper_thread()) discard_fragment(); float2 o = get_sample_position(sid); Out r; r.a = half4(half3(bc), o.x) + in.c; r.b = 0; r.d = in.p.z; r.st = pid; r.m = sm & 3 | get_num_samples(); r.a.x += ff + pc.x + view + layer; return r; }
// ==== indirect command buffers from the GPU
#include <metal_stdlib>
#include <metal_command_buffer>
using namespace metal;
struct ICB { command_buffer cb [[id(0)]]; render_pipeline_state ps [[id(1)]]; compute_pipeline_state cs [[id(2)]]; depth_stencil_state ds [[id(3)]]; };
kernel void k(device ICB &c [[buffer(0)]], device float4 *v [[buffer(1)]], device ushort *idx [[buffer(2)]], uint i [[thread_position_in_grid]]) { render_command r(c.cb, i); r.reset(); r.set_render_pipeline_state(c.ps); r.set_vertex_buffer(v, 0); r.set_fragment_buffer(v + 4, 1); r.draw_primitives(primitive_type::triangle_strip, 0, 4, 1, i); r.draw_indexed_primitives(primitive_type::triangle, 3u, idx, 1u, 0u, 0u); compute_command q(c.cb, i); q.set_compute_pipeline_state(c.cs); q.set_kernel_buffer(v, 0); q.set_threadgroup_memory_length(64, 0); q.concurrent_dispatch_threadgroups(uint3(1), uint3(32, 1, 1)); q.set_barrier(); q.clear_barrier(); }
// ==== logging
#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
constant os_log custom("subsystem", "category");
kernel void k(device float *o, uint3 i [[thread_position_in_grid]]) { os_log_default.log("v %f %d %u %s", o[0], -3, i.x, "x"); custom.log_error("bad %v3u %hx", i, ushort(3)); custom.log_with_type(log_type_debug, "t %ld", 3l); }
// ==== tint: uniform padded, tint_array, module vars struct, packed vec3
#include <metal_stdlib>
using namespace metal;
template<typename T, size_t N> struct tint_array { const constant T& operator[](size_t i) const constant { return elements[i]; } device T& operator[](size_t i) device { return elements[i]; } const device T& operator[](size_t i) const device { return elements[i]; } thread T& operator[](size_t i) thread { return elements[i]; } const thread T& operator[](size_t i) const thread { return elements[i]; } threadgroup T& operator[](size_t i) threadgroup { return elements[i]; } const threadgroup T& operator[](size_t i) const threadgroup { return elements[i]; } T elements[N]; };
#define TINT_ISOLATE_UB(VOLATILE_NAME) {volatile bool VOLATILE_NAME = false; if (VOLATILE_NAME) break;}
struct tint_packed_vec3_f32_array_element { packed_float3 packed; };
struct S { packed_float3 v; tint_array<int8_t, 4> tint_pad; tint_array<tint_packed_vec3_f32_array_element, 3> m; };
struct tint_module_vars_struct { threadgroup tint_array<uint, 16>* w; device S* s; const constant tint_array<uint4, 1>* tint_storage_buffer_sizes; thread int* p; };
struct tint_symbol { tint_array<uint, 16> w; };
float3x3 tint_load_array_packed_vec3(device tint_array<tint_packed_vec3_f32_array_element, 3>* const from) { return float3x3(float3((*from)[0u].packed), float3((*from)[1u].packed), float3((*from)[2u].packed)); }
int tint_div_i32(int lhs, int rhs) { return (lhs / select(rhs, 1, ((rhs == 0) | ((lhs == (-2147483647 - 1)) & (rhs == -1))))); }
int tint_f32_to_i32(float value) { return select(2147483647, select((-2147483647 - 1), int(value), (value >= -2147483648.0f)), (value <= 2147483520.0f)); }
void foo(tint_module_vars_struct tint_module_vars) { { uint i = 0u; while(true) { TINT_ISOLATE_UB(tint_volatile_false) if ((i < 4u)) { } else { break; } (*tint_module_vars.w)[i] = tint_div_i32(as_type<int>(i), 2); { i = (i + 1u); } continue; } } (*tint_module_vars.s).v = packed_float3(tint_load_array_packed_vec3((&(*tint_module_vars.s).m))[1]); (*tint_module_vars.p) = tint_f32_to_i32(3.0f); }
[[max_total_threads_per_threadgroup(16)]]
kernel void tint_entry(uint tid [[thread_index_in_threadgroup]], device S* s [[buffer(0)]], threadgroup tint_symbol* v_1 [[threadgroup(0)]], const constant tint_array<uint4, 1>* tint_storage_buffer_sizes [[buffer(30)]]) { thread int p = 0; tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.w=(&(*v_1).w), .s=s, .tint_storage_buffer_sizes=tint_storage_buffer_sizes, .p=(&p)}; if ((tid < 16u)) { (*tint_module_vars.w)[tid] = 0u; } threadgroup_barrier(mem_flags::mem_threadgroup); foo(tint_module_vars); }
// ==== odd attribute places
#include <metal_stdlib>
using namespace metal;
struct [[gnu::packed]] A { char c; float f; };
struct V { [[position]] float4 p; float2 uv [[user(uv)]]; };
[[vertex]] V v([[vertex_id]] uint i, [[buffer(0)]] const device packed_float3 *p, [[buffer(1)]] constant float4x4 &m) { V o; o.p = m * float4(float3(p[i]), 1.0); o.uv = 0; return o; }
fragment [[early_fragment_tests]] half4 f(V in [[stage_in]]) { return half4(in.uv.xyxy); }
[[kernel, max_total_threads_per_threadgroup(64)]] void k([[buffer(0)]] device A *a, [[thread_position_in_grid]] uint i) { a[i].f = a[i].c; }
[[host_name("renamed")]] kernel void k2(device float *o) { o[0] = 1; }
kernel __attribute__((always_inline)) void k3(device float *o [[ buffer ( 0 ) ]] ) { o[0] = 1; }
// ==== spaces of pointers to pointers
#include <metal_stdlib>
using namespace metal;
struct Node { device Node *next; float v; };
struct Buf { device float *p[4]; constant float *c; device const float *const device *pp; };
static float sum(device const Node *n) { float s = 0; for (int i = 0; i < 8 && n; i++) { s += n->v; n = n->next; } return s; }
template <typename P> float first(P p) { return p[0]; }
static void set(thread float *thread *a, thread float *b) { *a = b; }
static void swap_all(thread float (&a)[4], threadgroup float (*t)[4]) { for (ushort i = 0; i < 4; i++) { float x = a[i]; a[i] = (*t)[i]; (*t)[i] = x; } }
kernel void k(constant Buf &b [[buffer(0)]], device Buf *d [[buffer(1)]], device Node *n [[buffer(2)]], device float *o [[buffer(3)]], uint i [[thread_position_in_grid]]) { threadgroup float tg[2][4]; float l[4] = {1, 2, 3, 4}; tg[0][i & 3] = i; threadgroup_barrier(mem_flags::mem_threadgroup); swap_all(l, &tg[0]); thread float *q = nullptr; set(&q, l + 1); d[1].p[2] = o + 3; device float *device *pp = &d[0].p[1]; *pp = o; ulong addr = ulong(o); device float *back = reinterpret_cast<device float *>(addr); const device uchar *bytes = (const device uchar *)n; o[i] = sum(n) + first(b.p[1]) + first(l) + first(tg[1]) + *q + b.c[0] + b.pp[0][1] + back[2] + bytes[3] + (o + 3 - o) + (back == o); }
// ==== classes: inheritance, statics, operators, CRTP
#include <metal_stdlib>
using namespace metal;
template <typename D> struct Base { METAL_FUNC float go() const thread { return static_cast<const thread D *>(this)->impl() * 2; } };
struct Derived : Base<Derived> { float x; Derived(float v) : x(v) {} float impl() const { return x; } static float make(int n) { return n; } thread Derived &operator+=(thread const Derived &o) { x += o.x; return *this; } explicit operator bool() const { return x > 0; } friend Derived operator-(Derived a, Derived b) { return Derived(a.x - b.x); } float operator()(float a, float b = 3) const { return a * b; } };
struct Functor { template <typename T> T operator()(T a, T b) const { return a > b ? a : b; } static constexpr constant float init = -1; };
template <template <typename> class C, typename T> float use(C<T> c) { return c.v; }
template <typename T> struct Box { T v = T(3); private: T w = T(4); public: METAL_FUNC T get() const thread { return w; } METAL_FUNC T get() const device { return w; } };
template <> struct Box<half> { float v; };
template <typename Op, typename T, int N> T reduce(thread T (&a)[N], Op op) { T r = T(Op::init); for (int i = 0; i < N; i++) r = op(r, a[i]); return r; }
kernel void k(device float *o, device Box<float> *b, uint i [[thread_position_in_grid]]) { Derived d(i), e{2}; d += e; if (d) o[i] = (d - e).go() + Derived::make(3) + d(2); float a[3] = {1, 5, 2}; o[i] += reduce(a, Functor()) + use(Box<float>()) + Box<int>().get() + b[i].get(); struct Local { float q; float twice() { return q * 2; } } l = {3}; o[i] += l.twice(); }
// ==== vectors
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *o, device packed_float3 *p, device packed_half4 *ph, device uchar4 *c, device bool4 *bb, uint i [[thread_position_in_grid]]) { float4 v(1, float2(2, 3), 4); v.xyz = v.zyx; v.rg += 1; v[i & 3] = 9; float3 q = p[i]; p[i] = q * 2; p[i].x = 3; p[i][1] += 2; ph[i] = packed_half4(half4(v)); c[i] = uchar4(v) + uchar4(ph[i].xyzw); bb[i] = v > 2.0f && !(v < 1); bool any_ = any(bb[i]) || all(v == v); int4 s = int4(v) << int4(1) & ~3; s = -s % 5; s ^= int4(bb[i]); o[i] = select(v, float4(s), bb[i]) + (any_ ? v : v.wzyx) + float4(q, 1) + float4(c[i]) / 255.0 + v++ - --v; o[i] *= float4(1, 2, 3, 4).wwxx; float2 z = {1, 2}; z = z.yx * 2 + 1 - z; o[i].xy = z; uint2 u = as_type<uint2>(z) >> 3u; o[i].zw = float2(u | uint2(1, 2)); half h = 1.5h; o[i] *= h; float4 e = float4{}; vec<float, 2> g = vec<float, 2>(3); o[i] += e + g.x; float3 w = float3(p[i].yz, 1); w = pow(w, float3(2)); o[i].x += w.x; ushort3 us = ushort3(i) * ushort(2); o[i].y += us.z; long2 ll = long2(u) * 3l; o[i].z += ll.x; int3 neg = -int3(us); o[i] += abs(neg).x; }
// ==== samplers and constexpr 2
#include <metal_stdlib>
using namespace metal;
constexpr sampler s1(coord::pixel, address::clamp_to_border, border_color::opaque_white, filter::nearest);
constexpr sampler s2(filter::linear, mip_filter::linear, max_anisotropy(8), lod_clamp(0.5f, 3.0f), s_address::repeat, t_address::mirrored_repeat, r_address::clamp_to_zero);
constexpr sampler s3(mag_filter::nearest, min_filter::linear, compare_func::less);
struct T { texture2d<float> t; sampler s; float4 operator()(float2 uv) const { return t.sample(s, uv); } };
float4 look(texture2d<float> t, sampler s = sampler(filter::linear), float2 uv = 0) { return t.sample(s, uv); }
kernel void k(texture2d<float> t [[texture(0)]], depth2d<float> d [[texture(1)]], device float4 *o, sampler s [[sampler(0)]], array<texture2d<float>, 3> a [[texture(2)]]) { constexpr sampler in(filter::linear); const sampler in2 = sampler(address::repeat); T q{t, s}; T z = {a[1], in}; o[0] = q(1) + z(0.5) + t.sample(s1, float2(3)) + t.sample(s2, float2(1), level(1)) + d.sample_compare(s3, float2(0), 0.5f) + t.sample(in2, 0) + look(t) + look(t, s, 1) + a.size() + t.sample(sampler(filter::nearest), float2(0)); for (uint i = 0; i < a.size(); i++) o[1] += a[i].read(uint2(i)); if (!is_null_texture(t)) o[2] = 1; }
// ==== preprocessor, versions, features
#include <metal_stdlib>
#if __METAL_VERSION__ < 230
#error old
#endif
#if defined(__METAL__) && defined(__METAL_MACOS__) && !defined(__METAL_IOS__)
#define MAC 1
#endif
#ifdef __HAVE_BFLOAT__
#define B bfloat
#else
#define B float
#endif
#if __has_include(<metal_raytracing>) && __has_attribute(always_inline) && __has_feature(cxx_constexpr) && __has_builtin(__builtin_expect)
#define OK 1
#endif
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define STR(x) #x
#define VA(f, ...) f(__VA_ARGS__)
using namespace metal;
kernel void CAT(k, __LINE__)(device B *o, uint i [[thread_position_in_grid]]) { o[i] = B(VA(max, 1.0f, float(MAC + OK))); 
#pragma clang loop unroll(disable)
for (int j = 0; j < 4; j++) o[i] += B(j);
#pragma unroll 4
for (int j = 0; j < 4; j++) o[i] += B(j);
_Pragma("clang loop vectorize(disable)") for (int j = 0; j < 4; j++) o[i] += B(1);
if (__builtin_expect(i == 3, 0)) o[i] = B(0); [[likely]] if (i > 3) o[i] += B(1); __builtin_assume(i < 1000); }
// ==== constants
#include <metal_stdlib>
using namespace metal;
constant float PI2 = M_PI_F * 2; constant float table[] = {1, 2, 3}; constant float2 dirs[2][2] = {{{1, 0}, {0, 1}}, {float2(1), 2}}; constant struct { int a; float b[2]; } cfg = {3, {1, 2}}; constexpr constant uint N = sizeof(table) / sizeof(table[0]); constant half4 kh = half4(1.0h, 2.0h, HALF_MAX, MAXHALF); static constant int3 ki = int3(INT_MAX, SHRT_MIN, UCHAR_MAX); constant bool flag [[function_constant(0)]]; constant int which [[function_constant(1)]]; constant int derived = flag ? which * 2 : 7; constant bool has = is_function_constant_defined(which); constant uint2 grid [[function_constant(3)]]; constexpr int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } constant int f5 = fact(5);
kernel void k(device float *o, device float *extra [[buffer(5), function_constant(flag)]], uint i [[thread_position_in_grid]]) { o[i] = PI2 + table[i % N] + dirs[1][i & 1].y + cfg.b[1] + kh.y + ki.z + derived + f5 + FLT_EPSILON + INFINITY + NAN + numeric_limits<half>::max() + numeric_limits<int>::digits + M_SQRT1_2_H + grid.x + 0x1p-3f + 1e-3 + 0b101 + 1'000 + 017 + 'a'; if (has) o[i] += which; if (flag) o[i] += extra[i]; }
// ==== tensors
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp;
using namespace mpp::tensor_ops;
kernel void gemm(tensor<device half, dextents<int32_t, 2>> A [[buffer(0)]], tensor<device half, dextents<int32_t, 2>> B [[buffer(1)]], tensor<device float, dextents<int32_t, 2>> C [[buffer(2)]], uint2 tg [[threadgroup_position_in_grid]]) { constexpr auto desc = matmul2d_descriptor(64, 32, static_cast<int>(dynamic_extent), false, false, false); matmul2d<desc, execution_simdgroups<4>> op; auto mA = A.slice(0, tg.y * 64); auto mB = B.slice(tg.x * 32, 0); auto mC = C.slice(tg.x * 32, tg.y * 64); op.run(mA, mB, mC); }
kernel void inl(device float *p [[buffer(0)]], uint i [[thread_position_in_grid]]) { auto t = tensor(p, extents<int, 4, 8>()); p[40] = t[1, 2] + t.get_extent(0); auto ct = tensor<device float, dextents<int, 2>, tensor_inline>(p, dextents<int, 2>(4, 8)); ct[0, i % 8] = 3; }
// ==== hexadecimal floats, swizzled stores, goto-less state machines
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint *o, uint i [[thread_position_in_grid]]) { uint state = 0, n = 0; do { switch (state) { case 0u: { n += i; state = i & 1 ? 1u : 2u; break; } case 1u: { if (n > 5) { state = 3u; continue; } n *= 2; state = 2u; break; } case 2u: n += 3; state = 3u; break; default: state = 4u; } } while (state != 4u); bool done = false; for (;;) { if (done) break; for (uint j = 0; ; ++j) { if (j == 3) { done = true; break; } if (j == 1) continue; n += j; } } o[i] = n; int q = 3; while (q --> 0) n ^= q; o[i] += n, o[i] -= 1; o[i] = i ? o[i] : (n, 4u); }
// ==== interpolant and linked structs
#include <metal_stdlib>
using namespace metal;
struct VO { float4 pos [[position]]; float4 c [[user(locn0)]]; int2 k [[user(locn1)]]; };
struct FI { interpolant<float4, interpolation::perspective> c [[user(locn0)]]; int2 k [[user(locn1)]]; };
struct Inner { float3 n; float2 uv; }; struct Nest { float4 p [[position]]; Inner in; };
vertex Nest v(uint i [[vertex_id]], uint b [[base_vertex]], uint bi [[base_instance]], constant float4 *p [[buffer(0)]]) { return {p[i + b + bi], {p[0].xyz, p[1].xy}}; }
vertex VO v2() { return {}; }
fragment float4 f(FI in [[stage_in]], uint s [[sample_id]]) { return in.c.interpolate_at_centroid() + in.c.interpolate_at_offset(float2(0.5)) + in.c.interpolate_at_sample(s) + in.k.x; }
fragment float4 f2(Nest in [[stage_in]], float4 dst [[color(0)]]) { return float4(in.in.n, 1) + dst; }
// ==== bindings with coherence
#include <metal_stdlib>
using namespace metal;
constant texture2d<float, access::sample, memory_coherence_device> gtex [[ texture(2)]];
constant texture2d<int, access::write, memory_coherence::memory_coherence_device> gtex2 [[ texture(8)]];
coherent(device) device int *constant dptr [[buffer(1)]];
coherent device int *constant dptr2 [[buffer(2)]];
volatile device uint *constant dptr3 [[buffer(3)]];
kernel void k() { gtex2.write(int4(gtex.read(uint2(0))), uint2(1)); dptr[0] = dptr2[1] + int(dptr3[3]); }
// ==== function constants as places
#include <metal_stdlib>
using namespace metal;
struct P { float4 a; };
constant int indexA [[function_constant(0)]];
constant int indexB = indexA + 2;
constant int indexC [[function_constant(1)]];
constant int indexD [[function_constant(2)]];
kernel void my_kernel(constant P& params [[buffer(indexA)]], device float4 * p [[buffer(indexB)]], texture2d<float> texA [[texture(indexC)]], sampler s [[sampler(indexD)]]) { p[0] = params.a + texA.sample(s, float2(0)); }
// ==== function constants as colours
#include <metal_stdlib>
using namespace metal;
constant int colorAttachment0 [[function_constant(0)]];
constant int colorAttachment1 [[function_constant(1)]];
constant int group0 [[function_constant(2)]];
struct FragmentOutput { float4 color0 [[color(colorAttachment0)]]; float4 color1 [[color(colorAttachment1)]]; };
fragment FragmentOutput my_fragment(texture2d<float> texA [[texture(0), raster_order_group(group0)]]) { return {texA.read(uint2(0)), 1}; }
// ==== function groups
#include <metal_stdlib>
using namespace metal;
float h(visible_function_table<float(float)> table, float (*fnptr[3])(float)) { [[function_groups("group1")]] float x = table[0](1.0f); x += fnptr[0](2.0f); [[function_groups("group2", "group3")]] return x + fnptr[1](3.0f); }
kernel void k(visible_function_table<float(float)> t [[buffer(0)]], device float *o [[buffer(1)]]) { float (*f[3])(float) = {t[0], t[1], t[2]}; o[0] = h(t, f); [[function_groups("g")]] o[1] = t[3](2); }
// ==== uniform types
#include <metal_stdlib>
using namespace metal;
uniform<int> pick(uniform<int> a) { return a; }
int bar(uniform<int> a, int b) { return a * b; }
kernel void k(array<texture2d<float>, 4> t [[texture(0)]], device float4 *o, device uniform<int> *ptr, constant int &n) { uniform<int> i = make_uniform(n); uniform<float> list[10]; list[0] = make_uniform(1.0f); int z = i * 3; o[0] = t[i].read(uint2(z)) + float(list[0]) + bar(pick(i), z) + int(ptr[1]); if (i < 3) o[1] = 1; }
// ==== spec 2.7 pixel types in buffers
#include <metal_stdlib>
using namespace metal;
kernel void k(device rgba8unorm<half4> *p, device rg11b10f<half3> *q, device float4 *o, constant r16snorm<float> &r, device rgb9e5<float3> *e) { p[0] = half4(o[0]); half4 v = p[1]; q[0] = half3(v.xyz); o[1] = float4(half4(p[2])) + float(r); e[0] = o[0].xyz; p[3] = p[4]; o[2] = float4(float3(e[1]), 1); }
// ==== half-known things: nested arrays of textures in arg buffers
#include <metal_stdlib>
using namespace metal;
struct Mat { texture2d<half> base [[id(0)]]; texture2d<half> normal [[id(1)]]; constant float4 *params [[id(2)]]; sampler s [[id(3)]]; };
struct Scene { array<Mat, 16> mats [[id(0)]]; device Mat *more [[id(64)]]; array<array<texture2d<float>, 2>, 3> grid [[id(70)]]; };
struct Plain { texture2d<float> t; sampler s; device float4 *b; uint n; float4x4 m; };
fragment half4 f(constant Scene &s [[buffer(0)]], const device Plain *p [[buffer(1)]], float4 at [[position]]) { uint i = uint(at.x); device Mat &m = s.more[i]; return s.mats[i & 15].base.sample(s.mats[0].s, at.xy) + m.normal.sample(m.s, at.yx) * half(m.params[2].x) + half4(s.grid[1][i & 1].read(uint2(0))) + half4(p[i].t.sample(p[i].s, at.xy) * p[i].m); }
// ==== packed vectors, large arrays in constant, struct by value in stage
#include <metal_stdlib>
using namespace metal;
constant float kernel5[5][5] = {{1, 4, 7, 4, 1}, {4, 16, 26, 16, 4}, {7, 26, 41, 26, 7}, {4, 16, 26, 16, 4}, {1, 4, 7, 4, 1}};
struct Vert { packed_float3 p; packed_half2 uv; packed_uchar4 c; packed_short2 n; };
struct Inst { float4x4 m; float3x3 n; packed_float4 t; };
vertex float4 v(const device Vert *vs [[buffer(0)]], const device Inst *is [[buffer(1)]], uint vid [[vertex_id]], uint iid [[instance_id]]) { Vert q = vs[vid]; Inst j = is[iid]; return j.m * float4(j.n * float3(q.p), 1) + float4(j.t) + float4(q.c) / 255 + float4(float2(half2(q.uv)), float2(short2(q.n))) + kernel5[vid % 5][iid % 5]; }
// ==== threadgroup arrays of structs with constructors, dynamic and static mixed
#include <metal_stdlib>
using namespace metal;
struct Acc { float m; uint i; Acc() = default; Acc(float a, uint b) : m(a), i(b) {} bool operator<(const threadgroup Acc &o) const threadgroup { return m < o.m; } threadgroup Acc &operator=(thread const Acc &o) threadgroup { m = o.m; i = o.i; return *this; } };
kernel void k(device float *a, device uint *o, threadgroup float *dyn [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) { threadgroup Acc t[64]; threadgroup float2x2 m[2]; threadgroup uchar bytes[16]; threadgroup bool flag; t[i % 64] = Acc(a[i], i); dyn[i] = a[i]; if (i == 0) flag = false, m[0] = float2x2(1); bytes[i & 15] = uchar(i); threadgroup_barrier(mem_flags::mem_threadgroup); for (uint s = 32; s > 0; s >>= 1) { if (i < s && t[i] < t[i + s]) { t[i].m = t[i + s].m; t[i].i = t[i + s].i; flag = true; } threadgroup_barrier(mem_flags::mem_threadgroup); } if (i == 0) o[0] = t[0].i + flag + uint(dyn[3]) + bytes[2] + uint(m[0][0].x) + n; }
// ==== 2.3 old spellings
#include <metal_stdlib>
using namespace metal;
kernel void k(texture2d<float, access::read> a [[texture(0)]], texture2d<float, access::write> b [[texture(1)]], const device float *w [[buffer(0)]], uint2 g [[thread_position_in_grid]], ushort l [[thread_index_in_simdgroup]]) { float4 s = 0; for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++) s += a.read(uint2(int2(g) + int2(x, y))) * w[(y + 1) * 3 + x + 1]; b.write(s + simd_sum(s) + l, g); }
// ==== WGSL f16, dot4, pack4x8, subgroup with naga
#include <metal_stdlib>
#include <simd/simd.h>
using metal::uint;
int naga_dot_int4(metal::int4 a, metal::int4 b) { return ( + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w); }
uint pack4xu8(metal::uint4 v) { return uint((v[0] & 0xFFu) | ((v[1] & 0xFFu) << 8) | ((v[2] & 0xFFu) << 16) | ((v[3] & 0xFFu) << 24)); }
uint dot4(uint a, uint b) { packed_uchar4 x = as_type<packed_uchar4>(a); packed_uchar4 y = as_type<packed_uchar4>(b); return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]; }
struct _frexp_result_vec4_f32_ { metal::float4 fract; metal::int4 exp; };
_frexp_result_vec4_f32_ naga_frexp(metal::float4 arg) { metal::int4 other; metal::float4 fract = metal::frexp(arg, other); return _frexp_result_vec4_f32_{ fract, other }; }
struct _modf_result_f32_ { float fract; float whole; };
_modf_result_f32_ naga_modf(float arg) { float other; float fract = metal::modf(arg, other); return _modf_result_f32_{ fract, other }; }
kernel void main_(device uint *o [[user(fake0)]], metal::uint3 gid [[thread_position_in_grid]], uint sid [[thread_index_in_simdgroup]], uint nsg [[simdgroups_per_threadgroup]], uint sg [[simdgroup_index_in_threadgroup]]) { metal::half4 h = metal::half4(static_cast<half>(1.0)); half hh = 2.0h; metal::uint4 ballot = metal::uint4((uint64_t)metal::simd_ballot(sid == 1u), 0, 0, 0); o[gid.x] = uint(naga_dot_int4(metal::int4(1), metal::int4(2))) + pack4xu8(metal::uint4(gid, 1)) + dot4(gid.x, 3u) + uint(naga_frexp(metal::float4(3)).exp.x) + uint(naga_modf(2.5).whole) + uint((h * hh).x) + ballot.x + nsg + sg + metal::simd_prefix_exclusive_sum(sid) + metal::quad_broadcast(sid, 1u) + metal::simd_shuffle_down(sid, 2u) + metal::insert_bits(3u, 1u, 2u, 3u) + metal::reverse_bits(sid) + (((metal::clz(sid) + 1) % 33) - 1) + as_type<uint>(metal::unpack_snorm4x8_to_float(3u).x) + uint(metal::select(1, 2, sid > 3)); }
