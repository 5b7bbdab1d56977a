// SPDX-License-Identifier: Apache-2.0
// passes_int.h: private to passes/. The state of one vectorisation and what its files offer each
// other. Reading order: vectorise.c (the pipeline), prepare.c, join.c, merge.c, cfg.c, private.c,
// divergence.c, shape.c, bits.c, position.c, emit.c, emit_inst.c, emit_packed.c, emit_memory.c,
// emit_record.c, emit_stripe.c, emit_clamped.c, emit_helper.c, emit_atomic.c, emit_simd.c,
// emit_texture.c, emit_tensor.c, emit_count.c, fragment.c, emit_fragment.c, emit_control.c,
// split.c, version.c, demand.c. lane_masks.c stands beside them.
//
// The invariant everything rests on: the vector CFG is the structured scalar CFG (same blocks, same
// edges), and a block runs only while at least one lane is active. So dominance never changes, and
// uniform code stays scalar code. (Small harmless blocks run always: see find_flat.)
#ifndef INGOT_PASSES_INT_H
#define INGOT_PASSES_INT_H
#include "compiler/passes/map.h"
#include "compiler/passes/passes.h"
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

typedef LLVMValueRef Value;
typedef LLVMTypeRef Type;
typedef LLVMBasicBlockRef Block;

enum {
    MAX_WIDTH = 32,
    MAX_PARTS = 8,     // vectors of a step: SIMD-groups that run interleaved
    MAX_SEGMENTS = 64, // of a step
    MAX_RECORD = 4,    // elements of a record read by one wide access
    MAX_WIDE = MAX_WIDTH * MAX_RECORD,
    MATRIX_ELEMENTS = 64, // of a matrix of the SIMD-group
    MAX_SLOTS = 16,       // vectors that a loop over lanes reads from memory
};

// What is known about a value over the active lanes.
//   LINEAR: base + stride * lane; stride 0 is uniform. `segmented`: n_segments bases, lane l has
//   base[l / segment] + stride * (l % segment): rows of a threadgroup narrower than a SIMD-group.
//   nsw, nuw: the signed (unsigned) values of the active lanes lie on one line of integers, that
//   is, no wrap lies between two active lanes of a segment. Lane 0 itself may be inactive and
//   wrapped. max: no active lane's unsigned value is greater; `sure`: nor that of any other lane,
//   no wrap anywhere. rows: the bases of a segmented value are `row` apart, so that one stands for
//   all.
//   SHAPED: base + a constant of the lane, whatever it is (shape.c); the rest as above.
typedef enum Kind { TOP, LINEAR, SHAPED, VARYING } Kind;
typedef struct Class {
    Kind kind;
    bool segmented, nsw, nuw;
    int64_t stride;
    uint64_t max;
    bool sure, rows;
    int64_t row;
    const int64_t *shape; // SHAPED: of each lane of the step, from lane 0 on
    uint64_t bits;        // of lane 0, active or not: those that may be set (bits.c)
} Class;

// A value of the thread function and its forms in the vector function.
typedef struct Val {
    Value old;
    Class c;
    int n;         // components: scalar leaves of its type
    Value *base;   // LINEAR, SHAPED: [1] or [n_segments] scalars
    Value *v;      // VARYING: [n] vectors of `width` lanes, those of the part being emitted
    Value *all;    // of all parts: [parts][n]
    Value *packed; // of each part: all components in the order of memory, or NULL (emit_packed.c)
} Val;

typedef struct Blk {
    Block old, first, last; // source block; first and last block emitted for it
    int n_succ, succ[2], n_pred, *pred;
    int idom, ipdom, loop;   // loop: innermost, or -1
    int header, latch, exit; // loop of which this is header, latch, exit; or -1
    int dom_in, dom_out;     // interval in a walk of the dominator tree
    int mask_id;             // equal ids: equal execution masks (analysis)
    bool divergent, flat;    // divergent branch; its body needs no branch
    bool lead;               // lane 0 is active
    Value mask[MAX_PARTS], taken[MAX_PARTS],
        again[MAX_PARTS];      // execution mask; of the taken side; of the lanes that loop on
    Value any[MAX_PARTS], all; // i1: whether `taken` has a lane, and all; NULL: ask it
    Value every[MAX_PARTS];    // where it has one there: whether it has all
} Blk;
typedef struct Loop {
    int header, latch, preheader, exit, parent;
    bool divergent;
    int first_out, n_out; // its live-outs in Vec.outs
} Loop;
// A value live out of a divergent loop: each lane keeps what it had when it left.
typedef struct LiveOut {
    Value phi;
    int n;
    Value *acc, *next; // [parts][n]
} LiveOut;

// One or two matrices of the SIMD-group that were stored for the block `in` (emit_fragment.c).
typedef struct Spilt {
    Value rows[2], at;
    Block in;
    struct Spilt *next;
} Spilt;

// Two matrices of sums, and rows of both side by side (emit_fragment.c).
typedef struct Sums {
    Value of[2], rows[8];
    struct Sums *next;
} Sums;

// What one part of a block does, where lanes of it are active (emit_control.c).
typedef struct PartRun {
    Block before, on, next;
    Value mask, every;
    struct PartRun *following;
} PartRun;

typedef struct Vec {
    MslContext *cx;
    MslVersion asked;
    Arena arena;
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTargetDataRef dl;
    // A step runs `lanes` threads as `parts` vectors of `width`. Several parts are several
    // SIMD-groups interleaved: more independent work, shared uniform loads, and barriers for
    // nothing when a step is the whole threadgroup. A segment lies within one part.
    unsigned width, parts, lanes, segment, n_segments;
    unsigned apart; // as in MslVersion
    unsigned part;  // being emitted
    unsigned wide;  // components of the packed operation being emitted; 0: none
    uint32_t shape[3];
    bool full; // actual threadgroup size = shape
    enum { POSITIONS_VARY, POSITIONS_LINEAR, POSITIONS_SEGMENTED } positions;
    int fast;     // the dimension that runs with the lanes
    bool whole;   // the mask it begins with is full
    bool lead;    // lane 0 is active in the block being emitted
    bool started; // so is every lane that the function began with
    bool part_on; // some lane of the part being emitted is: else of some part
    bool assume;  // this copy may count checked clamps as linear (version.c)
    Type i1, i8, i16, i32, i64, f32, f64, ptr, none, mask_type, bits_type;
    Value thread, f;

    Blk *blocks;
    int n_blocks;
    Map block_ix;
    Loop *loops;
    int n_loops;
    Val *vals;
    int n_vals;
    Map val_ix;
    Map entry_ok; // version.c: can be computed at the entry
    Map late;     // addresses emitted with their check (emit_check.c)
    Map sunk;     // extensions cloned next to their access, as prepare.c explains: -> the bits by
                  // which a step of the index shifts the address
    Map soa;      // pointers into private memory laid out by cells (private.c)
    LiveOut *outs;
    int n_outs;
    Map out_ix;
    Spilt *spilt;
    Sums *sums;
    struct Shape *shapes;
    Value slots[MAX_SLOTS]; // memory for loops over lanes, one after the other
    Map full_tests;         // questions for a full mask that split.c answers
    PartRun *part_runs;     // of which it makes copies for full masks
    Map striped;            // loads emitted with another -> its number (emit_stripe.c)

    Value covered, lengths;                 // emit_helper.c: lanes that count; NULL: all that run
    Value mask;                             // execution mask of the part of the block being emitted
    const Value *masks;                     // of all its parts
    Value launch, group[3], size[3], first; // parameters of f
} Vec;

static inline bool starts_with(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}
static inline const char *callee_of(Value call) {
    Value f = LLVMIsACallInst(call) ? LLVMIsAFunction(LLVMGetCalledValue(call)) : NULL;
    size_t n;
    return f ? LLVMGetValueName2(f, &n) : "";
}
// Of integers.
static inline bool is_min_max(Value v) {
    const char *n = callee_of(v);
    return starts_with(n, "llvm.smin") || starts_with(n, "llvm.smax") ||
           starts_with(n, "llvm.umin") || starts_with(n, "llvm.umax");
}
// What holds where this does not.
static inline LLVMIntPredicate opposite(LLVMIntPredicate p) {
    static const LLVMIntPredicate to[] = {LLVMIntNE,  LLVMIntEQ,  LLVMIntULE, LLVMIntULT,
                                          LLVMIntUGE, LLVMIntUGT, LLVMIntSLE, LLVMIntSLT,
                                          LLVMIntSGE, LLVMIntSGT};
    return to[p - LLVMIntEQ];
}
static inline bool is_vector(Type t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind; }
static inline bool is_aggregate(Type t) {
    return LLVMGetTypeKind(t) == LLVMStructTypeKind || LLVMGetTypeKind(t) == LLVMArrayTypeKind;
}
static inline bool is_pointer(Type t) { return LLVMGetTypeKind(t) == LLVMPointerTypeKind; }
static inline bool is_integer(Type t) { return LLVMGetTypeKind(t) == LLVMIntegerTypeKind; }
static inline unsigned int_bits(Type t) { return LLVMGetIntTypeWidth(t); }
static inline Value const_int(Type t, int64_t v) {
    return LLVMConstInt(t, (unsigned long long)v, 1);
}
static inline bool get_const(Value v, int64_t *x) {
    if (!LLVMIsAConstantInt(v) || int_bits(LLVMTypeOf(v)) > 64) return false;
    *x = LLVMConstIntGetSExtValue(v);
    return true;
}
static inline Value operand(Value i, int k) { return LLVMGetOperand(i, (unsigned)k); }
static inline void *vec_alloc(Vec *x, size_t n, size_t size) {
    return msl_arena_alloc(x->cx, &x->arena, n * size);
}
// Ends the compilation: `why` and the instruction.
_Noreturn void msl_fail_at(Vec *x, const char *why, Value instruction);

// types.c: values as sequences of scalar leaves (vectors, structs and arrays flattened).
int msl_leaves(Type t);
Type msl_leaf_type(Type t, int leaf);
int msl_leaf_of_path(Type t, const unsigned *path, unsigned n,
                     Type *at); // first leaf of the member
Value msl_extract_leaf(Vec *x, Value aggregate, int leaf);
Value msl_insert_leaf(Vec *x, Value aggregate, Value scalar, int leaf);

// cfg.c
void msl_cfg_build(Vec *x, Value f);
bool msl_cfg_reducible(Vec *x);
void msl_cfg_analyse(Vec *x, Value f);
int msl_block_ix(const Vec *x, Block b);
bool msl_dominates(const Vec *x, int a, int b);
bool msl_in_loop(const Vec *x, int loop, int block);
int msl_taken_side(Vec *x, int block); // the successor of a forward branch that is not its join

// vectorise.c
// Runs one job on a thread function and gives what it gave; an error in it leaves nothing behind.
Value msl_with_vec(MslContext *cx, Value thread, const MslVersion *asked,
                   Value (*run)(Vec *x, void *context), void *context);
void msl_prepare_once(Vec *x); // a thread function, however many versions it gets
bool msl_wants_copies(Vec *x); // of an analysed one: fast for indices that meet no clamp, and slow
void msl_analyse(Vec *x);      // of a prepared function: control flow, private memory, classes

// prepare.c, prepare_memory.c
void msl_prepare(Vec *x);
void msl_prepare_memory(Vec *x);
void msl_find_sunk(Vec *x);
void msl_join_elements(Vec *x); // join.c
bool msl_may_merge_loads(Vec *x);
bool msl_merge_loads(Vec *x); // merge.c: whether it changed anything; needs classes
Value msl_base_of(const Vec *x, Value p, int64_t *offset); // without constant offsets, in bytes
bool msl_is_computed_alike(Value a, Value b); // addresses are cloned for each access (prepare.c)
bool msl_may_write(Value i);

// private.c
void msl_analyse_private(Vec *x);
// Loads and stores of variables that are mostly words are of words, before anything is analysed.
void msl_unify_private(Vec *x);
bool msl_is_soa(const Vec *x, Value p);
int msl_soa_cell(const Vec *x, Value p);         // bytes, of a pointer that is
int msl_soa_rest(const Vec *x, Value p);         // of them before it
int64_t msl_soa_end(const Vec *x, Value alloca); // where a cell that nobody reads lies in it
int64_t msl_private_stride(const Vec *x, Value alloca);
Value msl_emit_alloca(Vec *x, Value alloca);
// The private array that p is made from by indices that are not all constant, so that it may lie
// outside; NULL if it cannot, or if it is made otherwise.
Value msl_unsure_private(Value p);

// divergence.c
void msl_analyse_divergence(Vec *x);
Val *msl_val(const Vec *x, Value v); // NULL: a constant, uniform
Class msl_class(const Vec *x, Value v);
bool msl_uniform(const Vec *x, Value v);
int msl_kept_operand(
    Vec *x, Value i); // number + 1 of the operand that i is equal to in active lanes; 0: none
Class msl_linear(int64_t stride, bool nsw, bool nuw);

// shape.c
void msl_set_shape(Vec *x, Class *c, const int64_t *at); // values of the lanes but for a number
bool msl_shape_of(const Vec *x, Class c, int64_t *at);   // false: it has none
Value msl_shape_vector(Vec *x, Class c, Type t);         // of the part being emitted
Value msl_shape_at(Vec *x, Class c, Value lane);         // i64, of a lane of the step
bool msl_known(Vec *x, Value v, int64_t *at);            // a constant of the lane alone

// bits.c
uint64_t msl_base_bits(Vec *x, Value i); // of the scalar that stands for i's lane 0
// The class of a mask, shift or division that works on lanes and what they share alike.
bool msl_class_of_bits(Vec *x, Value i, Class *r);

// position.c
typedef enum Op { // the calls the vectoriser itself lowers
    OP_NONE,
    OP_POSITION,
    OP_LAUNCH,
    OP_BARRIER,
    OP_SIMD_BARRIER,
    OP_NEVER,
    OP_FRAME,
    OP_INSIDE,
    OP_TEX_SAMPLE, // in the order of CpuTextureOps
    OP_TEX_READ,
    OP_TEX_WRITE,
    OP_TEX_ATOMIC,
    OP_RAY_TRACE, // in the order of CpuRayOps
    OP_RAY_PATH,
    OP_RAY_MATRIX,
    OP_SUM,
    OP_PRODUCT,
    OP_MIN,
    OP_MAX,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SCAN_SUM,
    OP_SCAN_SUM_EX,
    OP_SCAN_PRODUCT,
    OP_SCAN_PRODUCT_EX,
    OP_BROADCAST,
    OP_SHUFFLE,
    OP_UP,
    OP_DOWN,
    OP_SHUFFLE_XOR,
    OP_ROTATE_UP,
    OP_ROTATE_DOWN,
    OP_FIRST,
    OP_FILL_UP,
    OP_FILL_DOWN,
    OP_BALLOT,
    OP_ALL,
    OP_ANY,
    OP_IS_FIRST,
    OP_ACTIVE,
    OP_MMA, // matrices as pairs of each lane, before fragment.c
    OP_MATRIX_LOAD,
    OP_MATRIX_STORE,
    OP_FRAGMENT_ROWS, // as rows of all lanes
    OP_FRAGMENT_LANE,
    OP_FRAGMENT_LOAD,
    OP_FRAGMENT_MMA,
    OP_TENSOR_MATMUL, // from here on without a result; compiler/tensor_call.h
    OP_TENSOR_CONVOLUTION,
    OP_DISPATCH,
    OP_OBSERVE,
    OP_FRAGMENT_STORE,
} Op;
typedef struct Builtin {
    Op op;
    bool quad, is_unsigned;
} Builtin;
Builtin msl_builtin_of(Value call);
void msl_plan_positions(Vec *x); // segment, n_segments
Class msl_position_class(Vec *x, Value call);
bool msl_known_position(Vec *x, Value call, uint64_t *at); // for msl_known
void msl_emit_position(Vec *x, Value call, Val *o);
Value msl_position_base(Vec *x, Value call, unsigned segment); // scalar of the segment's first lane

// emit.c: values, shuffles, the lane loop
unsigned msl_n_bases(const Vec *x, Class c);            // scalars that make up a linear value
Value msl_scalar(Vec *x, Value v);                      // uniform value, or lane 0 of a linear one
Value msl_scalar_of(Vec *x, Value v, unsigned segment); // first lane of a segment
Value msl_part_base(Vec *x, Value v);                   // first lane of the part being emitted
Value msl_segment_mask(Vec *x, unsigned segment);
void msl_set_part(Vec *x, unsigned part);
Value msl_vector(Vec *x, Value v, int leaf);
Value msl_splat(Vec *x, Value scalar);
Value msl_lane_offsets(Vec *x, Type t, int64_t stride, unsigned n);
Type msl_vector_type(const Vec *x, Type t);
Value msl_intrinsic(Vec *x, const char *name, Type *overloads, unsigned n_overloads, Value *args,
                    unsigned n);
Value msl_shuffle(Vec *x, Value a, Value b, const int *ix, unsigned n); // ix < 0: poison
Value msl_part(Vec *x, Value v, unsigned from, unsigned n);
Value msl_concat(Vec *x, Value *parts, unsigned n);
Value msl_zero_mask(const Vec *x);
Value msl_full_mask(const Vec *x);
Value msl_mask_and(Vec *x, Value mask, Value condition);
Value msl_mask_bits(Vec *x, Value mask);
Value msl_any(Vec *x, Value mask);
Value msl_is_full(Vec *x, const Value *masks, unsigned n); // all lanes of n parts
Value msl_first_lane(Vec *x, Value mask);                  // in bits_type; width if none
Value msl_last_lane(Vec *x, Value mask);
Value msl_clone(Vec *x, Value i, bool strip, unsigned segment);
void msl_lane_loop(Vec *x, Value i, Val *o);
// A vector that such a loop, which knows a lane by its number, reads; and an element of it there.
Value msl_to_read_by_lane(Vec *x, Value v, unsigned slot);
Value msl_of_lane(Vec *x, Value from, Type t, Value lane);
typedef struct Lanes { // a loop over the active lanes of the part, one block
    Block before, loop, done;
    Value on, bits;
} Lanes;
Lanes msl_begin_lanes(Vec *x); // phis of the loop come next, then the number of the lane
Value msl_lane_number(Vec *x, const Lanes *l);
void msl_end_lanes(Vec *x, const Lanes *l);
void msl_end_lanes_but(Vec *x, const Lanes *l, Value done); // the turn served several: bits_type
Value msl_entry_alloca(Vec *x, Type t, unsigned align);
Block msl_new_block(Vec *x, const char *name);

// emit_inst.c
void msl_remark_all(const Vec *x); // remarks.c
// Whether each lane of an access has its own address: no order between them, or far apart.
bool msl_is_gathered(const Vec *x, Value pointer, int64_t bytes);
void msl_emit_count(Vec *x, const Blk *block); // emit_count.c: at its end, before it is left
// What is built next is of the line that i is of.
static inline void msl_at_line_of(const Vec *x, Value i) {
    if (x->cx->lines) LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(i));
}
void msl_emit_instruction(Vec *x, Value i);
void msl_emit_part(Vec *x, Value i, unsigned part); // a varying instruction, one part of it
bool msl_is_elementwise(const char *name);
bool msl_is_dropped(const char *name); // calls without meaning for the vector function

// emit_packed.c
void msl_unpack(Vec *x, Value w, int n, Value *leaves); // records of n -> components
void msl_set_packed(Vec *x, Val *o, Value w);           // of the part being emitted
Value msl_pack(Vec *x, Value v);
bool msl_may_pack(Vec *x, Value v, int depth);
Value msl_interleave(Vec *x, Value *v, int n, int g, int lanes);
Value msl_packed(Vec *x, Value v); // of a uniform value: repeated; NULL: only in components
Value msl_records_of(Vec *x, Value v, int n); // the same, if it has room for n elements of each
bool msl_packs(Vec *x, Value i);

// emit_record.c
int msl_record_size(const Vec *x, int n, int element, unsigned align, bool store);
Value msl_load_records(Vec *x, Value p, Type element, unsigned n, unsigned align); // packed
void msl_store_records(Vec *x, Value packed, Value p, unsigned n, unsigned align);
Value msl_records_in_line(Vec *x, Value p, int64_t behind_p, Type element, unsigned n,
                          unsigned align);
bool msl_is_narrow(const Vec *x, Type element);
Value msl_load_narrow(Vec *x, Value p, Type element, unsigned n, unsigned align);
void msl_store_narrow(Vec *x, Value v, Value p, unsigned n, unsigned align);

// emit_stripe.c: false: i is none of several records that fill the space between lanes
bool msl_load_stripe(Vec *x, Value i);

// emit_clamped.c: NULL, false: the address is no line with clamped ends
bool msl_is_clamped_line(const Vec *x, Value p, Type element);
Value msl_load_clamped(Vec *x, Value p, Type element, unsigned align);

// emit_memory.c, emit_atomic.c
Value msl_set_align(Vec *x, Value call, unsigned parameter, unsigned align); // returns the call
void msl_emit_load(Vec *x, Value i, Val *o);
void msl_emit_store(Vec *x, Value i);
void msl_emit_store_part(Vec *x, Value i);
void msl_emit_gep(Vec *x, Value i, Val *o);
// Bytes from the memory that p was made from by indices alone, a vector or the scalar of a segment.
// By the indices: in differences of pointers LLVM 22.1 (instcombine) mixes up vectors and scalars.
Value msl_offset_of(Vec *x, Value p, bool vector, unsigned segment);
void msl_emit_rmw(Vec *x, Value i, Val *o);
// The copy of i just emitted, without the lock if it needs none.
Value msl_unlocked(Vec *x, Value i, Value copy);
bool msl_is_locked(const Vec *x, Value i); // an atomic access of memory that others see

// emit_simd.c
void msl_emit_builtin(Vec *x, Value i, Val *o, Builtin which);
Class msl_builtin_class(Vec *x, Value i, Builtin which);
Value msl_prefix_sum_exclusive(Vec *x, Value v); // over lanes of the current mask, integers
Value msl_reduce_int(Vec *x, LLVMAtomicRMWBinOp op, Value v); // over active lanes, to a scalar

// fragment.c, emit_fragment.c
bool msl_uses_matrices(LLVMValueRef thread); // position.c
void msl_gather_fragments(Vec *x);
void msl_emit_fragment(Vec *x, Value i, Val *o, Op op);
void msl_finish_fragments(Vec *x);

// emit_texture.c
Op msl_texture_op(Value call, unsigned *op); // OP_NONE if it is no function of textures or rays
static inline bool msl_is_texture_op(Op op) { return op >= OP_TEX_SAMPLE && op <= OP_RAY_MATRIX; }
Class msl_texture_class(Vec *x, Value i);
void msl_emit_texture(Vec *x, Value i, Val *o); // all parts

// emit_tensor.c
Op msl_tensor_op(Value call); // OP_NONE if it is no operation on tensors
// Of the elements of private storage that the call takes as a slab; -1: it is not one.
int msl_tensor_element_bytes(Vec *x, Value call, Value pointer);
void msl_emit_tensor(Vec *x, Value i);

// emit_helper.c
void msl_begin_helpers(Vec *x); // at the entry
// The mask for an access through p, so many bytes behind it and of so many, at addresses that
// differ between lanes.
Value msl_helper_mask(Vec *x, Value p, int64_t behind, int bytes);

// emit_check.c
void msl_find_late(Vec *x);
bool msl_is_late(const Vec *x, Value i); // emitted with its check
void msl_emit_dispatch(Vec *x, Value i);
void msl_emit_observe(Vec *x, Value i); // emit_observe.c // emit_call.c
Value msl_emit_frame(Vec *x, Value i);
void msl_emit_search(Vec *x, Value i, Val *o); // i64 ingot_live(launch, handle, kind)
void msl_emit_inside(Vec *x, Value i, Val *o); // i1 __ingot_inside(pointer, start, limit, ...)

// emit_control.c
typedef struct LineTest { // a line of numbers compared with one number
    Value line, bound;    // of the thread function
    LLVMIntPredicate predicate;
    int64_t stride;
    bool rising; // the condition holds from the first lane on, or ends with the last
} LineTest;
bool msl_line_test(Vec *x, Value condition, bool if_true, LineTest *t); // false: it is none
Value msl_ask_line(Vec *x, const LineTest *t, Value first, Value bound, unsigned lane);
// Whether lanes make an access through memory on the stack, one by one, where not all do.
bool msl_copies_by_lane(Vec *x, Value i, bool some);
bool msl_is_striped(Vec *x, Value load);
void msl_find_flat(Vec *x);
void msl_find_live_outs(Vec *x);
bool msl_is_packed_phi(Vec *x, Value i, int b); // of block b
void msl_emit_body(Vec *x);

// split.c
void msl_split(Vec *x);

// version.c
int msl_assumed_clamp(Vec *x, Value i); // number + 1 of the operand that is linear; 0: none
bool msl_has_clamps(Vec *x);
Value msl_build_guard(Vec *x); // i1: no lane is touched by any assumed clamp
#endif
