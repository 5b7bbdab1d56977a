# SPDX-License-Identifier: Apache-2.0
"""PyTorch's place for what is ingot.data here: `from ingot.utils.data import DataLoader`."""

from . import data

__all__ = ["data"]
