# SPDX-License-Identifier: Apache-2.0
"""Fused operations by name. Chains of element-wise operations, also behind a matrix product, are
fused without being asked; these say it in the source, and are one kernel each."""

import enum

from ._tensor import (fused_add_relu, fused_affine, fused_gelu_linear, fused_linear,
                      fused_linear_residual_relu, fused_mul_relu, fused_softmax_cross_entropy,
                      matmul_with_activation)

__all__ = ["Activation", "matmul_with_activation", "fused_add_relu", "fused_mul_relu",
           "fused_affine", "fused_linear", "fused_linear_residual_relu", "fused_gelu_linear",
           "fused_softmax_cross_entropy"]


class Activation(enum.IntEnum):
    """What follows a product."""
    None_ = 0
    ReLU = 1
    GELU = 2
    SiLU = 3
    Sigmoid = 4
    Tanh = 5


Activation.NONE = Activation.None_  # type: ignore[attr-defined]
