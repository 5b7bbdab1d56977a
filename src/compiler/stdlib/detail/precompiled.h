// SPDX-License-Identifier: Apache-2.0
// precompiled.h: what the image of precompiled headers holds: the prelude, and the everyday types
// instantiated, with their copies. Clang would otherwise read every swizzle to define them anew in
// each source (9 ms of CPU time against 4 with one float4).
#pragma once
#pragma clang system_header
#include "prelude.h"
namespace metal {
template <class T> inline void __warm() {
    T a;
    T b = a;
    b = a;
}
template <class T> inline void __warm3() {
    __warm<vec<T, 2>>();
    __warm<vec<T, 3>>();
    __warm<vec<T, 4>>();
}
inline void __warm_all() {
    __warm3<float>();
    __warm3<half>();
    __warm3<int>();
    __warm3<uint>();
    __warm3<bool>();
    __warm<vec<ushort, 2>>();
    __warm<vec<ushort, 3>>();
    __warm<vec<uchar, 4>>();
    __warm<float3x3>();
    __warm<float4x4>();
}
}
