# SPDX-License-Identifier: Apache-2.0
"""How tensors look: repr() without NumPy."""

LIMIT = 1000  # elements; more are shown by their first and last EDGE along each axis
EDGE = 3
WIDTH = 88


def number(value):
    """A float in at most about eight characters."""
    if isinstance(value, bool) or isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "nan", "inf": "inf", "-inf": "-inf"}[str(value)]
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}."
    if 1e-4 <= abs(value) < 1e6:
        return f"{value:.4f}"
    return f"{value:.4e}"


def corners(x, all_of_it=None):
    """The tensor as nested lists, with None where elements are left out."""
    if all_of_it is None:
        all_of_it = x.size <= LIMIT
    if all_of_it or x.ndim == 0 or (x.ndim == 1 and len(x) <= 2 * EDGE):
        return x.tolist()
    if x.ndim == 1:
        return x[:EDGE].tolist() + [None] + x[-EDGE:].tolist()
    if len(x) <= 2 * EDGE:
        return [corners(row, False) for row in x]
    return ([corners(x[i], False) for i in range(EDGE)] + [None]
            + [corners(x[i], False) for i in range(-EDGE, 0)])


def width(item):
    if isinstance(item, list):
        return max(map(width, item), default=0)
    return 3 if item is None else len(number(item))


def lines(item, size, indent, budget):
    """Nested lists as text: rows that fit stand on one line."""
    if item is None:
        return "..."
    if not isinstance(item, list):
        return number(item).rjust(size)
    if not item:
        return "[]"
    if not any(isinstance(part, list) for part in item):
        parts = [lines(part, size, indent, budget) for part in item]
        result, line = "", ""
        for i, part in enumerate(parts):
            end = "" if i == len(parts) - 1 else ","
            if line and indent + len(line) + len(part) + 2 > budget:
                result += line.rstrip() + "\n" + " " * (indent + 1)
                line = ""
            line += part + end + (" " if end else "")
        return "[" + result + line + "]"
    depth, part = 0, item
    while isinstance(part, list) and part:
        depth, part = depth + 1, next((p for p in part if p is not None), None)
    between = ",\n" + "\n" * max(depth - 2, 0) + " " * (indent + 1)
    return "[" + between.join(lines(part, size, indent + 1, budget) for part in item) + "]"


def show(x):
    """repr(x): the values, and what is not usual about them."""
    name = type(x).__name__.lower()
    data = corners(x)
    text = f"{name}({lines(data, width(data), len(name) + 1, WIDTH)}"
    if 0 in x.shape and len(x.shape) > 1:
        text += f", shape={x.shape}"
    usual = x.dtype.name in ("float32", "int64", "bool")
    if not usual or not x.size:
        text += f", dtype={x.dtype.name}"
    if x.requires_grad:
        text += ", requires_grad=True"
    return text + ")"
