// SPDX-License-Identifier: Apache-2.0
// run_values.c: making and showing the arrays of `ingot run` (see run_values.h).
#include "apps/tools/run_values.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 32) // no Metal buffer is as long

// splitmix64: small, good enough, and the same numbers everywhere.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void fill_random(NpyArray *a, uint64_t seed) {
    const NumberType *t = a->type;
    for (size_t i = 0; i < a->n_elements; i++) {
        uint64_t r = next_random(&seed);
        unsigned char *out = a->data + i * t->n_bytes;
        if (t->kind == NUMBER_INT || t->kind == NUMBER_UINT)
            memcpy(out, &r, t->n_bytes);
        else if (t->kind == NUMBER_BOOL)
            *out = r >> 63;
        else
            number_set(t, (double)(r >> 40) * 0x1p-24, out); // [0, 1); a half may round to 1
    }
}

static void fill_iota(NpyArray *a) {
    const NumberType *t = a->type;
    for (size_t i = 0; i < a->n_elements; i++) {
        unsigned char *out = a->data + i * t->n_bytes;
        uint64_t v = i;
        if (t->kind == NUMBER_INT || t->kind == NUMBER_UINT)
            memcpy(out, &v, t->n_bytes); // wraps
        else if (t->kind == NUMBER_BOOL)
            *out = i & 1;
        else
            number_set(t, (double)i, out);
    }
}

static char *fill(NpyArray *a, const char *how) {
    if (!strcmp(how, "zero")) return NULL;
    if (!strcmp(how, "iota")) {
        fill_iota(a);
        return NULL;
    }
    if (!strncmp(how, "random", 6) && (how[6] == ':' || !how[6])) {
        char *end = NULL;
        errno = 0;
        uint64_t seed = how[6] ? strtoull(how + 7, &end, 10) : 0;
        if (errno || (how[6] && (end == how + 7 || *end)))
            return text_format("'%s' is not a seed", how + 7);
        fill_random(a, seed);
        return NULL;
    }
    if (!strncmp(how, "fill:", 5)) {
        unsigned char v[8];
        if (!number_parse(a->type, how + 5, v))
            return text_format("'%s' is not a number of type %s", how + 5, a->type->name);
        for (size_t i = 0; i < a->n_elements; i++)
            memcpy(a->data + i * a->type->n_bytes, v, a->type->n_bytes);
        return NULL;
    }
    return text_format("'%s' is not one of iota, random:SEED, fill:VALUE", how);
}

// The dimensions between the brackets; *rest points behind the closing one.
static char *parse_dims(const char *p, size_t most_bytes, NpyArray *a, const char **rest) {
    a->n_elements = 1;
    size_t n_bytes;
    for (;;) {
        char *end;
        errno = 0;
        if (*p < '0' || *p > '9') return text_format("a size is missing between [ and ]");
        unsigned long long n = strtoull(p, &end, 10);
        if (errno || !n || a->n_dims == NPY_MAX_DIMS ||
            __builtin_mul_overflow(a->n_elements, (size_t)n, &a->n_elements) ||
            __builtin_mul_overflow(a->n_elements, (size_t)a->type->n_bytes, &n_bytes) ||
            n_bytes >= most_bytes)
            return text_format("it must have at least one number and less than %zu MiB",
                               most_bytes >> 20);
        a->shape[a->n_dims++] = (size_t)n;
        if (*end == ']') {
            *rest = end + 1;
            return NULL;
        }
        if (*end != ',' && *end != 'x') return text_format("the ] is missing");
        p = end + 1;
    }
}

static char *parse_list(const char *p, NpyArray *a) {
    size_t n = 1;
    for (const char *q = p; *q; q++) n += *q == ',';
    a->n_elements = n;
    a->n_dims = n > 1;
    a->shape[0] = n;
    a->data = calloc(n, a->type->n_bytes);
    if (!a->data) return text_format("out of memory");
    for (size_t i = 0; i < n; i++) {
        char one[64];
        size_t length = strcspn(p, ",");
        if (length >= sizeof one) return text_format("'%s' is not a number", p);
        memcpy(one, p, length);
        one[length] = 0;
        if (!number_parse(a->type, one, a->data + i * a->type->n_bytes))
            return text_format("'%s' is not a number of type %s", one, a->type->name);
        p += length + 1;
    }
    return NULL;
}

static char *parse(const char *text, size_t most_bytes, NpyArray *a, bool *is_value) {
    char name[16];
    size_t n = strcspn(text, "[:=");
    if (n < sizeof name && text[n]) {
        memcpy(name, text, n);
        name[n] = 0;
        a->type = number_type(name);
    }
    if (!a->type)
        return text_format(
            "it is no .npy file, and does not begin with a type: f32, f16, bf16, i8, "
            "u8, i16, u16, i32, u32, i64, u64, bool");
    if (text[n] == ':') {
        *is_value = true;
        return parse_list(text + n + 1, a);
    }
    if (text[n] != '[') return text_format("after %s comes [SIZE] or :VALUE", a->type->name);
    const char *rest = "";
    char *why = parse_dims(text + n + 1, most_bytes, a, &rest);
    if (why) return why;
    a->data = calloc(a->n_elements, a->type->n_bytes);
    if (!a->data) return text_format("out of memory");
    if (!*rest) return NULL;
    if (*rest != '=')
        return text_format("expected the end or =iota, =random:SEED, =fill:VALUE after ]");
    return fill(a, rest + 1);
}

char *run_value_parse_within(const char *text, size_t most_bytes, NpyArray *a, bool *is_value) {
    *a = (NpyArray){0};
    *is_value = false;
    char *why = parse(text, most_bytes, a, is_value);
    if (!why) return NULL;
    char *whole = text_format("'%s': %s", text, why);
    free(why);
    npy_free(a);
    return whole;
}

char *run_value_parse(const char *text, NpyArray *a, bool *is_value) {
    size_t n = strlen(text);
    if (n <= 4 || strcmp(text + n - 4, ".npy"))
        return run_value_parse_within(text, MAX_BYTES, a, is_value);
    *is_value = false;
    char *why = npy_read(text, a);
    if (!why && !a->n_elements) {
        npy_free(a);
        why = text_format("'%s' is empty; a buffer needs at least one number", text);
    }
    return why;
}

char *run_value_name(const NpyArray *a) {
    Text t = {0};
    text_add(&t, a->type->name);
    for (size_t i = 0; i < a->n_dims; i++) text_printf(&t, "%c%zu", i ? ',' : '[', a->shape[i]);
    if (a->n_dims) text_add(&t, "]");
    return text_take(&t);
}

static void add_number(Text *t, const NpyArray *a, size_t i) {
    char s[64];
    number_print(a->type, a->data + i * a->type->n_bytes, s, sizeof s);
    text_printf(t, " %s", s);
}

char *run_value_summary(const NpyArray *a) {
    enum { SHOWN = 8 };
    Text t = {0};
    double min = INFINITY, max = -INFINITY, sum = 0;
    size_t n_nan = 0;
    for (size_t i = 0; i < a->n_elements; i++) {
        double v = number_get(a->type, a->data + i * a->type->n_bytes);
        if (isnan(v)) {
            n_nan++;
            continue;
        }
        min = v < min ? v : min;
        max = v > max ? v : max;
        sum += v;
    }
    for (size_t i = 0; i < a->n_elements && i < SHOWN; i++) add_number(&t, a, i);
    if (a->n_elements > SHOWN) {
        text_add(&t, a->n_elements > SHOWN + 1 ? " ..." : "");
        add_number(&t, a, a->n_elements - 1);
        if (a->n_elements > n_nan)
            text_printf(&t, "  (min %.6g, max %.6g, mean %.6g)", min, max,
                        sum / (double)(a->n_elements - n_nan));
    }
    if (n_nan) text_printf(&t, "  (%zu NaN)", n_nan);
    return text_take(&t);
}

void run_value_print(const NpyArray *a, size_t count) {
    if (!count || count > a->n_elements) count = a->n_elements;
    size_t row = a->n_dims ? a->shape[a->n_dims - 1] : 1;
    if (a->n_dims < 2) row = 8;
    for (size_t i = 0; i < count; i++) {
        char s[64];
        number_print(a->type, a->data + i * a->type->n_bytes, s, sizeof s);
        fputs(s, stdout);
        putchar((i + 1) % row && i + 1 < count ? ' ' : '\n');
    }
}
