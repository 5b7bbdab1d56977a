// Texture functions under every kind of control flow, and textures that differ between threads.
#include <metal_stdlib>
using namespace metal;

// ---- every thread its own texture and sampler
kernel void varying_handles(array<texture2d<float>, 4> t [[texture(0)]], array<sampler, 2> s [[sampler(0)]],
                            device const uint *which [[buffer(0)]], device float4 *out [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    uint k = which[i];
    out[i] = t[k & 3].sample(s[k >> 2 & 1], float2(float(i & 7) + 0.5f, float(k)), level(0));
}
kernel void varying_write(array<texture2d<uint, access::write>, 3> t, device const uint *which, uint i [[thread_position_in_grid]]) {
    t[which[i] % 3].write(uint4(i + 1), uint2(i % 16, i / 16));
}
kernel void varying_sizes(array<texture2d<float>, 4> t, device const uint *which, device uint *out, uint i [[thread_position_in_grid]]) {
    out[i] = t[which[i] & 3].get_width() * 100 + t[which[i] & 3].get_height(1);
}

// ---- control flow
kernel void in_branches(texture2d<float, access::read> t, texture2d<uint, access::read> n, device float *out, uint i [[thread_position_in_grid]]) {
    float v = -1;
    uint2 p = uint2(i % 16, i / 16);
    if (n.read(p).x % 3 == 0) v = t.read(p).x;
    else if (i % 5 == 1) v = t.read(p.yx).x + 100;
    out[i] = v;
}
kernel void in_loops(texture2d<float, access::read> t, device const uint *steps, device float *out, uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < steps[i]; k++) {
        float v = t.read(uint2(k % 16, (i + k) % 16)).x;
        if (v > 240) break;
        sum += v;
    }
    out[i] = sum;
}
kernel void write_in_branch(texture2d<uint, access::write> t, device const uint *on, uint i [[thread_position_in_grid]]) {
    if (on[i] & 1) t.write(uint4(i + 1), uint2(i % 16, i / 16));
    else if (on[i] & 2) t.write(uint4(1000 + i), uint2(i % 16, i / 16));
}
kernel void early_return(texture2d<float> t, device float *out, constant uint &n, uint i [[thread_position_in_grid]]) {
    constexpr sampler s(coord::pixel);
    if (i >= n) return;
    out[i] = t.sample(s, float2(i % 16, i / 16) + 0.5f, level(0)).x;
}

// ---- the same everywhere: one call for all threads
kernel void uniform_call(texture2d<float> t, device float4 *out, constant float2 &uv, uint i [[thread_position_in_grid]]) {
    constexpr sampler s(coord::pixel, filter::linear);
    out[i] = t.sample(s, uv) + float4(i) + t.read(uint2(uv));
}

// ---- read and write, and atomics
kernel void in_place(texture2d<uint, access::read_write> t, uint2 p [[thread_position_in_grid]]) {
    t.write(t.read(p) * 2 + 1, p);
    t.fence();
    t.write(t.read(p) + 5, p);
}
kernel void across_barrier(texture2d<uint, access::read_write> t, device uint *out, uint i [[thread_position_in_grid]],
                           uint l [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                           uint n [[threads_per_threadgroup]]) {
    t.write(uint4(i * 3 + 1), uint2(l, g));
    threadgroup_barrier(mem_flags::mem_texture);
    out[i] = t.read(uint2(n - 1 - l, g)).x;
}
kernel void count(texture2d<uint, access::read_write> t, texture1d<int, access::read_write> least, device uint *old, uint i [[thread_position_in_grid]]) {
    old[i] = t.atomic_fetch_add(uint2(i % 3, 0), 1u).x;
    t.atomic_fetch_max(uint2(0, 1), i);
    t.atomic_fetch_xor(uint2(1, 1), uint4(i));
    least.atomic_fetch_min(0, -int(i));
    uint4 expected = 0;
    if (t.atomic_compare_exchange_weak(uint2(2, 1), &expected, uint4(i + 1))) t.atomic_fetch_add(uint2(0, 2), 1u);
    uint was = t.atomic_exchange(uint2(1, 2), i + 1).x;
    (void)was;
    if (i == 7) t.atomic_store(uint4(77), uint2(2, 2));
    threadgroup_barrier(mem_flags::mem_texture);
}
kernel void wide_atomics(texture2d<ulong, access::read_write> t, uint i [[thread_position_in_grid]]) {
    t.atomic_max(uint2(0, 0), ulong4(((ulong)i << 32) | (99 - i)));
    t.atomic_min(uint2(1, 0), ulong4(((ulong)i << 32) | 5));
}

// ---- sizes
kernel void sizes(texture1d<float> a, texture1d_array<float> b, texture2d<float> c, texture2d_array<float> d, texture3d<float> e,
                  texturecube<float> f, texturecube_array<float> g, texture2d_ms<float> h, texture_buffer<float> k,
                  texture2d<float> none, device uint *o, uint i [[thread_position_in_grid]]) {
    uint v[] = {a.get_width(), b.get_width(), b.get_array_size(), c.get_width(), c.get_height(), c.get_width(2), c.get_height(9),
                c.get_num_mip_levels(), d.get_array_size(), e.get_width(1), e.get_height(1), e.get_depth(1), f.get_width(), f.get_num_mip_levels(),
                g.get_array_size(), h.get_width(), h.get_num_samples(), k.get_width(), none.get_width(), none.get_num_mip_levels(),
                uint(is_null_texture(none)), uint(is_null_texture(c))};
    for (uint n = 0; n < 22; n++) o[22 * i + n] = v[n];
}

// ---- nothing bound: zero, and nothing happens
kernel void nothing(texture2d<float> t, texture2d<float, access::write> w, sampler s, device float4 *out, uint i [[thread_position_in_grid]]) {
    w.write(1, uint2(i, 0));
    out[i] = t.sample(s, float2(i)) + t.read(uint2(i, 0)) + 1;
}
constant bool with_table [[function_constant(0)]];
kernel void optional(texture2d<float> t, texture1d<float> table [[function_constant(with_table)]], device float *out, uint i [[thread_position_in_grid]]) {
    float v = t.read(uint2(i % 16, i / 16)).x;
    if (with_table) v = table.read(uint(v) % table.get_width()).x;
    out[i] = v;
}

// ---- argument buffers
struct Material { texture2d<float> image; sampler smp; device float *out; float scale; };
kernel void from_arguments(constant Material *materials [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    constant Material &m = materials[i & 1];
    m.out[i] = m.image.sample(m.smp, float2(i % 16, i / 16) + 0.5f, level(0)).x * m.scale;
}

// ---- quads
kernel void derivatives(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {
    float v = in[i];
    half2 h = half2(half(v), half(2 * v));
    out[5 * i] = dfdx(v), out[5 * i + 1] = dfdy(v), out[5 * i + 2] = fwidth(v);
    out[5 * i + 3] = dfdx(h).y, out[5 * i + 4] = dfdy(float3(0, v, 0)).y;
}
// The colour of each level is its number: what comes back is the level of detail.
kernel void implicit_level(texture2d<float> t, device float *out, constant float &step, uint i [[thread_position_in_grid]]) {
    constexpr sampler s(filter::linear, mip_filter::linear, address::repeat);
    float2 uv = float2(float(i) * step / float(t.get_width()), 0.5f);
    out[4 * i] = t.sample(s, uv).x;
    out[4 * i + 1] = t.sample(s, uv, bias(0.5f)).x;
    out[4 * i + 2] = t.calculate_unclamped_lod(s, uv);
    out[4 * i + 3] = t.sample(s, uv, gradient2d(float2(step / float(t.get_width()), 0), float2(0))).x;
}
kernel void implicit_plane(texture2d<float> t, device float2 *out, constant float2 &step, uint2 gid [[thread_position_in_grid]],
                           uint2 size [[threads_per_grid]]) {
    constexpr sampler s(filter::linear, mip_filter::linear, address::repeat);
    float2 uv = float2(gid) * step / float2(t.get_width(), t.get_height());
    out[gid.y * size.x + gid.x] = float2(t.sample(s, uv).x, t.calculate_clamped_lod(s, uv));
}
// What a constexpr sampler says about levels: clamps, and a bias of its own.
kernel void sampler_levels(texture2d<float> t, device float *out, constant float &step, uint i [[thread_position_in_grid]]) {
    constexpr sampler clamped(filter::linear, mip_filter::linear, address::repeat, lod_clamp(1.25f, 3.5f));
    constexpr sampler biased(bias(-1.5f), filter::linear, mip_filter::linear, address::repeat, lod_clamp(0.5f, 100.0f));
    constexpr sampler both(filter::linear, lod_clamp(0.5f, 2.25f), mip_filter::linear, bias(2.0f));
    float2 uv = float2(float(i) * step / float(t.get_width()), 0.5f);
    out[3 * i] = t.sample(clamped, uv).x;
    out[3 * i + 1] = t.sample(biased, uv).x;
    out[3 * i + 2] = t.sample(both, uv).x;
}

// ---- layers, faces, samples
kernel void layers(texture2d_array<float, access::read> a, texturecube<float> c, texture2d_ms<float> m, texture_buffer<float> b,
                   texture1d_array<float> d, texture2d_array<float, access::write> w, device float *out, uint i [[thread_position_in_grid]]) {
    uint2 p = uint2(i % 4, i / 4 % 4);
    out[6 * i] = a.read(p, i % 3).x;
    out[6 * i + 1] = c.read(p, i % 6).x;
    out[6 * i + 2] = m.read(p, i % 4).x;
    out[6 * i + 3] = b.read(i).x;
    out[6 * i + 4] = d.read(i % 4, i % 2).x;
    constexpr sampler s(filter::nearest);
    const float3 axes[6] = {float3(1, 0, 0), float3(-1, 0, 0), float3(0, 1, 0), float3(0, -1, 0), float3(0, 0, 1), float3(0, 0, -1)};
    out[6 * i + 5] = c.sample(s, axes[i % 6] + 0.01f, level(0)).x;
    w.write(float4(i), p, i % 2);
}
