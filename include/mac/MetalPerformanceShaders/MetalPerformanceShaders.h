// SPDX-License-Identifier: Apache-2.0
// MetalPerformanceShaders/MetalPerformanceShaders.h: products of matrices, filters of images,
// arrays of many dimensions, encoded into command buffers.
#ifndef INGOT_MAC_MPS_H
#define INGOT_MAC_MPS_H
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MPSCore.h>
#import <MetalPerformanceShaders/MPSImage.h>
#import <MetalPerformanceShaders/MPSMatrix.h>
#import <MetalPerformanceShaders/MPSNDArray.h>
#endif
