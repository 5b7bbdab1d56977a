// SPDX-License-Identifier: Apache-2.0
// fast_pack.c: packing of GEMM operands into panels. Three movements suffice. Lines of elements
// along k become words one after the other ("lines"; where a word is one element, lines along the
// lanes too); as many lines along the lanes as a word has elements become words side by side
// ("weave"); and words of the wide operand that lie along k are transposed in squares. Elements
// with gaps between them, or of four bits, are collected into lines first.
#include "devices/cpu/tensor/fast_pack.h"
#include "devices/cpu/tensor/fast_load.h"

// Elements side by side: lines `stride` bytes apart, of a type of at least 8 bits.
typedef struct Lines {
    const unsigned char *data;
    int64_t stride;
    uint32_t type;
} Lines;

// Whole vectors first: for those, `rest` is a constant and masks fall away.
#define LINES(word)                                                                                \
    do {                                                                                           \
        for (int l = 0; l < n_lines; l++, p += from.stride, out += width) {                        \
            int i = 0;                                                                             \
            for (; i + V_WIDTH <= n; i += V_WIDTH) w_store(out + i, word(V_WIDTH));                \
            if (i < n) w_store(out + i, word(n - i));                                              \
        }                                                                                          \
    } while (0)
#define FLOATS(type, n_bytes, rest) load_floats(p + i * (n_bytes), type, rest)
#define F32(rest) FLOATS(ABI_TENSOR_FLOAT32, 4, rest)
#define F16(rest) FLOATS(ABI_TENSOR_FLOAT16, 2, rest)
#define BF16(rest) FLOATS(ABI_TENSOR_BFLOAT16, 2, rest)
#define I8(rest) FLOATS(ABI_TENSOR_INT8, 1, rest)
#define U8(rest) FLOATS(ABI_TENSOR_UINT8, 1, rest)
#define OTHER(rest) FLOATS(from.type, n_bytes, rest)
#define INT(rest) load_ints(p + i * n_bytes, from.type, rest)

// Lines of n elements as floats, `width` words apart, filled up with zeros to whole vectors.
static void float_lines(Lines from, int n_lines, int n, uint32_t *out, int width) {
    const unsigned char *p = from.data;
    int n_bytes = cpu_element_bytes(from.type);
    switch (from.type) {
    case ABI_TENSOR_FLOAT32: LINES(F32); break;
    case ABI_TENSOR_FLOAT16: LINES(F16); break;
    case ABI_TENSOR_BFLOAT16: LINES(BF16); break;
    case ABI_TENSOR_INT8: LINES(I8); break;
    case ABI_TENSOR_UINT8: LINES(U8); break;
    default: LINES(OTHER); break;
    }
}

static void int_lines(Lines from, int n_lines, int n, uint32_t *out, int width) {
    const unsigned char *p = from.data;
    int n_bytes = cpu_element_bytes(from.type);
    LINES(INT);
}

// The same where a word has two elements: n words of each line, the last one perhaps half empty.
static void short_lines(Lines from, int n_lines, int n_elements, uint32_t *out, int width) {
    const unsigned char *p = from.data;
    bool is_signed = from.type == ABI_TENSOR_INT8;
    for (int l = 0; l < n_lines; l++, p += from.stride, out += width) {
        int16_t *to = (int16_t *)(void *)out;
        if (n_elements % 2) to[n_elements] = 0;
        if (cpu_element_bytes(from.type) == 2)
            memcpy(to, p, (size_t)n_elements * 2);
        else
            for (int i = 0; i < n_elements; i++) to[i] = is_signed ? (int8_t)p[i] : p[i];
    }
}

// Signed bytes of the thin operand move up by 128; fast_matmul.c takes back what that adds.
static void byte_lines(Lines from, int n_lines, int n_elements, uint8_t flip, uint32_t *out,
                       int width) {
    const unsigned char *p = from.data;
    for (int l = 0; l < n_lines; l++, p += from.stride, out += width) {
        uint8_t *to = (uint8_t *)out;
        if (n_elements % 4) out[n_elements / 4] = 0;
        for (int i = 0; i < n_elements; i++) to[i] = p[i] ^ flip;
    }
}

static uint8_t flip_of(bool thin, uint32_t type) {
    return thin && type == ABI_TENSOR_INT8 ? 0x80 : 0;
}

static void lines(CpuKind kind, bool thin, Lines from, int n_lines, int n_elements, uint32_t *out,
                  int width) {
    switch (kind) {
    case CPU_KIND_INT: int_lines(from, n_lines, n_elements, out, width); break;
    case CPU_KIND_SHORT:
    case CPU_KIND_BFLOAT: short_lines(from, n_lines, n_elements, out, width); break;
    case CPU_KIND_BYTE:
        byte_lines(from, n_lines, n_elements, flip_of(thin, from.type), out, width);
        break;
    default: float_lines(from, n_lines, n_elements, out, width); break;
    }
}

#define WEAVE(word)                                                                                \
    do {                                                                                           \
        for (; i + V_WIDTH <= n; i += V_WIDTH) w_store(out + i, word(V_WIDTH));                    \
        if (i < n) w_store(out + i, word(n - i));                                                  \
    } while (0)
#define SHORTS(rest)                                                                               \
    w_add_int(load_u16(low + 2 * i, rest), w_shift_left(load_u16(high + 2 * i, rest), 16))
#define SIGNED(rest)                                                                               \
    w_add_int(load_i8(low + i, rest) & sixteen, w_shift_left(load_i8(high + i, rest), 16))
#define UNSIGNED(rest) w_add_int(load_u8(low + i, rest), w_shift_left(load_u8(high + i, rest), 16))

// Words of n lanes from each two of n_k lines.
static void weave_shorts(Lines from, int n_k, int n, uint32_t *out, int width) {
    static const unsigned char zeros[CPU_PACK_LANES * 2];
    const unsigned char *low = from.data;
    const vw sixteen = w_all(&(uint32_t){0xffff});
#if V_WIDTH == 16
    vw first = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7,
                                38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    vw second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
#endif
    for (int k = 0; k < n_k; k += 2, low += 2 * from.stride, out += width) {
        const unsigned char *high = k + 1 < n_k ? low + from.stride : zeros;
        int i = 0;
        if (cpu_element_bytes(from.type) == 2) {
#if V_WIDTH == 16
            for (; i + 32 <= n; i += 32) {
                vw l = w_load(low + 2 * i), h = w_load(high + 2 * i);
                w_store(out + i, _mm512_permutex2var_epi16(l, first, h));
                w_store(out + i + 16, _mm512_permutex2var_epi16(l, second, h));
            }
#endif
            WEAVE(SHORTS);
        } else if (from.type == ABI_TENSOR_INT8) {
            WEAVE(SIGNED);
        } else {
            WEAVE(UNSIGNED);
        }
    }
}

// A step of words from the four lines that follow each other; p[i] NULL: zeros.
static void weave_bytes(const unsigned char *const p[4], uint8_t flip, int n, uint32_t *out) {
    static const unsigned char zeros[CPU_PACK_LANES];
    const unsigned char *a = p[0], *b = p[1] ? p[1] : zeros, *c = p[2] ? p[2] : zeros,
                        *d = p[3] ? p[3] : zeros;
    int i = 0;
#if V_WIDTH == 16
    vw flips = _mm512_set1_epi8((char)flip);
    for (; i + 64 <= n; i += 64) {
        vw va = w_load(a + i), vb = w_load(b + i), vc = w_load(c + i), vd = w_load(d + i);
        vw ab = _mm512_unpacklo_epi8(va, vb), ab2 = _mm512_unpackhi_epi8(va, vb),
           cd = _mm512_unpacklo_epi8(vc, vd), cd2 = _mm512_unpackhi_epi8(vc, vd);
        vw v0 = _mm512_unpacklo_epi16(ab, cd), v1 = _mm512_unpackhi_epi16(ab, cd),
           v2 = _mm512_unpacklo_epi16(ab2, cd2), v3 = _mm512_unpackhi_epi16(ab2, cd2);
        // Each has four lanes out of every sixteen: quarters change places.
        vw t0 = _mm512_shuffle_i32x4(v0, v1, 0x44), t1 = _mm512_shuffle_i32x4(v2, v3, 0x44),
           t2 = _mm512_shuffle_i32x4(v0, v1, 0xee), t3 = _mm512_shuffle_i32x4(v2, v3, 0xee);
        w_store(out + i, _mm512_xor_si512(flips, _mm512_shuffle_i32x4(t0, t1, 0x88)));
        w_store(out + i + 16, _mm512_xor_si512(flips, _mm512_shuffle_i32x4(t0, t1, 0xdd)));
        w_store(out + i + 32, _mm512_xor_si512(flips, _mm512_shuffle_i32x4(t2, t3, 0x88)));
        w_store(out + i + 48, _mm512_xor_si512(flips, _mm512_shuffle_i32x4(t2, t3, 0xdd)));
    }
#endif
    const vw all = w_all(&(uint32_t){flip * UINT32_C(0x01010101)});
    for (; i < n; i += V_WIDTH) {
        vw low = w_add_int(load_u8(a + i, n - i), w_shift_left(load_u8(b + i, n - i), 8)),
           high = w_add_int(load_u8(c + i, n - i), w_shift_left(load_u8(d + i, n - i), 8));
        w_store(out + i, all ^ w_add_int(low, w_shift_left(high, 16)));
    }
}

// Lines along the lanes, n_k of them, become words side by side, step under step.
static void weave(CpuKind kind, bool thin, Lines from, int n_k, int n_lanes, uint32_t *out,
                  int width) {
    int each = cpu_kind_elements(kind);
    if (each == 1) {
        lines(kind, thin, from, n_k, n_lanes, out, width);
        return;
    }
    if (each == 2) {
        weave_shorts(from, n_k, n_lanes, out, width);
        return;
    }
    const unsigned char *p = from.data;
    for (int k = 0; k < n_k; k += 4, out += width) {
        const unsigned char *of[4] = {NULL};
        for (int i = 0; i < 4 && k + i < n_k; i++, p += from.stride) of[i] = p;
        weave_bytes(of, flip_of(thin, from.type), n_lanes, out);
    }
}

// Elements with gaps between them, or of four bits: n_lines of n elements collected in `room`.
static Lines collect(const CpuOperand *from, int64_t at, int64_t stride, int64_t line_stride,
                     int n_lines, int n, unsigned char *room) {
    int n_bytes = cpu_element_bytes(from->type), room_bytes = n_bytes ? n_bytes : 1;
    Lines lines_of = {room, (int64_t)n * room_bytes,
                      from->type == ABI_TENSOR_INT4    ? ABI_TENSOR_INT8
                      : from->type == ABI_TENSOR_UINT4 ? ABI_TENSOR_UINT8
                                                       : from->type};
    for (int l = 0; l < n_lines; l++, at += line_stride) {
        const unsigned char *p = from->data + at * n_bytes;
        int64_t step = stride * n_bytes;
        for (int i = 0; i < n; i++, room += room_bytes, p += step) switch (n_bytes) {
            case 0:
                *room = (unsigned char)cpu_element_int(from->data, from->type, at + i * stride);
                break;
            case 1: *room = *p; break;
            case 2: memcpy(room, p, 2); break;
            case 4: memcpy(room, p, 4); break;
            default: memcpy(room, p, 8); break;
            }
    }
    return lines_of;
}

// One square or less: n_lanes lanes of n words each.
INLINE void transpose_square(const unsigned char *p, int64_t stride, int n_lanes, int n,
                             uint32_t *out, int width) {
    vw v[V_WIDTH];
    if (n_lanes == V_WIDTH && n >= V_WIDTH) {
        for (int i = 0; i < V_WIDTH; i++) v[i] = w_load(p + i * stride);
        w_transpose(v);
        for (int i = 0; i < V_WIDTH; i++) w_store(out + i * width, v[i]);
        return;
    }
    for (int i = 0; i < V_WIDTH; i++) v[i] = i < n_lanes ? load_32(p + i * stride, n) : w_zero();
    w_transpose(v);
    for (int i = 0; i < n && i < V_WIDTH; i++) w_store(out + i * width, v[i]);
}

// Whether n_k elements along k are words as they lie.
static bool is_words(CpuKind kind, uint32_t type, int n_k) {
    switch (kind) {
    case CPU_KIND_FLOAT: return type == ABI_TENSOR_FLOAT32;
    case CPU_KIND_INT: return type == ABI_TENSOR_INT32 || type == ABI_TENSOR_UINT32;
    case CPU_KIND_SHORT: return type == ABI_TENSOR_INT16 && n_k % 2 == 0;
    case CPU_KIND_BFLOAT: return n_k % 2 == 0;
    case CPU_KIND_BYTE: return n_k % 4 == 0;
    default: return false;
    }
}

// Lanes that lie along k.
static void transpose(CpuKind kind, Lines from, int n_lanes, int n_k, int width, uint32_t *out) {
    uint32_t words[V_WIDTH * CPU_PACK_STEPS];
    int each = cpu_kind_elements(kind), n_steps = (n_k + each - 1) / each;
    bool in_place = is_words(kind, from.type, n_k);
    for (int l = 0; l < n_lanes; l += V_WIDTH, from.data += V_WIDTH * from.stride, out += V_WIDTH) {
        int n = n_lanes - l < V_WIDTH ? n_lanes - l : V_WIDTH;
        const unsigned char *p = from.data;
        int64_t stride = from.stride;
        if (!in_place) {
            lines(kind, false, from, n, n_k, words, CPU_PACK_STEPS);
            p = (const unsigned char *)words;
            stride = CPU_PACK_STEPS * 4;
        }
        for (int s = 0; s < n_steps; s += V_WIDTH)
            transpose_square(p + s * 4, stride, n, n_steps - s, out + s * width, width);
    }
}

void ISA(cpu_pack_wide)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes, int64_t k,
                        int n_k, int width, uint32_t *out) {
    int n_bytes = cpu_element_bytes(from->type), each = cpu_kind_elements(kind);
    int64_t at = lane * from->lane + k * from->k;
    const unsigned char *p = from->data + at * n_bytes;
    if (n_bytes && from->lane == 1) {
        weave(kind, false, (Lines){p, from->k * n_bytes, from->type}, n_k, n_lanes, out, width);
    } else if (n_bytes && from->k == 1) {
        transpose(kind, (Lines){p, from->lane * n_bytes, from->type}, n_lanes, n_k, width, out);
    } else {
        unsigned char room[CPU_PACK_LANES * 8];
        for (int i = 0; i < n_k; i += each, at += each * from->k, out += width) {
            int n = n_k - i < each ? n_k - i : each;
            weave(kind, false, collect(from, at, from->lane, from->k, n, n_lanes, room), n, n_lanes,
                  out, width);
        }
    }
}

// Lines that are read as a whole: panel after panel would come back for a line of memory from each
// (AVX2, 1024 x 1024 x 1024: 74 to 84 % of the peak).
#define PANELS(word)                                                                               \
    do {                                                                                           \
        for (int l = 0; l < n_k; l++, p += stride, out += CPU_PANEL_LANES)                         \
            for (int i = 0; i < n_lanes;) {                                                        \
                uint32_t *to = out + i * CPU_PACK_STEPS;                                           \
                for (int j = 0; j < CPU_PANEL_LANES; j += V_WIDTH, i += V_WIDTH)                   \
                    w_store(to + j, word(V_WIDTH));                                                \
            }                                                                                      \
    } while (0)

void ISA(cpu_pack_panels)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes,
                          int64_t k, int n_k, uint32_t *out) {
    int n_bytes = cpu_element_bytes(from->type);
    if (kind == CPU_KIND_FLOAT && from->lane == 1 && n_lanes % CPU_PANEL_LANES == 0) {
        const unsigned char *p = from->data + (lane + k * from->k) * n_bytes;
        int64_t stride = from->k * n_bytes;
        switch (from->type) {
        case ABI_TENSOR_FLOAT32: PANELS(F32); return;
        case ABI_TENSOR_FLOAT16: PANELS(F16); return;
        case ABI_TENSOR_BFLOAT16: PANELS(BF16); return;
        default: break;
        }
    }
    for (int i = 0; i < n_lanes; i += CPU_PANEL_LANES) {
        int n = n_lanes - i < CPU_PANEL_LANES ? n_lanes - i : CPU_PANEL_LANES;
        ISA(cpu_pack_wide)(kind, from, lane + i, n, k, n_k, (n + V_WIDTH - 1) / V_WIDTH * V_WIDTH,
                           out + i * CPU_PACK_STEPS);
    }
}

void ISA(cpu_pack_thin)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes, int64_t k,
                        int n_k, uint32_t *out, int64_t *lane_bytes, int64_t *step_bytes) {
    int n_bytes = cpu_element_bytes(from->type), each = cpu_kind_elements(kind);
    int64_t at = lane * from->lane + k * from->k;
    const unsigned char *p = from->data + at * n_bytes;
    if (n_bytes && from->lane == 1 && from->k != 1) {
        int width = (n_lanes + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
        weave(kind, true, (Lines){p, from->k * n_bytes, from->type}, n_k, n_lanes, out, width);
        *lane_bytes = 4;
        *step_bytes = width * 4;
        return;
    }
    int width = ((n_k + each - 1) / each + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
    *lane_bytes = width * 4;
    *step_bytes = 4;
    if (n_bytes && from->k == 1) {
        lines(kind, true, (Lines){p, from->lane * n_bytes, from->type}, n_lanes, n_k, out, width);
        return;
    }
    unsigned char room[CPU_PACK_STEPS * 8];
    for (int i = 0; i < n_lanes; i++, at += from->lane, out += width)
        lines(kind, true, collect(from, at, from->k, 0, 1, n_k, room), 1, n_k, out, width);
}
