// Imageblocks of both layouts, their functions, every pixel data type.
#include <metal_stdlib>
#include <metal_imageblocks>
using namespace metal;
struct C { half4 c [[color(0)]]; uint n [[color(3)]]; };
struct G {
    rgba8unorm<half4> a; r8unorm<half> b [[raster_order_group(0)]] [2]; rg8unorm<float2> c; r8snorm<float> d;
    r16unorm<float> e; r16snorm<float> f; rg8snorm<half2> g; rg16unorm<float2> h; rg16snorm<float2> i;
    srgba8unorm<half4> j; rgba8snorm<half4> k; rgba16unorm<float4> l; rgba16snorm<float4> m;
    rgb10a2<half4> n; rg11b10f<half3> o; rgb9e5<float3> p; float q;
};
struct Out { G g [[imageblock_data]]; half4 c [[color(0)]]; };
template <class L> static void twice(imageblock<C, L> b, ushort2 at) {
    C v = b.read(at);
    v.c *= 2;
    b.write(v, at, b.get_color_coverage_mask(at, 0));
}
kernel void implicit(imageblock<C> b, ushort2 at [[thread_position_in_threadgroup]]) {
    twice(b, at);
    C v = b.read(at, 1, imageblock_data_rate::sample);
    b.write(v, at, 0, imageblock_data_rate::color);
    b.write(v, at % ushort2(b.get_width(), b.get_height()), ushort(b.get_num_samples()));
}
kernel void explicit_layout(imageblock<G, imageblock_layout_explicit> b, ushort2 at [[thread_position_in_threadgroup]]) {
    threadgroup_imageblock G *g = b.data(at);
    g->a = half4(1);
    g->b[1] = half(g->b[0]) * 0.5h;
    g->o = half3(float3(g->p)) + half4(g->n).xyz;
    b.data(at, 0, imageblock_data_rate::sample)->q = 1;
}
kernel void slices(imageblock<G, imageblock_layout_explicit> b, ushort2 at [[thread_position_in_threadgroup]],
                   texture2d<float, access::write> t [[texture(0)]], texture1d_array<half, access::write> u [[texture(1)]],
                   texturecube_array<float, access::read_write> v [[texture(2)]], texture3d<float, access::write> w [[texture(3)]]) {
    const threadgroup_imageblock G *g = b.data(at);
    imageblock_slice<rgb9e5<float3>, imageblock_layout_explicit> p = b.slice(g->p);
    t.write(p, at), t.write(p, uint2(at), 1), t.write(b.slice(g->q), at), t.write(b.slice(g->c, ushort2(2)), at, 0);
    u.write(b.slice(g->b[1]), 3u, 1u), u.write(b.slice(g->a, ushort2(1), ushort2(2)), ushort(3), ushort(1));
    v.write(b.slice(g->m), at, 2, 1), w.write(b.slice(g->o), uint3(0));
}
kernel void colors(imageblock<C> b, texture2d<half, access::write> t [[texture(0)]],
                   texture2d_array<uint, access::write> u [[texture(1)]]) {
    t.write(b.slice<half4>(0u), ushort2(0)), u.write(b.slice<uint>(3u, ushort2(4, 4)), ushort2(0), 1);
}
kernel void of_type(imageblock<G> b, ushort2 at [[thread_position_in_threadgroup]]) { b.data(at)->q = 2; }
fragment Out both(G g [[imageblock_data]], half4 c [[color(0), raster_order_group(0)]], ushort2 p [[pixel_position_in_tile]],
                  ushort2 n [[pixels_per_tile]], ushort t [[tile_index]], threadgroup uint *m [[threadgroup(0)]]) {
    m[p.x % n.x] = t;
    return {g, c};
}
namespace deep { template <typename T> struct Master { T a [[user(first)]]; float b; }; using H = Master<half4>; }
struct View { half4 x [[user(first)]]; };
struct ViewOut { View v [[imageblock_data(deep::Master<half4>)]]; };
fragment ViewOut viewed(View v [[imageblock_data(deep::H)]]) { return {v}; }
fragment half4 named(G g [[imageblock_data(G)]]) { return g.a; }
