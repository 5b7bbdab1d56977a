// SPDX-License-Identifier: Apache-2.0
// elementwise.metal: unary, binary and ternary kernels over every type, several elements a thread.
#include "../include/config.h"
#include "../include/ops.h"

using namespace metal;
using namespace forge;

// -------------------------------------------------------------------------------------- unary

template <typename T, typename U, typename Op, int N = 4>
[[kernel]] void unary_flat(device const T* in [[buffer(0)]],
                           device U* out [[buffer(1)]],
                           constant uint& size [[buffer(2)]],
                           uint index [[thread_position_in_grid]]) {
  index *= N;
  if (N > 1 && index + N > size) {
    for (int i = 0; index + i < size; ++i) {
      out[index + i] = static_cast<U>(Op()(in[index + i]));
    }
  } else {
    FORGE_UNROLL
    for (int i = 0; i < N; ++i) {
      out[index + i] = static_cast<U>(Op()(in[index + i]));
    }
  }
}

template <typename T, typename U, typename Op, typename Ix = long>
[[kernel]] void unary_strided(device const T* in [[buffer(0)]],
                              device U* out [[buffer(1)]],
                              constant const int* shape [[buffer(2)]],
                              constant const int64_t* strides [[buffer(3)]],
                              constant const int& n_dims [[buffer(4)]],
                              uint index [[thread_position_in_grid]]) {
  out[index] = static_cast<U>(Op()(in[place<Ix>(index, shape, strides, n_dims)]));
}

#define unary_both(op, tname, T, U)                                                  \
  expose("v_" #op #tname, unary_flat, T, U, ops::op)                                 \
  expose("g_" #op #tname, unary_strided, T, U, ops::op, int)                         \
  expose("gl_" #op #tname, unary_strided, T, U, ops::op, long)

#define unary_float(op)                    \
  unary_both(op, float32, float, float)    \
  unary_both(op, float16, half, half)      \
  unary_both(op, bfloat16, bf16, bf16)

#define unary_int(op)                      \
  unary_both(op, int32, int, int)          \
  unary_both(op, int8, char, char)         \
  unary_both(op, uint8, uchar, uchar)      \
  unary_both(op, int16, short, short)      \
  unary_both(op, int64, long, long)        \
  unary_both(op, uint32, uint, uint)

unary_float(Sqrt)
unary_float(Exp)
unary_float(Sigmoid)
unary_float(Floor)
unary_float(Abs)
unary_float(Negate)
unary_float(Square)
unary_float(Sign)
unary_int(Square)
unary_int(Negate)
unary_int(BitNot)
unary_both(Abs, int32, int, int)
unary_both(Abs, int16, short, short)
unary_both(Abs, uint8, uchar, uchar)
unary_both(Abs, complex64, cplx, cplx)
unary_both(Exp, complex64, cplx, cplx)
unary_both(Sign, complex64, cplx, cplx)
unary_both(Square, complex64, cplx, cplx)
unary_both(Negate, complex64, cplx, cplx)
unary_both(LogicalNot, bool, bool, bool)
unary_both(LogicalNot, float32, float, bool)
unary_both(Floor, int32, int, int)

// ------------------------------------------------------------------------------------- binary

template <typename T, typename U, typename Op>
[[kernel]] void binary_ss(device const T* a, device const T* b, device U* c, uint i [[thread_position_in_grid]]) {
  c[i] = Op()(a[0], b[0]);
}

template <typename T, typename U, typename Op>
[[kernel]] void binary_sv(device const T* a, device const T* b, device U* c, uint i [[thread_position_in_grid]]) {
  c[i] = Op()(a[0], b[i]);
}

template <typename T, typename U, typename Op>
[[kernel]] void binary_vv2(device const T* a, device const T* b, device U* c,
                           uint2 index [[thread_position_in_grid]], uint2 grid_dim [[threads_per_grid]]) {
  auto offset = index.x + grid_dim.x * int64_t(index.y);
  c[offset] = Op()(a[offset], b[offset]);
}

template <typename T, typename U, typename Op, int N = 1, typename Ix = uint>
[[kernel]] void binary_g(device const T* a [[buffer(0)]],
                         device const T* b [[buffer(1)]],
                         device U* c [[buffer(2)]],
                         constant const int* shape [[buffer(3)]],
                         constant const int64_t* a_strides [[buffer(4)]],
                         constant const int64_t* b_strides [[buffer(5)]],
                         constant const int& n_dims [[buffer(6)]],
                         uint3 index [[thread_position_in_grid]],
                         uint3 grid_dim [[threads_per_grid]]) {
  const auto xshape = shape[n_dims - 1];
  const auto at = place2<Ix>(uint3(index.x * N, index.y, index.z), shape, a_strides, b_strides, n_dims);
  auto out = N * index.x + xshape * (index.y + (Ix)grid_dim.y * index.z);
  const Ix a_step = a_strides[n_dims - 1];
  const Ix b_step = b_strides[n_dims - 1];
  for (int i = 0; i < N && (int)(N * index.x) + i < xshape; i++) {
    c[out++] = Op()(a[at.x + i * a_step], b[at.y + i * b_step]);
  }
}

#define binary_all(op, tname, T, U)                          \
  expose("ss_" #op #tname, binary_ss, T, U, ops::op)         \
  expose("sv_" #op #tname, binary_sv, T, U, ops::op)         \
  expose("vv2_" #op #tname, binary_vv2, T, U, ops::op)       \
  expose("g1_" #op #tname, binary_g, T, U, ops::op, 1)       \
  expose("g4_" #op #tname, binary_g, T, U, ops::op, 4, int)

#define binary_reals(op)                     \
  binary_all(op, float32, float, float)      \
  binary_all(op, float16, half, half)        \
  binary_all(op, bfloat16, bf16, bf16)

#define binary_ints(op)                      \
  binary_all(op, int32, int, int)            \
  binary_all(op, uint32, uint, uint)         \
  binary_all(op, int8, char, char)           \
  binary_all(op, uint8, uchar, uchar)        \
  binary_all(op, int16, short, short)        \
  binary_all(op, uint16, ushort, ushort)     \
  binary_all(op, int64, long, long)          \
  binary_all(op, uint64, ulong, ulong)

binary_reals(Add)
binary_reals(Multiply)
binary_reals(Divide)
binary_reals(Maximum)
binary_reals(Remainder)
binary_reals(LogAddExp)
binary_all(Power, float32, float, float)
binary_ints(Add)
binary_ints(Multiply)
binary_ints(Divide)
binary_ints(Maximum)
binary_ints(Remainder)
binary_ints(Power)
binary_ints(LeftShift)
binary_all(Add, complex64, cplx, cplx)
binary_all(Multiply, complex64, cplx, cplx)
binary_all(Divide, complex64, cplx, cplx)
binary_all(Maximum, complex64, cplx, cplx)
binary_all(Greater, float32, float, bool)
binary_all(Greater, complex64, cplx, bool)
binary_all(Greater, int8, char, bool)
binary_all(Equal, bfloat16, bf16, bool)
binary_all(Equal, bool, bool, bool)

// two results
template <typename T, typename U, typename Op>
[[kernel]] void binary_two(device const T* a, device const T* b, device U* c, device U* d,
                           uint i [[thread_position_in_grid]]) {
  auto both = Op()(a[i], b[i]);
  c[i] = both[0];
  d[i] = both[1];
}
expose("two_DivModint32", binary_two, int, int, ops::DivMod)
expose("two_DivModuint8", binary_two, uchar, uchar, ops::DivMod)
expose("two_DivModint64", binary_two, long, long, ops::DivMod)

// ------------------------------------------------------------------------------------ ternary

template <typename T, typename Op>
[[kernel]] void ternary_v(device const bool* c, device const T* a, device const T* b, device T* d,
                          uint i [[thread_position_in_grid]]) {
  d[i] = Op()(c[i], a[i], b[i]);
}
expose("v_Wherefloat32", ternary_v, float, ops::Where)
expose("v_Wherebfloat16", ternary_v, bf16, ops::Where)
expose("v_Whereint8", ternary_v, char, ops::Where)
expose("v_Whereint64", ternary_v, long, ops::Where)
expose("v_Wherecomplex64", ternary_v, cplx, ops::Where)

// ------------------------------------------------------------------------------ arange and copy

template <typename T>
[[kernel]] void arange(constant const T& start, constant const T& step, device T* out,
                       uint index [[thread_position_in_grid]]) {
  out[index] = start + index * step;
}
#define arange_of(name, T) template [[host_name("arange" #name)]] [[kernel]] void arange<T>( \
    constant const T&, constant const T&, device T*, uint);
arange_of(uint8, uchar)
arange_of(int16, short)
arange_of(int64, long)
arange_of(float32, float)
arange_of(float16, half)

template <typename T, typename U, int N = 4>
[[kernel]] void copy_flat(device const T* src, device U* dst, constant uint& n, uint i [[thread_position_in_grid]]) {
  for (uint k = i * N; k < metal::min((i + 1) * N, n); ++k) dst[k] = static_cast<U>(src[k]);
}

// a run of the innermost dimensions per thread, walked with an odometer
template <typename T, typename U, int DIMS>
[[kernel]] void copy_walk(device const T* src, device U* dst, constant const int* shape,
                          constant const int64_t* strides, constant const int& run,
                          uint i [[thread_position_in_grid]]) {
  device const T* p = src + i * strides[0];
  Odometer<DIMS, int> walk;
  for (int k = 0; k < run; ++k) {
    dst[i * run + k] = static_cast<U>(p[walk.offset]);
    walk.step(shape + 1, strides + 1);
  }
}

#define copies(tn, T, un, U)                                   \
  expose("copy_" #tn #un, copy_flat, T, U)                     \
  expose("walk2_" #tn #un, copy_walk, T, U, 2)                 \
  expose("walk3_" #tn #un, copy_walk, T, U, 3)
#define copies_to_all(tn, T)                                   \
  copies(tn, T, float32, float)                                \
  copies(tn, T, float16, half)                                 \
  copies(tn, T, bfloat16, bf16)                                \
  copies(tn, T, int32, int)                                    \
  copies(tn, T, uint8, uchar)                                  \
  copies(tn, T, int64, long)                                   \
  copies(tn, T, bool, bool)                                    \
  copies(tn, T, complex64, cplx)
copies_to_all(float32, float)
copies_to_all(float16, half)
copies_to_all(bfloat16, bf16)
copies_to_all(int32, int)
copies_to_all(int8, char)
copies_to_all(bool, bool)
copies_to_all(uint64, ulong)
