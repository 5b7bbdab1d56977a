// SPDX-License-Identifier: Apache-2.0
// user_elementwise.c: the user's kernels of one expression. The source is made for the types, and
// the rank, of a call: inputs are read where their strides say, so broadcasting and views cost no
// copy. Neighbouring axes are not folded; an input that lies as the output does is read by its
// place.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/fuse.h"
#include "tensor/user_kernel.h"

typedef struct IgUserElementwise {
    int n_inputs, n_scalars;
    char *names[IG_KERNEL_INPUTS + IG_KERNEL_SCALARS]; // inputs, then scalars
    char *expression;
    uint64_t id; // of kernels in the device's table: never used twice
} IgUserElementwise;

void ig_user_elementwise_free(IgUserElementwise *u) {
    if (!u) return;
    for (int i = 0; i < IG_KERNEL_INPUTS + IG_KERNEL_SCALARS; i++) free(u->names[i]);
    free(u->expression);
    free(u);
}

// "x, b": names separated by commas; how many, or -1.
static int split(const char *list, int max, char **names) {
    int n = 0;
    for (const char *p = list ? list : "";; p++) {
        while (isspace((unsigned char)*p)) p++;
        const char *start = p;
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        size_t length = (size_t)(p - start);
        while (isspace((unsigned char)*p)) p++;
        if (length == 0 && n == 0 && !*p) return 0;
        if (length == 0 || length > 48 || isdigit((unsigned char)*start) || n == max ||
            (*p && *p != ','))
            return -1;
        if (!(names[n++] = strndup(start, length))) return -1;
        if (!*p) return n;
    }
}

IgUserKernel *ig_kernel_new_elementwise(IgDevice *device, const char *inputs, const char *scalars,
                                        const char *expression, MTLError **error) {
    static atomic_uint_fast64_t n_kernels;
    if (!device || !expression || !*expression) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "ig_kernel_new_elementwise: no %s",
                device ? "expression" : "device");
        return NULL;
    }
    IgUserElementwise *u = calloc(1, sizeof *u);
    IgUserKernel *k = u ? ig_user_kernel_alloc(device, expression, error) : NULL;
    if (!u) ig_fail_no_memory(error);
    if (!k) {
        free(u);
        return NULL;
    }
    k->elementwise = u;
    u->id = atomic_fetch_add(&n_kernels, 1);
    u->n_inputs = split(inputs, IG_KERNEL_INPUTS, u->names);
    u->n_scalars = split(scalars, IG_KERNEL_SCALARS, u->names + IG_KERNEL_INPUTS);
    u->expression = strdup(expression);
    if (u->n_inputs >= 1 && u->n_scalars >= 0 && u->expression) return k;
    ig_fail(error, IgErrorArgument,
            "ig_kernel_new_elementwise: inputs '%s' and scalars '%s' are not names with commas "
            "between (at least one input, at most %d and %d)",
            inputs ? inputs : "", scalars ? scalars : "", IG_KERNEL_INPUTS, IG_KERNEL_SCALARS);
    ig_kernel_release(k);
    return NULL;
}

// ---- Source ----

typedef struct Source {
    const IgUserElementwise *u;
    const IgKernelCall *call;
    const IgShape *shape;
    const bool *in_place; // inputs that lie as the output does
} Source;

// p: lengths of the axes; for each input its offset and strides; the scalars, two words each
static char *source(void *context) {
    const Source *s = context;
    const IgUserElementwise *u = s->u;
    int rank = s->shape->rank;
    Text text = {0}, *out = &text;
    ig_fuse_write_prelude(out);
    text_printf(out, "kernel void elementwise(constant int *ig_p [[buffer(0)]],\n");
    for (int i = 0; i < u->n_inputs; i++)
        text_printf(out, "    device const %s *ig_a%d [[buffer(%d)]],\n",
                    ig_type_metal(ig_type(s->call->inputs[i])), i, i + 1);
    text_printf(out,
                "    device %s *ig_out [[buffer(%d)]], uint ig_at [[thread_position_in_grid]]) {\n",
                ig_type_metal(s->call->type), u->n_inputs + 1);
    text_printf(out, "    int ig_rest = int(ig_at);\n");
    for (int i = 0; i < u->n_inputs; i++)
        text_printf(out, "    int ig_i%d = ig_p[%d]%s;\n", i, rank + i * (rank + 1),
                    s->in_place[i] ? " + int(ig_at)" : "");
    for (int a = rank - 1; a >= 0; a--) {
        text_printf(out, "    { int i = ig_rest %% ig_p[%d]; ig_rest /= ig_p[%d];", a, a);
        for (int i = 0; i < u->n_inputs; i++)
            if (!s->in_place[i])
                text_printf(out, " ig_i%d += i * ig_p[%d];", i, rank + i * (rank + 1) + 1 + a);
        text_printf(out, " }\n");
    }
    for (int i = 0; i < u->n_inputs; i++) {
        const char *compute = ig_type_compute(ig_type(s->call->inputs[i]));
        text_printf(out, "    const %s %s = %s(ig_a%d[ig_i%d]);\n", compute, u->names[i], compute,
                    i, i);
    }
    int word = rank + u->n_inputs * (rank + 1);
    for (int i = 0; i < u->n_scalars; i++, word += 2) {
        const char *name = u->names[IG_KERNEL_INPUTS + i];
        IgType type = s->call->scalars[i].type;
        if (ig_is_float(type))
            text_printf(out, "    const float %s = as_type<float>(ig_p[%d]);\n", name, word);
        else
            text_printf(out, "    const %s %s = %s(as_type<long>(int2(ig_p[%d], ig_p[%d])));\n",
                        ig_type_compute(type), name, ig_type_compute(type), word, word + 1);
    }
    const char *result = ig_type_metal(s->call->type);
    text_printf(out, "    auto ig_value = (%s);\n", u->expression);
    if (s->call->type == IgBool)
        text_printf(out, "    ig_out[ig_at] = ig_value ? 1 : 0;\n}\n");
    else
        text_printf(out, "    ig_out[ig_at] = ig_to<%s, decltype(ig_value)>(ig_value);\n}\n",
                    result);
    return text_take(out);
}

// ---- Running ----

enum { MAX_WORDS = IG_MAX_RANK + IG_KERNEL_INPUTS * (IG_MAX_RANK + 1) + IG_KERNEL_SCALARS * 2 };

static size_t write_words(const Source *s, int32_t *words) {
    size_t n = 0;
    for (int a = 0; a < s->shape->rank; a++) words[n++] = (int32_t)s->shape->n[a];
    for (int i = 0; i < s->u->n_inputs; i++) {
        const IgView *v = &s->call->inputs[i]->view;
        int added = s->shape->rank - v->shape.rank;
        words[n++] = (int32_t)v->offset;
        for (int a = 0; a < s->shape->rank; a++)
            words[n++] =
                a < added || v->shape.n[a - added] == 1 ? 0 : (int32_t)v->strides[a - added];
    }
    for (int i = 0; i < s->u->n_scalars; i++, n += 2) {
        const IgKernelScalar *scalar = &s->call->scalars[i];
        float single = (float)scalar->value;
        int64_t whole = 0;
        char element[8] = {0};
        ig_element_set(scalar->type, element, 0, scalar->value);
        if (ig_is_float(scalar->type)) {
            memcpy(&words[n], &single, 4);
            words[n + 1] = 0;
        } else {
            whole = scalar->type == IgInt64 ? *(const int64_t *)(const void *)element
                                            : (int64_t)ig_element_get(scalar->type, element, 0);
            memcpy(&words[n], &whole, 8);
        }
    }
    return n;
}

static bool encode(IgUserKernel *k, const Source *s, IgData *result, MTLError **error) {
    int32_t words[MAX_WORDS];
    unsigned char key[16 + 2 * IG_KERNEL_INPUTS + IG_KERNEL_SCALARS] = {'e'};
    size_t n_key = 1;
    memcpy(key + n_key, &s->u->id, sizeof s->u->id);
    n_key += sizeof s->u->id;
    key[n_key++] = (unsigned char)s->shape->rank;
    key[n_key++] = (unsigned char)s->call->type;
    IgBinding bindings[IG_KERNEL_INPUTS + 1];
    for (int i = 0; i < s->u->n_inputs; i++) {
        IgData *data = s->call->inputs[i]->view.data;
        key[n_key++] = (unsigned char)data->type;
        key[n_key++] = s->in_place[i];
        if (!ig_data_make(data, error)) return false;
        bindings[i] = (IgBinding){data->memory, 0};
    }
    for (int i = 0; i < s->u->n_scalars; i++)
        key[n_key++] = (unsigned char)s->call->scalars[i].type;
    if (!ig_data_allocate(result, error)) return false;
    if (result->n == 0) return true;
    bindings[s->u->n_inputs] = (IgBinding){result->memory, 0};
    IgKernel *kernel =
        ig_kernel(k->device, key, n_key, "elementwise", source, (void *)(uintptr_t)s, error);
    if (!kernel) return false;
    MTLSize threads, group;
    ig_user_grid(k, result->n, &threads, &group);
    bool ok = ig_encode(k->device, kernel, words, write_words(s, words) * 4, bindings,
                        (size_t)s->u->n_inputs + 1, threads, group, false, error);
    ig_encoded_users(k->device);
    return ok;
}

IgTensor *ig_user_elementwise(IgUserKernel *k, const IgKernelCall *call, MTLError **error) {
    const IgUserElementwise *u = k->elementwise;
    if (call->n_inputs != u->n_inputs || call->n_scalars != u->n_scalars) {
        ig_fail(error, IgErrorArgument, "kernel '%s': %d inputs and %d scalars, it has %d and %d",
                k->name, call->n_inputs, call->n_scalars, u->n_inputs, u->n_scalars);
        return NULL;
    }
    IgShape shape = call->inputs[0]->view.shape;
    for (int i = 1; i < u->n_inputs; i++)
        if (!ig_broadcast(k->name, &shape, &call->inputs[i]->view.shape, &shape, error))
            return NULL;
    bool in_place[IG_KERNEL_INPUTS];
    for (int i = 0; i < u->n_inputs; i++)
        in_place[i] = ig_shape_equal(&shape, &call->inputs[i]->view.shape) &&
                      ig_view_contiguous(&call->inputs[i]->view);
    Source s = {u, call, &shape, in_place};
    IgData *data = ig_data_new(k->device, call->type, ig_shape_numel(&shape));
    if (!data) {
        ig_fail_no_memory(error);
        return NULL;
    }
    ig_lock(k->device);
    bool ok = encode(k, &s, data, error);
    ig_unlock(k->device);
    IgTensor *result = ok ? ig_tensor_new(data, &shape, NULL, 0, error) : NULL;
    ig_data_release(data);
    return result;
}
