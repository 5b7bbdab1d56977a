# SPDX-License-Identifier: Apache-2.0
"""The server behind the pages: who may ask, what is refused, and that nothing it is sent ends it."""
import json
import pathlib
import re
import socket
import subprocess
import time

import pytest

from conftest import BUILD, Server, environment


def test_page_and_its_parts(play):
    status, page = play.ask("")
    assert status == 200 and b"<title>Ingot play" in page
    for name in re.findall(rb'(?:src|href)="([\w.]+)"', page):
        status, text = play.ask(name.decode())
        assert status == 200 and text, name
        assert not re.search(rb"https?://(?!127)", text.replace(b"http://www.w3.org", b"")), f"{name} uses the network"


@pytest.mark.parametrize("path", ["/", "/api/start", "/" + "0" * 32 + "/", "/favicon.ico", "//", "/%2e%2e/"])
def test_without_the_token_there_is_nothing(play, path):
    status, data = play.ask(path, whole=True)
    assert (status, json.loads(data)) == (403, {"error": "refused"})


@pytest.mark.parametrize("path", ["../../etc/passwd", "%2e%2e/etc/passwd", "..", "play.html/", "nothing.js", "api/file?../own",
                                  "api/file?examples/../../x", "api/file?own", "api/file?lessons/", "a\\b"])
def test_no_way_out_of_the_pages(play, path):
    status, data = play.ask(path)
    assert status in (403, 404), (status, data[:200])


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 403), ({"Host": "evil.example:80"}, 403), ({"Host": "127.0.0.1"}, 403),
    ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403), ({"Transfer-Encoding": "chunked"}, 501),
    ({"Content-Length": "99999999999"}, 413), ({"Content-Length": "-1"}, 400), ({"Content-Length": "1x"}, 400)])
def test_other_pages_may_not_ask(play, headers, status):
    assert play.ask("api/start", headers=headers)[0] == status


def test_its_own_page_may(play):
    own = f"127.0.0.1:{play.port}"
    for headers in ({"Origin": f"http://{own}"}, {"Origin": f"http://localhost:{play.port}"}, {"Sec-Fetch-Site": "none"},
                    {"Host": f"localhost:{play.port}"}):
        assert play.ask("api/start", headers=headers)[0] == 200, headers


def test_replies_say_what_a_page_may_do(play):
    head = play.raw(f"GET {play.base} HTTP/1.1\r\nHost: 127.0.0.1:{play.port}\r\nConnection: close\r\n\r\n".encode())
    head = head.split(b"\r\n\r\n")[0].decode()
    for line in ("Content-Security-Policy: default-src 'none'; script-src 'self'", "X-Content-Type-Options: nosniff",
                 "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer", "frame-ancestors 'none'"):
        assert line in head, head


@pytest.mark.parametrize("data, status", [
    (b"\r\n\r\n", 400), (b"GET\r\n\r\n", 400), (b"GET / HTTP/1.0\r\n\r\n", 400), (b"\0\0\0\0\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400), (b"A" * 20000, 431),
    (b"DELETE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405)])
def test_what_is_no_request(play, data, status):
    said = play.raw(data)
    assert said.startswith(b"HTTP/1.1 %d " % status), said[:100]


def test_many_connections(play):
    open_ones = [socket.create_connection(("127.0.0.1", play.port)) for _ in range(80)]
    for s in open_ones:
        s.close()
    assert play.ask("api/start")[0] == 200


def test_only_this_machine(play):
    listening = [line.split() for line in open("/proc/net/tcp") if line.split()[3] == "0A"]
    ours = [f[1] for f in listening if int(f[1].split(":")[1], 16) == play.port]
    assert ours == [f"0100007F:{play.port:04X}"]


def test_port_taken(play, cache):
    done = subprocess.run([BUILD / "bin" / "ingot", "play", "--no-browser", "--port", str(play.port)], capture_output=True,
                          text=True, env=environment(cache), timeout=60)
    assert (done.returncode, done.stderr) == (1, f"ingot play: port {play.port} is taken; --port 0 takes any that is free\n")


def test_without_a_desktop_it_says_so(cache):
    server = Server(cache, "play")
    try:
        assert server.process.stderr.readline() == "ingot play: no browser found: open the address above\n"
    finally:
        server.close()


def test_idle_connections_keep_nobody_out(play):
    """More than there are places, all silent: who asks is answered."""
    idle = [socket.create_connection(("127.0.0.1", play.port)) for _ in range(70)]
    try:
        for _ in range(3):
            assert play.ask("")[0] == 200
        idle += [socket.create_connection(("127.0.0.1", play.port)) for _ in range(70)]
        assert play.ask("")[0] == 200
    finally:
        for s in idle:
            s.close()


@pytest.mark.parametrize("command", ["play", "view"])
def test_the_browser_is_not_told_the_token(tmp_path, command):
    """Arguments are for everybody to read: it is given a file that is for its user alone, and finds the server serving."""
    words = [command]
    if command == "view":
        (tmp_path / "a.metal").write_text("kernel void f(device int *x) { x[0] = 1; }\n")
        subprocess.run([BUILD / "bin/ingot", "capture", "-q", "-o", "a.ingottrace", BUILD / "bin/ingot", "run", "a.metal", "f",
                        "--grid", "1", "--arg", "0=i32[1]", "-q"], cwd=tmp_path, env=environment(tmp_path / "c"), check=True)
        words.append(str(tmp_path / "a.ingottrace"))
    script = tmp_path / "bin" / "xdg-open"
    script.parent.mkdir()
    # It does not end before it has seen the page, as a browser in the foreground.
    script.write_text(f"""#!/bin/sh
echo "$@" > {tmp_path}/arguments
stat -c %a "$1" > {tmp_path}/mode
python3 -c 'import re, sys, urllib.request
print(urllib.request.urlopen(re.search("url=([^\\"]*)", open(sys.argv[1]).read())[1]).status)' "$1" > {tmp_path}/seen.part
mv {tmp_path}/seen.part {tmp_path}/seen
""")
    script.chmod(0o755)
    env = {**environment(tmp_path / "c"), "DISPLAY": ":99", "PATH": f"{script.parent}:/usr/bin:/bin"}
    process = subprocess.Popen([BUILD / "bin" / "ingot", *words], stdout=subprocess.PIPE, env=env, text=True)
    try:
        token = re.search("[0-9a-f]{32}", process.stdout.readline())[0]
        deadline = time.monotonic() + 30
        while not (tmp_path / "seen").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (tmp_path / "seen").read_text() == "200\n"
        arguments = (tmp_path / "arguments").read_text().strip()
        assert token not in arguments and (tmp_path / "mode").read_text() == "600\n"
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert not pathlib.Path(arguments).exists()
