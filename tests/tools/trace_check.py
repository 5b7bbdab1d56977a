# SPDX-License-Identifier: Apache-2.0
"""Reads a trace as a strict JSON parser and a viewer would: spans of a track nest, times go on."""
import json


class Span:
    def __init__(self, event):
        self.name, self.category = event.get("name"), event.get("cat")
        self.args = dict(event.get("args", {}))
        self.start, self.end = event["ts"], None
        self.children = []


class Trace:
    """tracks: (pid, tid) -> top spans in order. names: (pid, tid) -> the track's name."""

    def __init__(self, path):
        self.events = json.loads(path.read_text())
        self.tracks, self.names, self.processes, stacks = {}, {}, {}, {}
        for e in self.events:
            if e["ph"] == "M":
                kind = self.names if e["name"] == "thread_name" else self.processes
                if e["name"] != "process_labels":
                    kind[e["pid"], e["tid"]] = e["args"]["name"]
                continue
            track = e["pid"], e["tid"]
            if e["ph"] == "B":
                stacks.setdefault(track, []).append(Span(e))
            elif e["ph"] == "E":
                span = stacks[track].pop()  # an end without a beginning fails here
                span.end = e["ts"]
                span.args.update(e.get("args", {}))
                self.close(track, stacks[track], span)
            elif e["ph"] == "X":
                span = Span(e)
                span.end = e["ts"] + e["dur"]
                self.tracks.setdefault(track, []).append(span)
        self.unfinished = [s.name for stack in stacks.values() for s in stack]
        for spans in self.tracks.values():
            self.check(spans)

    def close(self, track, stack, span):
        assert span.end >= span.start, span.name
        siblings = stack[-1].children if stack else self.tracks.setdefault(track, [])
        siblings.append(span)

    def check(self, spans):
        """No two spans of a track overlap unless one holds the other."""
        open_ends = []
        for s in sorted(spans, key=lambda s: (s.start, -s.end)):
            while open_ends and open_ends[-1] <= s.start:
                open_ends.pop()
            assert not open_ends or s.end <= open_ends[-1] + 0.0005, s.name
            open_ends.append(s.end)
            last = s.start
            for c in s.children:
                assert s.start <= c.start and c.end <= s.end and c.start >= last, (s.name, c.name)
                last = c.end
            self.check(s.children)

    def all(self, category):
        def walk(spans):
            for s in spans:
                if s.category == category:
                    yield s
                yield from walk(s.children)
        return [s for spans in self.tracks.values() for s in walk(spans)]
