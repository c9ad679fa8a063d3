from __future__ import annotations

import numpy as np

from xc40io.engine.randomness import stream


def draw(seed: int, *name: str | int) -> list[float]:
    values: list[float] = stream(seed, *name).random(8).tolist()
    return values


def test_a_stream_does_not_depend_on_what_else_is_drawn() -> None:
    alone = draw(1, "OST speed")
    first, second = stream(1, "jitter", 0), stream(1, "OST speed")
    first.random(1000)
    mixed = [float(second.random()) for _ in range(8) if first.random() >= 0]
    assert mixed == alone == draw(1, "OST speed")


def test_streams_differ_by_seed_and_by_name() -> None:
    names = [("OST speed",), ("jitter",), ("jitter", 0), ("jitter", 1), ("jitter", "01")]
    drawn = [draw(seed, *name) for seed in (0, 1, 2**70) for name in names]
    assert len({tuple(values) for values in drawn}) == len(drawn)
    assert np.abs(np.corrcoef([stream(s, "x").random(4096) for s in range(4)])[0, 1:]).max() < 0.1


def test_a_stream_is_the_same_on_every_machine() -> None:
    raw = stream(1, "OST speed").bit_generator.random_raw(3)
    assert raw.tolist() == [8122049015089009142, 8564577049404762728, 7255225864859996841]
