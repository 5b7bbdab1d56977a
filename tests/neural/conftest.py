# SPDX-License-Identifier: Apache-2.0
"""The ingot command as in tests/tools: `ingot(...)` runs it in a folder of its own."""
import importlib.util
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
_spec = importlib.util.spec_from_file_location(
    "tools_conftest", pathlib.Path(__file__).parent.parent / "tools" / "conftest.py")
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
shared_cache, ingot, own, BUILD = _module.shared_cache, _module.ingot, _module.own, _module.BUILD
