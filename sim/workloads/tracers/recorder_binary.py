"""Reads Recorder 3's own files: a folder with ``VERSION``, ``recorder.mt`` and what they name.

A rank's calls are a grammar (*CFG*): rules, each a list of symbols with how often each comes; the
symbols from 0 up are signatures (*CST*) of calls with their arguments. The times of the calls, in
their order, stand apart: of each call the ticks since the begin of the call before until it began
and until it ended. Ranks may share signatures and grammars. All integers are little-endian.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.files import Kind, bytes_of, check_size
from xc40io.config.reading import reading
from xc40io.workloads.tracers.call import Call, Process, Recording, Told
from xc40io.workloads.tracers.limits import MOST_CALLS, TRACER
from xc40io.workloads.tracers.recorder_text import call_of

_PACKED = Kind(TRACER.place, 1 << 28)
_HEAD = struct.Struct("<i8?4xddi4?")  # of recorder.mt; names of functions follow after 1,024 bytes
_NAMES_FROM = 1024
_BLOCK = struct.Struct("<QQ")  # before what zlib has packed: bytes of it, packed and unpacked
_SIGNATURE = struct.Struct("<iiii")  # number, rank, bytes of the key, calls
_KEYS = (struct.Struct("<QiBBi"), struct.Struct("<QBBBi"))  # thread, function, depth, words, bytes
_START = -1  # the rule that makes all calls of a rank

_Symbols = npt.NDArray[np.int32]
_Rules = dict[int, _Symbols]  # (symbols, 2): which, how often


class _About(NamedTuple):
    """What ``recorder.mt`` says."""

    ranks: int
    tick: float  # seconds
    times_packed: bool
    shared: bool  # whether ranks share signatures and grammars
    functions: list[str]


def read_native(folder: Path) -> Recording:
    """Read a folder; InputError names the file that cannot be read."""
    told = Told()
    with reading(folder, "what Recorder 3 writes; recorder2text makes a text of all versions"):
        version = bytes_of(folder / "VERSION", _PACKED).decode("ascii", "replace").strip()
        if not version.startswith("3."):
            raise InputError(
                f"{folder}: is of Recorder {version[:20]}; right would be version 3, or the text "
                f"that its recorder2text {folder} writes beside its files"
            )
        about = _about(folder / "recorder.mt")
        processes = [
            Process(list(calls), rank) for rank, calls in enumerate(_ranks(folder, about, told))
        ]
    return Recording(processes, told)


def _about(path: Path) -> _About:
    content = bytes_of(path, _PACKED)
    head = _HEAD.unpack_from(content)
    functions = content[_NAMES_FROM:].decode("ascii").split("\n")
    ranks, tick = head[0], head[10]
    if not (0 < ranks <= 1 << 20 and 0.0 < tick < 1.0 and "open" in functions):
        raise InputError(
            f"{path}: says {ranks:,} ranks, ticks of {tick:.3g} s and {len(functions):,} functions;"
            " right would be what Recorder 3 writes"
        )
    return _About(ranks, tick, head[12], head[13], functions)


def _ranks(folder: Path, about: _About, told: Told) -> Iterator[Iterator[Call]]:
    """Yield the calls of each rank."""
    times = _times(folder / "recorder.ts", about)
    total = 0
    kept: tuple[list[Call | None], list[_Symbols]] | None = None
    numbers: Sequence[int] = range(about.ranks)
    if about.shared:
        numbers = np.frombuffer(bytes_of(folder / "ug.mt", _PACKED), "<i4").tolist()
        grammars = _blocks(folder / "ug.cfg")
        signatures = _signatures(next(_blocks(folder / "recorder.cst")), about.functions, told)
        kept = signatures, [_expanded(_rules(block)) for block in grammars]
    for rank in range(about.ranks):
        if kept is not None:
            signatures, order = kept[0], kept[1][numbers[rank]]
        else:
            block = next(_blocks(folder / f"{rank}.cst"))
            signatures = _signatures(block, about.functions, told)
            order = _expanded(_rules(next(_blocks(folder / f"{rank}.cfg"))))
        total += len(order)
        _check_calls(total)
        yield _calls(signatures, order, next(times))


def _check_calls(calls: int) -> None:
    """Raise ValueError, which :func:`reading` words, if there are more calls than memory holds."""
    if calls > MOST_CALLS:
        raise ValueError(f"there are {calls:,} calls or more, above {MOST_CALLS:,}")


def _calls(
    signatures: Sequence[Call | None], order: _Symbols, times: npt.NDArray[np.float64]
) -> Iterator[Call]:
    """Yield a rank's calls, each with its times: float64 (calls, 2)."""
    if len(times) < len(order):
        raise ValueError(f"recorder.ts has times of {len(times):,} of {len(order):,} calls")
    for number, (start, end) in zip(order.tolist(), times.tolist(), strict=False):
        call = signatures[number]
        if call is not None:
            yield call._replace(start=start, end=end)


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield what zlib has packed into a file, block by block."""
    content = bytes_of(path, _PACKED)
    at = 0
    while at < len(content):
        packed, _ = _BLOCK.unpack_from(content, at)
        at += _BLOCK.size
        yield _unpacked(content[at : at + packed], path)
        at += packed


def _unpacked(packed: bytes, path: Path) -> bytes:
    unpacked = zlib.decompressobj().decompress(packed, _PACKED.most + 1)
    check_size(path, len(unpacked), _PACKED.most)
    return unpacked


def _signatures(block: bytes, functions: Sequence[str], told: Told) -> list[Call | None]:
    """Return the calls behind the numbers of signatures, without times."""
    (count,) = struct.unpack_from("<i", block)
    found: dict[int, Call | None] = {}
    at = 4
    for _ in range(count):
        number, _, size, _ = _SIGNATURE.unpack_from(block, at)
        at += _SIGNATURE.size
        found[number] = _signature(block[at : at + size], functions, told)
        at += size
    return [found[number] for number in range(count)]


def _signature(key: bytes, functions: Sequence[str], told: Told) -> Call | None:
    """Return the call of a key, in which functions are numbered by four bytes, or first by one."""
    for form in _KEYS:
        if len(key) >= form.size and form.unpack_from(key)[4] == len(key) - form.size:
            thread, function, _, words, _ = form.unpack_from(key)
            given = key[form.size :].decode("utf-8", "replace").split(" ")[:words]
            known = function < len(functions)
            name = str(functions[function]) if known else "a function of its own"
            call = call_of(name, (0.0, 0.0), given, None, told)
            return None if call is None else call._replace(thread=thread)
    raise ValueError("a signature is shorter or longer than it says")


def _rules(block: bytes) -> _Rules:
    """Return the rules of a grammar."""
    words = np.frombuffer(block, "<i4")
    rules: _Rules = {}
    at = 1
    for _ in range(int(words[0])):
        rule, symbols = words[at : at + 2].tolist()
        rules[rule] = words[at + 2 : at + 2 + 2 * symbols].reshape(symbols, 2)
        at += 2 + 2 * symbols
    return rules


def _expanded(rules: Mapping[int, _Symbols]) -> _Symbols:
    """Return the numbers of the signatures of all calls, in their order."""
    done: dict[int, _Symbols] = {}

    def of(rule: int) -> _Symbols:
        if rule not in done:
            parts: list[_Symbols] = []
            for symbol, times in rules[rule].tolist():
                part = np.array([symbol], np.int32) if symbol >= 0 else of(symbol)
                there = sum(len(one) for one in (*parts, *done.values()))
                _check_calls(there + len(part) * times)
                parts.append(np.tile(part, times))
            done[rule] = np.concatenate([np.zeros(0, np.int32), *parts])
        return done[rule]

    return of(_START)


def _times(path: Path, about: _About) -> Iterator[npt.NDArray[np.float64]]:
    """Yield when the calls of each rank began and ended, in seconds: float64 (calls, 2)."""
    content = bytes_of(path, TRACER)
    sizes = np.frombuffer(content, "<u8", about.ranks).tolist()
    at = 8 * about.ranks
    for size in sizes:
        block = content[at : at + size]
        if block and about.times_packed:
            block = _unpacked(block[_BLOCK.size :], path)
        at += size
        ticks = np.frombuffer(block, "<u4").reshape(-1, 2).astype(np.int64)
        begin = np.cumsum(ticks[:, 0])
        end = begin - ticks[:, 0] + ticks[:, 1]
        yield (np.stack([begin, end], axis=1) * about.tick).astype(np.float64)
