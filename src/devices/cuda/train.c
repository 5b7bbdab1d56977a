// SPDX-License-Identifier: Apache-2.0
// train.c: launches that come for the first time, several in one. A launch costs the driver three
// to four microseconds; to tell a node of a graph that is there already another kernel and other
// parameters, and to launch that graph, less than one for each of them (H200: 0.8). So a flow keeps
// chains of a few nodes, whose kernels are whatever comes next. A chain that is under way keeps
// what it was told; a few of each length take turns, so that none is told while it has to wait.
#include "devices/cuda/cuda_int.h"
#include <stdlib.h>

enum { RING = 4 };

typedef struct CudaTrain {  // all under the device's graph_lock
    struct CudaTrain *next; // of the device's
    unsigned turn;
    struct {
        CUgraph graph;
        CUgraphExec exec; // NULL: not made yet
        CUgraphNode nodes[CUDA_TRAIN_LONG];
        CUfunction functions[CUDA_TRAIN_LONG]; // that they have now
    } ring[RING];
} CudaTrain;

// A chain of these kernels, as a stream records them.
static CUresult make(const CudaFlow *flow, CudaTrain *t, unsigned at, const CUkernelNode *kernels,
                     size_t n) {
    const CudaDriver *driver = flow->device->driver;
    CUgraph graph = NULL;
    CUresult result = driver->cuStreamBeginCapture_v2(flow->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result) return result;
    for (size_t i = 0; i < n && !result; i++) {
        const CUkernelNode *k = &kernels[i];
        result = driver->cuLaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2],
                                        k->block[0], k->block[1], k->block[2], k->shared_bytes,
                                        flow->stream, NULL, k->extra);
    }
    CUresult ended = driver->cuStreamEndCapture(flow->stream, &graph);
    if (!result) result = ended;
    size_t one = 1;
    CUgraphNode *nodes = t->ring[at].nodes;
    if (!result) result = driver->cuGraphGetRootNodes(graph, nodes, &one);
    for (size_t i = 1; i < n && !result && one == 1; i++)
        result = driver->cuGraphNodeGetDependentNodes(nodes[i - 1], &nodes[i], &one);
    if (!result && one != 1) result = CUDA_ERROR_UNKNOWN;
    if (!result) result = driver->cuGraphInstantiateWithFlags(&t->ring[at].exec, graph, 0);
    if (!result)
        t->ring[at].graph = graph;
    else if (graph)
        driver->cuGraphDestroy(graph);
    return result;
}

static CUresult go(const CudaFlow *flow, CudaTrain *t, const CUkernelNode *kernels, size_t n) {
    const CudaDriver *driver = flow->device->driver;
    unsigned at = t->turn++ % RING;
    CUgraphExec exec = t->ring[at].exec;
    CUresult result = exec ? CUDA_SUCCESS : make(flow, t, at, kernels, n);
    for (size_t i = 0; i < n && !result; i++) {
        t->ring[at].functions[i] = kernels[i].function;
        if (exec)
            result =
                driver->cuGraphExecKernelNodeSetParams(exec, t->ring[at].nodes[i], &kernels[i]);
    }
    return result ? result : driver->cuGraphLaunch(t->ring[at].exec, flow->stream);
}

bool cuda_train(CudaFlow *flow, const CUkernelNode *kernels, size_t n) {
    CudaDevice *d = flow->device;
    CudaTrain **place = &flow->trains[n == CUDA_TRAIN_LONG];
    pthread_mutex_lock(&d->graph_lock);
    if (!*place && (*place = calloc(1, sizeof **place))) {
        (*place)->next = d->trains;
        d->trains = *place;
    }
    CUresult result = *place ? go(flow, *place, kernels, n) : CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&d->graph_lock);
    if (result) atomic_store(&d->no_trains, true);
    return !result;
}

static bool has(const CudaTrain *t, int at, CUfunction function) {
    for (int i = 0; i < CUDA_TRAIN_LONG; i++)
        if (t->ring[at].functions[i] == function) return true;
    return false;
}

void cuda_trains_forget(CudaDevice *d, CUfunction function) {
    for (CudaTrain *t = d->trains; t; t = t->next)
        for (int i = 0; i < RING; i++) {
            if (!t->ring[i].exec || (function && !has(t, i, function))) continue;
            d->driver->cuGraphExecDestroy(t->ring[i].exec);
            d->driver->cuGraphDestroy(t->ring[i].graph);
            t->ring[i].exec = NULL;
        }
}
