// Textures and samplers wherever programs put them.
#include <metal_stdlib>
#include <metal_texture>
#include <simd/simd.h>
using namespace metal;

constexpr sampler program_sampler(coord::normalized, address::repeat, filter::linear);
constexpr metal::sampler qualified(metal::coord::pixel, metal::filter::nearest);
static constexpr sampler hidden(mag_filter::linear, min_filter::nearest, mip_filter::linear);
constant constexpr sampler placed(s_address::clamp_to_edge, t_address::mirrored_repeat, r_address::clamp_to_zero);
constexpr constant sampler placed_too(compare_func::less_equal, max_anisotropy(8), lod_clamp(0.5f, 4.0f));
constexpr sampler braced{address::clamp_to_border, border_color::opaque_white};
constexpr sampler biased(filter::linear, mip_filter::linear, bias(-0.5f), lod_clamp(1.0f, 8.0f));
static_assert(sizeof(sampler) == 8 && sizeof(texture2d<float>) == 8, "handles");
constexpr sampler copied = sampler(filter::linear);
constexpr sampler nothing_said;
namespace inner {
constexpr sampler nested(filter::linear);
}
constant float kernel_weights[3] = {0.25f, 0.5f, 0.25f};

struct Holder {
    static constexpr sampler shared_sampler = sampler(filter::linear, coord::pixel);
    static constexpr constant sampler other_sampler = sampler(filter::nearest);
    texture2d<float> image;
    sampler smp;
    float4 at(float2 uv) { return image.sample(smp, uv) + image.sample(shared_sampler, uv); }
    float4 fixed(float2 uv) const { return image.sample(other_sampler, uv, level(0)); }
};
struct Args {
    texture2d<float> color [[id(0)]];
    texture2d<half, access::write> out [[id(1)]];
    array<texture2d<float>, 4> many [[id(2)]];
    sampler smp [[id(10)]];
    device float *data [[id(11)]];
    constant float4 &tint [[id(12)]];
    float scale [[id(13)]];
    depth2d<float> shadow [[id(14)]];
    array<sampler, 2> samplers [[id(20)]];
    texture2d<float> plain_array[3] [[id(30)]];
};
struct Nested {
    Args args;
    texturecube<float> environment;
};

float4 by_value(texture2d<float, access::sample> t, sampler s, float2 uv) { return t.sample(s, uv); }
float4 by_reference(thread const texture2d<float> &t, thread const sampler &s, float2 uv) { return t.sample(s, uv); }
float4 by_pointer(thread texture2d<float> *t, float2 uv) { return t->sample(program_sampler, uv); }
float4 in_constant(constant Args &a, float2 uv) { return a.color.sample(a.smp, uv) * a.tint; }
float4 in_device(device const Args &a, float2 uv) { return a.color.sample(a.smp, uv) + a.many[2].sample(a.samplers[1], uv); }
template <typename Tex> float4 any_texture(Tex t, float2 uv) { return float4(t.sample(hidden, uv)); }
template <typename T, access A> vec<T, 4> any_access(texture2d<T, A> t, uint2 p) { return t.read(p); }
template <typename T> void put(texture2d<T, access::write> t, vec<T, 4> v, ushort2 p) { t.write(v, p); }
float4 through_ref(array_ref<texture2d<float>> list, float2 uv) {
    float4 sum = 0;
    for (const auto t : list) sum += t.sample(placed, uv);
    return sum + list[0].sample(placed, uv);
}
float4 through_array(array<texture2d<float>, 4> list, float2 uv) { return list[1].sample(placed, uv); }

kernel void parameters(texture2d<float> a [[texture(0)]], texture2d<half> h [[texture(1)]],
                       texture2d<float, access::read> r [[texture(2)]],
                       texture2d<half, access::write> w [[texture(3)]],
                       texture2d<uint, access::read_write> rw [[texture(4)]],
                       array<texture2d<float>, 4> list [[texture(5)]],
                       sampler s [[sampler(0)]], array<sampler, 2> samplers [[sampler(1)]],
                       uint2 gid [[thread_position_in_grid]]) {
    constexpr sampler local(filter::linear, address::repeat);
    static constexpr sampler local_static(filter::linear);
    const sampler chosen = gid.x > 3 ? local : s;
    float2 uv = float2(gid) / float2(a.get_width(), a.get_height());
    float4 c = by_value(a, s, uv) + by_reference(a, s, uv) + by_pointer(&a, uv) + any_texture(a, uv) +
               any_texture(h, uv) + any_access(r, gid) + through_array(list, uv) + through_ref(list, uv);
    c += a.sample(local_static, uv) + a.sample(chosen, uv) + a.sample(samplers[gid.y & 1], uv);
    c += a.sample(inner::nested, uv) + a.sample(qualified, uv) + a.sample(biased, uv) + a.sample(braced, uv) + a.sample(copied, uv);
    c += a.sample(nothing_said, uv, level(0)) + a.sample(placed_too, uv, bias(0.5f));
    texture2d<float> same = gid.x & 1 ? a : list[3];
    c += same.sample(s, uv);
    auto another = list[gid.x & 3];
    c += another.read(gid);
    put(w, half4(c), ushort2(gid));
    rw.write(rw.read(gid) + 1, gid);
    rw.fence();
    if (!is_null_texture(a)) w.write(half4(0), gid);
}

kernel void argument_buffers(constant Args &args [[buffer(0)]], device Args *table [[buffer(1)]],
                             constant Nested &nested [[buffer(2)]], uint2 gid [[thread_position_in_grid]]) {
    float2 uv = float2(gid) * args.scale;
    float4 c = in_constant(args, uv) + in_device(table[3], uv) + nested.args.many[gid.x & 3].sample(args.smp, uv);
    c += args.plain_array[1].sample(args.smp, uv);
    c.x += args.shadow.sample_compare(args.smp, uv, 0.5f);
    c += nested.environment.sample(args.smp, float3(uv, 1));
    table[gid.x].data[gid.y] = c.x;
    args.out.write(half4(c), gid);
    Args copy = args;
    copy.out.write(half4(c), gid);
}

kernel void unnumbered(texture2d<float> a, texture2d<float> b [[texture(0)]], sampler s, sampler t [[sampler(0)]],
                       texture2d<float, access::write> out, uint2 gid [[thread_position_in_grid]]) {
    Holder h;
    h.image = b;
    h.smp = s;
    Holder braces{a, t};
    out.write(h.at(float2(gid)) + braces.fixed(float2(gid)), gid);
}

// ---- bindless tables, aliases, names
kernel void bindless(constant array<texture2d<float>, 8> &textures [[buffer(0)]], device texture2d<float> *more [[buffer(1)]],
    constant sampler &s [[buffer(2)]], device float4 *out [[buffer(3)]], const texture2d<float> c [[texture(0)]], const sampler d [[sampler(0)]],
    constant texture2d<half, access::write> *outs [[buffer(4)]],
    uint i [[thread_position_in_grid]]) {
    out[i] = textures[i & 7].sample(s, float2(i), level(0)) + more[i].read(uint2(i)) + c.sample(d, float2(0));
    outs[3].write(half4(out[i]), uint2(i));
}
typedef texture2d<float, access::sample> Tex;
using Out = metal::texture2d<float, metal::access::write>;
template <typename T> struct Reader { texture2d<T> t; vec<T,4> operator()(uint2 p) const { return t.read(p); } };
kernel void aliases(Tex t [[texture(0)]], Out o [[texture(1)]], uint2 texture [[thread_position_in_grid]]) {
    Reader<float> r{t};
    auto f = [&](uint2 p) { return t.read(p); };
    o.write(r(texture) + f(texture.yx), texture);
}

// ---- arrays of samplers, textures as results, templates of kernels
constexpr sampler list[2] = {sampler(filter::linear), sampler(filter::nearest)};
constexpr sampler one(filter::linear), two(filter::nearest);
constant sampler more[] = {sampler(coord::pixel), sampler(address::repeat)};
texture2d<float> pick(texture2d<float> a, texture2d<float> b, bool c) { return c ? a : b; }
template <typename T, access A>
[[kernel]] void convert(texture2d<T, A> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]], uint2 gid [[thread_position_in_grid]]) {
    out.write(float4(in.read(gid)), gid);
}
template [[host_name("convert_f")]] [[kernel]] void convert<float, access::read>(texture2d<float, access::read>, texture2d<float, access::write>, uint2);
template [[host_name("convert_h")]] [[kernel]] void convert<half, access::sample>(texture2d<half>, texture2d<float, access::write>, uint2);
kernel void chosen(texture2d<float> a, texture2d<float> b, texture2d<float, access::write> out [[texture(7)]], uint2 gid [[thread_position_in_grid]]) {
    float2 uv = float2(gid);
    float4 c = pick(a, b, gid.x > 3).sample(list[gid.x & 1], uv) + a.sample(more[gid.y & 1], uv) + b.sample(one, uv) + b.sample(two, uv);
    out.write(c, gid);
}

// ---- graphics functions are listed; their bodies compile
struct Vertex {
    float4 position [[position]];
    float2 uv;
};
vertex Vertex vs(uint id [[vertex_id]], texture2d<float> heights [[texture(0)]]) {
    Vertex v;
    v.position = float4(heights.sample(program_sampler, float2(id), level(0)));
    v.uv = v.position.xy;
    return v;
}
fragment half4 fs(Vertex in [[stage_in]], texture2d<half> color [[texture(0)]], sampler s [[sampler(0)]],
                  depth2d<float> shadow [[texture(1)]]) {
    constexpr sampler compare(compare_func::less);
    float2 width = fwidth(in.uv) + dfdx(in.uv) - dfdy(in.uv);
    half4 c = color.sample(s, in.uv + width);
    if (c.a < 0.5h) discard_fragment();
    return c * half(shadow.sample_compare(compare, in.uv, 0.5f));
}

// Arrays of samplers in program scope; coherence of textures and memory; structures of resources.
constexpr array<sampler, 2> both = {sampler(address::clamp_to_zero), sampler(coord::pixel)};
constexpr metal::array<metal::sampler, 1> full_names = {sampler(filter::linear)};
struct Pair { texture2d<float> a [[texture(4)]]; depth2d<float> b; };
struct Resources { Pair pair; sampler s [[sampler(1)]]; device float4 *out [[buffer(3)]]; constant float &k; };
kernel void by_value(Resources r, uint i [[thread_position_in_grid]]) {
    static constexpr array<sampler, 1> local = {sampler(filter::linear)};
    r.out[i] = r.pair.a.sample(both[i & 1], float2(0.5f)) + r.pair.a.sample(local[0], float2(0.5f)) +
               r.pair.a.sample(full_names[0], float2(0.5f)) + r.pair.b.sample(r.s, float2(0.5f)) * r.k;
}
kernel void coherence(texture2d<float, access::read_write, memory_coherence_device> t [[texture(0)]],
                      texture2d<uint, access::write, memory_coherence::memory_coherence_device> u,
                      texture2d<half, access::read, memory_coherence_threadgroup> v,
                      coherent device uint *a, device coherent uint *b, coherent(device) device uint *c,
                      uint2 p [[thread_position_in_grid]]) {
    int coherent = 1; // a word like others elsewhere
    t.write(t.read(p) + float4(v.read(p)) + coherent, p);
    u.write(a[0] + b[0] + c[0], p);
}

// Functions of sparse textures.
kernel void sparse(texture2d<float> t, depth2d_array<float> d, texture3d<half> v, sampler s,
                   device float4 *out [[buffer(0)]]) {
    sparse_color<float4> c = t.sparse_read(uint2(0));
    if (c.resident()) out[0] = c.value();
    out[1] = t.sparse_sample(s, float2(0.5f), level(1), int2(1, 0)).value() +
             t.sparse_gather(s, float2(0.5f)).value();
    out[2] = d.sparse_sample_compare(s, float2(0.5f), 1, 0.5f).value() +
             d.sparse_gather_compare(s, float2(0.5f), 1, 0.5f).value();
    out[3] = float4(v.sparse_sample(s, float3(0.5f)).value());
}
