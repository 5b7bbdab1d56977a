// SPDX-License-Identifier: Apache-2.0
// run_int.h: shared by the files behind `ingot run`.
#ifndef INGOT_TOOLS_RUN_INT_H
#define INGOT_TOOLS_RUN_INT_H
#include "apps/tools/run_values.h"
#include "apps/tools/tools.h"

typedef struct RunArg { // --arg KEY=VALUE
    const char *key;    // index or name of a buffer
    size_t index;       // known after run_bind
    NpyArray array;     // what was given; after run_fetch what the kernel left
    bool is_value;      // set_bytes instead of a buffer
    bool written;       // the kernel may write it
    MTLBuffer *buffer;
} RunArg;

typedef struct RunGroup { // --tg KEY=BYTES
    const char *key;
    size_t index, n_bytes;
} RunGroup;

typedef struct RunOutput {  // --out KEY=FILE, --print KEY[:COUNT]
    const char *key, *file; // file: NULL for --print
    size_t count;
    size_t arg; // which RunArg, known after run_bind
} RunOutput;

typedef struct RunOptions {
    bool quiet;
    const char *path, *kernel;
    SourceOptions source;
    MTLSize grid, group; // group: width 0 if not given
    RunArg *args;
    RunGroup *groups;
    RunOutput *outputs;
    size_t n_args, n_groups, n_outputs;
    Strings constants; // "key=value"
    size_t repeat;
    uint32_t timeout_ms;
    const char *device; // NULL: the default
} RunOptions;

int run_options(int argc, char **argv, RunOptions *o); // as options_read
void run_options_free(RunOptions *o);
// Matches what was given with what the kernel takes and makes the buffers. Exit status.
int run_bind(RunOptions *o, MTLDevice *device, const MTLComputePipelineState *pipeline);
// Copies what the kernel wrote.
void run_fetch(RunOptions *o);
// Writes and prints the results. Exit status.
int run_report(const RunOptions *o);
#endif
