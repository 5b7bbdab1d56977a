// As a SPIR-V cross-compiler writes them: flattened interfaces, user(locnN), helper templates.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

template<typename T, size_t Num>
struct spvUnsafeArray {
    T elements[Num ? Num : 1];
    thread T& operator [] (size_t pos) thread { return elements[pos]; }
    constexpr const thread T& operator [] (size_t pos) const thread { return elements[pos]; }
    device T& operator [] (size_t pos) device { return elements[pos]; }
    constexpr const device T& operator [] (size_t pos) const device { return elements[pos]; }
    constexpr const constant T& operator [] (size_t pos) const constant { return elements[pos]; }
};
template<typename Tx, typename Ty>
inline Tx mod(Tx x, Ty y) { return x - y * floor(x / y); }
inline uint2 spvTexelBufferCoord(uint tc) { return uint2(tc % 4096, tc / 4096); }

struct Camera { float4x4 view_projection; float4 eye; };
struct Light { float4 position_radius; float4 color; };
struct Scene { Light lights[4]; int count; char _m1_pad[12]; float4 ambient; };
struct Model { float4x4 world; float3x3 normal; };

struct main0_vertex_out {
    float3 v_world [[user(locn0)]];
    float3 v_normal [[user(locn1)]];
    float2 v_uv [[user(locn2)]];
    float4 v_tint [[user(locn3)]];
    float4 gl_Position [[position]];
    float gl_PointSize [[point_size]];
};
struct main0_vertex_in {
    float3 a_position [[attribute(0)]];
    float3 a_normal [[attribute(1)]];
    float2 a_uv [[attribute(2)]];
    float4 a_tint [[attribute(3)]];
};
vertex main0_vertex_out vertex_main0(main0_vertex_in in [[stage_in]], constant Camera& camera [[buffer(0)]], constant Model& model [[buffer(1)]], uint gl_InstanceIndex [[instance_id]], uint gl_BaseInstance [[base_instance]]) {
    main0_vertex_out out = {};
    float4 world = model.world * float4(in.a_position, 1.0);
    out.v_world = world.xyz;
    out.v_normal = normalize(model.normal * in.a_normal);
    out.v_uv = in.a_uv;
    out.v_tint = in.a_tint * float(int(gl_InstanceIndex) - int(gl_BaseInstance) + 1);
    out.gl_Position = camera.view_projection * world;
    out.gl_PointSize = 1.0;
    out.gl_Position.z = (out.gl_Position.z + out.gl_Position.w) * 0.5;
    return out;
}

struct main0_out { float4 o_color [[color(0)]]; float4 o_bright [[color(1)]]; float gl_FragDepth [[depth(any)]]; };
struct main0_in {
    float3 v_world [[user(locn0)]];
    float3 v_normal [[user(locn1)]];
    float2 v_uv [[user(locn2)]];
    float4 v_tint [[user(locn3)]];
};
static inline __attribute__((always_inline))
float D_GGX(thread const float& nh, thread const float& a) {
    float a2 = a * a;
    float d = ((nh * nh) * (a2 - 1.0)) + 1.0;
    return a2 / ((3.1415927410125732421875 * d) * d);
}
fragment main0_out main0(main0_in in [[stage_in]], constant Camera& camera [[buffer(0)]], constant Scene& scene [[buffer(1)]], texture2d<float> albedo [[texture(0)]], texture2d<float> orm [[texture(1)]], texturecube<float> environment [[texture(2)]], sampler albedoSmplr [[sampler(0)]], sampler ormSmplr [[sampler(1)]], sampler environmentSmplr [[sampler(2)]], float4 gl_FragCoord [[position]], bool gl_FrontFacing [[front_facing]]) {
    main0_out out = {};
    spvUnsafeArray<float, 4> _indexable = spvUnsafeArray<float, 4>({ 1.0, 0.5, 0.25, 0.125 });
    float4 base = albedo.sample(albedoSmplr, in.v_uv) * in.v_tint;
    if (base.w < 0.5) { discard_fragment(); }
    float3 n = fast::normalize(in.v_normal) * (gl_FrontFacing ? 1.0 : -1.0);
    float3 v = fast::normalize(camera.eye.xyz - in.v_world);
    float4 material = orm.sample(ormSmplr, in.v_uv, bias(-0.5));
    float3 sum = scene.ambient.xyz * base.xyz;
    for (int i = 0; i < scene.count; i++) {
        float3 d = scene.lights[i].position_radius.xyz - in.v_world;
        float fall = fast::clamp(1.0 - length(d) / scene.lights[i].position_radius.w, 0.0, 1.0);
        float3 l = fast::normalize(d), h = fast::normalize(l + v);
        float _125 = fast::max(dot(n, h), 0.0), _127 = material.y;
        sum += ((base.xyz * scene.lights[i].color.xyz) * (fast::max(dot(n, l), 0.0) * D_GGX(_125, _127))) * (fall * _indexable[i & 3]);
    }
    sum += environment.sample(environmentSmplr, reflect(-v, n), level(material.y * 6.0)).xyz * material.z;
    out.o_color = float4(sum, base.w);
    out.o_bright = float4(step(float3(1.0), sum), mod(gl_FragCoord.x, 2.0));
    out.gl_FragDepth = gl_FragCoord.z;
    return out;
}
