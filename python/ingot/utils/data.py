# SPDX-License-Identifier: Apache-2.0
"""ingot.data, where PyTorch's programs look for it."""

from ..data import *  # noqa: F401,F403
from ..data import __all__  # noqa: F401
