"""Requests of strangers to `homodyne view`: view_attack.py URL FOLDER [SECONDS]

Asked with wrong tokens, other hosts, other pages, paths outside, wrong bodies; then SECONDS (3) of random and damaged
requests.  It must answer as it should, go on, and write nothing outside FOLDER."""

import os
import random
import socket
import sys
import time

url, folder = sys.argv[1:3]
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 3
port, token = int(url.split(":")[2].split("/")[0]), url.rstrip("/").split("/")[-1]
failed = 0


def send(data, wait=20):
    s = socket.create_connection(("127.0.0.1", port), wait)
    answer = b""
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        while True:
            more = s.recv(65536)
            if not more:
                break
            answer += more
    except OSError:
        pass
    finally:
        s.close()
    return answer


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def request(method="GET", path=None, host=f"127.0.0.1:{port}", body=None, **headers):
    path = f"/{token}/" if path is None else path
    lines = [f"{method} {path} HTTP/1.1"] + ([f"Host: {host}"] if host is not None else []) + ["Connection: close"]
    lines += [f"{k.replace('_', '-')}: {v}" for k, v in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def want(code, words, **how):
    global failed
    got = status(send(request(**how)))
    if got != code:
        failed += 1
        print(f"FAILED: {words}: status {got}, not {code}")


def post(path, body, code, words, **more):
    want(code, words, method="POST", path=f"/{token}/{path}", body=body, Content_Type="application/json", **more)


def known():
    wrong = ("0" if token[0] != "0" else "1") + token[1:]
    want(200, "its page")
    want(200, "its state", path=f"/{token}/api/state")
    want(200, "through a tunnel, with another port", host="localhost:9999")
    want(404, "a wrong token", path=f"/{wrong}/")
    want(404, "no token", path="/")
    want(404, "half a token", path=f"/{token[:16]}/")
    want(404, "nothing behind the token", path=f"/{token}")
    for host in ("example.org", f"example.org:{port}", "127.0.0.1.example.org", "localhost.example.org",
                 "127.0.0.1:80x", "0.0.0.0", "127.0.0.1@example.org"):
        want(403, "the host " + host, host=host)
    want(400, "no host", host=None)
    for origin in ("http://example.org", "null", "https://127.0.0.1", "http://127.0.0.1.example.org"):
        want(403, "a page of " + origin, Origin=origin)
    want(200, "its own page", path=f"/{token}/api/state", Origin=f"http://127.0.0.1:{port}")
    for path in ("../../etc/passwd", "report/../../../etc/passwd", "report/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                 "api/live/..", "api/live/.x",
                 "report//etc/passwd", "..%2f", "api/live/nothing", "fit.json", "api/live/" + "a" * 500):
        want(404, "the path " + path, path=f"/{token}/{path}")
    for method in ("PUT", "DELETE", "POST", "OPTIONS"):
        want(405, method, method=method)
    want(405, "a fit by GET", path=f"/{token}/api/fit")
    want(400, "a fit that a form sends", method="POST", path=f"/{token}/api/fit", body=b"q=1",
         Content_Type="application/x-www-form-urlencoded")
    post("api/write", b"{", 400, "half of JSON")
    post("api/write", b"[1]", 400, "no object")
    for name in ("../x", "/tmp/x", ".hidden", "a b", "-o", "x/y", "", "a" * 200):
        post("api/write", b'{"name": "%s"}' % name.encode(), 400 if name else 200, "the name " + name) if name else None
    post("api/write", b'{"parameters": [{"name": "D0 --output=/tmp/x", "start": 1}]}', 400, "options in a name")
    post("api/fit", b'{"frames": [1, "2 --output-dir=/tmp"]}', 400, "options in a number")
    post("api/fit", b'{"mask": [[9, 3]]}', 400, "a mask from back to front")
    post("api/data", b'{"phi": [0], "frames": [1, 1e99]}', 400, "frames beyond all files")
    post("api/data", b'{"x": "' + b"a" * 70000 + b'"}', 413, "a long body")


def damaged(r):
    good = [request(), request(path=f"/{token}/api/state"), request(path=f"/{token}/api/live/fit-1"),
            request("POST", f"/{token}/api/write",
                    body=b'{"frames": [1, 5], "mask": [[2, 3]], "name": "../x", "phi": [null]}',
                    Content_Type="application/json"),
            request("POST", f"/{token}/api/data", body=b'{"q": "x", "parameters": [{"name": "D0", "start": "1"}]}',
                    Content_Type="application/json"), os.urandom(200)]
    data = bytearray(r.choice(good))
    for _ in range(r.randint(1, 12)):
        at, kind = r.randrange(len(data) + 1), r.randrange(4)
        if kind == 0 and at < len(data):
            data[at] = r.randrange(256)
        elif kind == 1:
            data[at:at] = os.urandom(r.randint(1, 40))
        elif kind == 2:
            del data[at:at + r.randint(1, 30)]
        else:
            data[at:at] = r.choice([b"../", b"%2e%2e/", b"\r\n\r\n", b"\0", b"[" * 300, b'"', b"-1", b"1e999",
                                    b"Host: x\r\n"])
    return bytes(data)


def fuzz():
    r, until, count = random.Random(1), time.time() + seconds, 0
    while time.time() < until:
        send(damaged(r), 0.05)
        count += 1
    return count


def files(where):
    return {os.path.join(d, f) for d, _, names in os.walk(where) for f in names if not d.startswith(folder)}


parent = os.path.dirname(folder)
before = files(parent)
known()
count = fuzz()
for _ in range(60):  # what was asked for is still being answered
    if status(send(request())) == 200:
        break
    time.sleep(1)
want(200, "its page after all that")
new = {f for f in files(parent) - before if "browser" not in f and "profile" not in f}
if new:
    failed += 1
    print("FAILED: written outside the folder:", sorted(new)[:5])
for address in open("/proc/net/tcp"):
    word = address.split()
    if word[0] != "sl" and word[3] == "0A" and int(word[1].split(":")[1],
                                                   16) == port and word[1].split(":")[0] != "0100007F":
        failed += 1
        print("FAILED: it listens on", word[1])
print(f"{count} damaged requests")
sys.exit(1 if failed else 0)
