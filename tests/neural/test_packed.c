// SPDX-License-Identifier: Apache-2.0
// Compressed networks: the range coder gives back what it got and comes near the entropy; files
// round trip within half a step of their rounding; every cut and every changed byte is noticed.
#include "../base/testing.h"
#include "apps/neural/packed.h"
#include "apps/neural/range_coder.h"
#include <math.h>

static char message[MESSAGE_BYTES];

static void coder(void **state) {
    (void)state;
    enum { N = 20000 };
    static RangeModel model;
    NeuralRandom r;
    neural_random_init(&r, 3, 0);
    for (unsigned bits = 1; bits <= RANGE_MAX_BITS; bits++)
        for (int shape = 0; shape < 3; shape++) { // all the same, even, heaped in the middle
            uint32_t *numbers = malloc(N * sizeof *numbers), limit = (1u << bits) - 1;
            double histogram[1 << RANGE_MAX_BITS] = {0}, entropy = 0;
            for (int i = 0; i < N; i++) {
                uint32_t a = neural_random_u32(&r) & limit, b = neural_random_u32(&r) & limit;
                uint32_t d = neural_random_u32(&r) & limit;
                numbers[i] = shape == 0 ? limit : shape == 1 ? a : (a + b + d) / 3;
                histogram[numbers[i]] += 1.0 / N;
            }
            for (uint32_t i = 0; i <= limit; i++)
                if (histogram[i] > 0) entropy -= histogram[i] * log2(histogram[i]);
            RangeEncoder e;
            range_encode_begin(&e);
            range_model_init(&model, bits);
            for (int i = 0; i < N; i++) range_encode(&e, &model, numbers[i]);
            assert_true(range_encode_end(&e));
            RangeDecoder d;
            range_decode_begin(&d, e.data, e.n);
            range_model_init(&model, bits);
            for (int i = 0; i < N; i++) assert_int_equal(range_decode(&d, &model), numbers[i]);
            assert_false(d.over);
            // learning costs something for each of the 2^bits beginnings
            assert_true((double)e.n < N * entropy / 8 * 1.06 + 0.9 * (1 << bits) + 200);
            free(numbers);
            free(e.data);
        }
}

static void make(NeuralNetwork *net) {
    assert_true(neural_network_init_siren(net, 13, 2, 4, message));
    NeuralRandom r;
    neural_random_init(&r, 6, 0);
    for (size_t i = 0; i < net->n_params; i++)
        net->params[i] += neural_random_uniform(&r, -0.3f, 0.3f);
}

static void round_trips(void **state) {
    (void)state;
    NeuralNetwork net, back;
    make(&net);
    size_t before = 0;
    for (unsigned bits = NEURAL_PACKED_MIN_BITS; bits <= NEURAL_PACKED_MAX_BITS; bits++) {
        size_t n;
        uint32_t w, h;
        unsigned char *data = neural_pack(&net, 640, 480, bits, &n, message);
        assert_non_null(data);
        assert_true(n > before); // more bits, more bytes
        before = n;
        assert_true(neural_packed_recognised(data, n));
        if (!neural_unpack(&back, &w, &h, data, n, "x.ingot", message)) fail_msg("%s", message);
        assert_int_equal(w, 640);
        assert_int_equal(h, 480);
        assert_int_equal(back.n_layers, net.n_layers);
        for (uint32_t i = 0; i < net.n_layers; i++) {
            const NeuralLayer *a = net.layers + i, *b = back.layers + i;
            assert_true(a->omega == b->omega && a->activation == b->activation);
            float most = 0;
            for (size_t k = 0; k < (size_t)a->n_in * a->n_out; k++)
                most = fmaxf(most, fabsf(a->weights[k]));
            float step = most / (float)((1 << (bits - 1)) - 1);
            for (size_t k = 0; k < (size_t)a->n_in * a->n_out; k++)
                assert_true(fabsf(a->weights[k] - b->weights[k]) <= 0.502f * step);
        }
        neural_network_free(&back);
        free(data);
    }
    neural_network_free(&net);
}

static void damage(void **state) {
    (void)state;
    NeuralNetwork net, back;
    uint32_t w, h;
    size_t n;
    make(&net);
    unsigned char *data = neural_pack(&net, 64, 48, 8, &n, message);
    for (size_t cut = 0; cut < n; cut++) {
        unsigned char *part = malloc(cut ? cut : 1); // of that size exactly
        memcpy(part, data, cut);
        assert_false(neural_unpack(&back, &w, &h, part, cut, "cut.ingot", message));
        assert_non_null(strstr(message, "cut.ingot: "));
        assert_null(back.params);
        free(part);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            data[i] ^= (unsigned char)(1 << bit);
            assert_false(neural_unpack(&back, &w, &h, data, n, "damaged.ingot", message));
            data[i] ^= (unsigned char)(1 << bit);
        }
    // A checksum that fits does not make a file good: sizes and bits are looked at too.
    for (size_t i = 4; i < 60; i++)
        for (int v = 0; v < 256; v += 5) {
            unsigned char was = data[i];
            data[i] = (unsigned char)v;
            uint32_t sum = 2166136261u;
            for (size_t k = 0; k < n - 4; k++) sum = (sum ^ data[k]) * 16777619u;
            for (int k = 0; k < 4; k++) data[n - 4 + (size_t)k] = (unsigned char)(sum >> 8 * k);
            if (neural_unpack(&back, &w, &h, data, n, "made.ingot", message))
                neural_network_free(&back);
            data[i] = was;
        }
    free(data);
    net.params[5] = INFINITY;
    assert_null(neural_pack(&net, 64, 48, 8, &n, message));
    assert_null(neural_pack(&net, 64, 48, 13, &n, message));
    neural_network_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(coder), cmocka_unit_test(round_trips),
                                       cmocka_unit_test(damage)};
    return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
