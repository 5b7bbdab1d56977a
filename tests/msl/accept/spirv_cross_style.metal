// Machine-generated MSL in the style of SPIRV-Cross: pragmas against warnings, helper templates for
// arrays in every address space, struct copies, spv* functions, gl_* names, (&x)[n] parameters.
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"

#include <metal_stdlib>
#include <simd/simd.h>
#include <metal_atomic>

using namespace metal;

template<typename T, size_t Num>
struct spvUnsafeArray
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

struct Light
{
    packed_float3 position;
    float radius;
    float4 colour;
};

struct _Globals
{
    float4x4 mvp;
    float3x3 normal;
    uint count;
    int2 size;
    float padding[2];
};

struct SSBO
{
    uint length_1;
    Light lights[1];
};

struct SSBO_1
{
    float4 data[1];
};

struct Counter
{
    uint value;
    atomic_uint total;
};

constant uint _25_tmp [[function_constant(0)]];
constant uint _25 = is_function_constant_defined(_25_tmp) ? _25_tmp : 16u;
constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(16u, 1u, 1u);
constant spvUnsafeArray<float, 4> _33 = spvUnsafeArray<float, 4>({ 0.25, 0.5, 0.75, 1.0 });
constant spvUnsafeArray<float4, 2> _34 = spvUnsafeArray<float4, 2>({ float4(1.0), float4(0.0, 1.0, 0.0, 1.0) });

// Implementation of the GLSL radians() function
template<typename T>
inline T radians(T d)
{
    return d * T(0.01745329251);
}

// Implementation of the GLSL mod() function, which is slightly different than Metal fmod()
template<typename Tx, typename Ty>
inline Tx mod(Tx x, Ty y)
{
    return x - y * floor(x / y);
}

// Implementation of the GLSL findLSB() function
template<typename T>
inline T spvFindLSB(T x)
{
    return select(ctz(x), T(-1), x == T(0));
}

// Implementation of the signed GLSL findMSB() function
template<typename T>
inline T spvFindSMSB(T x)
{
    T v = select(x, T(-1) - x, x < T(0));
    return select(clz(T(0)) - (clz(v) + T(1)), T(-1), v == T(0));
}

template<typename T>
inline T spvBitfieldInsert(T base, T insert, uint offset, uint bits)
{
    return insert_bits(base, insert, offset, bits);
}

// Returns the determinant of a 2x2 matrix.
static inline __attribute__((always_inline))
float spvDet2x2(float a1, float a2, float b1, float b2)
{
    return a1 * b2 - b1 * a2;
}

// Returns the inverse of a matrix, by using the algorithm of calculating the classical
// adjoint and dividing by the determinant. The contents of the matrix are changed.
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

template<typename T, uint A>
inline void spvArrayCopyFromConstantToStack1(thread T (&dst)[A], constant T (&src)[A])
{
    for (uint i = 0; i < A; i++)
    {
        dst[i] = src[i];
    }
}

template<typename T, uint A>
inline void spvArrayCopyFromStackToThreadGroup1(threadgroup T (&dst)[A], thread const T (&src)[A])
{
    for (uint i = 0; i < A; i++)
    {
        dst[i] = src[i];
    }
}

constant float4 _plain[2] = { float4(1.0), float4(2.0) };

static inline __attribute__((always_inline))
float3 shade(thread const float3& p, thread const float3& n, device SSBO& ssbo, thread const uint& index, thread float& total)
{
    float3 d = float3(ssbo.lights[index].position) - p;
    float len = fast::length(d);
    float atten = fast::clamp(1.0 - (len / ssbo.lights[index].radius), 0.0, 1.0);
    total += atten;
    return ssbo.lights[index].colour.xyz * (fast::max(dot(n, fast::normalize(d)), 0.0) * atten);
}

static inline __attribute__((always_inline))
void accumulate(thread float4& acc, threadgroup float4 (&tile)[16], thread uint& gl_LocalInvocationIndex)
{
    acc += tile[gl_LocalInvocationIndex ^ 1u];
    acc.xy *= 0.5;
    acc.zw = acc.wz;
}

kernel void main0(constant _Globals& _39 [[buffer(0)]], device SSBO& _51 [[buffer(1)]], device SSBO_1& _63 [[buffer(2)]], volatile device Counter& _75 [[buffer(3)]], constant uint* spvBufferSizeConstants [[buffer(25)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]], uint gl_LocalInvocationIndex [[thread_index_in_threadgroup]], uint3 gl_WorkGroupID [[threadgroup_position_in_grid]])
{
    threadgroup float4 tile[16];
    threadgroup uint any_lit;
    constant uint& _51BufferSize = spvBufferSizeConstants[1];
    float3 p = float3(gl_GlobalInvocationID);
    float3 n = _39.normal * float3(0.0, 1.0, 0.0);
    float total = 0.0;
    float3 sum = float3(0.0);
    float4 local_table[2];
    spvArrayCopyFromConstantToStack1(local_table, _plain);
    for (uint i = 0u; i < min(_39.count, ((_51BufferSize - 16) / 32)); i++)
    {
        float3 param = p;
        float3 param_1 = n;
        uint param_2 = i;
        sum += shade(param, param_1, _51, param_2, total);
        if (any(sum > float3(100.0)))
        {
            break;
        }
        continue;
    }
    tile[gl_LocalInvocationIndex & 15u] = float4(sum, _33[gl_LocalInvocationIndex & 3u]);
    if (gl_LocalInvocationIndex == 0u)
    {
        any_lit = 0u;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float4 acc = local_table[gl_LocalInvocationIndex & 1u] + _34[1];
    accumulate(acc, tile, gl_LocalInvocationIndex);
    uint _102 = atomic_fetch_add_explicit((volatile device atomic_uint*)&_75.value, 1u, memory_order_relaxed);
    uint _103 = atomic_fetch_max_explicit((threadgroup atomic_uint*)&any_lit, _102, memory_order_relaxed);
    uint _104;
    do
    {
        _104 = _103;
    } while (!atomic_compare_exchange_weak_explicit((volatile device atomic_uint*)&_75.total, &_104, 7u, memory_order_relaxed, memory_order_relaxed) && _104 == _103);
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    int lsb = spvFindLSB(int(_102));
    int msb = spvFindSMSB(lsb);
    float3x3 inv = spvInverse3x3(_39.normal);
    spvUnsafeArray<float, 4> copy = _33;
    copy[1] = mod(total, 3.0) + radians(float(msb));
    uint bits = spvBitfieldInsert(_102, 5u, 3u, 4u);
    _63.data[gl_GlobalInvocationID.x + _25] = ((_39.mvp * acc) + float4(inv[0], copy[gl_WorkGroupID.x & 3u])) * as_type<float>(as_type<uint>(float(bits)));
}
