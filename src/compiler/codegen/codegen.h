// SPDX-License-Identifier: Apache-2.0
// codegen.h: between the files of codegen/. One kernel travels through them in the order of
// backend.c; what each step learnt stands in Cg.
#ifndef INGOT_CODEGEN_H
#define INGOT_CODEGEN_H
#include "abi/cuda_kernel.h"
#include "compiler/compiler.h"
#include "compiler/frontend/bridge.h"
#include "compiler/passes/passes.h"

// In a pipeline. By default instcombine ends the process when one round was not enough.
#define INSTCOMBINE "instcombine<no-verify-fixpoint>"

// What of its surroundings a kernel looks at; decides how the group loop may run it.
typedef struct CgUses {
    bool barrier; // threadgroup barriers
    bool simd;    // SIMD-group or quad-group functions
    bool packing; // which threads share a SIMD-group, or how many the threadgroup really has
    bool group;   // anything but its position in the grid: threadgroups matter to it
    bool plane;   // positions in y or z: its threadgroups are hardly lines
    bool log;
    bool quads; // texture functions that look at their quad (implicit level of detail)
    bool meet;  // simdgroup_barrier: only lane-by-lane code waits there
    bool lanes; // which lane of which SIMD-group a thread is; calls.c of GPUs finds out
} CgUses;

// Code of one library under one set of function constants. The first is the kernel's own; in the
// module the symbols of the others' function constants begin with their number.
typedef struct CgPart {
    const RfLibrary *lib;
    const MslConstantValue *constants;
    size_t n_constants;
    uint32_t first_set; // its constants in Cg.constant_set
} CgPart;

// A variable of the kernel in threadgroup memory.
typedef struct CgVariable {
    uint64_t at, bytes;
    char name[32];
} CgVariable;

typedef struct CgName { // of a variable of the thread
    char text[32];
} CgName;

// What one part of the back end learnt and another reads, by the part that writes it.
typedef struct CgLoop {       // wrap.c, barrier.c: the loop over threadgroups
    bool linked;              // it is linked to the code as an object,
    bool waits;               // of the kind in which SIMD-groups wait for each other
    bool filter;              // steps are of many rows (plan.c)
    LLVMValueRef frame_bytes; // global that receives the coroutine's frame size, or NULL
    uint64_t frame_stride;    // bytes of one suspended SIMD-group
} CgLoop;

typedef struct CgStage { // stage.c: vertex and fragment functions
    uint32_t flags;      // ABI_STAGE_*
    uint32_t n_vertex_buffers;
    uint8_t vertex_buffers[32]; // that attributes are fetched from, by their places
} CgStage;

typedef struct CgGpu {      // nvptx/
    uint32_t library_bytes; // shared memory of the device library, before the kernel's own
    bool has_surroundings;  // a parameter more (abi/cuda_kernel.h)
    uint32_t n_constants;   // words of constants that are parameters
    uint16_t constants[CUDA_MAX_CONSTANTS];
    uint32_t only_constants; // a bit for each slot of which nothing else is read
    bool effects_known;      // it reaches nothing but these
    uint64_t slots_read, slots_written;
    uint32_t textures; // MSL_TEXTURE_...
} CgGpu;

typedef struct CgReport {         // entry.c, uninitialised.c: what reports name
    struct CgVariable *variables; // in threadgroup memory
    size_t n_variables;
    CgName *names; // of variables of the thread
    size_t n_names;
} CgReport;

typedef struct Cg {
    MslContext cx; // first: passes see only this
    const MslKernelRequest *request;
    const RfLibrary *lib;
    const RfFunction *fn;
    RfFunction *stage_in; // fn with the buffers of its stage inputs, or NULL
    RfFunction *placed;   // fn with the indices that function constants give, or NULL
    LLVMValueRef entry;   // the kernel as the front end wrote it
    LLVMValueRef thread;  // the thread function (passes.h): slots..., threadgroup base
    CgUses uses;
    CgLoop loop;
    CgStage stage;
    CgGpu gpu;
    CgReport report;
    uint32_t threadgroup_bytes; // static threadgroup memory
    uint64_t private_bytes;     // allocas of one thread
    char *own_remarks;          // for the code object; NULL: none
    CgPart *parts;
    uint32_t n_parts;
    bool *constant_set;            // [of all parts] has a value
    char *cpu, *features;          // LLVM's strings behind cx.cpu and cx.features
    uint32_t *dynamic_parts;       // [request->n_dynamic] part of each dynamic library; 0: none yet
    char *scratch;                 // msl_part_symbol's
    struct Validation *validation; // while validate.c runs, or NULL
    struct CgDispatch *dispatches; // calls through pointers whose functions stay functions
    size_t n_dispatches;
    LLVMMetadataRef source; // the kernel's record for debuggers, or NULL
    char *diagnostics;      // errors LLVM reported through its handler, or NULL
} Cg;

// backend.c: one step of the pipeline, which `--dump-after` knows by its name
void msl_step(Cg *cg, const char *name, void (*run)(Cg *));

// context.c
bool msl_context_open(Cg *cg, const MslKernelRequest *request, char **log);
void msl_context_close(Cg *cg);
void msl_insert(MslContext *cx,
                LLVMValueRef instruction); // at the builder's place, with its own line
void msl_run_passes_with(MslContext *cx, LLVMValueRef f, const char *pipeline, bool unroll);
void msl_dump(MslContext *cx, const char *step); // appends the module to the log if asked for
void msl_verify(MslContext *cx, const char *step);
// Where another msl_verify follows, or what LLVM made is looked at: in debug builds only.
static inline void msl_verify_ours(MslContext *cx, const char *step) {
#ifdef NDEBUG
    (void)cx, (void)step;
#else
    msl_verify(cx, step);
#endif
}
// The value, if it is an instruction of this kind; else NULL.
static inline LLVMValueRef msl_as(LLVMValueRef v, LLVMOpcode op) {
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op ? v : NULL;
}
LLVMTypeRef msl_int(const MslContext *cx, unsigned bits);
LLVMTypeRef msl_ptr(const MslContext *cx);
LLVMValueRef msl_const(const MslContext *cx, unsigned bits, uint64_t value);
void msl_add_attribute(MslContext *cx, LLVMValueRef f, LLVMAttributeIndex at, const char *name,
                       uint64_t value);
void msl_add_text_attribute(MslContext *cx, LLVMValueRef f, const char *name, const char *value);
const char *msl_callee(LLVMValueRef instruction); // name of the function called directly, else ""
bool msl_starts(const char *s, const char *prefix);

// target.c
bool msl_knows_target(const char *target); // of a request
void msl_open_target(Cg *cg);
void msl_close_target(Cg *cg);
void msl_set_target_attributes(Cg *cg);
bool msl_is_host_symbol(const char *name); // one that code may need and the device gives it
LLVMMemoryBufferRef msl_emit(Cg *cg);      // an object, or assembly text
bool msl_take_text(const char *start, size_t n, MslKernel *out); // false: out of memory
// Takes the buffer over: object -> shared object. Text stays what it is.
void msl_link(Cg *cg, LLVMMemoryBufferRef buffer, MslKernel *out);

// demote_phis.c
void msl_demote_phis(Cg *cg, LLVMValueRef f); // a version with barriers

// lower/lower.c: the late passes
#define MSL_EDGES "ingot-edges" // of a function: it serves the grid's edges, others serve the rest
void msl_lower(Cg *cg);

// matrix.c
bool msl_is_matrix_call(const char *name);
void msl_expand_matrices(Cg *cg);

// fuse.c
// Sums of products of this type are left to contract.c: floats, and shorter ones where the machine
// has an instruction for them. (A machine without any for floats is taken to have one.)
bool msl_machine_fuses(const Cg *cg, LLVMTypeRef t);
void msl_fuse_short_floats(Cg *cg);

// load.c
void msl_load(Cg *cg);
LLVMModuleRef msl_open_lazily(Cg *cg, const void *bitcode, size_t n_bytes);
// One module of a library's code (abi/modules.h).
LLVMModuleRef msl_open_code(Cg *cg, const void *code, size_t n_bytes, uint32_t number);
void msl_hide_all_but(LLVMModuleRef m, bool (*keep)(LLVMValueRef f, void *context), void *context);
void msl_join(Cg *cg, LLVMModuleRef library); // into the kernel's module; the library is gone then

// verify.c: the code of libraries may be anybody's
void msl_verify_library(Cg *cg, LLVMModuleRef m); // as it was opened
void msl_verify_code(Cg *cg);                     // all that has joined

// link_load.c: functions of other libraries join the kernel's module
#define MSL_LINKED "ingot.linked." // and the number: the name of a linked function in the module
void msl_link_parts(Cg *cg);
// The name of a symbol of part `part` in the module; valid until the next call.
const char *msl_part_symbol(Cg *cg, uint32_t part, const char *symbol);
bool msl_same_signature(LLVMTypeRef a, LLVMTypeRef b); // function types
bool msl_is_linked(LLVMValueRef f); // a linked function: kept until the calls are resolved

// intersection.c: a function in `m` around f, of the type that all of them have; NULL: f is none
LLVMValueRef msl_wrap_intersection(Cg *cg, LLVMModuleRef m, LLVMValueRef f, const RfFunction *fn);

// outline.c
typedef struct MslCandidate { // for a call through a pointer
    LLVMValueRef f;
    uint64_t id, key; // two numbers of it; key 0: none
} MslCandidate;
bool msl_outline_call(Cg *cg, LLVMValueRef call, const MslCandidate *fits, size_t n); // done so?
// The thread functions that are called; *dispatch and *callee are 0 at first.
bool msl_next_callee(const Cg *cg, size_t *dispatch, size_t *callee, LLVMValueRef *f);
void msl_vectorise_callees(Cg *cg); // before what calls them
void msl_dispatches_free(Cg *cg);

// link_calls.c
// What calling nothing gives, in memory.
void msl_build_nothing(Cg *cg, LLVMValueRef call, LLVMValueRef id);
LLVMTypeRef msl_null_call_type(const MslContext *cx); // a store of it stands for a call of nothing
void msl_resolve_calls(Cg *cg); // calls through pointers become switches; cg->thread is inlined

// Code written in C (device/) and compiled when mslc is built, for the architecture of the target.
typedef enum MslDevicePart { // the last three are objects, the others bitcode
    MSL_DEVICE_STEPS,        // steps.c: the loop over the steps of a kernel
    MSL_DEVICE_ROWS,
    MSL_DEVICE_LANES,
    MSL_DEVICE_STAGE,
    MSL_DEVICE_VALIDATE,
    MSL_DEVICE_GROUP, // group.c: the loop over threadgroups
    MSL_DEVICE_WAITING,
    MSL_DEVICE_SUPPORT,
    MSL_N_DEVICE_PARTS
} MslDevicePart;
MslElf msl_device_code(const Cg *cg, MslDevicePart part);
void msl_link_device_code(Cg *cg, MslDevicePart part);

// exits.c
void msl_hold_exits(Cg *cg);

// debug.c: code for debuggers
static inline bool msl_is_debugged(const Cg *cg) { return cg->request->debug == MSL_DEBUG_FULL; }
void msl_begin_debug(Cg *cg);  // drops what the request does not ask for
void msl_inline_debug(Cg *cg); // msl_inline_all's passes: the program's own code stays as it is
// One function takes the other's place for who reads the lines: what is taken before `from` is
// inlined into it is given to it afterwards.
typedef struct MslSourceNotes {
    LLVMMetadataRef function, end; // NULL: none; the line of its last brace
} MslSourceNotes;
MslSourceNotes msl_take_source(LLVMValueRef from);
void msl_give_source(LLVMValueRef to, MslSourceNotes notes);
void msl_finish_debug(Cg *cg); // after the reference code is whole
void msl_finish_lines(Cg *cg); // last: optimised code that knows its lines

// specialise.c
void msl_specialise(Cg *cg);
void msl_check_constants(Cg *cg); // after optimisation: nothing unset is left in use
bool msl_condition_holds(Cg *cg, const char *condition); // a function constant's symbol, or ""
bool msl_argument_enabled(Cg *cg, const RfArg *arg);

// entry.c
void msl_build_entry(Cg *cg); // cg->thread calls cg->entry
void msl_inline_all(Cg *cg);  // everything in cg->thread, threadgroup memory placed
// Memory of the thread that holds what an argument at program scope, a variable of this type, is.
LLVMValueRef msl_build_binding(Cg *cg, const RfArg *arg, LLVMTypeRef type);
void msl_resolve_bindings(Cg *cg); // bindings.c: variables at program scope become slots
void msl_spread_dots(Cg *cg);      // dots.c
void msl_contract(Cg *cg);         // contract.c
void msl_optimise_thread(Cg *cg);  // canonical form for the vectoriser
void msl_survey(Cg *cg);           // fills cg->uses
LLVMValueRef msl_call_position(Cg *cg, unsigned builtin, unsigned dim);
// How many numbers a call of __ingot_position may give, from 0 on; 0: not known.
uint64_t msl_positions(const Cg *cg, LLVMValueRef call);
// The type that an attribute of a parameter of the IR function names: byval or sret; NULL: none.
LLVMTypeRef msl_memory_type(LLVMValueRef f, unsigned param, const char *attribute);
void msl_copy_call_attributes(LLVMValueRef f, LLVMValueRef call); // how memory is passed

// stage.c, stage_wrap.c: vertex and fragment functions
static inline bool msl_is_graphics(const Cg *cg) {
    return cg->fn->stage == RF_VERTEX || cg->fn->stage == RF_FRAGMENT;
}
// The value of a parameter (or its memory, if byval is not NULL) from the stage's inputs; NULL:
// none.
LLVMValueRef msl_build_stage_input(Cg *cg, uint32_t param, LLVMTypeRef want, LLVMTypeRef byval);
void msl_store_stage_outputs(Cg *cg, LLVMValueRef result);       // from the memory of the result
LLVMValueRef msl_stage_threadgroup(Cg *cg, LLVMValueRef offset); // in the memory of the tile
void msl_mark_stage_end(Cg *cg);
void msl_settle_stage(Cg *cg);
void msl_wrap_stage(Cg *cg);
void msl_finish_stage_info(Cg *cg); // ingot_stage_info

// texture.c
void msl_describe_textures(Cg *cg); // what texture functions do to memory, for the optimiser
void msl_describe_tensors(Cg *cg);  // what tensor functions do to memory
uint64_t msl_tensor_stack(LLVMValueRef call); // bytes of stack of such a call, for each thread
void msl_lower_texture_info(Cg *cg);          // size queries become loads
// handle.c
void msl_describe_handles(Cg *cg);
void msl_lower_handle_words(Cg *cg);   // what tensor handles stand for becomes loads
void msl_allow_motion(LLVMValueRef f); // calls of it are each thread's own business
// What both lowerings are made of: a constant of zeros that stands for what is not there, a handle
// as a pointer, or `none`, loads from memory that never changes, and such a load of the word that a
// call (handle, word) asks for, in the place of the call.
LLVMValueRef msl_zeros(Cg *cg, LLVMTypeRef word, unsigned n, const char *name);
LLVMValueRef msl_pointer_or(Cg *cg, LLVMValueRef handle, LLVMValueRef none);
void msl_set_invariant(Cg *cg, LLVMValueRef load);
void msl_replace_by_word(Cg *cg, LLVMValueRef call, LLVMTypeRef type, uint64_t n_words,
                         LLVMValueRef p);
unsigned msl_texture_call(LLVMValueRef instruction, unsigned *op); // 's'ample, 't'race, ...; 0: no

// notes.c
#define MSL_NOTE "__ingot_note"
void msl_note_arithmetic(Cg *cg); // before anything is inlined

// uninitialised.c
#define MSL_UNINITIALISED "__ingot_unwritten"
bool msl_finds_uninitialised(const Cg *cg);      // whether it was asked for
void msl_mark_variables(Cg *cg, LLVMValueRef f); // before anything is inlined
void msl_note_uninitialised(Cg *cg);             // when everything is
void msl_settle_uninitialised(Cg *cg);           // when variables are values

// validate.c
void msl_validate(Cg *cg); // nothing unless the request asks for it
void msl_validation_free(Cg *cg);

// tables.c: before anything is vectorised, when everything is, and at the end of all
void msl_begin_tables(Cg *cg);
void msl_finish_tables(Cg *cg);
void msl_free_tables(Cg *cg);
#endif
