# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
"""What the module raises. MetalError is a RuntimeError; the others are kinds of MetalError."""

from . import (
    CompileError,
    MetalError,
    PipelineError,
    ResourceError,
    ValidationError,
)

__all__ = [
    "CompileError",
    "MetalError",
    "PipelineError",
    "ResourceError",
    "ValidationError",
]
