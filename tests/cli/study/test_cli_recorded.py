"""``--recorded``: each command that takes a Darshan log takes what is known besides, alike."""

from __future__ import annotations

import json

import pytest
from darshan_logs import posix_writes, write_log

from xc40io.config.scenario import Scenario

MIB = 2**20
FACTS = ("ppn=2", "striping.count=2", "ost.1.rate=300 MB/s", "hints=*:cb_nodes=1")
TOLD = tuple(word for fact in FACTS for word in ("--recorded", fact))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four ranks that each write a file; by the log they fit on one node."""
    path = tmp_path_factory.mktemp("logs") / "job.darshan"
    records = [posix_writes(rank, 1, MIB, FSYNCS=1) | {"id": 1 + rank} for rank in range(4)]
    names = {1 + rank: f"/lus/theta-fs0/{rank}" for rank in range(4)}
    return str(write_log(path, names=names, POSIX=records))


def test_a_log_is_explained_as_it_is_known_to_have_run(xc40io, log, monkeypatch):
    asked: list[Scenario] = []
    monkeypatch.setattr(
        "xc40io.studies.explain.explanation.explain", lambda one, **_: asked.append(one)
    )
    done = xc40io("explain", log, *TOLD)  # what it says of them is not asked here
    (scenario,) = asked
    assert (scenario.nodes, scenario.ppn, scenario.striping.count) == (2, 2, 2)
    assert set(scenario.slow) == {"OST 1"}
    assert scenario.environment["MPICH_MPIIO_HINTS"] == "*:cb_nodes=1"
    assert scenario.workload.kernel is not None
    assert scenario.workload.kernel["recorded"] == ["striping.count=2"]
    assert done.stderr.startswith(
        f"xc40io: {log}: Replayed on theta (its files lie below /lus/theta-fs0); nodes x ranks on "
        "each: 2 x 2 (--recorded ppn=2)\n"
    )


def test_logs_are_compared_as_they_are_known_to_have_run(xc40io, log, tmp_path):
    kept = str(tmp_path / "kept.xc40io")
    assert xc40io("replay", log, *TOLD, "--save", kept).exit_code == 0
    done = xc40io("compare", log, kept, *TOLD, "--json")
    assert done.exit_code == 0, done.stderr
    sides = json.loads(done.stdout)["phases"][0]["sides"]
    assert sides[0]["seconds"] == sides[1]["seconds"]
    assert [side["side"] for side in sides] == [log, kept]


def test_what_looks_at_the_calls_of_a_log_takes_what_is_known_of_them(xc40io, log):
    known = ("--recorded", "ppn=2", "--recorded", "striping.count=2")
    summary = json.loads(xc40io("trace", "summary", log, *known, "--json").stdout)
    assert (summary["nodes"], summary["ppn"]) == (2, 2)


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "LOG"),
        ("explain", "LOG"),
        ("tune", "LOG"),
        ("compare", "LOG", "--what-if", "nodes=2"),
        ("trace", "summary", "LOG"),
        ("kernel", "fit", "LOG"),
    ],
)
@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("cores=4", "there is no 'cores'; right would be one of machine, nodes, ppn, "),
        ("ppn=none", "'none'; right would be a whole number from 1 on"),
    ],
)
def test_a_fact_is_refused_by_the_same_sentence_everywhere(xc40io, log, words, fact, says):
    told = (*(log if word == "LOG" else word for word in words), "--recorded", fact)
    done = xc40io(*told)
    assert done.exit_code == 2
    assert done.stderr.startswith("xc40io: ")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        (("replay", "job.csv"), "job.csv"),
        (("explain", "theta-headline"), "theta-headline"),
        (("explain", "--", "-w"), "a command line"),
        (("tune", "kept.xc40io"), "kept.xc40io"),
        (("tune", "--", "mdtest"), "a command line"),
        (("compare", "theta-headline", "theta-two-jobs"), "theta-headline"),
        (("compare", "--", "-w"), "a command line"),
        (("trace summary", "job.csv"), "job.csv"),
    ],
)
def test_nothing_is_known_of_what_is_no_log(xc40io, words, subject):
    command, *others = words
    done = xc40io(*command.split(), "--recorded", "ppn=2", *others)
    assert done.exit_code == 2
    assert done.stderr == (
        f"xc40io: --recorded ppn=2: {subject} is not a Darshan log; right would be --recorded "
        "beside a log, whose name ends in .darshan\n"
    )


def test_what_changes_nothing_of_the_calls_is_refused(xc40io, log):
    for fact in ("hints=*:cb_nodes=1", "ost.1.rate=1 GB/s", "oss.1.rate=fitted"):
        done = xc40io("trace", "summary", log, "--recorded", fact)
        assert done.exit_code == 2
        assert f"--recorded {fact}: it does not change the calls of a log" in done.stderr
