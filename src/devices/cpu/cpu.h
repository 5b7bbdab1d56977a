// SPDX-License-Identifier: Apache-2.0
// cpu.h: the parts of the CPU device, which device.c makes a table of. Code objects are loaded,
// dispatches run on a pool of worker threads and on the thread that asks, and whatever goes wrong
// inside a kernel ends in the run's fault instead of the process.
#ifndef INGOT_CPU_CPU_H
#define INGOT_CPU_CPU_H
#include "abi/cpu_kernel.h"
#include "abi/cpu_stage.h"
#include "devices/table/rays.h"
#include "devices/table/run.h"

// ---- Code objects (code.c) ----

// Loads an ELF shared object that follows abi/cpu_kernel.h; NULL and a sentence in `why` if it does
// not.
DevCode *cpu_code_load(const void *bytes, size_t n_bytes, char *why, size_t why_bytes);
void cpu_code_free(DevCode *code); // NULL is a no-op
// Of code of a vertex or fragment function; NULL of other code.
CpuVertexFn *cpu_code_vertex(const DevCode *code);
CpuFragmentFn *cpu_code_fragment(const DevCode *code);

// ---- A run: the kernels of one command buffer (watchdog.c) ----

// A run with limits is watched between the two calls. {0} plus the receivers is a valid start.
bool cpu_run_begin(DevRun *run, DevLimits limits);
void cpu_run_end(DevRun *run);

// ---- Dispatch (dispatch.c) ----

// Runs one dispatch, or several that do not depend on each other, and returns when all is done. The
// calling thread takes part. False if the run has a fault (also an earlier one).
bool cpu_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n);

// ---- Rays (rays_library.c) ----

const CpuRayOps *cpu_ray_ops(void); // what kernels call; never NULL
// Loads the library, once. NULL and a sentence in `why`: it cannot.
const DevRays *cpu_rays(void *context, char *why, size_t why_bytes);
#endif
