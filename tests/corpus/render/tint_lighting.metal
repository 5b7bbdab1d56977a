// As another WGSL translator writes them: module variables in a struct, packed vectors, inner functions.
#include <metal_stdlib>
using namespace metal;

template<typename T, size_t N>
struct tint_array {
  const constant T& operator[](size_t i) const constant { return elements[i]; }
  device T& operator[](size_t i) device { return elements[i]; }
  const device T& operator[](size_t i) const device { return elements[i]; }
  thread T& operator[](size_t i) thread { return elements[i]; }
  const thread T& operator[](size_t i) const thread { return elements[i]; }
  T elements[N];
};
struct tint_packed_vec3_f32_array_element { packed_float3 packed; char pad[4]; };
struct Uniforms { float4x4 mvp; tint_array<tint_packed_vec3_f32_array_element, 3> dirs; float shininess; };
struct tint_module_vars_struct {
  const constant Uniforms* u;
  texture2d<float, access::sample> tex;
  sampler samp;
  depth2d<float, access::sample> shadow;
  sampler shadow_samp;
};
struct VSOut { float4 pos; float3 n; float4 light; };
struct vs_inputs { float3 p [[attribute(0)]]; float3 n [[attribute(1)]]; };
struct vs_outputs { float4 pos [[position]]; float3 n [[user(locn0)]]; float4 light [[user(locn1)]]; };
VSOut vs_inner(float3 p, float3 n, tint_module_vars_struct tint_module_vars) {
  float4 q = ((*tint_module_vars.u).mvp * float4(p, 1.0f));
  return VSOut{.pos=q, .n=n, .light=(q * float4(0.5f, -0.5f, 1.0f, 1.0f))};
}
vertex vs_outputs vs(vs_inputs inputs [[stage_in]], const constant Uniforms* u [[buffer(0)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.u=u};
  VSOut const tint_symbol = vs_inner(inputs.p, inputs.n, tint_module_vars);
  vs_outputs tint_wrapper_result = {};
  tint_wrapper_result.pos = tint_symbol.pos;
  tint_wrapper_result.n = tint_symbol.n;
  tint_wrapper_result.light = tint_symbol.light;
  return tint_wrapper_result;
}
struct fs_inputs { float3 n [[user(locn0)]]; float4 light [[user(locn1)]]; };
struct fs_outputs { float4 color [[color(0)]]; uint mask [[sample_mask]]; };
float4 fs_inner(float3 n, float4 light, float4 frag, tint_module_vars_struct tint_module_vars) {
  float sum = 0.0f;
  {
    uint i = 0u;
    while (true) {
      if (!(i < 3u)) { break; }
      float3 d = float3((*tint_module_vars.u).dirs[i].packed);
      sum = (sum + pow(max(dot(n, d), 0.0f), (*tint_module_vars.u).shininess));
      i = (i + 1u);
      continue;
    }
  }
  float3 const s = (light.xyz / light.w);
  float lit = tint_module_vars.shadow.sample_compare(tint_module_vars.shadow_samp, ((s.xy * 0.5f) + 0.5f), s.z, level(0));
  return (tint_module_vars.tex.sample(tint_module_vars.samp, (frag.xy * 0.01f)) * (sum * lit));
}
fragment fs_outputs fs(fs_inputs inputs [[stage_in]], float4 frag [[position]], uint mask [[sample_mask]], const constant Uniforms* u [[buffer(0)]], texture2d<float, access::sample> tex [[texture(0)]], sampler samp [[sampler(0)]], depth2d<float, access::sample> shadow [[texture(1)]], sampler shadow_samp [[sampler(1)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.u=u, .tex=tex, .samp=samp, .shadow=shadow, .shadow_samp=shadow_samp};
  fs_outputs tint_wrapper_result = {};
  tint_wrapper_result.color = fs_inner(inputs.n, inputs.light, frag, tint_module_vars);
  tint_wrapper_result.mask = (mask & 4294967295u);
  return tint_wrapper_result;
}
