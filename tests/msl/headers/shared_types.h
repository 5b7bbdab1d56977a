// SPDX-License-Identifier: Apache-2.0
// Shared between Metal and the host.
#ifndef ShaderTypes_h
#define ShaderTypes_h
#ifdef __METAL_VERSION__
#define NS_ENUM(_type, _name) enum _name : _type _name; enum _name : _type
typedef metal::int32_t EnumBackingType;
#define NSInteger metal::int32_t
#else
#import <Foundation/Foundation.h>
#endif
#include <simd/simd.h>
typedef NS_ENUM(NSInteger, BufferIndex) { BufferIndexPositions = 0, BufferIndexUniforms = 2 };
typedef struct { matrix_float4x4 projection; vector_float3 light; simd_float4 tint; vector_uint2 size; simd_int2 off; matrix_float3x3 n; float f; } Uniforms;
typedef struct __attribute__((packed)) { uint8_t a; uint32_t b; } Packed;
#endif
