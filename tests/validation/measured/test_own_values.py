"""What needs no fit: settings of Lustre, surveys of OSTs, messages; and how it is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.validation.claim import load_claims, load_values
from xc40io.validation.measured.parameters import VALUES

PARAMETERS = """\
version=lustre: 2.12.5
kernel: patchless_client
osc.fs-OST0000-osc-ffff8.max_dirty_mb=2000
osc.fs-OST0001-osc-ffff8.max_dirty_mb=2000
osc.fs-OST0002-osc-ffff8.max_dirty_mb=32
osc.fs-OST0000-osc-ffff8.checksums=1
osc.fs-OST0000-osc-ffff8.max_pages_per_rpc=1024
osc.fs-OST0000-osc-ffff8.max_rpcs_in_flight=16
llite.fs-ffff8.max_read_ahead_mb=256.00
llite.fs-ffff8.max_cached_mb=
users: 5
max_cached_mb: 96000
used_mb: 0
llite.fs-ffff8.statahead_agl=1
lov.fs-clilov-ffff8.stripesize=1048576
"""
SURVEY = """\
Fri Sep 25 11:14:03 EDT 2015 Obdfilter-survey for case=disk from oss1
ost 10 sz 9K rsz 1024K obj 10 thr 10 write 10980.00 [ 601,2912] rewrite 15.5 [1, 3] read 12360.00
ost 10 sz 9K rsz 1024K obj 10 thr 20 write 11980.00 [ 601,2912] rewrite 15.5 [1, 3] read SHORT
"""
MESSAGES = """\
# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
0                       1.61
4194304               412.00
# OSU MPI Bandwidth Test v5.6.2
# Size      Bandwidth (MB/s)
1                       2.48
4194304             10200.21
# OSU MPI Allreduce Latency Test v5.6.2
# Size       Avg Latency(us)
8                      10.21
"""
COLLECTIVE = """\
# Benchmarking Allreduce
# #processes = 64
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.06         0.05
         4096         1000        41.05        42.16        41.55
"""


def test_settings_become_values_of_the_machine(measured) -> None:
    found = measured(PARAMETERS)
    assert found.values == {
        "lustre.version": "2.12.5",
        "lustre.max_dirty": "2000 MiB",
        "lustre.rpc_size": "4096 KiB",
        "lustre.max_rpcs_in_flight": 16,
        "lustre.readahead": "256 MiB",
        "lustre.statahead_agl": True,
        "lustre.default_stripe_size": "1048576 B",
    }
    said = "\n".join(found.unheeded)
    assert "osc.max_dirty_mb is 2000, elsewhere 32" in said
    assert "osc.checksums" in said
    assert "llite.max_cached_mb is 96000: divided by the memory of a node" in said


def test_each_is_a_value_of_every_machine() -> None:
    machine = load_machine("theta")
    for path, _ in VALUES.values():
        assert path in machine.provenance or machine.value(path) is not None


def test_settings_that_are_no_numbers_are_refused(measured) -> None:
    with pytest.raises(InputError, match="right would be what lctl get_param prints"):
        measured(PARAMETERS.replace("per_rpc=1024", "per_rpc=many"))


def test_the_best_row_of_a_survey_is_that_of_an_ost(measured) -> None:
    found = measured(SURVEY)
    rates = {"lustre.ost_write_rate": "1198 MiB/s", "lustre.ost_read_rate": "1236 MiB/s"}
    assert found.values == rates


def test_messages_are_values_and_collectives_claims(measured) -> None:
    found = measured(MESSAGES.replace("\n8  ", "\n16 "), COLLECTIVE, machine="theta")
    assert found.values == {"mpi.step_latency": "1.61 us", "mpi.rank_rate": "10200 MB/s"}
    assert "allreduce: no value of a machine" in found.unheeded[0]
    (claim,) = found.claims.values()
    assert claim["metric"] == "mpi(allreduce, 4096 B)"
    assert (claim["machine"], claim["nodes"]) == ("theta", [64])
    assert not found.bases


def test_a_collective_without_its_processes_needs_to_be_told_the_nodes(measured) -> None:
    assert "right would be --nodes as well" in measured(MESSAGES).unheeded[0]
    (claim,) = measured(MESSAGES, machine="theta", nodes=32).claims.values()
    assert (claim["metric"], claim["nodes"]) == ("mpi(allreduce, 8 B)", [32])


def test_a_file_of_claims_takes_them_and_gives_them_back(measured, tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(measured(PARAMETERS, COLLECTIVE, machine="theta").text, encoding="utf-8")
    assert list(load_claims([path])) == ["mpi-1-allreduce-4096"]
    values = load_values(path)
    assert values["lustre.max_dirty"].value == "2000 MiB"
    assert values["lustre.statahead_agl"].value == "true"
    assert values["lustre.rpc_size"].firm == "measured"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("{lustre.osts: 4}", "names no source"),
        ("{lustre: {osts: {value: 4, source: a, firm: measured}}}", "by its whole path"),
        ("[4]", "right would be a mapping"),
    ],
)
def test_values_without_a_source_or_a_path_are_refused(tmp_path: Path, values, why: str) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(f"values: {values}\n", encoding="utf-8")
    with pytest.raises(InputError, match=why):
        load_claims([path])
