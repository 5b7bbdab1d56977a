// Textures as translators of shaders write them: SPIRV-Cross, naga and Tint styles.
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

// ---- a class of any texture, gathers with a component chosen at run time
enum class spvSwizzle : uint { none = 0, zero, one, red, green, blue, alpha };
template <typename T> inline T spvGetSwizzle(vec<T, 4> x, T c, spvSwizzle s) {
    switch (s) {
    case spvSwizzle::none: return c;
    case spvSwizzle::zero: return 0;
    case spvSwizzle::one: return 1;
    case spvSwizzle::red: return x.r;
    case spvSwizzle::green: return x.g;
    case spvSwizzle::blue: return x.b;
    case spvSwizzle::alpha: return x.a;
    }
}
template <typename T> inline vec<T, 4> spvTextureSwizzle(vec<T, 4> x, uint s) {
    if (!s) return x;
    return vec<T, 4>(spvGetSwizzle(x, x.r, spvSwizzle((s >> 0) & 0xFF)), spvGetSwizzle(x, x.g, spvSwizzle((s >> 8) & 0xFF)),
                     spvGetSwizzle(x, x.b, spvSwizzle((s >> 16) & 0xFF)), spvGetSwizzle(x, x.a, spvSwizzle((s >> 24) & 0xFF)));
}
template <typename T, template <typename, access = access::sample, typename = void> class Tex, typename... Ts>
inline vec<T, 4> spvGatherSwizzle(const thread Tex<T> &t, sampler s, uint sw, component c, Ts... params) METAL_CONST_ARG(c) {
    if (sw) {
        switch (spvSwizzle((sw >> (uint(c) * 8)) & 0xFF)) {
        case spvSwizzle::none: break;
        case spvSwizzle::zero: return vec<T, 4>(0, 0, 0, 0);
        case spvSwizzle::one: return vec<T, 4>(1, 1, 1, 1);
        case spvSwizzle::red: return t.gather(s, params..., component::x);
        case spvSwizzle::green: return t.gather(s, params..., component::y);
        case spvSwizzle::blue: return t.gather(s, params..., component::z);
        case spvSwizzle::alpha: return t.gather(s, params..., component::w);
        }
    }
    switch (c) {
    case component::x: return t.gather(s, params..., component::x);
    case component::y: return t.gather(s, params..., component::y);
    case component::z: return t.gather(s, params..., component::z);
    case component::w: return t.gather(s, params..., component::w);
    }
}
template <typename T> struct spvDescriptor { T value; };
template <typename T> struct spvDescriptorArray {
    spvDescriptorArray(const device spvDescriptor<T> *ptr) : ptr(&ptr->value) {}
    const device T &operator[](size_t i) const { return ptr[i]; }
    const device T *ptr;
};
struct UBO { float4 a; };
struct spvDescriptorSetBuffer0 {
    array<texture2d<float>, 4> uTextures [[id(0)]];
    array<sampler, 4> uSamplers [[id(4)]];
    const device UBO *v_90 [[id(8)]];
    texture2d<float, access::write> target [[id(9)]];
    device UBO *blocks [[id(10)]][8];
    spvDescriptor<texture2d<float>> unsized [[id(20)]][1] /* as many as there are */;
};
static inline __attribute__((always_inline)) float4 sample_in_func(thread const array<texture2d<float>, 4> &uTex, thread const sampler &uSmp, thread const float2 &uv) {
    return uTex[2].sample(uSmp, uv, level(0.0));
}
kernel void main0(const device spvDescriptorSetBuffer0 &spvDescriptorSet0 [[buffer(0)]],
                  const device spvDescriptor<texture2d<float>> *smp_textures_ [[buffer(1)]],
                  array<texture2d<float>, 4> foo [[texture(0)]], sampler fooSmplr [[sampler(0)]], constant uint *spvSwizzleConstants [[buffer(30)]],
                  depth2d<float> uShadow [[texture(5)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]]) {
    spvDescriptorArray<texture2d<float>> smp_textures{smp_textures_};
    constant uint &fooSwzl = spvSwizzleConstants[0];
    float2 uv = float2(gl_GlobalInvocationID.xy);
    float4 a = spvTextureSwizzle(foo[0].sample(fooSmplr, uv, level(0.0)), fooSwzl);
    a += spvGatherSwizzle(foo[1], fooSmplr, fooSwzl, component::y, uv, int2(0));
    a += sample_in_func(foo, fooSmplr, uv) + smp_textures[gl_GlobalInvocationID.x].sample(fooSmplr, uv, level(0.0));
    a += spvDescriptorSet0.uTextures[gl_GlobalInvocationID.x & 3].sample(spvDescriptorSet0.uSamplers[1], uv, level(0.0));
    a += float4(uShadow.sample_compare(fooSmplr, uv, 0.5, level(0.0))) + (*spvDescriptorSet0.v_90).a + spvDescriptorSet0.blocks[3]->a +
         spvDescriptorSet0.unsized[gl_GlobalInvocationID.y].value.read(uint2(0));
    spvDescriptorSet0.target.write(a, uint2(int2(gl_GlobalInvocationID.xy)));
}

struct DefaultConstructible {
    template <typename T> operator T() && { return T{}; }
};
// ---- everything qualified, converted and counted
[[kernel]] void load_(metal::uint3 local_id [[thread_position_in_threadgroup]],
                      metal::texture2d<uint, metal::access::sample> image_mipmapped_src [[user(fake0)]],
                      metal::texture2d_ms<uint, metal::access::read> image_multisampled_src [[user(fake0)]],
                      metal::texture2d<uint, metal::access::read> image_storage_src [[user(fake0)]],
                      metal::texture2d_array<uint, metal::access::sample> image_array_src [[user(fake0)]],
                      metal::texture1d<uint, metal::access::sample> image_1d_src [[user(fake0)]],
                      metal::texture1d<uint, metal::access::write> image_dst [[user(fake0)]]) {
    metal::int2 itc = as_type<metal::int2>(metal::uint2(image_storage_src.get_width(), image_storage_src.get_height())) % metal::int2(10, 20);
    metal::uint4 value1_ = image_mipmapped_src.read(metal::uint2(itc), static_cast<int>(local_id.z));
    metal::uint4 value2_ = image_multisampled_src.read(metal::uint2(itc), static_cast<int>(local_id.z));
    metal::uint4 value4_ = image_storage_src.read(metal::uint2(itc));
    metal::uint4 value5_ = image_array_src.read(metal::uint2(itc), local_id.z, static_cast<int>(local_id.z) + 1);
    metal::uint4 value7_ = image_1d_src.read(uint(static_cast<int>(local_id.x)));
    uint clamped_lod = metal::min(uint(itc.x), image_mipmapped_src.get_num_mip_levels() - 1);
    metal::uint4 value8_ = image_mipmapped_src.read(metal::min(metal::uint2(itc), metal::uint2(image_mipmapped_src.get_width(clamped_lod), image_mipmapped_src.get_height(clamped_lod)) - 1), clamped_lod);
    metal::uint4 value9_ = (uint(itc.x) < image_1d_src.get_width() ? image_1d_src.read(uint(itc.x)) : DefaultConstructible());
    image_dst.write(value1_ + value2_ + value4_ + value5_ + value7_ + value8_ + value9_, uint(itc.x));
}

fragment metal::float4 texture_sample(metal::texture1d<float, metal::access::sample> image_1d [[user(fake0)]],
                                      metal::texture2d<float, metal::access::sample> image_2d [[user(fake0)]],
                                      metal::texture2d_array<float, metal::access::sample> image_2d_array [[user(fake0)]],
                                      metal::texturecube_array<float, metal::access::sample> image_cube_array [[user(fake0)]],
                                      metal::depth2d<float, metal::access::sample> image_2d_depth [[user(fake0)]],
                                      metal::sampler sampler_reg [[user(fake0)]]) {
    constexpr metal::sampler nagaSampler(metal::s_address::clamp_to_edge, metal::t_address::clamp_to_edge, metal::r_address::clamp_to_edge,
                                         metal::mag_filter::linear, metal::min_filter::linear, metal::compare_func::never, metal::coord::normalized);
    metal::float2 tc = metal::float2(0.5);
    metal::float4 a = image_1d.sample(sampler_reg, tc.x) + image_2d.sample(sampler_reg, tc, metal::int2(3, 1));
    a += image_2d.sample(nagaSampler, tc, metal::level(2.299999952316284)) + image_2d.sample(sampler_reg, tc, metal::bias(2.0), metal::int2(3, 1));
    a += image_2d_array.sample(sampler_reg, tc, static_cast<uint>(1), metal::level(2.0), metal::int2(3, 1));
    a += image_cube_array.sample(sampler_reg, metal::float3(tc, 1), 2u, metal::bias(2.0));
    a += image_2d.gather(sampler_reg, tc, metal::int2(3, 1), metal::component::w) + image_2d_depth.gather(sampler_reg, tc);
    a += image_2d_depth.gather_compare(sampler_reg, tc, 0.5, metal::int2(3, 1));
    metal::uint2 s2D = metal::uint2(image_2d.get_width(), image_2d.get_height());
    metal::uint2 s2Dl = metal::uint2(image_2d.get_width(1), image_2d.get_height(1));
    return a * float(s2D.x + s2Dl.y + image_2d_array.get_array_size() + image_cube_array.get_num_mip_levels());
}

// ---- what a module uses, in one struct
struct tint_module_vars_struct {
    texture2d<float, access::sample> arg_0;
    texture3d<float, access::read_write> arg_1;
    sampler arg_2;
    thread uint *counter;
    device float *prevent_dce;
};
float4 textureSampleLevel_x(tint_module_vars_struct tint_module_vars) {
    float4 res = tint_module_vars.arg_0.sample(tint_module_vars.arg_2, float2(1.0f), level(1.0f), int2(1));
    *tint_module_vars.counter = tint_module_vars.arg_0.get_num_mip_levels();
    tint_module_vars.arg_1.fence();
    tint_module_vars.arg_1.write(tint_module_vars.arg_1.read(uint3(1u)), uint3(1u));
    return res;
}
kernel void compute_main(texture2d<float, access::sample> arg_0 [[texture(0)]], texture3d<float, access::read_write> arg_1 [[texture(1)]],
                         sampler arg_2 [[sampler(0)]], device float *prevent_dce [[buffer(0)]]) {
    thread uint counter = 0u;
    tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.arg_0 = arg_0, .arg_1 = arg_1, .arg_2 = arg_2, .counter = (&counter), .prevent_dce = prevent_dce};
    (*tint_module_vars.prevent_dce) = textureSampleLevel_x(tint_module_vars)[0];
}
