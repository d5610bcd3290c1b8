"""Hostile clients of the page that `online --live` serves: malformed, endless, stalled, many at once.

Each case serves the page of a run, tells it states as a control loop does, and lets some dozen clients
loose. Whatever they say, telling must not wait, nothing but the page and its news may be answered, the
threads stay few, nothing is printed, and a browser that comes afterwards is served.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import struct
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

import numpy as np

from attacks.attack import Attack, Outcome
from steelyard.report.online import LiveView
from steelyard.report.online.content import OnlineHead
from steelyard.report.online.live import MOST, Snapshot
from steelyard.uncertainty import PayloadBox
from steelyard.zoo import zoo_robot
from tables import Bound, Study

CLIENTS, FLOOD = 24, 3 * MOST
GOOD = 0.6
"""Share of the parts of requests that are as they should be."""
SCRIPT = "<script>alert(1)</script>"
METHODS = ("GET", "GET",
    "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "", "G\0T", "M" * 9000, SCRIPT,
    "do_GET", "_head", "__class__",
)  # fmt: skip
PATHS = ("/", "/events",
    "/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd",
    "/events/../../../etc/passwd", "/..\\..\\etc\\passwd", "file:///etc/passwd", "/proc/self/environ",
    "http://evil.example/", "//evil.example/events", "*", "", "/\0", "/%00", "/events%00", "/events?x=1",
    "/#", "/" + "a" * 70_000, "/" + "%" * 5000, f"/{SCRIPT}", "/\r\nSet-Cookie: a=b", "/é☃", "/ /", "/..",
)  # fmt: skip
VERSIONS = ("HTTP/1.1", "HTTP/1.0",
    "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "HTTP/1.1.1", "HTTP/-1.1", "HTTP/1", "", "HTP/1.1",
    "HTTP/" + "9" * 99, SCRIPT, "HTTP/1.１",
)  # fmt: skip
EXTRAS = (
    "Content-Length: 1000000000", "Content-Length: -1", "Content-Length: abc", "Transfer-Encoding: chunked",
    "Expect: 100-continue", "Connection: keep-alive", "Connection: Upgrade\r\nUpgrade: websocket",
    "Origin: http://evil.example", "Range: bytes=0-0", "X: " + "a" * 70_000, "X: " + "a" * 60_000,
    "\r\n".join(f"X-{k}: {k}" for k in range(150)), "no colon", ": no name", " folded: line", "X\0Y: \0",
    "X: é☃", "Accept-Encoding: gzip", "Content-Type: text/html\r\n\r\nGET / HTTP/1.1",
)  # fmt: skip
WAYS = ("whole", "whole", "whole", "slowly", "stalled", "reset", "half closed", "deaf", "twice")
FEW = 2 * MOST
"""Threads that may be there: those of connections that gave way end when they get to it."""
LONGEST_TELLING = 1.0
"""How long telling a state may take on a busy machine, s; it takes microseconds."""
PATIENCE = 10.0
"""How long a good client may wait, s."""


@dataclass(frozen=True)
class Request:
    """One request: its bytes, how they are sent, and whether an answer with content may follow."""

    content: bytes
    way: str
    good: bool


def drawn_request(rng: np.random.Generator, port: int) -> Request:
    """A request of the grammar, good in most of its parts."""
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}",
        "evil.example", f"evil.example:{port}", f"127.0.0.1:{port}.evil.example", "", "127.0.0.1", "[::1]",
        f"evil.example@127.0.0.1:{port}", f"127.0.0.1:{port}\r\nHost: evil.example", "\0", f"0x7f.1:{port}",
    )  # fmt: skip

    def pick(choices: tuple[str, ...]) -> str:
        return choices[int(rng.integers(len(choices)))]

    def part(choices: tuple[str, ...]) -> str:
        return pick(choices[:2] if rng.random() < GOOD else choices)

    method, path, version, host = part(METHODS), part(PATHS), part(VERSIONS), part(hosts)
    lines = [f"{method} {path} {version}"]
    if rng.random() < 0.9:
        lines.append(f"Host: {host}")
    extras = [pick(EXTRAS) for _ in range(int(rng.integers(3)))]
    body = rng.bytes(int(rng.integers(2000))) if rng.random() < 0.3 else b""
    content = "\r\n".join([*lines, *extras]).encode() + b"\r\n\r\n" + body
    if rng.random() < 0.15:
        # Some noise anywhere, or a cut.
        at = int(rng.integers(len(content)))
        content = content[:at] + rng.bytes(int(rng.integers(1, 9))) + content[at + int(rng.integers(9)) :]
    good = method == "GET" and host in hosts[:2] and path.lstrip("/") in ("", "events")
    return Request(content, pick(WAYS), good)


def send(request: Request, port: int) -> bytes:
    """Send a request in its way and take what is answered within a moment."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2.0) as client:
        content = request.content * 2 if request.way == "twice" else request.content
        if request.way in ("stalled", "reset"):
            content = content[: len(content) // 2]
        if request.way == "slowly":
            for k in range(min(len(content), 40)):
                client.sendall(content[k : k + 1])
                time.sleep(0.001)
            content = content[40:]
        client.sendall(content)
        if request.way == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        if request.way == "half closed":
            client.shutdown(socket.SHUT_WR)
        client.settimeout(0.3)
        if request.way == "deaf":
            time.sleep(0.3)
            return b""
        answer, until = b"", time.monotonic() + 0.5
        with contextlib.suppress(TimeoutError):
            while time.monotonic() < until and (more := client.recv(65536)):
                answer += more
        return answer
    return b""


@cache
def _head() -> OnlineHead:
    arm = zoo_robot("kinova_gen3")
    middle = np.array([3.2, 0.01, -0.02, -0.31, 0.045, 0.001, 0.046, 0.002, 0.003, 0.006])
    return OnlineHead(
        title="an unknown load", robot=arm, start=np.zeros(arm.nv), cycle=1.5, control_cycle=1e-3,
        tube_radius=0.016, position_bound=0.003, effort=np.full(arm.nv, 40.0),
        prior=PayloadBox.between(middle - 1.0, middle + 1.0), truth=middle,
        assumptions=("The payload is rigid.",),
    )  # fmt: skip


class _Run:
    """A control loop that tells its states, and knows how long the telling took."""

    def __init__(self, view: LiveView) -> None:
        self._view, self._over, self.longest, self.told = view, threading.Event(), 0.0, 0
        self._thread = threading.Thread(target=self._go, daemon=True)

    def _go(self) -> None:
        q = np.zeros(_head().robot.nv)
        while not self._over.wait(0.005):
            state = Snapshot(0.005 * self.told, q, q, 1e-3, q)
            started = time.perf_counter()
            self._view.publish(state)
            self.longest = max(self.longest, time.perf_counter() - started)
            self.told += 1

    def __enter__(self) -> _Run:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(PATIENCE)


def case(seed: int) -> Outcome:
    """Let clients loose on a page, then ask for it as a browser does."""
    rng = np.random.default_rng(seed)
    wrong: list[str] = []
    printed = io.StringIO()
    statuses: Counter[str] = Counter()
    before, most = threading.active_count(), 0
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        hook, sys.unraisablehook = sys.unraisablehook, lambda lost: printed.write(repr(lost))
        view = LiveView(_head())
        port = urlsplit(view.start()).port or 0
        with _Run(view) as run:
            requests = [drawn_request(rng, port) for _ in range(CLIENTS)]
            answers: dict[int, bytes] = {}

            def client(k: int) -> None:
                answers[k] = send(requests[k], port)

            crowd = [threading.Thread(target=client, args=(k,), daemon=True) for k in range(CLIENTS)]
            for thread in crowd:
                thread.start()
            for thread in crowd:
                thread.join(PATIENCE)
            if any(thread.is_alive() for thread in crowd):
                wrong.append("a client is held for ever")
            for k, answer in sorted(answers.items()):
                statuses[_status(answer)] += 1
                wrong += _leaks(requests[k], answer)
            if flooded := bool(rng.random() < 0.25):
                most = _flood(rng, port, before + 1)
            asked = time.monotonic()
            wrong += _served(port)
            waited = time.monotonic() - asked
            told, until = run.told, time.monotonic() + PATIENCE
            while run.told == told and time.monotonic() < until:
                time.sleep(0.01)
            if run.told == told:
                wrong.append("the run has stopped")
        if run.longest > LONGEST_TELLING:
            wrong.append(f"telling a state took {run.longest:.3f} s")
        if most > FEW:
            wrong.append(f"{most} threads answer {FLOOD} clients")
        closing = time.monotonic()
        view.close("<html>done</html>")
        if (closed := time.monotonic() - closing) > PATIENCE:
            wrong.append(f"closing took {closed:.1f} s")
        sys.unraisablehook = hook
    if printed.getvalue():
        wrong.append(f"it prints: {printed.getvalue()[-300:]}")
    return {
        "statuses": dict(sorted(statuses.items())),
        "flooded": flooded,
        "threads": most,
        "told": told,
        "waited": round(waited, 3),
        "longest_telling": run.longest,
        "violations": wrong,
    }


def _status(answer: bytes) -> str:
    head = answer.split(b"\r\n", 1)[0].split()
    if not answer:
        return "none"
    return head[1].decode(errors="replace") if answer.startswith(b"HTTP/") and len(head) > 1 else "bare"


def _leaks(request: Request, answer: bytes) -> list[str]:
    """What an answer should not hold."""
    wrong = []
    told = request.content[:120]
    if b"root:" in answer or b"PATH=" in answer or b"Traceback" in answer:
        wrong.append(f"{told!r} is answered with what is none of its business")
    if SCRIPT.encode() in answer:
        wrong.append(f"{told!r} is echoed as it is")
    if b"Access-Control-Allow" in answer or b"Set-Cookie" in answer.split(b"\r\n\r\n", 1)[0]:
        wrong.append(f"{told!r} is answered with headers of its own")
    # Noise and pipelining may make a bad request good, never one of a wrong name.
    if _status(answer) == "200" and not request.good and b"evil" in request.content.split(b"\r\n\r\n")[0]:
        wrong.append(f"{told!r} is served")
    return wrong


def _flood(rng: np.random.Generator, port: int, before: int) -> int:
    """Open many connections that say little or listen to nothing; the most threads at any time."""
    crowd, most = [], 0
    beginnings = (
        b"",
        b"G",
        b"GET / HTTP/1.1\r\n",
        f"GET /events HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(),
    )
    for _ in range(FLOOD):
        with contextlib.suppress(OSError):
            client = socket.create_connection(("127.0.0.1", port), timeout=1.0)
            crowd.append(client)
            client.sendall(beginnings[int(rng.integers(len(beginnings)))])
        most = max(most, threading.active_count() - before)
    time.sleep(0.1)
    most = max(most, threading.active_count() - before)
    flood_is_on = _served(port)
    for client in crowd:
        client.close()
    return most if not flood_is_on else most + 10_000


def _served(port: int) -> list[str]:
    """What is wrong with the answers that a browser gets."""
    try:
        for path, kind, start in (("/", "text/html", b"<!"), ("/events", "text/event-stream", b"data: ")):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", path)
            answer = connection.getresponse()
            found = answer.read(len(start))
            if answer.status != 200 or kind not in str(answer.getheader("Content-Type")):
                return [f"a browser asks for {path} and gets {answer.status}"]
            if found.lower() != start.lower():
                return [f"a browser asks for {path} and gets {found!r}"]
            connection.close()
    except OSError as error:
        return [f"a browser gets no answer: {error!r}"]
    return []


def judge(outcomes: list[Outcome]) -> Study:
    """Count what was broken."""
    broken = [item for item in outcomes if item["violations"]]
    statuses: Counter[str] = Counter()
    for item in outcomes:
        statuses.update(item["statuses"])
    lines = [f"- seed {item['seed']}: {'; '.join(item['violations'])}" for item in broken]
    answers = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return Study(
        "Hostile clients of the live page",
        f"{len(outcomes)} pages with {CLIENTS} clients at once each, a quarter of them then flooded with "
        f"{FLOOD} connections; answers by status: {answers}.",
        (
            Bound("promises broken", len(broken), 0),
            Bound("most threads that answer", max(item["threads"] for item in outcomes), FEW),
            Bound("longest wait of a good client, s", max(item["waited"] for item in outcomes), PATIENCE),
            Bound(
                "longest telling of a state, s",
                max(item["longest_telling"] for item in outcomes),
                LONGEST_TELLING,
            ),
        ),
        table="\n".join(lines),
    )


ATTACK = Attack("live_server", "hostile clients of the live page", 80, case, judge, limit=90.0)
