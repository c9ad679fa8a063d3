"""The times of recovery are a part of a machine, and those of its release unless it says others."""

from __future__ import annotations

from xc40io.archive.plain import Packer, Unpacker
from xc40io.config.machine import load_machine, read_machine
from xc40io.config.parts.recovery import default_recovery


def test_a_machine_has_the_times_of_its_release_with_their_sources() -> None:
    theta = load_machine("theta")
    assert theta.recovery == default_recovery("2.7")
    assert "at_est2timeout" in theta.provenance["recovery.request_timeout"].source


def test_a_machine_file_says_its_own_and_leaves_out_the_others() -> None:
    document = load_machine("theta").document()
    document["recovery"] = {"takeover": {"value": "9 s", "source": "our site", "firm": "verified"}}
    machine = read_machine(document, "ours.yaml")
    assert machine.recovery == default_recovery("2.7").model_copy(update={"takeover": 9.0})
    assert machine.with_changes({"recovery.takeover": "8 s"}).recovery.takeover == 8.0


def test_a_kept_machine_without_them_gets_those_of_its_release() -> None:
    theta = load_machine("theta")
    packer = Packer()
    packed = packer.pack(theta)
    del packed["has"]["recovery"]
    assert Unpacker(packer.columns).unpack(packed).recovery == theta.recovery
