"""What mdtest asks the servers for: as many requests of each kind as it has items."""

from __future__ import annotations

import pytest

from xc40io.config.scenario import Scenario
from xc40io.findings.servers import counts_by_name, to_mds
from xc40io.plane.counters import Stat
from xc40io.results.programs.forms import output_of
from xc40io.results.run_text import format_run
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

RANKS, ITEMS = 6, 5
ALL = RANKS * ITEMS


def run(line: str, *, record: bool = False, **job: object) -> Result:
    described = {"machine": "theta", "nodes": 2, "ppn": 3, "workload": {"mdtest": line}}
    return simulate(Scenario.model_validate(described | job), record=record)


def asked(line: str) -> dict[str, int]:
    recording = run(line, record=True).recording
    assert recording is not None
    return counts_by_name(to_mds(recording.requests))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-F -C", {"mkdir": 1, "open": ALL, "mknod": ALL, "close": ALL}),
        ("-F -C -k", {"mkdir": 1 + ALL}),
        ("-F -T", {"getattr": ALL}),
        ("-F -E", {"open": ALL, "close": ALL}),
        # Who removes a name that his node does not know asks for it first.
        ("-F -r", {"getattr": ALL + 1, "unlink": ALL + 1}),
        ("-F -r -u", {"getattr": ALL + RANKS, "unlink": ALL + RANKS}),
        ("-D -C -T -r", {"mkdir": ALL + 1, "getattr": ALL + 1, "unlink": ALL + 1}),
        ("-D -C -U", {"mkdir": ALL + 1, "rename": ALL, "samedir_rename": ALL}),
        ("-F -C -c", {"mkdir": 1, "open": 2 * ALL, "mknod": ALL, "close": 2 * ALL}),
        (
            "-S -C -r",
            {"mkdir": 1, "open": ALL, "mknod": ITEMS, "close": ALL, "getattr": 1}
            | {"unlink": ITEMS + 1},
        ),
        ("-F -C -z 1 -b 4 -u", {"mkdir": 5 * RANKS, "open": ALL, "mknod": ALL, "close": ALL}),
        ("-F -C -i 2", {"mkdir": 2, "open": 2 * ALL, "mknod": 2 * ALL, "close": 2 * ALL}),
        ("-F -C -w 8 -y", {"mkdir": 1, "open": ALL, "mknod": ALL, "close": ALL, "sync": ALL}),
    ],
)
def test_the_mdt_counts_what_mdtest_does(line: str, expected: dict[str, int]) -> None:
    assert asked(f"-n {ITEMS} {line}") == expected


@pytest.mark.parametrize(
    "line",
    [
        # Of IOR's own testing/*.sh; some have no items at all.
        "-a POSIX",
        "-a POSIX -W 2",
        "-C -T -r -F -I 1 -z 1 -b 1 -L -u",
        "-C -T -I 1 -z 1 -b 1 -u",
        "-n 1 -f 1 -l 2",
    ],
)
@pytest.mark.parametrize("target", ["lustre", "ssd", "home"])
def test_the_lines_of_iors_own_tests_run_and_can_be_told(line: str, target: str) -> None:
    result = run(line, nodes=1, ppn=2, target=target)
    assert "SUMMARY rate" in str(output_of(result).answer)
    assert format_run(result).startswith("# Simulated on theta")


def test_every_stat_of_a_file_asks_its_objects_and_none_of_a_directory_does() -> None:
    result = run(f"-n {ITEMS} -C -T", striping={"count": 3})
    assert result.stats[Stat.GLIMPSES] == 3 * ALL
    assert run(f"-n {ITEMS} -D -C -T").stats[Stat.GLIMPSES] == 0
    assert run(f"-n {ITEMS} -F -k -C -T").stats[Stat.GLIMPSES] == 0  # no objects yet


def test_a_stride_leaves_no_use_for_the_locks_of_the_node_that_wrote() -> None:
    own, other = (run(f"-n {ITEMS} -F -w 4k -C -T -N {stride}") for stride in (0, 1))
    assert own.stats[Stat.GLIMPSE_ASTS] == 0
    assert other.stats[Stat.GLIMPSE_ASTS] == ALL


def test_a_stride_counts_as_far_as_it_shifts_anything() -> None:
    long, short = (run(f"-n {ITEMS} -F -C -T -N {stride}") for stride in (2**63 - 1, 1))
    assert long.simulated == short.simulated


def test_bytes_travel_through_lustre_as_they_are_written_and_read() -> None:
    written = run(f"-n {ITEMS} -F -C -w 4k -Y")
    assert written.bulk_bytes == 4096 * ALL
    assert [row.bytes for row in written.rows if row.phase == "file creation"] == [4096 * ALL]
    # Reads are shifted twice: with two nodes they would be back where the file was written.
    line, three = f"-n {ITEMS} -F -C -E -w 4k -e 4k -Y -N", {"nodes": 3, "ppn": 2}
    own, other = (run(f"{line} {stride}", **three).bulk_bytes for stride in (0, 1))
    assert own == 4096 * ALL  # read from the node's own cache
    assert other == 2 * own


def test_the_same_seed_gives_the_same_and_random_order_is_another() -> None:
    line = f"-n {ITEMS} -F -T"
    ends = [
        [(row.start, row.end) for row in run(more, seed=seed).rows]
        for more, seed in ((line, 1), (line, 1), (line, 2))
    ]
    assert ends[0] == ends[1] != ends[2]
