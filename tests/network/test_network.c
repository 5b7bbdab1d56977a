// SPDX-License-Identifier: Apache-2.0
// test_network.c: a package becomes sizes, places and dispatches, without a device: which kernels
// run on what, that intermediates do not lie on each other, and every allocation failing once.
#include "../base/testing.h"
#include "base/files.h"
#include "runtime/network/network.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Memory that fails ----

static long left = -1, live; // allocations until one fails; -1: none does

static bool refused(void) { return left >= 0 && left-- == 0; }

static void *take(size_t n) {
    void *p = refused() ? NULL : calloc(1, n ? n : 1);
    live += p != NULL;
    return p;
}
static void *take_aligned(size_t n, size_t alignment) {
    void *p = NULL;
    if (refused() || posix_memalign(&p, alignment, n)) return NULL;
    live++;
    return p;
}
static void give(void *p) {
    live -= p != NULL;
    free(p);
}
static bool grow(void *array, size_t *capacity, size_t n, size_t size) {
    if (n <= *capacity) return true;
    void *old;
    memcpy(&old, array, sizeof old);
    void *more = refused() ? NULL : realloc(old, n * 2 * size);
    if (!more) return false;
    live += old == NULL;
    memcpy(array, &more, sizeof more);
    *capacity = n * 2;
    return true;
}
static char *copy(const char *s) {
    char *p = take(strlen(s ? s : "") + 1);
    return p ? strcpy(p, s ? s : "") : NULL;
}
static const NetMemory memory = {take, take_aligned, give, grow, copy};

// ---- A package ----

static char folder[] = "/tmp/ingot-network-XXXXXX";

// (4, 8) times (4, 4) in two layers, and the sum of both: three results that are alive at once.
static const char graph[] =
    "{\"name\": \"main\", \"type\": \"float32\","
    " \"inputs\": [{\"name\": \"x\", \"dimensions\": [4, 8]}],"
    " \"constants\": [{\"name\": \"w\", \"dimensions\": [4, 4], \"data\":"
    "  [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}, {\"name\": \"b\", \"data\": [1, 2, 3, 4]}],"
    " \"operations\": ["
    "  {\"op\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"a\"},"
    "  {\"op\": \"gelu\", \"inputs\": [\"a\"], \"output\": \"g\"},"
    "  {\"op\": \"matmul\", \"inputs\": [\"g\", \"w\"], \"transpose_b\": true, \"output\": \"c\"},"
    "  {\"op\": \"add\", \"inputs\": [\"c\", \"b\"], \"output\": \"d\"},"
    "  {\"op\": \"add\", \"inputs\": [\"d\", \"a\"], \"output\": \"y\"}],"
    " \"outputs\": [{\"name\": \"y\"}]}";

static int write_package(void **state) {
    (void)state;
    char path[64];
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/network.json", folder);
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fputs(graph, f);
    return fclose(f);
}

static int remove_package(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/network.json", folder);
    unlink(path);
    return rmdir(folder);
}

typedef struct Seen {
    NetKernel kernels[16];
    uint32_t threads[16];
    int n;
} Seen;

static bool see(void *context, const NetDispatch *d) {
    Seen *s = context;
    if (s->n == 16) return false;
    assert_true(d->what && d->n_bytes && d->group_size);
    for (int i = 0; i < 3; i++) assert_true(d->groups[i] > 0 && d->threads[i] > 0);
    s->kernels[s->n] = d->kernel;
    s->threads[s->n++] = d->threads[0] * d->threads[1] * d->threads[2];
    return true;
}

// Operands of a run; the tensors of the program lie in `tensors`.
static void place(const Network *net, const NetPlan *plan, char *heap, char *tensors,
                  NetOperand *operands) {
    for (size_t i = 0; i < net->n_values; i++) {
        const NetPlace *p = &plan->places[i];
        operands[i] = (NetOperand){.shape = plan->shapes[i]};
        operands[i].data = p->where == NET_IN_HEAP       ? heap + p->offset
                           : p->where == NET_IN_CONSTANT ? (char *)(uintptr_t)p->data
                                                         : tensors + 4096 * p->index;
        int64_t packed = 1;
        for (uint32_t k = 0; k < operands[i].shape.rank; k++) {
            operands[i].strides[k] = operands[i].shape.n[k] > 1 ? packed : 0;
            packed *= operands[i].shape.n[k];
        }
    }
}

static const NetValue *value(const Network *net, const char *name, size_t *i) {
    for (*i = 0; *i < net->n_values; ++*i)
        if (!strcmp(net->values[*i].name, name)) return &net->values[*i];
    fail_msg("there is no value '%s'", name);
    return NULL;
}

// A stranger's package whose weights are a link to a file of the reader.
static void links_are_not_followed(void **state) {
    (void)state;
    static const char linked[] = "{\"name\": \"main\", \"type\": \"float32\","
                                 " \"inputs\": [{\"name\": \"x\", \"dimensions\": [4]}],"
                                 " \"constants\": [{\"name\": \"w\", \"dimensions\": [4],"
                                 "  \"file\": \"w.bin\"}],"
                                 " \"operations\": [{\"op\": \"add\", \"inputs\": [\"x\", \"w\"],"
                                 "  \"output\": \"y\"}], \"outputs\": [{\"name\": \"y\"}]}";
    char package[] = "/tmp/ingot-links-XXXXXX", json[64], weights[64], real[64];
    char message[JSON_MESSAGE_BYTES];
    assert_non_null(mkdtemp(package));
    snprintf(json, sizeof json, "%s/network.json", package);
    snprintf(weights, sizeof weights, "%s/w.bin", package);
    snprintf(real, sizeof real, "%s/real.bin", package);
    assert_true(file_write_atomic(json, linked, strlen(linked), false));
    assert_true(file_write_atomic(real, (float[4]){1, 2, 3, 4}, 16, false));
    assert_int_equal(symlink("real.bin", weights), 0);
    assert_null(network_read(&memory, package, message));
    assert_non_null(strstr(message, "'w.bin' is a symbolic link"));
    assert_int_equal(rename(real, weights), 0);
    Network *net = network_read(&memory, package, message);
    if (!net) fail_msg("%s", message);
    network_free(net);
    assert_int_equal(rename(json, real), 0);
    assert_int_equal(symlink("real.bin", json), 0);
    assert_null(network_read(&memory, package, message));
    assert_int_equal(unlink(json) | unlink(weights) | unlink(real) | rmdir(package), 0);
}

static void from_package_to_dispatches(void **state) {
    (void)state;
    char message[JSON_MESSAGE_BYTES];
    Network *net = network_read(&memory, folder, message);
    if (!net) fail_msg("%s", message);
    assert_string_equal(net->name, "main");
    bool needed[NET_N_KERNELS];
    network_kernels_needed(net, needed);
    for (int i = 0; i < NET_N_KERNELS; i++) {
        bool wanted = i == NET_KERNEL_FLAT || i == NET_KERNEL_EACH || i == NET_KERNEL_MATMUL ||
                      i == NET_KERNEL_MATMUL + 2;
        assert_int_equal(needed[i], wanted);
        assert_non_null(strstr(network_source(), network_kernel_name((NetKernel)i)));
    }

    NetPlan plan;
    if (!network_plan(net, &(MTL4MachineLearningPipelineDescriptor){0}, &plan, message))
        fail_msg("%s", message);
    size_t a, g, c, y;
    value(net, "a", &a), value(net, "g", &g), value(net, "c", &c);
    assert_true(value(net, "y", &y)->is_output);
    assert_int_equal(plan.places[y].where, NET_IN_TENSOR);
    assert_int_equal(plan.shapes[c].n[0], 4);
    assert_int_equal(plan.shapes[c].n[1], 8);
    // a lives to the end; g and c are alive at the same time.
    size_t places[3] = {plan.places[a].offset, plan.places[g].offset, plan.places[c].offset};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++) {
            size_t apart = places[i] > places[k] ? places[i] - places[k] : places[k] - places[i];
            assert_true(apart >= 4 * 8 * 4);
        }
    assert_true(plan.heap_bytes >= 3 * 4 * 8 * 4);

    NetOperand operands[16];
    assert_true(net->n_values <= 16);
    char *heap = calloc(1, plan.heap_bytes), *tensors = calloc(2, 4096);
    place(net, &plan, heap, tensors, operands);
    Seen seen = {.n = 0};
    assert_true(network_encode(net, operands, see, &seen));
    const NetKernel wanted[] = {NET_KERNEL_MATMUL, NET_KERNEL_FLAT, NET_KERNEL_MATMUL + 2,
                                NET_KERNEL_EACH, NET_KERNEL_FLAT};
    assert_int_equal(seen.n, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(seen.kernels[i], wanted[i]);
    assert_int_equal(seen.threads[0], 128); // a tile
    assert_int_equal(seen.threads[1], 4 * 8);
    seen.n = 16; // who takes them gives up
    assert_false(network_encode(net, operands, see, &seen));
    free(heap), free(tensors);
    network_plan_free(net, &plan);
    network_free(net);
    assert_int_equal(live, 0);
}

static void sizes_that_do_not_fit(void **state) {
    (void)state;
    char message[JSON_MESSAGE_BYTES];
    Network *net = network_read(&memory, folder, message);
    const MTL4MachineLearningInputDimensions other = {0, {.rank = 2, .extents = {5, 8}}};
    NetPlan plan;
    assert_false(network_plan(net,
                              &(MTL4MachineLearningPipelineDescriptor){.input_dimensions = &other,
                                                                       .input_dimension_count = 1},
                              &plan, message));
    assert_non_null(strstr(message, "operation 0, 'matmul' that makes 'a'"));
    network_plan_free(net, &plan);
    network_free(net);
    assert_int_equal(live, 0);
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    char message[JSON_MESSAGE_BYTES];
    bool done = false;
    for (long n = 0; !done && n < 200; n++) {
        left = n;
        Network *net = network_read(&memory, folder, message);
        NetPlan plan = {0};
        done =
            net && network_plan(net, &(MTL4MachineLearningPipelineDescriptor){0}, &plan, message);
        left = -1;
        if (!done) assert_string_equal(message, ""); // no memory has no message
        if (net) network_plan_free(net, &plan);
        network_free(net);
        assert_int_equal(live, 0);
    }
    assert_true(done);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(from_package_to_dispatches),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests_name("network", tests, write_package, remove_package);
}
