// SPDX-License-Identifier: Apache-2.0
// packed_numeric.h: number formats below a byte, as element types of tensors: two in a byte, the
// even one in the low half. They are names, not storage: memory of them is uchar.
// (packed_numeric_type is not here.)
#pragma once
#if __METAL_VERSION__ >= 400
namespace metal {
struct int4b_format {};
struct uint4b_format {};
} // namespace metal
#endif
