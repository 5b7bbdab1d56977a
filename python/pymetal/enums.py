# SPDX-License-Identifier: Apache-2.0
"""Enumerations, and the integer constants that are combined with |."""

import enum as _enum

from . import _pymetal

__all__ = sorted(
    name for name, value in vars(_pymetal).items()
    if not name.startswith("_")
    and (type(value) is int or isinstance(value, type) and issubclass(value, _enum.Enum)))
globals().update({name: getattr(_pymetal, name) for name in __all__})
