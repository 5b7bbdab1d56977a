// SPDX-License-Identifier: Apache-2.0
// tensor.h: operands of matrix products, as tensor cores take them, and their results.
//
// An operand has an index of its own (rows of A, columns of B) and one along the sum, k. A fragment
// is 16 x 32 bytes of it, in four words of each lane: word i holds 4 bytes along k at 4 (lane % 4)
// + 16 (i / 2), of index lane / 4 + 8 (i % 2). Of A that is what an instruction wants; of B i / 2
// and i % 2 change places, so that the first two words are one of its operands, the others the
// next. So halves are multiplied 16 at a time, floats 8, bytes 32. Results are tiles of 16 x 8:
// element e of lane l is row l / 4 + 8 (e / 2), column 2 (l % 4) + e % 2.
//
// Sizes, types and layouts are constants once a function here is part of a kernel.
#ifndef INGOT_NVPTX_TENSOR_H
#define INGOT_NVPTX_TENSOR_H
#include "abi/cpu_tensor.h"
#include "compiler/codegen/nvptx/library/instructions.h"
#include "compiler/tensor_call.h"

typedef uint8_t u8;
__extension__ typedef _Float16 f16;

// ---- numbers ----

INLINE f32 float_of_half(u32 bits) {
    union {
        u16 bits;
        f16 x;
    } both = {(u16)bits};
    return (f32)both.x;
}
INLINE u32 half_of_float(f32 x) {
    union {
        f16 x;
        u16 bits;
    } both = {(f16)x};
    return both.bits;
}
INLINE u32 bfloat_of_float(f32 x) {
    u32 b = bits_of(x);
    return x != x ? 0x7fc0 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

// What the numbers of an operand are while they are multiplied.
typedef enum Kind { HALVES, BFLOATS, FLOATS, BYTES, UNSIGNED_BYTES } Kind;

INLINE _Bool is_small_integer(u32 t) {
    return t == ABI_TENSOR_INT8 || t == ABI_TENSOR_UINT8 || t == ABI_TENSOR_INT4 ||
           t == ABI_TENSOR_UINT4;
}
// Small integers are halves and bfloats too, exactly.
INLINE Kind kind_of(u32 types) {
    u32 a = types & 255, b = types >> 8 & 255, c = types >> 16 & 255;
    if (c == ABI_TENSOR_INT32) return a == ABI_TENSOR_INT8 ? BYTES : UNSIGNED_BYTES;
    u32 number = is_small_integer(a) ? b : a;
    if (number != a && !is_small_integer(a)) return FLOATS;
    if (number != b && !is_small_integer(b)) return FLOATS;
    return number == ABI_TENSOR_FLOAT16 ? HALVES : number == ABI_TENSOR_BFLOAT16 ? BFLOATS : FLOATS;
}
INLINE u32 bytes_of(Kind kind) { return kind == FLOATS ? 4 : kind <= BFLOATS ? 2 : 1; }

// The bits of element i as they lie there, those of four bits as bytes.
INLINE u32 raw(const void *p, u32 type, i64 i) {
    switch (type) {
    case ABI_TENSOR_FLOAT32:
    case ABI_TENSOR_INT32: return ((const u32 *)p)[i];
    case ABI_TENSOR_FLOAT16:
    case ABI_TENSOR_BFLOAT16: return ((const u16 *)p)[i];
    case ABI_TENSOR_INT4:
    case ABI_TENSOR_UINT4: return (u32)((const u8 *)p)[i >> 1] >> (i & 1) * 4 & 15;
    default: return ((const u8 *)p)[i];
    }
}
INLINE i32 whole(u32 type, u32 bits) {
    return type == ABI_TENSOR_INT8   ? (i32)(bits << 24) >> 24
           : type == ABI_TENSOR_INT4 ? (i32)(bits << 28) >> 28
                                     : (i32)bits;
}
INLINE f32 value(u32 type, u32 bits) {
    return type == ABI_TENSOR_FLOAT32    ? float_of(bits)
           : type == ABI_TENSOR_FLOAT16  ? float_of_half(bits)
           : type == ABI_TENSOR_BFLOAT16 ? float_of(bits << 16)
                                         : (f32)whole(type, bits);
}
INLINE u32 as_kind(Kind kind, u32 type, u32 bits) {
    switch (kind) {
    case HALVES: return type == ABI_TENSOR_FLOAT16 ? bits : half_of_float(value(type, bits));
    case BFLOATS: return type == ABI_TENSOR_BFLOAT16 ? bits : bits_of(value(type, bits)) >> 16;
    case FLOATS: return bits_of(value(type, bits));
    default: return (u32)whole(type, bits) & 255;
    }
}
INLINE void set_element(void *p, u32 type, i64 i, f32 x) {
    if (type == ABI_TENSOR_FLOAT16)
        ((u16 *)p)[i] = (u16)half_of_float(x);
    else if (type == ABI_TENSOR_BFLOAT16)
        ((u16 *)p)[i] = (u16)bfloat_of_float(x);
    else
        ((f32 *)p)[i] = x; // an integer: its bits
}
INLINE f32 add_to(const void *p, u32 type, i64 i, f32 x) {
    u32 bits = raw(p, type, i);
    return type == ABI_TENSOR_INT32 ? float_of(bits + bits_of(x)) : value(type, bits) + x;
}

// ---- cooperative tensors ----

// Who holds a position of a slab, and as which of its elements. `columns`: of the slab.
typedef struct Place {
    u32 lane, element;
} Place;
INLINE Place place_in_fragments(u32 layout, u32 row, u32 column) {
    u32 down = tensor_kind(layout) - TENSOR_FRAGMENTS;
    u32 x = column % 16, y = row % 8, fragment = column / 16 * down + row / 16;
    Place r = {(x & 8) | (x >> 2 & 1) | (y & 3) * 2 | y / 4 * 16,
               fragment * 8 + row % 16 / 8 * 4 + x % 4};
    return r;
}
INLINE u32 inverse(u32 x, u32 n) { // modulo n, which it shares no factor with
    i64 a = x % n, b = n, s = 1, t = 0;
    while (a > 1) {
        i64 q = b / a, rest = b % a, next = t - q * s;
        b = a, a = rest, t = s, s = next;
    }
    return (u32)((s % (i64)n + n) % n);
}
INLINE Place place_of(u32 layout, u32 row, u32 column, u32 columns) {
    u32 kind = tensor_kind(layout), at = row * columns + column;
    if (tensor_is_fragments(layout)) return place_in_fragments(layout, row, column);
    if (kind == TENSOR_TILES) {
        Place r = {row % 8 * 4 + column % 8 / 2,
                   (row / 16 * (columns / 8) + column / 8) * 4 + row % 16 / 8 * 2 + (column & 1)};
        return r;
    }
    if (kind != 1) {
        u32 n = tensor_capacity(layout) * 32;
        at = (u32)((u64)(at + n - TENSOR_SHIFT % n) % n * inverse(kind, n) % n);
    }
    Place r = {at % 32, at / 32};
    return r;
}

// ---- operands ----

typedef struct Operand {
    const void *data;
    i64 step, step_k; // between elements, in elements
    i32 size, size_k; // that exist
    u32 type, layout; // as in tensor_call.h
    i64 first;        // element, of memory
} Operand;

// Of a cooperative tensor: all lanes ask, each for an element of its own.
INLINE u32 from_threads(const Operand *o, i32 index, i32 k, i32 first, i32 first_k) {
    _Bool by_k = o->step_k == 1; // its columns are along k
    u32 row = (u32)(by_k ? index : k), column = (u32)(by_k ? k : index);
    u32 columns = (u32)(by_k ? o->step : o->step_k), from = 0, to = tensor_capacity(o->layout);
    if (tensor_is_fragments(o->layout)) { // all lanes ask for the same one
        from = place_in_fragments(o->layout, (u32)(by_k ? first : first_k) & ~15u,
                                  (u32)(by_k ? first_k : first) & ~15u)
                   .element;
        to = from + 8;
    }
    Place at = place_of(o->layout, row, column, columns);
    u32 r = 0;
    for (u32 e = from; e < to; e++) {
        u32 x = shuffle(ALL_LANES, raw(o->data, o->type, e), at.lane);
        r = e == at.element ? x : r;
    }
    return r;
}
INLINE u32 element(const Operand *o, Kind kind, i32 index, i32 k, i32 first, i32 first_k) {
    _Bool inside = index < o->size && k < o->size_k;
    u32 bits = 0;
    if (o->layout)
        bits = from_threads(o, index, k, first, first_k);
    else if (inside)
        bits = raw(o->data, o->type, o->first + index * o->step + k * o->step_k);
    return inside ? as_kind(kind, o->type, bits) : 0;
}
INLINE void fragment(u32 *q, const Operand *o, Kind kind, i32 index, i32 k, _Bool of_b) {
    i32 n = 4 / (i32)bytes_of(kind), l = (i32)lane();
    UNROLL for (i32 i = 0; i < 4; i++) {
        i32 part = of_b ? i % 2 : i / 2, half = of_b ? i / 2 : i % 2;
        i32 at = k + l % 4 * n + part * 4 * n;
        q[i] = 0;
        UNROLL for (i32 e = 0; e < n; e++) q[i] |=
            element(o, kind, index + l / 4 + half * 8, at + e, index, k + part * 4 * n)
            << e * (32 / n);
    }
}

// ---- products ----

// A float is nearly the sum of two tf32 numbers: three products of such have a float's precision.
// Tensor cores cut what sticks out below a sum, so that the result is added outside.
// The low part is what the high one leaves of a number (of a NaN, a NaN); the cores take the bits
// of it that they have room for.
INLINE void split_float(const u32 *x, u32 *high, u32 *low, _Bool relaxed) {
    UNROLL for (u32 i = 0; i < 4; i++) {
        high[i] = relaxed ? to_tf32(float_of(x[i])) : (x[i] + 0x1000) & 0xffffe000;
        low[i] = bits_of(float_of(x[i]) - float_of(high[i]));
    }
}
typedef struct Factor { // a fragment; of floats in two parts
    u32 x[4], low[4];
} Factor;
INLINE void ready(Factor *f, Kind kind, _Bool relaxed) {
    u32 high[4];
    if (kind != FLOATS) return;
    split_float(f->x, high, f->low, relaxed);
    UNROLL for (u32 i = 0; i < 4; i++) f->x[i] = high[i];
}
INLINE void multiply_integers(f32 *sum, const u32 *a, const u32 *b, Kind kind) {
    i32 s[4];
    UNROLL for (u32 e = 0; e < 4; e++) s[e] = (i32)bits_of(sum[e]);
    if (kind == BYTES)
        mma_bytes(s, a, b);
    else
        mma_unsigned_bytes(s, a, b);
    UNROLL for (u32 e = 0; e < 4; e++) sum[e] = float_of((u32)s[e]);
}
// A tile: A, and the columns `right` (0, 1) of a fragment of B.
INLINE void multiply(f32 *sum, const Factor *a, const Factor *b, u32 right, Kind kind,
                     _Bool relaxed) {
    u32 y[2] = {b->x[right * 2], b->x[right * 2 + 1]};
    u32 low[2] = {b->low[right * 2], b->low[right * 2 + 1]};
    if (kind == HALVES) {
        mma_halves(sum, a->x, y);
    } else if (kind == BFLOATS) {
        mma_bfloats(sum, a->x, y);
    } else if (kind == FLOATS) {
        f32 s[4] = {0, 0, 0, 0};
        if (!relaxed) {
            mma_tf32(s, a->low, y);
            mma_tf32(s, a->x, low);
        }
        mma_tf32(s, a->x, y);
        UNROLL for (u32 e = 0; e < 4; e++) sum[e] += s[e];
    } else {
        multiply_integers(sum, a->x, y, kind);
    }
}

// ---- results ----

typedef struct Result { // of a SIMD-group
    void *data;
    i64 row, column;   // strides; of a cooperative tensor its columns and 1
    i32 rows, columns; // that exist, of its own
    u32 type, layout, flags;
} Result;

// In a cooperative tensor whose slab is in tiles: element e of tile `tile`.
INLINE void tile_done(const Result *c, u32 tile, const f32 *sum) {
    UNROLL for (u32 e = 0; e < 4; e++) set_element(c->data, c->type, tile * 4 + e, sum[e]);
}
INLINE void tile_begun(const Result *c, u32 tile, f32 *sum) {
    UNROLL for (u32 e = 0; e < 4; e++) {
        u32 bits = c->flags & CPU_MATMUL_ACCUMULATE ? raw(c->data, c->type, tile * 4 + e) : 0;
        sum[e] = c->type == ABI_TENSOR_INT32 ? float_of(bits) : value(c->type, bits);
    }
}

// A part of any other cooperative tensor: tiles from a row and a column on; lanes ask who has what
// is theirs.
INLINE void spread(const Result *c, const f32 *sum, i32 first, i32 column, i32 row_tiles,
                   i32 col_tiles) {
    u32 capacity = tensor_capacity(c->layout), columns = (u32)c->row;
    for (u32 e = 0; e < capacity; e++) {
        u32 at = tensor_position(c->layout, e * 32 + lane());
        i32 row = (i32)(at / columns) - first, x = (i32)(at % columns) - column;
        i32 tile = row / 16 * col_tiles + x / 8, part = row % 16 / 8 * 2 + (x & 1);
        u32 from = (u32)(row % 8 * 4 + (x & 7) / 2);
        _Bool mine = x >= 0 && x < col_tiles * 8 && row >= 0 && row < row_tiles * 16 &&
                     row + first < c->rows;
        f32 r = 0;
        for (i32 i = 0; i < row_tiles * col_tiles * 4; i++) {
            f32 y = float_of(shuffle(ALL_LANES, bits_of(sum[i]), from));
            r = i == tile * 4 + part ? y : r;
        }
        if (!mine) continue;
        if (c->flags & CPU_MATMUL_ACCUMULATE) r = add_to(c->data, c->type, e, r);
        set_element(c->data, c->type, e, r);
    }
}
#endif
