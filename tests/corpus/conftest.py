# SPDX-License-Identifier: Apache-2.0
"""One fresh cache for the whole run, shared by every kernel."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def pytest_configure(config):
    if not os.environ.get("INGOT_CORPUS_KEEP_CACHE"):
        config._corpus_cache = tempfile.TemporaryDirectory(prefix="corpus-cache")
        os.environ["INGOT_CACHE_DIR"] = config._corpus_cache.name


def pytest_unconfigure(config):
    cache = getattr(config, "_corpus_cache", None)
    if cache:
        cache.cleanup()
