// SPDX-License-Identifier: Apache-2.0
// ggml_threads.c: preloaded into ggml's operator tests. Their reference, ggml's CPU back end, takes
// four threads whatever the machine has, which spin where they wait for each other: on two
// processors a case with thousands of small products takes minutes instead of milliseconds. Here it
// takes half of the processors, the test program's own rule for the back ends it tests.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ggml-cpu.h>
#include <stdlib.h>
#include <unistd.h>

struct ggml_cplan ggml_graph_plan(const struct ggml_cgraph *graph, int n_threads,
                                  struct ggml_threadpool *pool) {
    static struct ggml_cplan (*next)(const struct ggml_cgraph *, int, struct ggml_threadpool *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "ggml_graph_plan");
    if (!next) abort();
    int most = (int)sysconf(_SC_NPROCESSORS_ONLN) / 2;
    if (most < 1) most = 1;
    return next(graph, n_threads < most ? n_threads : most, pool);
}
