// SPDX-License-Identifier: Apache-2.0
// random.c: random tensors. A value is a function of the seed and its place: the key of Philox
// (base/philox.h) is the seed, the counter the place divided by four. Made on the host, in float.
#include <math.h>
#include <stdlib.h>
#include "base/philox.h"
#include "tensor/tensor_int.h"

// In [0, 1), 24 bits.
static double unit(uint32_t bits) { return (double)(bits >> 8) * 0x1p-24; }

// Two normal numbers from two words (Box and Muller); the first is never 0.
static void normal_pair(const uint32_t *bits, double out[2]) {
    double r = sqrt(-2 * log(1 - unit(bits[0]))), phi = 6.283185307179586477 * unit(bits[1]);
    out[0] = r * cos(phi);
    out[1] = r * sin(phi);
}

static IgTensor *new_random(const char *call, IgDevice *device, IgType type, int rank,
                            const int64_t *n, bool normal, double low, double high, uint64_t seed,
                            MTLError **error) {
    IgShape shape;
    if (!device) {
        ig_fail(error, IgErrorDevice, "%s: no device", call);
        return NULL;
    }
    if (!ig_is_type(type) || !ig_is_float(type)) {
        ig_fail(error, IgErrorType, "%s: a floating type is needed", call);
        return NULL;
    }
    if (!ig_shape_check(call, rank, n, &shape, error)) return NULL;
    int64_t count = ig_shape_numel(&shape);
    char *values = malloc((size_t)(count + 1) * ig_type_size(type));
    if (!values) {
        ig_fail_no_memory(error);
        return NULL;
    }
    for (int64_t i = 0; i < count; i += 4) {
        const uint64_t place = (uint64_t)i / 4;
        uint32_t bits[4] = {(uint32_t)place, (uint32_t)(place >> 32), 0, 0};
        double v[4];
        philox((uint32_t)seed, (uint32_t)(seed >> 32), bits);
        for (int k = 0; k < 4; k++) v[k] = low + unit(bits[k]) * (high - low);
        if (normal) normal_pair(bits, v), normal_pair(bits + 2, v + 2);
        for (int k = 0; k < 4 && i + k < count; k++) ig_element_set(type, values, i + k, v[k]);
    }
    IgTensor *t = ig_from_data(device, type, rank, n, values, error);
    free(values);
    return t;
}

IgTensor *ig_uniform(IgDevice *device, IgType type, int rank, const int64_t *shape, double low,
                     double high, uint64_t seed, MTLError **error) {
    return new_random("ig_uniform", device, type, rank, shape, false, low, high, seed, error);
}

IgTensor *ig_randn(IgDevice *device, IgType type, int rank, const int64_t *shape, uint64_t seed,
                   MTLError **error) {
    return new_random("ig_randn", device, type, rank, shape, true, 0, 1, seed, error);
}
