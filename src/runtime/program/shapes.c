// SPDX-License-Identifier: Apache-2.0
// shapes.c: which threadgroup shapes each pipeline of a device was given code for, so that an
// archive can hold what the program really uses. One small record per pipeline, for the life of the
// device; a program with more pipelines than that is not remembered further.
#include <stdlib.h>
#include <string.h>
#include "runtime/object/device.h"
#include "runtime/program/archive.h"
#include "runtime/program/pipeline.h"

enum { MAX_PIPELINES = 4096 };

typedef struct RtShapes { // under the lock of the device's list
    struct RtShapes *next;
    CacheKey pipeline;
    uint32_t n, shapes[RT_MAX_VARIANTS][3];
} Shapes;

static Shapes *find_shapes(const MTLDevice *device, const CacheKey *pipeline) {
    Shapes *s = device->shapes.first;
    while (s && memcmp(&s->pipeline, pipeline, sizeof *pipeline) != 0) s = s->next;
    return s;
}

void rt_shapes_note(MTLDevice *device, const CacheKey *pipeline, const uint32_t shape[3]) {
    RtShapeList *list = &device->shapes;
    pthread_mutex_lock(&list->lock);
    Shapes *s = find_shapes(device, pipeline);
    if (!s && list->n < MAX_PIPELINES && (s = calloc(1, sizeof *s))) {
        s->pipeline = *pipeline;
        s->next = list->first;
        list->first = s;
        list->n++;
    }
    uint32_t i = 0;
    while (s && i < s->n && memcmp(s->shapes[i], shape, sizeof s->shapes[i]) != 0) i++;
    if (s && i == s->n && i < RT_MAX_VARIANTS) memcpy(s->shapes[s->n++], shape, sizeof *s->shapes);
    pthread_mutex_unlock(&list->lock);
}

size_t rt_shapes_get(MTLDevice *device, const CacheKey *pipeline, uint32_t (*shapes)[3],
                     size_t max) {
    pthread_mutex_lock(&device->shapes.lock);
    const Shapes *s = find_shapes(device, pipeline);
    size_t n = !s ? 0 : s->n < max ? s->n : max;
    if (n) memcpy(shapes, s->shapes, n * sizeof *shapes);
    pthread_mutex_unlock(&device->shapes.lock);
    return n;
}
