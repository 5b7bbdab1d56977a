// SPDX-License-Identifier: Apache-2.0
// shapes.c: which threadgroup shapes each pipeline of this process was given code for, so that an
// archive can hold what the program really uses. One small record per pipeline, for the life of the
// process; a program with more pipelines than that is not remembered further.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/program/archive.h"
#include "runtime/program/pipeline.h"

enum { MAX_PIPELINES = 4096 };

typedef struct Shapes {
    CacheKey pipeline;
    uint32_t n, shapes[RT_MAX_VARIANTS][3];
} Shapes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Shapes *all[MAX_PIPELINES]; // under lock
static size_t n_all;

static Shapes *find(const CacheKey *pipeline) {
    for (size_t i = 0; i < n_all; i++)
        if (!memcmp(&all[i]->pipeline, pipeline, sizeof *pipeline)) return all[i];
    return NULL;
}

void rt_shapes_note(const CacheKey *pipeline, const uint32_t shape[3]) {
    pthread_mutex_lock(&lock);
    Shapes *s = find(pipeline);
    if (!s && n_all < MAX_PIPELINES && (s = calloc(1, sizeof *s))) {
        s->pipeline = *pipeline;
        all[n_all++] = s;
    }
    uint32_t i = 0;
    while (s && i < s->n && memcmp(s->shapes[i], shape, sizeof s->shapes[i]) != 0) i++;
    if (s && i == s->n && i < RT_MAX_VARIANTS) memcpy(s->shapes[s->n++], shape, sizeof *s->shapes);
    pthread_mutex_unlock(&lock);
}

size_t rt_shapes_get(const CacheKey *pipeline, uint32_t (*shapes)[3], size_t max) {
    pthread_mutex_lock(&lock);
    const Shapes *s = find(pipeline);
    size_t n = !s ? 0 : s->n < max ? s->n : max;
    if (n) memcpy(shapes, s->shapes, n * sizeof *shapes);
    pthread_mutex_unlock(&lock);
    return n;
}
