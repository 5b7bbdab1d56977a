// SPDX-License-Identifier: Apache-2.0
// ops_nn.c: what networks are made of: norms, convolution, pooling, losses, fused operations.
#include "object.h"

// ---- Norms ----

static bool trailing(const char *call, IgTensor *x, const Arg *shape) {
    int skip = ig_rank(x) - shape->n;
    bool fits = skip >= 0;
    for (int i = 0; fits && i < shape->n; i++) fits = shape->shape[i] == ig_shape(x)[skip + i];
    if (!fits)
        PyErr_Format(PyExc_ValueError, "%s(): the shape is not that of the last axes of x", call);
    return fits;
}
TENSOR_OP(layer_norm,
          "(x - mean) / sqrt(variance + eps) over the last axes, which have this shape; times "
          "weight, plus bias.",
          X, {.name = "normalized_shape", .other = "shape", .kind = A_SHAPE}, TENSOR_OR("weight"),
          TENSOR_OR("bias"), NUMBER_OR("eps", 1e-5)) {
    if (!trailing("layer_norm", a[0].t, &a[1])) return NULL;
    return ig_layer_norm(a[0].t, a[1].n, a[2].t, a[3].t, a[4].f, error);
}
TENSOR_OP(rms_norm,
          "x / sqrt(mean(x * x) + eps) over the last axes, which have this shape; times "
          "weight.",
          X, {.name = "normalized_shape", .other = "shape", .kind = A_SHAPE}, TENSOR_OR("weight"),
          NUMBER_OR("eps", 1e-6)) {
    if (!trailing("rms_norm", a[0].t, &a[1])) return NULL;
    return ig_rms_norm(a[0].t, a[1].n, a[2].t, a[3].f, error);
}
TENSOR_OP(batch_norm,
          "Per channel of x (N, C, ..). Training: by mean and variance of x, and the running ones "
          "get new values; else by the running ones.",
          X, TENSOR_OR("running_mean"), TENSOR_OR("running_var"), TENSOR_OR("weight"),
          TENSOR_OR("bias"), BOOL_OR("training", false), NUMBER_OR("momentum", 0.1),
          NUMBER_OR("eps", 1e-5)) {
    return ig_batch_norm(a[0].t, a[1].t, a[2].t, a[3].t, a[4].t, a[5].b, a[6].f, a[7].f, error);
}
TENSOR_OP(group_norm, "Per element of the batch and group of channels of x (N, C, ..).", X,
          INT("num_groups"), TENSOR_OR("weight"), TENSOR_OR("bias"), NUMBER_OR("eps", 1e-5)) {
    return ig_group_norm(a[0].t, a[1].i, a[2].t, a[3].t, a[4].f, error);
}
TENSOR_OP(instance_norm, "Per element of the batch and channel of x (N, C, ..).", X,
          TENSOR_OR("weight"), TENSOR_OR("bias"), NUMBER_OR("eps", 1e-5)) {
    return ig_instance_norm(a[0].t, a[1].t, a[2].t, a[3].f, error);
}

// ---- Convolution and pooling ----

// 0 means 1 to the library; here it is a mistake, as anything below is.
static bool positive(const char *call, const char *name, const Arg *pair) {
    if (pair->shape[0] >= 1 && pair->shape[1] >= 1) return true;
    PyErr_Format(PyExc_ValueError, "%s(): %s must be 1 or more", call, name);
    return false;
}
static bool convolution(const char *call, const Arg *a, IgConvolution *o) {
    if (!positive(call, "stride", &a[3]) || !positive(call, "dilation", &a[5])) return false;
    if (a[6].i < 1) {
        PyErr_Format(PyExc_ValueError, "%s(): groups must be 1 or more", call);
        return false;
    }
    *o = (IgConvolution){.stride = {a[3].shape[0], a[3].shape[1]},
                         .padding = {a[4].shape[0], a[4].shape[1]},
                         .dilation = {a[5].shape[0], a[5].shape[1]},
                         .groups = a[6].i};
    return true;
}
#define CONVOLUTION                                                                                \
    X, TENSOR("weight"), TENSOR_OR("bias"), PAIR_OR("stride", 1), PAIR_OR("padding", 0),           \
        PAIR_OR("dilation", 1), INT_OR("groups", 1)
TENSOR_OP(conv2d, "x (N, C, H, W) with weight (O, C / groups, KH, KW) and bias (O).", CONVOLUTION) {
    IgConvolution o;
    if (!convolution("conv2d", a, &o)) return NULL;
    return ig_conv2d(a[0].t, a[1].t, a[2].t, &o, error);
}
TENSOR_OP(conv1d, "x (N, C, L) with weight (O, C / groups, K) and bias (O).", CONVOLUTION) {
    IgConvolution o;
    if (!convolution("conv1d", a, &o)) return NULL;
    return ig_conv1d(a[0].t, a[1].t, a[2].t, &o, error);
}
TENSOR_OP(conv_transpose2d, "What conv2d does to gradients: weight (C, O / groups, KH, KW).",
          CONVOLUTION, PAIR_OR("output_padding", 0)) {
    IgConvolution o;
    if (!convolution("conv_transpose2d", a, &o)) return NULL;
    memcpy(o.output_padding, a[7].shape, sizeof o.output_padding);
    return ig_conv_transpose2d(a[0].t, a[1].t, a[2].t, &o, error);
}
TENSOR_OP(conv_transpose1d, "What conv1d does to gradients: weight (C, O / groups, K).",
          CONVOLUTION, PAIR_OR("output_padding", 0)) {
    IgConvolution o;
    if (!convolution("conv_transpose1d", a, &o)) return NULL;
    memcpy(o.output_padding, a[7].shape, sizeof o.output_padding);
    return ig_conv_transpose1d(a[0].t, a[1].t, a[2].t, &o, error);
}

static bool pooling(const char *call, const Arg *a, IgPooling *o) {
    bool stride = a[2].py && a[2].py != Py_None;
    if (!positive(call, "kernel_size", &a[1]) || (stride && !positive(call, "stride", &a[2])))
        return false;
    *o = (IgPooling){.kernel = {a[1].shape[0], a[1].shape[1]},
                     .stride = {stride ? a[2].shape[0] : 0, stride ? a[2].shape[1] : 0},
                     .padding = {a[3].shape[0], a[3].shape[1]}};
    return true;
}
#define POOLING                                                                                    \
    X, PAIR("kernel_size"), {.name = "stride", .kind = A_PAIR, .text = "None", .or_none = true},   \
        PAIR_OR("padding", 0)
TENSOR_OP(max_pool2d, "The largest of each window of x (N, C, H, W); stride: the kernel's.",
          POOLING, PAIR_OR("dilation", 1), BOOL_OR("ceil_mode", false)) {
    IgPooling o;
    if (!pooling("max_pool2d", a, &o) || !positive("max_pool2d", "dilation", &a[4])) return NULL;
    o.dilation[0] = a[4].shape[0], o.dilation[1] = a[4].shape[1];
    o.ceil_mode = a[5].b;
    return ig_max_pool2d(a[0].t, &o, NULL, error);
}
TENSOR_OP(avg_pool2d, "The mean of each window of x (N, C, H, W); stride: the kernel's.", POOLING,
          BOOL_OR("ceil_mode", false), BOOL_OR("count_include_pad", true)) {
    IgPooling o;
    if (!pooling("avg_pool2d", a, &o)) return NULL;
    o.ceil_mode = a[4].b;
    o.count_excludes_padding = !a[5].b;
    return ig_avg_pool2d(a[0].t, &o, error);
}
TENSOR_OP(adaptive_avg_pool2d, "Means of as many windows as the output has pixels.", X,
          PAIR("output_size")) {
    return ig_adaptive_avg_pool2d(a[0].t, a[1].shape[0], a[1].shape[1], error);
}
TENSOR_OP(global_avg_pool, "(N, C, ..) to (N, C): the mean of each channel.", X) {
    return ig_global_avg_pool(a[0].t, error);
}
TENSOR_OP(global_max_pool, "(N, C, ..) to (N, C): the largest of each channel.", X) {
    return ig_global_max_pool(a[0].t, error);
}

// ---- Losses ----

#define LOSS(fn, doc)                                                                              \
    TENSOR_OP_AS(AS_FUNCTION, fn, doc, {.name = "x", .other = "input", .kind = A_TENSOR},          \
                 TENSOR("target"), REDUCE) {                                                       \
        return ig_##fn(a[0].t, a[1].t, a[2].reduce, error);                                        \
    }
LOSS(mse_loss, "(x - target) ** 2. The shapes must be equal, as for all losses.")
LOSS(mae_loss, "abs(x - target).")
LOSS(bce_loss, "Binary cross-entropy of probabilities; logarithms are not let below -100.")
LOSS(bce_logits_loss, "Binary cross-entropy of logits.")
TENSOR_OP_AS(AS_FUNCTION | WAITS, cross_entropy_loss,
             "Cross-entropy of logits (.., C) with class numbers (..), which are checked, or "
             "probabilities (.., C).",
             {.name = "x", .other = "input", .kind = A_TENSOR}, TENSOR("target"), REDUCE) {
    return ig_cross_entropy_loss(a[0].t, a[1].t, a[2].reduce, error);
}
TENSOR_OP_AS(AS_FUNCTION, huber_loss, "d * d / 2 up to delta, delta * (abs(d) - delta / 2) beyond.",
             {.name = "x", .other = "input", .kind = A_TENSOR}, TENSOR("target"),
             NUMBER_OR("delta", 1.0), REDUCE) {
    return ig_huber_loss(a[0].t, a[1].t, a[2].f, a[3].reduce, error);
}

// ---- Fused operations by name ----

static bool activation(const char *call, const Arg *a, IgActivation *out) {
    static const char *const names[] = {"none", "relu", "gelu", "silu", "sigmoid", "tanh"};
    PyObject *o = a->py;
    if (!o || o == Py_None) return *out = IgActivationNone, true;
    if (PyUnicode_Check(o)) {
        for (int i = 0; i < 6; i++)
            if (!PyUnicode_CompareWithASCIIString(o, names[i])) return *out = (IgActivation)i, true;
    } else if (PyIndex_Check(o)) {
        PyObject *index = PyNumber_Index(o);
        long i = index ? PyLong_AsLong(index) : -1;
        Py_XDECREF(index);
        if (i >= 0 && i < 6) return *out = (IgActivation)i, true;
        PyErr_Clear();
    }
    PyErr_Format(
        PyExc_ValueError,
        "%s(): activation is \"none\", \"relu\", \"gelu\", \"silu\", \"sigmoid\", \"tanh\" "
        "or a member of fused.Activation, not %R",
        call, o);
    return false;
}
TENSOR_OP(matmul_with_activation, "activation(x @ y) in one kernel.", X, TENSOR("y"),
          ANY_OR("activation")) {
    IgActivation kind;
    if (!activation("matmul_with_activation", &a[2], &kind)) return NULL;
    return ig_matmul_with_activation(a[0].t, a[1].t, kind, error);
}
TENSOR_OP(fused_add_relu, "relu(x + y) in one kernel.", X, TENSOR("y")) {
    return ig_fused_add_relu(a[0].t, a[1].t, error);
}
TENSOR_OP(fused_mul_relu, "relu(x * y) in one kernel.", X, TENSOR("y")) {
    return ig_fused_mul_relu(a[0].t, a[1].t, error);
}
TENSOR_OP(fused_affine, "x * scale + bias in one kernel, with broadcasting.", X, TENSOR("scale"),
          TENSOR("bias")) {
    return ig_fused_affine(a[0].t, a[1].t, a[2].t, error);
}
TENSOR_OP(fused_linear, "activation(x @ weight + bias + residual) in one kernel: weight (K, N).", X,
          TENSOR("weight"), TENSOR_OR("bias"), TENSOR_OR("residual"), ANY_OR("activation")) {
    IgActivation kind;
    if (!activation("fused_linear", &a[4], &kind)) return NULL;
    return ig_fused_linear(a[0].t, a[1].t, a[2].t, a[3].t, kind, error);
}
TENSOR_OP(fused_linear_residual_relu, "relu(x @ weight + bias + residual) in one kernel.", X,
          TENSOR("weight"), TENSOR("bias"), TENSOR("residual")) {
    return ig_fused_linear_residual_relu(a[0].t, a[1].t, a[2].t, a[3].t, error);
}
TENSOR_OP(fused_gelu_linear, "gelu(x) @ weight + bias.", X, TENSOR("weight"), TENSOR("bias")) {
    return ig_fused_gelu_linear(a[0].t, a[1].t, a[2].t, error);
}
TENSOR_OP_AS(AS_FUNCTION | WAITS, fused_softmax_cross_entropy,
             "Softmax and cross-entropy of logits (.., C) and class numbers (..) in one kernel.",
             TENSOR("logits"), TENSOR("classes"), REDUCE) {
    return ig_fused_softmax_cross_entropy(a[0].t, a[1].t, a[2].reduce, error);
}
TENSOR_OP_AS(AS_FUNCTION, _attention,
             "softmax(query @ key.mT * scale) @ value, without gradients in one kernel.",
             TENSOR("query"), TENSOR("key"), TENSOR("value"), NUMBER("scale")) {
    return ig_attention(a[0].t, a[1].t, a[2].t, a[3].f, error);
}

// ---- Training ----

TENSOR_OP_AS(AS_FUNCTION, _clip_grad_norm,
             "Scales gradients so that their norm together is at most max_norm; the norm before.",
             TENSORS("parameters"), NUMBER("max_norm")) {
    return ig_clip_grad_norm(a[0].n, a[0].ts, a[1].f, error);
}
OBJECT_OP(AS_FUNCTION, _clip_grad_value, "None", "Gradients within -limit .. limit.",
          TENSORS("parameters"), NUMBER("limit")) {
    MTLError *error = NULL;
    if (!ig_clip_grad_value(a[0].n, a[0].ts, a[1].f, &error)) return raise_error(state, error);
    return Py_NewRef(Py_None);
}
#define INIT_OP(NAME, DOC, CALL, ...)                                                              \
    OBJECT_OP(AS_FUNCTION, NAME, "None", DOC, TENSOR("tensor"), __VA_ARGS__, SEED) {               \
        MTLError *error = NULL;                                                                    \
        if (!CALL) return raise_error(state, error);                                               \
        return Py_NewRef(Py_None);                                                                 \
    }
INIT_OP(_init_uniform, "Uniform from a to b.",
        ig_init_uniform(a[0].t, a[1].f, a[2].f, a[3].seed, &error), NUMBER("a"), NUMBER("b"))
INIT_OP(_init_normal, "Normally distributed.",
        ig_init_normal(a[0].t, a[1].f, a[2].f, a[3].seed, &error), NUMBER("mean"), NUMBER("std"))
INIT_OP(_init_kaiming_uniform, "Uniform within gain * sqrt(3 / fan_in).",
        ig_init_kaiming_uniform(a[0].t, a[1].f, a[2].seed, &error), NUMBER("gain"))
INIT_OP(_init_kaiming_normal, "Normal with deviation gain / sqrt(fan_in).",
        ig_init_kaiming_normal(a[0].t, a[1].f, a[2].seed, &error), NUMBER("gain"))
INIT_OP(_init_xavier_uniform, "Uniform within gain * sqrt(6 / (fan_in + fan_out)).",
        ig_init_xavier_uniform(a[0].t, a[1].f, a[2].seed, &error), NUMBER("gain"))
INIT_OP(_init_xavier_normal, "Normal with deviation gain * sqrt(2 / (fan_in + fan_out)).",
        ig_init_xavier_normal(a[0].t, a[1].f, a[2].seed, &error), NUMBER("gain"))
INIT_OP(_init_layer, "What a layer's weight and bias start with.",
        ig_init_layer(a[0].t, a[1].t, a[2].seed, &error), TENSOR_OR("bias"))
OBJECT_OP(AS_FUNCTION, _schedule_rate, "float", "The learning rate of a step.", INT("kind"),
          NUMBER("rate"), INT("warmup"), INT("period"), NUMBER("gamma"), NUMBER("min_rate"),
          INT("step")) {
    IgSchedule s = {(IgScheduleKind)a[0].i, a[1].f, a[2].i, a[3].i, a[4].f, a[5].f};
    return PyFloat_FromDouble(ig_schedule_rate(&s, a[6].i));
}

const Op *const ops_nn[] = {&op_layer_norm,
                            &op_rms_norm,
                            &op_batch_norm,
                            &op_group_norm,
                            &op_instance_norm,
                            &op_conv2d,
                            &op_conv1d,
                            &op_conv_transpose2d,
                            &op_conv_transpose1d,
                            &op_max_pool2d,
                            &op_avg_pool2d,
                            &op_adaptive_avg_pool2d,
                            &op_global_avg_pool,
                            &op_global_max_pool,
                            &op_mse_loss,
                            &op_mae_loss,
                            &op_bce_loss,
                            &op_bce_logits_loss,
                            &op_cross_entropy_loss,
                            &op_huber_loss,
                            &op_matmul_with_activation,
                            &op_fused_add_relu,
                            &op_fused_mul_relu,
                            &op_fused_affine,
                            &op_fused_linear,
                            &op_fused_linear_residual_relu,
                            &op_fused_gelu_linear,
                            &op_fused_softmax_cross_entropy,
                            &op__attention,
                            &op__clip_grad_norm,
                            &op__clip_grad_value,
                            &op__init_uniform,
                            &op__init_normal,
                            &op__init_kaiming_uniform,
                            &op__init_kaiming_normal,
                            &op__init_xavier_uniform,
                            &op__init_xavier_normal,
                            &op__init_layer,
                            &op__schedule_rate,
                            NULL};
