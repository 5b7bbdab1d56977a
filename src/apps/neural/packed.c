// SPDX-License-Identifier: Apache-2.0
// packed.c: networks as .ingot files (see packed.h).
#include "apps/neural/packed.h"
#include "base/numbers.h"
#include "apps/neural/range_coder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 20, CHECKSUM = 4 };
static const char magic[4] = {'I', 'N', 'G', 'N'};

static uint32_t checksum(const unsigned char *data, size_t n) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ data[i]) * 16777619u;
    return h;
}

static void put16(unsigned char *to, uint32_t v) {
    to[0] = (unsigned char)v, to[1] = (unsigned char)(v >> 8);
}
static void put32(unsigned char *to, uint32_t v) { put16(to, v), put16(to + 2, v >> 16); }
static uint32_t get16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t get32(const unsigned char *p) { return get16(p) | get16(p + 2) << 16; }
static float get_half(const unsigned char *p) { return float_from_half((uint16_t)get16(p)); }

// The step between neighbouring numbers, rounded up to what a half can say: the largest must fit.
static uint16_t find_scale(const float *v, size_t n, int32_t limit) {
    float most = 0;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(v[i]));
    uint16_t h = half_from_float(most / (float)limit);
    if (float_from_half(h) * (float)limit < most) h++;
    return h;
}

static void encode_numbers(RangeEncoder *e, RangeModel *m, const float *v, size_t n, float scale,
                           int32_t limit) {
    for (size_t i = 0; i < n; i++) {
        float q = scale > 0 ? rintf(v[i] / scale) : 0;
        if (q > (float)limit) q = (float)limit;
        if (q < (float)-limit) q = (float)-limit;
        range_encode(e, m, (uint32_t)((int32_t)q + limit));
    }
}

unsigned char *neural_pack(const NeuralNetwork *net, uint32_t width, uint32_t height, unsigned bits,
                           size_t *n_bytes, char *message) {
    *n_bytes = 0;
    if (net->model != NEURAL_SIREN || net->n_coordinates != 2 || bits < NEURAL_PACKED_MIN_BITS ||
        bits > NEURAL_PACKED_MAX_BITS || net->n_layers > 255) {
        message_fail(message, "only image SIRENs can be packed, with %d to %d bits",
                     NEURAL_PACKED_MIN_BITS, NEURAL_PACKED_MAX_BITS);
        return NULL;
    }
    for (size_t i = 0; i < net->n_params; i++)
        if (!isfinite(net->params[i])) {
            message_fail(message, "a weight is not finite");
            return NULL;
        }
    const int32_t limit = (1 << (bits - 1)) - 1;
    const size_t front = HEADER + (size_t)net->n_layers * 6;
    unsigned char head[HEADER + NEURAL_MAX_LAYERS * 6] = {0};
    memcpy(head, magic, sizeof magic);
    head[4] = 1, head[5] = (unsigned char)bits, head[6] = (unsigned char)net->n_layers;
    put32(head + 8, width), put32(head + 12, height);
    put16(head + 16, half_from_float(net->layers[0].omega));
    put16(head + 18, half_from_float(net->n_layers > 1 ? net->layers[1].omega : 1));
    unsigned char *sizes = head + HEADER, *scales = sizes + 2 * net->n_layers;
    RangeEncoder e;
    RangeModel *model = malloc(sizeof *model);
    unsigned char *data = NULL;
    range_encode_begin(&e);
    if (!model) goto done;
    range_model_init(model, bits);
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        const size_t n = (size_t)l->n_in * l->n_out;
        put16(sizes + 2 * i, l->n_out);
        const uint16_t w = find_scale(l->weights, n, limit);
        const uint16_t b = find_scale(l->biases, l->n_out, limit);
        put16(scales + 4 * i, w), put16(scales + 4 * i + 2, b);
        encode_numbers(&e, model, l->weights, n, float_from_half(w), limit);
        encode_numbers(&e, model, l->biases, l->n_out, float_from_half(b), limit);
    }
    if (!range_encode_end(&e)) goto done;
    data = malloc(front + e.n + CHECKSUM);
    if (!data) goto done;
    memcpy(data, head, front);
    memcpy(data + front, e.data, e.n);
    put32(data + front + e.n, checksum(data, front + e.n));
    *n_bytes = front + e.n + CHECKSUM;
done:
    if (!data) message_fail(message, "out of memory");
    free(model);
    free(e.data);
    return data;
}

bool neural_packed_recognised(const unsigned char *data, size_t n) {
    return n >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

static bool decode_numbers(RangeDecoder *d, RangeModel *m, float *v, size_t n, float scale,
                           int32_t limit) {
    for (size_t i = 0; i < n && !d->over; i++)
        v[i] = (float)((int32_t)range_decode(d, m) - limit) * scale;
    return !d->over;
}

bool neural_unpack(NeuralNetwork *net, uint32_t *width, uint32_t *height, const unsigned char *data,
                   size_t n, const char *name, char *message) {
    *net = (NeuralNetwork){0};
    if (!neural_packed_recognised(data, n))
        return message_fail(message, "%s: not a compressed image", name);
    if (n < HEADER + CHECKSUM) return message_fail(message, "%s: the file is truncated", name);
    if (get32(data + n - CHECKSUM) != checksum(data, n - CHECKSUM))
        return message_fail(message, "%s: the file is damaged (checksum mismatch)", name);
    const unsigned bits = data[5], n_layers = data[6];
    const size_t front = HEADER + (size_t)n_layers * 6;
    *width = get32(data + 8), *height = get32(data + 12);
    if (data[4] != 1) return message_fail(message, "%s: unknown version %u", name, data[4]);
    if (bits < NEURAL_PACKED_MIN_BITS || bits > NEURAL_PACKED_MAX_BITS || !n_layers ||
        n_layers > NEURAL_MAX_LAYERS || n < front + CHECKSUM || !*width || !*height)
        return message_fail(message, "%s: invalid header", name);
    uint32_t sizes[NEURAL_MAX_LAYERS + 1] = {2};
    for (unsigned i = 0; i < n_layers; i++) sizes[i + 1] = get16(data + HEADER + 2 * i);
    char why[MESSAGE_BYTES];
    if (sizes[n_layers] != 3) return message_fail(message, "%s: it has no colour", name);
    if (!neural_network_init(net, n_layers, sizes, NEURAL_SINE, NEURAL_SIGMOID, why))
        return message_fail(message, "%s: %s", name, why);
    const unsigned char *scales = data + HEADER + 2 * n_layers;
    const int32_t limit = (1 << (bits - 1)) - 1;
    RangeModel *model = malloc(sizeof *model);
    RangeDecoder d;
    bool ok = model != NULL;
    if (ok) range_model_init(model, bits);
    range_decode_begin(&d, data + front, n - front - CHECKSUM);
    for (unsigned i = 0; ok && i < n_layers; i++) {
        NeuralLayer *l = net->layers + i;
        const float w = get_half(scales + 4 * i), b = get_half(scales + 4 * i + 2);
        if (l->activation == NEURAL_SINE) l->omega = get_half(data + (i ? 18 : 16));
        ok = isfinite(w) && isfinite(b) && isfinite(l->omega) &&
             decode_numbers(&d, model, l->weights, (size_t)l->n_in * l->n_out, w, limit) &&
             decode_numbers(&d, model, l->biases, l->n_out, b, limit);
    }
    free(model);
    if (ok) return true;
    neural_network_free(net);
    return message_fail(message, "%s: the file is truncated", name);
}
