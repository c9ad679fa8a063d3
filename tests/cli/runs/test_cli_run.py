"""``xc40io run``, ``machine`` and the listings."""

from __future__ import annotations

import re

import pytest
import yaml

from xc40io.config.files import shipped

SCENARIO = """\
machine: theta
nodes: 2
ppn: 2
striping: {count: 2, size: 1m}
workload: {ior: -a POSIX -w -b 2m -t 1m}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


def table(text: str) -> str:
    return text.partition("\n# ")[0]


def test_a_scenario_and_the_same_job_typed_give_the_same_answer(xc40io, scenario):
    job = "--nodes 2 --ppn 2 --stripe-count 2 --stripe-size 1m -- -a POSIX -w -b 2m -t 1m"
    typed = xc40io("ior", *job.split())
    assert table(xc40io("run", str(scenario)).stdout) == table(typed.stdout)


def test_changes_are_added_to_those_of_the_scenario(xc40io):
    words = ("theta-twice-the-osts", "--set", "lustre.oss_rate=7 GB/s", "--print")
    lustre = yaml.safe_load(xc40io("run", *words).stdout)["machine"]["lustre"]
    assert lustre["osts"]["value"] == 112
    assert lustre["oss_rate"]["value"] == "7 GB/s"


@pytest.mark.parametrize("name", sorted(shipped("scenarios")))
def test_every_shipped_scenario_is_complete(xc40io, name):
    assert xc40io("run", name, "--print").exit_code == 0


def test_machine_tells_what_it_consists_of(xc40io):
    text = xc40io("machine", "theta").stdout
    for label, value in {
        "groups": "12",
        "Aries routers \\(blades\\)": "1,152",
        "compute nodes": "4,392",
        "LNET routers": "30",
        "object storage servers \\(OSS\\)": "56",
        "all OSTs, sustained write": "172 GB/s",
    }.items():
        assert re.search(rf"^ +{label} +{value}$", text, re.MULTILINE), label
    assert max(len(line) for line in text.splitlines()) <= 100


def test_machine_with_a_change(xc40io):
    text = xc40io("machine", "theta", "--set", "lustre.osts=112", "--sources").stdout
    assert re.search(r"object storage targets \(OST\) +112$", text, re.MULTILINE)
    assert "assumed: what if: 112 in place of 56" in text


def test_listings_name_what_is_shipped(xc40io):
    assert "theta" in xc40io("machines").stdout
    for name in shipped("scenarios"):
        assert name in xc40io("scenarios").stdout


def test_version_and_help(xc40io):
    assert re.fullmatch(r"xc40io \d+\.\d+\.\d+\n", xc40io("--version").stdout)
    assert xc40io().stdout == xc40io("--help").stdout
