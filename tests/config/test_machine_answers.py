"""A machine file from a few answers: what is given, what follows, what is left to another."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.machine_answers import DISKS, QUESTIONS, described, machine_file

DAY = date(2026, 5, 3)


def written(folder: Path, like: str, answers: dict):
    """Write a file, and return the machine as it was described, and as it is read."""
    found = described(like, answers)
    place = folder / "mine.yaml"
    place.write_text(machine_file(found, place, DAY))
    return found, load_machine(place)


@settings(max_examples=25, deadline=None)
@given(
    like=st.sampled_from(["theta", "archer-fs3", "mistral-lustre01"]),
    answers=st.fixed_dictionaries(
        {},
        optional={
            "nodes.count": st.integers(1, 5000),
            "lnet.routers": st.integers(0, 40),
            "lustre.osts": st.integers(1, 20).map(lambda osses: 4 * osses),
            "lustre.osts_per_oss": st.sampled_from([1, 2, 4]),
            "lustre.release": st.sampled_from(["2.7", "2.12"]),
            "lustre.max_dirty": st.just("64 MiB"),
            DISKS: st.just("flash"),
        },
    ),
)
def test_a_file_says_what_was_answered_and_reads_back_as_it_was_meant(
    tmp_path_factory, like, answers
):
    found, machine = written(tmp_path_factory.mktemp("answers"), like, answers)
    assert machine.values() == found.machine.values()
    for path in answers.keys() - {DISKS, "lnet.routers", "lustre.release"}:
        assert machine.provenance[path].source == "given by you on 2026-05-03"
    if "nodes.count" in answers:
        assert machine.nodes.count == answers["nodes.count"]
    if "lnet.routers" in answers:
        has = 0 if machine.lnet is None else machine.lnet.routers
        assert has == answers["lnet.routers"]
    if DISKS in answers:
        assert machine.lustre.disk_seek == machine.lustre.disk_turn == 0.0


def test_what_was_not_answered_is_another_machines_and_said(tmp_path):
    _, machine = written(tmp_path, "theta", {"lustre.osts": 40})
    text = (tmp_path / "mine.yaml").read_text()
    assert "#   nodes.memory: 192 GiB\n" in text
    assert yaml.safe_load(text).keys() == {
        *("name", "title", "description"),
        "like",
        "lnet",
        "lustre",
    }
    assert (machine.lnet.groups, machine.lnet.oss_per_group, machine.lnet.routers) == (4, 10, 30)
    followed = machine.provenance["lnet.groups"]
    assert (followed.source, followed.firm) == (
        "follows from what was given; 14 in theta",
        "inferred",
    )
    assert machine.provenance["nodes.memory"] == load_machine("theta").provenance["nodes.memory"]


def test_more_nodes_get_more_groups_and_servers_without_routers_get_blades():
    found = described("theta", {"nodes.count": 9000, "lnet.routers": 0, "lustre.osts": 400})
    machine = found.machine
    assert machine.lnet is None
    assert machine.nodes.service_blades == 231  # 400 OSSs, one MDT and the 60 of /home, two a blade
    assert machine.network.groups == 26  # of 96 blades: 231 and 2,250
    assert found.before.network.groups == 12


def test_all_questions_have_an_answer_already():
    for like in ("theta", "titan"):
        found = described(like, {})
        assert found.machine.values() == load_machine(like).values()
        assert all(found.shown(path) for path in QUESTIONS)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({DISKS: "ram"}, "disks = 'ram': right would be flash, or disks as it is there"),
        ({"lustre.ostss": 4}, "did you mean lustre.osts"),
        ({"nodes.count": "many"}, "nodes.count = 'many'"),
        ({"lnet.routers": -1}, "lnet.routers = -1"),
    ],
)
def test_what_is_no_answer_is_refused(answers, said):
    with pytest.raises(InputError, match=said):
        described("theta", answers)
