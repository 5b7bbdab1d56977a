# SPDX-License-Identifier: Apache-2.0
"""names.py: the rule between Metal's names and those of include/ingot: -[MTLDevice
newBufferWithLength:options:] is mtl_device_new_buffer, the field of `mipmapLevelCount` is
mipmap_level_count."""
import re

WORDS = r"(GPU|CPU|URL|ID|IO|LOD|SIMD|CG|RGB|BGR)(?=[A-Z]|$|s$|s[A-Z])"


def snake(name):
    name = re.sub(WORDS, lambda m: m[1].capitalize(), name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([123])_d\b", r"\1d", name.lower())


def prefix(cls):
    for start, short in (("MTL4", "mtl4_"), ("MTL", "mtl_"), ("CA", "ca_")):
        if cls.startswith(start):
            return short + snake(cls[len(start):]) + "_"
    return snake(cls) + "_"


def implied(cls, selector):
    """Names of the C function that a row without a binding stands for, the best one first."""
    keys = [k for k in selector.split(":") if k]
    first = snake(keys[0])
    out = [first, re.sub(r"_with_.*", "", first), re.sub(r"^is_", "", first),
           first + "".join("_" + snake(k) for k in keys[1:])]
    return [prefix(cls) + name for name in dict.fromkeys(out)]
