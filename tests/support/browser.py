"""Headless Chromium, driven with a real pointer and real keys through its DevTools protocol; the standard library only.

    with Browser(folder) as b:
        b.size(390, 844, dark=True)
        b.open("file:///...")
        b.click("#a"); b.drag((10, 10), (90, 40)); b.key("ArrowRight")
        b.value("document.title")
        b.picture("seen.png")
        b.errors          # what the page threw or wrote to console.error

Skipped(reason) is raised where no Chromium is installed or it does not come up."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time


class Skipped(Exception):
    pass


class Socket:
    """The client's side of a websocket (RFC 6455), texts only."""

    def __init__(self, port, path):
        self.s = socket.create_connection(("127.0.0.1", port), 20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(
            (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.data += self.s.recv(4096)
        self.data = self.data.split(b"\r\n\r\n", 1)[1]

    def send(self, text):
        body, mask = text.encode(), os.urandom(4)
        n = len(body)
        head = b"\x81" + (bytes([128 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536
                          else b"\xff" + struct.pack(">Q", n))
        pad = (mask * (n // 4 + 1))[:n]
        self.s.sendall(head + mask + (int.from_bytes(body, "big") ^ int.from_bytes(pad, "big")).to_bytes(n, "big"))

    def take(self, n):
        while len(self.data) < n:
            more = self.s.recv(1 << 16)
            if not more:
                raise Skipped("Chromium went away")
            self.data += more
        out, self.data = self.data[:n], self.data[n:]
        return out

    def receive(self, seconds):
        self.s.settimeout(seconds)
        text = b""
        while True:
            first, n = self.take(2)
            n &= 127
            if n == 126:
                n = struct.unpack(">H", self.take(2))[0]
            elif n == 127:
                n = struct.unpack(">Q", self.take(8))[0]
            text += self.take(n)
            if first & 128:
                return text.decode()


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    raise Skipped("no Chromium (build-aux/install-deps --tests)")


KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Tab": 9,
        "PageDown": 34, "PageUp": 33, "Home": 36, "End": 35, " ": 32, "Backspace": 8}


class Browser:
    def __init__(self, folder):
        self.folder, self.errors, self.number = folder, [], 0
        self.process = None

    def __enter__(self):
        program, reason = find(), ""
        for attempt in range(4):  # now and then Chromium does not come up
            profile = os.path.join(self.folder, f"profile{attempt}")
            log = open(os.path.join(self.folder, "browser.log"), "wb")
            environment = dict(os.environ, HOME=profile, XDG_CONFIG_HOME=profile + "/c", XDG_CACHE_HOME=profile + "/c")
            os.makedirs(profile, exist_ok=True)
            self.process = subprocess.Popen(
                [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={profile}", "about:blank"],
                stdout=log, stderr=log, env=environment, start_new_session=True)
            until = time.time() + 40
            file = os.path.join(profile, "DevToolsActivePort")
            while time.time() < until and self.process.poll() is None:
                try:
                    port = int(open(file).read().split("\n")[0])
                    self.connect(port)
                    return self
                except (OSError, ValueError, IndexError, Skipped) as problem:
                    reason = str(problem)
                    time.sleep(0.2)
            self.end()
        raise Skipped(f"{program} does not come up: {reason}")

    def connect(self, port):
        s = socket.create_connection(("127.0.0.1", port), 10)
        s.sendall(f"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        s.settimeout(10)
        while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < self.length(answer):
            more = s.recv(65536)
            if not more:
                break
            answer += more
        s.close()
        pages = [p for p in json.loads(answer.split(b"\r\n\r\n", 1)[1]) if p["type"] == "page"]
        url = pages[0]["webSocketDebuggerUrl"]
        self.socket = Socket(port, "/" + url.split("/", 3)[3])
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    @staticmethod
    def length(answer):
        for line in answer.split(b"\r\n\r\n", 1)[0].split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                return int(line.split(b":")[1])
        return 1 << 40

    def end(self):
        if self.process and self.process.poll() is None:
            try:
                os.killpg(self.process.pid, 9)
            except OSError:
                pass
        if self.process:
            self.process.wait()

    def __exit__(self, *_):
        self.end()

    def heard(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.errors.append(d.get("exception", {}).get("description", d.get("text")))
        if method == "Runtime.consoleAPICalled" and p["type"] == "error":
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        if method == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.errors.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive(60))
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.heard(message)

    # ---- what a user does

    def size(self, width, height, dark=False, touch=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(expression + ": " + str(r["exceptionDetails"].get("exception", {}).get("description")))
        return r["result"].get("value")

    def wait(self, expression, seconds=60):
        until = time.time() + seconds
        while time.time() < until:
            try:
                if self.value(expression):
                    return
            except RuntimeError:
                pass  # the page changes
            time.sleep(0.05)
        raise AssertionError(f"never: {expression}; errors of the page: {self.errors}")

    def box(self, selector):
        return self.value(
            f"(function () {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block:"
                          " 'center'}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, "
                          "r.height]; })()")

    def mouse(self, kind, x, y, button="none", buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons,
                  clickCount=0 if kind == "mouseMoved" else 1)

    def drag(self, a, b, steps=6):
        self.mouse("mouseMoved", *a)
        self.mouse("mousePressed", *a, button="left", buttons=1)
        for k in range(1, steps + 1):
            self.mouse("mouseMoved", a[0] + (b[0] - a[0]) * k / steps, a[1] + (b[1] - a[1]) * k / steps, button="left",
                       buttons=1)
        self.mouse("mouseReleased", *b, button="left")

    def click(self, selector):
        x, y, w, h = self.box(selector)
        self.drag((x + w / 2, y + h / 2), (x + w / 2, y + h / 2), 1)

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, key, times=1, shift=False):
        for _ in range(times):
            text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
            for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key],
                          modifiers=8 if shift else 0, **(text if kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def overlap(self):
        """Controls that lie over one another."""
        return self.value("""(function () {
            const all = Array.from(document.querySelectorAll('button, input, label, a, summary'));
            const seen = all.filter(e => e.checkVisibility()), bad = [];
            const boxes = seen.map(e => e.getBoundingClientRect());
            for (let i = 0; i < seen.length; i++) for (let j = i + 1; j < seen.length; j++) {
                if (seen[i].contains(seen[j]) || seen[j].contains(seen[i])) continue;
                const a = boxes[i], b = boxes[j];
                if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
                    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
                    bad.push(seen[i].outerHTML.slice(0, 60) + ' / ' + seen[j].outerHTML.slice(0, 60));
            }
            return bad.slice(0, 3);
        })()""")

    def clashes(self):
        """Texts of figures that lie over one another or end outside their figure."""
        return self.value("""(function () {
            const bad = [];
            document.querySelectorAll('figure > svg').forEach(function (svg) {
                const name = svg.getAttribute('aria-label') || svg.closest('section').id;
                const all = svg.getBoundingClientRect();
                const texts = Array.from(svg.querySelectorAll('text')).filter(t => t.textContent.trim());
                const boxes = texts.map(t => t.getBoundingClientRect());
                boxes.forEach(function (a, i) {
                    if (a.left < all.left - 1 || a.right > all.right + 1 || a.top < all.top - 1 ||
                        a.bottom > all.bottom + 1)
                        bad.push(name + ': "' + texts[i].textContent + '" ends outside');
                    for (let j = i + 1; j < boxes.length; j++) {
                        const b = boxes[j];
                        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * Math.min(a.height, b.height))
                            bad.push(name + ': "' + texts[i].textContent + '" and "' + texts[j].textContent + '"');
                    }
                });
            });
            return bad.slice(0, 5);
        })()""")

    def overflow(self):
        """By how much the page is wider than the window."""
        return self.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")


# ---- a test that drives it ---------------------------------------------------------------------------

PICTURES = os.environ.get("PICTURES")  # a folder: what is seen is kept there
failed = []


def check(true, words):
    if not true:
        failed.append(words)
        print("FAILED:", words)


def picture(b, name, top=False):
    if PICTURES and top:
        b.value("window.scrollTo(0, 0)")
    if PICTURES:
        b.picture(os.path.join(PICTURES, name + ".png"))


def drive(folder, *parts):
    """Runs the parts, functions of the browser, and ends the program: 0, 1 where something failed, 77 without a
    browser."""
    try:
        with Browser(folder) as b:
            for part in parts:
                part(b)
            check(not b.errors, f"errors of the page: {b.errors}")
    except Skipped as reason:
        print("SKIPPED:", reason)
        sys.exit(77)
    sys.exit(1 if failed else 0)
