// SPDX-License-Identifier: Apache-2.0
// optimizer.c: SGD, Adam, AdamW and RMSprop. A step is written with element-wise operations; new
// state is marked as wanted, so the kernel that makes the parameter stores it too. Rates and betas
// are numbers of the operations and no part of the kernel.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "ingot/tensor_nn.h"
#include "tensor/alias.h"
#include "tensor/matmul.h"

enum { FIRST, SECOND, MASTER, N_SLOTS };
static const char *const slot_names[N_SLOTS] = {"first", "second", "master"};

typedef struct Parameter {
    IgTensor *tensor;
    IgTensor *state[N_SLOTS]; // NULL where the kind needs none
    int group;
    int64_t missed; // steps that found it without a gradient
} Parameter;

struct IgOptimizer {
    IgOptimizerKind kind;
    IgOptimizerOptions *groups;
    int n_groups;
    Parameter *parameters;
    int n;
    int64_t steps;
};

IgOptimizerOptions ig_optimizer_defaults(IgOptimizerKind kind) {
    bool adam = kind == IgAdam || kind == IgAdamW;
    return (IgOptimizerOptions){.rate = adam ? 1e-3 : 1e-2,
                                .weight_decay = kind == IgAdamW ? 1e-2 : 0,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .alpha = 0.99,
                                .epsilon = 1e-8};
}

static bool check_options(IgOptimizerKind kind, const IgOptimizerOptions *o, MTLError **error) {
    const char *bad = !(o->rate >= 0)                     ? "rate"
                      : !(o->weight_decay >= 0)           ? "weight_decay"
                      : !(o->momentum >= 0)               ? "momentum"
                      : !(o->epsilon >= 0)                ? "epsilon"
                      : !(o->beta1 >= 0 && o->beta1 < 1)  ? "beta1"
                      : !(o->beta2 >= 0 && o->beta2 < 1)  ? "beta2"
                      : !(o->alpha >= 0 && o->alpha <= 1) ? "alpha"
                      : kind == IgSGD && o->nesterov && (!(o->momentum > 0) || o->dampening != 0)
                          ? "nesterov (it needs momentum and no dampening)"
                          : NULL;
    return !bad || ig_fail(error, IgErrorArgument, "ig_optimizer: bad value of %s", bad);
}

static bool uses(IgOptimizerKind kind, const IgOptimizerOptions *o, IgType type, int slot) {
    if (slot == MASTER) return type != IgFloat32;
    if (slot == FIRST) return kind == IgAdam || kind == IgAdamW || o->momentum > 0;
    return kind != IgSGD;
}

// ---- Making ----

static bool make_state(IgOptimizer *o, Parameter *p, MTLError **error) {
    IgTensor *t = p->tensor;
    IgScope *scope = ig_scope_begin();
    bool ok = scope != NULL;
    ig_no_grad_begin();
    for (int s = 0; ok && s < N_SLOTS; s++) {
        if (!uses(o->kind, &o->groups[p->group], ig_type(t), s)) continue;
        IgTensor *start = s == MASTER
                              ? ig_cast(t, IgFloat32, error)
                              : ig_zeros(ig_device(t), IgFloat32, ig_rank(t), ig_shape(t), error);
        p->state[s] = start ? ig_keep(ig_contiguous(start, error)) : NULL;
        ok = p->state[s] && ig_eval(p->state[s], error);
    }
    ig_no_grad_end();
    ig_scope_end(scope);
    return ok;
}

bool ig_optimizer_add_group(IgOptimizer *o, int n, IgTensor *const *tensors,
                            const IgOptimizerOptions *options, MTLError **error) {
    if (!o) return false;
    IgOptimizerOptions values = options ? *options : ig_optimizer_defaults(o->kind);
    if (n < 1 || !tensors) return ig_fail(error, IgErrorArgument, "ig_optimizer: no parameters");
    if (!check_options(o->kind, &values, error)) return false;
    for (int i = 0; i < n; i++) {
        if (!tensors[i]) return false;
        if (!ig_is_leaf(tensors[i]) || !ig_is_float(ig_type(tensors[i])))
            return ig_fail(
                error, IgErrorGradient,
                "ig_optimizer: parameter %d is a result or no floating tensor, not a leaf", i);
        for (int k = 0; k < o->n + i; k++)
            if ((k < o->n ? o->parameters[k].tensor : tensors[k - o->n]) == tensors[i])
                return ig_fail(error, IgErrorArgument, "ig_optimizer: parameter %d comes twice", i);
    }
    IgOptimizerOptions *groups = realloc(o->groups, (size_t)(o->n_groups + 1) * sizeof *groups);
    if (groups) o->groups = groups;
    Parameter *parameters = realloc(o->parameters, (size_t)(o->n + n) * sizeof *parameters);
    if (parameters) o->parameters = parameters;
    if (!groups || !parameters) return ig_fail_no_memory(error);
    groups[o->n_groups] = values;
    bool ok = true;
    int made = 0;
    for (; ok && made < n; made++) {
        parameters[o->n + made] =
            (Parameter){.tensor = ig_retain(tensors[made]), .group = o->n_groups};
        ok = make_state(o, &parameters[o->n + made], error);
    }
    if (ok) {
        o->n += n;
        o->n_groups++;
        return true;
    }
    while (made-- > 0) {
        for (int s = 0; s < N_SLOTS; s++) ig_release(parameters[o->n + made].state[s]);
        ig_release(parameters[o->n + made].tensor);
    }
    return false;
}

IgOptimizer *ig_optimizer_new(IgOptimizerKind kind, int n, IgTensor *const *parameters,
                              const IgOptimizerOptions *options, MTLError **error) {
    if ((unsigned)kind > IgRMSprop) {
        ig_fail(error, IgErrorArgument, "ig_optimizer_new: no such kind: %d", kind);
        return NULL;
    }
    IgOptimizer *o = calloc(1, sizeof *o);
    if (!o) {
        ig_fail_no_memory(error);
        return NULL;
    }
    o->kind = kind;
    if (ig_optimizer_add_group(o, n, parameters, options, error)) return o;
    ig_optimizer_release(o);
    return NULL;
}

void ig_optimizer_release(IgOptimizer *o) {
    if (!o) return;
    for (int i = 0; i < o->n; i++) {
        for (int s = 0; s < N_SLOTS; s++) ig_release(o->parameters[i].state[s]);
        ig_release(o->parameters[i].tensor);
    }
    free(o->parameters);
    free(o->groups);
    free(o);
}

// ---- A step ----

// a x + b y
static IgTensor *mix(double a, IgTensor *x, double b, IgTensor *y, MTLError **error) {
    return ig_add(ig_mul_scalar(x, a, error), ig_mul_scalar(y, b, error), error);
}

static IgTensor *step_sgd(const IgOptimizerOptions *o, bool first_step, IgTensor *p, IgTensor *g,
                          IgTensor **state, MTLError **error) {
    if (state[FIRST]) {
        double share = first_step ? 1 : 1 - o->dampening; // the first velocity is the gradient
        state[FIRST] = mix(o->momentum, state[FIRST], share, g, error);
        g = o->nesterov ? ig_add(g, ig_mul_scalar(state[FIRST], o->momentum, error), error)
                        : state[FIRST];
    }
    return ig_add(p, ig_mul_scalar(g, -o->rate, error), error);
}

// p - rate m' / (sqrt(v') + epsilon), m' = m / (1 - beta1^t), v' = v / (1 - beta2^t)
static IgTensor *step_adam(const IgOptimizerOptions *o, double t, IgTensor *p, IgTensor *g,
                           IgTensor **state, MTLError **error) {
    state[FIRST] = mix(o->beta1, state[FIRST], 1 - o->beta1, g, error);
    state[SECOND] = mix(o->beta2, state[SECOND], 1 - o->beta2, ig_square(g, error), error);
    IgTensor *v = ig_mul_scalar(state[SECOND], 1 / (1 - pow(o->beta2, t)), error);
    IgTensor *scale = ig_add_scalar(ig_sqrt(v, error), o->epsilon, error);
    IgTensor *m = ig_mul_scalar(state[FIRST], -o->rate / (1 - pow(o->beta1, t)), error);
    return ig_add(p, ig_div(m, scale, error), error);
}

static IgTensor *step_rmsprop(const IgOptimizerOptions *o, IgTensor *p, IgTensor *g,
                              IgTensor **state, MTLError **error) {
    state[SECOND] = mix(o->alpha, state[SECOND], 1 - o->alpha, ig_square(g, error), error);
    IgTensor *scale = ig_add_scalar(ig_sqrt(state[SECOND], error), o->epsilon, error);
    IgTensor *move = ig_div(g, scale, error);
    if (state[FIRST]) move = state[FIRST] = mix(o->momentum, state[FIRST], 1, move, error);
    return ig_add(p, ig_mul_scalar(move, -o->rate, error), error);
}

// A tensor of the step and its next value.
typedef struct Next {
    IgTensor *tensor, *value;
} Next;

// Whether the gradient, a product, is not worth storing: most programs drop it before the next one
// is made. Who asks for it has it computed then. What it is made of is kept that long, and takes no
// more memory than the gradient would.
static bool can_wait(const IgData *gradient) {
    size_t inputs = 0;
    for (int i = 0; i < gradient->expr->n_inputs; i++) {
        const IgData *data = gradient->expr->inputs[i].data;
        inputs += (size_t)data->n * ig_type_size(data->type);
    }
    return inputs <= (size_t)gradient->n * ig_type_size(gradient->type);
}

// Makes the next values with everything on the way, in one kernel, where nobody else knows the old
// ones in their memory: it is in a cache already, and does not have to be read before it is written
// (Adam, 4M floats: 1.4 times as fast).
static bool make_updates(IgDevice *device, IgTensor *g, const Next *next, int n, MTLError **error) {
    IgData *gone[N_SLOTS + 1] = {NULL};
    ig_lock(device);
    // A gradient that is a product is computed by the kernel of the step, and stored there if need
    // be.
    IgData *gradient = g->view.data;
    bool ok = true;
    if (!gradient->memory && ig_is_product(gradient->expr))
        gradient->wanted |= !can_wait(gradient);
    else
        ok = ig_data_make(gradient, error);
    for (int i = 0; i < n; i++) {
        IgData *data = next[i].value->view.data;
        data->wanted = true;
        data->holders = ig_alias_count(next[i].tensor);
        if (device->unified && !data->memory && ig_whole(&next[i].tensor->view))
            data->replaces = next[i].tensor->view.data;
    }
    ok = ok && ig_data_make(next[0].value->view.data, error);
    if (gradient->wanted) ok = ok && ig_data_make(gradient, error);
    for (int i = 1; ok && i < n; i++) ok = ig_data_make(next[i].value->view.data, error);
    for (int i = 0; i < n; i++) {
        IgData *data = next[i].value->view.data;
        bool took_over = data->replaces && data->memory; // there is no way back
        data->replaces = NULL;
        if ((ok || took_over) && ig_whole(&next[i].tensor->view))
            gone[i] = ig_tensor_swap(next[i].tensor, ig_data_retain(data), NULL);
    }
    ig_unlock(device);
    for (int i = 0; i < n; i++) {
        if (ok && !gone[i]) ok = ig_give(next[i].tensor, next[i].value, error);
        ig_data_release(gone[i]);
    }
    return ok;
}

static bool step_parameter(const IgOptimizer *o, Parameter *p, MTLError **error) {
    const IgOptimizerOptions *group = &o->groups[p->group];
    IgType type = ig_type(p->tensor);
    for (int k = 0; k < N_SLOTS; k++)
        if (uses(o->kind, group, type, k) != (p->state[k] != NULL) ||
            (p->state[k] && ig_device(p->state[k]) != ig_device(p->tensor)))
            return ig_fail(error, IgErrorType,
                           "ig_optimizer_step: a parameter of shape %s has come to another type or "
                           "device since the optimiser was made: make it afterwards",
                           ig_shape_text(ig_rank(p->tensor), ig_shape(p->tensor)));
    IgTensor *state[N_SLOTS] = {p->state[FIRST], p->state[SECOND], NULL};
    IgTensor *old = p->state[MASTER] ? p->state[MASTER] : ig_detach(p->tensor, error);
    IgTensor *raw = ig_grad(p->tensor, error), *g = raw ? ig_cast(raw, IgFloat32, error) : NULL;
    int64_t before = o->steps - p->missed; // steps that it has taken
    double t = (double)before + 1;
    if (group->weight_decay != 0 && o->kind == IgAdamW)
        old = ig_mul_scalar(old, 1 - group->rate * group->weight_decay, error);
    else if (group->weight_decay != 0)
        g = ig_add(g, ig_mul_scalar(old, group->weight_decay, error), error);
    IgTensor *value = o->kind == IgSGD       ? step_sgd(group, before == 0, old, g, state, error)
                      : o->kind == IgRMSprop ? step_rmsprop(group, old, g, state, error)
                                             : step_adam(group, t, old, g, state, error);
    if (p->state[MASTER]) {
        state[MASTER] = value;
        value = value ? ig_cast(value, type, error) : NULL;
    }
    if (!value) return false;
    Next next[N_SLOTS + 1] = {{p->tensor, value}};
    int n = 1;
    for (int s = 0; s < N_SLOTS; s++)
        if (p->state[s]) next[n++] = (Next){p->state[s], state[s]};
    return make_updates(ig_device(p->tensor), raw, next, n, error);
}

bool ig_optimizer_step(IgOptimizer *o, MTLError **error) {
    if (!o) return false;
    bool ok = true;
    int n_missed = 0;
    ig_no_grad_begin();
    for (int i = 0; ok && i < o->n; i++) {
        bool part = ig_has_grad(o->parameters[i].tensor);
        o->parameters[i].missed += !part;
        n_missed += !part;
        if (!part) continue;
        IgScope *scope = ig_scope_begin();
        ok = scope && step_parameter(o, &o->parameters[i], error);
        ig_scope_end(scope);
    }
    ig_no_grad_end();
    if (ok && n_missed < o->n)
        o->steps++;
    else if (ok) // nobody took part: it was no step
        for (int i = 0; i < o->n; i++) o->parameters[i].missed--;
    IgDevice *device = ok && o->n ? ig_device(o->parameters[0].tensor) : NULL;
    if (device) {
        ig_lock(device);
        ok = ig_end_step(device, error);
        ig_unlock(device);
    }
    return ok;
}

void ig_optimizer_zero_grad(IgOptimizer *o) {
    for (int i = 0; o && i < o->n; i++) ig_zero_grad(o->parameters[i].tensor);
}

// ---- What can be asked and set ----

int ig_optimizer_group_count(const IgOptimizer *o) { return o ? o->n_groups : 0; }
int64_t ig_optimizer_steps(const IgOptimizer *o) { return o ? o->steps : 0; }
void ig_optimizer_set_steps(IgOptimizer *o, int64_t steps) {
    if (o && steps >= 0) o->steps = steps;
}

IgOptimizerKind ig_optimizer_kind(const IgOptimizer *o) { return o ? o->kind : IgSGD; }

static bool has_group(const char *call, const IgOptimizer *o, int group, const void *options,
                      MTLError **error) {
    if (o && options && group >= 0 && group < o->n_groups) return true;
    return ig_fail(error, IgErrorIndex, "%s: group %d of %d, or no options", call, group,
                   ig_optimizer_group_count(o));
}

bool ig_optimizer_options(const IgOptimizer *o, int group, IgOptimizerOptions *options,
                          MTLError **error) {
    if (!has_group("ig_optimizer_options", o, group, options, error)) return false;
    *options = o->groups[group];
    return true;
}

bool ig_optimizer_set_options(IgOptimizer *o, int group, const IgOptimizerOptions *options,
                              MTLError **error) {
    if (!has_group("ig_optimizer_set_options", o, group, options, error) ||
        !check_options(o->kind, options, error))
        return false;
    for (int s = 0; s < N_SLOTS; s++)
        if (uses(o->kind, options, IgFloat32, s) != uses(o->kind, &o->groups[group], IgFloat32, s))
            return ig_fail(error, IgErrorArgument,
                           "ig_optimizer_set_options: momentum %g needs other state than %g",
                           options->momentum, o->groups[group].momentum);
    o->groups[group] = *options;
    return true;
}

double ig_optimizer_rate(const IgOptimizer *o, int group) {
    return o && group >= 0 && group < o->n_groups ? o->groups[group].rate : 0;
}

void ig_optimizer_set_rate(IgOptimizer *o, int group, double rate) {
    for (int i = 0; o && rate >= 0 && i < o->n_groups; i++)
        if (group == -1 || group == i) o->groups[i].rate = rate;
}

int ig_optimizer_state_count(const IgOptimizer *o) {
    int n = 0;
    for (int i = 0; o && i < o->n * N_SLOTS; i++)
        n += o->parameters[i / N_SLOTS].state[i % N_SLOTS] != NULL;
    return n;
}

// State i; where it is in *at = parameter * N_SLOTS + slot.
static IgTensor *find_state(const IgOptimizer *o, int i, int *at) {
    for (*at = 0; o && i >= 0 && *at < o->n * N_SLOTS; ++*at) {
        IgTensor *t = o->parameters[*at / N_SLOTS].state[*at % N_SLOTS];
        if (t && i-- == 0) return t;
    }
    return NULL;
}

bool ig_optimizer_state_name(const IgOptimizer *o, int i, char name[32]) {
    int at;
    if (!name || !find_state(o, i, &at)) return false;
    snprintf(name, 32, "%d.%s", at / N_SLOTS, slot_names[at % N_SLOTS]);
    return true;
}

IgTensor *ig_optimizer_state(const IgOptimizer *o, int i, MTLError **error) {
    int at;
    IgTensor *t = find_state(o, i, &at);
    if (t) return ig_detach(t, error);
    ig_fail(error, IgErrorIndex, "ig_optimizer_state: state %d of %d", i,
            ig_optimizer_state_count(o));
    return NULL;
}

bool ig_optimizer_set_state(IgOptimizer *o, int i, IgTensor *value, MTLError **error) {
    int at;
    IgTensor *t = find_state(o, i, &at);
    if (!t)
        return ig_fail(error, IgErrorIndex, "ig_optimizer_set_state: state %d of %d", i,
                       ig_optimizer_state_count(o));
    if (!value) return false;
    if (!ig_shape_equal(&t->view.shape, &value->view.shape) || ig_type(value) != IgFloat32)
        return ig_fail(error, IgErrorShape,
                       "ig_optimizer_set_state: %s of shape %s for float32 of shape %s",
                       ig_type_name(ig_type(value)), ig_shape_text(ig_rank(value), ig_shape(value)),
                       ig_shape_text(ig_rank(t), ig_shape(t)));
    IgScope *scope = ig_scope_begin();
    IgTensor *plain = ig_detach(value, error);
    IgTensor *whole = plain && ig_whole(&plain->view) ? plain : ig_mul_scalar(plain, 1, error);
    bool ok = scope && whole && ig_eval(whole, error);
    ok = ok && ig_assign(t, whole, error);
    ig_scope_end(scope);
    return ok;
}

// ---- Clipping ----

IgTensor *ig_clip_grad_norm(int n, IgTensor *const *parameters, double max_norm, MTLError **error) {
    if (n < 1 || !parameters || !(max_norm >= 0)) {
        ig_fail(error, IgErrorArgument, "ig_clip_grad_norm: no parameters, or a norm below 0");
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *total = NULL, *norm = NULL;
    bool ok = scope != NULL;
    ig_no_grad_begin();
    for (int i = 0; ok && i < n; i++) {
        if (!ig_has_grad(parameters[i])) continue;
        IgTensor *g = ig_grad(parameters[i], error),
                 *wide = g ? ig_cast(g, IgFloat32, error) : NULL;
        IgTensor *sum = ig_sum(ig_square(wide, error), IG_ALL, false, error);
        total = total ? ig_add(total, sum, error) : sum;
        ok = total != NULL;
    }
    if (ok && !total)
        ok = ig_fail(error, IgErrorGradient, "ig_clip_grad_norm: there are no gradients");
    if (ok) norm = ig_sqrt(total, error);
    IgTensor *room = ig_add_scalar(norm, 1e-6, error);
    IgTensor *scale = ig_mul_scalar(ig_reciprocal(room, error), max_norm, error);
    scale = ig_minimum_scalar(scale, 1, error);
    ok = ok && scale && ig_eval(scale, error) && ig_eval(norm, error);
    for (int i = 0; ok && i < n; i++) {
        if (!ig_has_grad(parameters[i])) continue;
        IgTensor *g = ig_mul(ig_grad(parameters[i], error), scale, error);
        g = g ? ig_cast(g, ig_type(parameters[i]), error) : NULL;
        ok = g && ig_set_grad(parameters[i], g, error);
    }
    ig_no_grad_end();
    if (!ok) norm = NULL;
    return ig_scope_return(scope, norm);
}

bool ig_clip_grad_value(int n, IgTensor *const *parameters, double limit, MTLError **error) {
    if (n < 1 || !parameters || !(limit >= 0))
        return ig_fail(error, IgErrorArgument,
                       "ig_clip_grad_value: no parameters, or a limit below 0");
    bool ok = true;
    ig_no_grad_begin();
    for (int i = 0; ok && i < n; i++) {
        if (!ig_has_grad(parameters[i])) continue;
        IgScope *scope = ig_scope_begin();
        IgTensor *g = ig_clamp(ig_grad(parameters[i], error), -limit, limit, error);
        ok = g && ig_set_grad(parameters[i], g, error);
        ig_scope_end(scope);
    }
    ig_no_grad_end();
    return ok;
}

// ---- Learning rates ----

double ig_schedule_rate(const IgSchedule *s, int64_t step) {
    if (!s || step < 0) return 0;
    if (step < s->warmup) return s->rate * (double)(step + 1) / (double)s->warmup;
    double t = (double)(step - s->warmup), period = s->period > 0 ? (double)s->period : 1;
    double done = t < period ? t / period : 1;
    switch (s->kind) {
    case IgScheduleStep: return s->rate * pow(s->gamma, floor(t / period));
    case IgScheduleExponential: return s->rate * pow(s->gamma, t);
    case IgScheduleCosine:
        return s->min_rate +
               (s->rate - s->min_rate) * 0.5 * (1 + cos(3.14159265358979323846 * done));
    case IgScheduleLinear: return s->rate + (s->min_rate - s->rate) * done;
    default: return s->rate;
    }
}
