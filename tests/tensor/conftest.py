# SPDX-License-Identifier: Apache-2.0
"""Every test ends with no memory of tensors in use: what it made is gone again."""

import gc
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import ig  # noqa: E402


@pytest.fixture(autouse=True)
def no_leak():
    gc.collect()
    before = ig.pool_statistics().live_memory
    yield
    gc.collect()
    assert ig.pool_statistics().live_memory == before, "tensors are left"


@pytest.fixture
def rng():
    import numpy as np
    return np.random.default_rng(7)
