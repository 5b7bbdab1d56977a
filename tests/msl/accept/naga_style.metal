// language: metal2.4
// Machine-generated MSL in the style of naga: everything qualified with metal::, wrapper structs around
// arrays, buffer sizes in a struct, loop guards, private state passed by reference.
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct DefaultConstructible {
    template<typename T>
    operator T() && {
        return T {};
    }
};

struct _mslBufferSizes {
    uint size0;
    uint size2;
};

struct type_1 {
    uint inner[256];
};
struct Particle {
    metal::float2 pos;
    metal::float2 vel;
};
struct SimParams {
    float deltaT;
    float rule1Distance;
    metal::packed_float3 limits;
    char _pad3[4];
    metal::float3x3 basis;
};
typedef Particle type_4[1];
struct Particles {
    type_4 particles;
};
constant uint NUM_PARTICLES = 1500u;
constant metal::uint3 ZERO = metal::uint3(0u, 0u, 0u);

struct naga_modf_result_f32 {
    float fract;
    float whole;
};
naga_modf_result_f32 naga_modf(float arg) {
    naga_modf_result_f32 result;
    result.fract = metal::modf(arg, result.whole);
    return result;
}

int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == int(-2147483647 - 1) & rhs == -1) | (rhs == 0));
}
uint naga_f2u32(float value) {
    return static_cast<uint>(metal::clamp(value, 0.0, 4294967000.0));
}
metal::int2 naga_neg(metal::int2 val) {
    return as_type<metal::int2>(-as_type<metal::uint2>(val));
}

float helper(
    thread float& state,
    threadgroup type_1& shared,
    metal::float2 v,
    uint i
) {
    state = state + v.x;
    float _e4 = state;
    uint _e5 = i < 256u ? shared.inner[i] : DefaultConstructible();
    return metal::fma(_e4, v.y, static_cast<float>(_e5));
}

// NOLINTNEXTLINE
struct main_Input {
};
kernel void main_(
  metal::uint3 global_invocation_id [[thread_position_in_grid]]
, metal::uint3 __local_invocation_id [[thread_position_in_threadgroup]]
, uint local_index [[thread_index_in_threadgroup]]
, constant SimParams& params [[user(fake0)]]
, device Particles const& particlesSrc [[user(fake0)]]
, device Particles& particlesDst [[user(fake0)]]
, device metal::atomic_uint& counter [[user(fake0)]]
, threadgroup type_1& shared
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (metal::all(__local_invocation_id == metal::uint3(0u))) {
        shared = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float state = 0.0;
    metal::float2 vPos = {};
    metal::float2 cMass = metal::float2(0.0, 0.0);
    int cMassCount = 0;
    uint i = 0u;
    uint index = global_invocation_id.x;
    if (index >= NUM_PARTICLES) {
        return;
    }
    metal::float2 _e8 = particlesSrc.particles[index].pos;
    vPos = _e8;
    uint2 loop_bound = uint2(4294967295u);
    bool loop_init = true;
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e91 = i;
            i = _e91 + 1u;
        }
        loop_init = false;
        uint _e21 = i;
        if (_e21 >= NUM_PARTICLES) {
            break;
        }
        uint _e23 = i;
        if (_e23 == index) {
            continue;
        }
        metal::float2 pos_1 = uint(_e23) < 1 + (_buffer_sizes.size2 - 0 - 16) / 16 ? particlesSrc.particles[_e23].pos : DefaultConstructible();
        metal::float2 _e31 = vPos;
        float _e34 = params.rule1Distance;
        if (metal::distance(pos_1, _e31) < _e34) {
            cMass = cMass + pos_1;
            cMassCount = as_type<int>(as_type<uint>(cMassCount) + as_type<uint>(1));
        }
        switch(cMassCount) {
            case 0: {
                break;
            }
            case 1:
            case 2: {
                state = 1.0;
                break;
            }
            default: {
                break;
            }
        }
    }
    uint _e40 = metal::atomic_fetch_add_explicit(&counter, 1u, metal::memory_order_relaxed);
    metal::float3 limits = params.limits;
    metal::float3 turned = params.basis * limits;
    naga_modf_result_f32 parts = naga_modf(turned.x);
    metal::int2 negative = naga_neg(metal::int2(cMassCount, naga_div(cMassCount, 3)));
    float _e50 = helper(state, shared, cMass, _e40);
    shared.inner[metal::min(unsigned(local_index), 255u)] = naga_f2u32(_e50);
    metal::simdgroup_barrier(metal::mem_flags::mem_threadgroup);
    particlesDst.particles[index].vel = metal::float2(parts.fract + parts.whole, static_cast<float>(negative.x)) / (_e50 + params.deltaT);
    return;
}
