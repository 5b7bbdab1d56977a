# SPDX-License-Identifier: Apache-2.0
# Made by python/pymetal_stubs.py from the module's docstrings: change those instead.
"""Plain values: positions, sizes, ranges and colours."""

from . import (
    ClearColor,
    Origin,
    Range,
    Size,
)

__all__ = [
    "ClearColor",
    "Origin",
    "Range",
    "Size",
]
