// Tensors as programs write them.
#include <metal_stdlib>
#include <metal_tensor>
#include <metal_packed_numeric>
using namespace metal;

// extents: how they are made and compared
constexpr constant auto fixed = extents<int, 4, 8>();
static_assert(fixed.rank() == 2 && fixed.rank_dynamic() == 0 && fixed.extent(1) == 8);
static_assert(extents<int, 4, dynamic_extent>(7).extent(1) == 7);
static_assert(extents<int, 4, dynamic_extent>(4, 7).extent(0) == 4);
static_assert(extents<uint, dynamic_extent, 3, dynamic_extent>(5u, 6u).extent(2) == 6);
static_assert(dextents<int, 2>(3, 4) == extents<int, 3, 4>());
static_assert(!(dextents<int, 2>{3, 5} == extents<long, 3, 4>()));
static_assert(is_same_v<dextents<int, 2>, extents<int, dynamic_extent, dynamic_extent>>);
static_assert(dextents<short, 1>::static_extent(0) == dynamic_extent);
static_assert(dextents<int, 2>(array<int, 2>{6, 7}).extent(1) == 7);
static_assert(dextents<int, 2>(extents<long, 3, 4>()).extent(0) == 3);
static_assert(is_same_v<extents<uint, 2>::index_type, uint>);
static_assert(dextents<int, 0>::rank() == 0);

// kinds
using Handle = tensor<device half, dextents<int, 2>>;
using Inline = tensor<device half, dextents<int, 2>, tensor_inline>;
static_assert(is_same_v<Handle, tensor<device half, dextents<int, 2>, tensor_handle>>);
static_assert(sizeof(Handle) == 8 && sizeof(Handle[16]) == 128 && alignof(Handle) == 8);
static_assert(is_tensor_handle_v<Handle> && !is_tensor_inline_v<Handle> && !has_tensor_offset_v<Handle>);
static_assert(is_tensor_inline_v<Inline> && !is_tensor_handle_v<Inline>);
static_assert(has_tensor_offset_v<tensor<device half, dextents<int, 2>, tensor_handle, tensor_offset>>);
static_assert(!is_tensor_handle_v<float>);
static_assert(is_same_v<Handle::value_type, half> && is_same_v<Handle::element_type, device half>);
static_assert(is_same_v<Handle::extents_type, dextents<int, 2>> && is_same_v<Handle::index_type, int>);
static_assert(is_same_v<tensor<constant float, dextents<int, 1>>::value_type, float>);
static_assert(Handle::get_rank() == 2);

#if !defined(__HAVE_TENSOR__)
#error tensors are part of Metal 4
#endif

struct Model {
    Handle weights[16];
    tensor<device half, dextents<int, 1>> biases[16];
    constant float *scale;
};
struct Scene { // held by value
    Handle image;
    texture2d<float, access::write> out;
    float operator()(uint2 p) const { return image[p.x, p.y]; }
};

template <class T> METAL_FUNC void fill(T t, typename T::value_type value) {
    for (typename T::index_type j = 0; j < t.get_extent(1); j++)
        for (typename T::index_type i = 0; i < t.get_extent(0); i++) t[i, j] = value;
}
METAL_FUNC float sum(tensor<threadgroup const float, dextents<int, 1>, tensor_inline> t) {
    float s = 0;
    for (int i = 0; i < t.get_extent(0); i++) s += t[i];
    return s;
}

kernel void everything(Handle a, tensor<device const float, dextents<int32_t, 2>> b [[buffer(4)]],
                       tensor<constant half, dextents<uint, 3>, tensor_handle> c,
                       constant Model &m [[buffer(7)]], device Model &n [[buffer(8)]],
                       Scene scene, device uchar *codes [[buffer(11)]], uint2 p [[thread_position_in_grid]]) {
    threadgroup float shared[64];
    half own[6] = {};
    auto t = tensor(shared, extents<int, 64>());
    auto u = tensor(own, dextents<int, 2>(2, 3));
    tensor<thread half, extents<int, 2, 3>, tensor_inline> v(own, extents<int, 2, 3>());
    Inline w(&a[0, 0], dextents<int, 2>{a.get_extent(0), a.get_extent(1)},
             array<int, 2>{1, a.get_stride(1)});
    auto strided = tensor(codes, dextents<ulong, 2>(p.x, p.y), array<long, 2>{1, 256});
    tensor<device uint4b_format, dextents<int, 2>, tensor_inline> four(codes, dextents<int, 2>(32, 4));
    fill(u, 1.0h);
    fill(v, 2.0h);
    fill(a, 3.0h);
    fill(a.slice(1, 2), 4.0h);
    fill(w.slice<4, dynamic_extent>(p.x, p.y), 5.0h);
    t[p.x & 63] = c[0, 1, 2] + b[p] + strided[0, 0] + *four.slice(p.x & 30, 0).data_handle();
    *four.data_handle() = 7;
    if (is_null_tensor(a) || is_null_tensor(m.weights[2].slice(1, 1))) return;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    n.weights[p.x & 15][0, 0] = half(sum(t)) + m.biases[p.y & 15][array<int, 1>{0}];
    Handle copy = m.weights[1];
    device half *first = &copy.slice(2, 2)[0, 0];
    *first += half(scene(p));
    scene.out.write(float4(own[p.x % 6]), p);
}

// Works in visible functions and in functions of other libraries' types too.
[[visible]] float first_of(tensor<device float, dextents<int, 1>> t) { return t[0]; }
