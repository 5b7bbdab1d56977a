// SPDX-License-Identifier: Apache-2.0
// fuse_source.c: source code of a fused kernel. A variable has the type its value is stored in, and
// an operation converts its operands to the compute type and its result back: rounding happens
// after each operation, as if every one were a separate kernel.
#include <stdlib.h>
#include "tensor/fuse.h"
#include "ig_texts.h"

// The place of an element: the leaf's offset and strides stand in the words p.
static void write_place(Text *out, const IgFused *f, int leaf) {
    int at = f->n_axes + leaf * (1 + f->n_axes);
    text_printf(out, "p[%d]", at);
    for (int a = 0; a < f->n_axes; a++) {
        int64_t stride = f->strides[leaf][a];
        if (stride == 1)
            text_printf(out, " + i%d", a);
        else if (stride != 0)
            text_printf(out, " + i%d * p[%d]", a, at + 1 + a);
    }
}

static void write_positions(Text *out, const IgFused *f) {
    static const char *const dims = "xyz";
    for (int a = 0; a < f->n_axes && a < 3; a++)
        text_printf(out, "    int i%d = int(at.%c)%s;\n", a, dims[a],
                    a == 2 && f->n_axes > 3 ? " % p[2]" : "");
    if (f->pack) text_printf(out, "    i0 *= %d;\n", f->pack);
    for (int a = 3; a < f->n_axes; a++) {
        text_printf(out, "    int i%d = int(at.z)", a);
        for (int b = 2; b < a; b++) text_printf(out, " / p[%d]", b);
        text_printf(out, a < f->n_axes - 1 ? " %% p[%d];\n" : ";\n", a);
    }
    text_printf(out, "    int i = %s", f->n_axes ? "i0" : "0");
    if (f->n_axes > 1) text_printf(out, " + p[0] * (int(at.y)");
    if (f->n_axes > 2) text_printf(out, " + p[1] * int(at.z)");
    text_printf(out, f->n_axes > 1 ? ");\n" : ";\n");
}

static void write_node(Text *out, const IgFused *f, int at, int *word) {
    static const char operands[] = "xyz", numbers[] = "vw";
    const IgNode *node = &f->nodes[at];
    const char *compute = ig_type_compute(node->compute);
    const char *type = node->type == IgBool ? "bool" : ig_type_metal(node->type);
    text_printf(out, "    %s n%d;\n    {\n        typedef %s C;\n", type, at, compute);
    for (int k = 0; k < ig_ops[node->op].arity; k++) {
        int in = node->in[k];
        text_printf(out, "        const C %c = C(%c%d);\n", operands[k], in < 0 ? 'l' : 'n',
                    in < 0 ? -1 - in : in);
    }
    bool real = ig_is_float(node->compute);
    for (int k = 0; k < ig_op_values(node->op); k++) {
        if (real)
            text_printf(out, "        const C %c = as_type<float>(p[%d]);\n", numbers[k], *word);
        else
            text_printf(out, "        const C %c = C(as_type<long>(int2(p[%d], p[%d])));\n",
                        numbers[k], *word, *word + 1);
        *word += real ? 1 : 2;
    }
    const char *metal = ig_ops[node->op].metal;
    if (node->type == IgBool)
        text_printf(out, "        n%d = bool(%s);\n    }\n", at, metal);
    else
        text_printf(out, "        n%d = ig_to<%s, C>(%s);\n    }\n", at, type, metal);
}

void ig_fuse_write_prelude(Text *out) { text_add(out, ig_text_elementwise_h); }

void ig_fuse_write_leaves(Text *out, const IgFused *f) {
    for (int l = 0; l < f->n_leaves; l++)
        text_printf(out, "    device const %s *a%d [[buffer(%d)]],\n",
                    ig_type_metal(f->leaves[l].view.data->type), l, l + 1);
}

static bool is_packed(const IgFused *f, int leaf) { return f->pack && f->strides[leaf][0] == 1; }

void ig_fuse_write_packs(Text *out, const IgFused *f) {
    for (int l = 0; l < f->n_leaves; l++) {
        if (!is_packed(f, l)) continue;
        const char *type = ig_type_metal(f->leaves[l].view.data->type);
        text_printf(out, "    const ig_pack<%s, %d> k%d = *(device const ig_pack<%s, %d> *)(a%d + ",
                    type, f->pack, l, type, f->pack, l);
        write_place(out, f, l);
        text_printf(out, ");\n");
    }
}

void ig_fuse_write_value(Text *out, const IgFused *f) {
    for (int l = 0; l < f->n_leaves; l++) {
        if (f->product && l == f->product_leaf) continue; // it is there already
        text_printf(out, "    const %s l%d = ", ig_type_metal(f->leaves[l].view.data->type), l);
        if (is_packed(f, l)) {
            text_printf(out, "k%d.at[e];\n", l);
            continue;
        }
        text_printf(out, "a%d[", l);
        write_place(out, f, l);
        text_printf(out, "];\n");
    }
    int word = f->n_axes + f->n_leaves * (1 + f->n_axes);
    for (int i = 0; i < f->n_nodes; i++) write_node(out, f, i, &word);
}

// All that is read comes first, and all that is written last: the more a thread has under way, the
// better.
static void write_packed(Text *out, const IgFused *f) {
    ig_fuse_write_packs(out, f);
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].output >= 0)
            text_printf(out, "    ig_pack<%s, %d> q%d;\n", ig_type_metal(f->nodes[i].type), f->pack,
                        f->nodes[i].output);
    text_printf(out, "    const int first = i0;\n    for (int e = 0; e < %d; e++) {\n", f->pack);
    text_printf(out, "    const int i0 = first + e;\n");
    ig_fuse_write_value(out, f);
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].output >= 0)
            text_printf(out, "    q%d.at[e] = %s(n%d);\n", f->nodes[i].output,
                        ig_type_metal(f->nodes[i].type), i);
    text_printf(out, "    }\n");
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].output >= 0)
            text_printf(out, "    *(device ig_pack<%s, %d> *)(o%d + i) = q%d;\n",
                        ig_type_metal(f->nodes[i].type), f->pack, f->nodes[i].output,
                        f->nodes[i].output);
}

char *ig_fuse_source(void *context) {
    const IgFused *f = context;
    Text text = {0}, *out = &text;
    ig_fuse_write_prelude(out);
    text_printf(out, "kernel void fused(constant int *p [[buffer(0)]],\n");
    ig_fuse_write_leaves(out, f);
    for (int o = 0; o < f->n_outputs; o++)
        for (int i = 0; i < f->n_nodes; i++)
            if (f->nodes[i].output == o)
                text_printf(out, "    device %s *o%d [[buffer(%d)]],\n",
                            ig_type_metal(f->nodes[i].type), o, f->n_leaves + o + 1);
    text_printf(out, "    uint3 at [[thread_position_in_grid]]) {\n");
    write_positions(out, f);
    if (f->pack)
        write_packed(out, f);
    else
        ig_fuse_write_value(out, f);
    for (int i = 0; i < f->n_nodes && !f->pack; i++)
        if (f->nodes[i].output >= 0)
            text_printf(out, "    o%d[i] = %s(n%d);\n", f->nodes[i].output,
                        ig_type_metal(f->nodes[i].type), i);
    text_printf(out, "}\n");
    return text_take(out);
}
