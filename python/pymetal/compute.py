# SPDX-License-Identifier: Apache-2.0
"""Kernels: pipelines and the encoder that dispatches them."""

from ._pymetal import ComputeCommandEncoder, ComputePipelineState

__all__ = ["ComputePipelineState", "ComputeCommandEncoder"]
