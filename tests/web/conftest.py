# SPDX-License-Identifier: Apache-2.0
"""Starts `ingot play` and `ingot view` of the build tree ($INGOT_BUILD), talks to them as a browser would and as a
stranger might, and opens them in a real browser where there is one."""
import http.client
import json
import os
import pathlib
import re
import socket
import struct
import subprocess

import pytest

from browser import BROWSER, Browser

BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", "build")).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def environment(cache):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_", "MTL_", "DISPLAY", "WAYLAND"))}
    return {**env, "INGOT_CACHE_DIR": str(cache)}


class Server:
    """A running command that serves a page."""

    def __init__(self, cache, *args):
        self.process = subprocess.Popen([BUILD / "bin" / "ingot", *map(str, args)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment(cache))
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.address)
        if not found:
            self.close()
            raise AssertionError(f"no address but {self.address!r}; {self.process.stderr.read()}")
        self.port, self.base = int(found[1]), found[2]

    def ask(self, path, body=None, method=None, headers=None, whole=False):
        """Status and body of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method or ("GET" if body is None else "POST"), path if whole else self.base + path, body,
                           headers or {})
        reply = connection.getresponse()
        data = reply.read()
        connection.close()
        return reply.status, data

    def raw(self, data):
        """What the server answers to bytes; b'' if it just ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as s:
            s.sendall(data)
            out = b""
            while part := s.recv(65536):
                out += part
        return out

    def compile(self, source):
        status, data = self.ask("api/compile", source)
        assert status == 200, data
        return json.loads(data)

    def run(self, program, **settings):
        """JSON and bytes of one run."""
        status, data = self.ask("api/run", json.dumps({"program": program["program"], **settings}))
        assert status == 200, data
        n, = struct.unpack("<I", data[:4])
        return json.loads(data[4:4 + n]), data[4 + n:]

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def play(cache):
    server = Server(cache, "play", "--no-browser")
    yield server
    assert server.process.poll() is None, "the server is gone"
    server.close()
    assert server.process.returncode == 0, server.process.returncode


@pytest.fixture(scope="session")
def browser():
    if not BROWSER:
        pytest.skip("there is no chromium here (scripts/bootstrap installs it)")
    b = Browser()
    yield b
    b.close()
