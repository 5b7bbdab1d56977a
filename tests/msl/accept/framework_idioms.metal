// Idioms of array and tensor frameworks that stress the type system: atomics chosen by traits,
// matrix fragments reinterpreted as vectors, integral constants, decltype of locals, nested metal.
#include <metal_stdlib>
using namespace metal;
// atomics by traits
template <typename T> constexpr constant bool is_metal_atomic = _disjunction<is_same<T, int>, is_same<T, uint>, is_same<T, ulong>, is_same<T, float>>::value;
template <typename T, typename = void> struct my_atomic { atomic<uint> val; };
template <typename T> struct my_atomic<T, enable_if_t<is_metal_atomic<T>>> { atomic<T> val; };
template <typename T, enable_if_t<is_metal_atomic<T>, bool> = true>
METAL_FUNC T my_load(device my_atomic<T> *object, size_t offset) { return atomic_load_explicit(&(object[offset].val), memory_order_relaxed); }
namespace {
template <typename T> constexpr constant uint packing_size = sizeof(uint) / sizeof(T);
template <typename T> union uint_or_packed { uint val; T packed[packing_size<T>]; };
template <typename T, typename Op> struct update_helper {
  uint operator()(uint_or_packed<T> init, T update, size_t elem_offset) {
    Op op; init.packed[elem_offset] = op(update, init.packed[elem_offset]); return init.val;
  }
};
template <typename T, typename Op>
METAL_FUNC void update_and_store(device my_atomic<T> *object, T update, size_t offset) {
  size_t pack_offset = offset / packing_size<T>;
  size_t elem_offset = offset % packing_size<T>;
  update_helper<T, Op> helper;
  uint_or_packed<T> expected;
  expected.val = atomic_load_explicit(&(object[pack_offset].val), memory_order_relaxed);
  while (Op::condition(update, expected.packed[elem_offset]) &&
         !atomic_compare_exchange_weak_explicit(&(object[pack_offset].val), &(expected.val), helper(expected, update, elem_offset), memory_order_relaxed, memory_order_relaxed)) {}
}
template <typename T> struct Max { static bool condition(T a, T b) { return a > b; } T operator()(T a, T b) { return a > b ? a : b; } };
}
kernel void at(device my_atomic<half> *h, device my_atomic<int> *n, device int *o) { update_and_store<half, Max<half>>(h, 1.0h, 3); o[0] = my_load(n, 2); }
// fragments
template <typename T, int R, int C> struct Frag {
  typedef simdgroup_matrix<T, R, C> mat_type;
  typedef vec<T, 2> frag_type;
  METAL_FUNC static constexpr short2 get_coord(ushort lane [[thread_index_in_simdgroup]]) { const short qid = lane / 4; return short2{short((qid & 2) * 2), short((qid & 4) + (lane / 2) % 4)}; }
  template <typename SrcPtr, typename StrX, typename StrY>
  METAL_FUNC static constexpr void load(thread frag_type &dst, SrcPtr src, StrX sx, StrY sy) { for (short i = 0; i < 2; i++) dst[i] = static_cast<T>(src[i * sy.value + sx]); }
  METAL_FUNC static constexpr void mma(thread frag_type &D, thread frag_type &A, thread frag_type &B, thread frag_type &Cc) {
    mat_type Dm, Am, Bm, Cm;
    reinterpret_cast<thread frag_type &>(Am.thread_elements()) = A;
    reinterpret_cast<thread frag_type &>(Bm.thread_elements()) = B;
    reinterpret_cast<thread frag_type &>(Cm.thread_elements()) = Cc;
    simdgroup_multiply_accumulate(Dm, Am, Bm, Cm);
    D = reinterpret_cast<thread frag_type &>(Dm.thread_elements());
  }
};
template <class T, T v> struct constant_of { static constexpr constant T value = v; using value_type = T; METAL_FUNC constexpr operator value_type() const noexcept { return value; } };
template <int val> using Int = constant_of<int, val>;
template <typename T, T tv, typename U, U uv> METAL_FUNC constexpr auto operator+(constant_of<T, tv>, constant_of<U, uv>) { constexpr auto res = tv + uv; return constant_of<decltype(res), res>{}; }
template <typename T, int N> struct Tile {
  using F = Frag<T, 8, 8>;
  using frag_type = typename F::frag_type;
  frag_type val_frags[N];
  METAL_FUNC Tile() thread {}
  METAL_FUNC constexpr void clear() { for (short i = 0; i < N; ++i) val_frags[i] = frag_type(0); }
  METAL_FUNC constexpr thread frag_type &frag_at(const short i) { return val_frags[i]; }
  METAL_FUNC constexpr const thread frag_type &frag_at(const short i) const { return val_frags[i]; }
  METAL_FUNC thread T *elems() { return reinterpret_cast<thread T *>(val_frags); }
  METAL_FUNC void mma_all(thread Tile &a, thread Tile &b) { for (short i = 0; i < N; i++) F::mma(frag_at(i), a.frag_at(i), b.frag_at(i), frag_at(i)); }
  template <typename U, int w> METAL_FUNC void load(const threadgroup U *src) { F::load(frag_at(0), &src[w], Int<1>{}, Int<1>{} + Int<2>{}); }
};
kernel void frag(device float *o, ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup float s[64];
  Tile<float, 2> c, a, b; c.clear(); a.clear(); b.load<float, 3>(s); c.mma_all(a, b); o[lane] = c.elems()[0] + Frag<float, 8, 8>::get_coord(lane).x;
}
// gather
template <typename IdxT, int NIDX> struct Indices { const array<const device IdxT *, NIDX> buffers; const constant int *shapes; const int ndim; };
kernel void gather(const device uint *i0 [[buffer(20)]], const device uint *i1 [[buffer(21)]], const constant int *shapes [[buffer(2)]], device float *o) {
  Indices<uint, 2> idxs{{{i0, i1}}, shapes, 2};
  o[0] = idxs.buffers[1][0] + idxs.shapes[0];
}
// bfloat matrices, casts, local constants
typedef matrix<bfloat, 4, 4> bf4x4;
union rbits { uint2 val; uchar4 bytes[2]; };
namespace c10 { namespace metal {
constant constexpr unsigned max_ndim = 16;
template <typename T, unsigned N> using array = ::metal::array<T, N>;
struct Params { array<uint, max_ndim> sizes; long count; };
template <typename T> struct AtomicType {};
template <> struct AtomicType<float> { using type = ::metal::atomic<float>; static inline void atomic_add(device type *data, long offset, float value) { ::metal::atomic_fetch_add_explicit(data + offset, value, ::metal::memory_order_relaxed); } };
template <typename T> float chbevl(T x, const float table[], const int len) { return table[len - 1] * x; }
template <typename T> float i0(T x) {
  constexpr float A[] = {1.0f, 2.0f};
  static constant constexpr float B[] = {3.0f, 4.0f};
  return chbevl(x, A, 2) + B[1];
}
} }
kernel void torch_like(device c10::metal::AtomicType<float>::type *d, constant c10::metal::Params &p, device bfloat4 *m, const device uint *packed, uint tid [[thread_position_in_grid]]) {
  c10::metal::AtomicType<float>::atomic_add(d, p.sizes[1], c10::metal::i0(1.0h));
  bf4x4 b4;
  b4[0] = m[0];
  m[1] = b4[0] * bfloat(2.0);
  rbits r; r.val = uint2(packed[tid], 1); m[0].x = bfloat(r.bytes[0].x);
  auto w = reinterpret_cast<const device ushort *>(packed);
  m[2] = bfloat4(float4(w[0]));
}
