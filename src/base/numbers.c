// SPDX-License-Identifier: Apache-2.0
// numbers.c: scalar types, half and bfloat, text to numbers (see numbers.h).
#include "base/numbers.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint16_t half_from_float(float f) {
    uint32_t u = float_bits(f), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (a >> 13 & 0x3ffu));
    if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); // 65520 and up round to infinity
    if (a < 0x38800000u) {                   // subnormal: let the FPU round at the right place
        float r = float_from_bits(a) + 0.5f; // 0.5's last place is 2^-24, that of a subnormal half
        return (uint16_t)(sign | (float_bits(r) - 0x3f000000u));
    }
    uint32_t odd = a >> 13 & 1;
    a += 0xc8000000u + 0xfffu + odd; // rebias 127 -> 15, round to even
    return (uint16_t)(sign | a >> 13);
}

float float_from_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 0x3ffu;
    if (e == 31) return float_from_bits(sign | 0x7f800000u | m << 13);
    if (!e) return float_from_bits(sign | float_bits((float)m * 0x1p-24f));
    return float_from_bits(sign | (e + 112) << 23 | m << 13);
}

uint16_t bfloat_from_float(float f) {
    uint32_t u = float_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

float float_from_bfloat(uint16_t b) { return float_from_bits((uint32_t)b << 16); }

static const NumberType types[] = {
    {"f32", "float", 3, NUMBER_FLOAT, 4},      {"f16", "half", 16, NUMBER_HALF, 2},
    {"bf16", "bfloat", 121, NUMBER_BFLOAT, 2}, {"i32", "int", 29, NUMBER_INT, 4},
    {"u32", "uint", 33, NUMBER_UINT, 4},       {"i16", "short", 37, NUMBER_INT, 2},
    {"u16", "ushort", 41, NUMBER_UINT, 2},     {"i8", "char", 45, NUMBER_INT, 1},
    {"u8", "uchar", 49, NUMBER_UINT, 1},       {"bool", "bool", 53, NUMBER_BOOL, 1},
    {"i64", "long", 81, NUMBER_INT, 8},        {"u64", "ulong", 85, NUMBER_UINT, 8},
};
enum { N_TYPES = sizeof types / sizeof *types };

const NumberType *number_type(const char *name) {
    for (int i = 0; i < N_TYPES; i++)
        if (!strcmp(types[i].name, name) || !strcmp(types[i].metal, name)) return &types[i];
    return NULL;
}

const NumberType *number_of_data_type(uint32_t data_type, uint32_t *n_components) {
    for (int i = 0; i < N_TYPES; i++)
        if (data_type >= types[i].data_type && data_type < types[i].data_type + 4) {
            *n_components = data_type - types[i].data_type + 1;
            return &types[i];
        }
    return NULL;
}

// The low n bytes of v; little-endian, as every machine this runs on.
static void store_bytes(void *out, uint64_t v, uint32_t n) { memcpy(out, &v, n); }

static uint64_t load_bytes(const void *p, uint32_t n) {
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

static int64_t get_signed(const void *p, uint32_t n) {
    uint64_t v = load_bytes(p, n);
    return n == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

static bool parse_integer(const NumberType *t, const char *text, void *out) {
    char *end;
    errno = 0;
    int base = strncmp(text + (*text == '-'), "0x", 2) ? 10 : 16;
    if (t->kind == NUMBER_INT) {
        long long v = strtoll(text, &end, base);
        long long max = t->n_bytes == 8 ? INT64_MAX : ((long long)1 << (8 * t->n_bytes - 1)) - 1;
        if (errno || v > max || v < -max - 1) return false;
        store_bytes(out, (uint64_t)v, t->n_bytes);
    } else {
        if (*text == '-') return false;
        unsigned long long v = strtoull(text, &end, base);
        if (errno || (t->n_bytes < 8 && v >> (8 * t->n_bytes))) return false;
        store_bytes(out, v, t->n_bytes);
    }
    return end != text && (!*end || ((*end == 'u' || *end == 'U') && !end[1]));
}

bool number_parse(const NumberType *t, const char *text, void *out) {
    if (!*text || *text == ' ') return false;
    if (t->kind == NUMBER_BOOL) {
        bool yes = !strcmp(text, "true") || !strcmp(text, "1");
        if (!yes && strcmp(text, "false") && strcmp(text, "0")) return false;
        store_bytes(out, yes, 1);
        return true;
    }
    if (t->kind == NUMBER_INT || t->kind == NUMBER_UINT) return parse_integer(t, text, out);
    char *end;
    float v = strtof(text, &end); // out of range gives infinity, as a cast in a kernel does
    if (end == text || (*end && strcmp(end, "f") && strcmp(end, "h"))) return false;
    if (t->kind == NUMBER_FLOAT)
        store_bytes(out, float_bits(v), 4);
    else
        store_bytes(out, t->kind == NUMBER_HALF ? half_from_float(v) : bfloat_from_float(v), 2);
    return true;
}

double number_get(const NumberType *t, const void *p) {
    switch (t->kind) {
    case NUMBER_FLOAT: return float_from_bits((uint32_t)load_bytes(p, 4));
    case NUMBER_HALF: return float_from_half((uint16_t)load_bytes(p, 2));
    case NUMBER_BFLOAT: return float_from_bfloat((uint16_t)load_bytes(p, 2));
    case NUMBER_INT: return (double)get_signed(p, t->n_bytes);
    case NUMBER_UINT: return (double)load_bytes(p, t->n_bytes);
    case NUMBER_BOOL: return *(const unsigned char *)p != 0;
    }
    return 0;
}

void number_set(const NumberType *t, double v, void *out) {
    switch (t->kind) {
    case NUMBER_FLOAT: store_bytes(out, float_bits((float)v), 4); return;
    case NUMBER_HALF: store_bytes(out, half_from_float((float)v), 2); return;
    case NUMBER_BFLOAT: store_bytes(out, bfloat_from_float((float)v), 2); return;
    case NUMBER_BOOL: store_bytes(out, v != 0, 1); return;
    case NUMBER_INT: {
        double max = ldexp(1, 8 * (int)t->n_bytes - 1);
        int64_t i = isnan(v)    ? 0
                    : v >= max  ? (int64_t)((UINT64_C(1) << (8 * t->n_bytes - 1)) - 1)
                    : v <= -max ? (int64_t)(UINT64_MAX << (8 * t->n_bytes - 1))
                                : (int64_t)v;
        store_bytes(out, (uint64_t)i, t->n_bytes);
        return;
    }
    case NUMBER_UINT: {
        double max = ldexp(1, 8 * (int)t->n_bytes);
        store_bytes(out, isnan(v) || v <= 0 ? 0 : v >= max ? UINT64_MAX : (uint64_t)v, t->n_bytes);
        return;
    }
    }
}

void number_print(const NumberType *t, const void *p, char *out, size_t capacity) {
    switch (t->kind) {
    case NUMBER_FLOAT: snprintf(out, capacity, "%.9g", number_get(t, p)); break;
    case NUMBER_HALF: snprintf(out, capacity, "%.5g", number_get(t, p)); break;
    case NUMBER_BFLOAT: snprintf(out, capacity, "%.4g", number_get(t, p)); break;
    case NUMBER_INT: snprintf(out, capacity, "%" PRId64, get_signed(p, t->n_bytes)); break;
    case NUMBER_UINT: snprintf(out, capacity, "%" PRIu64, load_bytes(p, t->n_bytes)); break;
    case NUMBER_BOOL:
        snprintf(out, capacity, "%s", number_get(t, p) != 0 ? "true" : "false");
        break;
    }
}

size_t constant_parse(uint32_t data_type, const char *text, unsigned char out[32]) {
    uint32_t n;
    const NumberType *t = number_of_data_type(data_type, &n);
    if (!t) return 0;
    memset(out, 0, 32);
    for (uint32_t i = 0; i < n; i++) {
        char part[64];
        size_t length = strcspn(text, ",");
        if (length >= sizeof part) return 0;
        memcpy(part, text, length);
        part[length] = 0;
        if (!number_parse(t, part, out + i * t->n_bytes)) return 0;
        text += length;
        if (i + 1 < n && *text++ != ',') return 0;
    }
    if (*text) return 0;
    return (size_t)t->n_bytes * (n == 3 ? 4 : n);
}
