// SPDX-License-Identifier: Apache-2.0
// run_bind.c: the arguments of a kernel for `ingot run`: matching what was given with what it
// takes, making buffers, fetching and reporting results.
#include "base/text.h"
#include "apps/tools/run_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t n_bytes(const NpyArray *a) { return a->n_elements * a->type->n_bytes; }

// The binding a key means (an index, or a name), of one type; *index: the slot itself.
static const MTLBinding *find_binding(const MTLComputePipelineReflection *r, MTLBindingType type,
                                      const char *key, size_t *index) {
    char *end;
    size_t n = (size_t)strtoull(key, &end, 10);
    bool number = *key >= '0' && *key <= '9' && !*end;
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        const MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        size_t first = mtl_binding_index(b), count = mtl_binding_array_length(b);
        if (mtl_binding_type(b) != type) continue;
        if (number ? n >= first && n < first + (count ? count : 1)
                   : !strcmp(key, mtl_binding_name(b))) {
            *index = number ? n : first;
            return b;
        }
    }
    return NULL;
}

static char *describe(const MTLComputePipelineReflection *r, MTLBindingType type) {
    Text t = {0};
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        const MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        if (mtl_binding_type(b) != type) continue;
        text_printf(&t, "%s%zu %s (%s)", t.n_bytes ? ", " : "", mtl_binding_index(b),
                    mtl_binding_name(b), mtl_binding_type_name(b));
    }
    if (!t.n_bytes) text_add(&t, "none");
    return text_take(&t);
}

static int no_such(const RunOptions *o, const MTLComputePipelineReflection *r, MTLBindingType type,
                   const char *option, const char *key) {
    char *list = describe(r, type);
    complain(EXIT_INPUT, "run", "%s %s: '%s' has no such %s; it takes: %s", option, key, o->kernel,
             type == MTLBindingTypeBuffer ? "buffer" : "threadgroup memory", list ? list : "?");
    free(list);
    return EXIT_INPUT;
}

// Numbers of another kind than the kernel's are allowed (bytes are bytes) but rarely meant.
static void warn_type(const RunArg *a, const MTLBinding *b) {
    uint32_t n;
    const NumberType *wanted = number_of_data_type((uint32_t)mtl_binding_buffer_data_type(b), &n);
    if (!wanted || wanted == a->array.type) return;
    bool whole = wanted->kind == NUMBER_INT || wanted->kind == NUMBER_UINT;
    bool given_whole = a->array.type->kind == NUMBER_INT || a->array.type->kind == NUMBER_UINT;
    if (whole && given_whole && wanted->n_bytes == a->array.type->n_bytes) return;
    fprintf(stderr, "ingot run: warning: --arg %s is %s, the kernel's '%s' is %s\n", a->key,
            a->array.type->name, mtl_binding_name(b), mtl_binding_type_name(b));
}

static int bind_arg(RunOptions *o, RunArg *a, MTLDevice *device,
                    const MTLComputePipelineReflection *r) {
    const MTLBinding *b = find_binding(r, MTLBindingTypeBuffer, a->key, &a->index);
    if (!b) return no_such(o, r, MTLBindingTypeBuffer, "--arg", a->key);
    for (const RunArg *other = o->args; other < a; other++)
        if (other->index == a->index)
            return complain(EXIT_USAGE, "run", "--arg %s and --arg %s are the same buffer",
                            other->key, a->key);
    size_t need = mtl_binding_buffer_data_size(b);
    if (n_bytes(&a->array) < need)
        return complain(EXIT_INPUT, "run",
                        "--arg %s: %zu bytes are too few: one '%s' (%s) takes %zu", a->key,
                        n_bytes(&a->array), mtl_binding_name(b), mtl_binding_type_name(b), need);
    warn_type(a, b);
    a->written = !a->is_value && mtl_binding_access(b) != MTLBindingAccessReadOnly;
    if (a->is_value && mtl_binding_access(b) != MTLBindingAccessReadOnly)
        return complain(EXIT_INPUT, "run",
                        "--arg %s: the kernel writes '%s': give it an array, "
                        "such as %s[1]",
                        a->key, mtl_binding_name(b), a->array.type->name);
    if (a->is_value) return EXIT_FINE;
    a->buffer = mtl_device_new_buffer_with_bytes(device, a->array.data, n_bytes(&a->array),
                                                 MTLResourceStorageModeShared);
    if (!a->buffer)
        return complain(EXIT_INPUT, "run", "--arg %s: no memory for a buffer of %zu bytes", a->key,
                        n_bytes(&a->array));
    return EXIT_FINE;
}

// Everything the kernel takes must have been given.
static int check_missing(const RunOptions *o, const MTLComputePipelineReflection *r) {
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        const MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        size_t count = mtl_binding_array_length(b), first = mtl_binding_index(b);
        if (!mtl_binding_is_used(b)) continue;
        for (size_t k = 0; k < (count ? count : 1); k++) {
            bool given = false;
            if (mtl_binding_type(b) == MTLBindingTypeBuffer)
                for (size_t j = 0; j < o->n_args; j++) given |= o->args[j].index == first + k;
            else if (mtl_binding_type(b) == MTLBindingTypeThreadgroupMemory)
                for (size_t j = 0; j < o->n_groups; j++) given |= o->groups[j].index == first + k;
            else
                return complain(EXIT_INPUT, "run",
                                "'%s' takes textures, samplers or tensors, which `ingot run` "
                                "cannot give",
                                o->kernel);
            if (given) continue;
            bool buffer = mtl_binding_type(b) == MTLBindingTypeBuffer;
            return complain(
                EXIT_INPUT, "run", "%s %zu of '%s' is missing: %s (%s). Give it with %s %zu=...",
                buffer ? "buffer" : "threadgroup memory", first + k, o->kernel, mtl_binding_name(b),
                mtl_binding_type_name(b), buffer ? "--arg" : "--tg", first + k);
        }
    }
    return EXIT_FINE;
}

int run_bind(RunOptions *o, MTLDevice *device, const MTLComputePipelineState *pipeline) {
    const MTLComputePipelineReflection *r = mtl_compute_pipeline_state_reflection(pipeline);
    for (size_t i = 0; i < o->n_args; i++) {
        int status = bind_arg(o, &o->args[i], device, r);
        if (status) return status;
    }
    for (size_t i = 0; i < o->n_groups; i++)
        if (!find_binding(r, MTLBindingTypeThreadgroupMemory, o->groups[i].key,
                          &o->groups[i].index))
            return no_such(o, r, MTLBindingTypeThreadgroupMemory, "--tg", o->groups[i].key);
    for (size_t i = 0; i < o->n_outputs; i++) {
        RunOutput *out = &o->outputs[i];
        size_t index;
        if (!find_binding(r, MTLBindingTypeBuffer, out->key, &index))
            return no_such(o, r, MTLBindingTypeBuffer, out->file ? "--out" : "--print", out->key);
        out->arg = o->n_args;
        for (size_t k = 0; k < o->n_args; k++)
            if (o->args[k].index == index) out->arg = k;
        if (out->arg == o->n_args)
            return complain(EXIT_INPUT, "run", "buffer %zu has no --arg", index);
    }
    return check_missing(o, r);
}

void run_fetch(RunOptions *o) {
    for (size_t i = 0; i < o->n_args; i++) {
        RunArg *a = &o->args[i];
        if (a->buffer) memcpy(a->array.data, mtl_buffer_contents(a->buffer), n_bytes(&a->array));
    }
}

int run_report(const RunOptions *o) {
    for (size_t i = 0; i < o->n_outputs; i++) {
        const RunOutput *out = &o->outputs[i];
        const NpyArray *array = &o->args[out->arg].array;
        if (!out->file) {
            run_value_print(array, out->count);
            continue;
        }
        char *why = npy_write(out->file, array, true);
        if (!why) continue;
        complain(EXIT_INPUT, "run", "--out %s: %s", out->key, why);
        free(why);
        return EXIT_INPUT;
    }
    for (size_t i = 0; !o->n_outputs && i < o->n_args; i++) {
        const RunArg *a = &o->args[i];
        if (!a->written) continue;
        char *name = run_value_name(&a->array), *text = run_value_summary(&a->array);
        printf("buffer %zu %s:%s\n", a->index, name ? name : "", text ? text : "");
        free(name);
        free(text);
    }
    return EXIT_FINE;
}
