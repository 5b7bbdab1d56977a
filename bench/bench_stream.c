// SPDX-License-Identifier: Apache-2.0
// bench_stream.c: what the memory of this machine gives, after McCalpin's STREAM: copy, scale, add
// and triad over arrays of 16M floats, as compiled loops and with stores that go around the caches.
// usage: bench_stream [threads, 2]. Tab-separated: name, GB/s (the best of ten, bytes as STREAM
// counts them: what the loop reads and writes).
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N ((size_t)1 << 24)
#define MAX_THREADS 64
#define REPEATS 10

typedef enum Kind { COPY, SCALE, ADD, TRIAD, N_KINDS } Kind;
static const char *const names[N_KINDS] = {"copy", "scale", "add", "triad"};
static const int n_arrays[N_KINDS] = {2, 2, 3, 3};

static float *a, *b, *c;
static int n_threads = 2;
static pthread_barrier_t barrier;

typedef struct Job {
    Kind kind;
    int around; // the caches
    size_t first, end;
    double begin, finish; // seconds
} Job;

static void run_plain(Kind kind, size_t i, size_t end) {
    switch (kind) {
    case COPY:
        for (; i < end; i++) c[i] = a[i];
        break;
    case SCALE:
        for (; i < end; i++) c[i] = 3.0f * a[i];
        break;
    case ADD:
        for (; i < end; i++) c[i] = a[i] + b[i];
        break;
    default:
        for (; i < end; i++) c[i] = a[i] + 3.0f * b[i];
    }
}

__attribute__((target("avx2,fma"))) static void run_around(Kind kind, size_t i, size_t end) {
    __m256 three = _mm256_set1_ps(3.0f);
    for (; i < end; i += 8) {
        __m256 x = _mm256_load_ps(a + i);
        if (kind == SCALE) x = _mm256_mul_ps(x, three);
        if (kind == ADD) x = _mm256_add_ps(x, _mm256_load_ps(b + i));
        if (kind == TRIAD) x = _mm256_fmadd_ps(_mm256_load_ps(b + i), three, x);
        _mm256_stream_ps(c + i, x);
    }
    _mm_sfence();
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *argument) {
    Job *job = argument;
    pthread_barrier_wait(&barrier);
    job->begin = now();
    if (job->around)
        run_around(job->kind, job->first, job->end);
    else
        run_plain(job->kind, job->first, job->end);
    job->finish = now();
    return NULL;
}

static double rate(Kind kind, int around) {
    double best = 1e30;
    for (int r = 0; r < REPEATS; r++) {
        pthread_t threads[MAX_THREADS];
        Job jobs[MAX_THREADS];
        for (int i = 0; i < n_threads; i++) {
            jobs[i] = (Job){.kind = kind,
                            .around = around,
                            .first = N / 64 * (size_t)i / (size_t)n_threads * 64,
                            .end = N / 64 * (size_t)(i + 1) / (size_t)n_threads * 64};
            if (pthread_create(&threads[i], NULL, work, &jobs[i])) exit(1);
        }
        double begin = 1e30, finish = 0;
        for (int i = 0; i < n_threads; i++) {
            pthread_join(threads[i], NULL);
            if (jobs[i].begin < begin) begin = jobs[i].begin;
            if (jobs[i].finish > finish) finish = jobs[i].finish;
        }
        if (finish - begin < best) best = finish - begin;
    }
    return 4.0 * N * n_arrays[kind] / best * 1e-9;
}

int main(int argc, char **argv) {
    if (argc > 1) n_threads = atoi(argv[1]);
    if (n_threads < 1 || n_threads > MAX_THREADS) {
        fprintf(stderr, "usage: bench_stream [threads, 1 to %d]\n", MAX_THREADS);
        return 2;
    }
    a = aligned_alloc(64, N * 4), b = aligned_alloc(64, N * 4), c = aligned_alloc(64, N * 4);
    if (!a || !b || !c) return 1;
    for (size_t i = 0; i < N; i++) a[i] = 1, b[i] = 2, c[i] = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    for (int kind = 0; kind < N_KINDS; kind++) {
        printf("%s\t%.1f\n", names[kind], rate((Kind)kind, 0));
        if (__builtin_cpu_supports("avx2"))
            printf("%s_around\t%.1f\n", names[kind], rate((Kind)kind, 1));
    }
    free(a), free(b), free(c);
    return 0;
}
