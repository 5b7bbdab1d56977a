// SPDX-License-Identifier: Apache-2.0
// bench_tensors_cases.c: what `ingot bench tensors` measures. A run is what a user does: record the
// operation, wait for its result, let it go. Two ways of one thing are run in turns, so that both
// see the same machine.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ingot/tensor_nn.h"
#include "apps/tools/bench_tensors.h"
#include "apps/tools/tools.h"

typedef enum Kind {
    MATMUL,
    ADD,
    MUL,
    RELU,
    GELU,
    SUM,
    TO_DEVICE,
    TO_HOST,
    ADD_RELU,
    AFFINE_RELU,
    MATMUL_GELU,
    LINEAR_RESIDUAL_RELU,
    GELU_LINEAR,
    CHAIN, // small operations, a kernel each
    JOINED // the same, one kernel
} Kind;

enum { CHAIN_LENGTH = 1000 };

typedef struct Job {
    IgDevice *device;
    Kind kind;
    bool separate; // a kernel for every operation
    IgTensor *in[4];
    void *host;
    size_t n_bytes;
} Job;

typedef struct Run {
    const BenchOptions *options;
    BenchReport *report;
    IgDevice *device, *unpooled;
    MTLError *error;
} Run;

// ---- One run ----

// Of an operation on the way to the result.
static IgTensor *between(const Job *j, IgTensor *t, MTLError **e) {
    return t && (!j->separate || ig_eval(t, e)) ? t : NULL;
}

static IgTensor *chain(const Job *j, MTLError **e) {
    IgTensor *t = ig_keep(ig_add_scalar(j->in[0], 0.5, e));
    for (int i = 1; t && i < CHAIN_LENGTH; i++) {
        IgTensor *next = ig_add_scalar(t, 0.5, e);
        if (next) ig_keep(next);
        if (next && j->kind == CHAIN && !ig_eval(next, e)) {
            ig_release(next);
            next = NULL;
        }
        ig_release(t);
        t = next;
    }
    return t;
}

static IgTensor *compute(const Job *j, MTLError **e) {
    IgTensor *const *in = j->in;
    switch (j->kind) {
    case MATMUL: return ig_matmul(in[0], in[1], e);
    case ADD: return ig_add(in[0], in[1], e);
    case MUL: return ig_mul(in[0], in[1], e);
    case RELU: return ig_relu(in[0], e);
    case GELU: return ig_gelu(in[0], e);
    case SUM: return ig_sum(in[0], IG_ALL, false, e);
    case ADD_RELU: return ig_relu(between(j, ig_add(in[0], in[1], e), e), e);
    case AFFINE_RELU: {
        IgTensor *scaled = between(j, ig_mul(in[0], in[1], e), e);
        return ig_relu(between(j, ig_add(scaled, in[2], e), e), e);
    }
    case MATMUL_GELU: return ig_gelu(between(j, ig_matmul(in[0], in[1], e), e), e);
    case LINEAR_RESIDUAL_RELU: {
        IgTensor *product = between(j, ig_matmul(in[0], in[1], e), e);
        IgTensor *sum = between(j, ig_add(product, in[2], e), e);
        return ig_relu(between(j, ig_add(sum, in[3], e), e), e);
    }
    case GELU_LINEAR: {
        IgTensor *product = ig_matmul(between(j, ig_gelu(in[0], e), e), in[1], e);
        return ig_add(between(j, product, e), in[2], e);
    }
    default: return chain(j, e);
    }
}

static bool run_once(const Job *j, MTLError **e) {
    if (j->kind == TO_DEVICE) return ig_write(j->in[0], j->host, j->n_bytes, e);
    if (j->kind == TO_HOST) return ig_read(j->in[0], j->host, j->n_bytes, e);
    IgScope *scope = ig_scope_begin();
    IgTensor *result = compute(j, e);
    bool ok = result && ig_eval(result, e) && ig_device_synchronize(j->device, e);
    if (j->kind >= CHAIN) ig_release(result);
    ig_scope_end(scope);
    return ok;
}

// ---- Many runs ----

// The row of the first way; the mean of the second one, if there is one, is other_ms.
static bool measure(Run *r, BenchRow *row, const Job *ways, int n_ways, double flops,
                    double bytes) {
    const BenchOptions *o = r->options;
    double sums[2] = {0, 0}, begin = 0;
    row->min_ms = 1e30;
    for (int k = -o->warmups; k < o->runs; k++) {
        if (k <= 0) begin = seconds_now();
        if (k >= 3 && seconds_now() - begin > o->seconds) break;
        for (int w = 0; w < n_ways; w++) {
            double t = seconds_now();
            if (!run_once(&ways[w], &r->error)) return false;
            t = (seconds_now() - t) * 1e3;
            if (k < 0) continue;
            sums[w] += t;
            if (w) continue;
            row->runs = k + 1;
            row->min_ms = t < row->min_ms ? t : row->min_ms;
            row->max_ms = t > row->max_ms ? t : row->max_ms;
        }
    }
    row->avg_ms = sums[0] / row->runs;
    row->other_ms = sums[1] / row->runs;
    if (ways[0].kind >= CHAIN)
        row->avg_ms /= CHAIN_LENGTH, row->min_ms /= CHAIN_LENGTH, row->max_ms /= CHAIN_LENGTH;
    row->gflops = flops / row->avg_ms * 1e-6;
    row->gbs = bytes / row->avg_ms * 1e-6;
    return true;
}

static bool wanted(const Run *r, const char *operation) {
    return (!r->options->only || strstr(operation, r->options->only)) &&
           r->report->n < BENCH_MAX_ROWS;
}

// Measures a job in one or two ways: a row of the report.
static bool add_row(Run *r, BenchGroup group, const char *operation, const char *size,
                    const Job *ways, int n_ways, double flops, double bytes) {
    BenchRow *row = &r->report->rows[r->report->n];
    *row = (BenchRow){.group = group};
    snprintf(row->operation, sizeof row->operation, "%s", operation);
    snprintf(row->size, sizeof row->size, "%s", size);
    if (!measure(r, row, ways, n_ways, flops, bytes)) return false;
    r->report->n++;
    return true;
}

static void release_all(Job *j) {
    for (int i = 0; i < 4; i++) {
        ig_release(j->in[i]);
        j->in[i] = NULL;
    }
}

static IgTensor *numbers(IgDevice *device, IgType type, int64_t rows, int64_t columns, int seed,
                         MTLError **e) {
    IgTensor *t = ig_uniform(device, type, rows ? 2 : 1,
                             rows ? (int64_t[]){rows, columns} : (int64_t[]){columns, 0}, -1, 1,
                             (uint64_t)seed, e);
    if (t && ig_eval(t, e)) return t;
    ig_release(t);
    return NULL;
}

// Tensors of the same shape for all its inputs. False: the error says why.
static bool give_inputs(Job *j, int n, IgType type, int64_t rows, int64_t columns, MTLError **e) {
    for (int i = 0; i < n; i++)
        if (!(j->in[i] = numbers(j->device, type, rows, columns, i + 1, e))) return false;
    return true;
}

// ---- The table of the seed ----

static const char *short_name(IgType type) { return type == IgFloat16 ? "f16" : "f32"; }

static bool matmuls(Run *r, IgType type) {
    static const int64_t sizes[] = {64, 128, 256, 512, 1024, 2048}, quick[] = {16, 64};
    char name[32], size[24];
    bool ok = true;
    snprintf(name, sizeof name, "matmul %s", short_name(type));
    if (!wanted(r, name)) return true;
    for (int i = 0; ok && i < (r->options->quick ? 2 : 6); i++) {
        int64_t n = r->options->quick ? quick[i] : sizes[i];
        Job j = {.device = r->device, .kind = MATMUL};
        double d = (double)n, bytes = 3 * d * d * (double)ig_type_size(type);
        snprintf(size, sizeof size, "%lldx%lld", (long long)n, (long long)n);
        ok = give_inputs(&j, 2, type, n, n, &r->error) &&
             add_row(r, BENCH_MATMUL, name, size, &j, 1, 2 * d * d * d, bytes);
        release_all(&j);
    }
    return ok;
}

typedef struct Simple {
    Kind kind;
    const char *name;
    BenchGroup group;
    int n_inputs, n_tensors; // read; read and written
    double flops;            // per element
} Simple;

static bool simple(Run *r, const Simple *s, IgType type) {
    static const int64_t sizes[] = {1000, 10000, 100000, 1000000, 16777216}, quick[] = {1, 1000};
    char name[32], size[24];
    bool ok = true;
    snprintf(name, sizeof name, "%s %s", s->name, short_name(type));
    if (!wanted(r, name)) return true;
    for (int i = 0; ok && i < (r->options->quick ? 2 : 5); i++) {
        int64_t n = r->options->quick ? quick[i] : sizes[i];
        Job j = {.device = r->device, .kind = s->kind};
        snprintf(size, sizeof size, "%lld", (long long)n);
        ok = give_inputs(&j, s->n_inputs, type, 0, n, &r->error) &&
             add_row(r, s->group, name, size, &j, 1, s->flops * (double)n,
                     (double)s->n_tensors * (double)n * (double)ig_type_size(type));
        release_all(&j);
    }
    return ok;
}

static bool transfers(Run *r, Kind kind) {
    const char *name = kind == TO_DEVICE ? "host to device f16" : "device to host f16";
    bool ok = true;
    if (!wanted(r, name)) return true;
    for (int64_t n = 1024; ok && n <= (r->options->quick ? 1024 : 1024000); n *= 10) {
        Job j = {.device = r->device, .kind = kind, .n_bytes = (size_t)n * 2};
        char size[24];
        snprintf(size, sizeof size, "%lld", (long long)n);
        j.host = must_alloc(j.n_bytes, 1);
        ok = give_inputs(&j, 1, IgFloat16, 0, n, &r->error) &&
             add_row(r, BENCH_TRANSFER, name, size, &j, 1, 0, (double)j.n_bytes);
        release_all(&j);
        free(j.host);
    }
    return ok;
}

// ---- Two ways ----

static bool two_ways(Run *r, BenchGroup group, const char *name, const char *size, Job *j,
                     double flops) {
    Job ways[2] = {*j, *j};
    ways[1].separate = true;
    return add_row(r, group, name, size, ways, 2, flops, 0);
}

static bool fusions(Run *r) {
    static const int64_t lengths[] = {10000, 1000000, 16777216}, sides[] = {128, 256, 512, 1024};
    static const struct {
        Kind kind;
        const char *name;
        int n;
        bool matrices;
    } cases[] = {{ADD_RELU, "add + relu", 2, false},
                 {AFFINE_RELU, "x * s + b, relu", 3, false},
                 {MATMUL_GELU, "matmul + gelu", 2, true},
                 {LINEAR_RESIDUAL_RELU, "linear + residual + relu", 4, true},
                 {GELU_LINEAR, "gelu + linear", 3, true}};
    bool ok = true;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (!wanted(r, cases[c].name)) continue;
        int n_sizes = r->options->quick ? 1 : cases[c].matrices ? 4 : 3;
        for (int i = 0; ok && i < n_sizes; i++) {
            int64_t n = cases[c].matrices ? sides[i] : lengths[i];
            Job j = {.device = r->device, .kind = cases[c].kind};
            char size[24];
            snprintf(size, sizeof size, cases[c].matrices ? "%lld cubed" : "%lld", (long long)n);
            ok = give_inputs(&j, cases[c].n, IgFloat32, cases[c].matrices ? n : 0, n, &r->error) &&
                 two_ways(r, BENCH_FUSION, cases[c].name, size, &j, 0);
            release_all(&j);
        }
    }
    return ok;
}

// The same operation on a device whose pool keeps nothing.
static bool pooling(Run *r) {
    static const int64_t lengths[] = {1000, 100000, 1000000};
    bool ok = true;
    if (!wanted(r, "add into new memory")) return true;
    for (int i = 0; ok && i < (r->options->quick ? 1 : 3); i++) {
        Job ways[2] = {{.device = r->device, .kind = ADD}, {.device = r->unpooled, .kind = ADD}};
        char size[24];
        snprintf(size, sizeof size, "%lld", (long long)lengths[i]);
        ok = give_inputs(&ways[0], 2, IgFloat32, 0, lengths[i], &r->error) &&
             give_inputs(&ways[1], 2, IgFloat32, 0, lengths[i], &r->error) &&
             add_row(r, BENCH_POOL, "add into new memory", size, ways, 2, 0, 0);
        release_all(&ways[0]);
        release_all(&ways[1]);
    }
    return ok;
}

static bool launches(Run *r) {
    static const char *const names[2] = {"small operation", "small operation, fused"};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        Job j = {.device = r->device, .kind = i ? JOINED : CHAIN};
        if (!wanted(r, names[i])) continue;
        ok = give_inputs(&j, 1, IgFloat32, 0, 256, &r->error) &&
             add_row(r, BENCH_LAUNCH, names[i], "256", &j, 1, 0, 0);
        release_all(&j);
    }
    return ok;
}

// ---- A training loop ----

enum { N_LAYERS = 3 };
typedef struct Net {
    IgTensor *x, *classes;
    IgTensor *parameters[2 * N_LAYERS];
    IgOptimizer *optimizer;
} Net;

static void release_net(Net *net) {
    ig_optimizer_release(net->optimizer);
    for (int i = 0; i < 2 * N_LAYERS; i++) ig_release(net->parameters[i]);
    ig_release(net->x);
    ig_release(net->classes);
}

static bool make_net(Net *net, IgDevice *device, const int64_t sizes[N_LAYERS + 1], int64_t batch,
                     MTLError **e) {
    int32_t *classes = must_alloc((size_t)batch, sizeof *classes);
    for (int64_t i = 0; i < batch; i++) classes[i] = (int32_t)((i * 7 + 3) % sizes[N_LAYERS]);
    net->classes = ig_from_data(device, IgInt32, 1, &batch, classes, e);
    free(classes);
    net->x = numbers(device, IgFloat32, batch, sizes[0], 1, e);
    for (int l = 0; l < N_LAYERS; l++) {
        double range = 1.0 / (double)sizes[l] * 8;
        net->parameters[2 * l] =
            ig_uniform(device, IgFloat32, 2, &sizes[l], -range, range, (uint64_t)l + 2, e);
        net->parameters[2 * l + 1] = ig_zeros(device, IgFloat32, 1, &sizes[l + 1], e);
        for (int i = 2 * l; i < 2 * l + 2; i++)
            if (!ig_set_requires_grad(net->parameters[i], true, e)) return false;
    }
    IgOptimizerOptions options = ig_optimizer_defaults(IgSGD);
    options.momentum = 0.9;
    net->optimizer = ig_optimizer_new(IgSGD, 2 * N_LAYERS, net->parameters, &options, e);
    return net->x && net->classes && net->optimizer;
}

static bool train_step(Net *net, MTLError **e) {
    IgScope *scope = ig_scope_begin();
    IgTensor *h = net->x;
    for (int l = 0; l < N_LAYERS; l++) {
        h = ig_add(ig_matmul(h, net->parameters[2 * l], e), net->parameters[2 * l + 1], e);
        if (l < N_LAYERS - 1) h = ig_relu(h, e);
    }
    IgTensor *loss = ig_cross_entropy_loss(h, net->classes, IgReduceMean, e);
    double value;
    bool ok = loss && ig_backward(loss, NULL, NULL, e) && ig_optimizer_step(net->optimizer, e) &&
              ig_item(loss, &value, e);
    ig_optimizer_zero_grad(net->optimizer);
    ig_scope_end(scope);
    return ok;
}

static bool training(Run *r) {
    static const int64_t large[] = {784, 512, 512, 10}, small[] = {8, 16, 16, 4};
    const BenchOptions *o = r->options;
    const int64_t *sizes = o->quick ? small : large, batch = o->quick ? 16 : 256;
    const char *name = "training step";
    if (!wanted(r, name)) return true;
    BenchRow *row = &r->report->rows[r->report->n];
    *row = (BenchRow){.group = BENCH_TRAINING, .min_ms = 1e30};
    snprintf(row->operation, sizeof row->operation, "%s", name);
    snprintf(row->size, sizeof row->size, o->quick ? "8-16-16-4 x 16" : "784-512-512-10x256");
    Net net = {0};
    IgPool *pool = ig_device_pool(r->device);
    IgPoolStatistics first = {0}, last;
    IgDeviceStatistics before = {0}, after;
    bool ok = make_net(&net, r->device, sizes, batch, &r->error);
    double begin = seconds_now();
    int warmups = o->warmups > 2 ? o->warmups : 2;
    for (int k = -warmups; ok && k < o->runs; k++) {
        if (k == 0) {
            first = ig_pool_statistics(pool);
            before = ig_device_statistics(r->device);
            begin = seconds_now();
        }
        if (k >= 3 && seconds_now() - begin > 2 * o->seconds) break;
        double t = seconds_now();
        ok = train_step(&net, &r->error);
        t = (seconds_now() - t) * 1e3;
        if (k < 0) continue;
        row->avg_ms += t;
        row->runs = k + 1;
        row->min_ms = t < row->min_ms ? t : row->min_ms;
        row->max_ms = t > row->max_ms ? t : row->max_ms;
    }
    last = ig_pool_statistics(pool);
    after = ig_device_statistics(r->device);
    release_net(&net);
    if (!ok) return false;
    double flops = 0; // forward, gradients of weights, gradients of all inputs but the first
    for (int l = 0; l < N_LAYERS; l++)
        flops += (l ? 6.0 : 4.0) * (double)(batch * sizes[l] * sizes[l + 1]);
    row->avg_ms /= row->runs;
    row->gflops = flops / row->avg_ms * 1e-6;
    BenchReport *report = r->report;
    report->n++;
    report->trained = true;
    report->reuse = (double)(last.reuse_count - first.reuse_count) /
                    (double)(last.allocation_count - first.allocation_count);
    report->kernels_per_step = (double)(after.kernels - before.kernels) / row->runs;
    report->growth = (int64_t)(last.live_memory - first.live_memory);
    return true;
}

// ---- All ----

static bool run_all(Run *r) {
    static const Simple cases[] = {{ADD, "add", BENCH_ELEMENTWISE, 2, 3, 1},
                                   {MUL, "mul", BENCH_ELEMENTWISE, 2, 3, 1},
                                   {RELU, "relu", BENCH_ELEMENTWISE, 1, 2, 1},
                                   {GELU, "gelu", BENCH_ELEMENTWISE, 1, 2, 8},
                                   {SUM, "sum", BENCH_REDUCTION, 1, 1, 1}};
    bool ok = matmuls(r, IgFloat16) && matmuls(r, IgFloat32);
    for (size_t i = 0; ok && i < sizeof cases / sizeof *cases; i++)
        ok = simple(r, &cases[i], IgFloat16) && simple(r, &cases[i], IgFloat32);
    return ok && transfers(r, TO_DEVICE) && transfers(r, TO_HOST) && fusions(r) && pooling(r) &&
           launches(r) && training(r);
}

bool bench_tensors_run(const BenchOptions *options, BenchReport *report) {
    setenv("INGOT_SYNC_SPECIALISE", "1", 0); // measure the code, not the wait for it
    MTLDevice *metal = open_device("bench tensors");
    if (!metal) return false;
    Run r = {.options = options, .report = report};
    snprintf(report->device, sizeof report->device, "%s", mtl_device_name(metal));
    report->threads = mtl_device_worker_count(metal);
    r.device = ig_device_new(metal, &r.error);
    r.unpooled = r.device ? ig_device_new(metal, &r.error) : NULL;
    if (r.unpooled) ig_pool_set_capacity(ig_device_pool(r.unpooled), 0);
    bool ok = r.unpooled && run_all(&r);
    if (!ok)
        complain(EXIT_INPUT, "bench tensors", "%s",
                 r.error ? mtl_error_localized_description(r.error) : "out of memory");
    mtl_release(r.error);
    ig_device_release(r.unpooled);
    ig_device_release(r.device);
    mtl_release(metal);
    return ok;
}
