// SPDX-License-Identifier: Apache-2.0
// fixture.h: kernels written as LLVM IR, compiled by msl_backend and run, without the front end.
#ifndef INGOT_TEST_FIXTURE_H
#define INGOT_TEST_FIXTURE_H
#include "../unit.h"
#include "abi/cpu_kernel.h"
#include "compiler/compiler.h"

// Indices in the types of every fixture library.
enum {
    TY_FLOAT,
    TY_UINT,
    TY_UINT2,
    TY_UINT3,
    TY_USHORT,
    TY_USHORT2,
    TY_USHORT3,
    TY_BOOL,
    TY_PAIR,
    TY_N
};

#define BINDING(label, what, in, p, i, n, s, t)                                                    \
    {.name = label,                                                                                \
     .kind = what,                                                                                 \
     .space = in,                                                                                  \
     .access = RF_READ_WRITE,                                                                      \
     .param = p,                                                                                   \
     .index = i,                                                                                   \
     .count = n,                                                                                   \
     .slot = s,                                                                                    \
     .type = t,                                                                                    \
     .condition = ""}
#define BUFFER(p, s) BINDING("b" #s, RF_ARG_BUFFER, RF_DEVICE, p, s, 1, s, TY_FLOAT)
#define BUILTIN(p, b, t)                                                                           \
    {.name = "v" #p,                                                                               \
     .kind = RF_ARG_BUILTIN,                                                                       \
     .builtin = b,                                                                                 \
     .param = p,                                                                                   \
     .index = UINT32_MAX,                                                                          \
     .count = 1,                                                                                   \
     .slot = UINT32_MAX,                                                                           \
     .type = t,                                                                                    \
     .condition = ""}

typedef struct Fixture {
    const char *ir; // text of the module; the kernel is @k
    const RfArg *args;
    uint32_t n_args, n_slots;
    const RfConstant *constants;
    uint32_t n_constants;
    const MslConstantValue *values;
    size_t n_values;
    uint32_t shape[3], width;
    const char *cpu, *emit, *dump_after, *function;
} Fixture;

// Compiles; the caller frees the result.
MslKernel compile_fixture(const Fixture *f);
// Compiles (failing the test on an error) and runs over a grid.
void run_fixture(const Fixture *f, const uint32_t grid[3], const uint32_t group[3], void **slots,
                 uint32_t dynamic_bytes);
CpuKernelFn *load_kernel(const MslKernel *k, CpuKernelInfo *info);
void expect_error(const Fixture *f, const char *part); // the message contains `part`
// Every way of making code that a kernel should agree on.
typedef struct Way {
    uint32_t width;
    bool shaped;
    const char *cpu;
} Way;
extern const Way ways[];
extern const size_t n_ways;
void run_all_ways(const Fixture *f, const uint32_t grid[3], const uint32_t group[3], void **slots,
                  uint32_t dynamic_bytes, void (*check)(const Way *way, void **slots),
                  void (*reset)(void **slots));
#endif
