// SPDX-License-Identifier: Apache-2.0
// torch_style.metal: an eager framework's manner: traits in nested namespaces, functors, registering macros.
#include "device_math.h"
#include <metal_stdlib>
using namespace metal;
using namespace devlib::metal_impl;

struct add_functor {
  template <typename T> inline T operator()(const T a, const T b) { return static_cast<T>(a + b); }
};
struct lerp_alpha_functor {
  template <typename T, typename U>
  inline enable_if_t<is_floating_point_v<T>, T> operator()(const T a, const T b, const U alpha) {
    return T(opmath_t<T>(a) + opmath_t<U>(alpha) * (opmath_t<T>(b) - opmath_t<T>(a)));
  }
};
struct hypot_functor {
  template <typename T, enable_if_t<is_scalar_integral_v<T>, bool> = true>
  inline float operator()(const T a, const T b) { return sqrt(float(a) * float(a) + float(b) * float(b)); }
  template <typename T, enable_if_t<!is_scalar_integral_v<T>, bool> = true>
  inline T operator()(const T a, const T b) { return static_cast<T>(precise::sqrt(opmath_t<T>(a) * opmath_t<T>(a) + opmath_t<T>(b) * opmath_t<T>(b))); }
};
struct make_pair_functor {
  template <typename T> inline vec2type_t<T> operator()(const T a, const T b) { return vec2type_t<T>(a, b); }
};
struct complex_mul_functor {
  template <typename T> inline T operator()(const T a, const T b) { return cmul(a, b); }
};
struct zeta_functor {
  template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true>
  inline T operator()(const T x, const T q) { return static_cast<T>(hurwitz(float(x), float(q))); }
};

REGISTER_BINARY_OP(add, long, long);
REGISTER_BINARY_OP(add, int, int);
REGISTER_BINARY_OP(add, float, float);
REGISTER_BINARY_OP(add, half, half);
REGISTER_BINARY_OP(add, bfloat, bfloat);
REGISTER_BINARY_OP(add, uchar, uchar);
REGISTER_BINARY_OP(add, bool, bool);
REGISTER_BINARY_OP(add, float2, float2);
REGISTER_BINARY_OP(add, half2, half2);
REGISTER_BINARY_OP(hypot, int, float);
REGISTER_BINARY_OP(hypot, float, float);
REGISTER_BINARY_OP(hypot, half, half);
REGISTER_BINARY_OP(hypot, bfloat, bfloat);
REGISTER_BINARY_OP(make_pair, float, float2);
REGISTER_BINARY_OP(make_pair, half, half2);
REGISTER_BINARY_OP(complex_mul, float2, float2);
REGISTER_BINARY_OP(complex_mul, half2, half2);
REGISTER_BINARY_OP(zeta, float, float);
REGISTER_BINARY_OP(zeta, bfloat, bfloat);
REGISTER_ALPHA_OP(lerp_alpha, float, float, float);
REGISTER_ALPHA_OP(lerp_alpha, half, float, half);
REGISTER_ALPHA_OP(lerp_alpha, bfloat, bfloat, bfloat);

// ---- index_put with accumulation through atomics of narrow types
template <typename T, typename I>
kernel void index_accumulate(device typename AtomicType<T>::type* out [[buffer(0)]],
                             constant T* values [[buffer(1)]],
                             constant I* indices [[buffer(2)]],
                             constant uint2& sizes [[buffer(3)]],
                             uint tid [[thread_position_in_grid]]) {
  if (tid >= sizes.x) return;
  I ix = indices[tid];
  if (ix < 0) ix += sizes.y;
  AtomicType<T>::add(out, long(ix), values[tid]);
}
#define REGISTER_INDEX(T, I)                                              \
  template [[host_name("index_accumulate_" #T "_" #I)]] kernel void       \
  index_accumulate<T, I>(device typename AtomicType<T>::type*, constant T*, constant I*, constant uint2&, uint tid [[thread_position_in_grid]])
REGISTER_INDEX(float, long);
REGISTER_INDEX(half, int);
REGISTER_INDEX(bfloat, long);
REGISTER_INDEX(short, int);
REGISTER_INDEX(char, int);
REGISTER_INDEX(int, long);
REGISTER_INDEX(long, long);

// ---- welford over a row: pairs combined through the threadgroup
template <typename T>
kernel void var_mean_row(constant T* in [[buffer(0)]], device float2* out [[buffer(1)]], constant uint& n [[buffer(2)]],
                         uint tid [[thread_position_in_threadgroup]], uint tptg [[threads_per_threadgroup]],
                         uint row [[threadgroup_position_in_grid]]) {
  threadgroup float3 shared_data[32];
  in += row * n;
  float3 acc(0.0);
  for (uint i = tid; i < n; i += tptg) acc = welford_combine(acc, float3(in[i], 0.0, 1.0));
  float3 all = threadgroup_welford(shared_data, acc, tid, tptg);
  if (tid == 0) out[row] = float2(all.x, all.y / all.z);
}
#define REGISTER_VAR(T) template [[host_name("var_mean_" #T)]] kernel void var_mean_row<T>(constant T*, device float2*, constant uint&, uint, uint, uint)
REGISTER_VAR(float);
REGISTER_VAR(half);
REGISTER_VAR(bfloat);

// ---- multi-tensor apply through an array of buffers in a struct of pointers
struct TensorList {
  array<device float*, 4> params;
  ulong sizes[4];
};
struct StepArgs { float lr; float beta; uint n_tensors; };

kernel void fused_step(device float* p0 [[buffer(0)]], device float* p1 [[buffer(1)]], device float* p2 [[buffer(2)]],
                       device float* p3 [[buffer(3)]], constant ulong4& sizes [[buffer(4)]], constant StepArgs& args [[buffer(5)]],
                       uint tgid [[threadgroup_position_in_grid]], uint tid [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  TensorList list = {{p0, p1, p2, p3}, {sizes.x, sizes.y, sizes.z, sizes.w}};
  for (uint t = 0; t < args.n_tensors; ++t) {
    device float* p = list.params[t];
    for (ulong i = tgid * size + tid; i < list.sizes[t]; i += 2 * size) {
      p[i] = fma(-args.lr, p[i] * args.beta, p[i]);
    }
  }
}
