// SPDX-License-Identifier: Apache-2.0
// fake.h: what tests tell the driver that is none, and ask it.
//
// Memory of the device is memory of the host that nobody may touch at its address: the bytes lie
// elsewhere, and only the driver's functions find them. Streams do what they are told at once.
// Kernels are functions of C: text that is loaded names one ("// fake: NAME"), and says which of
// its parameters are addresses by itself.
#ifndef INGOT_TESTS_CUDA_FAKE_H
#define INGOT_TESTS_CUDA_FAKE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FakeCall { // tests/python/test_ingot_cuda.py knows these numbers
    FAKE_ALLOC,
    FAKE_FREE,
    FAKE_REGISTER, // of memory of the host's
    FAKE_COPY_UP,  // from the host to the device
    FAKE_COPY_DOWN,
    FAKE_COPY_ON, // on the device
    FAKE_FILL,
    FAKE_LAUNCH,
    FAKE_GRAPH_LAUNCH,
    FAKE_INSTANTIATE,
    FAKE_SET_PARAMETERS, // of a node of a graph
    FAKE_LINK,           // PTX was compiled
    FAKE_LOAD,           // a module was loaded
    FAKE_CONTEXT,
    FAKE_QUERY,  // of a stream
    FAKE_OTHERS, // an event was recorded in the default stream, which is that of other libraries
    FAKE_SLOW,   // PTX that takes long is being compiled
    FAKE_N_CALLS,
} FakeCall;

uint64_t fake_calls(FakeCall call);                        // so far
uint64_t fake_bytes(FakeCall call);                        // copied or filled
void fake_fail(FakeCall call, unsigned after, int result); // once, after so many that do not
// Kernels of this name end in an error that stays: everything of the context fails from then on.
void fake_break(const char *kernel, int result);
void fake_hang(const char *kernel); // its stream is never done
void fake_hold(bool on);            // while it is, no stream is done
uint64_t fake_live(void);           // bytes of the device's memory
size_t fake_edges(void);            // of the last graph: which node waits for which
void fake_set_devices(int n);       // before cuInit
// FAKE_CUDA_BREAK and FAKE_CUDA_HANG in the environment name such kernels to a driver in another
// process.
#endif
