"""What is refused before a run, and what is remarked on, whoever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from theta_runs import scenario

from sim.config.errors import InputError
from sim.run.simulate import simulate

REFUSED = {
    "-w -c": "-c: collective I/O",
    "-w -O savePerOpDataCSV=x": "savePerOpDataCSV",
    "-w --posix.lustre.ignorelocks": "--posix.lustre.ignorelocks: I/O without extent locks",
    "-w -a MPIIO -p": "-p: MPI_File_preallocate",
    "-w -a MPIIO -V": "-V: file views",
    "-w -a MPIIO -S": "-S: strided datatypes",
    "-w -a MPIIO -U hints": "-U: MPI-IO hints",
    "-w -N 17": "-N 17: more than the 16 ranks of the job (4 nodes x 4)",
    "-w -O lustreStripeCount=57": "57 is more than the 56 OSTs",
    "-w -b 1t -t 1g -s 1000": "17.6 PB; the file system of theta holds 9.2 PB",
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
    script.write_text("IOR START\nRUN\ncollective=1\nRUN\nIOR STOP\n")
    with pytest.raises(InputError, match="-c: collective"):
        simulate(scenario(f"-f {script}"))


def test_what_changes_nothing_is_remarked_on_once() -> None:
    notes = simulate(scenario("-w -p -V -l random -b 8 -t 8", 1, 1)).notes
    assert len(notes) == 2
    assert "without effect in a simulation: -l" in notes[0]
    assert notes[1].startswith("POSIX does not look at the options of MPI-IO")


def test_mpi_io_knows_no_direct_io() -> None:
    direct = simulate(scenario("-a MPIIO -w -B -b 8m -t 8m", 1, 1))
    plain = simulate(scenario("-a MPIIO -w -b 8m -t 8m", 1, 1))
    assert "(-B, --posix.odirect)" in direct.notes[0]
    assert plain.notes == ()
    assert direct.simulated == plain.simulated
