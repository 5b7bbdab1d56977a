# SPDX-License-Identifier: Apache-2.0
"""coverage.py: the page that says which methods of Metal work, class by class."""
import collections

STATES = {"ok": "works", "hand": "works", "kept": "remembered", "refused": "refused", "below": "works"}


def page(api, report):
    counts, refused = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    seen = set()
    for cls, selector, state, binding in report:
        if (cls, selector) in seen:
            continue
        seen.add((cls, selector))
        counts[cls][STATES[state]] += 1
        if STATES[state] != "works":
            reason = (binding[8:] if state == "refused" else
                      f"always {binding[7:]}: not needed" if binding.startswith("answer ") else
                      binding[5:] or "no effect")
            refused[cls].append(f"`{selector}` ({reason})")
    total = collections.Counter()
    for c in counts.values():
        total += c
    out = ["# Metal for Objective-C: what is there\n\n",
           "Written by `api/gen/generate.py` from the table of Metal's API in `api`; a test fails\n"
           "when this page and the table differ. *Remembered*: the value can be set and read and changes nothing.\n"
           "*Refused*: the call does nothing and says so, in its error or once on standard error.\n\n",
           f"{len(counts)} classes and protocols, {sum(total.values())} methods: {total['works']} work, "
           f"{total['remembered']} are remembered, {total['refused']} are refused.\n\n",
           "| class | works | remembered | refused | which |\n| --- | --- | --- | --- | --- |\n"]
    for cls in sorted(counts):
        c = counts[cls]
        which = ", ".join(refused[cls])
        out.append(f"| {cls} | {c['works']} | {c['remembered']} | {c['refused']} | {which} |\n")
    return "".join(out)
