# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests: Chromium without a window, driven over the DevTools protocol through two pipes, so that
nothing but the browser is needed. Everything waits for what it expects, up to a limit; nothing sleeps and hopes."""
import base64
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LIMIT = 60


class Gone(Exception):
    """The page that was asked is being replaced by another."""


class Browser:
    """One page. `width` and `height` are those of the window."""

    def __init__(self, width=1360, height=860):
        self.home = tempfile.mkdtemp(prefix="ingot-browser-")
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        high = [os.dup(fd) for fd in (to_browser, from_browser)]  # out of the way of 3 and 4

        def places():
            for fd in high:
                os.set_inheritable(fd, True)
            spare = [os.dup2(fd, 60 + i) for i, fd in enumerate(high)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--mute-audio", "--hide-scrollbars", f"--user-data-dir={self.home}", "--remote-debugging-pipe",
             f"--window-size={width},{height}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=places, env={**os.environ, "HOME": self.home})
        for fd in (to_browser, from_browser, *high):
            os.close(fd)
        self.out, self.input, self.rest, self.number, self.events = ours_out, ours_in, b"", 0, []
        self.session = None
        try:
            targets = self.call("Target.getTargets")["targetInfos"]
            page = next(t["targetId"] for t in targets if t["type"] == "page")
            self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.call(domain + ".enable")
            self.size(width, height)
        except BaseException:
            self.close()
            raise

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def call(self, method, **params):
        self.number += 1
        mine = self.number
        message = {"id": mine, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            reply = self.receive(end)
            if reply.get("id") == mine:
                if "error" in reply and re.search("navigated|context", reply["error"]["message"]):
                    raise Gone(reply["error"]["message"])
                assert "error" not in reply, f"{method}: {reply['error']}"
                return reply["result"]
        raise TimeoutError(method)

    def receive(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self.input, 1 << 20)
            assert part, "the browser has ended"
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(message)
        if "method" in message:
            self.events.append(message)
            if message["method"] == "Page.javascriptDialogOpening":
                self.number += 1
                os.write(self.out, json.dumps({"id": self.number, "sessionId": self.session,
                                               "method": "Page.handleJavaScriptDialog",
                                               "params": {"accept": True}}).encode() + b"\0")  # nobody waits for its reply
        return message

    def open(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def js(self, expression):
        """The value of an expression, waited for if it is a promise."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, f"{expression}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def wait(self, expression, limit=LIMIT):
        """Until the expression is true; its value."""
        end = time.monotonic() + limit
        while True:
            try:
                value = self.js(expression)
            except Gone:
                value = None
            if value:
                return value
            if time.monotonic() > end:
                said = self.js("document.body && document.body.innerText.slice(0, 2000)")
                raise AssertionError(f"never: {expression}\n{said}\n{self.errors()}")
            time.sleep(0.03)

    def errors(self):
        """What the page's scripts did wrong, and what the browser refused them."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"])[:600])
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def place(self, selector):
        box = self.wait(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
                        "e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
                        "return b.width ? [b.left, b.top, b.width, b.height] : null; })()")
        return box

    def click(self, selector, x=0.5, y=0.5, count=1):
        left, top, width, height = self.place(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=left + width * x, y=top + height * y,
                      button="left" if kind != "mouseMoved" else "none", clickCount=count)

    def move(self, selector, x, y):
        left, top, width, height = self.place(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width * x, y=top + height * y)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name, modifiers=0):
        """A key by its DOM name; modifiers: 1 alt, 2 control, 8 shift."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
                 "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33, "Backspace": 8, "Delete": 46, " ": 32}
        code = codes.get(name, ord(name.upper()) if len(name) == 1 else 0)
        plain = len(name) == 1 and not modifiers & 3
        extra = {"text": "\r" if name == "Enter" else name} if plain or name == "Enter" and not modifiers else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, modifiers=modifiers, windowsVirtualKeyCode=code,
                      code="Key" + name.upper() if len(name) == 1 and name.isalpha() else name, **(extra if kind == "keyDown" else {}))

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.input)
        shutil.rmtree(self.home, ignore_errors=True)
