"""A run looked on at while it goes on: nobody is waited for, nothing is lost that is said once."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from report.chromium import NAMES, PROGRAM, Browser
from report.test_online_page import EFFORT, HOME, KR, RADIUS, arm, head, known, run
from steelyard.finding import Severity
from steelyard.report.online.live import MOST, LiveObserver, LiveView, Snapshot
from steelyard.report.online.page import online_page
from steelyard.safe_learning import Event, JointReading

Letter = tuple[str, dict[str, Any]]


def snapshot(time: float, r_norm: float = 0.2 * RADIUS, **more: Any) -> Snapshot:
    q = HOME + 0.1 * np.sin(time + np.arange(7.0))
    return Snapshot(time, q, q + 1e-4, r_norm, 0.1 * EFFORT, **more)


def event(time: float, sentence: str) -> Event:
    return Event(time, Severity.INFO, sentence)


class Listener:
    """A reader of the stream that is no browser."""

    def __init__(self, url: str) -> None:
        self._answer = urllib.request.urlopen(url + "events", timeout=5)
        self._until = time.monotonic() + 8.0
        assert self._answer.headers["Content-Type"] == "text/event-stream"

    def letters(self) -> Iterator[Letter]:
        kind = "message"
        for line in self._answer:
            assert time.monotonic() < self._until, "it was never told"
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)
                kind = "message"

    def until(self, enough: Any) -> list[dict[str, Any]]:
        """Letters up to the first one that is enough."""
        heard = []
        for _, letter in self.letters():
            heard.append(letter)
            if enough(letter):
                return heard
        raise AssertionError("the stream ended")


@pytest.fixture
def view() -> Iterator[LiveView]:
    with LiveView(head()) as view:
        yield view


def heard(letters: list[dict[str, Any]], name: str) -> list[Any]:
    return [entry for letter in letters for entry in letter[name]]


def test_it_is_served_to_this_machine_alone_and_under_its_own_name_only(view: LiveView) -> None:
    url = urlsplit(view.start())
    assert url.hostname == "127.0.0.1"
    assert url.port is not None
    own = {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {"127.0.0.2", *own} - {"127.0.0.1"}:
        with pytest.raises(OSError), socket.create_connection((address, url.port), timeout=1):
            pass
    for name, path, status in (
        ("127.0.0.1", "/", 200),
        ("localhost", "/", 200),
        ("evil.example", "/", 403),
        ("evil.example", "/events", 403),
        ("127.0.0.1", "/../etc/passwd", 404),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=5)
        connection.request("GET", path, headers={"Host": f"{name}:{url.port}"})
        answer = connection.getresponse()
        assert answer.status == status, (name, path)
        assert answer.getheader("Access-Control-Allow-Origin") is None
        connection.close()


def test_who_comes_late_is_told_every_bound_and_event_in_order(view: LiveView) -> None:
    url = view.start()
    sentences = [f"event {k}" for k in range(60)]
    for k, sentence in enumerate(sentences):
        found = known(0.1 * k, np.full(10, -1.0 / (k + 1)), np.full(10, 2.0)) if k % 20 == 0 else None
        view.publish(snapshot(0.1 * k, events=(event(0.1 * k, sentence),), knowledge=found))
        # Thousands of states in between wash nothing of it away.
        for _ in range(100):
            view.publish(snapshot(0.1 * k + 0.05))
    letters = Listener(url).until(lambda letter: any(e["sentence"] == "event 59" for e in letter["events"]))
    assert [e["sentence"] for e in heard(letters, "events")] == sentences
    bounds = heard(letters, "bounds")
    assert bounds[0]["lower"] == pytest.approx(head().prior.lower)
    assert [b["lower"][0] for b in bounds[1:]] == pytest.approx([-1.0, -1.0 / 21, -1.0 / 41])
    assert bounds[1]["upper"] == [2.0] * 10


def test_what_a_control_loop_says_reaches_the_page_with_the_size_of_its_error(view: LiveView) -> None:
    listener = Listener(view.start())
    observer = LiveObserver(view, HOME, KR)
    observer.learned(known(0.0, np.zeros(10), np.ones(10)))
    observer.happened(event(0.0, "bounds are known"))
    v_ref = np.full(7, 1e-3)
    reading = JointReading(0.001, HOME, np.zeros(7), np.zeros(7))
    observer.cycle(reading, HOME + 1e-4, v_ref, 0.2 * EFFORT)
    observer.happened(event(0.002, "the robot is at rest"))
    closing = threading.Thread(target=observer.finish, args=("",))
    closing.start()
    letters = [letter for kind, letter in listener.letters() if kind == "message"]
    closing.join()
    r = np.linalg.norm(v_ref + KR * np.full(7, 1e-4))
    assert max(size for _, size in heard(letters, "past")) == pytest.approx(r)
    assert [e["sentence"] for e in heard(letters, "events")] == ["bounds are known", "the robot is at rest"]
    assert heard(letters, "bounds")[-1]["upper"] == [1.0] * 10


def test_a_peak_between_two_rounds_is_told(view: LiveView) -> None:
    listener = Listener(view.start())
    for k in range(200):
        view.publish(snapshot(1e-3 * k, 0.97 * RADIUS if k == 57 else 0.1 * RADIUS))
    letters = listener.until(lambda letter: letter["time"] is not None and letter["time"] > 0.198)
    assert max(r for _, r in heard(letters, "past")) == pytest.approx(0.97 * RADIUS)
    assert letters[-1]["peaks"][0] == pytest.approx(0.97)
    assert letters[-1]["shares"] == pytest.approx([0.1, *[0.1] * 7])


def test_the_arm_is_told_where_pinocchio_puts_it(view: LiveView) -> None:
    listener = Listener(view.start())
    told = snapshot(0.5)
    view.publish(told)
    letter = listener.until(lambda letter: letter["time"] is not None)[-1]
    frames = np.array(letter["frames"]).reshape(8, 3, 4)
    judge = PinocchioRobot.of(arm())
    pin.forwardKinematics(judge.model, judge.data, judge.q(told.q))
    for k, joint in enumerate(arm().joint_names, start=1):
        X = judge.data.oMi[judge.model.getJointId(joint)].homogeneous
        assert frames[k] == pytest.approx(X[:3], abs=1e-6)


def test_publishing_waits_for_nobody(view: LiveView) -> None:
    url = urlsplit(view.start())
    # Somebody asks for the stream and never reads it; and whoever tells it hangs.
    with socket.create_connection(("127.0.0.1", url.port)) as deaf:
        deaf.sendall(f"GET /events HTTP/1.0\r\nHost: 127.0.0.1:{url.port}\r\n\r\n".encode())
        with view._mailbox._news:
            teller = threading.Thread(target=lambda: [view.publish(snapshot(1e-3 * k)) for k in range(3000)])
            teller.start()
            teller.join(5.0)
            assert not teller.is_alive()


def test_connections_that_say_nothing_take_few_threads_and_nobodys_place(view: LiveView) -> None:
    url = urlsplit(view.start())
    before = threading.active_count()
    with contextlib.ExitStack() as silent:
        for _ in range(2 * MOST):
            silent.enter_context(socket.create_connection(("127.0.0.1", url.port), timeout=5))
        assert urllib.request.urlopen(url.geturl(), timeout=5).status == 200
        until = time.monotonic() + 10.0
        while threading.active_count() - before > MOST:
            assert time.monotonic() < until, "threads of connections that gave way do not end"
            time.sleep(0.01)


def test_nothing_of_a_wrong_request_is_repeated(view: LiveView) -> None:
    url = urlsplit(view.start())
    with socket.create_connection(("127.0.0.1", url.port), timeout=5) as client:
        client.sendall(b"<script>/ / HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.0 501 ")
    assert b"script" not in answer


def test_before_it_starts_and_after_it_closes_publishing_does_nothing(view: LiveView) -> None:
    view.publish(snapshot(0.0))
    url = view.start()
    view.close()
    view.close()
    view.publish(snapshot(1.0))
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=1)


def test_the_end_is_told_after_all_that_came_before_it(view: LiveView) -> None:
    listener = Listener(view.start())
    view.publish(snapshot(1.0, events=(event(1.0, "the last"),)))
    closing = threading.Thread(target=view.close, kwargs={"words": "Done."})
    closing.start()
    letters = list(listener.letters())
    closing.join()
    assert letters[-1] == ("end", {"words": "Done.", "again": False})
    assert [e["sentence"] for kind, letter in letters if kind == "message" for e in letter["events"]] == [
        "the last"
    ]


@dataclass(frozen=True)
class Address:
    """What the browser opens: an address instead of a file."""

    url: str

    def as_uri(self) -> str:
        return self.url


def eventually(browser: Browser, script: str, value: str) -> None:
    """Ask until the answer is as it should be; while a page is left for another there is none."""
    until = time.monotonic() + 10.0
    seen = None
    while seen != value:
        assert time.monotonic() < until, seen
        time.sleep(0.05)
        with contextlib.suppress(AssertionError):
            seen = browser.value(script)


@pytest.mark.skipif(PROGRAM is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_a_browser_follows_the_run_and_ends_with_its_finished_page(view: LiveView) -> None:
    content = run()
    url = view.start()
    with Browser() as browser:
        browser.open(Address(url), width=1280)  # type: ignore[arg-type]
        for n in range(0, 1600, 20):
            found = content.knowledge[n // 750] if n % 750 == 0 and n else None
            happened = (event(1.0, "halfway"),) if n == 500 else ()
            at = (float(content.time[n]), content.q[n], content.q_ref[n], float(content.r_norm[n]))
            view.publish(Snapshot(*at, content.tau[n], found, happened))
            time.sleep(0.01)
        eventually(browser, "document.getElementById('live-time').textContent", "3.2 s")
        assert browser.complaints == []
        assert browser.requests == [url, url + "events"]
        assert browser.value("document.getElementById('live-state').dataset.status") == "running"
        assert browser.value("document.querySelector('#live-events li div').textContent") == "halfway"
        bars = browser.value(
            "[...document.querySelectorAll('.gauge .part')].map(b => +b.getAttribute('width'))"
        )
        used = [content.r_norm[1580] / RADIUS, *np.abs(content.tau[1580]) / EFFORT]
        assert bars == pytest.approx(100.0 * np.array(used), abs=0.1)
        judge = PinocchioRobot.of(arm())
        pin.forwardKinematics(judge.model, judge.data, judge.q(content.q[1580]))
        heights = [judge.data.oMi[judge.model.getJointId(name)].translation for name in arm().joint_names]
        seen = np.array(
            browser.value(
                "[...document.querySelectorAll('#motion-view .joint')].map(j => "
                "[j.querySelector('title').textContent, +j.getAttribute('cx'), +j.getAttribute('cy')])"
                f".sort((a, b) => {json.dumps(arm().link_names)}.indexOf(a[0]) - "
                f"{json.dumps(arm().link_names)}.indexOf(b[0])).map(row => row.slice(1))"
            )
        )
        # One scale and one shift take what is seen from there to the screen.
        turn, tilt = -0.9, 0.42
        right = np.array([np.cos(turn), -np.sin(turn), 0.0])
        up = np.array([np.sin(tilt) * np.sin(turn), np.sin(tilt) * np.cos(turn), np.cos(tilt)])
        flat = np.column_stack((np.array(heights) @ right, -np.array(heights) @ up))
        flat, drawn = flat - flat.mean(axis=0), seen - seen.mean(axis=0)
        scale = (flat * drawn).sum() / (flat * flat).sum()
        assert scale > 50.0
        assert drawn == pytest.approx(scale * flat, abs=0.2)
        view.close(online_page(content))
        eventually(browser, "document.title", "kinova_gen3: an unknown dumbbell")
        eventually(browser, "document.documentElement.dataset.ready", "yes")
        assert browser.complaints == []
