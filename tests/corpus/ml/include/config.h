// SPDX-License-Identifier: Apache-2.0
// config.h: what every kernel file of this library begins with.
#pragma once

#ifndef __METAL_VERSION__
#error "for the Metal compiler"
#endif

#define FORGE_CONST static constant constexpr const
#define FORGE_UNROLL _Pragma("clang loop unroll(full)")
#define FORGE_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#define FORGE_JOIN_(a, b) a##b
#define FORGE_JOIN(a, b) FORGE_JOIN_(a, b)

// a kernel template under the name the host asks for
#define expose(name, fn, ...) template [[host_name(name)]] [[kernel]] decltype(fn<__VA_ARGS__>) fn<__VA_ARGS__>;

#include <metal_stdlib>
#define FORGE_FUNC METAL_FUNC

typedef half f16;
typedef bfloat bf16;
