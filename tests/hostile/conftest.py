# SPDX-License-Identifier: Apache-2.0
"""The ingot command of the build tree, as the tests of the tools call it."""
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location(
    "tools_conftest", pathlib.Path(__file__).parent.parent / "tools" / "conftest.py")
_tools = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_tools)
ADD, BUILD, Tool, ingot, own, shared_cache = (
    _tools.ADD, _tools.BUILD, _tools.Tool, _tools.ingot, _tools.own, _tools.shared_cache)
