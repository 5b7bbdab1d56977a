// SPDX-License-Identifier: Apache-2.0
// fast_pack.c: operands become words in scratch. Two movements suffice: a line of elements along k
// becomes words one after the other ("line"), or as many lines along the lanes as a word has
// elements become words side by side ("weave"); where the wide operand lies along k, its words are
// transposed in squares. Elements with gaps between them are collected into a line first.
#include "cpu/tensor/fast_pack.h"
#include "cpu/tensor/element.h"
#include "cpu/tensor/simd.h"

#define LINE_ELEMENTS (CPU_PACK_STEPS * 4)

typedef struct Line {
    const unsigned char *data;
    uint32_t type; // of at least 8 bits
} Line;

// n elements from element `at` on, side by side: where they lie, or collected in `room`.
static Line line_of(const CpuOperand *from, int64_t at, int64_t stride, int n,
                    unsigned char room[LINE_ELEMENTS * 2]) {
    int n_bytes = cpu_element_bytes(from->type);
    if (n_bytes == 0) {
        for (int i = 0; i < n; i++)
            room[i] = (unsigned char)cpu_element_int(from->data, from->type, at + i * stride);
        return (Line){room, from->type == CPU_TENSOR_INT4 ? CPU_TENSOR_INT8 : CPU_TENSOR_UINT8};
    }
    const unsigned char *p = from->data + at * n_bytes;
    if (stride == 1 || n <= 1) return (Line){p, from->type};
    stride *= n_bytes;
    for (int i = 0; i < n; i++, p += stride) switch (n_bytes) {
        case 1: room[i] = *p; break;
        case 2: memcpy(room + 2 * i, p, 2); break;
        case 4: memcpy(room + 4 * i, p, 4); break;
        default: memcpy(room + 8 * i, p, 8); break;
        }
    return (Line){room, from->type};
}

#define CONVERT(type, word)                                       \
    do {                                                          \
        const type *from = (const type *)(const void *)line.data; \
        for (int e = 0; e < n; e++) out[e] = (word)from[e];       \
    } while (0)

static void line_floats(Line line, int n, float *out) {
    int i = 0;
    switch (line.type) {
    case CPU_TENSOR_FLOAT32: memcpy(out, line.data, (size_t)n * 4); break;
    case CPU_TENSOR_FLOAT16:
        for (; i + V_WIDTH <= n; i += V_WIDTH) v_store(out + i, v_half_to_float(line.data + 2 * i));
        for (; i < n; i++) out[i] = cpu_element_float(line.data, CPU_TENSOR_FLOAT16, i);
        break;
    case CPU_TENSOR_BFLOAT16:
        for (; i + V_WIDTH <= n; i += V_WIDTH)
            v_store(out + i, v_shift_left(v_word_from_u16(line.data + 2 * i), 16));
        for (; i < n; i++) out[i] = cpu_element_float(line.data, CPU_TENSOR_BFLOAT16, i);
        break;
    case CPU_TENSOR_INT8: CONVERT(int8_t, float); break;
    case CPU_TENSOR_UINT8: CONVERT(uint8_t, float); break;
    case CPU_TENSOR_INT16: CONVERT(int16_t, float); break;
    case CPU_TENSOR_UINT16: CONVERT(uint16_t, float); break;
    case CPU_TENSOR_INT32: CONVERT(int32_t, float); break;
    default:
        for (; i < n; i++) out[i] = cpu_element_float(line.data, line.type, i);
        break;
    }
}

static void line_ints(Line line, int n, uint32_t *out) {
    switch (line.type) {
    case CPU_TENSOR_INT8: CONVERT(int8_t, uint32_t); break;
    case CPU_TENSOR_UINT8: CONVERT(uint8_t, uint32_t); break;
    case CPU_TENSOR_INT16: CONVERT(int16_t, uint32_t); break;
    case CPU_TENSOR_UINT16: CONVERT(uint16_t, uint32_t); break;
    case CPU_TENSOR_INT32:
    case CPU_TENSOR_UINT32: memcpy(out, line.data, (size_t)n * 4); break;
    default: CONVERT(uint64_t, uint32_t); break;
    }
}

static void line_shorts(Line line, int n, int16_t *out) {
    switch (line.type) {
    case CPU_TENSOR_INT8: CONVERT(int8_t, int16_t); break;
    case CPU_TENSOR_UINT8: CONVERT(uint8_t, int16_t); break;
    default: memcpy(out, line.data, (size_t)n * 2); break;
    }
}

// Signed bytes of the thin operand move up by 128: see cpu_matmul on what takes that back.
static uint8_t byte_flip(Line line, bool thin) {
    return thin && line.type == CPU_TENSOR_INT8 ? 0x80 : 0;
}

static void line_bytes(Line line, int n, uint8_t flip, uint8_t *out) {
    for (int i = 0; i < n; i++) out[i] = line.data[i] ^ flip;
}

// n elements along k as words; the last one filled up with zeros. Returns how many.
static int line_words(CpuKind kind, bool thin, Line line, int n, uint32_t *out) {
    int each = cpu_kind_elements(kind), n_words = (n + each - 1) / each;
    if (each > 1) out[n_words - 1] = 0;
    switch (kind) {
    case CPU_KIND_INT: line_ints(line, n, out); break;
    case CPU_KIND_SHORT: line_shorts(line, n, (int16_t *)(void *)out); break;
    case CPU_KIND_BFLOAT: memcpy(out, line.data, (size_t)n * 2); break;
    case CPU_KIND_BYTE: line_bytes(line, n, byte_flip(line, thin), (uint8_t *)out); break;
    default: line_floats(line, n, (float *)(void *)out); break;
    }
    return n_words;
}

static void weave_shorts(const Line lines[2], int n, uint32_t *out) {
    const uint8_t *low = lines[0].data, *high = lines[1].data;
    int i = 0;
    if (lines[0].type == CPU_TENSOR_INT8 || lines[0].type == CPU_TENSOR_UINT8) {
        bool is_signed = lines[0].type == CPU_TENSOR_INT8;
        for (; i < n; i++) {
            uint32_t l = is_signed ? (uint32_t)(int8_t)low[i] : low[i],
                     h = is_signed ? (uint32_t)(int8_t)high[i] : high[i];
            out[i] = (l & 0xffff) | h << 16;
        }
        return;
    }
    for (; i + V_WIDTH <= n; i += V_WIDTH)
        v_store(out + i, v_add_int(v_word_from_u16(low + 2 * i),
                                   v_shift_left(v_word_from_u16(high + 2 * i), 16)));
    for (; i < n; i++) {
        uint16_t l, h;
        memcpy(&l, low + 2 * i, 2);
        memcpy(&h, high + 2 * i, 2);
        out[i] = l | (uint32_t)h << 16;
    }
}

static void weave_bytes(const Line lines[4], int n, uint8_t flip, uint32_t *out) {
    uint32_t flips = flip * UINT32_C(0x01010101);
    const uint8_t *a = lines[0].data, *b = lines[1].data, *c = lines[2].data, *d = lines[3].data;
    for (int i = 0; i < n; i++)
        out[i] = (a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24) ^ flips;
}

// Words of n lanes side by side, from the n_k elements from k on, which make one word.
static void weave_words(CpuKind kind, bool thin, const CpuOperand *from, int64_t lane, int n,
                        int64_t k, int n_k, uint32_t *out) {
    static const unsigned char zeros[LINE_ELEMENTS * 2];
    unsigned char room[4][LINE_ELEMENTS * 2];
    int each = cpu_kind_elements(kind);
    Line lines[4];
    for (int i = 0; i < each; i++) {
        if (i < n_k)
            lines[i] = line_of(from, lane * from->lane + (k + i) * from->k, from->lane, n, room[i]);
        else
            lines[i] = (Line){zeros, lines[0].type};
    }
    if (each == 1)
        line_words(kind, thin, lines[0], n, out);
    else if (kind == CPU_KIND_BYTE)
        weave_bytes(lines, n, byte_flip(lines[0], thin), out);
    else
        weave_shorts(lines, n, out);
}

// Whether elements along k are words as they lie, n_k of them.
static bool is_words(CpuKind kind, uint32_t type, int n_k) {
    switch (kind) {
    case CPU_KIND_FLOAT: return type == CPU_TENSOR_FLOAT32;
    case CPU_KIND_INT: return type == CPU_TENSOR_INT32 || type == CPU_TENSOR_UINT32;
    case CPU_KIND_SHORT: return type == CPU_TENSOR_INT16 && n_k % 2 == 0;
    case CPU_KIND_BFLOAT: return n_k % 2 == 0;
    case CPU_KIND_BYTE: return n_k % 4 == 0;
    default: return false;
    }
}

INLINE V load_first(const uint32_t *p, int n) {
    if (n >= V_WIDTH) return v_load(p);
#if V_HAS_MASKS
    return v_load_some(p, (1u << n) - 1);
#else
    uint32_t part[V_WIDTH] = {0};
    memcpy(part, p, (size_t)n * 4);
    return v_load(part);
#endif
}

// Up to V_WIDTH lanes that lie along k.
static void transpose_lanes(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes,
                            int64_t k, int n_k, int width, uint32_t *out) {
    uint32_t words[V_WIDTH][CPU_PACK_STEPS];
    const uint32_t *rows[V_WIDTH];
    int n_bytes = cpu_element_bytes(from->type), each = cpu_kind_elements(kind),
        n_steps = (n_k + each - 1) / each;
    bool in_place = is_words(kind, from->type, n_k);
    for (int i = 0; i < n_lanes; i++) {
        const unsigned char *p = from->data + ((lane + i) * from->lane + k) * n_bytes;
        if (!in_place) line_words(kind, false, (Line){p, from->type}, n_k, words[i]);
        rows[i] = in_place ? (const uint32_t *)(const void *)p : words[i];
    }
    for (int s = 0; s < n_steps; s += V_WIDTH) {
        int n = n_steps - s < V_WIDTH ? n_steps - s : V_WIDTH;
        V v[V_WIDTH];
        if (n_lanes == V_WIDTH && n == V_WIDTH) {
            for (int i = 0; i < V_WIDTH; i++) v[i] = v_load(rows[i] + s);
            v_transpose(v);
            for (int i = 0; i < V_WIDTH; i++) v_store(out + (s + i) * width, v[i]);
            continue;
        }
        for (int i = 0; i < V_WIDTH; i++)
            v[i] = i < n_lanes ? load_first(rows[i] + s, n) : v_zero();
        v_transpose(v);
        for (int i = 0; i < n; i++) v_store(out + (s + i) * width, v[i]);
    }
}

void CPU_FAST(cpu_pack_wide)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes,
                             int64_t k, int n_k, int width, uint32_t *out) {
    int each = cpu_kind_elements(kind);
    if (from->lane != 1 && from->k == 1 && cpu_element_bytes(from->type)) {
        for (int i = 0; i < n_lanes; i += V_WIDTH)
            transpose_lanes(kind, from, lane + i, n_lanes - i < V_WIDTH ? n_lanes - i : V_WIDTH, k,
                            n_k, width, out + i);
        return;
    }
    for (int i = 0; i < n_k; i += each, out += width) {
        weave_words(kind, false, from, lane, n_lanes, k + i, n_k - i < each ? n_k - i : each, out);
        for (int j = n_lanes; j < width; j++) out[j] = 0;
    }
}

bool CPU_FAST(cpu_pack_thin)(CpuKind kind, const CpuOperand *from, int64_t lane, int n_lanes,
                             int64_t k, int n_k, uint32_t *out) {
    if (from->lane == 1 && from->k != 1) {
        int each = cpu_kind_elements(kind);
        for (int i = 0; i < n_k; i += each, out += CPU_PACK_LANES)
            weave_words(kind, true, from, lane, n_lanes, k + i, n_k - i < each ? n_k - i : each,
                        out);
        return false;
    }
    unsigned char room[LINE_ELEMENTS * 2];
    for (int i = 0; i < n_lanes; i++, out += CPU_PACK_STEPS)
        line_words(kind, true,
                   line_of(from, (lane + i) * from->lane + k * from->k, from->k, n_k, room), n_k,
                   out);
    return true;
}
