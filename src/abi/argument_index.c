// SPDX-License-Identifier: Apache-2.0
// argument_index.c: argument and colour indices that depend on function constants, [[buffer(c)]],
// evaluated once the values are known: in the runtime when a function is created, in the compiler
// when its code is.
#include "abi/reflect.h"
#include "abi/data_types.h"
#include <stdlib.h>
#include <string.h>

static bool is_open(const RfPlace *p) { return p->constant && *p->constant; }

bool rf_is_placed(const RfFunction *f) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (is_open(&f->args[i].given)) return false;
    for (uint32_t i = 0; i < f->n_outputs; i++)
        if (is_open(&f->outputs[i].given)) return false;
    for (uint32_t i = 0; i < f->n_inputs; i++)
        if (is_open(&f->inputs[i].given)) return false;
    return true;
}

bool rf_integer(const void *data, size_t n_bytes, uint32_t data_type, int64_t *value) {
    bool is_signed = data_type == DT_INT || data_type == DT_SHORT || data_type == DT_CHAR ||
                     data_type == DT_LONG;
    bool is_unsigned = data_type == DT_UINT || data_type == DT_USHORT || data_type == DT_UCHAR ||
                       data_type == DT_ULONG;
    uint64_t bits = 0;
    if ((!is_signed && !is_unsigned) || !data || n_bytes < 1 || n_bytes > 8) return false;
    memcpy(&bits, data, n_bytes);
    unsigned unused = 64 - 8 * (unsigned)n_bytes;
    *value = is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    return true;
}

typedef struct Values {
    const RfLibrary *lib;
    RfValueOf *value;
    void *context;
} Values;

static bool find_index(const Values *v, const RfPlace *p, int64_t least_too_many, uint32_t *index) {
    int64_t x;
    for (uint32_t i = 0; i < v->lib->n_constants; i++) {
        const RfConstant *c = &v->lib->constants[i];
        if (strcmp(c->symbol, p->constant) != 0 || !v->value(v->context, c, &x)) continue;
        if (x < -65536 || x > 65536) return false;
        x = p->scale * x + p->offset;
        *index = (uint32_t)x;
        return x >= 0 && x < least_too_many;
    }
    return false;
}

static bool place_values(const Values *with, RfValue *values, uint32_t n, const char **wrong) {
    for (uint32_t i = 0; i < n; i++) {
        if (!is_open(&values[i].given)) continue;
        *wrong = values[i].name;
        if (!find_index(with, &values[i].given, ABI_MAX_COLORS, &values[i].index)) return false;
        for (uint32_t k = 0; k < n; k++)
            if (k != i && values[k].role == RF_COLOR && values[k].index == values[i].index &&
                values[k].source == values[i].source && (k < i || !is_open(&values[k].given)))
                return false;
    }
    return true;
}

static bool place_args(const Values *with, RfArg *args, uint32_t n, const char **wrong) {
    for (uint32_t i = 0; i < n; i++) {
        RfArg *a = &args[i];
        int64_t end = a->kind == RF_ARG_TEXTURE ? 128 : a->kind == RF_ARG_SAMPLER ? 16 : 31;
        if (!is_open(&a->given)) continue;
        *wrong = a->name;
        if (!find_index(with, &a->given, end - a->count + 1, &a->index)) return false;
        for (uint32_t k = 0; k < n; k++)
            if (k != i && args[k].kind == a->kind && args[k].index < a->index + a->count &&
                a->index < args[k].index + args[k].count && !*args[k].condition && !*a->condition &&
                (k < i || !is_open(&args[k].given)))
                return false;
    }
    return true;
}

RfFunction *rf_place(const RfLibrary *lib, const RfFunction *f, RfValueOf *value, void *context,
                     const char **wrong) {
    const Values with = {lib, value, context};
    size_t n_values = (size_t)f->n_inputs + f->n_outputs;
    *wrong = NULL;
    RfFunction *placed = malloc(sizeof *placed + n_values * sizeof(RfValue) +
                                f->n_args * sizeof(RfArg)); // all of them hold pointers
    if (!placed) return NULL;
    *placed = *f;
    placed->inputs = (RfValue *)(placed + 1);
    placed->outputs = placed->inputs + f->n_inputs;
    placed->args = (RfArg *)(placed->outputs + f->n_outputs);
    if (f->n_inputs) memcpy(placed->inputs, f->inputs, f->n_inputs * sizeof(RfValue));
    if (f->n_outputs) memcpy(placed->outputs, f->outputs, f->n_outputs * sizeof(RfValue));
    if (f->n_args) memcpy(placed->args, f->args, f->n_args * sizeof(RfArg));
    if (place_args(&with, placed->args, f->n_args, wrong) &&
        place_values(&with, placed->inputs, f->n_inputs, wrong) &&
        place_values(&with, placed->outputs, f->n_outputs, wrong)) {
        *wrong = NULL;
        return placed;
    }
    free(placed);
    return NULL;
}
