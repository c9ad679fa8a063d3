"""A mix over years: when it is full, what its drives take, what is on its MDTs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from refusals import refusal

from xc40io.cli.app import cli
from xc40io.config.machine import load_machine
from xc40io.config.units import parse_bytes
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.plan.mix_runs import Setting, run_mix
from xc40io.studies.plan.plan_years import MixYears, plan_years
from xc40io.studies.simulations import Simulations

OWN = {"nodes": 1, "ppn": 2, "workload": {"ior": "-w -r -F -b 1m -t 1m"}}
ONE = {"name": "one", **OWN}
TB, PB = 10**12, 10**15
CAPACITY = load_machine("theta").lustre.capacity


def mix(*jobs: dict[str, Any], weights: str = "jobs", **years: Any) -> WorkloadMix:
    document = {"machine": "theta", "weights": weights, "jobs": list(jobs or (ONE,))}
    return read_mix(document | ({"years": years} if years else {}), "mine.yaml")


def told(count: int = 2, **years: Any) -> MixYears:
    """Return the years of jobs that write 100 TB a day to Lustre, without a run."""
    said = {"written_a_day": "100 TB"} | years
    written = {"lustre": float(parse_bytes(said["written_a_day"]))}
    return MixYears(mix(**said), written, count, simulated=0, recalled=0, notes=())


def test_without_a_purge_it_is_full_when_all_that_stays_fills_it() -> None:
    found = told(stays=0.5, in_use="1 PB")
    assert found.full(purged=False) == -(-(CAPACITY - PB) // (50 * TB))
    assert found.full(purged=True) == found.full(purged=False)  # there is none
    assert found.needed == pytest.approx(PB + 730 * 50 * TB)


def test_a_purge_keeps_it_at_what_comes_between_two_over_what_one_removes() -> None:
    found = told(5, purge={"days": 28, "removes": 0.5})
    assert found.needed == pytest.approx(28 * 100 * TB / 0.5, rel=1e-9)
    assert found.full(purged=True) is None
    assert found.full(purged=False) == CAPACITY // (100 * TB)


def test_more_is_written_each_year() -> None:
    found = told(3, growth_a_year=1.0)
    assert [year.written / TB for year in found.every] == pytest.approx([200, 400, 800])
    later = told(3, growth_a_year=1.0, drives={})
    assert later.wear[0].writes > 2 * told(3, drives={}).wear[0].writes


def test_drives_take_parity_and_amplification_too() -> None:
    (bare,) = told(drives={"rated": 0.5}).wear
    assert bare.writes == pytest.approx(100 * TB / CAPACITY)
    (raw,) = told(drives={"each_ost": 10, "size": "1 TB", "parity": 0.2, "amplification": 3}).wear
    assert raw.drives == 56 * 10 * TB
    assert raw.writes == pytest.approx(100 * 3 / 0.8 / 560)


def test_mdts_hold_the_first_bytes_of_each_file_when_it_is_full() -> None:
    files = {"1 KiB": 3_000_000, "1 GiB": 1_000_000}
    found = told(mdt={"capacity": "100 TB", "dom_size": "64 KiB", "files": files})
    held = found.on_mdts
    assert held is not None
    more = CAPACITY / (3_000_000 * 2**10 + 1_000_000 * 2**30)
    assert held.data == pytest.approx(more * (3_000_000 * 2**10 + 1_000_000 * 2**16))
    assert held.inodes == pytest.approx(more * 4_000_000 * 4096)
    without = told(mdt={"files": files})  # Theta's Lustre has no data on its MDTs
    assert without.on_mdts is not None
    assert without.on_mdts.data == 0


def test_bytes_are_those_that_jobs_write_where_they_write_them(tmp_path: Path) -> None:
    local = ONE | {"name": "two", "weight": 3, "target": "ssd"}
    found = plan_years(mix(ONE, local, in_use=0, ssds={"rated": 1}), 1, jobs=1, store=tmp_path)
    assert found.written == {"lustre": 2 << 20, "ssd": 3 * (2 << 20)}
    scaled = mix(ONE, local, written_a_day="8 TB", stays=0.5)
    again = plan_years(scaled, 1, jobs=1, store=tmp_path)
    assert again.recalled == 2
    assert again.written == pytest.approx({"lustre": 2e12, "ssd": 6e12})
    assert again.needed == pytest.approx(365 * 1e12)
    ssds = load_machine("theta")
    assert ssds.ssd is not None
    (wear,) = again.wear
    assert wear.writes == pytest.approx(6e12 / (ssds.ssd.capacity * ssds.nodes.count))


@pytest.mark.parametrize("command", ["-w -r -W -F -b 1m -t 1m", "-w -F -i 2 -b 512k -t 256k"])
def test_what_is_read_is_not_written(command: str) -> None:
    (outcome,) = run_mix(
        one := mix(ONE | {"workload": {"ior": command}}), [Setting(one.machine)], [1], Simulations()
    )
    assert isinstance(outcome, tuple)
    assert outcome[0].records[0].written == 2 << 20


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (mix(), "--years: the mix has no part years; right would be"),
        (mix(weights="bytes", in_use=0), "years.written_a_day is missing, and weights = bytes"),
        (mix(in_use="90 PB"), "years.in_use = "),
        (mix(ONE | {"workload": {"ior": "-r -F"}}, in_use=0), "no job of the mix writes"),
    ],
)
def test_what_cannot_be_told_is_said(tmp_path: Path, made: WorkloadMix, why: str) -> None:
    def planned() -> None:
        plan_years(made, 1, jobs=1, store=tmp_path)

    assert refusal(planned).startswith(why if why.startswith(("-", "y")) else f"--years: {why}")


def test_nothing_runs_for_a_mix_that_says_nothing_of_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "theta-mix", "--years", "3", "--over", "lustre.osts=70", "--store", "store"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2
    assert "the mix has no part years" in result.stderr
    assert "simulated" not in result.stderr


@pytest.mark.parametrize(
    ("years", "why"),
    [
        ({"stay": 0.5}, "years.stay: there is no such field; did you mean stays?"),
        ({"stays": 1.5}, "years.stays = 1.5"),
        ({"purge": {"removes": 0.5}}, "years.purge.days is missing"),
        ({"mdt": {"files": {}}}, "years.mdt.files"),
        ({"mdt": {"files": {"3 KiB": "many"}}}, "years.mdt.files.3 KiB = 'many'"),
        ({"written_a_day": "0 TB"}, "years.written_a_day"),
        ({"drives": {"parity": 1.0}}, "years.drives.parity = 1.0"),
    ],
)
def test_a_wrong_field_is_named(years: dict[str, Any], why: str) -> None:
    assert refusal(lambda: mix(**years)).startswith(f"mine.yaml: {why}")


def test_the_command_says_first_what_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    years = {"written_a_day": "200 TB", "drives": {"rated": 0.01}, "purge": {"days": 28}}
    document = {"machine": "theta", "jobs": [ONE], "years": years}
    Path("mine.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    words = ["plan", "mine.yaml", "--years", "3", "--jobs", "1", "--store", "store"]
    result = CliRunner().invoke(cli, words, prog_name="xc40io")
    assert result.exit_code == 0, result.output
    told = [line for line in result.stdout.splitlines() if line.startswith("* ")]
    assert told[0] == "* NOT enough over 3 years: drives of the OSTs."
    assert "Throughput" not in result.stdout
    both = CliRunner().invoke(cli, [*words, "--over", "lustre.osts=70", "--json"])
    answer = json.loads(both.stdout)
    drawn = CliRunner().invoke(cli, [*words, "--plot", "years.svg"])
    assert (drawn.exit_code, Path("years.svg").exists()) == (2, False)
    assert "years are told in a table" in drawn.stderr
    assert answer["years"]["needed"] == 28 * 200 * TB
    assert len(answer["configurations"]) == 2
