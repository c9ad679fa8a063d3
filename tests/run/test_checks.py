"""What is refused before a run, and what is remarked on, whoever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from theta_runs import scenario

from xc40io.config.errors import InputError
from xc40io.config.scenario import Cores
from xc40io.run.simulate import simulate

REFUSED = {
    "-w -a HDF5 -O savePerOpDataCSV=x": "savePerOpDataCSV with -a HDF5",
    "-w --posix.lustre.ignorelocks": "--posix.lustre.ignorelocks: I/O without extent locks",
    "-w -c -D 1": "-c with -D on POSIX",
    "-w -a MPIIO -c -O minTimeDuration=1": "minTimeDuration with -c",
    "-w -a HDF5 -O minTimeDuration=1": "POSIX, MMAP and MPIIO only",
    "-w -a HDF5 -D 1": "-D without -c on HDF5 and NCMPI",
    "-w -a MPIIO -V -S -D 1": "-S with -D",
    "-w -a MPIIO -U /nowhere/hints": "IOR -U: /nowhere/hints: there is no such file",
    "-w -a MPIIO -c -b 1g -t 1k": "10,000,000 collective ones",
    "-w -a HDF5 -b 1m --hdf5.chunkSize=2097153": "more than the 2,097,152 elements of a dataset",
    "-w -a HDF5 -F -b 1m --hdf5.chunkSize=131073": "more than the 131,072 elements of a dataset",
    "-w -O lustreStripeCount=57": "57 is more than the 56 OSTs",
    "-w -b 1t -t 1g -s 1000": "17.6 PB; the file system of theta holds 9.2 PB",
    "-w -i 999999": "-i 999999: right would be at most 100,000 repetitions",
    "-w -b 1g -t 8": "2,147,483,648 calls a phase",
    "-w -M 100%": "IOR would occupy 192.0 GiB of a node; a node of theta has 192.0 GiB",
    "-w -O memoryPerTask=48g": "IOR would occupy 192.0 GiB",
}


@pytest.mark.parametrize("ior", REFUSED)
def test_what_cannot_be_simulated_is_refused(ior: str) -> None:
    with pytest.raises(InputError) as refusal:
        simulate(scenario(ior))
    assert REFUSED[ior] in str(refusal.value)


def test_every_test_of_a_script_is_looked_at(tmp_path: Path) -> None:
    script = tmp_path / "two.ior"
    script.write_text("IOR START\nRUN\nlustreIgnoreLocks=1\nRUN\nIOR STOP\n")
    with pytest.raises(InputError, match="ignorelocks: I/O without extent locks"):
        simulate(scenario(f"-f {script}"))


def test_what_changes_nothing_is_remarked_on_once() -> None:
    notes = simulate(scenario("-w -c -p -V -U x -l random -J 8 -b 8 -t 8", 1, 1)).notes
    assert len(notes) == 4
    assert "without effect in a simulation: -l" in notes[0]
    assert notes[1].startswith("POSIX does not look at the options of MPI-IO")
    assert notes[2] == "POSIX has no hints (-U, -H)."
    assert notes[3].startswith("Only HDF5 looks at its options")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"MPICH_MPIIO_HINTS": "*:cb_nodes=many"}, "cb_nodes=many: right would be a whole number"),
        ({"MPICH_MPIIO_HINTS": "*:striping_factor=57"}, "57"),
        ({"MPICH_MPIIO_STATS": "yes"}, "MPICH_MPIIO_STATS=yes: right would be 0 or 1"),
        ({"IOR_HINT__MPI__cb_nodes": "0"}, "cb_nodes=0"),
    ],
)
def test_bad_hints_and_variables_are_refused(environment: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        simulate(scenario("-w -a MPIIO").model_copy(update={"environment": environment}))


def test_hints_in_vain_are_remarked_on_once() -> None:
    run = scenario("-w -r -i 2 -a MPIIO -c -b 8k -t 8k", 1, 2)
    run = run.model_copy(update={"environment": {"MPICH_MPIIO_HINTS": "*:cb_nods=4"}})
    (note,) = simulate(run).notes
    assert "cb_nods=4 is ignored" in note


def test_only_the_calls_of_posix_are_dealt_to_threads() -> None:
    run = scenario("-w -a MPIIO").model_copy(update={"cores": Cores(threads=2)})
    with pytest.raises(InputError, match="2 I/O threads a rank with -a MPIIO"):
        simulate(run)


def test_mpi_io_knows_no_direct_io() -> None:
    direct = simulate(scenario("-a MPIIO -w -B -b 8m -t 8m", 1, 1))
    plain = simulate(scenario("-a MPIIO -w -b 8m -t 8m", 1, 1))
    assert "(-B, --posix.odirect)" in direct.notes[0]
    assert plain.notes == ()
    assert direct.simulated == plain.simulated


@pytest.mark.parametrize(("asked", "told"), [(4, 0), (99_999_999, 1)])
def test_more_aggregators_than_ranks_are_remarked_on(asked: int, told: int) -> None:
    run = scenario("-w -a MPIIO -c -b 8k -t 8k", 1, 4)
    hints = {"MPICH_MPIIO_HINTS": f"*:cb_nodes={asked}"}
    notes = simulate(run.model_copy(update={"environment": hints})).notes
    assert len(notes) == told
    assert all("the job has 4 ranks, and no more can be aggregators" in note for note in notes)
