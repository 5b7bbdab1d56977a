// SPDX-License-Identifier: Apache-2.0
// compare_logits.c: one model on two back ends of libllama, the CPU's and Metal's: the same tokens
// in, the logits of every position compared, and the time of reading a prompt and of making tokens
// one at a time (generation): wall time and processor time (which says more on a busy machine).
// Prints what it found; leaves 1 if the squares of the differences are more than TOLERANCE of those
// of the logits. With quantised weights the CPU rounds activations too: 5e-4 is usual.
//     compare_logits MODEL.gguf [TOLERANCE [PROMPT [TOKENS [THREADS]]]]
#include <ggml-backend.h>
#include <llama.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Seconds {
    double clock, work;
} Seconds;

typedef struct Run {
    float *logits; // (prompt + tokens, vocabulary)
    Seconds prompt, token;
} Run;

static double read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Seconds since(Seconds start) {
    return (Seconds){read_clock(CLOCK_MONOTONIC) - start.clock,
                     read_clock(CLOCK_PROCESS_CPUTIME_ID) - start.work};
}

static void fail(const char *what) {
    fprintf(stderr, "compare_logits: %s\n", what);
    exit(2);
}

static void quiet(enum ggml_log_level level, const char *text, void *context) {
    (void)context;
    if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

// Tokens from a fixed sequence: what a model says plays no part, so that both runs read the same.
static llama_token token_at(int i, int n_vocab) {
    return (llama_token)((unsigned)(i * 2654435761u >> 7) % (unsigned)n_vocab);
}

static void decode(struct llama_context *context, int first, int n, int n_vocab, float *logits) {
    struct llama_batch batch = llama_batch_init(n, 0, 1);
    batch.n_tokens = n;
    for (int i = 0; i < n; i++) {
        batch.token[i] = token_at(first + i, n_vocab);
        batch.pos[i] = first + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = 1;
    }
    if (llama_decode(context, batch)) fail("llama_decode failed");
    for (int i = 0; i < n; i++)
        memcpy(logits + (size_t)(first + i) * (size_t)n_vocab, llama_get_logits_ith(context, i),
               sizeof(float) * (size_t)n_vocab);
    llama_batch_free(batch);
}

static Run run(const char *path, bool metal, int prompt, int tokens, int threads, int *n_vocab) {
    Run r = {0};
    ggml_backend_dev_t none[] = {NULL};
    struct llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = metal ? 99 : 0;
    if (!metal) mp.devices = none;
    struct llama_model *model = llama_model_load_from_file(path, mp);
    if (!model) fail("the model cannot be read");
    struct llama_context_params cp = llama_context_default_params();
    cp.n_ctx = 1024;
    cp.n_batch = cp.n_ubatch = (uint32_t)prompt;
    cp.n_threads = cp.n_threads_batch = threads;
    struct llama_context *context = llama_init_from_model(model, cp);
    if (!context) fail("no context");
    *n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    r.logits = malloc(sizeof(float) * (size_t)(prompt + tokens) * (size_t)*n_vocab);
    if (!r.logits) fail("out of memory");
    // Twice: the first pass makes the pipelines, the second is timed.
    for (int pass = 0; pass < 2; pass++) {
        llama_memory_clear(llama_get_memory(context), true);
        Seconds start = since((Seconds){0});
        decode(context, 0, prompt, *n_vocab, r.logits);
        r.prompt = since(start);
        start = since((Seconds){0});
        for (int i = 0; i < tokens; i++) decode(context, prompt + i, 1, *n_vocab, r.logits);
        r.token = since(start);
    }
    llama_free(context);
    llama_model_free(model);
    return r;
}

int main(int argc, char **argv) {
    if (argc < 2) fail("usage: compare_logits MODEL.gguf [TOLERANCE [PROMPT [TOKENS [THREADS]]]]");
    double tolerance = argc > 2 ? atof(argv[2]) : 1e-3;
    int prompt = argc > 3 ? atoi(argv[3]) : 512, tokens = argc > 4 ? atoi(argv[4]) : 64;
    int threads = argc > 5 ? atoi(argv[5]) : 2, n_vocab = 0;
    if (prompt < 1 || tokens < 1 || prompt + tokens > 1024) fail("1 to 1024 tokens in all");
    llama_log_set(quiet, NULL);
    ggml_backend_load_all();
    llama_backend_init();
    if (!ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) &&
        !ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU))
        fail("there is no Metal device");
    Run cpu = run(argv[1], false, prompt, tokens, threads, &n_vocab);
    Run metal = run(argv[1], true, prompt, tokens, threads, &n_vocab);
    double worst = 0, largest = 0, error = 0, power = 0;
    size_t n = (size_t)(prompt + tokens) * (size_t)n_vocab;
    for (size_t i = 0; i < n; i++) {
        double a = cpu.logits[i], d = fabs(a - metal.logits[i]);
        if (!(d <= worst)) worst = d; // a NaN is the worst
        largest = fmax(largest, fabs(a));
        error += d * d, power += a * a;
    }
    printf("%s: difference %.2g of %.2g at most, normalised error %.2g\n", argv[1], worst, largest,
           error / power);
    const struct {
        const char *what;
        int n;
        Seconds cpu, metal;
    } rows[] = {{"prompt", prompt, cpu.prompt, metal.prompt},
                {"generation", tokens, cpu.token, metal.token}};
    for (int i = 0; i < 2; i++)
        printf("  %s, %d tokens: CPU %.1f/s, Metal %.1f/s; per second of processor time: CPU %.1f, "
               "Metal %.1f\n",
               rows[i].what, rows[i].n, rows[i].n / rows[i].cpu.clock,
               rows[i].n / rows[i].metal.clock, rows[i].n / rows[i].cpu.work,
               rows[i].n / rows[i].metal.work);
    free(cpu.logits), free(metal.logits);
    llama_backend_free();
    return error <= tolerance * power ? 0 : 1; // not if one is a NaN
}
