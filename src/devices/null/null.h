// SPDX-License-Identifier: Apache-2.0
// null.h: the null device, for tests: it accepts everything and computes nothing. Commands complete
// at once; kernels and draws leave memory as it was, copies and fills are done. Its memory is not
// where the host sees it: an address of the device's that the runtime looks at by itself faults.
// Tests count its calls and tell it what to fail and what not to have.
#ifndef INGOT_NULL_NULL_H
#define INGOT_NULL_NULL_H
#include <stdbool.h>
#include <stdint.h>

typedef enum IngotNullCall {
    INGOT_NULL_OPEN,
    INGOT_NULL_MEMORY,  // memory_make
    INGOT_NULL_WRAP,    // memory_wrap
    INGOT_NULL_TEXTURE, // texture_make, and so on
    INGOT_NULL_SAMPLER,
    INGOT_NULL_TENSOR,
    INGOT_NULL_VIEWS, // views_take
    INGOT_NULL_CODE,
    INGOT_NULL_RUN, // run_begin
    INGOT_NULL_USE, // cannot fail
    INGOT_NULL_DISPATCH,
    INGOT_NULL_INDIRECT, // one of them whose sizes are in memory; failing: they do not fit
    INGOT_NULL_RENDER,
    INGOT_NULL_COPY,
    INGOT_NULL_FILL,
    INGOT_NULL_MOVE,
    INGOT_NULL_MIPMAPS,
    INGOT_NULL_FINISH,
    INGOT_NULL_N_CALLS,
} IngotNullCall;

#define INGOT_NULL_API __attribute__((visibility("default")))
// All may be called by any thread, also before there is a device.
INGOT_NULL_API uint64_t ingot_null_calls(IngotNullCall call); // so far
INGOT_NULL_API uint64_t ingot_null_live(void);                // memories and handles not yet freed
// The call fails from now on, or does not.
INGOT_NULL_API void ingot_null_fail(IngotNullCall call, bool fails);
// Features (DEV_RENDER ...) that the device does not have; before it is opened.
INGOT_NULL_API void ingot_null_lack(uint32_t features);
#endif
