"""How often to write a checkpoint, and where: what the study finds for small jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xc40io import InputError, Scenario, checkpoint
from xc40io.studies.advice.knobs import AS_IT_IS
from xc40io.studies.checkpoint.checkpoint import Checkpoint, Measured, daly, young
from xc40io.studies.checkpoint.checkpoint_answer import checkpoint_answer
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.trust.how_sure import Interval

HOUR = 3600.0
WORK = 6 * HOUR
SMALL = {
    "machine": "theta",
    "nodes": 4,
    "ppn": 4,
    "workload": {"ior": "-a POSIX -w -e -b 16m -t 1m"},
    "striping": {"count": 1},
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    store = tmp_path_factory.mktemp("store")
    return checkpoint(Scenario(**SMALL), 2 * HOUR, every=HOUR, work=WORK, store=store, jobs=1)


def test_ways_are_ranked_by_what_is_lost(found: Checkpoint) -> None:
    assert {one.way.name for one in found.ways} == {
        AS_IT_IS,
        "Lustre, a file for each rank",
        "Lustre, one file on all OSTs",
        "SSDs, drained",
        "SSDs with a partner copy, drained",
    }
    shares = [one.best.share for one in found.ways]
    assert shares == sorted(shares)
    assert all(one.best.share <= point.share for one in found.ways for point in one.points)


def test_shares_are_parts_of_the_whole(found: Checkpoint) -> None:
    for one in found.ways:
        point = one.best
        parts = point.writes + point.waits + point.slowed + point.restarts + point.again
        assert point.share == pytest.approx(parts)
        assert point.low < point.share < point.high


def test_the_drained_way_is_written_near_and_drained(found: Checkpoint) -> None:
    plain, copied = sorted(
        (one for one in found.ways if one.way.staged), key=lambda one: one.way.partner
    )
    for staged in (plain, copied):
        assert staged.drain.seconds > 0.0
        assert staged.beside >= staged.write.seconds * 0.99
        assert 0.0 <= staged.slowed < 0.1, "cores are idle"
    assert (plain.way.survives, copied.way.survives) == (False, True)
    assert copied.write.seconds > 1.5 * plain.write.seconds


def test_what_helpers_and_messages_delay_is_lost(tmp_path: Path) -> None:
    full = {**SMALL, "ppn": 64, "nodes": 2}
    shares = [
        found.ways[0].slowed
        for exchange in (0.0, 100e6)
        for found in [
            checkpoint(
                Scenario(**full),
                2 * HOUR,
                state=1 << 31,
                work=WORK,
                exchange=exchange,
                targets=["ssd"],
                repeat=1,
                store=tmp_path,
                jobs=1,
            )
        ]
    ]
    assert shares[0] > 0.02, "no core is idle"
    assert shares[1] > 0.0


def test_a_job_that_stages_already_writes_its_state_once(tmp_path: Path) -> None:
    staged = {"kernel": {"name": "staging", "size": 16 << 20, "layout": "rank"}}
    found = checkpoint(
        Scenario(**{**SMALL, "workload": staged}),
        2 * HOUR,
        work=WORK,
        targets=["lustre"],
        repeat=1,
        store=tmp_path,
        jobs=1,
    )
    assert found.best.bytes == 16 * (16 << 20)


def test_now_is_the_way_and_the_interval_of_the_job(found: Checkpoint) -> None:
    assert found.now is not None
    way, point = found.now
    assert way.way.name == AS_IT_IS
    assert point.every == HOUR
    assert point.share >= found.best.best.share


def test_the_answer_begins_with_what_to_do(found: Checkpoint) -> None:
    text = text_of(checkpoint_answer(found))
    first, second, *_ = text.replace("\n  ", " ").splitlines()
    assert first.startswith("Write a checkpoint every ")
    assert second.startswith("Now, every 60 min, as it is: ")
    document = document_of(checkpoint_answer(found))
    assert document["ways"][0]["way"] == found.best.way.name
    assert document["ways"][0]["points"][0].keys() >= {"every", "share", "low", "high"}


def test_a_size_stands_in_for_a_workload(found: Checkpoint, tmp_path: Path) -> None:
    same = checkpoint(
        Scenario(**SMALL), 2 * HOUR, state=16 * (16 << 20), work=WORK, store=tmp_path, jobs=1
    )
    lustre = "Lustre, a file for each rank"
    (one,), (other,) = (
        [way for way in each.ways if way.way.name == lustre] for each in (found, same)
    )
    assert one.write == other.write
    assert one.points == other.points


def test_steps_of_the_application_stand_between(tmp_path: Path) -> None:
    found = checkpoint(
        Scenario(**SMALL),
        2 * HOUR,
        state=1 << 28,
        work=WORK,
        step=420.0,
        targets=["lustre"],
        store=tmp_path,
        jobs=1,
    )
    assert all(point.every % 420.0 == 0.0 for one in found.ways for point in one.points)


def test_exactly_there_is_no_model_error(tmp_path: Path) -> None:
    found = checkpoint(
        Scenario(**SMALL), 2 * HOUR, state=1 << 28, exact=True, work=WORK, store=tmp_path, jobs=1
    )
    assert all(one.write.real is None for one in found.ways)


def test_measured_seconds_are_drawn_between_their_bounds() -> None:
    luck = np.array([-1.6449, 0.0, 1.6449])
    assert Measured(10.0, Interval(8.0, 32.0, measured=True)).drawn(luck) == pytest.approx(
        [8.0, 16.0, 32.0], rel=1e-4
    )
    assert (Measured(10.0).drawn(luck) == 10.0).all()


def test_formulas_are_those_that_were_published() -> None:
    # Young 1974: the square root of twice the write times the MTBF. Daly 2006, (37).
    assert young(60.0, 24 * HOUR) == pytest.approx(3219.94, abs=0.01)
    assert daly(60.0, 24 * HOUR) == pytest.approx(3180.0, abs=1.0)
    assert daly(7200.0, HOUR) == HOUR


def test_a_job_that_writes_nothing_is_no_checkpoint(tmp_path: Path) -> None:
    reader = Scenario(**{**SMALL, "workload": {"ior": "-a POSIX -r -b 1m -t 1m"}})
    with pytest.raises(InputError, match="writes no bytes"):
        checkpoint(reader, HOUR, store=tmp_path, jobs=1)


@pytest.mark.parametrize(
    ("targets", "right"), [(["tape"], "lustre, ssd, bb"), (["bb"], "theta has none of them")]
)
def test_targets_that_cannot_be(targets: list[str], right: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=right):
        checkpoint(Scenario(**SMALL), HOUR, targets=targets, store=tmp_path, jobs=1)


def test_a_state_that_no_ssd_holds_is_refused(tmp_path: Path) -> None:
    found = checkpoint(
        Scenario(**SMALL, changes={"ssd.capacity": "64 MiB"}),
        HOUR,
        state=1 << 29,
        work=WORK,
        repeat=1,
        store=tmp_path,
        jobs=1,
    )
    assert dict(found.refused)["SSDs, drained"]
    assert all(not one.way.staged for one in found.ways)
