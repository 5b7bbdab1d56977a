// SPDX-License-Identifier: Apache-2.0
// tint_style.metal: another WGSL translator: module variables in a struct of pointers, array template
// with an operator for every address space, helper functions for total arithmetic.
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
  volatile bool VOLATILE_NAME = true; \
  if (VOLATILE_NAME)

struct Uniforms {
  /* 0x0000 */ uint dimAOuter;
  /* 0x0004 */ uint dimInner;
  /* 0x0008 */ uint dimBOuter;
};

struct Counter {
  /* 0x0000 */ atomic_uint value;
};

struct Inner {
  half scalar_f16;
  tint_array<int8_t, 2> tint_pad;
  float scalar_f32;
  half3 vec3_f16;
  tint_array<int8_t, 8> tint_pad_1;
  packed_float3 vec3_f32;
  tint_array<int8_t, 4> tint_pad_2;
};

struct tint_module_vars_struct {
  const device tint_array<float, 1>* firstMatrix;
  const device tint_array<float, 1>* secondMatrix;
  device tint_array<float, 1>* resultMatrix;
  const constant Uniforms* uniforms;
  threadgroup tint_array<tint_array<float, 16>, 16>* mm_Asub;
  threadgroup tint_array<tint_array<float, 16>, 16>* mm_Bsub;
};

struct tint_symbol_2 {
  tint_array<tint_array<float, 16>, 16> tint_symbol;
  tint_array<tint_array<float, 16>, 16> tint_symbol_1;
};

float mm_readA(uint row, uint col, tint_module_vars_struct tint_module_vars) {
  bool v = false;
  if ((row < (*tint_module_vars.uniforms).dimAOuter)) {
    v = (col < (*tint_module_vars.uniforms).dimInner);
  } else {
    v = false;
  }
  if (v) {
    float const result = (*tint_module_vars.firstMatrix)[((row * (*tint_module_vars.uniforms).dimInner) + col)];
    return result;
  }
  return 0.0f;
}

float mm_readB(uint row, uint col, tint_module_vars_struct tint_module_vars) {
  if (((row < (*tint_module_vars.uniforms).dimInner) & (col < (*tint_module_vars.uniforms).dimBOuter))) {
    return (*tint_module_vars.secondMatrix)[((row * (*tint_module_vars.uniforms).dimBOuter) + col)];
  }
  return 0.0f;
}

void mm_write(uint row, uint col, float value, tint_module_vars_struct tint_module_vars) {
  if (((row < (*tint_module_vars.uniforms).dimAOuter) & (col < (*tint_module_vars.uniforms).dimBOuter))) {
    uint const index = (col + (row * (*tint_module_vars.uniforms).dimBOuter));
    (*tint_module_vars.resultMatrix)[index] = value;
  }
}

uint tint_div_u32(uint lhs, uint rhs) {
  return (lhs / select(rhs, 1u, (rhs == 0u)));
}

int tint_f32_to_i32(float value) {
  return select(2147483647, select((-2147483647 - 1), int(value), (value >= -2147483648.0f)), (value <= 2147483520.0f));
}

void matmul_inner(uint3 local_id, uint3 global_id, uint tint_local_index, tint_module_vars_struct tint_module_vars) {
  {
    uint v_1 = 0u;
    v_1 = tint_local_index;
    while(true) {
      uint const v_2 = v_1;
      if ((v_2 >= 256u)) {
        break;
      }
      (*tint_module_vars.mm_Asub)[(v_2 / 16u)][(v_2 % 16u)] = 0.0f;
      (*tint_module_vars.mm_Bsub)[(v_2 / 16u)][(v_2 % 16u)] = 0.0f;
      {
        v_1 = (v_2 + 64u);
      }
      continue;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint const tileRow = (local_id.y * 2u);
  uint const tileCol = (local_id.x * 2u);
  uint const globalRow = (global_id.y * 2u);
  uint const globalCol = (global_id.x * 2u);
  uint const numTiles = (tint_div_u32(((*tint_module_vars.uniforms).dimInner - 1u), 16u) + 1u);
  tint_array<float, 4> acc = {};
  float ACached = 0.0f;
  tint_array<float, 2> BCached = {};
  {
    uint2 tint_loop_idx = uint2(0u);
    uint t = 0u;
    while(true) {
      TINT_ISOLATE_UB(tint_volatile_true) {
        if (all((tint_loop_idx == uint2(4294967295u)))) {
          break;
        }
        if ((t < numTiles)) {
        } else {
          break;
        }
        {
          uint innerRow = 0u;
          while(true) {
            if ((innerRow < 2u)) {
            } else {
              break;
            }
            {
              uint innerCol = 0u;
              while(true) {
                if ((innerCol < 2u)) {
                } else {
                  break;
                }
                uint const inputRow = (tileRow + innerRow);
                uint const inputCol = (tileCol + innerCol);
                (*tint_module_vars.mm_Asub)[min(inputRow, 15u)][min(inputCol, 15u)] = mm_readA((globalRow + innerRow), ((t * 16u) + inputCol), tint_module_vars);
                (*tint_module_vars.mm_Bsub)[min(inputRow, 15u)][min(inputCol, 15u)] = mm_readB(((t * 16u) + inputRow), (globalCol + innerCol), tint_module_vars);
                {
                  innerCol = (innerCol + 1u);
                }
                continue;
              }
            }
            {
              innerRow = (innerRow + 1u);
            }
            continue;
          }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {
          uint k = 0u;
          while(true) {
            if (!((k < 16u))) {
              break;
            }
            for(uint inner = 0u; (inner < 2u); inner = (inner + 1u)) {
              BCached[inner] = (*tint_module_vars.mm_Bsub)[k][(tileCol + inner)];
            }
            for(uint innerRow = 0u; (innerRow < 2u); innerRow = (innerRow + 1u)) {
              ACached = (*tint_module_vars.mm_Asub)[(tileRow + innerRow)][k];
              for(uint innerCol = 0u; (innerCol < 2u); innerCol = (innerCol + 1u)) {
                uint const index = ((innerRow * 2u) + innerCol);
                acc[index] = (acc[index] + (ACached * BCached[innerCol]));
              }
            }
            {
              k = (k + 1u);
            }
            continue;
          }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {
          uint const tint_low_inc = (tint_loop_idx.x + 1u);
          tint_loop_idx.x = tint_low_inc;
          uint const tint_carry = uint((tint_low_inc == 0u));
          tint_loop_idx.y = (tint_loop_idx.y + tint_carry);
          t = (t + 1u);
        }
        continue;
      }
    }
  }
  for(uint innerRow = 0u; (innerRow < 2u); innerRow = (innerRow + 1u)) {
    for(uint innerCol = 0u; (innerCol < 2u); innerCol = (innerCol + 1u)) {
      uint const index = ((innerRow * 2u) + innerCol);
      mm_write((globalRow + innerRow), (globalCol + innerCol), acc[index], tint_module_vars);
    }
  }
}

kernel void matmul(uint3 local_id [[thread_position_in_threadgroup]], uint3 global_id [[thread_position_in_grid]], uint tint_local_index [[thread_index_in_threadgroup]], const device tint_array<float, 1>* firstMatrix [[buffer(1)]], const device tint_array<float, 1>* secondMatrix [[buffer(2)]], device tint_array<float, 1>* resultMatrix [[buffer(3)]], const constant Uniforms* uniforms [[buffer(0)]], threadgroup tint_symbol_2* v_9 [[threadgroup(0)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.firstMatrix=firstMatrix, .secondMatrix=secondMatrix, .resultMatrix=resultMatrix, .uniforms=uniforms, .mm_Asub=(&(*v_9).tint_symbol), .mm_Bsub=(&(*v_9).tint_symbol_1)};
  matmul_inner(local_id, global_id, tint_local_index, tint_module_vars);
}

// older shape of the same translator: zeroing by a for loop, module variables as parameters
void tint_zero_workgroup_memory(uint local_idx, threadgroup tint_array<uint, 64>* const tint_symbol_3, threadgroup atomic_uint* const tint_symbol_4) {
  for(uint idx = local_idx; (idx < 64u); idx = (idx + 32u)) {
    uint const i = idx;
    (*(tint_symbol_3))[i] = 0u;
  }
  if ((local_idx < 1u)) {
    atomic_store_explicit(tint_symbol_4, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

void count_inner(uint local_idx, uint3 gid, threadgroup tint_array<uint, 64>* const tint_symbol_5, threadgroup atomic_uint* const tint_symbol_6, const device tint_array<uint, 1>* const tint_symbol_7, device tint_array<Counter, 64>* const tint_symbol_8, device tint_array<uint, 1>* const tint_symbol_9) {
  tint_zero_workgroup_memory(local_idx, tint_symbol_5, tint_symbol_6);
  uint const value = (*(tint_symbol_7))[gid.x];
  switch(value) {
    case 3u:
    case 5u: {
      atomic_fetch_add_explicit(tint_symbol_6, 1u, memory_order_relaxed);
      break;
    }
    case 8u: {
      atomic_fetch_add_explicit(tint_symbol_6, 10u, memory_order_relaxed);
      break;
    }
    default: {
      break;
    }
  }
  (*(tint_symbol_5))[(local_idx + 32u)] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint const v = ((*(tint_symbol_5))[(63u - local_idx)] + atomic_load_explicit(tint_symbol_6, memory_order_relaxed));
  (*(tint_symbol_9))[gid.x] = v;
  atomic_fetch_add_explicit(&((*(tint_symbol_8))[(value & 63u)].value), 1u, memory_order_relaxed);
}

kernel void count(const device tint_array<uint, 1>* tint_symbol_12 [[buffer(0)]], device tint_array<Counter, 64>* tint_symbol_13 [[buffer(1)]], device tint_array<uint, 1>* tint_symbol_14 [[buffer(2)]], uint local_idx [[thread_index_in_threadgroup]], uint3 gid [[thread_position_in_grid]]) {
  threadgroup tint_array<uint, 64> tint_symbol_10;
  threadgroup atomic_uint tint_symbol_11;
  count_inner(local_idx, gid, &(tint_symbol_10), &(tint_symbol_11), tint_symbol_12, tint_symbol_13, tint_symbol_14);
  return;
}

int4 pick(thread tint_array<int4, 4>* const p, int i) {
  (*p)[i] = ((*p)[(3 - i)] + (*p)[i].wzyx);
  return (*p)[i];
}

kernel void layouts(device Inner* s [[buffer(0)]], device tint_array<int4, 1>* out [[buffer(1)]], uint3 gid [[thread_position_in_grid]]) {
  tint_array<int4, 4> local = tint_array<int4, 4>{int4(1, 2, 3, 4), int4(tint_f32_to_i32((*s).scalar_f32 * float(gid.x)), 0, 0, 1), int4(int3(float3((*s).vec3_f16)), 7), int4(int3(float3((*s).vec3_f32)), 9)};
  int4 const r = pick(&(local), int((gid.x & 3u)));
  (*out)[gid.x] = (r + int4(int((*s).scalar_f16)));
}
