# SPDX-License-Identifier: Apache-2.0
"""What the module raises. MetalError is a RuntimeError; the others are kinds of MetalError."""

from ._pymetal import CompileError, MetalError, PipelineError, ResourceError, ValidationError

__all__ = ["MetalError", "CompileError", "PipelineError", "ResourceError", "ValidationError"]
