// SPDX-License-Identifier: Apache-2.0
// validate_int.h: between the files of shader validation: validate.c (the pass), validate_roots.c
// (what an address is made from), validate_handle.c (what handles stand for), validate_check.c (one
// access behind a branch).
#ifndef INGOT_VALIDATE_INT_H
#define INGOT_VALIDATE_INT_H
#include "abi/cpu_kernel.h"
#include "base/arena.h"
#include "compiler/codegen/codegen.h"

typedef LLVMValueRef Value;
typedef LLVMTypeRef Type;
typedef LLVMBasicBlockRef Block;

enum { MAX_ROOTS = 4 };

// Memory of known extent that addresses are made from.
typedef struct Root {
    Value value;          // the parameter, variable or pointer
    Value start;          // its first byte, a pointer; NULL: not computed yet
    Value length;         // bytes, i64
    uint32_t space, slot; // AbiSpace; slot: UINT32_MAX if it is none
    uint64_t safe;        // bytes from the start that need no check: the runtime sees to them
    uint64_t
        needed;   // of those, what a buffer must have: a float3 is loaded as 16 bytes, 12 will do
    bool trusted; // not the program's memory: never checked
} Root;

// How an access is checked.
typedef enum Mode {
    MODE_NONE,   // it cannot go wrong
    MODE_SHORT,  // cannot do harm; only reported, once for its block
    MODE_BRANCH, // a branch of its own
    MODE_REGION, // together with others
} Mode;
typedef struct Access {
    Value i;
    Mode mode;
    AbiBadAccess kind;
    int operand;    // that is the pointer
    uint64_t bytes; // 0: the value of operand 2 (memcpy and friends)
    Root *roots[MAX_ROOTS];
    int n_roots;
    Root *chosen;          // of several roots the one the pointer was made from; NULL: not known
    bool fixed;            // at a constant offset from the root's start,
    int64_t offset;        // this one
    Root *from[MAX_ROOTS]; // memcpy and memmove: roots of the source
    int n_from;
} Access;

// An operation on tensors: what its operands are made from.
enum { TENSOR_OPERANDS = 3 };
typedef struct TensorAccess {
    Value i;
    Root *roots[TENSOR_OPERANDS][MAX_ROOTS];
    int n_roots[TENSOR_OPERANDS]; // 0: not in memory, or not the program's
} TensorAccess;

typedef struct Validation {
    Cg *cg;
    BaseArena arena;
    Root **roots;
    size_t n_roots, max_roots;
    Access **accesses;
    size_t n_accesses, max_accesses;
    TensorAccess **tensors;
    size_t n_tensors, max_tensors;
    struct Bounds **bounds;
    size_t n_bounds, max_bounds;
    unsigned access_kind, varies_kind, region_kind; // metadata
    Value empty;                                    // a node without contents
    unsigned n_regions;
    Root **kept; // variables of the thread and threadgroup memory whose address stands in memory
    size_t n_kept, max_kept;
    bool knows_kept;
} Validation;

// Where a check stands: what reports say about the thread.
typedef struct Where {
    Value launch, thread[3]; // NULL: asked for by builtins where they are needed
} Where;

void *msl_validate_alloc(Validation *v, size_t n, size_t size); // fails the compilation
// The list of pointers with room for one more.
void *msl_validate_grow(Validation *v, void *list, size_t n, size_t *max);

// validate_roots.c
int msl_find_roots(Validation *v, Value pointer, Root **out); // at most MAX_ROOTS
Root *msl_root_of(Validation *v, Value value);
// One step towards the root: the pointers that one is based on. 0: it is one; -1: too many.
enum { MSL_MAX_BACK = 64 };
int msl_step_back(Value pointer, Value *out);
void msl_root_values(Validation *v, Root *root); // start and length
bool msl_constant_offset(Validation *v, Value pointer, const Root *root, int64_t *offset);
void msl_mark_varying(Validation *v);
void msl_hoist_places(Validation *v); // what is threadgroup memory is known from the entry on
bool msl_keeps_thread(Validation *v); // some variable of the thread is among `kept`
bool msl_is_lookup(const char *name); // of a pointer or a handle, at run time
void msl_position_behind(Validation *v, Value value); // the builder: where the value is known
bool msl_varies(const Validation *v, Value value);

// validate.c
Access *msl_access_of(const Validation *v, Value i); // NULL: it is none that was noted

// watch.c
void msl_expand_notes(Validation *v);   // before anything is checked
void msl_watch_accesses(Validation *v); // when everything is

// validate_check.c
// Line and column of an instruction in the program, not in our headers, if the code says so.
void msl_source_place(Validation *v, Value i, unsigned *line, unsigned *column);
bool msl_is_unknown_access(Value i); // of memory, by a call that nobody checks
Value msl_launch(Validation *v, const Where *where);
Value msl_byte_offset(Validation *v, Value pointer, const Root *root); // i64
Value msl_limit(Validation *v, Value length, uint64_t bytes);          // offsets below it are good
void msl_check_branch(Validation *v, Value i, const Access *a, Root *const *roots,
                      const Where *where);
void msl_check_copy(Validation *v, const Access *a);
// i1: n bytes from p on lie in one of the roots.
Value msl_whole_inside(Validation *v, Value p, Value n, Root *const *roots, int n_roots);
// At the end of the builder's block, which has no end yet; the builder goes on behind it.
void msl_report_unless(Validation *v, Value ok, Value i, AbiBadAccess kind, Value n, Value p,
                       const Root *root);
void msl_check_handle(Validation *v, Value i); // of __ingot_texture_*, __ingot_rays_*(handle, ...)
// Before `first`; `last` is the one that ends last of those checked together.
void msl_check_short(Validation *v, const Access *first, const Access *last);
// validate_bounds.c
void msl_choose_bounds(Validation *v, Root *root); // start and length of a mixture
// validate_range.c
bool msl_stays_inside(Validation *v, const Access *a); // whatever the thread
// validate_module.c
void msl_expand_relative_loads(Validation *v); // before everything else
void msl_describe_module(Validation *v);       // at the end
// validate_handle.c
void msl_guard_handles(Validation *v); // before roots are looked for
Value msl_guarded_handle(Value live);  // NULL: it was not looked up
// validate_tensor.c
bool msl_is_tensor_call(Value i);
void msl_note_tensor(Validation *v, Value i); // before anything is checked
void msl_check_tensor(Validation *v, Value i);

Value msl_call(Validation *v, const char *name, Type result, Value *args, unsigned n);
#endif
