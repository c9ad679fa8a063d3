"""The server of the explorer: what ``xc40io web`` runs."""

from __future__ import annotations

import logging
import re
import secrets
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

import panel as pn
from bokeh.server.server import Server

from xc40io.config.errors import InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Worker
from xc40io.serving.workers import Workers
from xc40io.web.explorer import Explorer
from xc40io.web.front import front_pages
from xc40io.web.gate import LOOPBACK, Gate
from xc40io.web.published import Point
from xc40io.web.rooms import Rooms
from xc40io.web.runs import WARM, Runs

_PREFIX = re.compile(r"(/[\w.~-]+)*")
_EVERYWHERE = ("0.0.0.0", "::")  # what listens on all networks
_OUTSIDE = ("192.0.2.1", 9)  # some address that is not here: kept for documents by RFC 5737
_NICE = 5  # pages go before runs where processors are few
_MESSAGE = 1 << 20  # bytes of a message from a page
_LEFT, _LOOKED = (
    10_000,
    5_000,
)  # ms: when a session without a page ends, and how often that is looked for


class Serving(NamedTuple):
    """How the explorer is served."""

    address: str  # where it listens
    port: int  # 0: any that is free
    prefix: str  # of all its addresses: ``/tools/xc40io``; or nothing
    origins: Sequence[str]  # other hosts whose pages may open a websocket: ``hub.example.org``
    token: str  # that everybody needs; empty: nobody does
    sessions: int  # pages that may be open at the same time
    pages: int  # those of one visitor among them
    idle: float  # seconds after which a page on which nothing happens is closed
    at_once: int  # runs at the same time; others wait

    @property
    def shared(self) -> bool:
        """Whether others than the user of this machine may come."""
        return bool(self.token or self.origins)


def serve(
    serving: Serving, limits: Limits, points: Sequence[Point], ready: Callable[[str], None]
) -> None:
    """Serve until somebody interrupts it; ``ready`` is called with the address once it listens.

    Raises
    ------
    InputError
        If it may not listen there without a token, or cannot.
    """
    check(serving)
    _be_quiet()
    start = partial(Worker, WARM, _NICE)
    each = 1 if serving.shared else None  # run of a visitor at the same time
    workers = Workers(limits, serving.at_once, 1, each=each, start=start, warm=True)
    server = make_server(serving, workers, points)
    loop = server.io_loop
    with workers:
        signal.signal(signal.SIGTERM, lambda *_: loop.add_callback_from_signal(loop.stop))
        server.start()
        ready(f"http://{_named(serving.address)}:{server.port}{server.prefix}/")
        loop.start()
        server.stop()


def check(serving: Serving) -> None:
    """Raise InputError if it may not be served so."""
    if serving.address not in LOOPBACK and not serving.token:
        raise InputError(
            f"--address {serving.address}: other computers could reach the explorer; right would "
            "be a --token beside it, or no --address"
        )
    if _PREFIX.fullmatch(serving.prefix) is None:
        raise InputError(
            f"--prefix {serving.prefix}: right would be letters, digits, _, - and . between "
            "slashes, as /tools/xc40io"
        )


def make_server(serving: Serving, workers: Workers, points: Sequence[Point]) -> Server:
    """Return the server, which has runs made by workers.

    Raises
    ------
    InputError
        If the system does not let it listen there.
    """
    rooms = Rooms(serving.sessions, serving.pages)
    runs = Runs(workers)

    def page() -> pn.Template:  # Panel asks for a plain function
        return _page(runs, points, rooms, serving.idle)

    options: dict[str, Any] = {
        "prefix": serving.prefix,
        "auth_provider": Gate(serving.token, rooms, proxied=bool(serving.origins)),
        "websocket_max_message_size": _MESSAGE,
        "secret_key": secrets.token_urlsafe(),
        "sign_sessions": True,  # a session is made for a page that was sent, and for no other
        "unused_session_lifetime_milliseconds": _LEFT,
        "check_unused_sessions_milliseconds": _LOOKED,
    }
    port = serving.port or _free_port(serving.address)
    try:
        server = pn.io.server.get_server(
            {"/": page},
            port=port,
            address=serving.address,
            websocket_origin=[*serving.origins, *_own_origins(serving.address, port)],
            title={"/": "xc40io explorer"},
            show=False,
            start=False,
            **options,
        )
    except ValueError as error:
        raise InputError(
            f"--allow-websocket-origin: {error}; right would be a host, as hub.example.org or "
            "hub.example.org:8443"
        ) from error
    except OSError as error:
        raise InputError(
            f"--address {serving.address} --port {port}: {error.strerror or error}; right would be "
            "another --port, as 5007, or 0 for any that is free"
        ) from error
    front_pages(server)
    return server


def _free_port(address: str) -> int:
    """Return a port that is free: the server must know it before it listens, to know its name."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as one:
        one.bind((address, 0))
        return int(one.getsockname()[1])


def _page(runs: Runs, points: Sequence[Point], rooms: Rooms, idle: float) -> pn.Template:
    """Return the page of a new session."""
    asked = pn.state.session_args
    query = urlencode([(name, each.decode()) for name, values in asked.items() for each in values])
    document = pn.state.curdoc
    assert document is not None
    assert document.session_context is not None  # it is of a session
    visitor = rooms.move_in(document.session_context.id, document)
    return Explorer(runs.of(visitor), points, query, idle).page()


def _own_origins(address: str, port: int) -> list[str]:
    """Return the hosts that this server itself is known by."""
    hosts = dict.fromkeys((*_names(address), *LOOPBACK) if address not in LOOPBACK else LOOPBACK)
    return [f"{host}:{port}" for host in hosts if ":" not in host]  # Bokeh knows no IPv6 here


def _names(address: str) -> list[str]:
    """Return by what other computers know where the server listens, the surest first.

    On all networks that is what this computer is called, and its address in the network that leads
    to others; nothing is sent to find it out.
    """
    if address not in _EVERYWHERE:
        return [address]
    names = [socket.gethostname(), socket.getfqdn()]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(_OUTSIDE)
        names.insert(0, one.getsockname()[0])
    return names


def _named(address: str) -> str:
    """Return an address as it stands in a URL."""
    name = _names(address)[0]
    return f"[{name}]" if ":" in name else name


def _be_quiet() -> None:
    """Let the server say on standard error what goes wrong, and nothing else."""
    for name in ("bokeh", "tornado.access", "tornado.application"):
        logging.getLogger(name).setLevel(logging.ERROR)
