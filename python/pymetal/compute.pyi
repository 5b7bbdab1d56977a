# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
"""Kernels: what they are compiled with, pipelines, reflection, the encoder that dispatches them."""

from . import (
    ArrayType,
    Binding,
    CommandQueueDescriptor,
    CompileOptions,
    ComputeCommandEncoder,
    ComputePipelineDescriptor,
    ComputePipelineReflection,
    ComputePipelineState,
    FunctionConstant,
    FunctionConstantValues,
    FunctionHandle,
    PointerType,
    StructMember,
    StructType,
    VisibleFunctionTable,
)

__all__ = [
    "ArrayType",
    "Binding",
    "CommandQueueDescriptor",
    "CompileOptions",
    "ComputeCommandEncoder",
    "ComputePipelineDescriptor",
    "ComputePipelineReflection",
    "ComputePipelineState",
    "FunctionConstant",
    "FunctionConstantValues",
    "FunctionHandle",
    "PointerType",
    "StructMember",
    "StructType",
    "VisibleFunctionTable",
]
