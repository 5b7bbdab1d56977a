# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Python tests. `pymetal` must be importable: ctest and scripts/test set
PYTHONPATH to the build's python folder."""

import gc
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))  # helpers.py

import helpers  # noqa: E402,F401  (before anything starts the compiler)
import pymetal as pm  # noqa: E402


@pytest.fixture(scope="session")
def device():
    found = pm.create_system_default_device()
    assert found is not None
    return found


@pytest.fixture
def queue(device):
    return device.new_command_queue()


@pytest.fixture
def commands(queue):
    return queue.command_buffer()


@pytest.fixture
def encoder(commands):
    """A compute encoder that the test need not end."""
    encoder = commands.compute_command_encoder()
    yield encoder
    try:
        encoder.end_encoding()
    except pm.MetalError:
        pass  # the test did


@pytest.fixture
def collected():
    gc.collect()
    yield
    gc.collect()
