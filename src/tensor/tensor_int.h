// SPDX-License-Identifier: Apache-2.0
// tensor_int.h: what the files of the tensor library share.
//
// A tensor is a view (shape, strides, offset) of data. Data is a row of elements in memory, or, as
// long as nobody needed it, the operation that makes it (expr), which reads views again. Views are
// never lazy, data is; data never changes once it is made: a change in place gives new data to all
// tensors that share memory (alias.c).
//
// Locks: device->lock guards everything below that says so; it is taken by public functions and
// never while calling one.
#ifndef INGOT_TENSOR_INT_H
#define INGOT_TENSOR_INT_H
#include <pthread.h>
#include <stdatomic.h>
#include "ingot/tensor.h"

// ---- Types (types.c) ----

enum { IG_N_TYPES = 9 };
bool ig_is_type(IgType type);
bool ig_is_float(IgType type);
IgType ig_promote(IgType a, IgType b);
const char *ig_type_metal(IgType type); // "half"; bool is stored as "uchar"
const char *ig_type_bits(IgType type);  // an unsigned type as large: "ushort"
const char *ig_type_compute(
    IgType type); // what arithmetic on it is done in: "float", "int", "long"
double ig_element_get(IgType type, const void *data, int64_t i);
void ig_element_set(IgType type, void *data, int64_t i, double v);

// ---- Errors (error.c) ----

// Both return false, for `return ig_fail(...)`.
bool ig_fail(MTLError **error, IgErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ig_fail_no_memory(MTLError **error);
// "(2, 3)", in one of a few buffers of the thread.
const char *ig_shape_text(int rank, const int64_t *shape);

// ---- Shapes (shape.c) ----

typedef struct IgShape {
    int rank;
    int64_t n[IG_MAX_RANK];
} IgShape;
static inline int64_t ig_shape_numel(const IgShape *shape) {
    int64_t n = 1;
    for (int i = 0; i < shape->rank; i++) n *= shape->n[i];
    return n;
}
static inline bool ig_shape_equal(const IgShape *a, const IgShape *b) {
    bool equal = a->rank == b->rank;
    for (int i = 0; equal && i < a->rank; i++) equal = a->n[i] == b->n[i];
    return equal;
}
void ig_packed_strides(const IgShape *shape, int64_t strides[IG_MAX_RANK]);
// A shape given by the user: rank, lengths and their product are sane.
bool ig_shape_check(const char *call, int rank, const int64_t *n, IgShape *shape, MTLError **error);
bool ig_broadcast(const char *call, const IgShape *a, const IgShape *b, IgShape *out,
                  MTLError **error);
// Negative axes count from the end. `extra`: positions allowed beyond the last axis.
bool ig_axis(const char *call, int rank, int axis, int extra, int *out, MTLError **error);

// ---- Memory (pool.c) ----

typedef struct IgBuffer {
    MTLBuffer *buffer;
    size_t capacity;   // bytes
    uint64_t shown;    // the command buffer whose results the host's side has (ig_pool_show)
    uint64_t last_use; // number of the last command buffer that has to do with it; device->lock
    uint64_t number;   // in the order they were made
    unsigned n_shares; // data beside the first one's that it is the memory of; device->lock
    bool foreign;      // memory of somebody else: not of the pool
    bool lent;         // somebody else has its address, and may write there
    struct IgBuffer *next;
} IgBuffer;
// The pool's functions are called with device->lock held.
bool ig_pool_init(IgDevice *device);
void ig_pool_destroy(IgDevice *device);
// for_host: the caller writes right away, so no work may be under way on it.
IgBuffer *ig_pool_take(IgDevice *device, size_t n_bytes, bool for_host, MTLError **error);
void ig_pool_give(IgDevice *device, IgBuffer *buffer);
// Where memory is not unified, the host has a side of its own of each buffer. `show` brings it what
// command buffer `written` made, and waits; `wrote`: the host has written n_bytes from its start.
bool ig_pool_show(IgDevice *device, IgBuffer *buffer, uint64_t written, MTLError **error);
void ig_pool_wrote(IgDevice *device, IgBuffer *buffer, size_t n_bytes);
IgDevice *ig_pool_device(const IgPool *pool);
// Its buffers go to the user (user_pool.c), who has queues of his own: hazards are tracked.
void ig_pool_lends(IgPool *pool);

// ---- Data and expressions (data.c) ----

typedef struct IgData IgData;
typedef struct IgExpr IgExpr;

typedef bool IgRunFn(IgDevice *device, IgData *data, MTLError **error);
typedef void IgDropFn(IgExpr *expr);

typedef struct IgView {
    IgData *data; // retained
    IgShape shape;
    int64_t strides[IG_MAX_RANK]; // elements
    int64_t offset;
} IgView;

enum { IG_MAX_INPUTS = 4 };
// How to make some data. Element-wise operations are joined to kernels by fuse.c; others bring a
// function that encodes their work.
struct IgExpr {
    int op;        // of elementwise.def, or -1
    IgRunFn *run;  // op -1: makes its inputs and data->memory and encodes; device->lock is held
    IgShape shape; // of the result
    int n_inputs;
    IgView inputs[IG_MAX_INPUTS]; // element-wise: broadcast to `shape` already
    double values[2];             // numbers that go with it
    IgType compute;               // element-wise: the type the inputs are brought to
    int n_ops;                    // operations joined, if it were made now: at most
    int depth;                    // of what is not made yet below it
    struct IgExpr *next;          // of the list to be freed
    bool dispatches;              // `run` does nothing but encode
    void *extra;                  // of other operations, freed by drop
    IgDropFn *drop;
};

struct IgData {
    atomic_uint refs;
    IgDevice *device;
    IgType type;
    int64_t n;
    IgBuffer *memory; // NULL while it is not made; device->lock, as the rest
    IgExpr *expr;     // how to make it; NULL once it is made
    uint64_t written; // number of the command buffer that writes it; 0: the host did
    bool inlined;     // was computed on the way once, without being stored
    bool wanted;      // a gradient will ask for it: stored when it is first computed
    int64_t below;    // not 0: its elements are known to be indices, all below this
    uint64_t version; // how many changes in place led to it
    bool overtaken;   // by one more
    // What it replaces, whose memory it takes over if nobody knows that one but the kernel that
    // makes this and so many tensors: only while device->lock is held.
    IgData *replaces;
    unsigned holders;
};
IgData *ig_data_new(IgDevice *device, IgType type, int64_t n); // with neither memory nor expr
static inline IgData *ig_data_retain(IgData *data) {
    atomic_fetch_add_explicit(&data->refs, 1, memory_order_relaxed);
    return data;
}
void ig_data_release(IgData *data); // device->lock is not held
// With device->lock held: memory for the result of work that is about to be encoded.
bool ig_data_allocate(IgData *data, MTLError **error);
// With device->lock held, after a kernel was encoded, or was not: what it stores is made now, or
// has no memory again.
void ig_data_settle(IgData *made, bool ok);
// With device->lock held: encodes whatever is needed so that data->memory is there.
bool ig_data_make(IgData *data, MTLError **error);
void ig_expr_free(IgExpr *expr); // device->lock is not held
// With device->lock held: memory that other data has as well (constants, create.c) becomes data's
// own, as somebody may write there (pool.c).
bool ig_pool_own(IgDevice *device, IgData *data, MTLError **error);
// With device->lock held: frees it when the lock is given back.
void ig_defer(IgDevice *device, IgExpr *expr);
void ig_lock(IgDevice *device);
void ig_unlock(IgDevice *device);

// ---- Tensors (tensor.c) ----

struct IgTensor {
    atomic_uint refs;
    IgView view;             // changes only by ig_write and the like, under device->lock
    IgScope *scope;          // that will release it; NULL: the caller does
    struct IgGradNode *node; // its place in a graph of gradients, or NULL
    struct IgTensor *next;   // behind it in the line of released ones; view.data is NULL there
    // The ring of tensors that share its memory; under the lock of alias.c.
    struct IgTensor *before, *after;
    struct IgTensor *base; // what it is a view of, retained; NULL: of nothing
    bool aliased;          // stands in a ring
    bool loose;            // in memory of its own its elements would lie in order; these do not
    bool quiet;            // what is changed through it is no new version
    bool untracked;        // a view that was made while gradients were off
    bool unchecked;        // saved by the change in place that overtakes it
};
// An error if it has been released: for as long as that can be told.
bool ig_alive(const char *call, const IgTensor *tensor, MTLError **error);
// A view of data, which it retains. In the innermost scope of the thread if there is one.
IgTensor *ig_tensor_new(IgData *data, const IgShape *shape, const int64_t *strides, int64_t offset,
                        MTLError **error);
// The result of an operation: new data with this expression, which it takes over also when it
// fails.
IgTensor *ig_tensor_of_expr(IgDevice *device, IgType type, IgExpr *expr, MTLError **error);
IgExpr *ig_expr_new(int n_inputs, const IgView *inputs, const IgShape *shape, MTLError **error);
// The same, that `run` makes with a copy of `extra`, of so many bytes.
IgExpr *ig_expr_with(IgRunFn *run, const void *extra, size_t n_bytes, int n_inputs,
                     const IgView *inputs, const IgShape *shape, MTLError **error);
// The tensor as it is now, with this node: later changes in place do not reach it.
IgTensor *ig_snapshot(const IgTensor *tensor, struct IgGradNode *node, MTLError **error);
bool ig_whole(const IgView *view); // shows all elements of its data in their order
bool ig_view_contiguous(const IgView *view);
bool ig_same_device(const char *call, const IgTensor *a, const IgTensor *b, MTLError **error);

// ig_scope_return of several results, of which some may be NULL: all of them, or none and false.
// ok: false when they could not be made, and the error says why.
bool ig_scope_return_many(IgScope *scope, bool ok, int n, IgTensor **out, MTLError **error);
// What a function made on its way and needs no longer: a scope releases it, or this does.
void ig_drop(IgTensor *tensor);

// Gradients (autograd.c; rules where the operation is, element-wise in grad_elementwise.c)
// ----

typedef struct IgGradNode IgGradNode;
// From the gradient g of a result to those of its inputs: out[i] for every node->inputs[i] that is
// there; NULL: nothing flows. Runs inside a scope. What is larger or smaller than the input by
// broadcasting, or of another type, is brought to it afterwards.
typedef bool IgGradRule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error);

enum { IG_MAX_SAVED = 3, IG_GRAD_NUMBERS = 8 };
// Belongs to a tensor, to the saved tensors that show the same, and to the nodes made from it:
// never to one it was made from, so there are no circles.
struct IgGradNode {
    atomic_uint refs;
    IgGradRule *rule; // NULL: a leaf, which collects
    const char *name; // of the function
    IgDevice *device; // of the tensor, as shape and type
    IgShape shape;
    IgType type;
    int n_inputs;
    IgGradNode **inputs;               // NULL where nothing is wanted
    IgTensor *saved[IG_MAX_SAVED + 1]; // inputs; the last one: the result, without its node
    int op;                            // for the rule, as these
    double values[2];
    int64_t numbers[IG_GRAD_NUMBERS];
    void *extra; // freed with drop, or free
    void (*drop)(void *extra);
    bool spent; // backward has been here and has freed what was saved
    // Under the lock of gradients.
    IgTensor *grad;    // of a leaf
    IgTensor *pending; // of the pass under way
    uint64_t mark;     // the pass that has seen it
    struct IgGradNode *next;
};
bool ig_grad_enabled_for(int n, IgTensor *const *inputs);
IgGradNode *ig_node_new(const char *name, IgGradRule *rule, int n, IgTensor *const *inputs,
                        MTLError **error);
IgGradNode *ig_node_retain(IgGradNode *node); // NULL stays NULL
void ig_node_release(IgGradNode *node);
// An error if a tensor that was saved for a gradient has been changed in place since.
bool ig_unchanged(const char *name, const IgTensor *saved, MTLError **error);
// Remembers input i. False and the error if there is no memory.
bool ig_node_save(IgGradNode *node, int i, IgTensor *input, MTLError **error);
// Joins them and takes both over; NULL if one is NULL.
IgTensor *ig_node_attach(IgTensor *result, IgGradNode *node, bool save_result, MTLError **error);
// In a rule: what was saved, as part of the graph when one is being made.
IgTensor *ig_saved(IgGradNode *node, int i);
IgTensor *ig_saved_result(IgGradNode *node, MTLError **error);
// A tensor that shows the data of another one, as part of the graph if that one is. NULL rule:
// none.
IgTensor *ig_view(const char *name, IgTensor *of, const IgView *view, IgGradRule *rule,
                  MTLError **error);
IgGradRule ig_rule_reshape; // the same elements in the same order
IgGradRule ig_rule_same;    // broadcast, or a type of its own
// grad_elementwise.c
IgTensor *ig_record_elementwise(int op, IgTensor *result, int n, IgTensor *const *inputs,
                                const double *values, MTLError **error);

// ---- Work (device.c) ----

typedef struct IgKernel IgKernel; // a pipeline and what is known of it

// An element that was brought to the device: to bring it takes longer than a kernel that reads it.
enum { IG_N_CONSTANTS = 16 };
typedef struct IgConstant {
    IgType type;
    char element[8];
    IgBuffer *buffer; // NULL: none
} IgConstant;
// A dispatch that nothing else was recorded with yet: who waits for it may have it done without a
// command buffer.
enum { IG_HELD_BUFFERS = 19, IG_HELD_BYTES = 1024 };
typedef struct IgHeld {
    IgKernel *kernel; // NULL: there is none
    size_t n_buffers, n_bytes;
    MTLBuffer *buffers[IG_HELD_BUFFERS];
    size_t offsets[IG_HELD_BUFFERS];
    MTLSize grid, group;
    bool groups;
    bool is_users; // code of the user's, which may take long or call him
    size_t n_dead; // buffers that nobody else holds any more
    MTLBuffer *dead[IG_HELD_BUFFERS];
    char bytes[IG_HELD_BYTES];
} IgHeld;
struct IgDevice {
    MTLDevice *metal;
    MTLCommandQueue *queue;
    bool unified; // the host sees its memory where it is
    // Its threads are many, and fast together: kernels for a GPU. With INGOT_TENSORS=gpu they run
    // on any device, so that tests can compare.
    bool gpu;
    int64_t n_workers; // threads, or units of a GPU
    pthread_mutex_t lock;
    // All of this under lock.
    MTLCommandBuffer *commands; // being recorded, or NULL
    MTLComputeCommandEncoder *encoder;
    IgHeld held;                   // while there is no encoder: the first dispatch
    unsigned n_encoded;            // dispatches in it, or held
    uint64_t work;                 // of them, see device.c
    uint64_t recording;            // its number; numbers start at 1
    uint64_t encoded;              // that of the last dispatch
    uint64_t completed;            // all up to this one have ended
    struct IgFlight *first, *last; // committed, oldest first
    IgExpr *deferred;              // to be freed
    MTLError *failed;              // of a command buffer, not yet reported
    struct IgPool *pool;
    bool is_pool;                         // it has been made for its pool (user_pool.c)
    IgBuffer *lent;                       // the buffers that are out
    IgConstant constants[IG_N_CONSTANTS]; // of a device whose memory is not the host's
    unsigned n_constants;                 // that were made
    struct IgKernelTable *kernels;
    bool known_only; // nothing is made but of what is there, with kernels that are there
    bool check_keys; // for tests: is what a kernel's key says all that its source depends on?
    IgDeviceStatistics statistics;
    atomic_uint refs;
};

typedef struct IgBinding {
    IgBuffer *buffer;
    size_t offset; // bytes
} IgBinding;
// All with device->lock held.
// Encodes a dispatch: `bytes` at buffer 0, the bindings behind it.
bool ig_encode(IgDevice *device, IgKernel *kernel, const void *bytes, size_t n_bytes,
               const IgBinding *bindings, size_t n_bindings, MTLSize grid, MTLSize group,
               bool groups, MTLError **error);
// For a dispatch with bindings of its own: the encoder, and afterwards the other one. Buffers that
// are bound get last_use = device->recording in between.
MTLComputeCommandEncoder *ig_encode_start(IgDevice *device, MTLError **error);
bool ig_encode_end(IgDevice *device, uint64_t work, MTLError **error); // work: threads
// What was encoded just now is code of the user's.
void ig_encoded_users(IgDevice *device);
// The buffer's memory is to go: at once, or when what is held is done.
void ig_let_go(IgDevice *device, IgBuffer *buffer);
// Before the next ig_encode: how many numbers it multiplies, where threads do not show it.
void ig_more_work(IgDevice *device, int64_t products);
bool ig_commit(IgDevice *device, MTLError **error);
bool ig_end_step(IgDevice *device, MTLError **error); // of a training: a good place for it
bool ig_synchronize(IgDevice *device, IgBuffer *buffer, MTLError **error); // and commits
bool ig_wait(IgDevice *device, uint64_t number, MTLError **error);
void ig_poll(IgDevice *device);
bool ig_under_way(const IgDevice *device, uint64_t number); // committed and not known to be done
// A kernel under a key; `source` is asked for the text only if it is new (malloc'd, or NULL).
typedef char *IgSourceFn(void *context);
IgKernel *ig_kernel(IgDevice *device, const void *key, size_t n_key, const char *function,
                    IgSourceFn *source, void *context, MTLError **error);
// A kernel of a file of kernels/. All of this are constants: their addresses are the key.
typedef struct IgKernelFile {
    const char *text, *function;
    const char *element; // the macro ELEMENT, or NULL
    const char *macros;  // others, "NAME=VALUE NAME=VALUE", or NULL
} IgKernelFile;
IgKernel *ig_kernel_of(IgDevice *device, const IgKernelFile *file, MTLError **error);
MTLComputePipelineState *ig_kernel_pipeline(IgKernel *kernel);
#endif
