// SPDX-License-Identifier: Apache-2.0
// launch_batch.c: launches that are new, several in one. A launch costs the driver three to four
// microseconds; updating the kernel and the parameters of an existing graph node, and launching
// that graph, less than one per node (H200: 0.8). So a flow keeps linear graphs of a few nodes,
// whose kernels are whatever comes next. A graph in flight keeps the parameters it was launched
// with; a few of each length are used in turn, so that no update has to wait.
#include "devices/cuda/cuda_int.h"
#include <stdlib.h>

enum { RING = 4 };

typedef struct CudaLaunchBatch {  // all under the device's graph_lock
    struct CudaLaunchBatch *next; // of the device's
    unsigned turn;
    struct {
        CUgraph graph;
        CUgraphExec exec; // NULL: not made yet
        CUgraphNode nodes[CUDA_LAUNCH_BATCH_LONG];
        CUfunction functions[CUDA_LAUNCH_BATCH_LONG]; // that they have now
    } ring[RING];
} CudaLaunchBatch;

// A chain of these kernels, as a stream records them.
static CUresult create_graph(const CudaFlow *flow, CudaLaunchBatch *t, unsigned at,
                             const CUkernelNode *kernels, size_t n) {
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

static CUresult launch_nodes(const CudaFlow *flow, CudaLaunchBatch *t, const CUkernelNode *kernels,
                             size_t n) {
    const CudaDriver *driver = flow->device->driver;
    unsigned at = t->turn++ % RING;
    CUgraphExec exec = t->ring[at].exec;
    CUresult result = exec ? CUDA_SUCCESS : create_graph(flow, t, at, kernels, n);
    for (size_t i = 0; i < n && !result; i++) {
        t->ring[at].functions[i] = kernels[i].function;
        if (exec)
            result =
                driver->cuGraphExecKernelNodeSetParams(exec, t->ring[at].nodes[i], &kernels[i]);
    }
    return result ? result : driver->cuGraphLaunch(t->ring[at].exec, flow->stream);
}

bool cuda_launch_batch(CudaFlow *flow, const CUkernelNode *kernels, size_t n) {
    CudaDevice *d = flow->device;
    CudaLaunchBatch **place = &flow->launch_batches[n == CUDA_LAUNCH_BATCH_LONG];
    pthread_mutex_lock(&d->graph_lock);
    if (!*place && (*place = calloc(1, sizeof **place))) {
        (*place)->next = d->launch_batches;
        d->launch_batches = *place;
    }
    CUresult result = *place ? launch_nodes(flow, *place, kernels, n) : CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&d->graph_lock);
    if (result) atomic_store(&d->no_trains, true);
    return !result;
}

static bool has(const CudaLaunchBatch *t, int at, CUfunction function) {
    for (int i = 0; i < CUDA_LAUNCH_BATCH_LONG; i++)
        if (t->ring[at].functions[i] == function) return true;
    return false;
}

void cuda_launch_batches_forget(CudaDevice *d, CUfunction function) {
    for (CudaLaunchBatch *t = d->launch_batches; t; t = t->next)
        for (int i = 0; i < RING; i++) {
            if (!t->ring[i].exec || (function && !has(t, i, function))) continue;
            d->driver->cuGraphExecDestroy(t->ring[i].exec);
            d->driver->cuGraphDestroy(t->ring[i].graph);
            t->ring[i].exec = NULL;
        }
}
