# SPDX-License-Identifier: Apache-2.0
"""One fresh cache for the whole run, shared by every kernel; --exhaustive tries every mode and shape."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def pytest_addoption(parser):
    parser.addoption("--exhaustive", action="store_true", help="every mode for every program")


def pytest_configure(config):
    if config.getoption("--exhaustive"):
        os.environ["INGOT_CORPUS_EXHAUSTIVE"] = "1"
    if not os.environ.get("INGOT_CORPUS_KEEP_CACHE"):
        config._corpus_cache = tempfile.TemporaryDirectory(prefix="corpus-cache")
        os.environ["INGOT_CACHE_DIR"] = config._corpus_cache.name


def pytest_unconfigure(config):
    cache = getattr(config, "_corpus_cache", None)
    if cache:
        cache.cleanup()
