"""Each second of a rank is charged once to what it was at and once to what that was behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io import Result, Scenario, simulate
from xc40io.findings.waits import phase_waits, waits
from xc40io.plane.causes import DOING, FINEST, TAKEN_APART, Cause

OWN_FILES = "-F -w -e -b 64m -t 8m"
STRIDED = "-w -b 256k -t 256k -s 16"


def run(ior: str, changes: tuple[tuple[str, Any], ...] = (), **given: Any) -> Result:
    """Run an IOR command on a small job; what is given as tuples becomes a mapping."""
    job: dict[str, Any] = {"machine": "theta", "nodes": 4, "ppn": 4}
    job |= {"striping": {"count": 1, "size": "1m"}, "workload": {"ior": ior}}
    given = {name: dict(one) if isinstance(one, tuple) else one for name, one in given.items()}
    return simulate(Scenario.model_validate(job | given | {"changes": dict(changes)}))


def share(result: Result, *causes: Cause) -> float:
    """Return which share of its phases the ranks of a run waited for some causes."""
    names = {cause.name.lower() for cause in causes}
    return sum(wait.share for wait in waits(result) if wait.cause in names)


ranks = st.integers(1, 3)


@given(
    nodes=ranks,
    ppn=ranks,
    access=st.sampled_from(["-w", "-w -e", "-w -r -C", "-r", "-w -B", "-w -r -e -i 2"]),
    api=st.sampled_from(["", "-F", "-a MPIIO", "-a MPIIO -c"]),
    transfer=st.sampled_from(["64k", "1m"]),
    stripes=st.integers(1, 3),
    target=st.sampled_from(["lustre", "lustre", "home"]),
)
@settings(max_examples=20, deadline=None)
def test_each_second_is_charged_once_and_once(
    nodes: int, ppn: int, access: str, api: str, transfer: str, stripes: int, target: str
) -> None:
    command = f"{api} {access} -b 2m -t {transfer}"
    found = run(
        command,
        nodes=nodes,
        ppn=ppn,
        target=target,
        striping=(("count", stripes), ("size", "1m")) if target == "lustre" else (),
    )
    np.testing.assert_allclose(found.waits.sum(axis=1), found.doing.sum(axis=1), rtol=1e-9)
    assert found.waits.min() > -1e-12
    assert found.doing.min() > -1e-12
    lumps = sorted(TAKEN_APART - {Cause.TRANSFER})
    assert np.abs(found.waits[:, lumps]).max() < 1e-12
    for activity in found.activities:
        for stretch in activity.stretches:
            seconds = stretch.end - stretch.start
            assert stretch.waits.sum() == pytest.approx(seconds)
            assert stretch.last_waits.sum() == pytest.approx(seconds)
            assert sum(one.share for one in phase_waits([stretch], seconds)) == pytest.approx(1.0)
    assert found.waits.shape[1] == len(Cause)
    assert found.doing.shape[1] == len(DOING)


def test_on_an_ssd_it_is_the_ssd() -> None:
    found = run("-F -w -e -r -b 8m -t 1m", target="ssd", striping=())
    np.testing.assert_allclose(found.waits.sum(axis=1), found.doing.sum(axis=1), rtol=1e-9)
    assert found.doing[:, [Cause.FLUSH, Cause.SYNC]].sum() > 0.0
    assert found.waits[:, Cause.SSD].sum() > 0.5 * found.waits.sum()


def slower(**values: Any) -> tuple[tuple[str, Any], ...]:
    """Return changes of the machine, named with __ for the dot."""
    return tuple((name.replace("__", "."), value) for name, value in values.items())


@pytest.mark.parametrize(
    ("ior", "changes", "given", "causes"),
    [
        (OWN_FILES, slower(lustre__ost_write_rate="50 MB/s"), {}, {Cause.DISK, Cause.OST}),
        (OWN_FILES, slower(lustre__ost_write_latency="3 s"), {}, {Cause.LATENCY, Cause.OSC}),
        (OWN_FILES, slower(network__nic_rate="60 MB/s"), {}, {Cause.NIC, Cause.LNET}),
        (OWN_FILES, (), {"slow": (("OSS", 400.0),)}, {Cause.OSS}),
        (OWN_FILES, (), {"slow": (("LNET router", 2000.0),)}, {Cause.LNET, Cause.IB}),
        ("-F -r -z -b 8m -t 64k", slower(lustre__disk_seek="5 s"), {}, {Cause.SEEK, Cause.OST}),
        (OWN_FILES, slower(lustre__mds__journal_commit="9 s"), {}, {Cause.JOURNAL}),
        ("-F -w -b 64k -t 64k", slower(lustre__mds__create_rate=2.0), {}, {Cause.MDS, Cause.TURN}),
        (STRIDED, slower(lustre__journal_commit="2 s"), {}, {Cause.LOCK_COMMIT}),
        (
            STRIDED,
            slower(lustre__ost_write_rate="2 MB/s"),
            {},
            {Cause.LOCK_FLUSH, Cause.LOCK_COMMIT},
        ),
        ("-w -b 512 -t 512 -s 20", (), {}, {Cause.LOCK_QUEUE}),  # a lock that nobody holds yet
        ("-F -w -b 64m -t 8m", slower(nodes__write_copy_rate="5 MB/s"), {}, {Cause.COPY}),
        ("-a MPIIO -c -w -b 1m -t 1m", slower(mpi__step_latency="1 s"), {}, {Cause.COLLECTIVE}),
    ],
)
def test_a_slow_part_is_what_ranks_wait_for(
    ior: str, changes: tuple[Any, ...], given: dict[str, Any], causes: set[Cause]
) -> None:
    found = run(ior, changes, **given)
    assert share(found, *causes) > 0.5, [(one.cause, round(one.share, 2)) for one in waits(found)]
    assert {one.cause for one in waits(found)} <= {c.name.lower() for c in FINEST} | {"next_phase"}


def test_who_waits_at_a_meeting_waits_for_what_keeps_the_aggregators() -> None:
    """The ranks are in a collective, and what they are behind are the disks of the aggregators."""
    slow = slower(lustre__ost_write_rate="2 MB/s")
    found = run("-a MPIIO -c -w -e -b 16m -t 16m", slow, nodes=4, ppn=8)
    assert found.doing[:, Cause.MEETING].mean() > 0.3 * found.simulated
    disks = (Cause.DISK, Cause.OST, Cause.LOCK_FLUSH, Cause.SEEK, Cause.LOCK_QUEUE)
    assert share(found, *disks) > 0.5


def test_who_has_ended_waits_for_what_keeps_the_last() -> None:
    """One slow OST: the ranks whose files lie elsewhere wait for its disks, too."""
    found = run("-F -w -e -b 16m -t 4m", slow=(("OST", 1.0), ("OST 0", 500.0)), nodes=8, ppn=4)
    (activity,) = found.activities
    (stretch,) = activity.stretches
    own = found.waits.sum(axis=1) / (stretch.end - stretch.start)
    if (own > 0.9).sum() == len(own):
        pytest.skip("every file lies on OST 0")
    assert share(found, Cause.DISK, Cause.OST) > 0.5
