"""``--setstripe`` and ``--set lustre.release``: what is typed, refused, printed and written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

SMALL = ("--nodes", "2", "--ppn", "2")
NEWER = ("--set", "lustre.release=2.12")
ON_MDT = "-E 64k -L mdt -E -1 -c 4"
WORK = ("--", "-w", "-r", "-C", "-F", "-e", "-b", "128k", "-t", "32k")

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--setstripe", "-Z 4"), "lfs setstripe -Z 4: "),
        (("--setstripe", "-c 4", "--stripe-count", "2"), "right would be one of the two"),
        (("--setstripe", ON_MDT), "right would be --set lustre.release=2.1"),
        ((*NEWER, "--setstripe", "-C 112"), "right would be --set lustre.release=2.14"),
        (("--set", "lustre.release=3.0"), "2.15"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    xc40io: Run, options: tuple[str, ...], sentence: str
) -> None:
    result = xc40io("ior", *SMALL, *options, *WORK)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.splitlines()) == 1


def test_a_run_with_data_on_the_mdt_leaves_in_every_form(xc40io: Run, tmp_path: Path) -> None:
    run = ("ior", *SMALL, *NEWER, "--setstripe", ON_MDT, "--record", "--lustre-stats", "-v")
    forms = {
        "--html": "page.html",
        "--animate": "moving.html",
        "--plots": "plots",
        "--save": "kept.parquet",
        "--darshan": "log.darshan",
        "--tokio": "servers.h5",
        "--perfetto": "trace.json",
        "--proc": "proc",
    }
    files = [word for option, name in forms.items() for word in (option, str(tmp_path / name))]
    result = xc40io(*run, *files, *WORK)
    assert result.exit_code == 0, result.output
    assert all((tmp_path / name).exists() for name in forms.values())
    assert "MDT 0" in result.stdout
    assert "# layout intents                   4 " in result.stdout
    again = xc40io("show", "-v", "--lustre-stats", str(tmp_path / "kept.parquet"))
    assert again.stdout.partition("# Wall time")[0] == result.stdout.partition("# Wall time")[0]


def test_a_sweep_and_a_what_if_change_layouts(xc40io: Run) -> None:
    both = f"striping.setstripe=['-c 1', '{ON_MDT}']"
    swept = xc40io("sweep", *SMALL, *NEWER, "--jobs", "1", "--over", both, "--", "ior", *WORK[1:])
    assert swept.exit_code == 0, swept.output
    assert f"\n{ON_MDT}  " in swept.stdout
    words = (*SMALL, *NEWER, "--stripe-count", "4", "--what-if", f"striping.setstripe={ON_MDT}")
    beside = xc40io("ior", *words, "--jobs", "1", *WORK)
    assert beside.exit_code == 0, beside.output
    assert f"striping.setstripe={ON_MDT}" in beside.stdout
