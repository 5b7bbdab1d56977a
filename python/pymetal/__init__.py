# SPDX-License-Identifier: Apache-2.0
"""Metal for Python, on Linux: the names and behaviour of PyMetal on top of Ingot.

    import numpy as np
    import pymetal as pm

    device = pm.create_system_default_device()
    library = device.new_library_with_source(
        "#include <metal_stdlib>\n"
        "kernel void twice(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]])"
        "{ a[i] *= 2; }")
    pipeline = device.new_compute_pipeline_state(library.new_function("twice"))
    buffer = device.new_buffer(64 * 4, pm.ResourceStorageModeShared)
    values = buffer.contents().view(np.float32)      # a view, not a copy
    values[:] = np.arange(64)
    commands = device.new_command_queue().command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline)
    encoder.set_buffer(buffer, 0, 0)
    encoder.dispatch_threads(64, 1, 1, 32, 1, 1)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()

Every public name of the extension stands here; enums, types, compute, graphics, advanced, metal4,
exceptions and shader hold the same objects by subject. Descriptors come from static methods
(TextureDescriptor.texture2d_descriptor(...)), everything else from a Device.
"""

import enum as _enum

from . import _pymetal

# Members of enumerations are exported by the extension too, but their short names (Clear, Add,
# Point) have no place here.
_names = sorted(name for name, value in vars(_pymetal).items()
                if not name.startswith("_") and not isinstance(value, _enum.Enum))
globals().update({name: getattr(_pymetal, name) for name in _names})

from . import advanced, compute, enums, exceptions, graphics, metal4, shader, types  # noqa: E402

__version__ = _pymetal.__version__
try:
    import ingot_metal as _  # of a wheel: it warns of another package of this name
except ImportError:
    pass
__all__ = _names + ["advanced", "compute", "enums", "exceptions", "graphics", "metal4", "shader",
                    "types"]


def __getattr__(name):
    """Apple's whole names: pymetal.MTLTensor is pymetal.Tensor."""
    short = name.removeprefix("MTL")
    if short != name and isinstance(getattr(_pymetal, short, None), (type, int)):
        return getattr(_pymetal, short)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


del _names
