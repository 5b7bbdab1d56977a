// Tint: glyphs from a distance field, smoothed by fwidth.
#include <metal_stdlib>
using namespace metal;
struct tint_module_vars_struct { texture2d<float, access::sample> glyphs; sampler tint_sampler; const constant float4* ink; };
struct VSOut { float4 pos; float2 uv; };
struct vs_outputs { float4 VSOut_pos [[position]]; float2 VSOut_uv [[user(locn0)]]; };
struct vs_inputs { float2 pos [[attribute(0)]]; float2 uv [[attribute(1)]]; };
VSOut vs_inner(float2 pos, float2 uv) { return VSOut{.pos=float4(pos, 0.0f, 1.0f), .uv=uv}; }
vertex vs_outputs vs(vs_inputs inputs [[stage_in]]) {
  VSOut const tint_wrapper_result = vs_inner(inputs.pos, inputs.uv);
  return vs_outputs{.VSOut_pos=tint_wrapper_result.pos, .VSOut_uv=tint_wrapper_result.uv};
}
struct fs_inputs { float2 VSOut_uv [[user(locn0)]]; };
struct fs_outputs { float4 tint_symbol [[color(0)]]; };
float4 fs_inner(VSOut v, tint_module_vars_struct tint_module_vars) {
  float const d = tint_module_vars.glyphs.sample(tint_module_vars.tint_sampler, v.uv)[0u];
  float const w = fwidth(d);
  float const a = smoothstep((0.5f - w), (0.5f + w), d);
  return float4(((*tint_module_vars.ink).xyz * a), a);
}
fragment fs_outputs fs(float4 VSOut_pos [[position]], fs_inputs inputs [[stage_in]], texture2d<float, access::sample> glyphs [[texture(0)]], sampler tint_sampler [[sampler(0)]], const constant float4* ink [[buffer(0)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.glyphs=glyphs, .tint_sampler=tint_sampler, .ink=ink};
  return fs_outputs{.tint_symbol=fs_inner(VSOut{.pos=VSOut_pos, .uv=inputs.VSOut_uv}, tint_module_vars)};
}
