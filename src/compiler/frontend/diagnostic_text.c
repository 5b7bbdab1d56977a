// SPDX-License-Identifier: Apache-2.0
// diagnostic_text.c: diagnostics in Metal's terms. Clang reports types of the dialect it parses
// (`__global float *__private`, `metal::vec<float, 3>`); the user wrote `device float *` and
// `float3`. Rewrites only the message text; source lines are printed unchanged.
#include "compiler/frontend/frontend_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Longest first where one is the start of another. An empty replacement also eats a space after it.
static const struct {
    const char *from, *to;
} words[] = {
    {"const __constant ", "constant "},
    {"__constant const ", "constant "},
    {"__constant", "constant"},
    {"__global", "device"},
    {"__local", "threadgroup"},
    {"__generic", ""},
    {"__bf16", "bfloat"},
    {"_Float16", "half"},
    {"unsigned char", "uchar"},
    {"unsigned short", "ushort"},
    {"unsigned int", "uint"},
    {"unsigned long", "ulong"},
    {"18446744073709551615", "dynamic_extent"},
    {"OpenCL C++ version 2021", "Metal"},
    {"global or constant address space", "constant address space"},
    {"OpenCL C++", "Metal"},
    {"C++ for OpenCL", "Metal"},
    {"OpenCL", "Metal"},
    {"implicit conversion from 'double'",
     "implicit conversion from 'float'"}, // an unsuffixed literal
};

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

// "float" and "3" of "vec<float, 3>" at s (after the '<'); gives the length up to and with '>', or
// 0.
static size_t vector_spelling(const char *s, const char *suffix, char *out, size_t n_out) {
    size_t t = 0;
    while (is_name(s[t]) || (s[t] == ' ' && is_name(s[t + 1]) && !isdigit((unsigned char)s[t + 1])))
        t++;
    if (t == 0 || t > 40 || s[t] != ',') return 0;
    size_t k = t + 1;
    char dims[8] = "";
    size_t d = 0;
    while (s[k] && s[k] != '>' && d < sizeof dims - 2) {
        if (isdigit((unsigned char)s[k])) {
            dims[d++] = s[k];
        } else if (s[k] == ',') {
            dims[d++] = 'x';
        } else if (s[k] != ' ') {
            return 0;
        }
        k++;
    }
    if (s[k] != '>' || d == 0) return 0;
    dims[d] = 0;
    static const struct {
        const char *from, *to;
    } elements[] = {
        {"unsigned char", "uchar"}, {"unsigned short", "ushort"}, {"unsigned int", "uint"},
        {"unsigned long", "ulong"}, {"__bf16", "bfloat"},         {"signed char", "char"},
        {"_Float16", "half"},
    };
    char element[48];
    memcpy(element, s, t);
    element[t] = 0;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(element, elements[i].from) == 0) strcpy(element, elements[i].to);
    if (strlen(suffix) + strlen(element) + strlen(dims) + 1 > n_out) return 0;
    strcpy(out, suffix), strcat(out, element), strcat(out, dims);
    return k + 1;
}

// A class of ours at s: vec<float, 3> -> float3. Gives the characters consumed, 0 if none.
static size_t metal_type(const char *s, char *out, size_t n_out) {
    static const struct {
        const char *from, *prefix;
    } classes[] = {
        {"packed_vec<", "packed_"},
        {"vec<", ""},
        {"matrix<", ""},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t k = strlen(classes[i].from);
        size_t end = strncmp(s, classes[i].from, k) == 0
                         ? vector_spelling(s + k, classes[i].prefix, out, n_out)
                         : 0;
        if (end) return k + end;
    }
    return 0;
}

// 'float3' (aka 'float3') says nothing twice.
static void drop_aka(char *s) {
    for (char *aka = s; (aka = strstr(aka, "' (aka '"));) {
        char *end = strstr(aka + 8, "')"), *begin = aka;
        size_t n = end ? (size_t)(end - (aka + 8)) : 0;
        while (begin > s && begin[-1] != '\'') begin--;
        if (end && (size_t)(aka - begin) == n && memcmp(begin, aka + 8, n) == 0)
            memmove(aka + 1, end + 2, strlen(end + 2) + 1);
        aka++;
    }
}

char *words_metal(const char *m) {
    if (strncmp(m, "no setter defined for property", 30) == 0) // v.xx = ...
        m = "vector is not assignable (contains duplicate components)";
    size_t n = strlen(m), used = 0;
    char *out = malloc(n * 2 + 1);
    if (!out) return NULL;
    for (size_t i = 0; m[i];) {
        char type[64];
        bool start = i == 0 || !is_name(m[i - 1]);
        size_t skip = start && strncmp(m + i, "metal::", 7) == 0 ? 7 : 0;
        size_t eaten = start ? metal_type(m + i + skip, type, sizeof type) : 0;
        if (eaten) {
            i += skip + eaten;
            used += (size_t)(stpcpy(out + used, type) - (out + used));
            continue;
        }
        if (start && strncmp(m + i, "__private", 9) == 0 && !is_name(m[i + 9])) {
            // Said of what a pointer points to; a variable of one's own is in thread space anyway.
            bool pointee = m[i + 9] == ' ' && (i == 0 || (m[i - 1] != '*' && m[i - 1] != '&'));
            size_t end = i + strcspn(m + i, "',)>");
            size_t star = i + strcspn(m + i, "*&");
            i += 9 + (m[i + 9] == ' ' && (pointee || used == 0 || out[used - 1] == ' '));
            if (pointee && star < end)
                used += (size_t)(stpcpy(out + used, "thread ") - (out + used));
            continue;
        }
        bool replaced = false;
        for (size_t w = 0; w < sizeof words / sizeof *words && start; w++) {
            size_t k = strlen(words[w].from);
            if (strncmp(m + i, words[w].from, k) != 0 ||
                (is_name(words[w].from[k - 1]) && is_name(m[i + k])))
                continue;
            i += k;
            if (!*words[w].to && m[i] == ' ') i++;
            used += (size_t)(stpcpy(out + used, words[w].to) - (out + used));
            replaced = true;
            break;
        }
        if (!replaced) out[used++] = m[i++];
    }
    out[used] = 0;
    drop_aka(out);
    return out;
}
