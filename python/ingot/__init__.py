# SPDX-License-Identifier: Apache-2.0
"""Tensors on Metal, without a Mac: NumPy-like arrays with fused operations and gradients.

    import ingot
    x = ingot.randn(256, 784)
    w = ingot.randn(784, 10, seed=1).requires_grad_()
    loss = ingot.relu(x @ w).mean()      # recorded, not yet computed
    loss.backward()
    print(loss.item(), w.grad.shape)     # now it is

Operations are recorded and run when a value is needed; a chain of element-wise ones is one kernel.
Views share memory, and see what is changed in place. ingot.nn has networks and losses, ingot.optim optimisers and learning rates,
ingot.fused fused operations by name, ingot.linalg linear algebra, ingot.fft Fourier
transforms, ingot.data batches, ingot.distributed several processes.
"""

from . import _tensor
from ._tensor import *  # noqa: F401,F403
from ._tensor import (  # noqa: F401
    ArgumentError, CompileError, Device, DeviceError, DType, DTypeError, Error, ExecutionError,
    FileError, GradientError, GroupError, IndexOutOfRange, NotFiniteError, OutOfMemory, Pool, ShapeError,
    Tensor, bfloat16, bool_, float16, float32, int8, int16, int32, int64, uint8)
from . import _device, _files, _functions, _gradients, _kernel, _methods  # noqa: F401
from ._device import *  # noqa: F401,F403
from ._files import *  # noqa: F401,F403
from ._functions import *  # noqa: F401,F403
from ._gradients import *  # noqa: F401,F403
from ._kernel import *  # noqa: F401,F403

from ._complex import *  # noqa: F401,F403
from . import (  # noqa: E402,F401
    _complex, _numpy, backend, cuda, data, distributed, fft, fused, linalg, nn, optim, utils)

__version__ = _tensor.__version__
try:
    import ingot_metal as _  # of a wheel: it warns when pymetal is another's
except ImportError:
    pass
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793
__all__ = sorted({name for name in vars(_tensor) if not name.startswith("_")}
                 - {"Optimizer", "MetalBackend", "MetalOps", "MetalBuffer", "MetalPipeline",
                    "UserKernel"}
                 | {name for part in (_complex, _device, _files, _functions, _gradients, _kernel) for name in part.__all__}
                 | {"backend", "cuda", "data", "distributed", "fft", "fused", "linalg", "nn", "optim", "utils", "e", "inf",
                    "nan", "newaxis", "pi"})
