# SPDX-License-Identifier: Apache-2.0
"""candle-metal-kernels, the Metal kernels of Hugging Face's candle, with its own tests: 0.9.1 on the crate `metal`, with
Objective-C exceptions caught; 0.11.0 on `objc2-metal`, whose debug builds check the type encoding of every message."""


def run(p):
    p.version = "0.9.1, 0.11.0"
    for version, binding in (("0.9.1", "metal"), ("0.11.0", "objc2-metal")):
        p.cargo_tests(f"candle-metal-kernels {version}, over {binding}", p.crate("candle-metal-kernels", version))
