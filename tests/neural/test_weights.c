// SPDX-License-Identifier: Apache-2.0
// Weights files: round trips of every model, what other trainers write, and every damage: the
// message is one line that names the file and the key.
#include "../base/testing.h"
#include "base/files.h"
#include "base/text.h"
#include "base/json_reader.h"
#include "apps/neural/weights.h"
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

static char message[MESSAGE_BYTES];

static const char *const small = // 2 -> 2 -> 3
    "{\"mlp\": {\"layers\": ["
    "{\"weights\": [[1, 2], [3.5e0, -4]], \"biases\": [0.1, 0.2]},"
    "{\"weights\": [[1, 2], [3, 4], [5, 6]], \"biases\": [0, 0, 1e-3]}]}}";

static bool parse(NeuralWeights *w, const char *text) {
    message[0] = 0;
    return neural_weights_parse(w, text, strlen(text), "net.json", message);
}

static void expect_error(const char *text, const char *key, const char *what) {
    NeuralWeights w;
    if (parse(&w, text)) fail_msg("was read: %.200s", text);
    if (strncmp(message, "net.json: ", 10) || !strstr(message, key) || !strstr(message, what))
        fail_msg("'%s' does not name '%s' and '%s'", message, key, what);
    assert_null(strchr(message, '\n'));
    assert_null(w.net.params);
}

static void reads_both_forms_of_mlp(void **state) {
    (void)state;
    NeuralWeights w;
    for (int bare = 0; bare < 2; bare++) {
        char text[1024];
        const char *layers = strchr(small, '[');
        if (bare) // without the object around the layers
            snprintf(text, sizeof text, "{\"mlp\": %.*s}", (int)strlen(layers) - 2, layers);
        else
            snprintf(text, sizeof text, "%s", small);
        assert_true(parse(&w, text));
        assert_int_equal(w.net.model, NEURAL_SIREN);
        assert_int_equal(w.net.n_layers, 2);
        assert_int_equal(w.net.n_coordinates, 2);
        assert_int_equal(w.net.layers[0].n_out, 2);
        assert_true(w.net.layers[0].weights[2] == 3.5f && w.net.layers[0].weights[3] == -4);
        assert_true(w.net.layers[0].biases[1] == 0.2f);
        assert_true(w.net.layers[1].weights[5] == 6 && w.net.layers[1].biases[2] == 1e-3f);
        assert_int_equal(w.net.layers[0].activation, NEURAL_SINE);
        assert_true(w.net.layers[0].omega == 30 && w.net.layers[1].omega == 1);
        assert_int_equal(w.net.layers[1].activation, NEURAL_SIGMOID);
        assert_int_equal(w.width, 0);
        neural_weights_free(&w);
    }
}

static void keys_in_any_order_and_unknown_ones(void **state) {
    (void)state;
    NeuralWeights w;
    const char *text =
        "\xef\xbb\xbf\n{\"samples\":[{\"value\":[0,0.5,1],\"position\":[-1,1],\"more\":null}],"
        "\"zoo\":{\"a\":[[],{},[1,{\"b\":\"\\u00e9\\n\"}],true,false,null,-0.5E+2]},"
        "\"model\":{\"type\":\"siren\",\"author\":\"x\"},"
        "\"metadata\":{\"image\":{\"height\":1080,\"width\":771,\"aspect_ratio\":0.71388888,"
        "\"by\":1},\"sdf\":null,\"mode\":\"image\"},\"sample_seed\":7,\"sample_count\":1,"
        "\"mlp\":[{\"biases\":[1,2,3],\"name\":\"out\",\"weights\":[[1,2],[3,4],[5,6]]}]}\n";
    if (!parse(&w, text)) fail_msg("%s", message);
    assert_int_equal(w.width, 771);
    assert_int_equal(w.height, 1080);
    assert_true(fabsf(w.aspect_ratio - 771.0f / 1080) < 1e-6f);
    assert_int_equal(w.n_samples, 1);
    assert_int_equal(w.sample_seed, 7);
    assert_true(w.samples[0].position[0] == -1 && w.samples[0].value[1] == 0.5f);
    assert_int_equal(w.net.n_layers, 1);
    assert_int_equal(w.net.layers[0].activation, NEURAL_SIGMOID);
    neural_weights_free(&w);
}

static void aspect_ratio_from_the_size(void **state) {
    (void)state;
    NeuralWeights w;
    assert_true(parse(&w,
                      "{\"metadata\":{\"mode\":\"image\",\"image\":{\"width\":20,\"height\":10}},"
                      "\"mlp\":[{\"biases\":[1,2,3],\"weights\":[[1,2],[3,4],[5,6]]}]}"));
    assert_true(w.aspect_ratio == 2);
    neural_weights_free(&w);
}

static void damage_is_named(void **state) {
    (void)state;
#define LAYER "{\"weights\":[[1,2],[3,4],[5,6]],\"biases\":[1,2,3]}"
#define REST ",\"mlp\":[" LAYER "]}"
    static const struct {
        const char *text, *key, *what;
    } cases[] = {
        {"", "", "the file ends"},
        {"   ", "", "the file ends"},
        {"hello", "", "not JSON"},
        {"[1]", "", "expected an object, but there is an array"},
        {"{}", "mlp", "missing"},
        {"{\"mlp\":{}}", "mlp.layers", "missing"},
        {"{\"mlp\":null}", "mlp", "expected an object"},
        {"{\"mlp\":[]}", "mlp", "no layer"},
        {"{\"mlp\":[1]}", "mlp[0]", "expected an object"},
        {"{\"mlp\":[{}]}", "mlp[0].weights", "missing"},
        {"{\"mlp\":[{\"weights\":[[1,2]]}]}", "mlp[0].biases", "missing"},
        {"{\"mlp\":{\"layers\":[" LAYER ",{\"weights\":[[1]],\"biases\":[1]}]}}", "mlp.layers[1]",
         "take 1 inputs"},
        {"{\"mlp\":[{\"weights\":[[1,2],[3]],\"biases\":[1]}]}", "mlp[0].weights[1]", "1 numbers"},
        {"{\"mlp\":[{\"weights\":[[1,2],3],\"biases\":[1]}]}", "mlp[0].weights[1]",
         "expected an array"},
        {"{\"mlp\":[{\"weights\":[],\"biases\":[1]}]}", "mlp[0].weights", "no row"},
        {"{\"mlp\":[{\"weights\":[[]],\"biases\":[1]}]}", "mlp[0].weights[0]", "empty"},
        {"{\"mlp\":[{\"weights\":[[1,2]],\"biases\":[1,2]}]}", "mlp[0]", "2 biases for 1"},
        {"{\"mlp\":[{\"weights\":[[1,NaN]],\"biases\":[1]}]}", "mlp[0].weights[0][1]", "NaN"},
        {"{\"mlp\":[{\"weights\":[[1,Infinity]],\"biases\":[1]}]}", "mlp[0].weights[0][1]", "NaN"},
        {"{\"mlp\":[{\"weights\":[[1,-Infinity]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "not a number"},
        {"{\"mlp\":[{\"weights\":[[1,1e39]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "too large"},
        {"{\"mlp\":[{\"weights\":[[1,1e999]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "too large"},
        {"{\"mlp\":[{\"weights\":[[1,\"2\"]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "there is a string"},
        {"{\"mlp\":[{\"weights\":[[1,01]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "not a number"},
        {"{\"mlp\":[{\"weights\":[[1,1.]],\"biases\":[1]}]}", "mlp[0].weights[0][1]",
         "not a number"},
        {"{\"mlp\":[{\"weights\":[[1,2],],\"biases\":[1]}]}", "mlp[0].weights[0]", "','"},
        {"{\"mlp\":[{\"weights\":[[1 2]],\"biases\":[1]}]}", "mlp[0].weights[0][0]",
         "expected ','"},
        {"{\"mlp\":[{\"weights\":[[1,2]],\"weights\":[[1,2]],\"biases\":[1]}]}", "mlp[0].weights",
         "duplicate"},
        {"{\"mlp\":[{\"weights\":[[1,2]],\"biases\":[1]}]}", "mlp.layers[0].weights",
         "1 outputs, not 3"},
        {"{\"mlp\":[{\"weights\":[[1],[2],[3]],\"biases\":[1,2,3]}]}", "mlp.layers[0].weights",
         "2 coordinates"},
        {"{\"mlp\":[" LAYER "]} x", "", "more after the end"},
        {"{\"mlp\":[" LAYER, "mlp[0]", "the file ends"},
        {"{\"metadata\":{}" REST, "metadata.mode", "missing"},
        {"{\"metadata\":3" REST, "metadata", "expected an object"},
        {"{\"metadata\":{\"mode\":\"video\"}" REST, "metadata.mode", "video"},
        {"{\"metadata\":{\"mode\":1}" REST, "metadata.mode", "expected a string"},
        {"{\"metadata\":{\"mode\":\"image\",\"image\":{\"width\":0}}" REST, "metadata.image.width",
         "whole number"},
        {"{\"metadata\":{\"mode\":\"image\",\"image\":{\"height\":1.5}}" REST,
         "metadata.image.height", "whole number"},
        {"{\"metadata\":{\"mode\":\"image\",\"image\":{\"aspect_ratio\":-1}}" REST,
         "metadata.image.aspect_ratio", "positive"},
        {"{\"model\":{\"type\":\"gan\"}" REST, "model.type", "gan"},
        {"{\"model\":{\"type\":\"instant-ngp\"}" REST, "encoding", "missing"},
        {"{\"model\":{\"type\":\"fourier\"}" REST, "fourier", "missing"},
        {"{\"fourier\":{\"sigma\":1}" REST, "fourier.B", "missing"},
        {"{\"fourier\":{\"B\":[[1],[2,3]]}" REST, "fourier.B[1]", "2 numbers"},
        {"{\"fourier\":{\"B\":[[1,5],[2,3]]}" REST, "mlp.layers[0].weights", "encoding"},
        {"{\"fourier\":{\"B\":[[1]]}" REST, "fourier.B", "2 coordinates"},
        {"{\"encoding\":{\"num_levels\":1}" REST, "encoding.features_per_level", "missing"},
        {"{\"encoding\":{\"num_levels\":99}" REST, "encoding.num_levels", "from 1 to 32"},
        {"{\"samples\":[{\"position\":[1,2]}]" REST, "samples[0].value", "missing"},
        {"{\"samples\":[{\"position\":[1],\"value\":[1,2,3]}]" REST, "samples[0].position",
         "1 numbers, not 2"},
        {"{\"samples\":[{\"position\":[1,2],\"value\":[1,2]}]" REST, "samples[0].value",
         "2 numbers, not 3"},
        {"{\"samples\":[{\"position\":[1,2,3,4],\"value\":[1,2,3]}]" REST, "samples[0].position[3]",
         "more than 3"},
        {"{\"samples\":{}" REST, "samples", "expected an array"},
        {"{\"training\":{\"first_moments\":[1],\"second_moments\":[1]}" REST,
         "training.first_moments", "1 numbers, not 9"},
        {"{\"a\":\"b", "", "does not end"},
        {"{\"a\":\"\\x\"" REST, "a", "bad escape"},
        {"{\"a\":\"\\u12g4\"" REST, "a", "bad escape"},
        {"{\"a\":tru" REST, "a", "not JSON"},
        {"{\"a\":nul" REST, "a", "not JSON"},
        {"{a:1" REST, "", "key in quotes"},
        {"{\"a\" 1" REST, "a", "':'"},
        {"{\"a\":\"\t\"" REST, "a", "control character"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, cases[i].key, cases[i].what);
}

static void every_cut_is_an_error(void **state) {
    (void)state;
    NeuralWeights w;
    for (size_t n = 0; n < strlen(small); n++) {
        char *cut = malloc(n ? n : 1); // of that size exactly: reading past it is seen
        memcpy(cut, small, n);
        assert_false(neural_weights_parse(&w, cut, n, "cut.json", message));
        free(cut);
    }
    char *text = strdup(small); // and every other byte does no harm
    for (size_t i = 0; text[i]; i++)
        for (int c = 1; c < 256; c += 9) {
            char was = text[i];
            text[i] = (char)c;
            if (parse(&w, text)) neural_weights_free(&w);
            text[i] = was;
        }
    free(text);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nesting_of_megabytes(void **state) {
    (void)state;
    const size_t n = 32 << 20;
    char *text = malloc(n + 64);
    static const char *const starts[] = {"", "{\"mlp\":", "{\"a\":", "{\"mlp\":[{\"weights\":"};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
        for (int brace = 0; brace < 2; brace++) {
            size_t at = strlen(starts[s]);
            memcpy(text, starts[s], at);
            if (brace)
                for (; at + 5 < n; at += 5) memcpy(text + at, "{\"a\":", 5);
            else
                memset(text + at, '[', n - at), at = n;
            NeuralWeights w;
            double began = now();
            assert_false(neural_weights_parse(&w, text, at, "deep.json", message));
            assert_true(now() - began < 5); // it is left at the limit, not at the end
            assert_int_equal(strncmp(message, "deep.json: ", 11), 0);
            assert_true(strlen(message) < 400);
        }
    free(text);
}

static void many_layers(void **state) {
    (void)state;
    for (int n = 16; n <= 17; n++) {
        Text t = {0};
        text_add(&t, "{\"mlp\":[");
        for (int i = 0; i + 1 < n; i++)
            text_add(&t, "{\"weights\":[[1,2],[3,4]],\"biases\":[1,2]},");
        text_add(&t, "{\"weights\":[[1,2],[3,4],[5,6]],\"biases\":[1,2,3]}]}");
        char *text = text_take(&t);
        NeuralWeights w;
        assert_int_equal(parse(&w, text), n == 16);
        if (n == 17) assert_non_null(strstr(message, "mlp[16]: more than 16 layers"));
        neural_weights_free(&w);
        free(text);
    }
}

static void fill(float *v, size_t n, NeuralRandom *r) {
    for (size_t i = 0; i < n; i++) { // numbers of all magnitudes, with all their digits
        v[i] = neural_random_uniform(r, -1, 1);
        if (i % 3 == 1) v[i] *= 1e-20f;
        if (i % 7 == 2) v[i] = ldexpf(v[i], (int)(neural_random_u32(r) % 200) - 120);
    }
}

static void round_trips(void **state) {
    (void)state;
    NeuralRandom r;
    neural_random_init(&r, 1, 2);
    for (int model = 0; model < 3; model++) {
        NeuralWeights a = {0}, b;
        const uint32_t sizes[] = {model == NEURAL_SIREN ? 2 : 8, 17, 5, 3};
        assert_true(neural_network_init(&a.net, 3, sizes, model ? NEURAL_RELU : NEURAL_SINE,
                                        NEURAL_SIGMOID, message));
        a.net.model = (NeuralModel)model;
        a.net.n_coordinates = 2;
        fill(a.net.params, a.net.n_params, &r);
        if (model == NEURAL_SIREN) {
            a.net.layers[0].omega = 12.5f, a.net.layers[1].omega = 3;
            a.net.coordinates = NEURAL_SIGNED_ENDS;
        } else if (model == NEURAL_INSTANT_NGP) {
            a.net.coordinates = NEURAL_UNIT_ENDS;
            a.net.grid = (NeuralHashGrid){4, 2, 5, 16, 128, malloc(4 * 32 * 2 * sizeof(float))};
            fill(a.net.grid.table, 4 * 32 * 2, &r);
        } else {
            a.net.fourier = (NeuralFourier){4, malloc(8 * sizeof(float))};
            fill(a.net.fourier.matrix, 8, &r);
        }
        a.width = 640, a.height = 480, a.aspect_ratio = 640.0f / 480;
        a.sample_seed = 99, a.n_samples = 3, a.samples = calloc(3, sizeof *a.samples);
        for (int i = 0; i < 3; i++)
            fill(a.samples[i].position, 2, &r), fill(a.samples[i].value, 3, &r);
        a.training.step = 1234567, a.training.seed = 42, a.training.batch = 2048;
        a.training.learning_rate = 1e-3 / 3;
        assert_true(neural_training_alloc(&a.training, a.net.n_params));
        fill(a.training.first_moments, a.net.n_params, &r);
        fill(a.training.second_moments, a.net.n_params, &r);

        size_t n, m;
        char *text = neural_weights_text(&a, &n, message);
        assert_non_null(text);
        assert_int_equal(n, strlen(text));
        if (!parse(&b, text)) fail_msg("%s", message);
        assert_int_equal(b.net.model, model);
        assert_int_equal(b.net.coordinates, a.net.coordinates);
        assert_int_equal(b.net.n_params, a.net.n_params);
        assert_memory_equal(a.net.params, b.net.params, a.net.n_params * sizeof(float));
        assert_true(a.net.layers[0].omega == b.net.layers[0].omega);
        assert_true(a.net.layers[1].omega == b.net.layers[1].omega);
        assert_int_equal(b.width, 640);
        assert_true(b.aspect_ratio == a.aspect_ratio);
        assert_int_equal(b.n_samples, 3);
        assert_memory_equal(a.samples, b.samples, 3 * sizeof *a.samples);
        if (a.net.grid.table) assert_memory_equal(a.net.grid.table, b.net.grid.table, 1024);
        if (a.net.fourier.matrix)
            assert_memory_equal(a.net.fourier.matrix, b.net.fourier.matrix, 8 * sizeof(float));
        assert_int_equal(b.training.step, 1234567);
        assert_true(b.training.learning_rate == a.training.learning_rate);
        assert_memory_equal(a.training.second_moments, b.training.second_moments,
                            a.net.n_params * sizeof(float));
        char *again = neural_weights_text(&b, &m, message); // and the text is the same
        assert_int_equal(n, m);
        assert_string_equal(text, again);
        free(text);
        free(again);
        neural_weights_free(&a);
        neural_weights_free(&b);
    }
}

static void short_tables_are_repeated(void **state) {
    (void)state;
    static const char *const data[] = {"", "1,2,3", "1,2,3,4,5,6,7,8", "1,2,3,4,5,6,7,8,9"};
    for (int i = 0; i < 4; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"encoding\":{\"num_levels\":1,\"features_per_level\":2,"
                 "\"log2_hashmap_size\":2,\"base_resolution\":16,\"max_resolution\":2048,"
                 "\"hash_table\":{\"shape\":[1,4,2],\"data\":[%s]}}" REST,
                 data[i]);
        NeuralWeights w;
        assert_int_equal(parse(&w, text), i < 3);
        if (i == 3) assert_non_null(strstr(message, "encoding.hash_table.data"));
        if (i == 0) assert_true(w.net.grid.table[7] == 0);
        if (i == 1) assert_true(w.net.grid.table[7] == 2 && w.net.grid.table[5] == 3);
        if (i < 3) assert_int_equal(w.net.model, NEURAL_INSTANT_NGP);
        neural_weights_free(&w);
    }
    expect_error("{\"encoding\":{\"num_levels\":1,\"features_per_level\":2,\"log2_hashmap_size\":2,"
                 "\"base_resolution\":16,\"max_resolution\":2048,\"hash_table\":{\"shape\":[1,4,3],"
                 "\"data\":[]}}" REST,
                 "encoding.hash_table.shape", "does not fit");
}

static void numbers_are_exact(void **state) {
    (void)state;
    static const char *const numbers[] = {"0.1",
                                          "-0.0",
                                          "1e-45",
                                          "3.4028235e38",
                                          "0.060312420129776",
                                          "1.17549435e-38",
                                          "123456789012345678901234567890",
                                          "9007199254740993",
                                          "1e22",
                                          "1e23",
                                          "0.000000000000000000000000000000000000001",
                                          "0.12228664010763168",
                                          "5e-324"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        JsonReader r;
        double d;
        json_begin(&r, numbers[i], strlen(numbers[i]), "n", message);
        assert_true(json_double(&r, &d));
        double want = strtod(numbers[i], NULL);
        assert_memory_equal(&d, &want, sizeof d);
    }
}

static void files(void **state) {
    (void)state;
    char *folder = testing_folder(), path[4096];
    NeuralWeights w, other;
    snprintf(path, sizeof path, "%s/w.json", folder);
    assert_false(neural_weights_load(&w, path, message));
    assert_non_null(strstr(message, path));
    assert_false(neural_weights_load(&w, folder, message));
    assert_true(file_write_atomic(path, "", 0, false));
    assert_false(neural_weights_load(&w, path, message));
    assert_non_null(strstr(message, "empty"));
    assert_true(parse(&w, small));
    assert_true(neural_weights_save(&w, path, message));
    assert_true(neural_weights_load(&other, path, message));
    neural_weights_free(&other);
    // What cannot be written leaves the file as it was: not finite, no room.
    w.net.params[3] = NAN;
    assert_false(neural_weights_save(&w, path, message));
    assert_non_null(strstr(message, "not finite"));
    w.net.params[3] = 1;
    struct rlimit limit, less = {16, 0};
    getrlimit(RLIMIT_FSIZE, &limit);
    less.rlim_max = limit.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &less);
    bool ok = neural_weights_save(&w, path, message);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_false(ok);
    assert_true(neural_weights_load(&other, path, message));
    assert_true(other.net.params[3] == -4);
    assert_int_equal(testing_count(folder, "."), 1);
    neural_weights_free(&other);
    neural_weights_free(&w);
    testing_remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_forms_of_mlp),
        cmocka_unit_test(keys_in_any_order_and_unknown_ones),
        cmocka_unit_test(aspect_ratio_from_the_size),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(every_cut_is_an_error),
        cmocka_unit_test(nesting_of_megabytes),
        cmocka_unit_test(many_layers),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(short_tables_are_repeated),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
