// Function constants: computed indices, vectors, derived ones, namespaces, conditional arguments.
#include <metal_stdlib>
using namespace metal;
#define FC_BASE 100
constant bool FC_mask [[function_constant(FC_BASE + 0)]];
constant float FC_scale [[function_constant(FC_BASE + 1)]];
constant int2 FC_pair [[function_constant(FC_BASE + 2)]];
constant ushort FC_ns [[function_constant(3)]];
constant bool FC_both = FC_mask && is_function_constant_defined(FC_scale);
constant int FC_def = is_function_constant_defined(FC_ns) ? FC_ns : 7;
namespace ns { constant int inner [[function_constant(50)]]; constant int twice = inner * 2; }
template <typename q_t, typename q4_t, short DK, short nl, void (*deq)(device const q_t *, short, thread q4_t &), short Q = 8, typename... Rest>
void impl(device const q_t *q, device float *o, threadgroup half *shmem [[threadgroup(0)]], uint3 tgpig, ushort tiisg) {
  static_assert(DK % 4 == 0, "DK");
  if (FC_mask) { q4_t r; deq(q, nl, r); o[0] = r[0] * FC_scale + FC_pair.x; }
  switch (FC_ns) { case 1: o[1] = 1; break; case 2: o[1] = 2; break; }
  if (is_function_constant_defined(FC_pair)) o[2] = FC_def + ns::twice;
}
void deq4(device const float *x, short il, thread float4 &r) { r = float4(x[il]); }
void deqh(device const half *x, short il, thread half4 &r) { r = half4(x[il]); }
template <typename q_t, typename q4_t, short DK, short nl, void (*deq)(device const q_t *, short, thread q4_t &), short Q = 8>
kernel void fa(device const q_t *q, device float *o, device const float *mask [[buffer(6), function_constant(FC_both)]], threadgroup half *shmem [[threadgroup(0)]], uint3 tgpig [[threadgroup_position_in_grid]], ushort tiisg [[thread_index_in_simdgroup]]) {
  if (FC_both) o[3] = mask[0];
  switch (FC_ns) { default: impl<q_t, q4_t, DK, nl, deq>(q, o, shmem, tgpig, tiisg); }
}
#define FA_TYPES_F float, float4
#define FA_TYPES_H half, half4
typedef decltype(fa<FA_TYPES_F, 64, 1, deq4>) fa_t;
template [[host_name("fa_f32")]] kernel fa_t fa<FA_TYPES_F, 64, 1, deq4>;
template [[host_name("fa_f16")]] kernel decltype(fa<FA_TYPES_H, 128, 2, deqh>) fa<FA_TYPES_H, 128, 2, deqh>;
#define BINARY_OP(FN, TYPENAME, OUT_TYPENAME, FN_NAME) \
kernel void FN_NAME( \
    constant size_t &dim, \
    device const TYPENAME *left, \
    device OUT_TYPENAME *output, \
    uint tid [[ thread_position_in_grid ]] \
) { \
    if (tid >= dim) { \
        return; \
    } \
    TYPENAME x = left[tid]; \
    TYPENAME y = left[tid + 1]; \
    output[tid] = OUT_TYPENAME(FN); \
}
#define BINARY(FN, NAME) BINARY_OP(FN, float, float, NAME##_f32); BINARY_OP(FN, half, half, NAME##_f16); BINARY_OP(FN, uint8_t, uint8_t, NAME##_u8); BINARY_OP(FN, int64_t, bool, NAME##_i64)
BINARY(x + y, badd)
BINARY((x > y ? x : y), bmax)
BINARY(x < y, blt)
// reflect: constant 100 bool FC_mask
// reflect: constant 101 float FC_scale
// reflect: constant 102 int2 FC_pair
// reflect: constant 3 ushort FC_ns
// reflect: constant 50 int ns::inner
// reflect: kernel fa_f32 uses FC_mask uses FC_scale uses FC_pair uses FC_ns uses ns::inner
// reflect:   q float device read index 0 count 1 slot 0 type 3 size 4 align 4
// reflect:   o float device read_write index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   mask float device read index 6 count 1 slot 2 if _ZL7FC_both type 3 size 4 align 4
// reflect:   shmem half threadgroup read_write index 0 count 1 slot 3 type 16 size 2 align 2
// reflect:   tgpig uint3 threadgroup_position_in_grid type 35 size 16 align 16
// reflect:   tiisg ushort thread_index_in_simdgroup type 41 size 2 align 2
// reflect: kernel fa_f16 uses FC_mask uses FC_scale uses FC_pair uses FC_ns uses ns::inner
// reflect:   q half device read index 0 count 1 slot 0 type 16 size 2 align 2
// reflect:   o float device read_write index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   mask float device read index 6 count 1 slot 2 if _ZL7FC_both type 3 size 4 align 4
// reflect:   shmem half threadgroup read_write index 0 count 1 slot 3 type 16 size 2 align 2
// reflect:   tgpig uint3 threadgroup_position_in_grid type 35 size 16 align 16
// reflect:   tiisg ushort thread_index_in_simdgroup type 41 size 2 align 2
// reflect: kernel badd_f32
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left float device read index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   output float device read_write index 2 count 1 slot 2 type 3 size 4 align 4
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel badd_f16
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left half device read index 1 count 1 slot 1 type 16 size 2 align 2
// reflect:   output half device read_write index 2 count 1 slot 2 type 16 size 2 align 2
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel badd_u8
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left uchar device read index 1 count 1 slot 1 type 49 size 1 align 1
// reflect:   output uchar device read_write index 2 count 1 slot 2 type 49 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel badd_i64
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left long device read index 1 count 1 slot 1 type 81 size 8 align 8
// reflect:   output bool device read_write index 2 count 1 slot 2 type 53 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel bmax_f32
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left float device read index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   output float device read_write index 2 count 1 slot 2 type 3 size 4 align 4
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel bmax_f16
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left half device read index 1 count 1 slot 1 type 16 size 2 align 2
// reflect:   output half device read_write index 2 count 1 slot 2 type 16 size 2 align 2
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel bmax_u8
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left uchar device read index 1 count 1 slot 1 type 49 size 1 align 1
// reflect:   output uchar device read_write index 2 count 1 slot 2 type 49 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel bmax_i64
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left long device read index 1 count 1 slot 1 type 81 size 8 align 8
// reflect:   output bool device read_write index 2 count 1 slot 2 type 53 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel blt_f32
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left float device read index 1 count 1 slot 1 type 3 size 4 align 4
// reflect:   output float device read_write index 2 count 1 slot 2 type 3 size 4 align 4
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel blt_f16
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left half device read index 1 count 1 slot 1 type 16 size 2 align 2
// reflect:   output half device read_write index 2 count 1 slot 2 type 16 size 2 align 2
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel blt_u8
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left uchar device read index 1 count 1 slot 1 type 49 size 1 align 1
// reflect:   output uchar device read_write index 2 count 1 slot 2 type 49 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
// reflect: kernel blt_i64
// reflect:   dim ulong constant read index 0 count 1 slot 0 type 85 size 8 align 8
// reflect:   left long device read index 1 count 1 slot 1 type 81 size 8 align 8
// reflect:   output bool device read_write index 2 count 1 slot 2 type 53 size 1 align 1
// reflect:   tid uint thread_position_in_grid type 33 size 4 align 4
