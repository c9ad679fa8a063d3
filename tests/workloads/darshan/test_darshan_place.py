"""On which machine a job ran: evidence, and *unknown* without it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from darshan_logs import posix_writes, write_log

from xc40io.config.errors import InputError
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.place import (
    described,
    elsewhere,
    file_systems,
    guess_machine,
    shape_of,
)
from xc40io.workloads.darshan.reconstruction import trace_of_log

THETA = {"/": "overlay", "/lus/theta-fs0": "lustre", "/lus/eagle": "lustre", "/home": "nfs"}
EDISON = {"/": "overlay", "/scratch1": "lustre", "/global/cscratch1": "lustre"}

REAL = Path(__file__).parents[4] / "shared/data/darshan"
"""Logs of real jobs, where somebody has put some beside the checkout; they are not needed."""


def log_of(
    folder: Path,
    path: str,
    mounts: Mapping[str, str] | None = None,
    *,
    osts: tuple[int, ...] = (),
    host: str = "",
    year: int = 1970,
    ranks_a_node: int = 32,
) -> DarshanLog:
    """Return the log of 64 ranks that wrote one file, of which nothing else is known."""
    modules: dict[str, Any] = {}
    if osts:
        modules["LUSTRE"] = [{"id": 1, "rank": 0, "size": 2**20, "osts": osts}]
    if host:
        modules["APMPI"] = [
            {"id": 2, "rank": rank, "host": f"{host}{rank // ranks_a_node:05d}"}
            for rank in range(64)
        ]
    began = int(datetime(year, 7, 1, tzinfo=UTC).timestamp())
    log = folder / "a.darshan"
    written = [posix_writes(0, 2, 2**20)]
    return read_log(
        write_log(
            log,
            ranks=64,
            names={1: path},
            mounts=mounts or {},
            began=began,
            POSIX=written,
            **modules,
        )
    )


@pytest.mark.parametrize(
    ("path", "mounts", "more", "machine"),
    [
        ("/lus/theta-fs0/file", THETA, {}, "theta"),
        ("/lus/theta-fs0/file", {}, {}, "theta"),
        ("/projects/x/file", THETA, {"osts": (55,)}, "theta"),
        ("/global/cscratch1/sd/file", {}, {"host": "nid"}, "cori-haswell"),
        ("/global/cscratch1/sd/file", {}, {"host": "nid", "ranks_a_node": 64}, "cori-knl"),
        ("/lustre/atlas1/file", {}, {}, "titan"),
        ("1234", {"/lus/theta-fs0": "lustre"}, {"osts": (3,)}, "theta"),
    ],
)
def test_the_files_of_a_job_tell_its_machine(tmp_path, path, mounts, more, machine):
    place = guess_machine(log_of(tmp_path, path, mounts, **more))
    assert (place.machine, place.known) == (machine, True)
    assert "its files lie" in place.why


@pytest.mark.parametrize(
    ("path", "mounts", "more", "why"),
    [
        ("/projects/x/file", {}, {}, "does not say"),
        ("/projects/x/file", {"/projects": "gpfs"}, {}, "gpfs at /projects"),
        ("/home/me/file", THETA, {}, "nfs at /home"),
        ("/lus/eagle/file", THETA, {"osts": (3,)}, "lustre at /lus/eagle"),
        ("/scratch1/file", EDISON, {"osts": (17,)}, "lustre at /scratch1"),
        ("1234", THETA, {"osts": (3,)}, "lustre"),
        ("file", {}, {"osts": (55,)}, "lustre"),
        ("file", {}, {}, "does not say"),
        ("/lus/theta-fs0/file", THETA, {"osts": (56,)}, "names OST 56, and theta has 56"),
        ("/lus/theta-fs0/file", THETA, {"host": "x3005c0s"}, "x3005c0s00000"),
        ("/lus/theta-fs0/file", THETA, {"year": 2025}, "of 2025"),
        ("/lus/theta-fs0/file", {"/lus/theta-fs0": "nfs"}, {}, "nfs at /lus/theta-fs0"),
    ],
)
def test_without_evidence_the_machine_is_unknown(tmp_path, path, mounts, more, why):
    log = log_of(tmp_path, path, mounts, **more)
    place = guess_machine(log)
    assert (place.machine, place.known) == ("theta", False)
    assert why in place.why
    assert guess_machine(log, "cori-knl").machine == "cori-knl"
    assert guess_machine(log, told="titan").known


@pytest.mark.parametrize(("year", "told"), [(2015, True), (2018, False)])
def test_of_two_with_the_same_nodes_it_is_the_one_that_was_longer_in_service(tmp_path, year, told):
    log = log_of(tmp_path, "/global/cscratch1/sd/file", host="nid", year=year)
    place = guess_machine(log)
    assert (place.machine, place.known) == ("cori-haswell", True)
    assert ("cori-2015" in place.why) == told


def test_a_machine_that_there_is_not_is_refused(tmp_path):
    log = log_of(tmp_path, "file")
    for words in ({"typed": "nowhere"}, {"told": "nowhere"}):
        with pytest.raises(InputError, match="nowhere"):
            guess_machine(log, **words)


def test_a_machine_of_ones_own_is_known_by_its_files(tmp_path):
    mine = Path(__file__).parents[3] / "configs/machines/theta.yaml"
    text = mine.read_text().replace("name: theta", "name: mine").replace("/lus/theta", "/lus/mine")
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    place = guess_machine(log_of(tmp_path, "/lus/mine/file"), str(path))
    assert (place.machine, place.known) == (str(path), True)


def test_file_systems_other_than_lustre_are_named(tmp_path):
    mounts = {"/": "ext4", "/gpfs/home": "gpfs", "/lus/theta-fs0": "lustre"}
    names = {1: "/gpfs/home/a", 2: "/lus/theta-fs0/b", 3: "/tmp/c", 4: "/here/d", 5: "/x/nfs/e"}
    written = [posix_writes(0, 2, 2**20) | {"id": number} for number in names]
    log = read_log(write_log(tmp_path / "a.darshan", names=names, mounts=mounts, POSIX=written))
    systems = file_systems(log)
    assert {(system.mount, system.kind) for system in systems} == {
        ("/gpfs/home", "gpfs"),
        ("/lus/theta-fs0", "lustre"),
        ("/tmp", "local"),
        ("", "ext4"),
        ("", "nfs"),
    }
    assert "gpfs at /gpfs/home (1 file, 0.002097 GB)" in map(described, elsewhere(systems))
    assert not guess_machine(log).known  # a fifth of the bytes is no evidence


def test_the_shape_goes_into_the_trace(tmp_path):
    log = log_of(tmp_path, "/lus/theta-fs0/file")
    assert shape_of(log, 48).ppn == 32
    assert trace_of_log(log.path).ppn == 64


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("dxt", None),
        ("e3sm_io_heatmap_only", "theta"),
        ("imbalanced-io", "theta"),
        ("ior_hdf5_example", "cori-haswell"),
        ("mpi-io-test", "cori-haswell"),
        ("partial_data_dxt", None),
        ("sample-dxt-simple", None),
        ("sample-goodost", None),
        ("skew-app", "theta"),
    ],
)
def test_real_logs_are_known_or_unknown(name, machine):
    path = REAL / f"{name}.darshan"
    if not path.exists():
        pytest.skip("the logs of real jobs are not beside the checkout")
    place = guess_machine(read_log(path))
    assert place.known == (machine is not None)
    assert place.machine == (machine or "theta")
