# SPDX-License-Identifier: Apache-2.0
"""Plain values: positions, sizes, ranges and colours."""

from ._pymetal import ClearColor, Origin, Range, Size

__all__ = ["Origin", "Size", "Range", "ClearColor"]
