// SPDX-License-Identifier: Apache-2.0
// tensor_nn.h: training with tensors (tensor.h): losses, optimisers, clipping, learning rates.
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

#ifdef __cplusplus
extern "C" {
#endif

// ---- Losses -------------------------------------------------------------------------------------
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

// ---- Optimisers ---------------------------------------------------------------------------------
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
// Every parameter needs a gradient; if one has none, nothing changes.
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

// ---- Gradients ----------------------------------------------------------------------------------

// Scales all gradients so that their norm together is at most max_norm, and returns the norm
// before. Nothing is read: the result is a tensor. Parameters without a gradient are left out.
MTL_API IgTensor *ig_clip_grad_norm(int n, IgTensor *const *parameters, double max_norm,
                                    MTLError **error);
MTL_API bool ig_clip_grad_value(int n, IgTensor *const *parameters, double limit, MTLError **error);

// ---- Learning rates -----------------------------------------------------------------------------

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
