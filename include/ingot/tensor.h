// SPDX-License-Identifier: Apache-2.0
// tensor.h: tensors with fused operations and a buffer pool, on top of the public Metal API
// (metal.h) and nothing else.
//
//     IgDevice *device = ig_device_default(&error);
//     IgScope *scope = ig_scope_begin();
//     IgTensor *x = ig_from_data(device, IgFloat32, 2, (int64_t[]){256, 784}, pixels, &error);
//     IgTensor *y = ig_relu(ig_add(ig_matmul(x, w, &error), b, &error), &error); // one kernel
//     float first;
//     ig_read(ig_slice(y, 0, 0, 1, 1, &error), &first, sizeof first, &error);
//     ig_scope_end(scope); // releases x, y and everything between
//
// Rules that hold for every function:
//   Results   A new tensor belongs to the caller (ig_release), or, if the calling thread is inside
//             a scope, to its innermost scope; ig_keep takes it out of there.
//   Errors    NULL (or false) and *error, which the caller releases with mtl_release; `error` may
//             be NULL. A NULL tensor as input gives NULL and leaves *error as it is: a chain
//             reports its first error.
//   Laziness  Operations are recorded; kernels run when a value is needed (ig_read, ig_eval). A
//             chain of element-wise operations is one kernel, also behind a matmul.
//   Values    An operation makes a new tensor. Views (reshape, slice, ...) share memory with what
//             they show: what is changed in place in one of them is seen in all. Operations that
//             were recorded before keep the values that they read.
//   Numbers   Half and bfloat are computed in float and rounded after every operation, and no
//             operation is contracted or reordered: a result does not depend on what was fused.
//   Threads   Any thread may use any tensor.
#ifndef INGOT_TENSOR_H
#define INGOT_TENSOR_H
#include "ingot/metal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IG_MAX_RANK 8
#define IG_ALL (-1000) // an axis argument that means all of them

typedef enum IgType {
    IgFloat16 = 0,
    IgFloat32 = 1,
    IgBFloat16 = 2,
    IgInt8 = 3,
    IgInt32 = 4,
    IgInt64 = 5,
    IgBool = 6, // one byte, 0 or 1
    IgUInt8 = 7,
    IgInt16 = 8,
} IgType;
MTL_API const char *ig_type_name(IgType type); // "float16"; "" if it is none
MTL_API size_t ig_type_size(IgType type);

typedef struct IgDevice IgDevice;
typedef struct IgTensor IgTensor;
typedef struct IgScope IgScope;
typedef struct IgPool IgPool;

extern MTL_API const char *const IgErrorDomain;
typedef enum IgErrorCode {
    IgErrorShape = 1,       // shapes that do not go together; the message has them all
    IgErrorType = 2,        // an element type the operation does not have
    IgErrorDevice = 3,      // tensors of different devices
    IgErrorIndex = 4,       // an axis or index out of range
    IgErrorArgument = 5,    // another argument that is not allowed
    IgErrorMemory = 6,      // out of memory, or over the pool's limit
    IgErrorExecution = 7,   // a kernel failed
    IgErrorCompilation = 8, // source given by the user does not compile
    IgErrorGradient = 9,    // there is no gradient, or none any more
    IgErrorFile = 10,       // a file that cannot be read, written, or believed
    IgErrorNotFinite = 11,  // ig_check_finite found something
    IgErrorGroup = 12,      // other processes cannot be reached (tensor_group.h)
} IgErrorCode;

// ---- Devices ----

// The system's default Metal device, the same object each time; not released.
MTL_API IgDevice *ig_device_default(MTLError **error);
// For a Metal device of one's own. Released with ig_device_release when no tensor is left.
MTL_API IgDevice *ig_device_new(MTLDevice *device, MTLError **error);
MTL_API void ig_device_release(IgDevice *device);
MTL_API MTLDevice *ig_device_metal(IgDevice *device);
MTL_API IgPool *ig_device_pool(IgDevice *device);
// Waits for all work. False if some of it failed.
MTL_API bool ig_device_synchronize(IgDevice *device, MTLError **error);
// For a caller who would first have to let others in (Python, its lock): the same, if it is a
// matter of microseconds. False: it is not, or something failed; ig_device_synchronize says what.
MTL_API bool ig_device_synchronize_quickly(IgDevice *device);

typedef struct IgDeviceStatistics {
    uint64_t kernels;         // dispatches encoded
    uint64_t fused;           // element-wise operations that cost no kernel of their own
    uint64_t command_buffers; // committed
    uint64_t compiled;        // kernels made from source
} IgDeviceStatistics;
MTL_API IgDeviceStatistics ig_device_statistics(IgDevice *device);

// ---- The buffer pool ----
// Memory of tensors that are gone is kept for the next of about the same size. Size classes are
// four to a power of two, so that at most a fifth is wasted; all sizes are bytes. Work on a device
// runs in the order it was recorded, so memory may be given to later work at once; the host writes
// only to memory whose work is complete.

#define IG_POOL_CAPACITY 10
typedef struct IgPoolStatistics {
    uint64_t total_pooled;     // buffers that wait in the pool
    uint64_t size_classes;     // classes with a buffer in them
    uint64_t total_memory;     // bytes of the waiting buffers
    uint64_t allocation_count; // requests, so that reuse_count / allocation_count is the reuse rate
    uint64_t reuse_count;      // requests that were served from the pool
    uint64_t eviction_count;   // buffers given back to the system
    uint64_t live_memory;      // bytes of the buffers in use
} IgPoolStatistics;
MTL_API IgPoolStatistics ig_pool_statistics(IgPool *pool);
// Buffers kept per size class; 0 keeps none. Until it is set, IG_POOL_CAPACITY, and of small ones
// as many as 64 MiB hold.
MTL_API void ig_pool_set_capacity(IgPool *pool, size_t capacity);
MTL_API size_t ig_pool_capacity(IgPool *pool);
// The most memory that tensors of the device may take, in use and waiting; 0: no limit.
MTL_API void ig_pool_set_memory_limit(IgPool *pool, uint64_t bytes);
MTL_API void ig_pool_shrink_to_fit(IgPool *pool, uint64_t bytes); // largest classes first
MTL_API void ig_pool_clear(IgPool *pool);
MTL_API void ig_pool_clear_size(IgPool *pool, size_t bytes); // the class that serves such a request

// A pool of one's own, without tensors: buffers of shared memory, each until it is recycled.
MTL_API IgPool *ig_pool_new(MTLDevice *device, MTLError **error); // IG_POOL_CAPACITY per class
MTL_API IgPool *ig_pool_with_capacity(MTLDevice *device, size_t capacity, MTLError **error);
MTL_API void ig_pool_release(IgPool *pool); // of ig_pool_new and ig_pool_with_capacity only
// The length of the buffer is that of its class, at least n_bytes. What is in it is anything; the
// other one sets it to 0. Borrowed: the pool's.
MTL_API MTLBuffer *ig_pool_allocate(IgPool *pool, size_t n_bytes, MTLError **error);
MTL_API MTLBuffer *ig_pool_allocate_zeros(IgPool *pool, size_t n_bytes, MTLError **error);
// Gives it back. With a command buffer, which has not been committed: when that completed. False:
// it is not from here, or its class was full and one went to the system (with a command buffer:
// true).
MTL_API bool ig_pool_recycle(IgPool *pool, MTLBuffer *buffer, MTLCommandBuffer *after);

// ---- Lifetime ----

MTL_API IgTensor *ig_retain(IgTensor *tensor);
MTL_API void ig_release(IgTensor *tensor); // NULL is a no-op
MTL_API IgScope *ig_scope_begin(void);     // NULL: out of memory
MTL_API void ig_scope_end(IgScope *scope); // the innermost; NULL is a no-op
// Ends the scope and hands one tensor made in it to the scope around it, or to the caller.
MTL_API IgTensor *ig_scope_return(IgScope *scope, IgTensor *result);
// Between the two the thread is in no scope: for functions that the library calls back, where they
// lead to code that releases its tensors itself.
MTL_API IgScope *ig_scope_leave(void);
MTL_API void ig_scope_enter(IgScope *left);
// The tensor survives its scope; the caller releases it.
MTL_API IgTensor *ig_keep(IgTensor *tensor);

// ---- Creation ----
// Shapes are row-major: the last axis is the innermost. rank 0 is a scalar, and axes of length 0
// are allowed.

MTL_API IgTensor *ig_from_data(IgDevice *device, IgType type, int rank, const int64_t *shape,
                               const void *data, MTLError **error); // copied
// Over memory that is there: a shared or managed buffer of the device, which is retained; `offset`
// in bytes, strides in elements (none negative; NULL: packed). Whoever else writes to the memory
// orders that with the work on the tensor.
MTL_API IgTensor *ig_from_buffer(IgDevice *device, IgType type, int rank, const int64_t *shape,
                                 const int64_t *strides, MTLBuffer *buffer, size_t offset,
                                 MTLError **error);
MTL_API IgTensor *ig_full(IgDevice *device, IgType type, int rank, const int64_t *shape,
                          double value, MTLError **error);
MTL_API IgTensor *ig_zeros(IgDevice *device, IgType type, int rank, const int64_t *shape,
                           MTLError **error);
MTL_API IgTensor *ig_ones(IgDevice *device, IgType type, int rank, const int64_t *shape,
                          MTLError **error);
MTL_API IgTensor *ig_scalar(IgDevice *device, IgType type, double value, MTLError **error);
// start, start + step, ...: n values.
MTL_API IgTensor *ig_arange(IgDevice *device, IgType type, double start, double step, int64_t n,
                            MTLError **error);
// n values from start to stop, both included.
MTL_API IgTensor *ig_linspace(IgDevice *device, IgType type, double start, double stop, int64_t n,
                              MTLError **error);
// (rows, columns), 1 on a diagonal (0: the main one, above it > 0), else 0.
MTL_API IgTensor *ig_eye(IgDevice *device, IgType type, int64_t rows, int64_t columns,
                         int64_t diagonal, MTLError **error);
// ids (..) of integers: (.., n) with 1 at each id, else 0. An id that is not in 0 .. n-1 gives 0s.
MTL_API IgTensor *ig_one_hot(IgTensor *ids, int64_t n, IgType type, MTLError **error);
// Random numbers are a function of the seed and the place in the tensor (Philox 4x32-10).
MTL_API IgTensor *ig_uniform(IgDevice *device, IgType type, int rank, const int64_t *shape,
                             double low, double high, uint64_t seed, MTLError **error);
MTL_API IgTensor *ig_randn(IgDevice *device, IgType type, int rank, const int64_t *shape,
                           uint64_t seed, MTLError **error);

// ---- What a tensor is ----

MTL_API IgDevice *ig_device(const IgTensor *tensor);
MTL_API IgType ig_type(const IgTensor *tensor);
MTL_API int ig_rank(const IgTensor *tensor);
MTL_API const int64_t *ig_shape(const IgTensor *tensor);   // [rank]; lives as long as the tensor
MTL_API const int64_t *ig_strides(const IgTensor *tensor); // in elements
MTL_API int64_t ig_dim(const IgTensor *tensor, int axis);  // negative axes count from the end; 0
MTL_API int64_t ig_numel(const IgTensor *tensor);          // 1 for a scalar
MTL_API bool ig_is_contiguous(const IgTensor *tensor);

// ---- Host access: waits for the values ----

// All elements in order, n_bytes must be exactly their size.
MTL_API bool ig_read(IgTensor *tensor, void *out, size_t n_bytes, MTLError **error);
// The single element of a tensor that has one.
MTL_API bool ig_item(IgTensor *tensor, double *out, MTLError **error);
// Gives the tensor new values, as ig_assign.
MTL_API bool ig_write(IgTensor *tensor, const void *data, size_t n_bytes, MTLError **error);
// Gives the tensor, and all that share its memory, the values of another one of its shape, brought
// to its type, without waiting. Gradients do not follow: a leaf stays a leaf, a result what it was.
MTL_API bool ig_assign(IgTensor *tensor, IgTensor *value, MTLError **error);
// What an operation in place does: the tensor, and all that share its memory, become the result,
// which was made for this and is used for nothing else. History follows; a leaf that requires a
// gradient cannot be changed so except within ig_no_grad_begin, nor can a view of one, nor an
// expanded tensor. ig_backward fails where it needs a value that was changed so. Between begin and
// end the thread computes the result: the value that it reads of the tensor is exempt from that.
MTL_API bool ig_in_place(IgTensor *tensor, IgTensor *result, MTLError **error);
MTL_API void ig_in_place_begin(const IgTensor *tensor);
MTL_API void ig_in_place_end(void);
// The number of changes in place of the memory that it shows.
MTL_API uint64_t ig_version(const IgTensor *tensor);
MTL_API bool ig_shares_memory(const IgTensor *a, const IgTensor *b);
// A copy with memory of its own, as far as anybody sees: it is made when one of both changes.
MTL_API IgTensor *ig_clone(IgTensor *tensor, MTLError **error);
// A leaf leaves its memory and shares that of another tensor from now on, with its shape and type.
MTL_API bool ig_share(IgTensor *tensor, IgTensor *with, MTLError **error);
// The memory itself: values are complete, element 0 is at *data; strides as ig_strides. Valid while
// the tensor lives and has not been given another value.
MTL_API bool ig_map(IgTensor *tensor, void **data, MTLError **error);
// The Metal buffer behind it and the byte offset of element 0; work on it has been committed.
MTL_API bool ig_buffer(IgTensor *tensor, MTLBuffer **buffer, size_t *offset, MTLError **error);
// The address of element 0 for another library that works on the same device (DLPack): values are
// complete there, and no work of ours on them is under way. Valid as ig_map's. What it writes the
// host sees from then on, as soon as it is done (foreign.h); kernels that are started before
// that may not. False for a tensor over memory of the host's on a device with memory of its own.
MTL_API bool ig_lend(IgTensor *tensor, uint64_t *address, MTLError **error);
// Encodes what makes the values. It starts when there is enough to do, or when somebody waits.
// ig_read and its like do it by themselves.
MTL_API bool ig_eval(IgTensor *tensor, MTLError **error);
// The same, if it is a matter of microseconds: of what is there, with kernels that are there.
// False: it is not, or something failed; ig_eval says what.
MTL_API bool ig_eval_quickly(IgTensor *tensor);
// Whether ig_read finds nothing under way that it would wait for (small work that was not committed
// it runs itself); asks and never waits.
MTL_API bool ig_ready(IgTensor *tensor);
// An error that names the first element that is infinite or not a number.
MTL_API bool ig_check_finite(IgTensor *tensor, MTLError **error);

// ---- Views: no copy ----

// One length may be -1. Copies only if the elements do not lie so that a view can show them.
MTL_API IgTensor *ig_reshape(IgTensor *tensor, int rank, const int64_t *shape, MTLError **error);
MTL_API IgTensor *ig_flatten(IgTensor *tensor, int first_axis, int last_axis, MTLError **error);
MTL_API IgTensor *ig_permute(IgTensor *tensor, const int *axes, MTLError **error);
MTL_API IgTensor *ig_transpose(IgTensor *tensor, int axis0, int axis1, MTLError **error);
// Elements start, start + step, ... below stop of an axis; negative positions count from the end.
MTL_API IgTensor *ig_slice(IgTensor *tensor, int axis, int64_t start, int64_t stop, int64_t step,
                           MTLError **error);
// One position of an axis, which goes away.
MTL_API IgTensor *ig_select(IgTensor *tensor, int axis, int64_t index, MTLError **error);
MTL_API IgTensor *ig_expand(IgTensor *tensor, int rank, const int64_t *shape, MTLError **error);
MTL_API IgTensor *ig_squeeze(IgTensor *tensor, int axis, MTLError **error); // IG_ALL: every one
MTL_API IgTensor *ig_unsqueeze(IgTensor *tensor, int axis, MTLError **error);
// The elements with equal positions in two axes, which become one, the last: of (.., n, m) those
// at (i, i + offset).
MTL_API IgTensor *ig_diagonal(IgTensor *tensor, int64_t offset, int axis0, int axis1,
                              MTLError **error);
MTL_API IgTensor *ig_contiguous(IgTensor *tensor, MTLError **error);

// ---- Element-wise operations, with broadcasting ----
// Types: both operands are brought to the first type that holds both (bool, int8 or uint8, int16,
// int32, int64, float16 or bfloat16, float32; int8 with uint8 is int16, float16 with bfloat16
// float32). Integers wrap around. Functions that are not closed over integers (division, exp, ...)
// give float32 for them.

#define IG_UNARY(NAME) MTL_API IgTensor *ig_##NAME(IgTensor *x, MTLError **error)
IG_UNARY(neg);
IG_UNARY(abs);
IG_UNARY(sign);
IG_UNARY(floor);
IG_UNARY(ceil);
IG_UNARY(round); // halves to even
IG_UNARY(trunc);
IG_UNARY(square);
IG_UNARY(reciprocal);
IG_UNARY(sqrt);
IG_UNARY(rsqrt);
IG_UNARY(exp);
IG_UNARY(log);
IG_UNARY(sin);
IG_UNARY(cos);
IG_UNARY(tan);
IG_UNARY(tanh);
IG_UNARY(sigmoid);
IG_UNARY(softplus);
IG_UNARY(relu);
IG_UNARY(gelu); // the tanh form
IG_UNARY(silu);
IG_UNARY(logical_not);
IG_UNARY(exp2);
IG_UNARY(expm1); // exp(x) - 1, exact near 0
IG_UNARY(log2);
IG_UNARY(log10);
IG_UNARY(log1p); // log(1 + x), exact near 0
IG_UNARY(asin);
IG_UNARY(acos);
IG_UNARY(atan);
IG_UNARY(sinh);
IG_UNARY(cosh);
IG_UNARY(erf);
IG_UNARY(gelu_erf);    // the exact form
IG_UNARY(bitwise_not); // of bool: logical_not
IG_UNARY(isnan);       // these give bool
IG_UNARY(isinf);
IG_UNARY(isfinite);
#undef IG_UNARY
MTL_API IgTensor *ig_cast(IgTensor *x, IgType type, MTLError **error);
MTL_API IgTensor *ig_clamp(IgTensor *x, double low, double high, MTLError **error);

// x where it is positive, else slope x, or alpha (exp(x) - 1).
MTL_API IgTensor *ig_leaky_relu(IgTensor *x, double slope, MTLError **error);
MTL_API IgTensor *ig_elu(IgTensor *x, double alpha, MTLError **error);

#define IG_BINARY(NAME) MTL_API IgTensor *ig_##NAME(IgTensor *a, IgTensor *b, MTLError **error)
IG_BINARY(add);
IG_BINARY(sub);
IG_BINARY(mul);
IG_BINARY(div);
IG_BINARY(pow);
IG_BINARY(minimum);
IG_BINARY(maximum);
IG_BINARY(remainder); // the sign is b's, as in Python
IG_BINARY(eq);        // comparisons give bool
IG_BINARY(ne);
IG_BINARY(lt);
IG_BINARY(le);
IG_BINARY(gt);
IG_BINARY(ge);
IG_BINARY(logical_and);
IG_BINARY(logical_or);
IG_BINARY(logical_xor);
IG_BINARY(atan2);
IG_BINARY(floor_divide); // rounded down; of whole numbers whole, by 0 it is 0
IG_BINARY(bitwise_and);  // of whole numbers, and of bool
IG_BINARY(bitwise_or);
IG_BINARY(bitwise_xor);
IG_BINARY(left_shift);  // of whole numbers; by less than 0 or all places: 0
IG_BINARY(right_shift); // with the sign; by less than 0 or all places: the sign alone
#undef IG_BINARY
// The number takes the tensor's type if it fits there (an integer tensor with 0.5 becomes float32).
// Its value is not part of the kernel: another number needs no new one.
#define IG_SCALAR(NAME)                                                                            \
    MTL_API IgTensor *ig_##NAME##_scalar(IgTensor *x, double value, MTLError **error)
IG_SCALAR(add);
IG_SCALAR(sub);
IG_SCALAR(mul);
IG_SCALAR(div);
IG_SCALAR(pow);
IG_SCALAR(minimum);
IG_SCALAR(maximum);
IG_SCALAR(remainder);
IG_SCALAR(floor_divide);
IG_SCALAR(eq);
IG_SCALAR(ne);
IG_SCALAR(lt);
IG_SCALAR(le);
IG_SCALAR(gt);
IG_SCALAR(ge);
#undef IG_SCALAR
MTL_API IgTensor *ig_where(IgTensor *condition, IgTensor *a, IgTensor *b, MTLError **error);
// x, and `value` where the mask, which broadcasts to it, is not 0.
MTL_API IgTensor *ig_masked_fill(IgTensor *x, IgTensor *mask, double value, MTLError **error);
// x on and below (above) a diagonal of its last two axes, else 0. 0 is the main one, above it > 0.
MTL_API IgTensor *ig_tril(IgTensor *x, int64_t diagonal, MTLError **error);
MTL_API IgTensor *ig_triu(IgTensor *x, int64_t diagonal, MTLError **error);
// Dropout: 0 with probability p, else x / (1 - p). Which ones depends on the seed and the place
// alone, as with ig_uniform. Not training: x itself.
MTL_API IgTensor *ig_dropout(IgTensor *x, double p, bool training, uint64_t seed, MTLError **error);

// ---- Matrices ----
// (.., M, K) times (.., K, N): stacks broadcast, a vector is a row on the left and a column on the
// right. Sums are float. Element-wise operations behind a product (a bias, an activation, a
// residual) become part of its kernel.
MTL_API IgTensor *ig_matmul(IgTensor *a, IgTensor *b, MTLError **error);
// Sums of products over named axes: "ij,jk->ik". Letters name axes, in every operand; those that
// the part behind -> lacks are summed. Without -> the result has the letters that come once, in
// alphabetical order. "..." stands for further axes, which broadcast; a letter twice in one operand
// takes the diagonal. Operands are joined two by two from the left, by matrix products.
MTL_API IgTensor *ig_einsum(const char *equation, int n, IgTensor *const *operands,
                            MTLError **error);
// The Fourier transform along an axis: complex numbers are pairs (re, im) in a last axis of 2,
// which does not count: of x (.., n, .., 2) negative axes are those before it. Any length. The
// inverse is divided by n.
MTL_API IgTensor *ig_fft(IgTensor *x, int axis, bool inverse, MTLError **error);

// ---- Convolution and pooling ----
// Pictures are (N, C, H, W). Numbers that are 0 mean 1 (stride, dilation, groups), so that {0} is
// the plain operation.

typedef struct IgConvolution {
    int64_t stride[2], padding[2], dilation[2]; // of H and W
    int64_t groups;                             // channels that have nothing to do with each other
    int64_t output_padding[2];                  // of transposed ones: further rows and columns
} IgConvolution;
// weight (O, C / groups, KH, KW), bias (O) or NULL: (N, O, H', W'), sums in float. options NULL:
// {0}.
MTL_API IgTensor *ig_conv2d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                            const IgConvolution *options, MTLError **error);
// (N, C, L), weight (O, C / groups, K); of the options' pairs the first.
MTL_API IgTensor *ig_conv1d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                            const IgConvolution *options, MTLError **error);
// What ig_conv2d does to gradients: weight (C, O / groups, KH, KW).
MTL_API IgTensor *ig_conv_transpose2d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                                      const IgConvolution *options, MTLError **error);
// The same of lines: weight (C, O / groups, K); of the options' pairs the first.
MTL_API IgTensor *ig_conv_transpose1d(IgTensor *x, IgTensor *weight, IgTensor *bias,
                                      const IgConvolution *options, MTLError **error);

typedef struct IgPooling {
    int64_t kernel[2];           // of H and W
    int64_t stride[2];           // 0: the kernel's
    int64_t padding[2];          // at most half of the kernel
    int64_t dilation[2];         // of maxima
    bool ceil_mode;              // a last window that begins inside counts though it ends outside
    bool count_excludes_padding; // averages are over elements of x alone
} IgPooling;
// indices, if not NULL: where in its (H, W) each maximum is, int64; the first of equals, and what
// is not a number wins. x is (N, C, H, W) or (C, H, W).
MTL_API IgTensor *ig_max_pool2d(IgTensor *x, const IgPooling *options, IgTensor **indices,
                                MTLError **error);
MTL_API IgTensor *ig_avg_pool2d(IgTensor *x, const IgPooling *options, MTLError **error);
// Averages of height x width windows that cover the picture, of about equal size.
MTL_API IgTensor *ig_adaptive_avg_pool2d(IgTensor *x, int64_t height, int64_t width,
                                         MTLError **error);
// (N, C, ..) to (N, C): the mean, or the maximum, of each channel.
MTL_API IgTensor *ig_global_avg_pool(IgTensor *x, MTLError **error);
MTL_API IgTensor *ig_global_max_pool(IgTensor *x, MTLError **error);

// ---- Fused operations by name ----
// One kernel each, as the same operations one after the other would be too; ig_device_statistics
// shows it. Gradients as of the parts. Activations other than these are ordinary operations behind
// the product.

typedef enum IgActivation {
    IgActivationNone = 0,
    IgActivationReLU = 1,
    IgActivationGELU = 2, // the tanh form
    IgActivationSiLU = 3,
    IgActivationSigmoid = 4,
    IgActivationTanh = 5,
} IgActivation;
MTL_API IgTensor *ig_activation(IgTensor *x, IgActivation activation, MTLError **error);
MTL_API IgTensor *ig_matmul_with_activation(IgTensor *a, IgTensor *b, IgActivation activation,
                                            MTLError **error);
MTL_API IgTensor *ig_fused_add_relu(IgTensor *a, IgTensor *b, MTLError **error);
MTL_API IgTensor *ig_fused_mul_relu(IgTensor *a, IgTensor *b, MTLError **error);
// x * scale + bias, with broadcasting.
MTL_API IgTensor *ig_fused_affine(IgTensor *x, IgTensor *scale, IgTensor *bias, MTLError **error);
// activation(x (.., K) weight (K, N) + bias + residual); bias and residual may be NULL.
MTL_API IgTensor *ig_fused_linear(IgTensor *x, IgTensor *weight, IgTensor *bias, IgTensor *residual,
                                  IgActivation activation, MTLError **error);
// relu(x weight + bias + residual), and gelu(x) weight + bias: there the activation comes first,
// and is stored once before the product.
MTL_API IgTensor *ig_fused_linear_residual_relu(IgTensor *x, IgTensor *weight, IgTensor *bias,
                                                IgTensor *residual, MTLError **error);
MTL_API IgTensor *ig_fused_gelu_linear(IgTensor *x, IgTensor *weight, IgTensor *bias,
                                       MTLError **error);

// ---- Reductions ----
// Over one axis, or all (IG_ALL). Computed in float, or 64-bit integers, and rounded once. Sums and
// products of integers are int64, means float32, positions int64; the rest has the tensor's type.
// An element-wise argument is computed on the way.

#define IG_REDUCTION(NAME)                                                                         \
    MTL_API IgTensor *ig_##NAME(IgTensor *x, int axis, bool keepdim, MTLError **error)
IG_REDUCTION(sum);
IG_REDUCTION(mean);
IG_REDUCTION(prod);
IG_REDUCTION(max);
IG_REDUCTION(min);
IG_REDUCTION(argmax); // the first of equals
IG_REDUCTION(argmin);
IG_REDUCTION(any); // bool: is one of them, are all, not 0
IG_REDUCTION(all);
IG_REDUCTION(count_nonzero); // int64
IG_REDUCTION(logsumexp);     // log(sum(exp(x))), without overflow
#undef IG_REDUCTION
MTL_API IgTensor *ig_sum_axes(IgTensor *x, int n_axes, const int *axes, bool keepdim,
                              MTLError **error);
MTL_API IgTensor *ig_mean_axes(IgTensor *x, int n_axes, const int *axes, bool keepdim,
                               MTLError **error);
// The squared distance to the mean, summed and divided by the count less `correction` (NumPy's
// default is 0, PyTorch's 1), and its root.
MTL_API IgTensor *ig_var(IgTensor *x, int axis, int64_t correction, bool keepdim, MTLError **error);
MTL_API IgTensor *ig_std(IgTensor *x, int axis, int64_t correction, bool keepdim, MTLError **error);
// sum(|x|^p)^(1/p); 0: how many are not 0, INFINITY and -INFINITY: the largest and the smallest
// |x|.
MTL_API IgTensor *ig_norm(IgTensor *x, double p, int axis, bool keepdim, MTLError **error);
// Sums (products) of all elements up to each; integers give int64.
MTL_API IgTensor *ig_cumsum(IgTensor *x, int axis, MTLError **error);
MTL_API IgTensor *ig_cumprod(IgTensor *x, int axis, MTLError **error);
// Computed in float and rounded once. The sum along the axis is 1.
MTL_API IgTensor *ig_softmax(IgTensor *x, int axis, MTLError **error);
MTL_API IgTensor *ig_log_softmax(IgTensor *x, int axis, MTLError **error);
// (x - mean) / sqrt(variance + epsilon) over the last n axes; weight and bias, of their shape, may
// be NULL. The other one divides by the root of the mean square.
MTL_API IgTensor *ig_layer_norm(IgTensor *x, int n_axes, IgTensor *weight, IgTensor *bias,
                                double epsilon, MTLError **error);
MTL_API IgTensor *ig_rms_norm(IgTensor *x, int n_axes, IgTensor *weight, double epsilon,
                              MTLError **error);
// Per channel of x (N, C, ..); weight and bias (C), or NULL. Training: by the mean and the variance
// of x, and running_mean and running_variance (C), if not NULL, get a new value: (1 - momentum) of
// the old one and momentum of that of x, the variance with N - 1 for N. Else by the running ones.
MTL_API IgTensor *ig_batch_norm(IgTensor *x, IgTensor *running_mean, IgTensor *running_variance,
                                IgTensor *weight, IgTensor *bias, bool training, double momentum,
                                double epsilon, MTLError **error);
// Per element of the batch and group of channels, or channel.
MTL_API IgTensor *ig_group_norm(IgTensor *x, int64_t n_groups, IgTensor *weight, IgTensor *bias,
                                double epsilon, MTLError **error);
MTL_API IgTensor *ig_instance_norm(IgTensor *x, IgTensor *weight, IgTensor *bias, double epsilon,
                                   MTLError **error);

// ---- Order ----
// Equal elements keep their order. What is not a number is larger than every number: last, or first
// when descending. Indices are int64. Gradients go where the values came from.

// Either of values and indices may be NULL.
MTL_API bool ig_sort(IgTensor *x, int axis, bool descending, IgTensor **values, IgTensor **indices,
                     MTLError **error);
MTL_API IgTensor *ig_argsort(IgTensor *x, int axis, bool descending, MTLError **error);
// The k largest, or smallest, in order; of equals the first.
MTL_API bool ig_topk(IgTensor *x, int64_t k, int axis, bool largest, IgTensor **values,
                     IgTensor **indices, MTLError **error);
// The value below which a part q of the elements lies, 0 to 1; (n, ..) for n of them. Between two
// elements as asked for. The median is the mean of the middle two if there are two. Integers give
// float32; what is not a number makes its line so.
typedef enum IgInterpolation {
    IgInterpolateLinear = 0,
    IgInterpolateLower = 1,
    IgInterpolateHigher = 2,
    IgInterpolateNearest = 3, // halves to the even place
    IgInterpolateMidpoint = 4,
} IgInterpolation;
MTL_API IgTensor *ig_quantile(IgTensor *x, int n, const double *q, int axis, bool keepdim,
                              IgInterpolation how, MTLError **error);
MTL_API IgTensor *ig_median(IgTensor *x, int axis, bool keepdim, MTLError **error);
// The different elements in order, (n,); what is not a number is one of them. inverse, in the shape
// of x: where each is among them. counts (n,): how many there are. Either may be NULL. The number
// of results is a value, so it is waited for.
MTL_API IgTensor *ig_unique(IgTensor *x, IgTensor **inverse, IgTensor **counts, MTLError **error);

// ---- By index ----
// Indices are integers from 0 on, of any integer type; negative ones are an error here (Python's
// indexing adds the length first). They are read and checked right away. Sums
// and gradients are added in the order of the indices: results are always the same.

MTL_API IgTensor *ig_index_select(IgTensor *x, int axis, IgTensor *index, MTLError **error);
// table (V, E), ids (..): (.., E)
MTL_API IgTensor *ig_embedding(IgTensor *table, IgTensor *ids, MTLError **error);
// out[i][j] = x[index[i][j]][j] for axis 0 of two, and so on: the shape is that of the index.
MTL_API IgTensor *ig_gather(IgTensor *x, int axis, IgTensor *index, MTLError **error);
// x with x[index[i][j]][j] += source[i][j], and so on. Floating types.
MTL_API IgTensor *ig_scatter_add(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                                 MTLError **error);
// x with x[index[i][j]][j] = source[i][j], and so on. Of equal indices the last counts.
MTL_API IgTensor *ig_scatter(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                             MTLError **error);
// x with the slices of an axis that the index (K) names replaced by those of source, or with them
// added: source has the shape of x, but K along the axis.
MTL_API IgTensor *ig_index_copy(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                                MTLError **error);
MTL_API IgTensor *ig_index_add(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                               MTLError **error);

// ---- Together and apart ----

// Equal shapes but for the axis; types are brought to the first that holds all.
MTL_API IgTensor *ig_concat(int n, IgTensor *const *pieces, int axis, MTLError **error);
MTL_API IgTensor *ig_cat(int n, IgTensor *const *pieces, int axis, MTLError **error);   // the same
MTL_API IgTensor *ig_stack(int n, IgTensor *const *pieces, int axis, MTLError **error); // new axis
// `value` before and behind an axis.
MTL_API IgTensor *ig_pad(IgTensor *x, int axis, int64_t before, int64_t after, double value,
                         MTLError **error);
// The other way round along an axis, moved on by n places (what falls off comes in at the other
// end), the whole again and again along each axis, each element n times.
MTL_API IgTensor *ig_flip(IgTensor *x, int axis, MTLError **error);
MTL_API IgTensor *ig_roll(IgTensor *x, int64_t n, int axis, MTLError **error);
MTL_API IgTensor *ig_tile(IgTensor *x, int rank, const int64_t *times, MTLError **error);
MTL_API IgTensor *ig_repeat_interleave(IgTensor *x, int64_t n, int axis, MTLError **error);
// Views of consecutive pieces: each of `size`, the last may be shorter; of equal size and at most
// n; every position by itself, without the axis. They return how many there are and fill `pieces`,
// which has room for max; 0 is a failure (or nothing to unstack).
MTL_API int ig_split(IgTensor *x, int64_t size, int axis, int max, IgTensor **pieces,
                     MTLError **error);
MTL_API int ig_chunk(IgTensor *x, int64_t n, int axis, int max, IgTensor **pieces,
                     MTLError **error);
MTL_API int ig_unstack(IgTensor *x, int axis, int max, IgTensor **pieces, MTLError **error);

// ---- Gradients ----
// A tensor that requires a gradient is a leaf; results of operations on it remember how they were
// made. ig_backward follows that back and adds to the gradients of the leaves. Gradients have the
// type of their tensor and are made of ordinary operations: recorded, fused, and differentiable
// again if asked for.
// Where a function has no derivative: 0 for abs, relu, sign and rounding at their steps; clamp and
// the scalar minimum and maximum let the gradient through at their ends; equal elements share it
// (minimum, maximum, ig_max, ig_min).

// Makes a leaf of it, or ordinary again. Floating types only; not for results.
MTL_API bool ig_set_requires_grad(IgTensor *tensor, bool requires_grad, MTLError **error);
MTL_API bool ig_requires_grad(const IgTensor *tensor); // a leaf, or made from one
MTL_API bool ig_is_leaf(const IgTensor *tensor);       // not made from one
// The gradient of a leaf, which is changed by what changes the result in place, and by ig_backward;
// an error if it has none yet.
MTL_API IgTensor *ig_grad(const IgTensor *tensor, MTLError **error);
MTL_API bool ig_has_grad(const IgTensor *tensor);
// Whether it is what ig_grad gave, or ig_set_grad was given, for the gradient that is there now.
MTL_API bool ig_is_grad(const IgTensor *tensor, const IgTensor *grad);
MTL_API bool ig_set_grad(IgTensor *tensor, IgTensor *grad, MTLError **error); // NULL: none
MTL_API void ig_zero_grad(IgTensor *tensor);                                  // drops it
// The same memory, without history; `quietly`: without being noticed by ig_backward, too.
MTL_API IgTensor *ig_detach(IgTensor *tensor, MTLError **error);
MTL_API IgTensor *ig_detach_quietly(IgTensor *tensor, MTLError **error);
// Between them the thread's operations remember nothing. Pairs nest.
MTL_API void ig_no_grad_begin(void);
MTL_API void ig_no_grad_end(void);
MTL_API bool ig_grad_enabled(void);

typedef struct IgBackwardOptions {
    bool retain_graph; // another backward may follow
    bool create_graph; // gradients remember how they were made; implies retain_graph. A leaf whose
                       // gradient refers to the leaf lives until ig_zero_grad: see ig_grad_of
} IgBackwardOptions;
// seed: the gradient of `tensor`, of its shape; NULL is 1 and needs a tensor with one element.
// options NULL: neither. On failure no gradient has changed.
MTL_API bool ig_backward(IgTensor *tensor, IgTensor *seed, const IgBackwardOptions *options,
                         MTLError **error);
// grads[i] = the gradient of the sum of outputs (times their seeds) for inputs[i], which may be
// results too; zeros if nothing leads there. Leaves are left alone. seeds NULL: all 1, for outputs
// with one element.
MTL_API bool ig_grad_of(int n_outputs, IgTensor *const *outputs, IgTensor *const *seeds,
                        int n_inputs, IgTensor *const *inputs, const IgBackwardOptions *options,
                        IgTensor **grads, MTLError **error);

// Compares gradients with central differences, in the type of the inputs (float32 or better use
// larger steps for half).
typedef IgTensor *IgFunction(void *context, int n, IgTensor *const *inputs, MTLError **error);
typedef struct IgGradientCheckOptions {
    double step;     // 0: 1e-2
    double relative; // 0: 1e-2
    double absolute; // 0: 1e-3
} IgGradientCheckOptions;
typedef struct IgGradientCheck {
    double max_relative, mean_relative, max_absolute, mean_absolute;
    int64_t n_checked, n_failed; // elements; one fails if it is beyond both tolerances
    bool passed;
} IgGradientCheck;
// The function's result may have any shape: what is checked is its sum. False: it could not be
// done.
MTL_API bool ig_gradient_check(IgFunction *function, void *context, int n, IgTensor *const *inputs,
                               const IgGradientCheckOptions *options, IgGradientCheck *result,
                               MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
