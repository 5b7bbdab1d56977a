// SPDX-License-Identifier: Apache-2.0
// fuse_source.c: the text of a fused kernel. A variable has the type its value is stored in, and an
// operation converts its operands to the compute type and its result back: rounding happens after
// each operation, as if every one were a kernel of its own.
#include <stdio.h>
#include <stdlib.h>
#include "tensor/fuse.h"

static const char prelude[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "#pragma METAL fp math_mode(safe)\n"
    "#pragma METAL fp contract(off)\n"
    "template <class T> T ig_abs(T x) { return x < T(0) ? -x : x; }\n"
    "inline float ig_abs(float x) { return fabs(x); }\n"
    "template <class T> T ig_sign(T x) { return T(x > T(0)) - T(x < T(0)); }\n"
    "inline float ig_sign(float x) { return isnan(x) ? x : float(x > 0) - float(x < 0); }\n"
    "template <class T> T ig_floor(T x) { return x; }\n"
    "inline float ig_floor(float x) { return floor(x); }\n"
    "template <class T> T ig_ceil(T x) { return x; }\n"
    "inline float ig_ceil(float x) { return ceil(x); }\n"
    "template <class T> T ig_round(T x) { return x; }\n"
    "inline float ig_round(float x) { return rint(x); }\n"
    "template <class T> T ig_trunc(T x) { return x; }\n"
    "inline float ig_trunc(float x) { return trunc(x); }\n"
    // As NumPy and PyTorch: what is not a number stays so.
    "template <class T> T ig_max(T x, T y) { return x > y || x != x ? x : y; }\n"
    "template <class T> T ig_min(T x, T y) { return x < y || x != x ? x : y; }\n"
    "inline float ig_gelu_slope(float x) {\n"
    "    float t = tanh(0.7978845608f * (x + 0.044715f * x * x * x));\n"
    "    return 0.5f * (1.0f + t) +\n"
    "           0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * x * x);\n"
    "}\n"
    "inline float ig_silu_slope(float x) {\n"
    "    float s = 1.0f / (1.0f + exp(-x));\n"
    "    return s * (1.0f + x * (1.0f - s));\n"
    "}\n"
    "inline float ig_pow(float x, float y) { return pow(x, y); }\n"
    "template <class T> T ig_remainder(T x, T y) {\n"
    "    if (y == T(0)) return T(0);\n"
    "    T r = x % y;\n"
    "    return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;\n"
    "}\n"
    "inline float ig_remainder(float x, float y) {\n"
    "    float r = fmod(x, y);\n"
    "    return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n"
    "}\n"
    "template <class T> T ig_floor_divide(T x, T y) {\n"
    "    return y == T(0) ? T(0) : (x - ig_remainder(x, y)) / y;\n"
    "}\n"
    "inline float ig_floor_divide(float x, float y) {\n"
    "    if (y == 0) return x / y;\n"
    "    if (isinf(y) && isfinite(x)) return x != 0 && (x < 0) != (y < 0) ? -1.0f : 0.0f;\n"
    "    return rint((x - ig_remainder(x, y)) / y);\n" // infinite x: not a number, as in Python
    "}\n"
    "inline float ig_expm1(float x) {\n"
    "    float t = tanh(0.5f * x);\n"
    "    return fabs(x) < 0.5f ? 2.0f * t / (1.0f - t) : exp(x) - 1.0f;\n"
    "}\n"
    "inline float ig_log1p(float x) {\n"
    "    float u = 1.0f + x;\n"
    "    return u == 1.0f || x == INFINITY ? x : log(u) * (x / (u - 1.0f));\n"
    "}\n"
    // Below 1 an odd polynomial, above the logarithm of 1 - erf as one (both fitted at Chebyshev's
    // points; 2e-7 off at most).
    "inline float ig_erf(float x) {\n"
    "    float a = fabs(x), z = x * x;\n"
    "    float p = -0.00056541059f;\n"
    "    p = p * z + 0.0049232775f;\n    p = p * z - 0.026716385f;\n"
    "    p = p * z + 0.11280365f;\n    p = p * z - 0.37612349f;\n    p = p * z + 1.1283791f;\n"
    "    float q = 1.6140616e-6f;\n"
    "    q = q * a - 4.5590623e-5f;\n    q = q * a + 0.00059276953f;\n"
    "    q = q * a - 0.0047402224f;\n    q = q * a + 0.026364718f;\n    q = q * a - 0.10997824f;\n"
    "    q = q * a - 0.63193709f;\n    q = q * a - 1.1301666f;\n    q = q * a + 0.00030321296f;\n"
    "    float tail = a < 4.0f ? 1.0f - exp(q) : 1.0f;\n"
    "    return a <= 1.0f ? x * p : isnan(x) ? x : copysign(tail, x);\n"
    "}\n"
    // Outside of an integer type's range the nearest value, nothing for what is not a number.
    "template <class T> T ig_to_integer(float x, float low, float high, T least, T most) {\n"
    "    return isnan(x) ? T(0) : x <= low ? least : x >= high ? most : T(x);\n"
    "}\n"
    "template <class T, class C> T ig_to(C x) { return T(x); }\n"
    "template <> char ig_to<char, float>(float x) {\n"
    "    return ig_to_integer<char>(x, -128.0f, 127.0f, char(-128), char(127)); }\n"
    "template <> int ig_to<int, float>(float x) {\n"
    "    return ig_to_integer<int>(x, -2147483648.0f, 2147483648.0f, INT_MIN, INT_MAX); }\n"
    "template <> long ig_to<long, float>(float x) {\n"
    "    return ig_to_integer<long>(x, -9223372036854775808.0f, 9223372036854775808.0f,\n"
    "                               LONG_MIN, LONG_MAX); }\n";

// The place of an element: the leaf's offset and strides stand in the words p.
static void write_place(FILE *out, const IgFused *f, int leaf) {
    int at = f->n_axes + leaf * (1 + f->n_axes);
    fprintf(out, "p[%d]", at);
    for (int a = 0; a < f->n_axes; a++) {
        int64_t stride = f->strides[leaf][a];
        if (stride == 1)
            fprintf(out, " + i%d", a);
        else if (stride != 0)
            fprintf(out, " + i%d * p[%d]", a, at + 1 + a);
    }
}

static void write_positions(FILE *out, const IgFused *f) {
    static const char *const dims = "xyz";
    for (int a = 0; a < f->n_axes && a < 3; a++)
        fprintf(out, "    int i%d = int(at.%c)%s;\n", a, dims[a],
                a == 2 && f->n_axes > 3 ? " % p[2]" : "");
    for (int a = 3; a < f->n_axes; a++) {
        fprintf(out, "    int i%d = int(at.z)", a);
        for (int b = 2; b < a; b++) fprintf(out, " / p[%d]", b);
        fprintf(out, a < f->n_axes - 1 ? " %% p[%d];\n" : ";\n", a);
    }
    fprintf(out, "    int i = %s", f->n_axes ? "int(at.x)" : "0");
    if (f->n_axes > 1) fprintf(out, " + p[0] * (int(at.y)");
    if (f->n_axes > 2) fprintf(out, " + p[1] * int(at.z)");
    fprintf(out, f->n_axes > 1 ? ");\n" : ";\n");
}

static void write_node(FILE *out, const IgFused *f, int at, int *word) {
    static const char operands[] = "xyz", numbers[] = "vw";
    const IgNode *node = &f->nodes[at];
    const char *compute = ig_type_compute(node->compute);
    const char *type = node->type == IgBool ? "bool" : ig_type_metal(node->type);
    fprintf(out, "    %s n%d;\n    {\n        typedef %s C;\n", type, at, compute);
    for (int k = 0; k < ig_ops[node->op].arity; k++) {
        int in = node->in[k];
        fprintf(out, "        const C %c = C(%c%d);\n", operands[k], in < 0 ? 'l' : 'n',
                in < 0 ? -1 - in : in);
    }
    bool real = ig_is_float(node->compute);
    for (int k = 0; k < ig_op_values(node->op); k++) {
        if (real)
            fprintf(out, "        const C %c = as_type<float>(p[%d]);\n", numbers[k], *word);
        else
            fprintf(out, "        const C %c = C(as_type<long>(int2(p[%d], p[%d])));\n", numbers[k],
                    *word, *word + 1);
        *word += real ? 1 : 2;
    }
    const char *metal = ig_ops[node->op].metal;
    if (node->type == IgBool)
        fprintf(out, "        n%d = bool(%s);\n    }\n", at, metal);
    else
        fprintf(out, "        n%d = ig_to<%s, C>(%s);\n    }\n", at, type, metal);
}

void ig_fuse_write_prelude(FILE *out) { fputs(prelude, out); }

void ig_fuse_write_leaves(FILE *out, const IgFused *f) {
    for (int l = 0; l < f->n_leaves; l++)
        fprintf(out, "    device const %s *a%d [[buffer(%d)]],\n",
                ig_type_metal(f->leaves[l].view.data->type), l, l + 1);
}

void ig_fuse_write_value(FILE *out, const IgFused *f) {
    for (int l = 0; l < f->n_leaves; l++) {
        if (f->product && l == f->product_leaf) continue; // it is there already
        fprintf(out, "    const %s l%d = a%d[", ig_type_metal(f->leaves[l].view.data->type), l, l);
        write_place(out, f, l);
        fprintf(out, "];\n");
    }
    int word = f->n_axes + f->n_leaves * (1 + f->n_axes);
    for (int i = 0; i < f->n_nodes; i++) write_node(out, f, i, &word);
}

char *ig_fuse_source(void *context) {
    const IgFused *f = context;
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    if (!out) return NULL;
    ig_fuse_write_prelude(out);
    fprintf(out, "kernel void fused(constant int *p [[buffer(0)]],\n");
    ig_fuse_write_leaves(out, f);
    for (int o = 0; o < f->n_outputs; o++)
        for (int i = 0; i < f->n_nodes; i++)
            if (f->nodes[i].output == o)
                fprintf(out, "    device %s *o%d [[buffer(%d)]],\n",
                        ig_type_metal(f->nodes[i].type), o, f->n_leaves + o + 1);
    fprintf(out, "    uint3 at [[thread_position_in_grid]]) {\n");
    write_positions(out, f);
    ig_fuse_write_value(out, f);
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].output >= 0)
            fprintf(out, "    o%d[i] = %s(n%d);\n", f->nodes[i].output,
                    ig_type_metal(f->nodes[i].type), i);
    fprintf(out, "}\n");
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
