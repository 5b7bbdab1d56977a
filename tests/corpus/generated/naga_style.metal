// language: metal2.4
// SPDX-License-Identifier: Apache-2.0
// naga_style.metal: what a WGSL translator writes: qualified names, wrapped arrays, guarded division.
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

struct DefaultConstructible {
    template<typename T>
    operator T() && {
        return T {};
    }
};

struct Particle {
    metal::float2 pos;
    metal::float2 vel;
};
struct SimParams {
    float deltaT;
    float rule1Distance;
    float rule2Distance;
    uint steps;
    char _pad4[8];
    metal::packed_float3 bias;
};
typedef Particle type_4[1];
struct Particles {
    type_4 particles;
};
struct type_5 {
    float inner[16];
};
struct type_6 {
    metal::int2 inner[4];
};
typedef uint type_7[1];
typedef float type_9[1];
struct Node {
    int left;
    int right;
    float value;
    metal::atomic_int visits;
};
typedef Node type_10[1];
constant type_6 OFFSETS = type_6 {metal::int2(-1, 0), metal::int2(1, 0), metal::int2(0, -1), metal::int2(0, 1)};
constant uint NUM_PARTICLES = 64u;

int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}
int naga_mod(int lhs, int rhs) {
    int divisor = metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
    return lhs - (lhs / divisor) * divisor;
}
uint naga_div(uint lhs, uint rhs) {
    return lhs / metal::select(rhs, 1u, rhs == 0u);
}
uint naga_mod(uint lhs, uint rhs) {
    return lhs % metal::select(rhs, 1u, rhs == 0u);
}
metal::int2 naga_div(metal::int2 lhs, metal::int2 rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}
int naga_neg(int val) {
    return as_type<int>(-as_type<uint>(val));
}
int naga_abs(int val) {
    return metal::select(as_type<int>(-as_type<uint>(val)), val, val >= 0);
}
int naga_f2i32(float value) {
    return static_cast<int>(metal::clamp(value, -2147483600.0, 2147483500.0));
}
struct _modf_result_f32_ {
    float fract;
    float whole;
};
_modf_result_f32_ naga_modf(float arg) {
    float other;
    float fract = metal::modf(arg, other);
    return _modf_result_f32_{ fract, other };
}
struct _frexp_result_f32_ {
    float fract;
    int exp;
};
_frexp_result_f32_ naga_frexp(float arg) {
    int other;
    float fract = metal::frexp(arg, other);
    return _frexp_result_f32_{ fract, other };
}

metal::float2 wrap(
    metal::float2 p
) {
    metal::float2 q = {};
    q = p;
    if (q.x < -1.0) {
        q.x = 1.0;
    }
    if (q.x > 1.0) {
        q.x = -1.0;
    }
    if (q.y < -1.0) {
        q.y = 1.0;
    }
    if (q.y > 1.0) {
        q.y = -1.0;
    }
    metal::float2 _e30 = q;
    return _e30;
}

struct stepInput {
};
kernel void step_(
  metal::uint3 global_id [[thread_position_in_grid]]
, constant SimParams& params [[buffer(0)]]
, device Particles const& particlesSrc [[buffer(1)]]
, device Particles& particlesDst [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(24)]]
) {
    metal::float2 vPos = {};
    metal::float2 vVel = {};
    metal::float2 cMass = metal::float2(0.0);
    metal::float2 colVel = metal::float2(0.0);
    int cMassCount = 0;
    uint i = 0u;
    uint index = global_id.x;
    uint count = 1 + (_buffer_sizes.size1 - 0 - 16) / 16;
    if (index >= count) {
        return;
    }
    metal::float2 _e11 = particlesSrc.particles[index].pos;
    vPos = _e11;
    metal::float2 _e16 = particlesSrc.particles[index].vel;
    vVel = _e16;
    uint2 loop_bound = uint2(4294967295u);
    bool loop_init = true;
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e90 = i;
            i = _e90 + 1u;
        }
        loop_init = false;
        uint _e26 = i;
        if (_e26 >= count) {
            break;
        }
        uint _e29 = i;
        if (_e29 == index) {
            continue;
        }
        uint _e33 = i;
        metal::float2 pos = particlesSrc.particles[_e33].pos;
        uint _e38 = i;
        metal::float2 vel = particlesSrc.particles[_e38].vel;
        metal::float2 _e42 = vPos;
        float dist = metal::distance(pos, _e42);
        float _e47 = params.rule1Distance;
        if (dist < _e47) {
            metal::float2 _e49 = cMass;
            cMass = _e49 + pos;
            int _e52 = cMassCount;
            cMassCount = as_type<int>(as_type<uint>(_e52) + as_type<uint>(1));
        }
        float _e58 = params.rule2Distance;
        if (dist < _e58) {
            metal::float2 _e60 = colVel;
            colVel = _e60 - (pos - vPos) + vel * 0.125;
        }
        continue;
    }
    int _e95 = cMassCount;
    if (_e95 > 0) {
        metal::float2 _e98 = cMass;
        int _e99 = cMassCount;
        metal::float2 _e103 = vPos;
        cMass = (_e98 / metal::float2(static_cast<float>(_e99))) - _e103;
    }
    metal::float2 _e120 = vVel;
    metal::float2 _e121 = cMass;
    metal::float2 _e126 = colVel;
    vVel = (_e120 + (_e121 * 0.02)) + (_e126 * 0.05) + metal::float3(params.bias).xy;
    metal::float2 _e134 = vVel;
    metal::float2 _e136 = vVel;
    vVel = metal::normalize(_e134) * metal::clamp(metal::length(_e136), 0.0, 0.1);
    metal::float2 _e147 = vPos;
    metal::float2 _e148 = vVel;
    float _e151 = params.deltaT;
    vPos = _e147 + (_e148 * _e151);
    metal::float2 _e155 = wrap(vPos);
    particlesDst.particles[index].pos = _e155;
    particlesDst.particles[index].vel = vVel;
    return;
}

struct ints_Input {
};
kernel void ints_(
  metal::uint3 id [[thread_position_in_grid]]
, device int const* a [[buffer(0)]]
, device int const* b [[buffer(1)]]
, device metal::int4* out [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(24)]]
) {
    int x = metal::uint(id.x) < 1 + (_buffer_sizes.size1 - 0 - 4) / 4 ? a[id.x] : DefaultConstructible();
    int y = b[metal::min(unsigned(id.x), (_buffer_sizes.size2 - 0 - 4) / 4)];
    metal::int2 both = naga_div(metal::int2(x, y), metal::int2(y, x));
    uint ux = as_type<uint>(x);
    uint uy = as_type<uint>(y);
    uint q = naga_div(ux, uy) ^ naga_mod(ux, uy);
    out[id.x] = metal::int4(naga_div(x, y), naga_mod(x, y), as_type<int>(as_type<uint>(naga_neg(x)) + as_type<uint>(naga_abs(y))), as_type<int>(as_type<uint>(both.x) + as_type<uint>(both.y) + q));
    return;
}

struct floats_Input {
};
kernel void floats_(
  uint id [[thread_position_in_grid]]
, device float const* a [[buffer(0)]]
, device metal::float4* out [[buffer(1)]]
, device metal::int4* iout [[buffer(2)]]
) {
    float x = a[id];
    _modf_result_f32_ m = naga_modf(x);
    _frexp_result_f32_ f = naga_frexp(x);
    metal::float4 v = metal::float4(m.fract, m.whole, f.fract, metal::ldexp(x, 3));
    out[id] = metal::fma(v, metal::float4(1.0), metal::float4(0.0));
    iout[id] = metal::int4(f.exp, naga_f2i32(x * 1e9), metal::select(0, 1, metal::isinf(x)), static_cast<int>(metal::sign(x)));
}

// a tree walked with a stack in a private array, atomics behind references
struct walk_Input {
};
kernel void walk(
  metal::uint3 gid [[thread_position_in_grid]]
, device type_10& nodes [[buffer(0)]]
, device type_9& result [[buffer(1)]]
, device metal::atomic_uint& total [[buffer(2)]]
) {
    type_6 stack = {};
    int sp = {};
    float sum = {};
    sp = 1;
    stack.inner[0] = metal::int2(0, 0);
    while(true) {
        int _e7 = sp;
        if (_e7 == 0) {
            break;
        }
        sp = as_type<int>(as_type<uint>(sp) - as_type<uint>(1));
        metal::int2 top = stack.inner[sp];
        int _old = metal::atomic_fetch_add_explicit(&nodes[top.x].visits, 1, metal::memory_order_relaxed);
        (void)_old;
        sum = sum + nodes[top.x].value;
        bool go_left = ((gid.x >> static_cast<uint>(top.y)) & 1u) == 0u;
        int next = go_left ? nodes[top.x].left : nodes[top.x].right;
        if (next >= 0) {
            stack.inner[sp] = metal::int2(next, as_type<int>(as_type<uint>(top.y) + as_type<uint>(1)));
            sp = as_type<int>(as_type<uint>(sp) + as_type<uint>(1));
            if ((top.y & 1) == 1 && nodes[top.x].right >= 0 && sp < 4) {
                stack.inner[sp] = metal::int2(nodes[top.x].right, 20);
                sp = as_type<int>(as_type<uint>(sp) + as_type<uint>(1));
            }
        }
    }
    result[gid.x] = sum;
    uint _e50 = metal::atomic_fetch_max_explicit(&total, static_cast<uint>(sum), metal::memory_order_relaxed);
    (void)_e50;
    return;
}

// workgroup memory with zero initialisation by all, reduction, uniform load
struct reduce_Input {
};
kernel void reduce_(
  metal::uint3 __local_invocation_id [[thread_position_in_threadgroup]]
, metal::uint3 wid [[threadgroup_position_in_grid]]
, uint local_index [[thread_index_in_threadgroup]]
, device type_9 const& in [[buffer(0)]]
, device type_9& out [[buffer(1)]]
, threadgroup type_5& tile
, threadgroup metal::atomic_uint& flag
) {
    if (metal::all(__local_invocation_id == metal::uint3(0u))) {
        tile = {};
        metal::atomic_store_explicit(&flag, 0, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float _e5 = in[wid.x * 16u + local_index];
    tile.inner[local_index] = _e5;
    if (_e5 < 0.0) {
        uint _e9 = metal::atomic_fetch_or_explicit(&flag, 1u << local_index, metal::memory_order_relaxed);
        (void)_e9;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint stride = 8u;
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            stride = stride >> 1u;
        }
        loop_init_1 = false;
        if (stride == 0u) {
            break;
        }
        if (local_index < stride) {
            tile.inner[local_index] = tile.inner[local_index] + tile.inner[local_index + stride];
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float unnamed = tile.inner[0];
    uint unnamed_1 = metal::atomic_load_explicit(&flag, metal::memory_order_relaxed);
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    out[wid.x * 16u + local_index] = unnamed + static_cast<float>(metal::popcount(unnamed_1));
    return;
}

kernel void neighbours(
  metal::uint3 gid [[thread_position_in_grid]]
, constant metal::uint2& dims [[buffer(0)]]
, device type_7 const& in [[buffer(1)]]
, device type_7& out [[buffer(2)]]
) {
    int k = 0;
    uint sum = 0u;
    if (gid.x >= dims.x || gid.y >= dims.y) { return; }
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            k = as_type<int>(as_type<uint>(k) + as_type<uint>(1));
        }
        loop_init_2 = false;
        if (k >= 4) { break; }
        metal::int2 p = as_type<metal::int2>(metal::uint2(gid.xy) + as_type<metal::uint2>(OFFSETS.inner[k]));
        metal::bool2 low = p < metal::int2(0);
        metal::bool2 high = p >= static_cast<metal::int2>(dims);
        if (metal::any(low) || metal::any(high)) { continue; }
        sum = sum + in[static_cast<uint>(p.y) * dims.x + static_cast<uint>(p.x)];
    }
    out[gid.y * dims.x + gid.x] = sum;
}
