"""Who may come in, and under which address: the server as a browser without a screen meets it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode, urljoin

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.websocket import websocket_connect
from visitors import Visitor

from xc40io.config.errors import InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.workers import Workers
from xc40io.web.gate import COOKIE
from xc40io.web.server import Serving, check, make_server

TOKEN = "not a secret of anybody"
PLAIN = Serving(
    address="127.0.0.1",
    port=0,
    prefix="",
    origins=(),
    token="",
    sessions=9,
    pages=9,
    idle=60.0,
    at_once=1,
)

Asked = Callable[..., Awaitable[HTTPResponse]]


def asking(work: Callable[[Asked, int], Awaitable[None]], **serving: Any) -> None:
    """Do something with a server: ``work`` gets a function that asks it, and its port."""

    async def begin() -> None:
        with Workers(Limits(), 1, 1) as workers:
            server = make_server(PLAIN._replace(**serving), workers, [])
            server.start()

            async def ask(path: str, **options: Any) -> HTTPResponse:
                request = HTTPRequest(
                    f"http://127.0.0.1:{server.port}{path}", follow_redirects=False, **options
                )
                return await AsyncHTTPClient().fetch(request, raise_error=False)

            try:
                await work(ask, server.port)
            finally:
                server.stop()

    asyncio.run(begin())


def test_with_a_token_nobody_enters_without_it():
    async def work(ask: Asked, port: int) -> None:
        for path in ("/", "/?nodes=4", "/?token=wrong", "/autoload.js?bokeh-autoload-element=1"):
            answer = await ask(path)
            assert answer.code == 302
            outside = await ask(urljoin("/", answer.headers["Location"]))
            assert outside.code == 403
            assert b"token" in outside.body
            assert TOKEN.encode() not in outside.body
        with pytest.raises(HTTPClientError):
            await websocket_connect(f"ws://127.0.0.1:{port}/ws")

    asking(work, token=TOKEN)


def test_the_token_comes_once_and_leaves_the_address():
    async def work(ask: Asked, _port: int) -> None:
        asked = urlencode({"nodes": 4, "token": TOKEN})
        to_the_door = await ask(f"/?{asked}")
        inside = await ask(urljoin("/", to_the_door.headers["Location"]))
        assert inside.headers["Location"] == "./?nodes=4"
        cookie = inside.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert TOKEN not in cookie
        page = await ask("/?nodes=4", headers={"Cookie": cookie.partition(";")[0]})
        assert page.code == 200
        assert b"xc40io explorer" in page.body
        typed = await ask("/enter?nodes=4", method="POST", body=urlencode({"token": TOKEN}))
        assert typed.headers["Location"] == "./?nodes=4"

    asking(work, token=TOKEN)


def test_there_is_room_for_so_many_and_a_page_outside_for_others():
    async def work(ask: Asked, port: int) -> None:
        guest = Visitor(f"http://127.0.0.1:{port}")
        late = (await guest.ask("/")).body.decode()
        for _ in range(2):
            await guest.open()
        assert (await ask("/")).headers["Location"].startswith("./full")
        with pytest.raises(HTTPClientError, match="403"):  # room was there when it was sent
            await guest.follow(late)
        full = await ask("/full?nodes=4")
        assert full.code == 503
        assert b"./?nodes=4" in full.body

    asking(work, sessions=2)


def test_pages_that_nobody_looks_at_take_no_room():
    async def work(ask: Asked, port: int) -> None:
        assert {(await ask("/")).code for _ in range(50)} == {200}
        assert (await ask("/autoload.js?bokeh-autoload-element=1")).code == 404
        await Visitor(f"http://127.0.0.1:{port}").open("?nodes=4")

    asking(work, sessions=1)


def test_who_has_many_pages_open_leaves_room_for_others():
    async def work(ask: Asked, port: int) -> None:
        greedy, other = (Visitor(f"http://127.0.0.1:{port}") for _ in range(2))
        await greedy.sign_in(TOKEN)
        ticket = greedy.cookie
        for _ in range(2):
            await greedy.open()
        assert (await greedy.ask("/")).headers["Location"].startswith("./many")
        assert b"one visitor" in (await ask("/many")).body
        again = await greedy.ask(f"/enter?{urlencode({'token': TOKEN})}")
        assert "Set-Cookie" not in again.headers  # to sign in again makes nobody of it
        await other.sign_in(TOKEN)
        assert other.cookie != ticket
        await other.open()

    asking(work, token=TOKEN, pages=2)


def test_behind_a_proxy_each_address_is_a_visitor():
    async def work(ask: Asked, port: int) -> None:
        guest = Visitor(f"http://127.0.0.1:{port}")
        await guest.open()
        asked = [{}, {"X-Forwarded-For": "10.0.0.1"}, {"X-Forwarded-For": "10.0.0.1, 127.0.0.1"}]
        assert [(await ask("/", headers=one)).code for one in asked] == [302, 200, 302]

    asking(work, pages=1, origins=("hub.example.org",))


def test_a_cookie_that_is_none_shows_the_door():
    async def work(ask: Asked, _port: int) -> None:
        for value in (
            b"\xe9",
            b"a.b.c",
            b"\xff.\xff.\xff",
            b"a.99999999999999.",
            b"..",
            b"9" * 4000,
        ):
            headers = {"Cookie": f"{COOKIE}={value.decode('latin-1')}"}
            for path in ("/", "/ws"):
                assert (await ask(path, headers=headers)).code in (302, 400, 403)

    asking(work, token=TOKEN)


def test_who_left_has_to_sign_in_again():
    async def work(_ask: Asked, port: int) -> None:
        guest = Visitor(f"http://127.0.0.1:{port}")
        await guest.sign_in(TOKEN)
        assert (await guest.ask("/")).code == 200
        assert (await guest.ask("/leave")).code == 200
        assert (await guest.ask("/")).headers["Location"].startswith("./enter")

    asking(work, token=TOKEN)


def test_wrong_tokens_are_soon_not_looked_at():
    async def work(ask: Asked, _port: int) -> None:
        codes = [(await ask("/enter?token=wrong")).code for _ in range(8)]
        assert codes[0] == 403
        assert codes[-1] == 429
        late = await ask(f"/enter?{urlencode({'token': TOKEN})}")
        assert late.code == 429
        assert b"Try again in" in late.body

    asking(work, token=TOKEN)


def test_under_a_prefix_everything_is_found_and_nothing_outside_of_it():
    async def work(ask: Asked, _port: int) -> None:
        page = (await ask("/tools/xc40io/")).body.decode()
        links = [piece.split('"')[0] for piece in page.split('src="')[1:]]
        assert links
        assert all(not link.startswith(("/", "http")) for link in links)  # of any proxy's prefix
        for link in links:
            assert (await ask(f"/tools/xc40io/{link}")).code == 200
        assert (await ask("/")).code == 404

    asking(work, prefix="/tools/xc40io")


def test_a_page_of_another_host_opens_no_websocket():
    async def work(_ask: Asked, port: int) -> None:
        url = f"ws://127.0.0.1:{port}/ws"
        request = HTTPRequest(url, headers={"Origin": "http://evil.example"})
        with pytest.raises(HTTPClientError, match="403"):
            await websocket_connect(request)
        known = HTTPRequest(url, headers={"Origin": "https://hub.example.org"})
        (await websocket_connect(known, subprotocols=["bokeh", "none"])).close()

    asking(work, origins=("hub.example.org",))


def test_a_link_that_says_nonsense_opens_the_page_all_the_same():
    async def work(ask: Asked, _port: int) -> None:
        for query in ("nodes=x", "machine=/etc/passwd&%00=%ff"):
            assert (await ask(f"/?{query}")).code == 200

    asking(work)


def test_only_this_machine_is_served_without_a_token():
    check(PLAIN)
    check(PLAIN._replace(address="0.0.0.0", token=TOKEN))
    with pytest.raises(InputError, match="right would be a --token"):
        check(PLAIN._replace(address="0.0.0.0"))


def test_a_port_that_is_taken_and_a_host_that_is_none_are_refused_in_a_sentence():
    async def work(_ask: Asked, port: int) -> None:
        with Workers(Limits(), 1, 1) as workers:
            with pytest.raises(InputError, match=f"--port {port}: .* right would be another"):
                make_server(PLAIN._replace(port=port), workers, [])
            with pytest.raises(
                InputError, match=r"--allow-websocket-origin: .*right would be a host"
            ):
                make_server(PLAIN._replace(origins=("a:b:c",)), workers, [])

    asking(work)


def test_on_all_networks_the_link_and_the_websocket_have_a_name_that_others_know() -> None:
    async def work(_ask: Asked, _port: int) -> None:
        with Workers(Limits(), 1, 1) as workers:
            server = make_server(PLAIN._replace(address="0.0.0.0", token=TOKEN), workers, [])
            origins = server._tornado.websocket_origins
            assert f"{socket.gethostname()}:{server.port}" in origins
            server.stop()

    asking(work)
