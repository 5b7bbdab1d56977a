// SPDX-License-Identifier: Apache-2.0
// device_math.h: traits, special functions, atomics of narrow types and registering macros.
#pragma once
#include <metal_stdlib>

namespace devlib {
namespace metal_impl {

namespace detail {
template <typename T> struct vectypes {};
template <> struct vectypes<float> { using type4 = ::metal::float4; using type3 = ::metal::float3; using type2 = ::metal::float2; };
template <> struct vectypes<half> { using type4 = ::metal::half4; using type3 = ::metal::half3; using type2 = ::metal::half2; };
template <> struct vectypes<bfloat> { using type4 = ::metal::bfloat4; using type3 = ::metal::bfloat3; using type2 = ::metal::bfloat2; };
template <> struct vectypes<short> { using type4 = ::metal::short4; using type3 = ::metal::short3; using type2 = ::metal::short2; };
template <> struct vectypes<int> { using type4 = ::metal::int4; using type3 = ::metal::int3; using type2 = ::metal::int2; };
template <> struct vectypes<long> { using type4 = ::metal::long4; using type3 = ::metal::long3; using type2 = ::metal::long2; };

template <typename T> struct opmath { using type = T; };
template <> struct opmath<half> { using type = float; };
template <> struct opmath<bfloat> { using type = float; };
template <typename T> struct accum { using type = typename opmath<T>::type; };
template <> struct accum<char> { using type = int; };
template <> struct accum<short> { using type = int; };
} // namespace detail

template <typename T> using vec2type_t = typename detail::vectypes<T>::type2;
template <typename T> using vec4type_t = typename detail::vectypes<T>::type4;
template <typename T> using opmath_t = typename detail::opmath<T>::type;
template <typename T> using accum_t = typename detail::accum<T>::type;

template <typename T> constexpr constant bool is_complex_v = ::metal::is_same_v<T, ::metal::float2> || ::metal::is_same_v<T, ::metal::half2>;
template <typename T> constexpr constant bool is_scalar_floating_point_v = ::metal::is_floating_point_v<T> && ::metal::is_scalar_v<T>;
template <typename T> constexpr constant bool is_scalar_integral_v = ::metal::is_integral_v<T> && ::metal::is_scalar_v<T>;

static_assert(is_complex_v<::metal::float2> && !is_complex_v<::metal::float3>, "");
static_assert(is_scalar_integral_v<char> && !is_scalar_integral_v<::metal::int2>, "");
static_assert(::metal::is_same_v<opmath_t<bfloat>, float>, "");

template <typename T>
inline ::metal::enable_if_t<is_complex_v<T>, T> cmul(const T a, const T b) { return T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// Hurwitz zeta by summation and the Euler-Maclaurin tail
inline float hurwitz(float x, float q) {
  constexpr float b[] = {12.0, -720.0, 30240.0, -1209600.0};
  if (x == 1.0f) return INFINITY;
  if (x < 1.0f || q <= 0.0f) return NAN;
  float s = ::metal::pow(q, -x), a = q, t = 0.0f;
  int i = 0;
  while (i < 9 || a <= 9.0f) {
    ++i;
    a += 1.0f;
    t = ::metal::pow(a, -x);
    s += t;
    if (t < 6e-8f * s) return s;
  }
  s += t * a / (x - 1.0f) - 0.5f * t;
  float f = 1.0f, k = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    f *= x + k;
    t /= a;
    s += f * t / b[j];
    k += 1.0f;
    f *= x + k;
    t /= a;
    k += 1.0f;
  }
  return s;
}

// mean, M2, count
inline ::metal::float3 welford_combine(::metal::float3 a, ::metal::float3 b) {
  const float delta = b.x - a.x, n = a.z + b.z;
  const float w = n > 0 ? b.z / n : 0.0f;
  return ::metal::float3(a.x + delta * w, a.y + b.y + delta * delta * a.z * w, n);
}

inline ::metal::float3 simd_welford(::metal::float3 v) {
#pragma unroll
  for (ushort d = 16; d > 0; d /= 2) v = welford_combine(v, ::metal::simd_shuffle_xor(v, d));
  return v;
}

inline ::metal::float3 threadgroup_welford(threadgroup ::metal::float3* data, ::metal::float3 v, unsigned idx, unsigned size) {
  v = simd_welford(v);
  if (size <= 32) return v;
  if (idx % 32 == 0) data[idx / 32] = v;
  ::metal::threadgroup_barrier(::metal::mem_flags::mem_threadgroup);
  const unsigned n = (size + 31) / 32;
  if (idx < 32) v = simd_welford(idx < n ? data[idx] : ::metal::float3(0.0));
  return v;
}

// ---- atomics: native for 32 bits, compare-exchange on the surrounding word for narrow types
template <typename T> struct AtomicType {};
template <> struct AtomicType<float> {
  using type = ::metal::atomic<float>;
  static inline void add(device type* data, long offset, float value) { ::metal::atomic_fetch_add_explicit(data + offset, value, ::metal::memory_order_relaxed); }
};
template <> struct AtomicType<int> {
  using type = ::metal::atomic<int>;
  static inline void add(device type* data, long offset, int value) { ::metal::atomic_fetch_add_explicit(data + offset, value, ::metal::memory_order_relaxed); }
};
template <typename T>
static inline void add_in_word(device ::metal::atomic<uint>* data, long offset, T value) {
  constexpr int per = sizeof(uint) / sizeof(T);
  auto word = data + (offset / per);
  const auto which = offset % per;
  union Packed { uint bits; T part[per]; };
  Packed now, next;
  now.bits = ::metal::atomic_load_explicit(word, ::metal::memory_order_relaxed);
  do {
    next = now;
    next.part[which] = static_cast<T>(next.part[which] + value);
  } while (!::metal::atomic_compare_exchange_weak_explicit(word, &now.bits, next.bits, ::metal::memory_order_relaxed, ::metal::memory_order_relaxed));
}
#define NARROW(T)                                                                                       \
  template <> struct AtomicType<T> {                                                                    \
    using type = ::metal::atomic<uint>;                                                                 \
    static inline void add(device type* data, long offset, T value) { add_in_word<T>(data, offset, value); } \
  };
NARROW(half)
NARROW(bfloat)
NARROW(short)
NARROW(char)
#undef NARROW
// two 32-bit adds with a carry between them
template <> struct AtomicType<long> {
  using type = ::metal::atomic<uint>;
  static inline void add(device type* data, long offset, long value) {
    const auto v = as_type<uint2>(value);
    auto at = data + (offset << 1);
    auto old = ::metal::atomic_fetch_add_explicit(at, v.x, ::metal::memory_order_relaxed);
    const auto carry = old + v.x < old ? 1u : 0u;
    if (v.y || carry) ::metal::atomic_fetch_add_explicit(at + 1, v.y + carry, ::metal::memory_order_relaxed);
  }
};

// ---- binary kernels
template <typename T, typename F>
using result_of = decltype(::metal::declval<F>()(::metal::declval<T>(), ::metal::declval<T>()));

template <typename T, typename F>
kernel void binary_dense(device result_of<T, F>* out [[buffer(0)]], constant T* a [[buffer(1)]], constant T* b [[buffer(2)]], uint tid [[thread_position_in_grid]]) {
  F f;
  out[tid] = f(a[tid], b[tid]);
}

template <typename T, typename F>
kernel void binary_strided(device void* out [[buffer(0)]], constant void* a [[buffer(1)]], constant void* b [[buffer(2)]],
                           constant long* sizes [[buffer(3)]], constant long* out_s [[buffer(4)]], constant long* a_s [[buffer(5)]],
                           constant long* b_s [[buffer(6)]], constant uint& ndim [[buffer(7)]], uint index [[thread_position_in_grid]]) {
  F f;
  using res_t = result_of<T, F>;
  long oo = 0, ao = 0, bo = 0;
  long rest = index;
  for (uint d = 0; d < ndim; ++d) {
    const long i = rest % sizes[d];
    rest /= sizes[d];
    oo += i * out_s[d];
    ao += i * a_s[d];
    bo += i * b_s[d];
  }
  const auto x = *reinterpret_cast<constant T*>(static_cast<constant char*>(a) + ao);
  const auto y = *reinterpret_cast<constant T*>(static_cast<constant char*>(b) + bo);
  *reinterpret_cast<device res_t*>(static_cast<device char*>(out) + oo) = res_t(f(x, y));
}

template <typename T, typename T2, typename F>
kernel void alpha_dense(device T* out [[buffer(0)]], constant T* a [[buffer(1)]], constant T* b [[buffer(2)]], constant T2& alpha [[buffer(3)]], uint tid [[thread_position_in_grid]]) {
  F f;
  out[tid] = f(a[tid], b[tid], alpha);
}

#define REGISTER_BINARY_OP(NAME, DTYPEI, DTYPEO)                                                                       \
  static_assert(::metal::is_same_v<DTYPEO, ::devlib::metal_impl::result_of<DTYPEI, NAME##_functor>>,                   \
                "Output dtype mismatch for binary op " #NAME " and input " #DTYPEI);                                   \
  template [[host_name(#NAME "_dense_" #DTYPEO "_" #DTYPEI)]] kernel void ::devlib::metal_impl::binary_dense<DTYPEI, NAME##_functor>( \
      device ::devlib::metal_impl::result_of<DTYPEI, NAME##_functor>* out, constant DTYPEI* a, constant DTYPEI* b, uint tid); \
  template [[host_name(#NAME "_strided_" #DTYPEO "_" #DTYPEI)]] kernel void ::devlib::metal_impl::binary_strided<DTYPEI, NAME##_functor>( \
      device void* out, constant void* a, constant void* b, constant long* sizes, constant long* out_s, constant long* a_s, constant long* b_s, \
      constant uint& ndim, uint index)

#define REGISTER_ALPHA_OP(NAME, DTYPEI, DTYPEA, DTYPEO)                                                                \
  template [[host_name(#NAME "_dense_" #DTYPEO "_" #DTYPEI "_" #DTYPEA)]] kernel void ::devlib::metal_impl::alpha_dense<DTYPEI, DTYPEA, NAME##_functor>( \
      device DTYPEI* out, constant DTYPEI* a, constant DTYPEI* b, constant DTYPEA& alpha, uint tid)

} // namespace metal_impl
} // namespace devlib
