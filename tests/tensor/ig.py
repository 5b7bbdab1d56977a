# SPDX-License-Identifier: Apache-2.0
"""libingot-tensor over ctypes, thin enough that a test shows the C call it makes: `ig.add(a, b)` is
ig_add(a, b, &error), errors become ig.Error with the text and the code, and tensors are released
when Python lets go of them. INGOT_BUILD names the build folder."""

import ctypes as C
import os

import numpy as np

BUILD = os.environ.get("INGOT_BUILD", "build")
# Before the library is loaded: kernels are compiled by this build's compiler.
os.environ.setdefault("INGOT_MSLC", os.path.join(BUILD, "bin", "mslc"))
metal = C.CDLL(os.path.join(BUILD, "lib", "libingot.so"))
lib = C.CDLL(os.path.join(BUILD, "lib", "libingot-tensor.so"))

P, I64 = C.c_void_p, C.c_int64
ALL = -1000
F16, F32, BF16, I8, I32, INT64, BOOL = range(7)
TYPES = {np.dtype("f2"): F16, np.dtype("f4"): F32, np.dtype("i1"): I8, np.dtype("i4"): I32,
         np.dtype("i8"): INT64, np.dtype("?"): BOOL}
DTYPES = {v: k for k, v in TYPES.items()}
SHAPE, TYPE, DEVICE, INDEX, ARGUMENT, MEMORY, EXECUTION, COMPILATION, GRADIENT, FILE, FINITE = range(
    1, 12)

metal.mtl_error_localized_description.restype = C.c_char_p
metal.mtl_error_localized_description.argtypes = [P]
metal.mtl_error_code.restype = C.c_long
metal.mtl_error_code.argtypes = [P]
metal.mtl_release.argtypes = [P]
metal.mtl_release.restype = None


class Error(Exception):
    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def function(name, result, *arguments):
    f = getattr(lib, "ig_" + name)
    f.restype, f.argtypes = result, arguments
    return f


def call(f, *arguments):
    """Calls a function whose last argument is MTLError **."""
    error = P()
    result = f(*arguments, C.byref(error))
    if not result:
        if not error.value:
            raise Error("no result and no error", 0)
        text = metal.mtl_error_localized_description(error).decode()
        code = metal.mtl_error_code(error)
        metal.mtl_release(error)
        raise Error(text, code)
    assert not error.value, "an error beside a result"
    return result


EP = C.POINTER(P)
_release = function("release", None, P)
_shape = function("shape", C.POINTER(I64), P)
_strides = function("strides", C.POINTER(I64), P)
_rank = function("rank", C.c_int, P)
_type = function("type", C.c_int, P)
_read = function("read", C.c_bool, P, P, C.c_size_t, EP)
_write = function("write", C.c_bool, P, P, C.c_size_t, EP)
device = call(function("device_default", P, EP))
pool = function("device_pool", P, P)(device)


class Tensor:
    """One reference to an IgTensor. owned=False: a scope has it."""

    def __init__(self, handle, owned=True):
        self.handle, self.owned = handle, owned

    def __del__(self):
        if self.owned and self.handle and _release:
            _release(self.handle)

    @property
    def _as_parameter_(self):
        return self.handle

    @property
    def shape(self):
        return tuple(_shape(self.handle)[i] for i in range(_rank(self.handle)))

    @property
    def strides(self):
        return tuple(_strides(self.handle)[i] for i in range(_rank(self.handle)))

    @property
    def type(self):
        return _type(self.handle)

    def numpy(self):
        kind = self.type
        out = np.empty(self.shape, np.uint16 if kind == BF16 else DTYPES[kind])
        call(_read, self.handle, out.ctypes.data, out.nbytes)
        return from_bfloat(out) if kind == BF16 else out

    def write(self, a):
        a = np.ascontiguousarray(a, DTYPES[self.type])
        call(_write, self.handle, a.ctypes.data, a.nbytes)


def from_bfloat(words):
    return (words.astype(np.uint32) << 16).view(np.float32).reshape(words.shape)


scoped = False  # set inside `scope()`: results belong to the scope


def wrap(handle):
    return Tensor(handle, not scoped)


_scope_begin = function("scope_begin", P)
_scope_end = function("scope_end", None, P)


class scope:
    def __enter__(self):
        global scoped
        self.outer, scoped = scoped, True
        self.handle = _scope_begin()

    def __exit__(self, *_):
        global scoped
        scoped = self.outer
        _scope_end(self.handle)


def longs(values):
    values = list(values)
    return (I64 * (len(values) or 1))(*values)


def ints(values):
    values = list(values)
    return (C.c_int * (len(values) or 1))(*values)


_from_data = function("from_data", P, P, C.c_int, C.c_int, C.POINTER(I64), P, EP)


def tensor(a, kind=None):
    """A NumPy array as a tensor; kind=BF16 takes float32 values that bfloat16 holds exactly."""
    if kind == BF16:
        words = (np.ascontiguousarray(a, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        a = words.reshape(np.shape(a))
    else:
        a = np.asarray(a, order="C")
        if not a.flags.c_contiguous:
            a = np.ascontiguousarray(a)
        kind = TYPES[a.dtype]
    return wrap(call(_from_data, device, kind, a.ndim, longs(a.shape), a.ctypes.data))


def _maker(name, *arguments):
    f = function(name, P, *arguments, EP)
    return lambda *values: wrap(call(f, *values))


D, N = C.c_double, C.c_int
for _name in """neg abs sign floor ceil round trunc square reciprocal sqrt rsqrt exp log sin cos tan tanh
        sigmoid softplus relu gelu silu logical_not contiguous exp2 expm1 log2 log10 log1p asin acos atan sinh
        cosh erf gelu_erf isnan isinf isfinite global_avg_pool global_max_pool""".split():
    globals()[_name] = _maker(_name, P)
for _name in """add sub mul div pow minimum maximum remainder eq ne lt le gt ge logical_and logical_or
        matmul logical_xor atan2 floor_divide""".split():
    globals()[_name] = _maker(_name, P, P)
for _name in "add sub mul div pow minimum maximum eq ne lt le gt ge remainder floor_divide".split():
    globals()[_name + "_scalar"] = _maker(_name + "_scalar", P, D)
for _name in "sum mean prod max min argmax argmin any all count_nonzero logsumexp".split():
    globals()[_name] = _maker(_name, P, N, C.c_bool)
cast = _maker("cast", P, N)
clamp = _maker("clamp", P, D, D)
where = _maker("where", P, P, P)
squeeze = _maker("squeeze", P, N)
unsqueeze = _maker("unsqueeze", P, N)
transpose = _maker("transpose", P, N, N)
flatten = _maker("flatten", P, N, N)
slice_ = _maker("slice", P, N, I64, I64, I64)
select = _maker("select", P, N, I64)
scalar = _maker("scalar", P, N, D)
arange = _maker("arange", P, N, D, D, I64)
_permute = _maker("permute", P, C.POINTER(N))
_reshape = _maker("reshape", P, N, C.POINTER(I64))
_expand = _maker("expand", P, N, C.POINTER(I64))
_full = _maker("full", P, N, N, C.POINTER(I64), D)
_sum_axes = _maker("sum_axes", P, N, C.POINTER(N), C.c_bool)


def permute(x, axes):
    return _permute(x, ints(axes))


def reshape(x, *shape):
    return _reshape(x, len(shape), longs(shape))


def expand(x, *shape):
    return _expand(x, len(shape), longs(shape))


def full(shape, value, kind=F32):
    return _full(device, kind, len(shape), longs(shape), value)


def sum_axes(x, axes, keepdim=False):
    return _sum_axes(x, len(axes), ints(axes), keepdim)


_eval = function("eval", C.c_bool, P, EP)
_item = function("item", C.c_bool, P, C.POINTER(D), EP)
_finite = function("check_finite", C.c_bool, P, EP)
_synchronize = function("device_synchronize", C.c_bool, P, EP)
retain = function("retain", P, P)
_keep = function("keep", P, P)


def evaluate(x):
    call(_eval, x)
    return x


def item(x):
    out = D()
    call(_item, x, C.byref(out))
    return out.value


def check_finite(x):
    return call(_finite, x)


def synchronize():
    call(_synchronize, device)


def keep(x):
    x.handle = _keep(x)
    x.owned = True
    return x


class DeviceStatistics(C.Structure):
    _fields_ = [(k, C.c_uint64) for k in ("kernels", "fused", "command_buffers", "compiled")]


class PoolStatistics(C.Structure):
    _fields_ = [(k, C.c_uint64) for k in ("total_pooled", "size_classes", "total_memory",
                                          "allocation_count", "reuse_count", "eviction_count",
                                          "live_memory")]


_device_statistics = function("device_statistics", DeviceStatistics, P)
_pool_statistics = function("pool_statistics", PoolStatistics, P)
pool_set_capacity = function("pool_set_capacity", None, P, C.c_size_t)
pool_capacity = function("pool_capacity", C.c_size_t, P)
pool_set_memory_limit = function("pool_set_memory_limit", None, P, C.c_uint64)
pool_shrink_to_fit = function("pool_shrink_to_fit", None, P, C.c_uint64)
pool_clear = function("pool_clear", None, P)
pool_clear_size = function("pool_clear_size", None, P, C.c_size_t)


def statistics():
    return _device_statistics(device)


def pool_statistics():
    return _pool_statistics(pool)

# ---- Gradients ----

_set_requires_grad = function("set_requires_grad", C.c_bool, P, C.c_bool, EP)
requires_grad = function("requires_grad", C.c_bool, P)
is_leaf = function("is_leaf", C.c_bool, P)
has_grad = function("has_grad", C.c_bool, P)
zero_grad = function("zero_grad", None, P)
grad = _maker("grad", P)
detach = _maker("detach", P)
_no_grad_begin = function("no_grad_begin", None)
_no_grad_end = function("no_grad_end", None)
grad_enabled = function("grad_enabled", C.c_bool)
_set_grad = function("set_grad", C.c_bool, P, P, EP)


class BackwardOptions(C.Structure):
    _fields_ = [("retain_graph", C.c_bool), ("create_graph", C.c_bool)]


_backward = function("backward", C.c_bool, P, P, C.POINTER(BackwardOptions), EP)
_grad_of = function("grad_of", C.c_bool, N, EP, EP, N, EP, C.POINTER(BackwardOptions), EP, EP)


class no_grad:
    def __enter__(self):
        _no_grad_begin()

    def __exit__(self, *_):
        _no_grad_end()


def leaf(a, kind=None):
    t = tensor(a, kind)
    call(_set_requires_grad, t, True)
    return t


def set_requires_grad(t, value):
    return call(_set_requires_grad, t, value)


def set_grad(t, g):
    return call(_set_grad, t, g)


def backward(t, seed=None, retain=False, create=False):
    return call(_backward, t, seed, BackwardOptions(retain, create))


def handles(tensors):
    return (P * (len(tensors) or 1))(*[t.handle for t in tensors])


def grad_of(outputs, inputs, seeds=None, retain=False, create=False):
    out = (P * len(inputs))()
    call(_grad_of, len(outputs), handles(outputs), seeds and handles(seeds), len(inputs),
         handles(inputs), BackwardOptions(retain, create), out)
    return [wrap(h) for h in out]


class CheckOptions(C.Structure):
    _fields_ = [("step", D), ("relative", D), ("absolute", D)]


class Check(C.Structure):
    _fields_ = [("max_relative", D), ("mean_relative", D), ("max_absolute", D), ("mean_absolute", D),
                ("n_checked", I64), ("n_failed", I64), ("passed", C.c_bool)]


FUNCTION = C.CFUNCTYPE(P, P, N, EP, EP)
_gradient_check = function("gradient_check", C.c_bool, FUNCTION, P, N, EP, C.POINTER(CheckOptions),
                           C.POINTER(Check), EP)


def gradient_check(f, inputs, step=0.0, relative=0.0, absolute=0.0):
    """f gets tensors and gives one; what it makes belongs to the check's scopes."""
    failed = []

    def called(_, n, tensors, error):
        global scoped
        outer, scoped = scoped, True
        try:
            return f(*[Tensor(tensors[i], False) for i in range(n)]).handle
        except BaseException as e:  # noqa: B902
            failed.append(e)
            return None
        finally:
            scoped = outer

    result = Check()
    try:
        call(_gradient_check, FUNCTION(called), None, len(inputs), handles(inputs),
             CheckOptions(step, relative, absolute), C.byref(result))
    except Error:
        if failed:
            raise failed[0]
        raise
    return result


_concat = _maker("concat", N, EP, N)
_cat = _maker("cat", N, EP, N)
_stack = _maker("stack", N, EP, N)
pad = _maker("pad", P, N, I64, I64, D)


def concat(pieces, axis):
    return _concat(len(pieces), handles(pieces), axis)


def cat(pieces, axis):
    return _cat(len(pieces), handles(pieces), axis)


def stack(pieces, axis):
    return _stack(len(pieces), handles(pieces), axis)


def _cutter(name, *arguments):
    f = function(name, C.c_int, P, *arguments, N, EP, EP)

    def cut(*values, room=64):
        out = (P * room)()
        n = call(f, *values, room, out)
        return [wrap(out[i]) for i in range(n)]
    return cut


split = _cutter("split", I64, N)
chunk = _cutter("chunk", I64, N)
unstack = _cutter("unstack", N)

# ---- tensor_nn.h ----

softmax = _maker("softmax", P, N)
log_softmax = _maker("log_softmax", P, N)
MEAN, SUM, NONE = range(3)
mse_loss = _maker("mse_loss", P, P, N)
mae_loss = _maker("mae_loss", P, P, N)
bce_loss = _maker("bce_loss", P, P, N)
bce_logits_loss = _maker("bce_logits_loss", P, P, N)
cross_entropy_loss = _maker("cross_entropy_loss", P, P, N)
huber_loss = _maker("huber_loss", P, P, D, N)
SGD, ADAM, ADAMW, RMSPROP = range(4)


class OptimizerOptions(C.Structure):
    _fields_ = [("rate", D), ("weight_decay", D), ("momentum", D), ("dampening", D),
                ("nesterov", C.c_bool), ("beta1", D), ("beta2", D), ("alpha", D), ("epsilon", D)]


OP = C.POINTER(OptimizerOptions)
_optimizer_defaults = function("optimizer_defaults", OptimizerOptions, N)
_optimizer_new = function("optimizer_new", P, N, N, EP, OP, EP)
_optimizer_release = function("optimizer_release", None, P)
_optimizer_add_group = function("optimizer_add_group", C.c_bool, P, N, EP, OP, EP)
_optimizer_step = function("optimizer_step", C.c_bool, P, EP)
_optimizer_zero_grad = function("optimizer_zero_grad", None, P)
optimizer_group_count = function("optimizer_group_count", N, P)
optimizer_rate = function("optimizer_rate", D, P, N)
optimizer_set_rate = function("optimizer_set_rate", None, P, N, D)
optimizer_steps = function("optimizer_steps", I64, P)
optimizer_set_steps = function("optimizer_set_steps", None, P, I64)
optimizer_state_count = function("optimizer_state_count", N, P)
_optimizer_state_name = function("optimizer_state_name", C.c_bool, P, N, C.c_char_p)
optimizer_state = _maker("optimizer_state", P, N)
_optimizer_set_state = function("optimizer_set_state", C.c_bool, P, N, P, EP)


def options(kind, **values):
    o = _optimizer_defaults(kind)
    for k, v in values.items():
        setattr(o, k, v)
    return o


class Optimizer:
    def __init__(self, kind, parameters, **values):
        self.kind = kind
        self.handle = call(_optimizer_new, kind, len(parameters), handles(parameters),
                           options(kind, **values))

    def __del__(self):
        if getattr(self, "handle", None):
            _optimizer_release(self.handle)

    @property
    def _as_parameter_(self):
        return self.handle

    def add_group(self, parameters, **values):
        call(_optimizer_add_group, self, len(parameters), handles(parameters),
             options(self.kind, **values))

    def step(self):
        call(_optimizer_step, self)

    def zero_grad(self):
        _optimizer_zero_grad(self)

    def state_name(self, i):
        name = C.create_string_buffer(32)
        assert _optimizer_state_name(self, i, name)
        return name.value.decode()

    def set_state(self, i, t):
        call(_optimizer_set_state, self, i, t)


_clip_grad_norm = _maker("clip_grad_norm", N, EP, D)
_clip_grad_value = function("clip_grad_value", C.c_bool, N, EP, D, EP)


def clip_grad_norm(parameters, limit):
    return _clip_grad_norm(len(parameters), handles(parameters), limit)


def clip_grad_value(parameters, limit):
    return call(_clip_grad_value, len(parameters), handles(parameters), limit)


class Schedule(C.Structure):
    _fields_ = [("kind", N), ("rate", D), ("warmup", I64), ("period", I64), ("gamma", D),
                ("min_rate", D)]


_schedule_rate = function("schedule_rate", D, C.POINTER(Schedule), I64)


def schedule_rate(schedule, step):
    return _schedule_rate(C.byref(schedule), step)

index_select = _maker("index_select", P, N, P)
embedding = _maker("embedding", P, P)
cumsum = _maker("cumsum", P, N)
gather = _maker("gather", P, N, P)
scatter_add = _maker("scatter_add", P, N, P, P)
_layer_norm = _maker("layer_norm", P, N, P, P, D)
_rms_norm = _maker("rms_norm", P, N, P, D)


def layer_norm(x, n_axes=1, weight=None, bias=None, epsilon=1e-5):
    return _layer_norm(x, n_axes, weight, bias, epsilon)


def rms_norm(x, n_axes=1, weight=None, epsilon=1e-6):
    return _rms_norm(x, n_axes, weight, epsilon)

_uniform = _maker("uniform", P, N, N, C.POINTER(I64), D, D, C.c_uint64)
_randn = _maker("randn", P, N, N, C.POINTER(I64), C.c_uint64)


def uniform(shape, low, high, seed, kind=F32):
    return _uniform(device, kind, len(shape), longs(shape), low, high, seed)


def randn(shape, seed, kind=F32):
    return _randn(device, kind, len(shape), longs(shape), seed)

# ---- Derived operations, normalisation, dropout ----

leaky_relu = _maker("leaky_relu", P, D)
elu = _maker("elu", P, D)
var = _maker("var", P, N, I64, C.c_bool)
std = _maker("std", P, N, I64, C.c_bool)
norm = _maker("norm", P, D, N, C.c_bool)
masked_fill = _maker("masked_fill", P, P, D)
tril = _maker("tril", P, I64)
triu = _maker("triu", P, I64)
diagonal = _maker("diagonal", P, I64, N, N)
flip = _maker("flip", P, N)
roll = _maker("roll", P, I64, N)
repeat_interleave = _maker("repeat_interleave", P, I64, N)
one_hot = _maker("one_hot", P, I64, N)
linspace = _maker("linspace", P, N, D, D, I64)
eye = _maker("eye", P, N, I64, I64, I64)
cumprod = _maker("cumprod", P, N)
scatter = _maker("scatter", P, N, P, P)
index_copy = _maker("index_copy", P, N, P, P)
index_add = _maker("index_add", P, N, P, P)
dropout = _maker("dropout", P, D, C.c_bool, C.c_uint64)
_tile = _maker("tile", P, N, C.POINTER(I64))
_mean_axes = _maker("mean_axes", P, N, C.POINTER(N), C.c_bool)
_batch_norm = _maker("batch_norm", P, P, P, P, P, C.c_bool, D, D)
group_norm = _maker("group_norm", P, I64, P, P, D)
instance_norm = _maker("instance_norm", P, P, P, D)
_assign = function("assign", C.c_bool, P, P, EP)


def assign(t, value):
    return call(_assign, t, value)


def tile(x, *times):
    return _tile(x, len(times), longs(times))


def mean_axes(x, axes, keepdim=False):
    return _mean_axes(x, len(axes), ints(axes), keepdim)


def batch_norm(x, mean=None, variance=None, weight=None, bias=None, training=True, momentum=0.1,
               epsilon=1e-5):
    return _batch_norm(x, mean, variance, weight, bias, training, momentum, epsilon)


# ---- Convolution, pooling ----

PAIR = I64 * 2


class Convolution(C.Structure):
    _fields_ = [("stride", PAIR), ("padding", PAIR), ("dilation", PAIR), ("groups", I64),
                ("output_padding", PAIR)]


class Pooling(C.Structure):
    _fields_ = [("kernel", PAIR), ("stride", PAIR), ("padding", PAIR), ("dilation", PAIR),
                ("ceil_mode", C.c_bool), ("count_excludes_padding", C.c_bool)]


def _pair(v):
    return PAIR(*((v, v) if isinstance(v, int) else v))


def convolution(stride=1, padding=0, dilation=1, groups=1, output_padding=0):
    return Convolution(_pair(stride), _pair(padding), _pair(dilation), groups, _pair(output_padding))


def _conv(name):
    f = _maker(name, P, P, P, C.POINTER(Convolution))
    return lambda x, w, b=None, **options: f(x, w, b, C.byref(convolution(**options)))


conv1d, conv2d, conv_transpose2d = _conv("conv1d"), _conv("conv2d"), _conv("conv_transpose2d")
_max_pool2d = _maker("max_pool2d", P, C.POINTER(Pooling), EP)
_avg_pool2d = _maker("avg_pool2d", P, C.POINTER(Pooling))
adaptive_avg_pool2d = _maker("adaptive_avg_pool2d", P, I64, I64)


def pooling(kernel, stride=0, padding=0, dilation=0, ceil_mode=False, excludes=False):
    return Pooling(_pair(kernel), _pair(stride), _pair(padding), _pair(dilation), ceil_mode, excludes)


def max_pool2d(x, *arguments, indices=False, **options):
    out = P()
    y = _max_pool2d(x, C.byref(pooling(*arguments, **options)), C.byref(out) if indices else None)
    return (y, wrap(out.value)) if indices else y


def avg_pool2d(x, *arguments, **options):
    return _avg_pool2d(x, C.byref(pooling(*arguments, **options)))


# ---- Order, einsum ----

_sort = function("sort", C.c_bool, P, N, C.c_bool, EP, EP, EP)
_topk = function("topk", C.c_bool, P, I64, N, C.c_bool, EP, EP, EP)
argsort = _maker("argsort", P, N, C.c_bool)
_einsum = _maker("einsum", C.c_char_p, N, EP)


def sort(x, axis=-1, descending=False):
    values, indices = P(), P()
    call(_sort, x, axis, descending, C.byref(values), C.byref(indices))
    return wrap(values.value), wrap(indices.value)


def topk(x, k, axis=-1, largest=True):
    values, indices = P(), P()
    call(_topk, x, k, axis, largest, C.byref(values), C.byref(indices))
    return wrap(values.value), wrap(indices.value)


def einsum(equation, *operands):
    return _einsum(equation.encode(), len(operands), handles(operands))
