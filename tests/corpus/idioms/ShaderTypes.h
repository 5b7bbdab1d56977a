// SPDX-License-Identifier: Apache-2.0
// ShaderTypes.h: shared by shaders and the application, as Apple's sample projects do it.
#ifndef ShaderTypes_h
#define ShaderTypes_h

#ifdef __METAL_VERSION__
#define NS_ENUM(_type, _name) enum _name : _type _name; enum _name : _type
typedef metal::int32_t EnumBackingType;
#define NSInteger metal::int32_t
#else
#import <Foundation/Foundation.h>
typedef NSInteger EnumBackingType;
#endif

#include <simd/simd.h>

typedef NS_ENUM(EnumBackingType, BufferIndex)
{
    BufferIndexUniforms = 0,
    BufferIndexBodies   = 1,
    BufferIndexResult   = 2
};

typedef struct
{
    matrix_float4x4 projection;
    simd_float3     centre;
    vector_float2   scale;
    simd_uint2      size;
    float           time;
} Uniforms;

typedef struct Body {
    simd_float4 position;
    simd_half2  spin;
    int32_t     kind;
} Body;

#endif
