"""A browser without a window, steered through a pipe by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next((path for path in map(shutil.which, NAMES) if path), None)

# The protocol reads file descriptor 3 and writes 4. The pipes are moved out of the way first: they may have
# these very numbers, crosswise.
LAUNCHER = """
import fcntl, os, sys
high = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
for fd, number in zip(high, (3, 4)):
    os.dup2(fd, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page of a running browser, with everything it complained about and asked for."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        options = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
            *("--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"),
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(to_browser), str(from_browser), PROGRAM, *options],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._count, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer; events on the way are noted."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def open(self, file: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Show a file in a window of a size, and wait until it is loaded."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints.clear()
        self.requests.clear()
        self._loaded = False
        self.send("Page.navigate", url=file.as_uri())
        while not self._loaded:
            self._next()

    def value(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the left button at one point of the window and release it at another."""
        for kind, (x, y), held in (
            ("mouseMoved", start, 0),
            ("mousePressed", start, 1),
            ("mouseMoved", end, 1),
            ("mouseReleased", end, 0),
        ):
            button = "left" if kind != "mouseMoved" or held else "none"
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=held, clickCount=1
            )

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Save what the page looks like."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._in, 1 << 16)
            assert read, "the browser went away"
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        method, parameters = message.get("method", ""), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(str(parameters["entry"]["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        return message


def open_quietly(browser: Browser, page: Path, *, width: int, dark: bool) -> None:
    """Open a page that draws itself without complaint, asks for nothing else, and fits its width."""
    browser.open(page, width=width, dark=dark)
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    assert browser.value("document.documentElement.dataset.ready") == "yes"
    assert browser.value("document.documentElement.scrollWidth") <= width


def scrub(browser: Browser, time: float) -> None:
    """Move the slider of a page's view to a time, s."""
    browser.value(
        f"{{const m = document.getElementById('moment'); m.value = {time}; "
        "m.dispatchEvent(new Event('input'))}"
    )
