// SPDX-License-Identifier: Apache-2.0
// spirv_style.metal: what a SPIR-V translator writes: numbered temporaries, wrapped arrays, helpers.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"

#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

template<typename T, size_t Num>
struct spvFixedArray
{
    T elements[Num ? Num : 1];

    thread T& operator [] (size_t pos) thread
    {
        return elements[pos];
    }
    constexpr const thread T& operator [] (size_t pos) const thread
    {
        return elements[pos];
    }

    device T& operator [] (size_t pos) device
    {
        return elements[pos];
    }
    constexpr const device T& operator [] (size_t pos) const device
    {
        return elements[pos];
    }

    constexpr const constant T& operator [] (size_t pos) const constant
    {
        return elements[pos];
    }

    threadgroup T& operator [] (size_t pos) threadgroup
    {
        return elements[pos];
    }
    constexpr const threadgroup T& operator [] (size_t pos) const threadgroup
    {
        return elements[pos];
    }
};

// Returns the remainder with the sign of the divisor
template<typename Tx, typename Ty>
inline Tx spvMod(Tx x, Ty y)
{
    return x - y * floor(x / y);
}

template<typename T>
inline T spvRadians(T d)
{
    return d * T(0.01745329251);
}

template<typename T>
[[clang::optnone]] T spvAddExact(T l, T r)
{
    return fma(T(1), l, r);
}

template<typename T>
[[clang::optnone]] T spvMulExact(T l, T r)
{
    return fma(l, r, T(0));
}

template<typename T>
inline T spvFindLSB(T x)
{
    return select(ctz(x), T(-1), x == T(0));
}

template<typename T>
inline T spvFindUMSB(T x)
{
    return select(clz(T(0)) - (clz(x) + T(1)), T(-1), x == T(0));
}

template<typename T>
inline T spvFindSMSB(T x)
{
    T v = select(x, T(-1) - x, x < T(0));
    return select(clz(T(0)) - (clz(v) + T(1)), T(-1), v == T(0));
}

// column-major inverse by cofactors
static inline __attribute__((always_inline))
float spvDet2x2(float a1, float a2, float b1, float b2)
{
    return a1 * b2 - b1 * a2;
}

static inline __attribute__((always_inline))
float3x3 spvInverse3x3(float3x3 m)
{
    float3x3 adj;
    adj[0][0] =  spvDet2x2(m[1][1], m[1][2], m[2][1], m[2][2]);
    adj[0][1] = -spvDet2x2(m[0][1], m[0][2], m[2][1], m[2][2]);
    adj[0][2] =  spvDet2x2(m[0][1], m[0][2], m[1][1], m[1][2]);
    adj[1][0] = -spvDet2x2(m[1][0], m[1][2], m[2][0], m[2][2]);
    adj[1][1] =  spvDet2x2(m[0][0], m[0][2], m[2][0], m[2][2]);
    adj[1][2] = -spvDet2x2(m[0][0], m[0][2], m[1][0], m[1][2]);
    adj[2][0] =  spvDet2x2(m[1][0], m[1][1], m[2][0], m[2][1]);
    adj[2][1] = -spvDet2x2(m[0][0], m[0][1], m[2][0], m[2][1]);
    adj[2][2] =  spvDet2x2(m[0][0], m[0][1], m[1][0], m[1][1]);
    float det = (adj[0][0] * m[0][0]) + (adj[0][1] * m[1][0]) + (adj[0][2] * m[2][0]);
    return (det != 0.0f) ? (adj * (1.0f / det)) : m;
}

struct Params
{
    uint _m0;
    uint _m1;
    float _m2;
    packed_float3 _m3;
    float _m4;
    float4x4 _m5;
    spvFixedArray<uint4, 3> _m6;
};

struct Input
{
    float4 _m0[1];
};

struct Output
{
    float4 _m0[1];
};

struct UintBuf
{
    uint _m0[1];
};

struct Light
{
    float3 position;
    float intensity;
    packed_float3 colour;
    uint mask;
};

struct Lights
{
    uint count;
    char _pad1[12];
    Light list[1];
};

constant uint _17_tmp [[function_constant(0)]];
constant uint _17 = is_function_constant_defined(_17_tmp) ? _17_tmp : 4u;
constant bool _18_tmp [[function_constant(1)]];
constant bool _18 = is_function_constant_defined(_18_tmp) ? _18_tmp : false;
constant uint _19 = (_17 * 2u);

constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(32u, 1u, 1u);

constant spvFixedArray<float, 5> _42 = spvFixedArray<float, 5>({ 0.0625, 0.25, 0.375, 0.25, 0.0625 });
constant spvFixedArray<spvFixedArray<float2, 2>, 2> _43 = spvFixedArray<spvFixedArray<float2, 2>, 2>({ spvFixedArray<float2, 2>({ float2(1.0, 2.0), float2(3.0, 4.0) }), spvFixedArray<float2, 2>({ float2(5.0, 6.0), float2(7.0, 8.0) }) });

static inline __attribute__((always_inline))
float4 _tent(thread const uint& _86, const device Input& _90, constant Params& _97)
{
    float4 _101 = float4(0.0);
    for (int _105 = -2; _105 <= 2; _105++)
    {
        int _112 = clamp(int(_86) + _105, 0, int(_97._m0) - 1);
        _101 += (_90._m0[_112] * _42[_105 + 2]);
    }
    return _101;
}

static inline __attribute__((always_inline))
void _accumulate(thread float4& _200, thread const float4& _201, thread spvFixedArray<float, 8>& _202, threadgroup spvFixedArray<float4, 32>& _203, thread uint& gl_LocalInvocationIndex)
{
    for (uint _210 = 0u; _210 < 8u; _210++)
    {
        _202[_210] = fma(_201.x, float(_210), _202[7u - _210]);
    }
    _203[gl_LocalInvocationIndex] = _201;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    _200 += _203[31u - gl_LocalInvocationIndex];
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

kernel void main0(constant Params& _30 [[buffer(0)]], const device Input& _31 [[buffer(1)]], device Output& _32 [[buffer(2)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]], uint gl_LocalInvocationIndex [[thread_index_in_threadgroup]])
{
    threadgroup spvFixedArray<float4, 32> _33;
    do
    {
        uint _56 = gl_GlobalInvocationID.x;
        uint _param = min(_56, _30._m0 - 1u);
        float4 _57 = _tent(_param, _31, _30);
        spvFixedArray<float, 8> _58 = spvFixedArray<float, 8>({ 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 });
        float4 _59 = float4(0.0);
        _accumulate(_59, _57, _58, _33, gl_LocalInvocationIndex);
        if (_56 >= _30._m0)
        {
            break;
        }
        float3 _60 = (_30._m5 * float4(_57.xyz, 1.0)).xyz + float3(_30._m3);
        float4 _61 = float4(_60, _59.w + _30._m2);
        _61.y = spvMod(_61.y, 3.0);
        _61.z += float(_30._m6[_56 % 3u][_56 & 3u]);
        _61.w += (_58[3] + _58[6]) * _43[_56 & 1u][1].y;
        _32._m0[_56] = _61;
        break;
    } while(false);
}

kernel void bit_ops(device UintBuf& _10 [[buffer(0)]], device UintBuf& _11 [[buffer(1)]], constant uint* spvBufferSizeConstants [[buffer(25)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    constant uint& _10BufferSize = spvBufferSizeConstants[0];
    uint _20 = gl_GlobalInvocationID.x;
    if (_20 >= uint(int((_10BufferSize - 0) / 4)))
    {
        return;
    }
    uint _24 = _10._m0[_20];
    int _25 = int(_24);
    uint _26 = uint(spvFindUMSB(_24));
    uint _27 = uint(spvFindSMSB(_25));
    uint _28 = uint(spvFindLSB(_24));
    uint _29 = extract_bits(_24, 5, 7);
    int _30 = extract_bits(_25, 9, 11);
    uint _31 = insert_bits(_24, 4660u, 3, 13);
    uint _32 = reverse_bits(_24);
    uint _33 = popcount(_24);
    uint _34 = _24 + _32;
    uint _35 = select(0u, 1u, _34 < max(_24, _32));
    uint _36 = mulhi(_24, _32);
    int _37 = mulhi(_25, int(_32));
    uint4 _38 = as_type<uint4>(uint4(_26, _27, _28, _29));
    uint2 _39 = as_type<uint2>(as_type<ulong>(uint2(_24, _32)) >> 13ul);
    half2 _40 = as_type<half2>((_24 & 2080406523u));
    uint _41 = as_type<uint>(half2(_40.y, _40.x));
    _11._m0[(_20 * 16u) + 0u] = _38.x;
    _11._m0[(_20 * 16u) + 1u] = _38.y;
    _11._m0[(_20 * 16u) + 2u] = _38.z;
    _11._m0[(_20 * 16u) + 3u] = _38.w;
    _11._m0[(_20 * 16u) + 4u] = uint(_30);
    _11._m0[(_20 * 16u) + 5u] = _31;
    _11._m0[(_20 * 16u) + 6u] = _32;
    _11._m0[(_20 * 16u) + 7u] = _33;
    _11._m0[(_20 * 16u) + 8u] = _34;
    _11._m0[(_20 * 16u) + 9u] = _35;
    _11._m0[(_20 * 16u) + 10u] = _36;
    _11._m0[(_20 * 16u) + 11u] = uint(_37);
    _11._m0[(_20 * 16u) + 12u] = _39.x;
    _11._m0[(_20 * 16u) + 13u] = _39.y;
    _11._m0[(_20 * 16u) + 14u] = _41;
    _11._m0[(_20 * 16u) + 15u] = rotate(_24, _32 & 31u);
}

static inline __attribute__((always_inline))
float3 shade(thread const float3& p, thread const float3& n, const device Lights& _134)
{
    float3 total = float3(0.0);
    uint _154 = _134.count;
    for (uint i = 0u; i < _154; i++)
    {
        if ((_134.list[i].mask & (1u << (i & 31u))) == 0u)
        {
            continue;
        }
        float3 d = _134.list[i].position - p;
        float r2 = dot(d, d);
        if (r2 > 100.0)
        {
            continue;
        }
        float _190 = rsqrt(fast::max(r2, 9.9999997473787516355514526367188e-05));
        total += ((float3(_134.list[i].colour) * _134.list[i].intensity) * (fast::max(dot(n, d * _190), 0.0) / (1.0 + r2)));
        if (any(total > float3(4.0)))
        {
            break;
        }
    }
    return fast::clamp(total, float3(0.0), float3(4.0));
}

kernel void lit(const device Lights& _134 [[buffer(0)]], const device Input& _135 [[buffer(1)]], device Output& _136 [[buffer(2)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]], uint3 gl_NumWorkGroups [[threadgroups_per_grid]], uint3 gl_WorkGroupID [[threadgroup_position_in_grid]], uint3 gl_LocalInvocationID [[thread_position_in_threadgroup]])
{
    uint _ix = (gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * gl_WorkGroupSize.x)) + gl_GlobalInvocationID.x;
    float3 param = _135._m0[_ix].xyz;
    float3 param_1 = fast::normalize(float3(_135._m0[_ix].w, 1.0, 0.5));
    float3 _c = shade(param, param_1, _134);
    float _t = float(gl_WorkGroupID.x) * 32.0 + float(gl_LocalInvocationID.x) - float(gl_GlobalInvocationID.x);
    _136._m0[_ix] = float4(_c, _t);
}

// switch with fall-through, loops with several exits, specialisation constants in sizes
kernel void flow(device UintBuf& _10 [[buffer(0)]], device UintBuf& _11 [[buffer(1)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    uint _21 = gl_GlobalInvocationID.x;
    uint _22 = _10._m0[_21];
    uint _23 = 0u;
    uint _24;
    for (;;)
    {
        if (_23 < _19)
        {
            bool _31 = false;
            switch (_22 % 7u)
            {
                case 0u:
                {
                    _22 += 3u;
                    break;
                }
                case 1u:
                case 2u:
                {
                    _22 *= 5u;
                    _22 = _22 ^ (_22 >> 3u);
                }
                case 3u:
                {
                    _22 -= 11u;
                    break;
                }
                case 4u:
                {
                    if (_18)
                    {
                        _31 = true;
                        break;
                    }
                    _22 = (_22 << 1u) | 1u;
                    break;
                }
                default:
                {
                    _22 = (_22 * 1664525u) + 1013904223u;
                    if ((_22 & 1023u) == 7u)
                    {
                        _31 = true;
                    }
                    break;
                }
            }
            if (_31)
            {
                _24 = _22 | 2147483648u;
                break;
            }
            _23++;
            continue;
        }
        else
        {
            _24 = _22 & 2147483647u;
            break;
        }
    }
    _11._m0[_21] = _24;
}

kernel void matrices(constant float3x3* _1 [[buffer(0)]], device float3x3* _2 [[buffer(1)]], device float4x3* _3 [[buffer(2)]], device float2x2* _4 [[buffer(3)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    uint _i = gl_GlobalInvocationID.x;
    float3x3 m = float3x3(_1[_i][0], _1[_i][1], _1[_i][2]);
    float3x3 inv = spvInverse3x3(m);
    _2[_i] = inv * transpose(m) + m;
    _2[_i][1] *= 2.0;
    _2[_i][2].yz = _2[_i][2].zy;
    float4x3 wide = float4x3(m[0], m[1], m[2], float3(1.0, 2.0, 3.0) * m);
    wide[3].x = spvAddExact(spvMulExact(m[0].x, m[1].x), spvRadians(m[2].x));
    _3[_i] = wide;
    _4[_i] = float2x2(m[0].xy, m[1].yz) * float3x2(m[0].xy, m[1].xy, m[2].xy) * float2x3(m[0], m[2]);
}
