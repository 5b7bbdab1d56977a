// Machine-generated MSL in the style of tint: tint_array in every address space, module-scope
// variables gathered in a struct of pointers, volatile loop guards, inner functions.
#include <metal_stdlib>
using namespace metal;

template<typename T, size_t N>
struct tint_array {
  const constant T& operator[](size_t i) const constant { return elements[i]; }
  device T& operator[](size_t i) device { return elements[i]; }
  const device T& operator[](size_t i) const device { return elements[i]; }
  thread T& operator[](size_t i) thread { return elements[i]; }
  const thread T& operator[](size_t i) const thread { return elements[i]; }
  threadgroup T& operator[](size_t i) threadgroup { return elements[i]; }
  const threadgroup T& operator[](size_t i) const threadgroup { return elements[i]; }
  T elements[N];
};

#define TINT_ISOLATE_UB(VOLATILE_NAME) \
  {volatile bool VOLATILE_NAME = false; if (VOLATILE_NAME) break;}

struct tint_packed_vec3_f32_array_element {
  /* 0x0000 */ packed_float3 packed;
  /* 0x000c */ tint_array<int8_t, 4> tint_pad;
};

struct Uniforms {
  /* 0x0000 */ uint4 dims;
  /* 0x0010 */ tint_array<tint_packed_vec3_f32_array_element, 3> m;
};

struct tint_module_vars_struct {
  const device tint_array<float, 1>* first;
  const device tint_array<float, 1>* second;
  device tint_array<float, 1>* result;
  const constant Uniforms* uniforms;
  threadgroup tint_array<tint_array<float, 64>, 64>* mm_A;
  threadgroup tint_array<tint_array<float, 64>, 64>* mm_B;
  thread uint* tint_private;
  const constant tint_array<uint4, 1>* tint_storage_buffer_sizes;
};

struct tint_symbol_2 {
  tint_array<tint_array<float, 64>, 64> tint_symbol;
  tint_array<tint_array<float, 64>, 64> tint_symbol_1;
};

struct frexp_result_f32 {
  float fract;
  int exp;
};
frexp_result_f32 tint_frexp(float param_0) {
  int exp;
  float fract = frexp(param_0, exp);
  return {fract, exp};
}

uint tint_div(uint lhs, uint rhs) {
  return (lhs / select(rhs, 1u, (rhs == 0u)));
}

int tint_f32_to_i32(float value) {
  return int(clamp(value, -2147483648.0f, 2147483520.0f));
}

float3x3 tint_unpack_array(const constant tint_array<tint_packed_vec3_f32_array_element, 3>& in) {
  float3x3 result = float3x3(0.0f);
  for (uint i = 0u; i < 3u; i += 1u) {
    result[i] = float3(in[i].packed);
  }
  return result;
}

float mm_readA(uint row, uint col, tint_module_vars_struct tint_module_vars) {
  bool const in_bounds = (row < (*tint_module_vars.uniforms).dims.x) && (col < (*tint_module_vars.uniforms).dims.y);
  if (in_bounds) {
    uint const length = ((*tint_module_vars.tint_storage_buffer_sizes)[0u].x / 4u);
    float const result = (*tint_module_vars.first)[min(((row * (*tint_module_vars.uniforms).dims.y) + col), (length - 1u))];
    return result;
  }
  return 0.0f;
}

void mm_write(uint row, uint col, float value, tint_module_vars_struct tint_module_vars) {
  if ((row < (*tint_module_vars.uniforms).dims.x)) {
    uint const index = (col + (row * (*tint_module_vars.uniforms).dims.z));
    (*tint_module_vars.result)[index] = value;
    (*tint_module_vars.tint_private) = index;
  }
}

void tint_symbol_inner(uint3 local_id, uint3 global_id, uint local_invocation_index, tint_module_vars_struct tint_module_vars) {
  {
    uint idx = 0u;
    idx = local_invocation_index;
    while(true) {
      TINT_ISOLATE_UB(tint_volatile_false)
      if (!(idx < 4096u)) {
        break;
      }
      uint const i = tint_div(idx, 64u);
      uint const i_1 = (idx % 64u);
      (*tint_module_vars.mm_A)[i][i_1] = 0.0f;
      (*tint_module_vars.mm_B)[i][i_1] = float();
      {
        idx = (idx + 256u);
      }
      continue;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tint_array<float, 16> acc = {};
  tint_array<float, 4> BCached = tint_array<float, 4>{1.0f, 2.0f, 3.0f, 4.0f};
  uint const tileRow = (local_id.y * 4u);
  uint2 swz = uint2(global_id.xy);
  swz.x += 1u;
  float4 const v4 = float4(float2(swz), 0.0f, 1.0f).wzyx;
  frexp_result_f32 const f = tint_frexp(v4.y);
  float3x3 const m = tint_unpack_array((*tint_module_vars.uniforms).m);
  for (uint innerRow = 0u; (innerRow < 4u); innerRow = (innerRow + 1u)) {
    float const a = mm_readA((tileRow + innerRow), global_id.x, tint_module_vars);
    acc[min(innerRow, 15u)] = (acc[innerRow] + (a * BCached[innerRow & 3u]) + m[0].x);
    mm_write(innerRow, global_id.x, ldexp(f.fract, f.exp) + acc[innerRow] + as_type<float>(tint_f32_to_i32(a)), tint_module_vars);
  }
  bool const any_nan = any(isnan(v4)) || !(all(v4 >= float4(0.0f)));
  if (any_nan) {
    mm_write(0u, 0u, select(1.0f, 2.0f, any_nan), tint_module_vars);
  }
}

kernel void tint_symbol(uint3 local_id [[thread_position_in_threadgroup]], uint3 global_id [[thread_position_in_grid]], uint local_invocation_index [[thread_index_in_threadgroup]], const device tint_array<float, 1>* v_1 [[buffer(2)]], const device tint_array<float, 1>* v_2 [[buffer(3)]], device tint_array<float, 1>* v_3 [[buffer(1)]], const constant Uniforms* v_4 [[buffer(0)]], threadgroup tint_symbol_2* v_5 [[threadgroup(0)]], const constant tint_array<uint4, 1>* tint_storage_buffer_sizes [[buffer(30)]]) {
  thread uint tint_private = 0u;
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.first=v_1, .second=v_2, .result=v_3, .uniforms=v_4, .mm_A=(&(*v_5).tint_symbol), .mm_B=(&(*v_5).tint_symbol_1), .tint_private=(&tint_private), .tint_storage_buffer_sizes=tint_storage_buffer_sizes};
  tint_symbol_inner(local_id, global_id, local_invocation_index, tint_module_vars);
}
