// One of everything the language has for compute.
#include <metal_stdlib>
using namespace metal;

// ---- declarations
enum class Mode : uchar { none, scale = 3, bias };
enum { kTile = 16, kHalf = kTile / 2 };
typedef struct { int a; float b; } Pair;
union Bits { float f; uint u; uchar4 bytes; };
struct alignas(16) Aligned { uint flags : 3; uint rest : 29; float values[3]; };
struct Base { int id; int get() const { return id; } };
struct Derived : Base { float w; Derived() = default; Derived(int i, float x) : Base{i}, w{x} {} };
template <typename D> struct Crtp { int twice() { return 2 * static_cast<thread D *>(this)->value(); } };
struct Seven : Crtp<Seven> { int value() { return 7; } };
struct WithPointers { device float *data; constant int *sizes; threadgroup float *scratch; };
constant float kTable[2][3] = {{1, 2, 3}, {4, 5, 6}};
constant Pair kPairs[] = {{1, 2.0f}, {3, 4.0f}};
constant constexpr int kCount = 5;
static constant constexpr float kPi = 3.14159f;
constant int kSizes[2] = {1, 2};
constant char kText[] = "text";
constant float3 kAxis = float3(0, 1, 0);
constexpr constant Mode kMode = Mode::scale;
namespace outer { namespace inner { constant int deep = 3; inline int f(int x) { return x + deep; } } }
namespace alias = outer::inner;
using outer::inner::deep;
inline namespace versioned { struct V1 { int x; }; }
namespace { int hidden(int x) { return x * 3; } }
extern "C" int plain_name(int x) { return x; }

// ---- overloads on the address space
float first(device const float *p) { return p[0]; }
float first(constant float *p) { return p[0] + 1; }
float first(threadgroup const float *p) { return p[0] + 2; }
float first(thread const float *p) { return p[0] + 3; }
template <typename T> T read(const device T &x) { return x; }
template <typename T> T read(const threadgroup T &x) { return x; }
template <typename T> T read(const thread T &x) { return x; }
struct Cell {
    float v;
    float get() const { return v; }
    float get() const device { return v; }
    float get() const constant { return v; }
    void set(float x) thread { v = x; }
    void set(float x) device { v = x; }
    thread Cell &operator+=(float x) { v += x; return *this; }
    Cell operator-() const { return {-v}; }
    explicit operator bool() const { return v != 0; }
    static Cell make(float x) { return {x}; }
    float out_of_class(int n) const;
    template <typename U> U as() const { return U(v); }
};
float Cell::out_of_class(int n) const { return v * n; }

// ---- templates
template <typename T, int N> struct Stack {
    T items[N];
    int n = 0;
    void push(T x) { items[n++] = x; }
    T pop() { return items[--n]; }
    constexpr static int capacity() { return N; }
    struct Iterator { int at; bool operator!=(Iterator o) const { return at != o.at; } };
};
template <typename T> struct Stack<T, 0> { void push(T) {} };
template <typename... Ts> auto sum_all(Ts... ts) { return (ts + ... + 0); }
template <typename T, typename... Rest> int count(T, Rest... rest) { if constexpr (sizeof...(rest) > 0) return 1 + count(rest...); else return 1; }
template <template <typename, int> class C, typename T> struct Uses { C<T, 4> inner; };
template <typename F, typename... A> auto apply(F f, A... a) { return f(a...); }
struct Shape { int m, n; constexpr int area() const { return m * n; } };
template <Shape S> int area() { return S.m * S.n; }
template <int I> struct Fib { static constexpr constant int value = Fib<I - 1>::value + Fib<I - 2>::value; };
template <> struct Fib<0> { static constexpr constant int value = 0; };
template <> struct Fib<1> { static constexpr constant int value = 1; };
template <typename T> constexpr constant bool is_wide = sizeof(T) > 4;
template <typename T, typename = enable_if_t<is_floating_point_v<T>>> T only_float(T x) { return x; }
template <typename T> using Row = array<T, 4>;
template <typename T> struct Op { T operator()(T a, T b) const { return a * b; } };
constexpr int power(int b, int e) { int r = 1; for (int i = 0; i < e; i++) r *= b; return r; }
static_assert(power(2, 10) == 1024, "constexpr functions");
static_assert(sizeof(float3) == 16 && alignof(float3) == 16 && sizeof(packed_float3) == 12);
template <int N, typename T> METAL_FUNC void fill(threadgroup T (&to)[N], T v) { for (int i = 0; i < N; i++) to[i] = v; }
METAL_FUNC float sum_of(const thread float (&x)[3]) { return x[0] + x[1] + x[2]; }
void out_params(thread float &a, thread int *b, threadgroup float *c) { a = 1; *b = 2; c[0] = 3; }

// ---- kernels
template <typename T, int N>
kernel void templated(device T *out, uint i [[thread_position_in_grid]]) {
    threadgroup T tile[N], other[N][2];
    threadgroup Pair pairs[N / 2];
    tile[i % N] = T(i);
    other[0][1] = tile[0];
    pairs[0].a = 1;
    out[i] = tile[(i + 1) % N] + other[0][1] + T(pairs[0].a);
}
template [[host_name("templated_f")]] kernel void templated<float, 32>(device float *, uint);
template [[host_name("templated_i")]] [[kernel]] void templated<int, 64>(device int *, uint);

[[kernel]] [[max_total_threads_per_threadgroup(64)]] void everything(
    device float *a [[buffer(0)]], device const Cell *cells [[buffer(1)]], constant Pair &pair [[buffer(2)]],
    device Aligned &aligned [[buffer(3)]], array<device float *, 2> many [[buffer(4)]], threadgroup float *scratch [[threadgroup(0)]],
    uint3 gid [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
    alignas(16) threadgroup uchar raw[64];
    threadgroup atomic_int counter;
    threadgroup float single, tile[kTile];
    threadgroup float *into = &tile[3];
    uint i = gid.x;
    if (lane == 0) {
        atomic_store_explicit(&counter, 0, memory_order_relaxed);
        raw[0] = 1;
        single = 2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    fill(tile, 0.5f);
    *into = 1;
    float acc = first(a) + first(&kTable[1][0]) + first(scratch) + read(a[0]) + read(tile[0]) + single + raw[0];
    float x, three[3] = {1, 2, 3};
    int y;
    out_params(x, &y, scratch);
    acc += x + y + sum_of(three) + first(three);
    Cell c{1.5f};
    c += 2;
    c.set(c.get() + cells[i].get() + (-c).out_of_class(2) + Cell::make(1).as<float>());
    if (c)
        acc += c.v;
    Derived d(3, 4.0f);
    acc += d.get() + d.w + Seven().twice() + apply(Op<float>{}, 2.0f, 3.0f);
    Stack<float, 8> stack;
    stack.push(acc);
    Stack<int, 0>().push(3);
    acc += stack.pop() + Stack<float, 8>::capacity() + sum_all(1, 2.0f, 3u) + count(1, 2, 3) + area<Shape{3, 4}>() + Fib<10>::value;
    acc += is_wide<float> ? 1 : 2;
    acc += only_float(1.0h) + alias::f(deep) + hidden(2) + plain_name(4) + kPairs[1].b + kText[0] + kAxis.y + kCount + kPi;
    Row<int> row = {1, 2, 3, 4};
    for (int v : row)
        acc += v;
    for (auto v : three)
        acc += v;
    auto by_value = [acc](float s) { return acc * s; };
    auto by_reference = [&](int n) { acc += n; return acc; };
    auto generic = [](auto p, auto q) { return p < q ? p : q; };
    acc = by_value(2) + by_reference(3) + generic(1, 2) + [] { return 1.0f; }();
    Bits bits;
    bits.f = acc;
    bits.bytes.x ^= 1;
    switch (kMode) {
    case Mode::none: break;
    case Mode::scale: acc *= 2; [[fallthrough]];
    default: acc += as_type<float>(bits.u & ~1u);
    }
    float4 v = float4(a[i], float2(1, 2), 3.0f);
    v.xyz = v.zyx;
    v.rg += 1.0f;
    v[3] = v.w * 0x1p-2f + 1.5e3f + 0b101 + 1'000;
    half4 h = half4(v) * 0.5h;
    bool4 mask = v > float4(0) && !isnan(v);
    v = select(v, float4(h), mask);
    uchar2 small = uchar2(v.xy);
    float3x3 m = float3x3(float3(1, 0, 0), float3(0, 1, 0), float3(0, 0, 1));
    m[1].x = any(mask) ? 1 : 0;
    v.xyz = m * v.xyz;
    aligned.flags = 2;
    aligned.values[1] = v.x + small.x;
    WithPointers wp = {a, &kSizes[0], scratch};
    wp.data[0] = 1;
    many[1][i] = acc;
#pragma unroll
    for (int k = 0; k < 4; k++)
        acc += k;
#pragma clang loop unroll_count(2)
    while (acc > 1000)
        acc /= 2;
    do {
        acc -= 1;
    } while (acc > 100);
    a[i] = (i & 1 ? a[i] : tile[i % kTile]) + (i > 3 ? pair.b : scratch[0]) + v.x;
    auto [first_part, second_part] = Pair{1, 2.0f};
    a[i] += first_part + second_part + atomic_load_explicit(&counter, memory_order_relaxed);
}
