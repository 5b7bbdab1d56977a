// SPDX-License-Identifier: Apache-2.0
// types.h: what a source that includes no header of the library is first read with: quick, and
// enough for most. Apple's compiler knows all of the library without its headers, and published
// shaders rely on it: a source that fails so is read again with prelude.h (frontend.c).
#pragma once
#pragma clang system_header
#include "core.h"
#include "traits.h"
#include "vec.h"
