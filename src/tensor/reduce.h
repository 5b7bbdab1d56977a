// SPDX-License-Identifier: Apache-2.0
// reduce.h: reductions among their own files: what a kernel does, and its text.
#ifndef INGOT_TENSOR_REDUCE_H
#define INGOT_TENSOR_REDUCE_H
#include "tensor/fuse.h"

typedef enum IgReduction {
    IG_SUM,
    IG_MEAN,
    IG_PRODUCT,
    IG_MAX,
    IG_MIN,
    IG_ARGMAX,
    IG_ARGMIN,
    IG_N_REDUCTIONS
} IgReduction;

// One kernel: the value, its axes, and how the results come.
typedef struct IgReduce {
    IgFused f;
    int root, n_reduced; // folded axes that are reduced
    IgReduction kind;
    bool rows, first, last; // first: of the input, not of parts; last: gives the result
    bool lines;             // columns: neighbours along the first axis that stays
    IgType value, result;   // what is reduced; what is written by the last pass
    // The plan: how it is cut, and the threads.
    bool gpu;            // for one: axes that stay come first in columns
    int shared;          // gpu, rows: threads that share a result
    int64_t chunk;       // of a part: of the outermost reduced axis; gpu: of all elements, or packs
    int64_t n_parts;     //
    MTLSize grid, group; // gpu: of threadgroups, else of threads
} IgReduce;

// Words behind those of the value: the chunk, results, elements that one is made of in all, and by
// this kernel.
enum { IG_REDUCE_CHUNK, IG_REDUCE_RESULTS, IG_REDUCE_COUNT, IG_REDUCE_LENGTH, IG_REDUCE_WORDS };

const char *ig_reduce_accumulator(const IgReduce *p);
bool ig_reduce_has_place(const IgReduce *p);
void ig_reduce_write_combine(Text *out, const IgReduce *p); // acc and v; where, none and place
const char *ig_reduce_start(const IgReduce *p);             // what acc begins with
void ig_reduce_write_store(Text *out, const IgReduce *p, int extra, const char *to); // of acc
int64_t ig_reduce_count(const IgReduce *p);

bool ig_reduce_by_rows(const IgReduce *p); // threads share a result

// reduce_gpu.c: the plan and the text for a GPU. axes: bits of the reduced ones.
void ig_reduce_gpu_plan(IgReduce *p, unsigned axes, int64_t n_results);
void ig_reduce_gpu_write(Text *out, const IgReduce *p);
#endif
