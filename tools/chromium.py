"""A page in headless Chromium, spoken to over the pipe of its DevTools protocol.

Nothing is needed but the browser: Debian's package ``chromium``, or another one that ``CHROMIUM``
names.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # as root, in a container, Chromium has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)

_PATIENCE = 120  # seconds
_ASIDE = 10  # the least number of a copy of a pipe's end, out of the way of those it replaces


def chromium() -> str | None:
    """Return the path of the browser, or None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """A running browser with one page.

    Attributes
    ----------
    requests
        The URLs that it asked for, ``data:`` aside.
    messages
        What it has to say: errors and warnings of the page, exceptions of scripts.
    """

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.messages: list[str] = []
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        program = chromium()
        assert program is not None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()

        def as_three_and_four() -> None:
            aside = [fcntl.fcntl(end, fcntl.F_DUPFD, _ASIDE) for end in (their_in, their_out)]
            for end, wanted in zip(aside, (3, 4), strict=True):
                os.dup2(end, wanted)

        self._process = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=as_three_and_four,
        )
        os.close(their_in)
        os.close(their_out)
        self._out, self._in = os.fdopen(our_out, "wb"), os.fdopen(our_in, "rb")
        self._buffer = b""
        self._session = ""
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in pages if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE)
        self._out.close()
        self._in.close()
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something and return the answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def open(
        self, page: Path, width: int = 1280, height: int = 800, *, media: str = "", **features: str
    ) -> None:
        """Show a file in a window of a size.

        ``media`` is ``print`` for paper; ``features`` are those of CSS, such as
        ``prefers_color_scheme="dark"``.
        """
        self.requests.clear()
        self.messages.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        asked = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", media=media, features=asked)
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._read()

    def press(self, key: str, number: int) -> None:
        """Press a key, by its name and by the number that Windows has for it."""
        words = {"key": key, "code": key, "windowsVirtualKeyCode": number}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **words, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **words)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write what the page looks like as PNG: all of it, or what the window shows."""
        clip = self._clip() if whole else {}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **clip)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print(self, path: Path) -> None:
        """Write what comes out of a printer as PDF, on A4."""
        answer = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _read(self) -> dict[str, Any]:
        """Return the next message, and note what it tells."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], _PATIENCE)
            assert ready, f"the browser has said nothing for {_PATIENCE} s"
            piece = os.read(self._in.fileno(), 1 << 16)
            assert piece, "the browser has gone"
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self._note(message)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, told = event["method"], event.get("params", {})
        self._events.append(event)
        if method == "Network.requestWillBeSent":
            url = told["request"]["url"]
            self.requests += [] if url.startswith("data:") else [url]
        elif method == "Log.entryAdded":
            self.messages.append(told["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.messages.append(json.dumps(told))

    def _clip(self) -> dict[str, Any]:
        """Return the whole page as the part of it that is to be seen."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        area = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        return {"clip": area}
