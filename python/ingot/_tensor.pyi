# SPDX-License-Identifier: Apache-2.0
# Made by python/ingot_stubs.py from the module's docstrings: change those instead.
"""Tensors of libingot-tensor for Python."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, overload

from _typeshed import ReadableBuffer as BytesLike

TensorLike: TypeAlias = "Tensor | float | Sequence[Any] | Any"
DTypeLike: TypeAlias = "DType | str | type | Any"
DeviceLike: TypeAlias = "Device | str"

bfloat16: Final[DType]
bool_: Final[DType]
float16: Final[DType]
float32: Final[DType]
int32: Final[DType]
int64: Final[DType]
int8: Final[DType]

class Error(RuntimeError):
    """What the tensor library raises; a RuntimeError."""

class CompileError(Error):
    """Source that does not compile."""

class ExecutionError(Error):
    """A kernel failed."""

class GradientError(Error):
    """There is no gradient, or none any more."""

class ArgumentError(Error, ValueError):
    """Another argument that is not allowed."""

class DeviceError(Error, ValueError):
    """No such device, or tensors of different ones."""

class NotFiniteError(Error, ArithmeticError):
    """A value that is infinite or not a number."""

class OutOfMemory(Error, MemoryError):
    """Out of memory, or over the pool's limit."""

class ShapeError(Error, ValueError):
    """Shapes that do not go together."""

class DTypeError(Error, TypeError, ValueError):
    """An element type that the operation does not have."""

class FileError(Error, OSError, ValueError):
    """A file that cannot be read, written, or believed."""

class IndexOutOfRange(Error, IndexError):
    """An axis or an index out of range."""

class DType:
    """The type of a tensor's elements. Wherever one is asked for, its name, NumPy's type or
    dtype, float, int and bool will do.
    """
    @property
    def is_floating_point(self) -> bool:
        """Whether it has fractions."""
        ...
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        ...
    @property
    def name(self) -> str:
        """"float32"."""
        ...

class Device:
    """Where tensors are and operations run: a Metal device."""
    def __new__(cls, name: DeviceLike = "metal") -> Device: ...
    @property
    def name(self) -> str:
        """What the Metal device is called."""
        ...
    @property
    def pool(self) -> Pool:
        """The memory of tensors that are gone."""
        ...
    @property
    def statistics(self) -> dict[str, int]:
        """kernels: encoded; fused: operations that cost no kernel of their own; command_buffers:
        committed; compiled: kernels made from source.
        """
        ...
    def synchronize(self) -> None:
        """Waits for all work."""
        ...

class MetalBackend:
    """Memory and pipelines of a Metal device."""
    def __new__(cls) -> Any: ...
    def allocate(self, size: int, /) -> int:
        """Memory that host and device share: its address, 0 for no bytes."""
        ...
    def buffer_count(self) -> int:
        """Allocations in use."""
        ...
    def copy_buffer_to_host(self, buffer: MetalBuffer, data: BytesLike, /) -> None:
        """Copies a whole buffer; sizes must match exactly."""
        ...
    def copy_from_host(self, pointer: int, data: BytesLike, /) -> None:
        """Copies into an allocation."""
        ...
    def copy_host_to_buffer(self, buffer: MetalBuffer, data: BytesLike, /) -> None:
        """Fills a whole buffer; sizes must match exactly."""
        ...
    def copy_to_host(self, pointer: int, data: BytesLike, /) -> None:
        """Copies out of an allocation."""
        ...
    def create_buffer(self, size: int, options: int = 0, /) -> MetalBuffer:
        """A buffer."""
        ...
    def create_buffer_with_data(self, data: BytesLike, options: int = 0, /) -> MetalBuffer:
        """A buffer with a copy of data."""
        ...
    def create_compute_pipeline(self, name: str, /) -> MetalPipeline:
        """The pipeline of a function: made at the first call."""
        ...
    def deallocate(self, pointer: int, size: int, /) -> None:
        """Gives memory back."""
        ...
    def debug_information(self) -> str:
        """Facts, one per line."""
        ...
    def device_name(self) -> str:
        """The Metal device's name."""
        ...
    def execute_compute_command(
        self,
        pipeline: MetalPipeline,
        buffers: list[MetalBuffer],
        threads: tuple[int, int, int],
        group: tuple[int, int, int],
        /,
    ) -> None:
        """Runs a pipeline over buffers 0, 1, ..., and waits."""
        ...
    def get_buffer_info(self, pointer: int, /) -> tuple[int, int] | None:
        """An allocation's number and size."""
        ...
    def get_compute_pipeline(self, name: str, /) -> MetalPipeline | None:
        """A pipeline that was made before."""
        ...
    @classmethod
    def initialize(cls) -> MetalBackend:
        """A backend."""
        ...
    @staticmethod
    def is_available() -> bool:
        """Whether there is a Metal device."""
        ...
    def load_library_from_source(self, source: str, /) -> None:
        """A library for the pipelines made afterwards."""
        ...
    def max_threads(self) -> tuple[int, int, int]:
        """The device's most threads of a threadgroup, by dimension."""
        ...
    def optimal_thread_group_size(self, pipeline: MetalPipeline, /) -> tuple[int, int, int]:
        """(execution width, 1, 1), within what the pipeline allows."""
        ...
    def optimal_thread_group_size_2d(self, pipeline: MetalPipeline, /) -> tuple[int, int, int]:
        """A square of at most 16 by 16, within what the pipeline allows."""
        ...

class MetalBuffer:
    """Memory of the device; memoryview(buffer) is its bytes."""
    @property
    def length(self) -> int:
        """Bytes."""
        ...

class MetalOps:
    """Five operations on float32. All wait."""
    def __new__(cls, backend: Any = ...) -> Any: ...
    def add(self, a: MetalBuffer, b: MetalBuffer, c: MetalBuffer, n: int, /) -> None:
        """c = a + b, n elements of float32."""
        ...
    def add_ptr(self, a: int, b: int, c: int, n: int, /) -> None:
        """add() on allocations."""
        ...
    def matmul(
        self,
        a: MetalBuffer,
        b: MetalBuffer,
        c: MetalBuffer,
        m: int,
        n: int,
        k: int,
        /,
    ) -> None:
        """C (m, n) = A (m, k) B (k, n)."""
        ...
    def matmul_ptr(self, a: int, b: int, c: int, m: int, n: int, k: int, /) -> None:
        """matmul() on allocations."""
        ...
    def mul(self, a: MetalBuffer, b: MetalBuffer, c: MetalBuffer, n: int, /) -> None:
        """c = a * b, n elements of float32."""
        ...
    def mul_ptr(self, a: int, b: int, c: int, n: int, /) -> None:
        """mul() on allocations."""
        ...
    def relu(self, x: MetalBuffer, y: MetalBuffer, n: int, /) -> None:
        """y = max(x, 0)."""
        ...
    def relu_ptr(self, x: int, y: int, n: int, /) -> None:
        """relu() on allocations."""
        ...
    def sigmoid(self, x: MetalBuffer, y: MetalBuffer, n: int, /) -> None:
        """y = 1 / (1 + exp(-x))."""
        ...
    def sigmoid_ptr(self, x: int, y: int, n: int, /) -> None:
        """sigmoid() on allocations."""
        ...

class MetalPipeline:
    """A compiled function."""
    @property
    def max_total_threads_per_threadgroup(self) -> int:
        """The most threads of a threadgroup."""
        ...
    @property
    def thread_execution_width(self) -> int:
        """Threads of a SIMD group."""
        ...

class Optimizer:
    """An optimiser of the library: kind 0 SGD, 1 Adam, 2 AdamW, 3 RMSprop."""
    def __new__(cls, kind: Any = ..., parameters: Any = ..., options: Any = ...) -> Any: ...
    def add_group(
        self,
        parameters: list[Tensor],
        options: dict[str, Any] | None = None,
        /,
    ) -> None:
        """More parameters, with their options."""
        ...
    @property
    def group_count(self) -> int:
        """Groups of parameters."""
        ...
    def rate(self, group: int, /) -> float:
        """A group's learning rate."""
        ...
    def set_rate(self, group: int, rate: float, /) -> None:
        """Another learning rate; group -1: for all."""
        ...
    def set_state(self, i: int, value: TensorLike, /) -> None:
        """New values for a state tensor."""
        ...
    def state(self) -> list[tuple[str, Tensor]]:
        """The state tensors by name."""
        ...
    def step(self) -> None:
        """New values for all parameters. All or none."""
        ...
    @property
    def steps(self) -> int:
        """Steps that were made."""
        ...
    @steps.setter
    def steps(self, value: int) -> None: ...
    def zero_grad(self) -> None:
        """Drops the gradients."""
        ...

class Pool:
    """Buffers that are not used any more, kept for the next of about their size. The one of a
    device (Device.pool) serves its tensors; one that stands alone lends buffers.
    """
    def __new__(cls, capacity: Any = ...) -> Any: ...
    def allocate(self, bytes: int, /) -> MetalBuffer:
        """A buffer of at least so many bytes, of a pool of its own; what is in it is anything."""
        ...
    def allocate_zeros(self, bytes: int, /) -> MetalBuffer:
        """The same, set to 0."""
        ...
    @property
    def allocation_count(self) -> int:
        """Requests."""
        ...
    @property
    def capacity(self) -> int:
        """Buffers kept per size class."""
        ...
    @capacity.setter
    def capacity(self, value: int) -> None: ...
    def clear(self) -> None:
        """Gives all waiting buffers back."""
        ...
    def clear_size(self, bytes: int, /) -> None:
        """Gives the buffers of one class back: the one that serves a request of so many bytes."""
        ...
    @property
    def eviction_count(self) -> int:
        """Buffers given back to the system."""
        ...
    @property
    def live_memory(self) -> int:
        """Bytes of the buffers in use."""
        ...
    def recycle(self, buffer: MetalBuffer, /) -> bool:
        """Gives a buffer back. False: it is not from here, or its class is full."""
        ...
    @property
    def reuse_count(self) -> int:
        """Requests that were served from the pool."""
        ...
    @property
    def reuse_rate(self) -> float:
        """reuse_count / allocation_count, 0 without a request."""
        ...
    def set_memory_limit(self, bytes: int | None, /) -> None:
        """The most memory that tensors may take, in use and waiting; None: no limit."""
        ...
    def shrink_to_fit(self, bytes: int, /) -> None:
        """Gives waiting buffers back, largest classes first, until this many bytes are left."""
        ...
    @property
    def size_classes(self) -> int:
        """Size classes with a buffer in them."""
        ...
    @property
    def statistics(self) -> dict[str, int]:
        """All counters."""
        ...
    @property
    def total_memory(self) -> int:
        """Bytes of the waiting buffers."""
        ...
    @property
    def total_pooled(self) -> int:
        """Buffers that wait in the pool."""
        ...
    @classmethod
    def with_capacity(cls, capacity: int, /) -> Pool:
        """A pool of its own that keeps so many buffers per size class."""
        ...

class Tensor:
    """Numbers in memory, with a shape and an element type. Operations make new tensors, and run
    when a value is needed.
    """
    def __new__(cls, data: TensorLike, dtype: DTypeLike | None = None, device: DeviceLike | None = None,
                requires_grad: bool = False) -> Any: ...
    @property
    def T(self) -> Tensor:
        """A view with the axes in the opposite order."""
        ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """For NumPy, where the buffer protocol does not do (bfloat16)."""
        ...
    def __dlpack__(
        self,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        """The memory as a DLPack capsule, without a copy and read-only; copy=True: a copy."""
        ...
    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): memory of the CPU."""
        ...
    def abs(self) -> Tensor:
        """The absolute value."""
        ...
    def acos(self) -> Tensor:
        """The inverse cosine."""
        ...
    def adaptive_avg_pool2d(self, output_size: int | tuple[int, int]) -> Tensor:
        """Means of as many windows as the output has pixels."""
        ...
    def add(self, y: Any) -> Tensor:
        """x + y. (y may be called other.)"""
        ...
    def all(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """Whether none is 0. (axis may be called dim, keepdim may be called keepdims.)"""
        ...
    def allclose(
        self,
        y: Any,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> bool:
        """Whether isclose() holds for all elements."""
        ...
    def any(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """Whether one is not 0. (axis may be called dim, keepdim may be called keepdims.)"""
        ...
    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Tensor:
        """Where the largest is: the first of equals; all: in the flattened tensor. (axis may be
        called dim, keepdim may be called keepdims.)
        """
        ...
    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Tensor:
        """Where the smallest is: the first of equals; all: in the flattened tensor. (axis may be
        called dim, keepdim may be called keepdims.)
        """
        ...
    def argsort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """Where the elements are, in order. (axis may be called dim.)"""
        ...
    def asin(self) -> Tensor:
        """The inverse sine."""
        ...
    def astype(self, dtype: DTypeLike | None) -> Tensor:
        """The values in another element type."""
        ...
    def atan(self) -> Tensor:
        """The inverse tangent."""
        ...
    def atan2(self, y: TensorLike) -> Tensor:
        """The angle whose tangent is x / y, in the right quadrant: x is the ordinate. (y may be
        called other.)
        """
        ...
    def avg_pool2d(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = None,
        padding: int | tuple[int, int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        """The mean of each window of x (N, C, H, W); stride: the kernel's."""
        ...
    def backward(
        self,
        gradient: TensorLike | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:
        """Adds the gradient of this tensor to those of the leaves it was made from. gradient:
        that of this tensor itself, 1 without it, which needs a single element. The graph is
        gone afterwards unless it is retained; create_graph: gradients remember how they were
        made.
        """
        ...
    def batch_norm(
        self,
        running_mean: TensorLike | None = None,
        running_var: TensorLike | None = None,
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        """Per channel of x (N, C, ..). Training: by mean and variance of x, and the running ones
        get new values; else by the running ones.
        """
        ...
    def bfloat16(self) -> Tensor:
        """The values as bfloat16 numbers."""
        ...
    def bool(self) -> Tensor:
        """The values as bool."""
        ...
    @overload
    def broadcast_to(self, shape: int | Sequence[int]) -> Tensor:
        """A view that repeats axes of length 1, and new ones in front."""
        ...
    @overload
    def broadcast_to(self, *shape: int) -> Tensor: ...
    def ceil(self) -> Tensor:
        """Rounded up."""
        ...
    def check_finite(self) -> Tensor:
        """The tensor; NotFiniteError, which names the first place, if an element is infinite or
        not a number.
        """
        ...
    def chunk(self, n: int, axis: int = 0) -> list[Tensor]:
        """Views of at most n pieces of equal size along an axis; the last may be shorter. (n may
        be called chunks, axis may be called dim.)
        """
        ...
    def clamp(self, min: float | None = None, max: float | None = None) -> Tensor:
        """No less than min and no more than max, where they are given. (min may be called low,
        max may be called high.)
        """
        ...
    clip = clamp
    def clone(self) -> Tensor:
        """A tensor of its own with the same values and history."""
        ...
    def contiguous(self) -> Tensor:
        """Itself, or a copy whose elements lie in order."""
        ...
    def conv1d(
        self,
        weight: TensorLike,
        bias: TensorLike | None = None,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
    ) -> Tensor:
        """x (N, C, L) with weight (O, C / groups, K) and bias (O)."""
        ...
    def conv2d(
        self,
        weight: TensorLike,
        bias: TensorLike | None = None,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
    ) -> Tensor:
        """x (N, C, H, W) with weight (O, C / groups, KH, KW) and bias (O)."""
        ...
    def conv_transpose2d(
        self,
        weight: TensorLike,
        bias: TensorLike | None = None,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        output_padding: int | tuple[int, int] = 0,
    ) -> Tensor:
        """What conv2d does to gradients: weight (C, O / groups, KH, KW)."""
        ...
    def copy_(self, source: TensorLike) -> Tensor:
        """Gives the tensor the values of another one, which broadcasts to its shape."""
        ...
    def cos(self) -> Tensor:
        """The cosine."""
        ...
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
        ...
    def count_nonzero(
        self,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """How many are not 0. (axis may be called dim, keepdim may be called keepdims.)"""
        ...
    def cpu(self) -> Tensor:
        """Itself: memory is shared with the host."""
        ...
    def cumprod(self, axis: int) -> Tensor:
        """Products of all elements up to each, along an axis. Integers give int64. (axis may be
        called dim.)
        """
        ...
    def cumsum(self, axis: int) -> Tensor:
        """Sums of all elements up to each, along an axis. Integers give int64. (axis may be
        called dim.)
        """
        ...
    @property
    def data(self) -> Tensor:
        """The same values without history. To set it gives new values to the tensor."""
        ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def detach(self) -> Tensor:
        """The same values without history."""
        ...
    @property
    def device(self) -> Device:
        """Where it is."""
        ...
    def diagonal(self, offset: int = 0, axis0: int = 0, axis1: int = 1) -> Tensor:
        """The elements of a diagonal of two axes, as a last axis."""
        ...
    def dim(self) -> int:
        """The number of axes."""
        ...
    @property
    def dims(self) -> Any:
        """The lengths of the axes."""
        ...
    def div(self, y: Any) -> Tensor:
        """x / y. (y may be called other.)"""
        ...
    def dot(self, y: Any) -> Tensor:
        """The product of two vectors; of others as by matmul()."""
        ...
    def dropout(self, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
        """0 with probability p, else x / (1 - p); x itself when not training."""
        ...
    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        ...
    def elu(self, alpha: float = 1.0) -> Tensor:
        """x where it is positive, else alpha * (exp(x) - 1)."""
        ...
    def eq(self, y: Any) -> Tensor:
        """Whether they are equal, element by element. (y may be called other.)"""
        ...
    def erf(self) -> Tensor:
        """The error function."""
        ...
    def eval(self) -> Tensor:
        """Starts to compute the values, and returns the tensor. Reading does it by itself."""
        ...
    def exp(self) -> Tensor:
        """e to the power of x."""
        ...
    def exp2(self) -> Tensor:
        """2 to the power of x."""
        ...
    @overload
    def expand(self, shape: int | Sequence[int]) -> Tensor:
        """A view that repeats axes of length 1, and new ones in front; -1 keeps a length."""
        ...
    @overload
    def expand(self, *shape: int) -> Tensor: ...
    def expand_dims(self, axis: int) -> Tensor:
        """A view with a new axis of length 1. (axis may be called dim.)"""
        ...
    def expm1(self) -> Tensor:
        """exp(x) - 1, exact near 0."""
        ...
    def fill_(self, value: float) -> Tensor:
        """Gives all elements one value."""
        ...
    def flatten(self, start: int = 0, end: int = -1) -> Tensor:
        """Some neighbouring axes, or all, as one. (start may be called start_dim, end may be
        called end_dim.)
        """
        ...
    def flip(self, axis: int) -> Tensor:
        """The other way round along an axis. (axis may be called dim.)"""
        ...
    def float(self) -> Tensor:
        """The values as float numbers."""
        ...
    def floor(self) -> Tensor:
        """Rounded down."""
        ...
    def floor_divide(self, y: Any) -> Tensor:
        """x // y: rounded down. (y may be called other.)"""
        ...
    def fused_add_relu(self, y: TensorLike) -> Tensor:
        """relu(x + y) in one kernel."""
        ...
    def fused_affine(self, scale: TensorLike, bias: TensorLike) -> Tensor:
        """x * scale + bias in one kernel, with broadcasting."""
        ...
    def fused_gelu_linear(self, weight: TensorLike, bias: TensorLike) -> Tensor:
        """gelu(x) @ weight + bias."""
        ...
    def fused_linear(
        self,
        weight: TensorLike,
        bias: TensorLike | None = None,
        residual: TensorLike | None = None,
        activation: Any = None,
    ) -> Tensor:
        """activation(x @ weight + bias + residual) in one kernel: weight (K, N)."""
        ...
    def fused_linear_residual_relu(
        self,
        weight: TensorLike,
        bias: TensorLike,
        residual: TensorLike,
    ) -> Tensor:
        """relu(x @ weight + bias + residual) in one kernel."""
        ...
    def fused_mul_relu(self, y: TensorLike) -> Tensor:
        """relu(x * y) in one kernel."""
        ...
    def gather(self, axis: int, index: TensorLike) -> Tensor:
        """out[i][j] = x[index[i][j]][j] for axis 0 of two, and so on. (axis may be called dim.)"""
        ...
    def ge(self, y: Any) -> Tensor:
        """Whether x is at least y. (y may be called other.)"""
        ...
    def gelu(self, approximate: str = "tanh") -> Tensor:
        """x * Phi(x), by the usual form with tanh, or "none" for the exact one."""
        ...
    def global_avg_pool(self) -> Tensor:
        """(N, C, ..) to (N, C): the mean of each channel."""
        ...
    def global_max_pool(self) -> Tensor:
        """(N, C, ..) to (N, C): the largest of each channel."""
        ...
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward() has collected for a leaf."""
        ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    def group_norm(
        self,
        num_groups: int,
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """Per element of the batch and group of channels of x (N, C, ..)."""
        ...
    def gt(self, y: Any) -> Tensor:
        """Whether x is greater than y. (y may be called other.)"""
        ...
    def half(self) -> Tensor:
        """The values as half numbers."""
        ...
    def index_add(self, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
        """x with the source added at the positions of an axis that the index names. (axis may be
        called dim.)
        """
        ...
    def index_copy(self, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
        """x with the positions of an axis that the index names replaced. (axis may be called
        dim.)
        """
        ...
    def index_select(self, axis: int, index: TensorLike) -> Tensor:
        """Positions of an axis, by a list of them. (axis may be called dim.)"""
        ...
    def instance_norm(
        self,
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """Per element of the batch and channel of x (N, C, ..)."""
        ...
    def int(self) -> Tensor:
        """The values as int numbers."""
        ...
    def is_contiguous(self) -> bool:
        """Whether the elements lie in order."""
        ...
    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of tensors that require gradients."""
        ...
    def isclose(
        self,
        y: Any,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Tensor:
        """Whether abs(x - y) <= atol + rtol * abs(y), element by element."""
        ...
    def isfinite(self) -> Tensor:
        """Whether it is a finite number."""
        ...
    def isinf(self) -> Tensor:
        """Whether it is infinite."""
        ...
    def isnan(self) -> Tensor:
        """Whether it is not a number."""
        ...
    def item(self) -> float | int | bool:
        """The single element as a Python number."""
        ...
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        ...
    def layer_norm(
        self,
        normalized_shape: int | Sequence[int],
        weight: TensorLike | None = None,
        bias: TensorLike | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """(x - mean) / sqrt(variance + eps) over the last axes, which have this shape; times
        weight, plus bias. (normalized_shape may be called shape.)
        """
        ...
    def le(self, y: Any) -> Tensor:
        """Whether x is at most y. (y may be called other.)"""
        ...
    def leaky_relu(self, slope: float = 0.01) -> Tensor:
        """x where it is positive, else slope * x. (slope may be called negative_slope.)"""
        ...
    def log(self) -> Tensor:
        """The natural logarithm."""
        ...
    def log10(self) -> Tensor:
        """The logarithm to base 10."""
        ...
    def log1p(self) -> Tensor:
        """log(1 + x), exact near 0."""
        ...
    def log2(self) -> Tensor:
        """The logarithm to base 2."""
        ...
    def log_softmax(self, axis: int = -1) -> Tensor:
        """The logarithm of softmax(), without overflow. (axis may be called dim.)"""
        ...
    def logical_and(self, y: TensorLike) -> Tensor:
        """Whether neither is 0. (y may be called other.)"""
        ...
    def logical_not(self) -> Tensor:
        """Whether it is 0."""
        ...
    def logical_or(self, y: TensorLike) -> Tensor:
        """Whether one is not 0. (y may be called other.)"""
        ...
    def logical_xor(self, y: TensorLike) -> Tensor:
        """Whether exactly one is not 0. (y may be called other.)"""
        ...
    def logsumexp(
        self,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """log(sum(exp(x))), without overflow. (axis may be called dim, keepdim may be called
        keepdims.)
        """
        ...
    def long(self) -> Tensor:
        """The values as long numbers."""
        ...
    def lt(self, y: Any) -> Tensor:
        """Whether x is less than y. (y may be called other.)"""
        ...
    @property
    def mT(self) -> Tensor:
        """A view with the last two axes exchanged."""
        ...
    def masked_fill(self, mask: TensorLike, value: float) -> Tensor:
        """x, and a value where the mask holds."""
        ...
    def matmul(self, y: TensorLike) -> Tensor:
        """(.., M, K) times (.., K, N): stacks broadcast, a vector is a row on the left and a
        column on the right. (y may be called other.)
        """
        ...
    def matmul_with_activation(self, y: TensorLike, activation: Any = None) -> Tensor:
        """activation(x @ y) in one kernel."""
        ...
    def max(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The largest over one axis, several, or all. (axis may be called dim, keepdim may be
        called keepdims.)
        """
        ...
    def max_pool2d(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = None,
        padding: int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        """The largest of each window of x (N, C, H, W); stride: the kernel's."""
        ...
    def maximum(self, y: TensorLike) -> Tensor:
        """The larger of two. (y may be called other.)"""
        ...
    def mean(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The mean over one axis, several, or all. Integers give float32. (axis may be called
        dim, keepdim may be called keepdims.)
        """
        ...
    def min(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The smallest over one axis, several, or all. (axis may be called dim, keepdim may be
        called keepdims.)
        """
        ...
    def minimum(self, y: TensorLike) -> Tensor:
        """The smaller of two. (y may be called other.)"""
        ...
    def movedim(self, source: int, destination: int) -> Tensor:
        """A view with one axis at another place."""
        ...
    def mul(self, y: Any) -> Tensor:
        """x * y. (y may be called other.)"""
        ...
    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        ...
    @property
    def ndim(self) -> int:
        """The number of axes."""
        ...
    def ne(self, y: Any) -> Tensor:
        """Whether they differ. (y may be called other.)"""
        ...
    def neg(self) -> Tensor:
        """-x."""
        ...
    def nonzero(self) -> tuple[Tensor, ...]:
        """The places of the elements that are not 0, one tensor for each axis."""
        ...
    def norm(
        self,
        p: float = 2.0,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """sum(abs(x) ** p) ** (1 / p); p may be 0 and infinite. (p may be called ord, axis may
        be called dim, keepdim may be called keepdims.)
        """
        ...
    def numel(self) -> int:
        """The number of elements."""
        ...
    def numpy(self) -> Any:
        """The values as a NumPy array of its own. bfloat16 becomes float32. numpy.asarray(tensor)
        makes no copy, and what it gives cannot be written.
        """
        ...
    def pad(self, axis: int, before: int, after: int, value: float = 0.0) -> Tensor:
        """A value before and behind an axis. (axis may be called dim.)"""
        ...
    @overload
    def permute(self, axes: int | Sequence[int]) -> Tensor:
        """A view with the axes in another order. (axes may be called dims.)"""
        ...
    @overload
    def permute(self, *axes: int) -> Tensor: ...
    def pow(self, y: Any) -> Tensor:
        """x ** y. (y may be called other.)"""
        ...
    def prod(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The product over one axis, several, or all. Integers give int64. (axis may be called
        dim, keepdim may be called keepdims.)
        """
        ...
    def ravel(self) -> Tensor:
        """All elements along one axis."""
        ...
    def reciprocal(self) -> Tensor:
        """1 / x."""
        ...
    def relu(self) -> Tensor:
        """max(x, 0)."""
        ...
    def remainder(self, y: Any) -> Tensor:
        """x % y: the sign is y's. (y may be called other.)"""
        ...
    def repeat_interleave(self, n: int, axis: int = 0) -> Tensor:
        """Each element n times along an axis. (axis may be called dim.)"""
        ...
    @property
    def requires_grad(self) -> bool:
        """Whether gradients are wanted for it, or for something it was made from."""
        ...
    @requires_grad.setter
    def requires_grad(self, value: bool) -> None: ...
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Makes a leaf of the tensor that wants gradients, or an ordinary one."""
        ...
    @overload
    def reshape(self, shape: int | Sequence[int]) -> Tensor:
        """The same elements in another shape; one length may be -1. A view where it can be."""
        ...
    @overload
    def reshape(self, *shape: int) -> Tensor: ...
    def rms_norm(
        self,
        normalized_shape: int | Sequence[int],
        weight: TensorLike | None = None,
        eps: float = 1e-6,
    ) -> Tensor:
        """x / sqrt(mean(x * x) + eps) over the last axes, which have this shape; times weight.
        (normalized_shape may be called shape.)
        """
        ...
    def roll(self, n: int, axis: int = 0) -> Tensor:
        """Moved on by n places along an axis; what falls off comes in at the other end. (n may
        be called shifts, axis may be called dim.)
        """
        ...
    def round(self) -> Tensor:
        """Rounded to the nearest whole number, halves to even."""
        ...
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""
        ...
    def scatter(self, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
        """x with x[index[i][j]][j] = source[i][j] for axis 0 of two, and so on. (axis may be
        called dim, source may be called src.)
        """
        ...
    def scatter_add(self, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
        """x with x[index[i][j]][j] += source[i][j] for axis 0 of two, and so on. (axis may be
        called dim, source may be called src.)
        """
        ...
    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        ...
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
        ...
    def sign(self) -> Tensor:
        """-1, 0 or 1."""
        ...
    def silu(self) -> Tensor:
        """x * sigmoid(x)."""
        ...
    def sin(self) -> Tensor:
        """The sine."""
        ...
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
        ...
    @property
    def size(self) -> int:
        """The number of elements."""
        ...
    def softmax(self, axis: int = -1) -> Tensor:
        """Exponentials that sum to 1 along an axis. (axis may be called dim.)"""
        ...
    def softplus(self) -> Tensor:
        """log(1 + exp(x))."""
        ...
    def sort(self, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
        """In order along an axis, and where each came from. Equal elements keep their order.
        (axis may be called dim.)
        """
        ...
    def split(self, size: Any, axis: int | None = None) -> list[Tensor]:
        """Views of consecutive pieces along an axis: of this size, the last may be shorter, or
        of the sizes in a list. With one number alone that is the axis, and every piece has
        length 1. (axis may be called dim.)
        """
        ...
    def sqrt(self) -> Tensor:
        """The square root."""
        ...
    def square(self) -> Tensor:
        """x * x."""
        ...
    def squeeze(self, axis: int | None = None) -> Tensor:
        """A view without an axis of length 1, or without any. (axis may be called dim.)"""
        ...
    def std(
        self,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
        correction: int = 0,
    ) -> Tensor:
        """The standard deviation: the root of var(). (axis may be called dim, keepdim may be
        called keepdims, correction may be called ddof.)
        """
        ...
    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours along each axis."""
        ...
    def sub(self, y: Any) -> Tensor:
        """x - y. (y may be called other.)"""
        ...
    def sum(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The sum over one axis, several, or all. Integers give int64. (axis may be called dim,
        keepdim may be called keepdims.)
        """
        ...
    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        """A view with two axes exchanged."""
        ...
    def take(self, index: Any, axis: int | None = None) -> Tensor:
        """Elements by their places along an axis, or in the flattened tensor."""
        ...
    def tan(self) -> Tensor:
        """The tangent."""
        ...
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
        ...
    @overload
    def tile(self, times: int | Sequence[int]) -> Tensor:
        """The whole again and again along each axis. (times may be called reps.)"""
        ...
    @overload
    def tile(self, *times: int) -> Tensor: ...
    def to(self, what: Any, and_what: Any = None) -> Tensor:
        """In another element type or on another device, in either order."""
        ...
    def tolist(self) -> Any:
        """The elements as nested lists; of a scalar, a number."""
        ...
    def topk(self, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
        """The k largest (or smallest) along an axis in order, and where they are. (axis may be
        called dim.)
        """
        ...
    @overload
    def transpose(self, axes: int | Sequence[int] | None = None) -> Tensor:
        """A view with two axes exchanged, as in PyTorch; without any, all in the opposite order;
        with three or more, in that order, as in NumPy.
        """
        ...
    @overload
    def transpose(self, *axes: int) -> Tensor: ...
    def tril(self, diagonal: int = 0) -> Tensor:
        """x on and below a diagonal of its last two axes, else 0."""
        ...
    def triu(self, diagonal: int = 0) -> Tensor:
        """x on and above a diagonal of its last two axes, else 0."""
        ...
    def trunc(self) -> Tensor:
        """Rounded towards 0."""
        ...
    unbind = unstack
    def unsqueeze(self, axis: int) -> Tensor:
        """A view with a new axis of length 1. (axis may be called dim.)"""
        ...
    def unstack(self, axis: int = 0) -> list[Tensor]:
        """Views of every position of an axis by itself, without the axis. (axis may be called
        dim.)
        """
        ...
    def var(
        self,
        axis: int | Sequence[int] | None = None,
        keepdim: bool = False,
        correction: int = 0,
    ) -> Tensor:
        """The variance: squared distances to the mean, summed and divided by the count less
        correction (0 as in NumPy; PyTorch's default is 1). (axis may be called dim, keepdim
        may be called keepdims, correction may be called ddof.)
        """
        ...
    def view(self, *shape: int) -> Tensor:
        """reshape()."""
        ...
    def wait(self) -> Tensor:
        """Waits until the values are there, and returns the tensor."""
        ...
    def zero_(self) -> Tensor:
        """Gives all elements the value 0."""
        ...
    def zero_grad(self) -> None:
        """Drops the gradient."""
        ...
    def __eq__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
    def __lt__(self, other: Any, /) -> Tensor: ...
    def __le__(self, other: Any, /) -> Tensor: ...
    def __gt__(self, other: Any, /) -> Tensor: ...
    def __ge__(self, other: Any, /) -> Tensor: ...
    def __divmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, other: Any, /) -> tuple[Tensor, Tensor]: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __getitem__(self, key: Any, /) -> Tensor: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __add__(self, other: Any, /) -> Tensor: ...
    def __radd__(self, other: Any, /) -> Tensor: ...
    def __iadd__(self, other: Any, /) -> Tensor: ...
    def __sub__(self, other: Any, /) -> Tensor: ...
    def __rsub__(self, other: Any, /) -> Tensor: ...
    def __isub__(self, other: Any, /) -> Tensor: ...
    def __mul__(self, other: Any, /) -> Tensor: ...
    def __rmul__(self, other: Any, /) -> Tensor: ...
    def __imul__(self, other: Any, /) -> Tensor: ...
    def __truediv__(self, other: Any, /) -> Tensor: ...
    def __rtruediv__(self, other: Any, /) -> Tensor: ...
    def __itruediv__(self, other: Any, /) -> Tensor: ...
    def __floordiv__(self, other: Any, /) -> Tensor: ...
    def __rfloordiv__(self, other: Any, /) -> Tensor: ...
    def __ifloordiv__(self, other: Any, /) -> Tensor: ...
    def __mod__(self, other: Any, /) -> Tensor: ...
    def __rmod__(self, other: Any, /) -> Tensor: ...
    def __imod__(self, other: Any, /) -> Tensor: ...
    def __pow__(self, other: Any, /) -> Tensor: ...
    def __rpow__(self, other: Any, /) -> Tensor: ...
    def __ipow__(self, other: Any, /) -> Tensor: ...
    def __matmul__(self, other: Any, /) -> Tensor: ...
    def __rmatmul__(self, other: Any, /) -> Tensor: ...
    def __imatmul__(self, other: Any, /) -> Tensor: ...
    def __and__(self, other: Any, /) -> Tensor: ...
    def __rand__(self, other: Any, /) -> Tensor: ...
    def __iand__(self, other: Any, /) -> Tensor: ...
    def __or__(self, other: Any, /) -> Tensor: ...
    def __ror__(self, other: Any, /) -> Tensor: ...
    def __ior__(self, other: Any, /) -> Tensor: ...
    def __xor__(self, other: Any, /) -> Tensor: ...
    def __rxor__(self, other: Any, /) -> Tensor: ...
    def __ixor__(self, other: Any, /) -> Tensor: ...

class UserKernel:
    """A function of the user's source."""
    def __new__(cls, source: Any = ..., name: Any = ..., device: Any = ...) -> Any: ...
    def call(
        self,
        inputs: list[Tensor],
        shape: int | Sequence[int],
        dtype: DTypeLike,
        kinds: list[str],
        scalars: list[float],
        threads: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
        /,
    ) -> Tensor:
        """A new tensor."""
        ...
    @classmethod
    def elementwise(
        cls,
        inputs: str,
        scalars: str,
        expression: str,
        device: DeviceLike | None = None,
        /,
    ) -> UserKernel:
        """One expression per element."""
        ...
    def set_backward(self, function: Callable[..., Any], /) -> None:
        """How gradients pass: function(inputs, output, grad, scalars)."""
        ...

def _clip_grad_norm(parameters: Sequence[TensorLike], max_norm: float) -> Tensor:
    """Scales gradients so that their norm together is at most max_norm; the norm before."""
    ...

def _clip_grad_value(parameters: Sequence[TensorLike], limit: float) -> None:
    """Gradients within -limit .. limit."""
    ...

def _einsum(equation: str, operands: Sequence[TensorLike]) -> Tensor:
    """einsum() with the operands in a list."""
    ...

def _grad(
    outputs: Sequence[TensorLike],
    inputs: Sequence[TensorLike],
    grad_outputs: Sequence[TensorLike] = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Tensor]:
    """grad() with lists."""
    ...

def _init_kaiming_normal(tensor: TensorLike, gain: float, seed: int | None = None) -> None:
    """Normal with deviation gain / sqrt(fan_in)."""
    ...

def _init_kaiming_uniform(tensor: TensorLike, gain: float, seed: int | None = None) -> None:
    """Uniform within gain * sqrt(3 / fan_in)."""
    ...

def _init_layer(
    tensor: TensorLike,
    bias: TensorLike | None = None,
    seed: int | None = None,
) -> None:
    """What a layer's weight and bias start with."""
    ...

def _init_normal(tensor: TensorLike, mean: float, std: float, seed: int | None = None) -> None:
    """Normally distributed."""
    ...

def _init_uniform(tensor: TensorLike, a: float, b: float, seed: int | None = None) -> None:
    """Uniform from a to b."""
    ...

def _init_xavier_normal(tensor: TensorLike, gain: float, seed: int | None = None) -> None:
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out))."""
    ...

def _init_xavier_uniform(tensor: TensorLike, gain: float, seed: int | None = None) -> None:
    """Uniform within gain * sqrt(6 / (fan_in + fan_out))."""
    ...

def _load_npy(path: str | os.PathLike[str], device: DeviceLike | None = None) -> Tensor:
    """Reads a .npy file."""
    ...

def _load_safetensors(
    path: str | os.PathLike[str],
    device: DeviceLike | None = None,
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Reads a safetensors file."""
    ...

def _no_grad_begin() -> None:
    """The thread's operations remember nothing from here on."""
    ...

def _no_grad_end() -> None:
    """Ends _no_grad_begin()."""
    ...

def _save_npy(path: str | os.PathLike[str], x: TensorLike) -> None:
    """Writes a .npy file."""
    ...

def _save_safetensors(
    path: str | os.PathLike[str],
    names: Any,
    tensors: Sequence[TensorLike],
    metadata: Any,
) -> None:
    """Writes a safetensors file."""
    ...

def _schedule_rate(
    kind: int,
    rate: float,
    warmup: int,
    period: int,
    gamma: float,
    min_rate: float,
    step: int,
) -> float:
    """The learning rate of a step."""
    ...

def abs(x: TensorLike) -> Tensor:
    """The absolute value."""
    ...

def acos(x: TensorLike) -> Tensor:
    """The inverse cosine."""
    ...

def adaptive_avg_pool2d(x: TensorLike, output_size: int | tuple[int, int]) -> Tensor:
    """Means of as many windows as the output has pixels."""
    ...

def add(x: Any, y: Any) -> Tensor:
    """x + y. (y may be called other.)"""
    ...

def all(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Whether none is 0. (axis may be called dim, keepdim may be called keepdims.)"""
    ...

def any(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Whether one is not 0. (axis may be called dim, keepdim may be called keepdims.)"""
    ...

def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """start, start + step, ... below stop; arange(stop) starts at 0. int64 if all are integers."""
    ...

def argmax(x: TensorLike, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest is: the first of equals; all: in the flattened tensor. (axis may be
    called dim, keepdim may be called keepdims.)
    """
    ...

def argmin(x: TensorLike, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the smallest is: the first of equals; all: in the flattened tensor. (axis may be
    called dim, keepdim may be called keepdims.)
    """
    ...

def argsort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """Where the elements are, in order. (axis may be called dim.)"""
    ...

def asarray(
    data: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """The tensor itself, or one of the data as by tensor()."""
    ...

def asin(x: TensorLike) -> Tensor:
    """The inverse sine."""
    ...

def astype(x: TensorLike, dtype: DTypeLike | None) -> Tensor:
    """The values in another element type."""
    ...

def atan(x: TensorLike) -> Tensor:
    """The inverse tangent."""
    ...

def atan2(x: TensorLike, y: TensorLike) -> Tensor:
    """The angle whose tangent is x / y, in the right quadrant: x is the ordinate. (y may be
    called other.)
    """
    ...

def avg_pool2d(
    x: TensorLike,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] = None,
    padding: int | tuple[int, int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of x (N, C, H, W); stride: the kernel's."""
    ...

def batch_norm(
    x: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Per channel of x (N, C, ..). Training: by mean and variance of x, and the running ones get
    new values; else by the running ones.
    """
    ...

def bce_logits_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Binary cross-entropy of logits. (x may be called input.)"""
    ...

def bce_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Binary cross-entropy of probabilities; logarithms are not let below -100. (x may be called
    input.)
    """
    ...

@overload
def broadcast_to(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """A view that repeats axes of length 1, and new ones in front."""
    ...
@overload
def broadcast_to(x: TensorLike, *shape: int) -> Tensor: ...

def cat(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The same as concat(). (axis may be called dim.)"""
    ...

def ceil(x: TensorLike) -> Tensor:
    """Rounded up."""
    ...

def check_finite(x: TensorLike) -> Tensor:
    """The tensor; NotFiniteError, which names the first place, if an element is infinite or not
    a number.
    """
    ...

def chunk(x: TensorLike, n: int, axis: int = 0) -> list[Tensor]:
    """Views of at most n pieces of equal size along an axis; the last may be shorter. (n may be
    called chunks, axis may be called dim.)
    """
    ...

def clamp(x: TensorLike, min: float | None = None, max: float | None = None) -> Tensor:
    """No less than min and no more than max, where they are given. (min may be called low, max
    may be called high.)
    """
    ...

def concat(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of equal shapes but for one axis, put together along it. (axis may be called dim.)"""
    ...

def contiguous(x: TensorLike) -> Tensor:
    """Itself, or a copy whose elements lie in order."""
    ...

def conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
) -> Tensor:
    """x (N, C, L) with weight (O, C / groups, K) and bias (O)."""
    ...

def conv2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
) -> Tensor:
    """x (N, C, H, W) with weight (O, C / groups, KH, KW) and bias (O)."""
    ...

def conv_transpose2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
    output_padding: int | tuple[int, int] = 0,
) -> Tensor:
    """What conv2d does to gradients: weight (C, O / groups, KH, KW)."""
    ...

def cos(x: TensorLike) -> Tensor:
    """The cosine."""
    ...

def cosh(x: TensorLike) -> Tensor:
    """The hyperbolic cosine."""
    ...

def count_nonzero(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """How many are not 0. (axis may be called dim, keepdim may be called keepdims.)"""
    ...

def cross_entropy_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Cross-entropy of logits (.., C) with class numbers (..), which are checked, or
    probabilities (.., C). (x may be called input.)
    """
    ...

def cumprod(x: TensorLike, axis: int) -> Tensor:
    """Products of all elements up to each, along an axis. Integers give int64. (axis may be
    called dim.)
    """
    ...

def cumsum(x: TensorLike, axis: int) -> Tensor:
    """Sums of all elements up to each, along an axis. Integers give int64. (axis may be called
    dim.)
    """
    ...

def diagonal(x: TensorLike, offset: int = 0, axis0: int = 0, axis1: int = 1) -> Tensor:
    """The elements of a diagonal of two axes, as a last axis."""
    ...

def div(x: Any, y: Any) -> Tensor:
    """x / y. (y may be called other.)"""
    ...

def dropout(
    x: TensorLike,
    p: float = 0.5,
    training: bool = True,
    seed: int | None = None,
) -> Tensor:
    """0 with probability p, else x / (1 - p); x itself when not training."""
    ...

def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    ...

def embedding(table: TensorLike, ids: TensorLike) -> Tensor:
    """Rows of a table (V, E) by their ids (..): (.., E). (table may be called weight.)"""
    ...

@overload
def empty(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """A tensor whose values do not matter: zeros, here."""
    ...
@overload
def empty(
    *shape: int,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor: ...

def eq(x: Any, y: Any) -> Tensor:
    """Whether they are equal, element by element. (y may be called other.)"""
    ...

def erf(x: TensorLike) -> Tensor:
    """The error function."""
    ...

def eval(x: TensorLike) -> Tensor:
    """Starts to compute the values, and returns the tensor. Reading does it by itself."""
    ...

def exp(x: TensorLike) -> Tensor:
    """e to the power of x."""
    ...

def exp2(x: TensorLike) -> Tensor:
    """2 to the power of x."""
    ...

@overload
def expand(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """A view that repeats axes of length 1, and new ones in front; -1 keeps a length."""
    ...
@overload
def expand(x: TensorLike, *shape: int) -> Tensor: ...

def expand_dims(x: TensorLike, axis: int) -> Tensor:
    """A view with a new axis of length 1. (axis may be called dim.)"""
    ...

def expm1(x: TensorLike) -> Tensor:
    """exp(x) - 1, exact near 0."""
    ...

def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """1 on a diagonal of a matrix, else 0. m: columns, n without it."""
    ...

def flatten(x: TensorLike, start: int = 0, end: int = -1) -> Tensor:
    """Some neighbouring axes, or all, as one. (start may be called start_dim, end may be called
    end_dim.)
    """
    ...

def flip(x: TensorLike, axis: int) -> Tensor:
    """The other way round along an axis. (axis may be called dim.)"""
    ...

def floor(x: TensorLike) -> Tensor:
    """Rounded down."""
    ...

def floor_divide(x: Any, y: Any) -> Tensor:
    """x // y: rounded down. (y may be called other.)"""
    ...

def from_dlpack(x: Any, copy: Any = None) -> Tensor:
    """A tensor over the memory of an array that has __dlpack__, such as NumPy's and PyTorch's,
    without a copy if it has an element type of tensors. copy: True always copies, False never
    (BufferError), None if it must. Who writes to that memory later changes values that are
    not computed yet.
    """
    ...

def from_numpy(
    array: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """A tensor with the values of a NumPy array: a copy, in the array's type (see tensor()).
    from_dlpack() shares the memory.
    """
    ...

def full(
    shape: int | Sequence[int],
    fill_value: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """One value everywhere. Without dtype: bool and int64 for Python's bool and int."""
    ...

def full_like(x: TensorLike, fill_value: float, dtype: DTypeLike | None = None) -> Tensor:
    """One value, in the shape and type of another tensor."""
    ...

def fused_add_relu(x: TensorLike, y: TensorLike) -> Tensor:
    """relu(x + y) in one kernel."""
    ...

def fused_affine(x: TensorLike, scale: TensorLike, bias: TensorLike) -> Tensor:
    """x * scale + bias in one kernel, with broadcasting."""
    ...

def fused_gelu_linear(x: TensorLike, weight: TensorLike, bias: TensorLike) -> Tensor:
    """gelu(x) @ weight + bias."""
    ...

def fused_linear(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    residual: TensorLike | None = None,
    activation: Any = None,
) -> Tensor:
    """activation(x @ weight + bias + residual) in one kernel: weight (K, N)."""
    ...

def fused_linear_residual_relu(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike,
    residual: TensorLike,
) -> Tensor:
    """relu(x @ weight + bias + residual) in one kernel."""
    ...

def fused_mul_relu(x: TensorLike, y: TensorLike) -> Tensor:
    """relu(x * y) in one kernel."""
    ...

def fused_softmax_cross_entropy(
    logits: TensorLike,
    classes: TensorLike,
    reduction: str = "mean",
) -> Tensor:
    """Softmax and cross-entropy of logits (.., C) and class numbers (..) in one kernel."""
    ...

def gather(x: TensorLike, axis: int, index: TensorLike) -> Tensor:
    """out[i][j] = x[index[i][j]][j] for axis 0 of two, and so on. (axis may be called dim.)"""
    ...

def ge(x: Any, y: Any) -> Tensor:
    """Whether x is at least y. (y may be called other.)"""
    ...

def gelu(x: TensorLike, approximate: str = "tanh") -> Tensor:
    """x * Phi(x), by the usual form with tanh, or "none" for the exact one."""
    ...

def get_default_dtype() -> DType:
    """The floating type of functions that are given none."""
    ...

def global_avg_pool(x: TensorLike) -> Tensor:
    """(N, C, ..) to (N, C): the mean of each channel."""
    ...

def global_max_pool(x: TensorLike) -> Tensor:
    """(N, C, ..) to (N, C): the largest of each channel."""
    ...

def gradient_check(
    function: Any,
    inputs: Sequence[TensorLike],
    step: float = 1e-2,
    relative: float = 1e-2,
    absolute: float = 1e-3,
) -> dict[str, Any]:
    """Compares the gradients of sum(function(*inputs)) with central differences of a step:
    max_relative, mean_relative, max_absolute, mean_absolute, n_checked, n_failed, passed. An
    element fails if it is beyond both tolerances.
    """
    ...

def group_norm(
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Per element of the batch and group of channels of x (N, C, ..)."""
    ...

def gt(x: Any, y: Any) -> Tensor:
    """Whether x is greater than y. (y may be called other.)"""
    ...

def huber_loss(
    x: TensorLike,
    target: TensorLike,
    delta: float = 1.0,
    reduction: str = "mean",
) -> Tensor:
    """d * d / 2 up to delta, delta * (abs(d) - delta / 2) beyond. (x may be called input.)"""
    ...

def index_add(x: TensorLike, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
    """x with the source added at the positions of an axis that the index names. (axis may be
    called dim.)
    """
    ...

def index_copy(x: TensorLike, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
    """x with the positions of an axis that the index names replaced. (axis may be called dim.)"""
    ...

def index_select(x: TensorLike, axis: int, index: TensorLike) -> Tensor:
    """Positions of an axis, by a list of them. (axis may be called dim.)"""
    ...

def instance_norm(
    x: TensorLike,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Per element of the batch and channel of x (N, C, ..)."""
    ...

def is_grad_enabled() -> bool:
    """Whether operations of this thread remember how they were made."""
    ...

def isfinite(x: TensorLike) -> Tensor:
    """Whether it is a finite number."""
    ...

def isinf(x: TensorLike) -> Tensor:
    """Whether it is infinite."""
    ...

def isnan(x: TensorLike) -> Tensor:
    """Whether it is not a number."""
    ...

def layer_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over the last axes, which have this shape; times weight,
    plus bias. (normalized_shape may be called shape.)
    """
    ...

def le(x: Any, y: Any) -> Tensor:
    """Whether x is at most y. (y may be called other.)"""
    ...

def leaky_relu(x: TensorLike, slope: float = 0.01) -> Tensor:
    """x where it is positive, else slope * x. (slope may be called negative_slope.)"""
    ...

def linspace(
    start: float,
    stop: float,
    n: int = 50,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """n numbers from start to stop, both included. (n may be called steps.)"""
    ...

def log(x: TensorLike) -> Tensor:
    """The natural logarithm."""
    ...

def log10(x: TensorLike) -> Tensor:
    """The logarithm to base 10."""
    ...

def log1p(x: TensorLike) -> Tensor:
    """log(1 + x), exact near 0."""
    ...

def log2(x: TensorLike) -> Tensor:
    """The logarithm to base 2."""
    ...

def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The logarithm of softmax(), without overflow. (axis may be called dim.)"""
    ...

def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether neither is 0. (y may be called other.)"""
    ...

def logical_not(x: TensorLike) -> Tensor:
    """Whether it is 0."""
    ...

def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether one is not 0. (y may be called other.)"""
    ...

def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether exactly one is not 0. (y may be called other.)"""
    ...

def logsumexp(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """log(sum(exp(x))), without overflow. (axis may be called dim, keepdim may be called
    keepdims.)
    """
    ...

def lt(x: Any, y: Any) -> Tensor:
    """Whether x is less than y. (y may be called other.)"""
    ...

def mae_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """abs(x - target). (x may be called input.)"""
    ...

def manual_seed(seed: int) -> None:
    """Where the seeds of random functions that are given none begin."""
    ...

def masked_fill(x: TensorLike, mask: TensorLike, value: float) -> Tensor:
    """x, and a value where the mask holds."""
    ...

def matmul(x: TensorLike, y: TensorLike) -> Tensor:
    """(.., M, K) times (.., K, N): stacks broadcast, a vector is a row on the left and a column
    on the right. (y may be called other.)
    """
    ...

def matmul_with_activation(x: TensorLike, y: TensorLike, activation: Any = None) -> Tensor:
    """activation(x @ y) in one kernel."""
    ...

def max(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The largest over one axis, several, or all. (axis may be called dim, keepdim may be called
    keepdims.)
    """
    ...

def max_pool2d(
    x: TensorLike,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] = None,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest of each window of x (N, C, H, W); stride: the kernel's."""
    ...

def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """The larger of two. (y may be called other.)"""
    ...

def mean(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The mean over one axis, several, or all. Integers give float32. (axis may be called dim,
    keepdim may be called keepdims.)
    """
    ...

def min(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The smallest over one axis, several, or all. (axis may be called dim, keepdim may be
    called keepdims.)
    """
    ...

def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """The smaller of two. (y may be called other.)"""
    ...

def mse_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """(x - target) ** 2. The shapes must be equal, as for all losses. (x may be called input.)"""
    ...

def mul(x: Any, y: Any) -> Tensor:
    """x * y. (y may be called other.)"""
    ...

def ne(x: Any, y: Any) -> Tensor:
    """Whether they differ. (y may be called other.)"""
    ...

def neg(x: TensorLike) -> Tensor:
    """-x."""
    ...

def norm(
    x: TensorLike,
    p: float = 2.0,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """sum(abs(x) ** p) ** (1 / p); p may be 0 and infinite. (p may be called ord, axis may be
    called dim, keepdim may be called keepdims.)
    """
    ...

def one_hot(ids: TensorLike, n: int, dtype: DTypeLike | None = None) -> Tensor:
    """1 at each id, else 0: integers (..) to (.., n). Without dtype: float32. (n may be called
    num_classes.)
    """
    ...

@overload
def ones(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Ones."""
    ...
@overload
def ones(
    *shape: int,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor: ...

def ones_like(x: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Ones of the shape and type of another tensor."""
    ...

def pad(x: TensorLike, axis: int, before: int, after: int, value: float = 0.0) -> Tensor:
    """A value before and behind an axis. (axis may be called dim.)"""
    ...

@overload
def permute(x: TensorLike, axes: int | Sequence[int]) -> Tensor:
    """A view with the axes in another order. (axes may be called dims.)"""
    ...
@overload
def permute(x: TensorLike, *axes: int) -> Tensor: ...

def pow(x: Any, y: Any) -> Tensor:
    """x ** y. (y may be called other.)"""
    ...

def prod(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The product over one axis, several, or all. Integers give int64. (axis may be called dim,
    keepdim may be called keepdims.)
    """
    ...

@overload
def rand(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Uniform from 0 to 1."""
    ...
@overload
def rand(
    *shape: int,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor: ...

def randint(
    low: int,
    high: int,
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Integers from low to high - 1, equally likely. (shape may be called size.)"""
    ...

@overload
def randn(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Normally distributed, mean 0 and variance 1."""
    ...
@overload
def randn(
    *shape: int,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor: ...

def reciprocal(x: TensorLike) -> Tensor:
    """1 / x."""
    ...

def relu(x: TensorLike) -> Tensor:
    """max(x, 0)."""
    ...

def remainder(x: Any, y: Any) -> Tensor:
    """x % y: the sign is y's. (y may be called other.)"""
    ...

def repeat_interleave(x: TensorLike, n: int, axis: int = 0) -> Tensor:
    """Each element n times along an axis. (axis may be called dim.)"""
    ...

@overload
def reshape(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The same elements in another shape; one length may be -1. A view where it can be."""
    ...
@overload
def reshape(x: TensorLike, *shape: int) -> Tensor: ...

def rms_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float = 1e-6,
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) over the last axes, which have this shape; times weight.
    (normalized_shape may be called shape.)
    """
    ...

def roll(x: TensorLike, n: int, axis: int = 0) -> Tensor:
    """Moved on by n places along an axis; what falls off comes in at the other end. (n may be
    called shifts, axis may be called dim.)
    """
    ...

def round(x: TensorLike) -> Tensor:
    """Rounded to the nearest whole number, halves to even."""
    ...

def rsqrt(x: TensorLike) -> Tensor:
    """1 / sqrt(x)."""
    ...

def scatter(x: TensorLike, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
    """x with x[index[i][j]][j] = source[i][j] for axis 0 of two, and so on. (axis may be called
    dim, source may be called src.)
    """
    ...

def scatter_add(x: TensorLike, axis: int, index: TensorLike, source: TensorLike) -> Tensor:
    """x with x[index[i][j]][j] += source[i][j] for axis 0 of two, and so on. (axis may be called
    dim, source may be called src.)
    """
    ...

def set_default_dtype(dtype: DTypeLike | None) -> None:
    """The floating type of functions that are given none: float32 at first."""
    ...

def sigmoid(x: TensorLike) -> Tensor:
    """1 / (1 + exp(-x))."""
    ...

def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1."""
    ...

def silu(x: TensorLike) -> Tensor:
    """x * sigmoid(x)."""
    ...

def sin(x: TensorLike) -> Tensor:
    """The sine."""
    ...

def sinh(x: TensorLike) -> Tensor:
    """The hyperbolic sine."""
    ...

def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Exponentials that sum to 1 along an axis. (axis may be called dim.)"""
    ...

def softplus(x: TensorLike) -> Tensor:
    """log(1 + exp(x))."""
    ...

def sort(x: TensorLike, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """In order along an axis, and where each came from. Equal elements keep their order. (axis
    may be called dim.)
    """
    ...

def split(x: TensorLike, size: Any, axis: int | None = None) -> list[Tensor]:
    """Views of consecutive pieces along an axis: of this size, the last may be shorter, or of
    the sizes in a list. With one number alone that is the axis, and every piece has length 1.
    (axis may be called dim.)
    """
    ...

def sqrt(x: TensorLike) -> Tensor:
    """The square root."""
    ...

def square(x: TensorLike) -> Tensor:
    """x * x."""
    ...

def squeeze(x: TensorLike, axis: int | None = None) -> Tensor:
    """A view without an axis of length 1, or without any. (axis may be called dim.)"""
    ...

def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of equal shapes put together along a new axis. (axis may be called dim.)"""
    ...

def std(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
    correction: int = 0,
) -> Tensor:
    """The standard deviation: the root of var(). (axis may be called dim, keepdim may be called
    keepdims, correction may be called ddof.)
    """
    ...

def sub(x: Any, y: Any) -> Tensor:
    """x - y. (y may be called other.)"""
    ...

def sum(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The sum over one axis, several, or all. Integers give int64. (axis may be called dim,
    keepdim may be called keepdims.)
    """
    ...

def swapaxes(x: TensorLike, axis0: int, axis1: int) -> Tensor:
    """A view with two axes exchanged."""
    ...

def tan(x: TensorLike) -> Tensor:
    """The tangent."""
    ...

def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent."""
    ...

def tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of numbers, nested lists, an array or another tensor; always a copy. Without
    dtype: bool, int64 or the default for Python's numbers, else what the array has, where
    float64 becomes float32, uint8 and 16-bit integers int32, uint32 and uint64 int64.
    """
    ...

@overload
def tile(x: TensorLike, times: int | Sequence[int]) -> Tensor:
    """The whole again and again along each axis. (times may be called reps.)"""
    ...
@overload
def tile(x: TensorLike, *times: int) -> Tensor: ...

def topk(x: TensorLike, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) along an axis in order, and where they are. (axis may be
    called dim.)
    """
    ...

@overload
def transpose(x: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """A view with two axes exchanged, as in PyTorch; without any, all in the opposite order;
    with three or more, in that order, as in NumPy.
    """
    ...
@overload
def transpose(x: TensorLike, *axes: int) -> Tensor: ...

def tril(x: TensorLike, diagonal: int = 0) -> Tensor:
    """x on and below a diagonal of its last two axes, else 0."""
    ...

def triu(x: TensorLike, diagonal: int = 0) -> Tensor:
    """x on and above a diagonal of its last two axes, else 0."""
    ...

def trunc(x: TensorLike) -> Tensor:
    """Rounded towards 0."""
    ...

def uniform(
    shape: int | Sequence[int],
    low: float = 0.0,
    high: float = 1.0,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Uniform from low to high."""
    ...

def unsqueeze(x: TensorLike, axis: int) -> Tensor:
    """A view with a new axis of length 1. (axis may be called dim.)"""
    ...

def unstack(x: TensorLike, axis: int = 0) -> list[Tensor]:
    """Views of every position of an axis by itself, without the axis. (axis may be called dim.)"""
    ...

def var(
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
    correction: int = 0,
) -> Tensor:
    """The variance: squared distances to the mean, summed and divided by the count less
    correction (0 as in NumPy; PyTorch's default is 1). (axis may be called dim, keepdim may
    be called keepdims, correction may be called ddof.)
    """
    ...

def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """x where the condition holds, else y."""
    ...

@overload
def zeros(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Zeros."""
    ...
@overload
def zeros(
    *shape: int,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor: ...

def zeros_like(x: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Zeros of the shape and type of another tensor."""
    ...
