# SPDX-License-Identifier: Apache-2.0
"""names.py: the rule between Metal's names and those of include/ingot: -[MTLDevice
newBufferWithLength:options:] is mtl_device_new_buffer, the field of `mipmapLevelCount` is
mipmap_level_count; and that between Metal's names and Apple's in Swift, where the same is
makeBuffer(length:options:). A row whose name in Swift is another has it as a mark (table.py)."""
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


def low(text):
    """bufferIndex of BufferIndex, gpuStartTime of GPUStartTime."""
    run = re.match(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]+(?![a-z])|[A-Z]", text)
    return run[0].lower() + text[run.end():] if run else text


def makes(cls, head):
    """Whether a message makes an object by Apple's rule, though it does not begin with `new`."""
    return re.match(r"\w*[cC]ommandEncoder(With|$)|commandBuffer(With|$)", head) and cls.endswith(("Buffer", "Queue", "Encoder"))


def swift(cls, method):
    """The rule's name of a method in Swift, as copy(from:to:); a last `error:` throws instead."""
    keys = method.selector.split(":")[:-1] if ":" in method.selector else []
    if keys and keys[-1] == "error":
        keys.pop()
    head, first = keys[0] if keys else method.selector.removesuffix(":"), "_"
    if re.match(r"new[A-Z]", head):
        head = "make" + head[3:]
    elif method.result != "void" and makes(cls, head):
        head = "make" + head[0].upper() + head[1:]
    cut = re.match(r"(.+?)With([A-Z]\w*)$", head) if keys else None
    if cut:
        head, first = cut[1], low(cut[2])
    labels = [first] * bool(keys) + [re.sub(r"^(?:at|with)([A-Z])", lambda m: m[1].lower(), k) for k in keys[1:]]
    return f"{low(head)}({''.join(('url' if x == 'URL' else x) + ':' for x in labels)})"
