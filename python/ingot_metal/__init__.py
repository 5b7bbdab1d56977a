# SPDX-License-Identifier: Apache-2.0
"""What the wheel `ingot-metal` has beside its packages pymetal and ingot.

`prefix` is the folder with the libraries, the compiler and the Metal headers. The commands of the wheel start
here: each becomes the program of its name in <prefix>/bin.
"""

import os
import sys
import warnings

prefix = os.path.dirname(os.path.abspath(__file__))


def _other_pymetal():
    """The folder that says that another distribution has installed a package `pymetal` into the same place."""
    try:
        names = os.listdir(os.path.dirname(prefix))
    except OSError:
        return None
    return next((n for n in names if n.startswith("pymetal-") and n.endswith(".dist-info")), None)


def _warn():
    other = _other_pymetal()
    if other:
        warnings.warn(
            f"two distributions have installed a package `pymetal` here: ingot-metal and {other[:-10]}. Each has "
            "written over files of the other. To keep Ingot's: pip uninstall pymetal ingot-metal, then "
            "pip install ingot-metal", RuntimeWarning, stacklevel=3)


def _become(name):
    path = os.path.join(prefix, "bin", name)
    os.execv(path, [path, *sys.argv[1:]])


def ingot():
    _become("ingot")


def train_siren():
    _become("train_siren")


def mslc():
    _become("mslc")


_warn()
