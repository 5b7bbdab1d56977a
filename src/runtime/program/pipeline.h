// SPDX-License-Identifier: Apache-2.0
// pipeline.h: MTLComputePipelineState: a kernel as machine code, general and for shapes in use.
#ifndef INGOT_RUNTIME_PIPELINE_H
#define INGOT_RUNTIME_PIPELINE_H
#include "devices/table/device.h"
#include "runtime/object/device.h"
#include "runtime/program/library.h"

// Arrays that optimising would have turned into registers may make baseline code need much stack.
enum { RT_BASELINE_STACK_BYTES = 1 << 20 }; // of a SIMD-group
#define RT_MAX_VARIANTS 16u // shapes with code of their own; further ones use the general code

typedef struct RtVariant {
    uint32_t shape[3];
    unsigned reach;        // in rt_reach_bits
    DevCode *_Atomic code; // NULL: not asked for, being made, or it failed: general code serves
    atomic_bool counting;  // not in the cache, and the compiler was not asked yet
    unsigned n_dispatches; // meanwhile; under the pipeline's lock
} RtVariant;

typedef struct RtLinkage RtLinkage;
typedef struct RtStageIn RtStageIn;

typedef enum RtArgUse { RT_ARG_REQUIRED, RT_ARG_OPTIONAL, RT_ARG_OFF } RtArgUse;

struct MTLComputePipelineState {
    RtObject object;
    MTLDevice *device;       // retained
    MTLFunction *function;   // retained
    const RfFunction *entry; // what it takes: of the function, or with the buffers of stage inputs
    RtStageIn *stage_in;     // NULL: none
    RtLabel label;
    DevCode *general;                   // for any shape, or for the required one
    bool baseline;                      // that was made in a hurry; then:
    RtVariant rest;                     // the same, made to be fast, for shapes beyond `variants`
    unsigned reach;                     // that the general code has: of the device when it was made
    DevCode *_Atomic wider[RT_N_REACH]; // the same for longer buffers than there were then
    uint32_t required[3];               // 0,0,0: any
    size_t max_threads, static_bytes;
    size_t imageblock_bytes; // of a pixel; 0: the kernel has none
    uint32_t imageblock_slot;
    bool width_multiple;
    bool validate;           // its code checks memory accesses
    bool indirect;           // support_indirect_command_buffers
    _Atomic uint64_t handle; // pipeline_handle.c; 0: none yet
    unsigned char *arg_use;  // RtArgUse per RfArg: function constants switch arguments off
    MslConstantValue *constants;
    size_t n_constants;
    RtLinkage *linkage; // linked functions and dynamic libraries (link.h); NULL: none
    pthread_mutex_t lock;
    RtVariant variants[RT_MAX_VARIANTS]; // added under lock, read without
    atomic_uint n_variants;
    MTLComputePipelineReflection *reflection; // under lock; made at first need
    Archive **archives;                       // retained: code for further shapes may be there too
    size_t n_archives;
    bool archives_only; // MTLPipelineOptionFailOnBinaryArchiveMiss: never asks the compiler
    Archive *record;    // borrowed, while an archive adds the pipeline: where its code goes
};

extern RtClass rt_pipeline_class;

// Makes the pipeline and puts its code into the archive: the general one and those for the shapes
// it was used with.
bool rt_pipeline_record(MTLDevice *device, const MTLComputePipelineDescriptor *d, Archive *record,
                        MTLError **error);
// A dispatch of n_threads with this shape is on its way (0: not known yet): gets code for it, now,
// in the background, or not yet.
void rt_pipeline_prepare(MTLComputePipelineState *state, const uint32_t shape[3],
                         uint64_t n_threads);
// The best code there is for the shape and for the longest buffer of the device, borrowed. NULL: it
// had to be made and could not be.
DevCode *rt_pipeline_code(MTLComputePipelineState *state, const uint32_t shape[3]);
// Where optimised code than that may appear; NULL: nowhere. *want_ns: rt_pipeline_want pays for a
// dispatch that still takes so long.
DevCode *_Atomic const *rt_pipeline_optimised(MTLComputePipelineState *state,
                                              const uint32_t shape[3], uint64_t *want_ns);
// It would be worth having now: is asked for in the background, unless it was. Any thread.
void rt_pipeline_want(MTLComputePipelineState *state, const uint32_t shape[3]);

// A function as the device's code; NULL and a sentence in `why`. bytes: what the compiler made of
// the request; NULL for a device that needs none.
DevCode *rt_code_load(const MTLDevice *device, const RtKernelRequest *request, const Blob *bytes,
                      const RfFunction *function, char *why, size_t why_bytes);
void rt_code_free(const MTLDevice *device, DevCode *code); // NULL is a no-op

// A size of an imageblock that programs may ask for.
static inline bool rt_valid_imageblock(size_t width, size_t height) {
    return width && height && width <= UINT16_MAX && height <= UINT16_MAX;
}

static inline bool rt_wants_reflection(MTLPipelineOption options) {
    return options & (MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo);
}
// A new pipeline whose reflection was asked for, or NULL and an error: that could not be made.
void *rt_with_reflection(void *state, const void *reflection, MTLError **error);

// What is known of an argument or value under a function constant (its symbol; "": none).
RtArgUse rt_condition_use(const MTLFunction *function, const char *condition);
// Whether a stage input is to be found in the descriptor; described: it is there.
bool rt_reads_attribute(const MTLFunction *function, const RfValue *v, bool described);

static inline const RfFunction *rt_pipeline_function(const MTLComputePipelineState *state) {
    return state->entry;
}
static inline const RfLibrary *rt_pipeline_library(const MTLComputePipelineState *state) {
    return state->function->library->lib->reflection;
}

// checked_pipelines.c: whether pipelines of this label and with this wish are checked.
bool rt_wants_validation(const MTLDevice *device, const char *label, MTLShaderValidation wish);
// MSL_WATCH_* for code of a pipeline that is checked or not; of kernels, or of other stages.
uint8_t rt_watch(const MTLDevice *device, bool validate);
uint8_t rt_watch_stage(const MTLDevice *device, bool validate);
#endif
