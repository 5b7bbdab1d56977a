// Tint: module variables in a struct, arrays as tint_array, loops that cannot be endless.
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
#define TINT_ISOLATE_UB(VOLATILE_NAME) \
  {volatile bool VOLATILE_NAME = false; if (VOLATILE_NAME) break;}

struct Kernel {
  /* 0x0000 */ tint_array<float4, 8> offsets;
  /* 0x0080 */ float radius;
  /* 0x0084 */ float bias_1;
  /* 0x0088 */ tint_array<int8_t, 8> tint_pad;
};
struct tint_module_vars_struct {
  const constant Kernel* k;
  depth2d<float, access::sample> depth_tex;
};
struct main_vs_outputs { float4 tint_symbol [[position]]; };

int tint_f32_to_i32(float value) {
  return select(2147483647, select((-2147483647 - 1), int(value), (value >= -2147483648.0f)), (value <= 2147483520.0f));
}
float4 vs_inner(uint vertex_index) {
  tint_array<float2, 3> const pos = tint_array<float2, 3>{.elements={float2(-1.0f, -1.0f), float2(3.0f, -1.0f), float2(-1.0f, 3.0f)}};
  return float4(pos[min(vertex_index, 2u)], 0.0f, 1.0f);
}
vertex main_vs_outputs main_vs(uint vertex_index [[vertex_id]]) { return main_vs_outputs{.tint_symbol=vs_inner(vertex_index)}; }

struct main_fs_outputs { float4 tint_symbol_1 [[color(0)]]; };
float4 fs_inner(float4 coord, tint_module_vars_struct tint_module_vars) {
  int2 const size = int2(uint2(tint_module_vars.depth_tex.get_width(0u), tint_module_vars.depth_tex.get_height(0u)));
  int2 const at = int2(tint_f32_to_i32(coord[0u]), tint_f32_to_i32(coord[1u]));
  float const here = tint_module_vars.depth_tex.read(uint2(at), 0u);
  float hidden = 0.0f;
  {
    uint i = 0u;
    while(true) {
      TINT_ISOLATE_UB(tint_volatile_false)
      if ((i < 8u)) {
      } else {
        break;
      }
      float4 const o = (*tint_module_vars.k).offsets[min(i, 7u)];
      int2 const p = clamp((at + int2((o.xy * (*tint_module_vars.k).radius))), int2(0), as_type<int2>((as_type<uint2>(size) - as_type<uint2>(int2(1)))));
      float const there = tint_module_vars.depth_tex.read(uint2(p), uint(0));
      hidden = (hidden + select(0.0f, o[3u], (there < (here - (*tint_module_vars.k).bias_1))));
      {
        i = (i + 1u);
      }
      continue;
    }
  }
  return float4(float3((1.0f - (hidden / 8.0f))), 1.0f);
}
fragment main_fs_outputs main_fs(float4 coord [[position]], const constant Kernel* k [[buffer(0)]], depth2d<float, access::sample> depth_tex [[texture(0)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.k=k, .depth_tex=depth_tex};
  return main_fs_outputs{.tint_symbol_1=fs_inner(coord, tint_module_vars)};
}
