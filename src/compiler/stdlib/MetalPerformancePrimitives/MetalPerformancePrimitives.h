// SPDX-License-Identifier: Apache-2.0
// <MetalPerformancePrimitives/MetalPerformancePrimitives.h>: operations on tensors.
#pragma once
#pragma clang system_header
#include <metal_stdlib>
#include <metal_tensor>
#include "../detail/execution.h"
#include "../detail/cooperative_tensor.h"
#include "../detail/mpp_types.h"
#include "../detail/mpp_thread.h"
#include "../detail/mpp_matmul.h"
#include "../detail/mpp_reduce.h"
#include "../detail/mpp_convolution.h"
