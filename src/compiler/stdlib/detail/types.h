// SPDX-License-Identifier: Apache-2.0
// types.h: what a source has that includes no header of the library: on a Mac `float4`, `uint` and
// the namespace metal are known to the compiler, and published shaders rely on it. Functions,
// textures and the rest need their headers.
#pragma once
#pragma clang system_header
#include "core.h"
#include "traits.h"
#include "vec.h"
