// SPDX-License-Identifier: Apache-2.0
// lanes_tensor.h: operations on tensors in the reference code, a part of lanes.c: plain loops over
// elements, which know nothing of the device's functions (src/devices/cpu/tensor) nor of the
// vectoriser's slabs. The arguments of a call are 64-bit words in the order of
// compiler/tensor_call.h.
#ifndef INGOT_LANES_TENSOR_H
#define INGOT_LANES_TENSOR_H

// Small floats by their bits, so that nothing here rests on the compiler's conversions.
static f32 float_of_half(u32 h) {
    u32 sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 31) return f32_bits(sign | 0x7f800000 | m << 13);
    if (e) return f32_bits(sign | (e + 112) << 23 | m << 13);
    f32 small = (f32)m * 0x1p-24f;
    return sign ? -small : small;
}
static u32 half_of_float(f32 x) {
    u32 b = (u32)bits_f32(x), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
    if (a > 0x7f800000) return sign | 0x7e00;
    if (a >= 0x477ff000) return sign | 0x7c00; // 65520 and above
    if (a < 0x38800000) {                      // below 2^-14: multiples of 2^-24
        f32 ulps = f32_bits(a) * 0x1p24f, down = (f32)(u32)ulps, rest = ulps - down;
        u32 n = (u32)ulps;
        return sign | (n + (rest > 0.5f || (rest == 0.5f && (n & 1))));
    }
    u32 rounded = a + 0xfff + (a >> 13 & 1);
    return sign | ((rounded >> 13) - (112u << 10));
}
static u32 bfloat_of_float(f32 x) {
    u32 b = (u32)bits_f32(x);
    if ((b & 0x7fffffff) > 0x7f800000) return b >> 16 | 0x40;
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

static int is_float_type(u32 t) {
    return t == ABI_TENSOR_FLOAT32 || t == ABI_TENSOR_FLOAT16 || t == ABI_TENSOR_BFLOAT16;
}
static u32 element_bytes(u32 t) {
    switch (t) {
    case ABI_TENSOR_FLOAT32:
    case ABI_TENSOR_INT32: return 4;
    case ABI_TENSOR_FLOAT16:
    case ABI_TENSOR_BFLOAT16: return 2;
    default: return 1;
    }
}
static f32 get_float(const char *p, u32 type, i64 i) {
    u32 nibble;
    switch (type) {
    case ABI_TENSOR_FLOAT32: return ((const f32 *)p)[i];
    case ABI_TENSOR_FLOAT16: return float_of_half(((const uint16_t *)p)[i]);
    case ABI_TENSOR_BFLOAT16: return f32_bits((u32)((const uint16_t *)p)[i] << 16);
    case ABI_TENSOR_INT32: return (f32)((const i32 *)p)[i];
    case ABI_TENSOR_INT8: return (f32)((const int8_t *)p)[i];
    case ABI_TENSOR_UINT8: return (f32)((const uint8_t *)p)[i];
    case ABI_TENSOR_INT4:
        nibble = ((const uint8_t *)p)[i >> 1] >> (i & 1) * 4 & 15;
        return (f32)((i32)(nibble ^ 8) - 8);
    case ABI_TENSOR_UINT4: return (f32)(((const uint8_t *)p)[i >> 1] >> (i & 1) * 4 & 15);
    default: return 0;
    }
}
static void set_float(char *p, u32 type, i64 i, f32 v) {
    switch (type) {
    case ABI_TENSOR_FLOAT32: ((f32 *)p)[i] = v; break;
    case ABI_TENSOR_FLOAT16: ((uint16_t *)p)[i] = (uint16_t)half_of_float(v); break;
    default: ((uint16_t *)p)[i] = (uint16_t)bfloat_of_float(v); break;
    }
}

// Position `at` of a slab, in the storage of the thread that holds it; its own pointer is argument
// `data` of its call.
static char *held(Lane **lane, u32 on, u32 data, u32 layout, u32 type, i64 *at) {
    u32 n = tensor_capacity(layout) * 32;
    for (u32 q = tensor_kind(layout) == 1 ? (u32)*at : 0; q < n; q++) {
        if (tensor_position(layout, q) != (u32)*at) continue;
        if (!(on >> q % 32 & 1)) return 0;
        *at = 0;
        const u64 *own = (const u64 *)lane[q % 32]->in[0];
        return (char *)own[data] + (u64)(q / 32) * element_bytes(type);
    }
    return 0;
}
// Matrix m of a product: element `at` in steps of its strides lies in memory, or in a slab.
static char *element_at(Lane **lane, u32 on, const u64 *args, u32 m, i64 *at) {
    u32 layout = (u32)args[TENSOR_LAYOUT_A + m], type = (u32)args[TENSOR_TYPES] >> 8 * m & 0xff;
    if (!layout) return (char *)args[m * TENSOR_MATRIX_ARGS];
    return held(lane, on, m * TENSOR_MATRIX_ARGS, layout, type, at);
}

// Element by element; a factor that does not exist is 0.
static void multiply_tensors(Lane **lane, u32 on) {
    const u64 *args = (const u64 *)lane[__builtin_ctz(on)]->in[0];
    const u64 *a = args + TENSOR_A, *b = args + TENSOR_B, *c = args + TENSOR_C;
    u32 types = (u32)args[TENSOR_TYPES], ta = types & 0xff, tb = types >> 8 & 0xff,
        tc = types >> 16 & 0xff;
    i32 first = (i32)args[TENSOR_FIRST_ROW], k = (i32)args[TENSOR_K];
    int floats = is_float_type(ta) || is_float_type(tb) || is_float_type(tc);
    for (i32 r = first; r < first + (i32)args[TENSOR_N_ROWS] && r < (i32)c[TENSOR_ROWS]; r++)
        for (i32 j = 0; j < (i32)args[TENSOR_N] && j < (i32)c[TENSOR_COLS]; j++) {
            i64 to = (r - first) * (i64)c[TENSOR_ROW_STRIDE] + j * (i64)c[TENSOR_COL_STRIDE];
            char *out = element_at(lane, on, args, 2, &to);
            if (!out) continue;
            int adds = (args[TENSOR_FLAGS] & CPU_MATMUL_ACCUMULATE) != 0;
            f32 sum = adds ? get_float(out, tc, to) : 0;
            u32 whole = adds && !floats ? ((const u32 *)out)[to] : 0;
            for (i32 i = 0; i < k; i++) {
                if (r >= (i32)a[TENSOR_ROWS] || i >= (i32)a[TENSOR_COLS] ||
                    i >= (i32)b[TENSOR_ROWS] || j >= (i32)b[TENSOR_COLS])
                    continue;
                i64 ai = r * (i64)a[TENSOR_ROW_STRIDE] + i * (i64)a[TENSOR_COL_STRIDE],
                    bi = i * (i64)b[TENSOR_ROW_STRIDE] + j * (i64)b[TENSOR_COL_STRIDE];
                const char *pa = element_at(lane, on, args, 0, &ai),
                           *pb = element_at(lane, on, args, 1, &bi);
                f32 x = pa ? get_float(pa, ta, ai) : 0, y = pb ? get_float(pb, tb, bi) : 0;
                if (floats)
                    sum = __builtin_fmaf(x, y, sum);
                else
                    whole += (u32)(i32)x * (u32)(i32)y;
            }
            if (floats)
                set_float(out, tc, to, sum);
            else
                ((u32 *)out)[to] = whole;
        }
}

// One element of a convolution: the sum over the window and the channels.
static void convolve_at(const u64 *args, char *out, i64 to, i64 x, i64 y, i64 image, i64 o) {
    const u64 *s = args + TENSOR_SOURCE, *w = args + TENSOR_WEIGHTS;
    const i64 *se = (const i64 *)s + TENSOR_EXTENTS, *ss = (const i64 *)s + TENSOR_STRIDES,
              *we = (const i64 *)w + TENSOR_EXTENTS, *ws = (const i64 *)w + TENSOR_STRIDES;
    u32 types = (u32)args[TENSOR_CONVOLUTION_TYPES], ts = types & 0xff, tw = types >> 8 & 0xff,
        td = types >> 16 & 0xff;
    int floats = is_float_type(ts) || is_float_type(tw) || is_float_type(td);
    int adds = (args[TENSOR_CONVOLUTION_FLAGS] & CPU_MATMUL_ACCUMULATE) != 0;
    f32 sum = adds ? get_float(out, td, to) : 0;
    u32 whole = adds && !floats ? ((const u32 *)out)[to] : 0;
    int there = o < we[0] && image < se[3];
    for (i64 ky = 0; there && ky < we[3]; ky++)
        for (i64 kx = 0; kx < we[2]; kx++) {
            i64 sx = x * (i32)args[TENSOR_STEP] + kx * (i32)args[TENSOR_DILATION] +
                     (i32)args[TENSOR_OFFSET],
                sy = y * (i32)args[TENSOR_STEP + 1] + ky * (i32)args[TENSOR_DILATION + 1] +
                     (i32)args[TENSOR_OFFSET + 1];
            if (sx < 0 || sx >= se[1] || sy < 0 || sy >= se[2]) continue;
            for (i64 c = 0; c < se[0] && c < we[1]; c++) {
                f32 a = get_float((const char *)s[0], ts,
                                  c * ss[0] + sx * ss[1] + sy * ss[2] + image * ss[3]);
                f32 b = get_float((const char *)w[0], tw,
                                  o * ws[0] + c * ws[1] + kx * ws[2] + ky * ws[3]);
                if (floats)
                    sum = __builtin_fmaf(a, b, sum);
                else
                    whole += (u32)(i32)a * (u32)(i32)b;
            }
        }
    if (floats)
        set_float(out, td, to, sum);
    else
        ((u32 *)out)[to] = whole;
}

static void convolve_tensors(Lane **lane, u32 on) {
    const u64 *args = (const u64 *)lane[__builtin_ctz(on)]->in[0], *d = args + TENSOR_DESTINATION;
    const i64 *extents = (const i64 *)d + TENSOR_EXTENTS,
              *strides = (const i64 *)d + TENSOR_STRIDES;
    u32 layout = (u32)args[TENSOR_CONVOLUTION_LAYOUT],
        type = (u32)args[TENSOR_CONVOLUTION_TYPES] >> 16 & 0xff;
    i32 n = (i32)args[TENSOR_SIZE], width = (i32)args[TENSOR_SIZE + 1],
        height = (i32)args[TENSOR_SIZE + 2], first = (i32)args[TENSOR_FIRST];
    for (i32 p = first; p < first + (i32)args[TENSOR_COUNT]; p++) {
        i64 x = p % width, y = p / width % height, image = p / width / height;
        if (x >= extents[1] || y >= extents[2] || image >= extents[3]) continue;
        for (i64 o = 0; o < n && o < extents[0]; o++) {
            i64 to = o * strides[0] + x * strides[1] + y * strides[2] + image * strides[3];
            char *out = (char *)d[0];
            if (layout) {
                to = (i64)(p - first) * n + o;
                out = held(lane, on, TENSOR_DESTINATION, layout, type, &to);
            }
            if (out) convolve_at(args, out, to, x, y, image, o);
        }
    }
}
#endif
