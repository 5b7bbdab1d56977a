// SPDX-License-Identifier: Apache-2.0
// MetalKit/MetalKit.h: what of MetalKit is here.
#ifndef INGOT_MAC_METALKIT_METALKIT_H
#define INGOT_MAC_METALKIT_METALKIT_H
#include <simd/simd.h>
#import <Metal/Metal.h>
#import <MetalKit/MTKTextureLoader.h>
#import <MetalKit/MTKView.h>
#endif
