// Materials in argument buffers: textures by index, samplers in structs, function constants.
#include <metal_stdlib>
using namespace metal;
constant bool use_normal_map [[function_constant(0)]];
constant bool use_alpha_test [[function_constant(1)]];
constant int quality [[function_constant(2)]];
constant bool use_fancy = use_normal_map && quality > 1;
struct Material { texture2d<half> albedo [[id(0)]]; texture2d<half> normal [[id(1)]]; sampler s [[id(2)]]; float4 factor [[id(3)]]; };
struct Draw { float4x4 mvp; uint material; };
struct VIn { float4 p [[attribute(0)]]; float2 uv [[attribute(1)]]; float3 n [[attribute(2)]]; float4 t [[attribute(3), function_constant(use_normal_map)]]; };
struct VOut { float4 p [[position]]; float2 uv; float3 n; float4 t [[function_constant(use_normal_map)]]; uint material [[flat]]; };
vertex VOut v_main(VIn in [[stage_in]], constant Draw *draws [[buffer(0)]], uint iid [[instance_id]]) {
    VOut o;
    o.p = draws[iid].mvp * in.p;
    o.uv = in.uv;
    o.n = in.n;
    if (use_normal_map) o.t = in.t;
    o.material = draws[iid].material;
    return o;
}
fragment half4 f_main(VOut in [[stage_in]], device const Material *materials [[buffer(0)]], array<texture2d<half>, 8> detail [[texture(4)]], texture2d<half> mask [[texture(0), function_constant(use_alpha_test)]]) {
    device const Material &m = materials[in.material];
    half4 c = m.albedo.sample(m.s, in.uv) * half4(m.factor);
    if (use_alpha_test && mask.sample(m.s, in.uv).r < 0.5h) discard_fragment();
    half3 n = half3(normalize(in.n));
    if (use_fancy) n = normalize(n + m.normal.sample(m.s, in.uv).xyz * half(in.t.w));
    for (int i = 0; i < quality; i++) c.rgb += detail[i & 7].sample(m.s, in.uv * float(i + 1)).rgb * 0.1h;
    return half4(c.rgb * max(n.z, 0.0h), c.a);
}
