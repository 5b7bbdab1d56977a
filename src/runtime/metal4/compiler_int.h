// SPDX-License-Identifier: Apache-2.0
// compiler_int.h: MTL4Compiler and its relatives. Descriptors of Metal 4 are resolved to those of
// metal.h (resolve.c), whose functions do the work.
#ifndef INGOT_RUNTIME_METAL4_COMPILER_INT_H
#define INGOT_RUNTIME_METAL4_COMPILER_INT_H
#include "ingot/metal4_compiler.h"
#include "ingot/metal4_render.h"
#include "runtime/object/error.h"
#include "runtime/object/object.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"

struct MTL4Archive {
    RtObject object;
    RtLabel label;
    MTLBinaryArchive *archive; // retained
};

struct MTL4Compiler {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    MTL4PipelineDataSetSerializer *serializer; // retained; NULL: none
};

struct MTL4BinaryFunction {
    RtObject object;
    MTLFunction *function; // retained; made with MTLFunctionOptionCompileToBinary
};

extern RtClass rt_mtl4_archive_class, rt_mtl4_compiler_class, rt_binary_function_class,
    rt_serializer_class;

// What one function of a pipeline links, owned.
typedef struct RtResolvedLinks {
    MTLLinkedFunctions linked;
    MTLFunction **functions, **binary, **private_functions; // of linked; retained
    MTLLinkedFunctionGroup *groups;
    MTLDynamicLibrary **preloaded; // retained
    RtLinkWish wish;               // for link.h: of the above
} RtResolvedLinks;

// A pipeline's descriptor with everything it points to, owned.
typedef struct RtResolved {
    MTLComputePipelineDescriptor descriptor;
    RtResolvedLinks links[3];    // of the kernel; of vertex or mesh, fragment and object function
    MTLBinaryArchive **archives; // retained
    char *label;
    // Of a render pipeline: this instead of the descriptor above, and its functions retained.
    bool is_render, archives_only, identity_colors;
    MTLRenderPipelineDescriptor render;
    MTLVertexDescriptor vertices;
    bool is_mesh;
    MTLMeshRenderPipelineDescriptor mesh; // its mesh and fragment functions are those of `render`
    bool is_tile;
    MTLTileRenderPipelineDescriptor tile; // instead of `render`; its function retained
    MTL4RenderPipelineColorAttachmentDescriptor colors[8]; // as they were given, open ones too
} RtResolved;

struct RtOpenColors { // MTLRenderPipelineState.open
    MTL4RenderPipelineColorAttachmentDescriptor colors[8];
};

// What a resolution needs beside the descriptor.
typedef struct RtResolving {
    MTLDevice *device;
    const char *call;
    MTL4Archive *const *archives; // to look in
    size_t n_archives;
    bool archives_only;
    Archive *record; // where stitched libraries go too, retained; NULL: nowhere
} RtResolving;

// Is it a compiler, and the argument there? Says so if not, and makes an error.
bool rt_compiler_usable(const MTL4Compiler *compiler, const void *argument, const char *what,
                        const char *call, MTLError **error);
// The same, for who makes the error.
bool rt_compiler_given(const MTL4Compiler *compiler, const void *argument, const char *what,
                       const char *call);
// For calls with a handler: is that there, too?
bool rt_compiler_usable_by(const MTL4Compiler *compiler, const void *argument, const char *what,
                           bool has_handler, const char *call);
// Fills *r, whose record is to be released. False after a message: an archive is none.
bool rt_compiler_resolving(MTL4Compiler *compiler, const MTL4CompilerTaskOptions *options,
                           const char *call, RtResolving *r, MTLError **error);

// NULL, and an error: a field is missing or wrong. Free with rt_resolved_free (NULL: no-op).
RtResolved *rt_resolve_pipeline(const RtResolving *r, const MTL4ComputePipelineDescriptor *d,
                                const MTL4PipelineStageDynamicLinkingDescriptor *dynamic,
                                MTLError **error);
void rt_resolved_free(RtResolved *resolved);
// The links of one function. NULL descriptors: none. False: an error; what is there is to be freed.
bool rt_resolve_links(const RtResolving *r, const MTL4StaticLinkingDescriptor *linked,
                      const MTL4PipelineStageDynamicLinkingDescriptor *dynamic, bool extensible,
                      RtResolvedLinks *to, MTLError **error);
void rt_resolved_links_free(RtResolvedLinks *links);
// The functions of binary functions, as a list to be freed (rt_free), whose functions are borrowed.
// NULL, a message and an error: one is none.
MTLFunction **rt_binary_functions(MTLDevice *device, MTL4BinaryFunction *const *list, size_t n,
                                  const char *call, MTLError **error);
// A render pipeline as resolved (render_pipeline.c), of a descriptor of each kind.
RtResolved *rt_resolve_render(const RtResolving *r, const MTL4RenderPipelineDescriptor *d,
                              const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                              MTLError **error);
RtResolved *rt_resolve_mesh(const RtResolving *r, const MTL4MeshRenderPipelineDescriptor *d,
                            const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                            MTLError **error);
RtResolved *rt_resolve_tile(const RtResolving *r, const MTL4TileRenderPipelineDescriptor *d,
                            const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                            MTLError **error); // tile_pipeline.c
MTLRenderPipelineState *rt_resolved_render_pipeline(MTLDevice *device, const RtResolved *resolved,
                                                    MTLError **error);
// How a resolved pipeline is made, beside its descriptor; wishes: memory for it.
struct RtRenderExtra;
void rt_resolved_extra(const RtResolved *resolved, struct RtRenderExtra *extra,
                       RtLinkWish wishes[3]);
MTLFunction *rt_resolve_function(const RtResolving *r, const MTL4FunctionDescriptor *d,
                                 MTLError **error);
// Archives of the resolution, into *to. False: no memory.
bool rt_resolve_archives(const RtResolving *r, RtResolved *to, MTLError **error);
// A function for binary linking.
MTL4BinaryFunction *rt_resolve_binary(const RtResolving *r, const MTL4BinaryFunctionDescriptor *d,
                                      MTLError **error);
// The pipeline, from archives, cache or compiler.
MTLComputePipelineState *rt_resolved_pipeline(const RtResolving *r, const RtResolved *resolved,
                                              MTLError **error);

// serializer.c: takes the descriptor over.
void rt_serializer_note(MTL4PipelineDataSetSerializer *serializer, RtResolved *resolved);
// Where code goes, retained; NULL: nowhere (also for a NULL serializer).
Archive *rt_serializer_record(MTL4PipelineDataSetSerializer *serializer);

// compiler_task.c
// A task for work that somebody else runs and finishes; finishing takes a reference.
MTL4CompilerTask *rt_task_new(MTL4Compiler *compiler);
void rt_task_finish(MTL4CompilerTask *task);
// Runs work(job) in the background as a task that the caller gets a reference to; free_job comes
// after it. NULL: nothing was started, the job is still the caller's.
MTL4CompilerTask *rt_task_start(MTL4Compiler *compiler, void (*work)(void *job),
                                void (*free_job)(void *job), void *job);
// The task, or the job done here and now, and NULL.
MTL4CompilerTask *rt_task_run(MTL4Compiler *compiler, void (*work)(void *job),
                              void (*free_job)(void *job), void *job);
#endif
