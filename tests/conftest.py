# SPDX-License-Identifier: Apache-2.0
"""Samples: a test marked @pytest.mark.sample(n) runs every n-th of its cases, and all of them with
INGOT_TEST_LONG=1 in the environment (make test-long). Choose n so that it has no factor in common with the
lengths of the parameter lists: then every value of every parameter has its turn."""
import os

LONG = os.environ.get("INGOT_TEST_LONG") == "1"


def pytest_collection_modifyitems(config, items):
    if LONG:
        return
    seen, kept, left_out = {}, [], []
    for item in items:
        mark = item.get_closest_marker("sample")
        key = (item.fspath, item.originalname)
        turn = seen[key] = seen.get(key, -1) + 1
        (kept if not mark or turn % mark.args[0] == 0 else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
