// SPDX-License-Identifier: Apache-2.0
// tensor_nn.h: training with tensors (tensor.h): losses, optimisers, clipping, modules, learning
// rates.
//
//     IgOptimizer *adam = ig_optimizer_new(IgAdam, n, parameters, NULL, &error);
//     for (...) {
//         IgScope *scope = ig_scope_begin();
//         IgTensor *loss = ig_cross_entropy_loss(network(x), labels, IgReduceMean, &error);
//         ig_optimizer_zero_grad(adam);
//         ig_backward(loss, NULL, NULL, &error);
//         ig_optimizer_step(adam, &error);
//         ig_scope_end(scope);
//     }
//     ig_optimizer_release(adam);
#ifndef INGOT_TENSOR_NN_H
#define INGOT_TENSOR_NN_H
#include "ingot/tensor.h"
#include "ingot/tensor_files.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Losses ----
// Shapes must be equal: broadcasting a target is more often a mistake than meant.

typedef enum IgReduce { IgReduceMean = 0, IgReduceSum = 1, IgReduceNone = 2 } IgReduce;
MTL_API IgTensor *ig_mse_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error);
MTL_API IgTensor *ig_mae_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error);
// d^2 / 2 up to delta, delta (|d| - delta / 2) beyond.
MTL_API IgTensor *ig_huber_loss(IgTensor *x, IgTensor *target, double delta, IgReduce reduce,
                                MTLError **error);
// Of probabilities; logarithms are not let below -100. The other one takes logits and needs no
// limit.
MTL_API IgTensor *ig_bce_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error);
MTL_API IgTensor *ig_bce_logits_loss(IgTensor *x, IgTensor *target, IgReduce reduce,
                                     MTLError **error);
// Logits (.., C) with class numbers (..), which are checked, or probabilities (.., C).
MTL_API IgTensor *ig_cross_entropy_loss(IgTensor *logits, IgTensor *target, IgReduce reduce,
                                        MTLError **error);

// Softmax and cross-entropy of logits (.., C) and class numbers (..), which are checked, in one
// kernel, as its gradient is. With a mean or sum over more than 65,536 logits the sum is a second
// one. ig_cross_entropy_loss uses it.
MTL_API IgTensor *ig_fused_softmax_cross_entropy(IgTensor *logits, IgTensor *classes,
                                                 IgReduce reduce, MTLError **error);

// softmax(query key^T * scale) value: query (.., L, E), key (.., S, E), value (.., S, V) give
// (.., L, V). Without gradients one kernel that never stores the (.., L, S) in between.
MTL_API IgTensor *ig_attention(IgTensor *query, IgTensor *key, IgTensor *value, double scale,
                               MTLError **error);

// ---- Optimisers ----
// State is float32; float16 and bfloat16 parameters have a float32 copy that is the truth. A step
// is one kernel per parameter, and another rate needs no other kernel.

typedef enum IgOptimizerKind { IgSGD = 0, IgAdam = 1, IgAdamW = 2, IgRMSprop = 3 } IgOptimizerKind;
typedef struct IgOptimizerOptions {
    double rate;         // 1e-3; SGD and RMSprop 1e-2
    double weight_decay; // 0; AdamW 1e-2, where it is not part of the gradient
    double momentum;     // SGD, RMSprop: 0
    double dampening;    // SGD: 0
    bool nesterov;       // SGD
    double beta1, beta2; // Adam, AdamW: 0.9, 0.999
    double alpha;        // RMSprop: 0.99
    double epsilon;      // 1e-8
} IgOptimizerOptions;
MTL_API IgOptimizerOptions ig_optimizer_defaults(IgOptimizerKind kind);

typedef struct IgOptimizer IgOptimizer;
// options NULL: the defaults. Parameters are leaves; they are retained.
MTL_API IgOptimizer *ig_optimizer_new(IgOptimizerKind kind, int n, IgTensor *const *parameters,
                                      const IgOptimizerOptions *options, MTLError **error);
MTL_API void ig_optimizer_release(IgOptimizer *optimizer);
// More parameters, with options of their own.
MTL_API bool ig_optimizer_add_group(IgOptimizer *optimizer, int n, IgTensor *const *parameters,
                                    const IgOptimizerOptions *options, MTLError **error);
MTL_API int ig_optimizer_group_count(const IgOptimizer *optimizer);
MTL_API double ig_optimizer_rate(const IgOptimizer *optimizer, int group);
MTL_API void ig_optimizer_set_rate(IgOptimizer *optimizer, int group, double rate); // -1: all
MTL_API IgOptimizerKind ig_optimizer_kind(const IgOptimizer *optimizer);
// Of a group. What is set must need the state that is there: momentum stays, or stays away.
MTL_API bool ig_optimizer_options(const IgOptimizer *optimizer, int group,
                                  IgOptimizerOptions *options, MTLError **error);
MTL_API bool ig_optimizer_set_options(IgOptimizer *optimizer, int group,
                                      const IgOptimizerOptions *options, MTLError **error);
// Parameters without a gradient stay as they are, and their steps are not counted.
MTL_API bool ig_optimizer_step(IgOptimizer *optimizer, MTLError **error);
MTL_API void ig_optimizer_zero_grad(IgOptimizer *optimizer);
// To save and load: the number of steps and the state tensors, in an order that depends on the kind
// and the parameters only. Names are like "0.first", "0.second", "0.master".
MTL_API int64_t ig_optimizer_steps(const IgOptimizer *optimizer);
MTL_API void ig_optimizer_set_steps(IgOptimizer *optimizer, int64_t steps);
MTL_API int ig_optimizer_state_count(const IgOptimizer *optimizer);
MTL_API bool ig_optimizer_state_name(const IgOptimizer *optimizer, int i, char name[32]);
MTL_API IgTensor *ig_optimizer_state(const IgOptimizer *optimizer, int i, MTLError **error);
MTL_API bool ig_optimizer_set_state(IgOptimizer *optimizer, int i, IgTensor *value,
                                    MTLError **error);

// The same as a dictionary (tensor_files.h): the state under its names, the kind, the number of
// steps and the options of the groups as metadata. Loading wants the same kind and the same
// parameters in the same order, and changes nothing if something does not fit.
MTL_API IgDict *ig_optimizer_state_dict(const IgOptimizer *optimizer, MTLError **error);
MTL_API bool ig_optimizer_load_state_dict(IgOptimizer *optimizer, const IgDict *dict,
                                          MTLError **error);

// ---- Gradients ----

// Scales all gradients so that their norm together is at most max_norm, and returns the norm
// before. Nothing is read: the result is a tensor. Parameters without a gradient are left out.
MTL_API IgTensor *ig_clip_grad_norm(int n, IgTensor *const *parameters, double max_norm,
                                    MTLError **error);
MTL_API bool ig_clip_grad_value(int n, IgTensor *const *parameters, double limit, MTLError **error);

// ---- Modules ----
// Networks as objects: parameters, buffers (what is saved and not trained), modules inside, and a
// function. Names of parameters are PyTorch's ("0.weight", "running_mean"), as are the shapes and
// the numbers they start with: files go both ways. Random starts depend on the seed only.
//
//     IgModule *net = ig_sequential_new(3, (IgModule *[]){
//         ig_linear_new(device, IgFloat32, 784, 512, true, 1, &error),
//         ig_activation_new(IgActivationReLU, &error),
//         ig_linear_new(device, IgFloat32, 512, 10, true, 2, &error)}, &error);
//     IgOptimizer *adam = ig_module_optimizer(net, IgAdam, NULL, &error);
//     IgTensor *y = ig_module_forward(net, x, &error);
//
// A linear module followed by an activation is one kernel.

typedef struct IgModule IgModule;
MTL_API IgModule *ig_module_retain(IgModule *module);
MTL_API void ig_module_release(IgModule *module); // NULL is a no-op
MTL_API IgTensor *ig_module_forward(IgModule *module, IgTensor *x, MTLError **error);
// Modules start in training; it decides what dropout and batch norm do. Also of those inside.
MTL_API void ig_module_set_training(IgModule *module, bool training);
MTL_API bool ig_module_training(const IgModule *module);
MTL_API const char *ig_module_kind(const IgModule *module); // "linear"

// x (.., in) -> (.., out): weight (out, in), bias (out).
MTL_API IgModule *ig_linear_new(IgDevice *device, IgType type, int64_t in, int64_t out, bool bias,
                                uint64_t seed, MTLError **error);
// x (N, in, H, W): weight (out, in / groups, kernel height, width), bias (out). options as of
// ig_conv2d.
MTL_API IgModule *ig_conv2d_new(IgDevice *device, IgType type, int64_t in, int64_t out,
                                const int64_t kernel[2], const IgConvolution *options, bool bias,
                                uint64_t seed, MTLError **error);
// Over the last axes, of this shape. epsilon 0: 1e-5. affine: weight and bias.
MTL_API IgModule *ig_layer_norm_new(IgDevice *device, IgType type, int rank, const int64_t *shape,
                                    double epsilon, bool affine, MTLError **error);
MTL_API IgModule *ig_rms_norm_new(IgDevice *device, IgType type, int rank, const int64_t *shape,
                                  double epsilon, bool affine, MTLError **error);
// Of axis 1 of x (N, C, ..). momentum 0: 0.1, epsilon 0: 1e-5. Buffers running_mean, running_var
// and num_batches_tracked; they are used when not training.
MTL_API IgModule *ig_batch_norm_new(IgDevice *device, IgType type, int64_t channels, double epsilon,
                                    double momentum, bool affine, MTLError **error);
// Each forward in training draws anew; the seeds of a run follow from this one.
MTL_API IgModule *ig_dropout_new(double p, uint64_t seed, MTLError **error);
// Indices (..) -> (.., dim): weight (n, dim).
MTL_API IgModule *ig_embedding_new(IgDevice *device, IgType type, int64_t n, int64_t dim,
                                   uint64_t seed, MTLError **error);
MTL_API IgModule *ig_activation_new(IgActivation activation, MTLError **error);
MTL_API IgModule *ig_softmax_new(int axis, MTLError **error);
MTL_API IgModule *ig_flatten_new(int first_axis, int last_axis, MTLError **error);
// One after the other, under the names "0", "1", ... Takes the references over, also when it fails;
// a NULL among them gives NULL.
MTL_API IgModule *ig_sequential_new(int n, IgModule *const *modules, MTLError **error);
// A module of one's own. `forward` calls what it needs; add_* say what belongs to it. release,
// which may be NULL, is called with the context at the end.
typedef IgTensor *IgModuleForward(void *context, IgModule *module, IgTensor *x, MTLError **error);
MTL_API IgModule *ig_module_new(const char *kind, IgModuleForward *forward, void *context,
                                void (*release)(void *context), MTLError **error);
// A parameter becomes a leaf that requires a gradient. Retained.
MTL_API bool ig_module_add_parameter(IgModule *module, const char *name, IgTensor *tensor,
                                     MTLError **error);
MTL_API bool ig_module_add_buffer(IgModule *module, const char *name, IgTensor *tensor,
                                  MTLError **error);
// Takes the reference over, also when it fails. A module must not come twice, nor hold itself.
MTL_API bool ig_module_add_module(IgModule *module, const char *name, IgModule *inner,
                                  MTLError **error);
MTL_API int ig_module_child_count(const IgModule *module);
MTL_API IgModule *ig_module_child(const IgModule *module, int i); // borrowed; NULL: none
MTL_API const char *ig_module_child_name(const IgModule *module, int i);

// All parameters, of the modules inside too, in the order they were added; names with dots.
MTL_API int ig_module_parameter_count(const IgModule *module);
MTL_API IgTensor *ig_module_parameter(const IgModule *module, int i); // borrowed; NULL: none
// Returns the length of the name, without the zero at the end; 0: there is no parameter i.
MTL_API size_t ig_module_parameter_name(const IgModule *module, int i, char *name, size_t n_bytes);
// By name; also buffers. Borrowed; NULL: none.
MTL_API IgTensor *ig_module_tensor(const IgModule *module, const char *name);
MTL_API void ig_module_zero_grad(IgModule *module);
MTL_API bool ig_module_set_requires_grad(IgModule *module, bool requires_grad, MTLError **error);
// An optimiser of all its parameters that require a gradient.
MTL_API IgOptimizer *ig_module_optimizer(const IgModule *module, IgOptimizerKind kind,
                                         const IgOptimizerOptions *options, MTLError **error);
// Parameters and buffers by name: detached views. Loading changes nothing if something does not
// fit; strict: and if names are missing or too many.
MTL_API IgDict *ig_module_state_dict(const IgModule *module, MTLError **error);
MTL_API bool ig_module_load_state_dict(IgModule *module, const IgDict *dict, bool strict,
                                       MTLError **error);
// To and from one file; optimizer may be NULL. Its part of the names begins with "optimizer.".
MTL_API bool ig_module_save(const IgModule *module, const IgOptimizer *optimizer, const char *path,
                            MTLError **error);
MTL_API bool ig_module_load(IgModule *module, IgOptimizer *optimizer, const char *path,
                            MTLError **error);

// ---- First values ----
// New values for a tensor, from its shape (out, in, ..): fans as PyTorch computes them.

MTL_API bool ig_init_uniform(IgTensor *tensor, double low, double high, uint64_t seed,
                             MTLError **error);
MTL_API bool ig_init_normal(IgTensor *tensor, double mean, double deviation, uint64_t seed,
                            MTLError **error);
// Kaiming: bound gain * sqrt(3 / fan_in), deviation gain / sqrt(fan_in); Xavier: with
// (fan_in + fan_out) / 2 in its place. gain: sqrt(2) for ReLU, 1 for linear.
MTL_API bool ig_init_kaiming_uniform(IgTensor *tensor, double gain, uint64_t seed,
                                     MTLError **error);
MTL_API bool ig_init_kaiming_normal(IgTensor *tensor, double gain, uint64_t seed, MTLError **error);
MTL_API bool ig_init_xavier_uniform(IgTensor *tensor, double gain, uint64_t seed, MTLError **error);
MTL_API bool ig_init_xavier_normal(IgTensor *tensor, double gain, uint64_t seed, MTLError **error);
// What a linear or convolution layer starts with: weight (out, in, ..) and bias (out), which may be
// NULL, uniform within 1 / sqrt(inputs of an output). Modules begin with it, in Python too.
MTL_API bool ig_init_layer(IgTensor *weight, IgTensor *bias, uint64_t seed, MTLError **error);

// ---- Learning rates ----

typedef enum IgScheduleKind {
    IgScheduleConstant = 0,
    IgScheduleStep = 1,        // times gamma every `period` steps
    IgScheduleExponential = 2, // times gamma every step
    IgScheduleCosine = 3,      // down to min_rate after `period` steps, and there it stays
    IgScheduleLinear = 4,      // the same, straight
} IgScheduleKind;
typedef struct IgSchedule {
    IgScheduleKind kind;
    double rate;
    int64_t warmup; // steps before, in which the rate rises from rate / warmup to rate
    int64_t period;
    double gamma, min_rate;
} IgSchedule;
// The rate of a step; the first is 0.
MTL_API double ig_schedule_rate(const IgSchedule *schedule, int64_t step);

#ifdef __cplusplus
}
#endif
#endif
