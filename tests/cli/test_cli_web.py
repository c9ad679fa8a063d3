"""``xc40io web``: how it ends when it cannot serve, and when it has served."""

from __future__ import annotations

import signal
import socket
import sys
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from explorers import served


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--address", "0.0.0.0"), "right would be a --token beside it, or no --address"),
        (("--prefix", "tools"), "--prefix tools: right would be"),
        (("--allow-websocket-origin", "a:b:c"), "right would be a host, as hub.example.org"),
        (("--sessions", "0"), "--sessions"),
    ],
)
def test_what_cannot_be_ends_in_a_sentence(xc40io, monkeypatch, options, said):
    monkeypatch.delenv("XC40IO_WEB_TOKEN", raising=False)
    answer = xc40io("web", *options)
    assert answer.exit_code == 2
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_port_that_is_taken_is_told(xc40io):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = xc40io("web", "--port", str(port))
    assert answer.exit_code == 2
    assert f"--port {port}: " in answer.stderr
    assert "right would be another --port" in answer.stderr


def test_without_panel_it_says_what_to_install(xc40io, monkeypatch):
    monkeypatch.delitem(sys.modules, "xc40io.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "panel", None)
    answer = xc40io("web")
    assert answer.exit_code == 1
    assert "pip install 'xc40io[web]'" in answer.stderr


def test_it_serves_until_it_is_interrupted(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
    with served("--token", "new", "--at-once", "1", "--prefix", "/x") as one:
        assert one.process.stderr is not None
        assert "/user/ada/proxy/" in one.process.stderr.readline()
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(one.url) as answer:  # with the token
            assert b"xc40io explorer" in answer.read()
            assert "token" not in answer.url
        one.process.send_signal(signal.SIGINT)
        assert one.process.wait(120) in (0, 130)
        assert "Traceback" not in one.process.stderr.read()
