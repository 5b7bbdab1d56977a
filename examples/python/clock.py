# SPDX-License-Identifier: Apache-2.0
"""How long a function takes, for the examples and benchmarks."""
import time


def seconds(function, repeats=5):
    """The best of several runs; the first one, which warms up, does not count."""
    function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)
