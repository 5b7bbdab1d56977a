// SPDX-License-Identifier: Apache-2.0
// neural.metal: softmax, norms, rotary embedding, gather and scatter, random bits, attention, FFT.
#include "../include/traits.h"

using namespace metal;
using forge::Range;

// ---- softmax: the row in registers, or looped with a running maximum
template <typename T, typename Acc = T, int N = 4>
[[kernel]] void softmax_single(const device T* in [[buffer(0)]], device T* out [[buffer(1)]], constant int& axis [[buffer(2)]],
                               uint gid [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup Acc local_max[32];
  threadgroup Acc local_sum[32];
  Acc ld[N];
  in += gid * size_t(axis) + lid * N;
  if (int(lid * N + N) <= axis) {
    for (int i = 0; i < N; i++) ld[i] = Acc(in[i]);
  } else {
    for (int i = 0; i < N; i++) ld[i] = int(lid * N + i) < axis ? Acc(in[i]) : Range<Acc>::bottom;
  }
  if (sg == 0) {
    local_max[lane] = Range<Acc>::bottom;
    local_sum[lane] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Acc top = Range<Acc>::bottom;
  for (int i = 0; i < N; i++) top = top < ld[i] ? ld[i] : top;
  top = simd_max(top);
  if (lane == 0) local_max[sg] = top;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg == 0) {
    top = simd_max(local_max[lane]);
    if (lane == 0) local_max[0] = top;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  top = local_max[0];
  Acc sum = 0;
  for (int i = 0; i < N; i++) {
    Acc e = fast::exp(ld[i] - top);
    ld[i] = e;
    sum += e;
  }
  sum = simd_sum(sum);
  if (lane == 0) local_sum[sg] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg == 0) {
    sum = simd_sum(local_sum[lane]);
    if (lane == 0) local_sum[0] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 1 / local_sum[0];
  out += gid * size_t(axis) + lid * N;
  for (int i = 0; i < N; i++)
    if (int(lid * N + i) < axis) out[i] = T(ld[i] * sum);
}

template <typename T, int N = 4>
[[kernel]] void softmax_looped(const device T* in [[buffer(0)]], device T* out [[buffer(1)]], constant int& axis [[buffer(2)]],
                               uint gid [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                               uint lsize [[threads_per_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
  in += gid * size_t(axis);
  out += gid * size_t(axis);
  threadgroup float maxima[32];
  threadgroup float sums[32];
  float top = -INFINITY, sum = 0;
  for (int r = 0; r < forge::ceil_div(axis, int(N * lsize)); r++) {
    const int at = r * lsize * N + lid * N;
    float v[N];
    for (int i = 0; i < N; i++) v[i] = at + i < axis ? float(in[at + i]) : -INFINITY;
    float before = top;
    for (int i = 0; i < N; i++) top = max(top, v[i]);
    if (top != -INFINITY) {
      sum *= exp(before - top);
      for (int i = 0; i < N; i++) sum += exp(v[i] - top);
    }
  }
  float before = top;
  top = simd_max(top);
  sum *= before == -INFINITY ? 0.0f : exp(before - top);
  sum = simd_sum(sum);
  if (sg == 0) { maxima[lane] = -INFINITY; sums[lane] = 0; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) { maxima[sg] = top; sums[sg] = sum; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  before = maxima[lane];
  top = simd_max(before);
  sum = simd_sum(before == -INFINITY ? 0.0f : sums[lane] * exp(before - top));
  const float inv = 1 / sum;
  for (int i = lid; i < axis; i += lsize) out[i] = T(exp(float(in[i]) - top) * inv);
}

// ---- norms
template <typename T, bool RMS, int N = 4>
[[kernel]] void row_norm(const device T* x [[buffer(0)]], const device T* w [[buffer(1)]], const device T* b [[buffer(2)]],
                         device T* out [[buffer(3)]], constant float& eps [[buffer(4)]], constant uint& axis [[buffer(5)]],
                         constant uint& w_stride [[buffer(6)]],
                         uint gid [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                         uint lsize [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float2 local[32];
  x += gid * size_t(axis);
  out += gid * size_t(axis);
  float2 acc = 0;
  for (uint r = lid * N; r < axis; r += lsize * N)
    for (uint i = r; i < min(r + N, axis); ++i) {
      const float v = x[i];
      acc += float2(v, v * v);
    }
  acc = simd_sum(acc);
  if (sg == 0) local[lane] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) local[sg] = acc;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  acc = simd_sum(local[lane]) / axis;
  const float mean = RMS ? 0.0f : acc.x;
  const float inv = precise::rsqrt(acc.y - mean * mean + eps);
  for (uint r = lid * N; r < axis; r += lsize * N)
    for (uint i = r; i < min(r + N, axis); ++i) {
      const T n = static_cast<T>((x[i] - mean) * inv);
      out[i] = RMS ? w[w_stride * i] * n : w[w_stride * i] * n + b[w_stride * i];
    }
}

#define neural_types(M) M(float32, float) M(float16, half) M(bfloat16, bf16)
expose("softmax_precise_float16", softmax_single, half, float)
expose("softmax_precise_bfloat16", softmax_single, bf16, float)
expose("softmax_float32", softmax_single, float)
expose("softmax_float16", softmax_single, half)
expose("softmax_looped_float32", softmax_looped, float)
expose("softmax_looped_bfloat16", softmax_looped, bf16)
#define norms(tn, T)                                             \
  expose("rms_" #tn, row_norm, T, true)                          \
  expose("layer_norm_" #tn, row_norm, T, false)
neural_types(norms)

// ---- rope, with options as function constants
constant bool forward [[function_constant(1)]];
constant bool traditional [[function_constant(2)]];
constant bool head_major [[function_constant(3)]];

template <typename T, int N = 2>
[[kernel]] void rope(const device T* in [[buffer(0)]], device T* out [[buffer(1)]], constant const int& offset [[buffer(2)]],
                     constant const float& scale [[buffer(3)]], constant const int64_t strides[3] [[buffer(4)]],
                     constant const int64_t out_strides[3] [[buffer(5)]], constant const float& log_base [[buffer(10)]],
                     constant const int& n_batch [[buffer(6)]],
                     uint3 pos [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  const float d = static_cast<float>(pos.x) / static_cast<float>(grid.x);
  const float inv_freq = metal::exp2(-d * log_base);
  const float L = scale * static_cast<float>(pos.y + offset);
  const float theta = L * inv_freq;
  const float costheta = metal::precise::cos(theta), sintheta = metal::precise::sin(theta);
  size_t i1, i2, o1, o2;
  if (traditional) {
    o1 = 2 * pos.x * out_strides[2] + pos.y * out_strides[1] + N * pos.z * out_strides[0];
    o2 = o1 + 1;
    i1 = 2 * pos.x * strides[2] + pos.y * strides[1] + N * pos.z * strides[0];
    i2 = i1 + strides[2];
  } else {
    o1 = pos.x * out_strides[2] + pos.y * out_strides[1] + N * pos.z * out_strides[0];
    o2 = o1 + grid.x * out_strides[2];
    i1 = pos.x * strides[2] + pos.y * strides[1] + N * pos.z * strides[0];
    i2 = i1 + grid.x * strides[2];
  }
  for (int i = 0; i < N && int(pos.z * N) + i < n_batch; ++i) {
    const float x1 = in[i1], x2 = in[i2];
    float r1, r2;
    if (forward) {
      r1 = x1 * costheta - x2 * sintheta;
      r2 = x1 * sintheta + x2 * costheta;
    } else {
      r1 = x2 * sintheta + x1 * costheta;
      r2 = x2 * costheta - x1 * sintheta;
    }
    out[o1] = static_cast<T>(r1);
    out[o2] = static_cast<T>(r2);
    i1 += strides[0]; i2 += strides[0];
    o1 += out_strides[0]; o2 += out_strides[0];
  }
}
expose("rope_float32", rope, float)
expose("rope_float16", rope, half)
expose("rope_bfloat16", rope, bf16)

// ---- gather and scatter; narrow types go through a compare-exchange on the word around them
template <typename T, typename I>
[[kernel]] void gather_rows(const device T* src [[buffer(0)]], const device I* ix [[buffer(1)]], device T* out [[buffer(2)]],
                            constant uint2& shape [[buffer(3)]], uint2 p [[thread_position_in_grid]]) {
  if constexpr (is_signed_v<I>) {
    const I i = ix[p.y];
    out[p.y * shape.x + p.x] = src[(i < 0 ? i + shape.y : i) * shape.x + p.x];
  } else {
    out[p.y * shape.x + p.x] = src[ix[p.y] * shape.x + p.x];
  }
}
expose("gather_float32_uint32", gather_rows, float, uint)
expose("gather_bfloat16_int64", gather_rows, bf16, long)
expose("gather_uint8_int8", gather_rows, uchar, char)
expose("gather_complex64_int16", gather_rows, cplx, short)

template <typename T, typename = void> struct Word { using type = atomic<uint>; };
template <typename T> struct Word<T, enable_if_t<sizeof(T) == 4>> { using type = atomic<T>; };

struct AddTo {
  template <typename T> T combine(T a, T b) { return a + b; }
  template <typename T, enable_if_t<sizeof(T) == 4, bool> = true>
  FORGE_FUNC void apply(device atomic<T>* p, T v, size_t at) { atomic_fetch_add_explicit(p + at, v, memory_order_relaxed); }
};
struct MaxTo {
  template <typename T> T combine(T a, T b) { return a > b ? a : b; }
  template <typename T, enable_if_t<is_integral_v<T> && sizeof(T) == 4, bool> = true>
  FORGE_FUNC void apply(device atomic<T>* p, T v, size_t at) { atomic_fetch_max_explicit(p + at, v, memory_order_relaxed); }
  template <typename T, enable_if_t<is_floating_point_v<T> && sizeof(T) == 4, bool> = true>
  FORGE_FUNC void apply(device atomic<T>* p, T v, size_t at) {
    T seen = atomic_load_explicit(p + at, memory_order_relaxed);
    while (v > seen)
      if (atomic_compare_exchange_weak_explicit(p + at, &seen, v, memory_order_relaxed, memory_order_relaxed)) return;
  }
};

template <typename T, typename I, typename Op>
[[kernel]] void scatter(const device T* updates [[buffer(0)]], const device I* ix [[buffer(1)]],
                        device typename Word<T>::type* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  Op op;
  const size_t at = ix[i];
  if constexpr (sizeof(T) == 4) {
    op.apply(out, updates[i], at);
  } else {
    constexpr size_t per = 4 / sizeof(T);
    union { uint word; T parts[per]; } seen, next;
    device auto* w = out + at / per;
    seen.word = atomic_load_explicit(w, memory_order_relaxed);
    do {
      next.word = seen.word;
      next.parts[at % per] = op.template combine<T>(next.parts[at % per], updates[i]);
    } while (!atomic_compare_exchange_weak_explicit(w, &seen.word, next.word, memory_order_relaxed, memory_order_relaxed));
  }
}
expose("scatter_add_float32", scatter, float, uint, AddTo)
expose("scatter_add_int32", scatter, int, uchar, AddTo)
expose("scatter_add_float16", scatter, half, uint, AddTo)
expose("scatter_add_bfloat16", scatter, bf16, long, AddTo)
expose("scatter_max_uint8", scatter, uchar, ushort, MaxTo)
expose("scatter_max_int16", scatter, short, uint, MaxTo)
expose("scatter_max_float32", scatter, float, uint, MaxTo)
expose("scatter_max_uint32", scatter, uint, uint, MaxTo)

// ---- Threefry 2x32, 20 rounds
union Counter64 {
  uint2 words;
  uchar4 bytes[2];
};

static constexpr constant uint kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};

Counter64 threefry(const thread uint2& key, uint2 count) {
  const uint ks[3] = {key.x, key.y, key.x ^ key.y ^ 0x1BD11BDA};
  Counter64 v;
  v.words = count + key;
  for (int r = 0; r < 5; ++r) {
    for (int k = 0; k < 4; ++k) {
      const uint by = kRotations[(r & 1) * 4 + k];
      v.words.x += v.words.y;
      v.words.y = (v.words.y << by) | (v.words.y >> (32 - by));
      v.words.y ^= v.words.x;
    }
    v.words.x += ks[(r + 1) % 3];
    v.words.y += ks[(r + 2) % 3] + r + 1;
  }
  return v;
}

[[kernel]] void random_bits(device const uint2* keys [[buffer(0)]], device uchar* out [[buffer(1)]], constant const uint& bytes_per_key [[buffer(2)]],
                            uint2 grid [[threads_per_grid]], uint2 p [[thread_position_in_grid]]) {
  const uint2 key = keys[p.x];
  device uchar* o = out + p.x * bytes_per_key;
  Counter64 bits = threefry(key, p.yx);
  (void)grid;
  const uint at = p.y * 8;
  if (at + 8 <= bytes_per_key) {
    for (int i = 0; i < 8; ++i) o[at + i] = bits.bytes[i / 4][i % 4];
  } else {
    for (uint i = at; i < bytes_per_key; ++i) o[i] = bits.bytes[(i - at) / 4][(i - at) % 4];
  }
}

// ---- attention of one query row: SIMD-groups share the keys, online softmax
constant bool has_mask [[function_constant(20)]];
constant bool causal [[function_constant(21)]];
constant bool has_sinks [[function_constant(22)]];

struct AttentionParams {
  int n_kv;
  int gqa;
  int q_len;
  float scale;
};

template <typename T, int D, int V = D>
[[kernel]] void attention_vector(const device T* q [[buffer(0)]], const device T* k [[buffer(1)]], const device T* v [[buffer(2)]],
                                 device T* out [[buffer(3)]], constant AttentionParams& p [[buffer(4)]],
                                 const device bool* mask [[buffer(5), function_constant(has_mask)]],
                                 const device T* sinks [[buffer(6), function_constant(has_sinks)]],
                                 uint3 tid [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                                 uint sg [[simdgroup_index_in_threadgroup]], uint n_sg [[simdgroups_per_threadgroup]],
                                 uint lane [[thread_index_in_simdgroup]]) {
  constexpr int per = D / 32, vper = V / 32;
  threadgroup float partial[32 * V];
  threadgroup float tops[32], sums[32];
  const int head = tid.x, row = tid.y, kv_head = head / p.gqa;
  typedef float U;
  thread U qr[per], o[vper];
  q += (head * p.q_len + row) * D + lane * per;
  k += kv_head * p.n_kv * D + lane * per;
  v += kv_head * p.n_kv * V + lane * vper;
  if (has_mask) mask += row * p.n_kv;
  for (int i = 0; i < per; ++i) qr[i] = U(p.scale) * q[i];
  for (int i = 0; i < vper; ++i) o[i] = 0;
  U top = -INFINITY, sum = 0;
  if (has_sinks && sg == 0) {
    top = U(sinks[head]);
    sum = 1;
  }
  for (int j = sg; j < p.n_kv; j += n_sg) {
    bool use = true;
    if (causal) use = j <= p.n_kv - p.q_len + row;
    if (has_mask) use = use && mask[j];
    if (use) {
      U s = 0;
      for (int i = 0; i < per; ++i) s += qr[i] * U(k[j * D + i]);
      s = simd_sum(s);
      const U new_top = max(top, s);
      const U factor = fast::exp(top - new_top), e = fast::exp(s - new_top);
      top = new_top;
      sum = sum * factor + e;
      for (int i = 0; i < vper; ++i) o[i] = o[i] * factor + e * U(v[j * V + i]);
    }
  }
  if (lane == 0) { tops[sg] = top; sums[sg] = sum; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  U mine = lane < n_sg ? tops[lane] : -INFINITY;
  const U all = simd_max(mine);
  const U total = simd_sum(lane < n_sg && mine != -INFINITY ? sums[lane] * fast::exp(mine - all) : 0);
  const U w = top == -INFINITY ? 0 : fast::exp(top - all);
  for (int i = 0; i < vper; ++i) partial[sg * V + lane * vper + i] = o[i] * w;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = sg * 32 + lane; i < V; i += n_sg * 32) {
    U r = 0;
    for (uint s = 0; s < n_sg; ++s) r += partial[s * V + i];
    out[(head * p.q_len + row) * V + i] = static_cast<T>(total == 0 ? 0 : r / total);
  }
}
expose("attention_float32_64", attention_vector, float, 64)
expose("attention_float16_64", attention_vector, half, 64)
expose("attention_bfloat16_128", attention_vector, bf16, 128)
expose("attention_float32_96_64", attention_vector, float, 96, 64)

// ---- mixed-radix FFT in threadgroup memory; the radices are function constants
constant int radix2_steps [[function_constant(30)]];
constant int radix3_steps [[function_constant(31)]];
constant int radix5_steps [[function_constant(32)]];
constant bool inverse [[function_constant(33)]];

template <int R>
FORGE_FUNC void butterfly(thread cplx* x) {
  cplx y[R];
  for (int i = 0; i < R; ++i) {
    y[i] = cplx(0.0f, 0.0f);
    for (int j = 0; j < R; ++j) {
      const float a = -2.0f * M_PI_F * float((i * j) % R) / R;
      y[i] += x[j] * cplx(precise::cos(a), precise::sin(a));
    }
  }
  for (int i = 0; i < R; ++i) x[i] = y[i];
}
template <>
FORGE_FUNC void butterfly<2>(thread cplx* x) {
  const cplx a = x[0] + x[1];
  x[1] = x[0] - x[1];
  x[0] = a;
}

// one Stockham step: n points, sub-transforms of length p
template <int R>
FORGE_FUNC void radix_pass(threadgroup cplx* in, threadgroup cplx* out, int n, int p, uint lid, uint lsize) {
  const int m = n / R;
  for (int i = lid; i < m; i += lsize) {
    const int k = i % p;
    cplx x[R];
    for (int r = 0; r < R; ++r) {
      const float a = -2.0f * M_PI_F * float(k * r) / float(p * R);
      x[r] = in[i + r * m] * cplx(precise::cos(a), precise::sin(a));
    }
    butterfly<R>(x);
    const int j = (i / p) * p * R + k;
    for (int r = 0; r < R; ++r) out[j + r * p] = x[r];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

template <int MAX>
[[kernel]] void fft(const device cplx* in [[buffer(0)]], device cplx* out [[buffer(1)]], constant const int& n [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]], uint lsize [[threads_per_threadgroup]]) {
  threadgroup cplx a[MAX], b[MAX];
  threadgroup cplx* src = a;
  threadgroup cplx* dst = b;
  for (int i = lid; i < n; i += lsize) {
    const cplx x = in[row * n + i];
    src[i] = inverse ? x.conj() : x;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int p = 1;
#define STEPS(R, COUNT)                                   \
  for (int s = 0; s < COUNT; ++s) {                       \
    radix_pass<R>(src, dst, n, p, lid, lsize);            \
    p *= R;                                               \
    threadgroup cplx* t = src; src = dst; dst = t;        \
  }
  STEPS(2, radix2_steps)
  STEPS(3, radix3_steps)
  STEPS(5, radix5_steps)
  for (int i = lid; i < n; i += lsize) {
    const cplx x = src[i];
    out[row * n + i] = inverse ? cplx(x.re / n, -x.im / n) : x;
  }
}
expose("fft_512", fft, 512)
