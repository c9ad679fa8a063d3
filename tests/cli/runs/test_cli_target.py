"""``--target``: files on local SSDs, on a burst buffer, on home; and what cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from xc40io.cli.app import cli

SMALL = ("--nodes", "2", "--ppn", "2")
OWN_FILES = ("-a", "POSIX", "-F", "-w", "-e", "-b", "8m", "-t", "1m")


def ior(*options: str, arguments: tuple[str, ...] = OWN_FILES) -> Result:
    return CliRunner().invoke(cli, ["ior", *SMALL, *options, "--", *arguments])


def document(*options: str, arguments: tuple[str, ...] = OWN_FILES) -> dict[str, Any]:
    result = ior("--json", *options, arguments=arguments)
    assert result.exit_code in (0, 1), result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def rate(found: dict[str, Any]) -> float:
    return float(found["summary"][0]["bwMeanMIB"])


def test_files_go_to_the_ssds_and_nothing_to_lustre() -> None:
    found = document("--target", "ssd")
    assert found["xc40io"]["counts"]["bulk_bytes"] == 0
    assert {station["kind"] for station in found["xc40io"]["busiest"]} == {"CORE", "MEMORY", "SSD"}


def test_only_home_says_that_nothing_measured_stands_behind_it() -> None:
    said = {
        target: [
            note for note in document("--target", target)["xc40io"]["notes"] if "measur" in note
        ]
        for target in ("home", "ssd", "lustre")
    }
    assert [len(notes) for notes in said.values()] == [1, 0, 0]
    assert said["home"][0].startswith("the speed of --target home on ")
    assert f"# Note: {said['home'][0][:40]}" in ior("--target", "home").stdout


def test_a_private_burst_buffer_takes_files_of_one_node_and_a_striped_one_shared_files() -> None:
    cori = ("--machine", "cori-knl", "--target", "bb", "--bb-capacity", "100 GB")
    shared = ("-a", "POSIX", "-w", "-b", "8m", "-t", "1m")
    assert rate(document(*cori, arguments=shared)) > 0
    assert rate(document(*cori, "--bb-access", "private")) > 0
    refused = ior(*cori, "--bb-access", "private", arguments=shared)
    assert refused.exit_code == 2
    assert "nodes 0 and 1 of the job share" in refused.output


def test_a_full_device_is_told_and_is_an_error() -> None:
    result = ior("--target", "ssd", "--set", "ssd.capacity=12 MiB")
    assert result.exit_code == 1
    assert "ENOSPC: 4 ranks found no room for 8 MiB" in result.output
    troubles = document("--target", "ssd", "--set", "ssd.capacity=12 MiB")["xc40io"]["troubles"]
    assert [(trouble["name"], trouble["bytes"]) for trouble in troubles] == [("ENOSPC", 8 << 20)]


def test_a_lost_ssd_is_told_and_is_an_error() -> None:
    result = ior("--target", "ssd", "--lose-ssd", "1=5 ms")
    assert result.exit_code == 1
    assert "EIO: 2 ranks" in result.output
    assert "LOST:" in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "bb"), "right would be lustre or ssd or home"),
        (("--lose-ssd", "0=1"), "belongs to --target ssd"),
        (("--target", "ssd", "--lose-ssd", "2=1"), "2 is not a node of the job"),
        (("--target", "ssd", "--lose-ssd", "soon"), "NODE=SECONDS"),
        (("--target", "ssd", "--getstripe"), "only files on Lustre"),
        (
            ("--machine", "cori-knl", "--target", "bb", "--bb-capacity", "2 PB"),
            "more than the burst buffer",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options: tuple[str, ...], words: str) -> None:
    result = ior(*options)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
