// SPDX-License-Identifier: Apache-2.0
// stage.h: a stage of a pipeline: one function with the values of its constants, what it links,
// where its inputs come from, what it takes, and its code in tiers. A compute pipeline has one
// stage, a render pipeline those of MTLRenderStages that its descriptor names.
#ifndef INGOT_RUNTIME_STAGE_H
#define INGOT_RUNTIME_STAGE_H
#include "devices/table/device.h"
#include "runtime/object/device.h"
#include "runtime/program/library.h"

typedef struct RtLinkage RtLinkage;
typedef struct MTLStageInputOutputDescriptor MTLStageInputOutputDescriptor;
struct MTLVertexDescriptor;
struct RtLinkWish;

// Function constants switch arguments off.
typedef enum RtArgUse { RT_ARG_REQUIRED, RT_ARG_OPTIONAL, RT_ARG_OFF } RtArgUse;

#define RT_MAX_VARIANTS 16u // shapes with code of their own

// Optimised code, which is asked for once it pays.
typedef struct RtVariant {
    uint32_t shape[3];
    unsigned reach;        // in rt_reach_bits
    DevCode *_Atomic code; // NULL: not asked for, being made, or it failed: the first code serves
    atomic_bool counting;  // not in the cache, and the compiler was not asked yet
    unsigned n_uses;       // meanwhile; under the lock
} RtVariant;

typedef struct RtTiers { // stage_code.c
    DevCode *first;      // what the stage begins with: for any shape, or for the required one
    MslTier tier;        // of that
    unsigned reach;      // of that: the device's when it was made
    DevCode *_Atomic wider[RT_N_REACH]; // the same for longer buffers than there were then
    RtVariant any; // behind baseline code: what draws use, and shapes beyond the variants
    pthread_mutex_t lock;
    RtVariant variants[RT_MAX_VARIANTS]; // added under lock, read without
    atomic_uint n_variants;
} RtTiers;

typedef struct RtStage {
    void *pipeline;       // whose stage it is
    const RtLabel *label; // of the pipeline
    MTLDevice *device;
    bool draws;              // the pipeline is one for rendering
    bool validate;           // its code checks memory accesses
    MTLFunction *function;   // retained
    const RfFunction *entry; // what it takes: of the function, or with the buffers of stage inputs
    MslConstantValue *constants;
    size_t n_constants;
    unsigned char *arg_use;      // RtArgUse per RfArg of the entry
    RtLinkage *linkage;          // linked functions and dynamic libraries (link.h); NULL: none
    MslVertexDescriptor *inputs; // where they come from (stage_inputs.c); NULL: it reads none
    RfFunction *with_inputs;     // not NULL: the entry
    uint32_t dynamic_strides;    // bit i: attributes in buffer i have a dynamic stride
    uint32_t required[3];        // threads of a threadgroup; 0,0,0: any
    RtArchives archives; // retained, but for the record: code for further shapes may be there too
    RtTiers tiers;
} RtStage;

// A stage without links, inputs and code, of the same pipeline and checked alike; NULL: no memory.
RtStage *rt_stage_new(const RtStage *like, MTLFunction *function);
void rt_stage_free(RtStage *stage); // NULL is a no-op
// Archives of a descriptor, to look in before anything is compiled. False: no memory.
typedef struct RtStageArchives {
    MTLBinaryArchive *const *list; // may hold NULLs
    size_t n;
    MTLPipelineOption options;
    Archive *record; // the code made goes in here too; NULL: nowhere
} RtStageArchives;
bool rt_stage_set_archives(RtStage *stage, const RtStageArchives *archives);
// What the function calls. Before it is compiled. NULL: fine.
MTLError *rt_stage_link(RtStage *stage, const struct RtLinkWish *wish);
// Another record of what the function takes: it has the buffers of stage inputs. False: no memory.
bool rt_stage_set_entry(RtStage *stage, const RfFunction *entry);
// stage_inputs.c: where a kernel's or vertex function's attributes come from; NULL: nobody says.
// Only what the function reads is kept: pipelines that differ in the rest share their code.
MTLError *rt_stage_set_stage_in(RtStage *stage, const MTLStageInputOutputDescriptor *d);
MTLError *rt_stage_set_vertices(RtStage *stage, const struct MTLVertexDescriptor *d);
// Can commands of indirect command buffers set what it takes? NULL: they can.
MTLError *rt_stage_check_indirect(const RtStage *stage);

// An error of its pipeline.
static inline const char *rt_stage_domain(const RtStage *stage) {
    return stage->draws ? MTLRenderPipelineErrorDomain : MTLComputePipelineErrorDomain;
}
MTLError *rt_stage_error(const RtStage *stage, long code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define rt_stage_invalid(stage, ...)                                                               \
    rt_stage_error(stage, MTLComputePipelineErrorInvalidInput, __VA_ARGS__)

static inline const RfLibrary *rt_stage_library(const RtStage *stage) {
    return stage->function->library->lib->reflection;
}
static inline bool rt_stage_takes(const RtStage *stage, uint32_t arg) {
    return stage->arg_use[arg] != RT_ARG_OFF &&
           stage->entry->args[arg].slot < stage->entry->n_slots;
}

// ---- Code (stage_code.c) ----

void rt_tiers_free(RtTiers *tiers, const MTLDevice *device);

// The first code of n stages of one pipeline (NULL: there is no such stage), all at once. False:
// *error says what is wrong with the first of them that cannot be had.
enum { RT_MAX_STAGES = 3 };
bool rt_stages_compile(RtStage *const *stages, size_t n, MTLError **error);
// Puts code for the shapes that such a stage was used with into its record, too.
bool rt_stage_record_shapes(RtStage *stage, MTLError **error);
// A dispatch of n_threads with this shape is on its way (0: not known yet): gets code for it, now,
// in the background, or not yet.
void rt_stage_prepare(RtStage *stage, const uint32_t shape[3], uint64_t n_threads);
// The best code there is for the dispatch's group_size and for the longest buffer of the device,
// and where optimised code may appear. False: it had to be made and could not be.
bool rt_stage_dispatch(RtStage *stage, DevDispatch *d);
// The best code there is for a draw, borrowed: it may stay in what it gets.
DevCode *rt_stage_draw(RtStage *stage);

// ---- Function constants ----

// What is known of an argument or value under a function constant (its symbol; "": none).
RtArgUse rt_condition_use(const MTLFunction *function, const char *condition);

// checked_pipelines.c: whether pipelines of this label and with this wish are checked.
bool rt_wants_validation(const MTLDevice *device, const char *label, MTLShaderValidation wish);
// MSL_WATCH_* for code of a pipeline that is checked or not; draws: of one for rendering.
uint8_t rt_watch(const MTLDevice *device, bool validate, bool draws);
#endif
